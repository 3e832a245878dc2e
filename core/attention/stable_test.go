package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
	"pgregory.net/rapid"
)

func ids(list []core.Attention) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.ID
	}
	slices.Sort(out)
	return out
}

// After J the controller begins anew every 60 s, with H, a migration or Nova's refusal (I), and J again
// (docs/mosk.md#migration-loop). What needs a person stays the same all the time.
func TestAttentionDoesNotComeAndGoWithTheText(t *testing.T) {
	try := func(sc scene.Scene, text string, migrating bool) {
		sc.NodeLocks.At("cmp-01")[0].Message = sc.Now.Format("2006-01-02 15:04:05.000000") + " " + text
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
		given    func(sc scene.Scene)
		want     string
	}{
		{"migrations that fail", 3, true, func(sc scene.Scene) {}, "migration-failed"},
		{"migrations that fail, and one of an owner who is to be told", 3, true, func(sc scene.Scene) { sc.Instance("cmp-01", "z", "notify") },
			"node-waits"},
		{"Nova refuses", 0, false, func(sc scene.Scene) {}, "node-waits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Maintained("cmp-01", scene.StillPresent)
			tt.given(sc)
			for range tt.failures {
				sc.Migration(sc.ByHost["cmp-01"][0], "error", "cmp-02", 10*time.Minute).Failure = "No valid host was found."
			}
			want := ids(Of(sc.Snapshot))
			if !slices.ContainsFunc(want, func(id string) bool { return strings.HasPrefix(id, tt.want) }) {
				t.Fatalf("%q, want one of %s", want, tt.want)
			}
			for i, text := range []string{"Starting migration for " + scene.IDA, "Waiting servers migration is completed: ['" + scene.IDA + "']",
				"Got error while trying to migrate server " + scene.IDA + ": No valid host was found.", scene.StillPresent,
				"Starting migration for " + scene.IDA, scene.StillPresent} {
				sc = sc.Next(progress.NodeViews(sc.Snapshot), 10*time.Second)
				try(sc, text, tt.migrates && strings.Contains(text, "migration"))
				got := Of(sc.Snapshot)
				if !slices.Equal(ids(got), want) || got[0].Severity != core.SeverityUrgent {
					t.Errorf("%d, with %q: %s %q, want %q", i, text, got[0].Severity, ids(got), want)
				}
			}
		})
	}
}

// When the operator lets the controller move what is left, it is not the operator's turn any more.
func TestAttentionGoesWhenTheControllerMoves(t *testing.T) {
	sc := scene.Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", scene.StillPresent)
	sc = sc.Next(progress.NodeViews(sc.Snapshot), time.Minute)
	delete(sc.Nodes["cmp-01"].Annotations, core.AnnotationMigrationMode)
	sc.NodeLocks.At("cmp-01")[0].Message = "Starting migration for " + scene.IDA
	sc = sc.Next(progress.NodeViews(sc.Snapshot), time.Minute)
	sc.ByHost["cmp-01"][0].Status = "MIGRATING"
	if got := Of(sc.Snapshot); len(got) != 0 {
		t.Errorf("%q", ids(got))
	}
	if v, _ := progress.NodeView(sc.Snapshot, "cmp-01"); v.Stage != core.StageEvacuating {
		t.Errorf("%s", v.Stage)
	}
}

// Each instance, and each node that waits, is shown once.
func TestNothingIsToldTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		waits, told := map[string]bool{}, map[string]string{}
		for _, a := range Of(sc.Snapshot) {
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
		for _, a := range Of(sc.Snapshot) {
			if rule := told[a.Instance]; waits[a.Node] && (rule == "instance-notify" || rule == "instance-stranded" || rule == "instance-tags") {
				t.Fatalf("%s names its instances, and %s tells one again", a.Node, a.ID)
			}
		}
	})
}

// A source that is not known causes only its own entry: no entry claims anything that rests on it.
func TestWhatIsNotKnownIsNotClaimed(t *testing.T) {
	rests := map[core.SourceID][]string{
		core.SourceNodes:           {"no-node"},
		core.SourceNodeLocks:       {"no-lock"},
		core.SourceNodeRequests:    {"stale-inner", "compute-left", "annotation-left"},
		core.SourceInstances:       {"will-hold", "instance-notify", "instance-stranded", "instance-tags", "migration-failed", "migration-long"},
		core.SourceComputeServices: {"compute-left"},
	}
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		id := rapid.SampledFrom([]core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests, core.SourceInstances,
			core.SourceComputeServices}).Draw(t, "unseen")
		sc.Source(id, rapid.SampledFrom([]core.SourceState{core.SourceForbidden, core.SourceAbsent, core.SourceOff,
			core.SourceConnecting}).Draw(t, "unseen state"))
		for _, a := range Of(sc.Snapshot) {
			if rule, _, _ := strings.Cut(a.ID, "/"); slices.Contains(rests[id], rule) {
				t.Fatalf("%s is not known, and %s says: %s", id, a.ID, a.Reason)
			}
		}
	})
	sc := scene.Healthy()
	sc.Source(core.SourceClusterRequests, core.SourceConnecting)
	sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(time.Hour)}
	for _, p := range progress.Phases(sc.Snapshot) {
		if p.State == core.PhaseDone {
			t.Errorf("phase %d is done because of %q", p.ID, p.Evidence)
		}
	}
}

// A node that takes too long is one entry, even when it gets worse: a selected entry stays selected.
func TestANodeThatTakesTooLongIsOneEntry(t *testing.T) {
	for stage, given := range map[core.Stage]func(sc scene.Scene){
		core.StageRebooting: func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockInactive },
		core.StageReturning: func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequest("cmp-01").Deleting = scene.Ago(progress.ReturnLong - 10*time.Second)
		},
	} {
		sc := scene.Healthy()
		given(sc)
		sc.NodeRequest("cmp-01").Created = scene.Ago(4 * time.Hour)
		sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", scene.Ago(progress.RebootLong-10*time.Second)
		for after, severity := range map[time.Duration]core.Severity{0: core.SeverityWarning, 20 * time.Second: core.SeverityUrgent} {
			s := sc.Next(progress.NodeViews(sc.Snapshot), after)
			v, _ := progress.NodeView(s.Snapshot, "cmp-01")
			a, told := entryAbout(s.Snapshot, "node-slow", "cmp-01")
			if v.Stage != stage || !told || a.Severity != severity {
				t.Errorf("%s after %s: it is %s, told %v: %+v", stage, after, v.Stage, told, a)
			}
		}
	}
}

// An entry that is still there a little later has the same ID.
func TestAttentionKeepsItsIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		before := Of(sc.Snapshot)
		after := ids(Of(sc.Next(progress.NodeViews(sc.Snapshot), 20*time.Second).Snapshot))
		for _, a := range before {
			if _, found := slices.BinarySearch(after, a.ID); !found && !strings.HasPrefix(a.ID, "source") {
				t.Fatalf("%s (%s) is gone; now %q", a.ID, a.Reason, after)
			}
		}
	})
}
