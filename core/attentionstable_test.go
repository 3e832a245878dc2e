package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func ids(list []Attention) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.ID
	}
	slices.Sort(out)
	return out
}

// next is the following Snapshot, with the stages of these views in its History, as the engine carries them on.
func (sc scene) next(views []NodeView, after time.Duration) scene {
	stages := map[string]StageRecord{}
	for _, v := range views {
		if v.Node != nil {
			stages[v.Node.UID] = StageRecord{Stage: v.Stage, Since: v.Since}
		}
	}
	n := sc.again()
	n.History.Stages, n.Now, n.Wall = stages, n.Now.Add(after), n.Wall.Add(after)
	for id, src := range n.Sources {
		if !src.AsOf.IsZero() {
			src.AsOf = src.AsOf.Add(after)
		}
		n.Sources[id] = src
	}
	return n
}

// After J the controller begins anew every 60 s, with H, a migration or Nova's refusal (I), and J again (docs/mosk.md#migration-loop).
// What needs a person stays the same all the while.
func TestAttentionDoesNotComeAndGoWithTheText(t *testing.T) {
	try := func(sc scene, text string, migrating bool) {
		sc.NodeLocks["cmp-01"][0].Message = sc.Now.Format("2006-01-02 15:04:05.000000") + " " + text
		in := sc.ByHost["cmp-01"][0]
		in.Status, in.TaskState = "ACTIVE", ""
		if migrating {
			in.Status, in.TaskState = "MIGRATING", "migrating"
		}
	}
	tests := []struct {
		name     string
		failures int
		migrates bool // a try is a migration; otherwise Nova refuses it at once
		given    func(sc scene)
		want     string
	}{
		{"migrations that fail", 3, true, func(sc scene) {}, "migration-failed"},
		{"migrations that fail, and one of an owner who is to be told", 3, true, func(sc scene) { sc.instance("cmp-01", "z", "notify") }, "node-waits"},
		{"Nova refuses", 0, false, func(sc scene) {}, "node-waits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			sc.maintained("cmp-01", stillPresent)
			tt.given(sc)
			for range tt.failures {
				sc.migration(sc.ByHost["cmp-01"][0], "error", "cmp-02", 10*time.Minute).Failure = "No valid host was found."
			}
			want := ids(sc.Attention())
			if !slices.ContainsFunc(want, func(id string) bool { return strings.HasPrefix(id, tt.want) }) {
				t.Fatalf("%q, want one of %s", want, tt.want)
			}
			for i, text := range []string{"Starting migration for " + idA, "Waiting servers migration is completed: ['" + idA + "']",
				"Got error while trying to migrate server " + idA + ": No valid host was found.", stillPresent, "Starting migration for " + idA, stillPresent} {
				sc = sc.next(sc.NodeViews(), 10*time.Second)
				try(sc, text, tt.migrates && strings.Contains(text, "migration"))
				got := sc.Attention()
				if !slices.Equal(ids(got), want) || got[0].Severity != SeverityUrgent {
					t.Errorf("%d, with %q: %s %q, want %q", i, text, got[0].Severity, ids(got), want)
				}
			}
		})
	}
}

// The operator lets the controller move what is left: then it is not the operator's turn any more.
func TestAttentionGoesWhenTheControllerMoves(t *testing.T) {
	sc := healthy()
	sc.mode("cmp-01", ModeManual)
	sc.maintained("cmp-01", stillPresent)
	sc = sc.next(sc.NodeViews(), time.Minute)
	delete(sc.Nodes["cmp-01"].Annotations, AnnotationMigrationMode)
	sc.NodeLocks["cmp-01"][0].Message = "Starting migration for " + idA
	sc = sc.next(sc.NodeViews(), time.Minute)
	sc.ByHost["cmp-01"][0].Status = "MIGRATING"
	if got := sc.Attention(); len(got) != 0 {
		t.Errorf("%q", ids(got))
	}
	if v, _ := sc.NodeView("cmp-01"); v.Stage != StageEvacuating {
		t.Errorf("%s", v.Stage)
	}
}

// Each instance and each node's waiting is told once.
func TestNothingIsToldTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		waits, told := map[string]bool{}, map[string]string{}
		for _, a := range sc.Attention() {
			rule, _, _ := strings.Cut(a.ID, "/")
			waits[a.Node] = waits[a.Node] || rule == "node-waits"
			if a.Instance == "" {
				continue
			}
			if told[a.Instance] != "" {
				t.Fatalf("%s is told by %s and %s", a.Instance, told[a.Instance], rule)
			}
			told[a.Instance] = rule
		}
		for _, a := range sc.Attention() {
			if rule := told[a.Instance]; waits[a.Node] && (rule == "instance-notify" || rule == "instance-stranded" || rule == "instance-tags") {
				t.Fatalf("%s names its instances, and %s tells one again", a.Node, a.ID)
			}
		}
	})
}

// A source that cannot be seen is the reason for nothing but itself: what rests on it is not said.
func TestWhatIsNotKnownIsNotClaimed(t *testing.T) {
	rests := map[SourceID][]string{
		SourceNodes:           {"no-node"},
		SourceNodeLocks:       {"no-lock"},
		SourceNodeRequests:    {"stale-inner", "compute-left", "annotation-left"},
		SourceInstances:       {"will-hold", "instance-notify", "instance-stranded", "instance-tags", "migration-failed", "migration-long"},
		SourceComputeServices: {"compute-left"},
	}
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		id := rapid.SampledFrom([]SourceID{SourceNodes, SourceNodeLocks, SourceNodeRequests, SourceInstances, SourceComputeServices}).Draw(t, "unseen")
		sc.source(id, rapid.SampledFrom([]SourceState{SourceForbidden, SourceAbsent, SourceOff, SourceConnecting}).Draw(t, "unseen state"))
		for _, a := range sc.Attention() {
			if rule, _, _ := strings.Cut(a.ID, "/"); slices.Contains(rests[id], rule) {
				t.Fatalf("%s is not known, and %s says: %s", id, a.ID, a.Reason)
			}
		}
	})
	sc := healthy()
	sc.source(SourceClusterRequests, SourceConnecting)
	sc.History.Update = UpdateRecord{UID: "cmr", Started: ago(time.Hour)}
	for _, p := range sc.Phases() {
		if p.State == PhaseDone {
			t.Errorf("phase %d is done because of %q", p.ID, p.Evidence)
		}
	}
}

// A node that takes too long is one entry, also when it becomes worse: whoever has it selected keeps it.
func TestANodeThatTakesTooLongIsOneEntry(t *testing.T) {
	for stage, given := range map[Stage]func(sc scene){
		StageRebooting: func(sc scene) { sc.maintained("cmp-01", "").RawState = LockInactive },
		StageReturning: func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequest("cmp-01").Deleting = ago(returnLong - 10*time.Second)
		},
	} {
		sc := healthy()
		given(sc)
		sc.NodeRequest("cmp-01").Created = ago(4 * time.Hour)
		sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", ago(rebootLong-10*time.Second)
		for after, severity := range map[time.Duration]Severity{0: SeverityWarning, 20 * time.Second: SeverityUrgent} {
			s := sc.next(sc.NodeViews(), after)
			v, _ := s.NodeView("cmp-01")
			a, told := entryAbout(s.Snapshot, "node-slow", "cmp-01")
			if v.Stage != stage || !told || a.Severity != severity {
				t.Errorf("%s after %s: it is %s, told %v: %+v", stage, after, v.Stage, told, a)
			}
		}
	}
}

// What is still so a little later is told under the same ID.
func TestAttentionKeepsItsIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		before := sc.Attention()
		after := ids(sc.next(sc.NodeViews(), 20*time.Second).Attention())
		for _, a := range before {
			if _, found := slices.BinarySearch(after, a.ID); !found && !strings.HasPrefix(a.ID, "source") {
				t.Fatalf("%s (%s) is gone; now %q", a.ID, a.Reason, after)
			}
		}
	})
}
