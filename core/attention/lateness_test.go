package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
	"lockstep/scene"
)

// The age of an entry about something that takes too long counts from when it should have been over, not from its beginning.
func TestWhatTakesTooLongIsAsOldAsItsLateness(t *testing.T) {
	plan := func(estimate string, begun time.Duration) func(sc scene.Scene) {
		return func(sc scene.Scene) {
			sc.Update(20 * time.Hour)
			sc.Management = &core.Management{Plans: []*core.UpdatePlan{{Meta: core.Meta{Name: "plan", UID: "plan"}, Status: core.PlanStuck,
				Steps: []core.PlanStep{
					{ID: core.PlanStepWorkers + "rack-a", Name: "rack-a", Status: core.PlanStuck, Estimate: estimate, Started: scene.Ago(begun)}}}}}
		}
	}
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		entry string // the beginning of its ID
		late  core.Since
	}{
		"a group of the plan": {plan("2h", 137*time.Minute), "plan-stuck",
			core.Since{At: scene.Ago(17 * time.Minute), Exact: true}},
		"a group that is stuck before its time":  {plan("8h", 137*time.Minute), "plan-stuck", core.Since{}},
		"a group for which nobody says how long": {plan("", 137*time.Minute), "plan-stuck", core.Since{}},
		"a phase": {func(sc scene.Scene) {
			sc.Update(20 * time.Hour)
			sc.Lock("", core.ControllerOpenStack, core.LockActive)
		}, "phase/2", core.Since{At: scene.Ago(20 * time.Hour), Exact: true}.Plus(progress.EstimatesOf(scene.Healthy().Snapshot).Services())},
		"a node that does not come back": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", scene.Ago(40*time.Minute)
			sc.NodeRequest("cmp-01").Created = scene.Ago(50 * time.Minute)
		}, "node-slow", core.Since{At: scene.Ago(10 * time.Minute), Exact: true}},
		"a node that does not get back into service": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequest("cmp-01").Deleting = scene.Ago(13 * time.Minute)
		}, "node-slow", core.Since{At: scene.Ago(3 * time.Minute), Exact: true}},
		"a live migration": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration")
			in := sc.ByHost["cmp-01"][0]
			in.Status, in.TaskState = "MIGRATING", "migrating"
			sc.Migration(in, "running", "cmp-02", 50*time.Minute)
		}, "migration-long", core.Since{At: scene.Ago(20 * time.Minute), Exact: true}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			for _, a := range Of(sc.Again().Snapshot) {
				if !strings.HasPrefix(a.ID, tt.entry) {
					continue
				}
				if !a.Since.At.Equal(tt.late.At) || a.Since.Exact != tt.late.Exact {
					t.Errorf("%s: late since %+v, want %+v", a.Reason, a.Since, tt.late)
				}
				return
			}
			t.Errorf("nothing of %s in %q", tt.entry, ids(Of(sc.Snapshot)))
		})
	}
}

// A request says nothing of when LCM began to drain its node. Lockstep that starts then knows how long the maintenance lasts, and how long
// the stage does once it has watched it.
func TestAStageIsLateOnceThatIsCertain(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "").RawState = core.LockInactive
	asked := scene.Ago(100 * time.Minute)
	sc.NodeRequest("cmp-01").Created = asked
	sc.Nodes["cmp-01"].Cordoned = true
	sc = sc.Again()
	told := func(s scene.Scene, late core.Since, reason string) {
		t.Helper()
		a, told := entryAbout(s.Snapshot, "node-slow", "cmp-01")
		if told != (reason != "") || a.Since != late || !strings.HasPrefix(a.Reason, reason) {
			t.Errorf("told %v: %q since %+v, want %q since %+v", told, a.Reason, a.Since, reason, late)
		}
	}
	told(sc, core.Since{}, "")
	views := progress.NodeViews(sc.Snapshot)
	told(sc.Next(views, time.Second), core.Since{}, "")
	told(sc.Next(views, 21*time.Minute), core.Since{At: asked.Add(progress.EstimatesOf(sc.Snapshot).Worker()), Exact: true},
		"in maintenance for a long time, since "+wording.ClockText(asked)+", now updating: ")
	told(sc.Next(views, progress.StageLong+time.Minute), core.Since{At: sc.Now.Add(progress.StageLong)},
		"updating for a long time, since "+wording.ClockText(sc.Now)+" or before: ")
}

// Of a removal that LCM does not do, all that is known is when it was asked for.
func TestARemovalThatDoesNotComeIsTold(t *testing.T) {
	sc := scene.Emptied()
	sc.NodeRequests["cmp-01"] = nil
	sc.Removes("cmp-01")
	for _, l := range sc.NodeLocks.At("cmp-01") {
		l.RawState = core.LockInactive
	}
	sc.Deletions["cmp-01"].Created = scene.Ago(progress.StageLong + time.Minute)
	sc = sc.Again()
	a, told := entryAbout(sc.Snapshot, "node-slow", "cmp-01")
	if want := core.NotBefore(scene.Ago(time.Minute)); !told || a.Since != want ||
		!strings.Contains(a.Reason, " or later: its locks are released") {
		t.Errorf("told %v: %q since %+v, want %+v", told, a.Reason, a.Since, want)
	}
}

// LCM that still waits for locks is late once they have been inactive for long, while it waited.
func TestAWaitIsOverOnceThatIsCertain(t *testing.T) {
	for name, tt := range map[string]struct {
		since core.Since
		asked time.Duration
		late  bool
	}{
		"it was seen":             {core.Since{At: scene.Ago(20 * time.Minute), Exact: true}, time.Hour, true},
		"it was found so":         {core.Since{At: scene.Ago(20 * time.Minute)}, time.Hour, true},
		"it was found so by now":  {core.Since{At: scene.Ago(time.Minute)}, time.Hour, false},
		"nobody knows":            {core.Since{}, time.Hour, false},
		"it was left so long ago": {core.Since{At: scene.Ago(50 * time.Hour)}, time.Minute, false},
	} {
		m := scene.Healthy().Managed()
		m.Handed("cmp-01")
		m.NodeRequest("cmp-01").Created = scene.Ago(tt.asked)
		for _, l := range m.NodeLocks.At("cmp-01") {
			m.History.Locks[l.UID] = &core.LockRecord{State: core.LockInactive, Since: tt.since}
		}
		if a, told := entryAbout(m.Join(scene.Drain("m-cmp-01", scene.LocksWaitText, 0)).Snapshot, "drain-waits", "cmp-01"); told != tt.late {
			t.Errorf("%s: told %v: %s", name, told, a.Reason)
		}
	}
}

// A controller holds its lock from before the request on, unless it released it meanwhile. A lock that is inactive was released for the
// request, unless it was seen so before. Since when a lock is failed has nothing to do with a request.
func TestSinceWhenALockIsSo(t *testing.T) {
	asked, before, after := scene.Ago(20*time.Minute), scene.Ago(time.Hour), scene.Ago(5*time.Minute)
	seen := func(at time.Time) core.Since { return core.Since{At: at, Exact: true} }
	for name, tt := range map[string]struct{ was, holds, released core.Since }{
		"nobody knows":         {core.Since{}, seen(asked), core.NotBefore(asked)},
		"it was seen before":   {seen(before), seen(asked), seen(asked)},
		"it was so before":     {core.Since{At: before}, seen(asked), seen(asked)},
		"it was seen then":     {seen(after), seen(after), seen(after)},
		"it was found so then": {core.Since{At: after}, core.Since{At: after}, core.Since{At: after}},
	} {
		for state, want := range map[core.LockState]core.Since{core.LockActive: tt.holds, core.LockInactive: tt.released} {
			sc := scene.Healthy()
			update := sc.Update(20 * time.Minute)
			update.Created = asked
			node, cluster := sc.Maintained("cmp-01", ""), sc.Lock("", core.ControllerOpenStack, state)
			node.RawState = state
			sc.History.Locks = map[string]*core.LockRecord{node.UID: {State: state, Since: tt.was}, cluster.UID: {State: state, Since: tt.was}}
			f := &facts{s: sc.Snapshot}
			if got := f.lockSince(node, update); got != want {
				t.Errorf("%s: it is %s since %+v, want %+v", name, state, got, want)
			}
			if got := f.lockSince(node, nil); got != tt.was {
				t.Errorf("%s: without a request it is %s since %+v", name, state, got)
			}
			node.RawState, cluster.RawState = core.LockFailed, core.LockFailed
			for _, l := range []*core.WorkloadLock{node, cluster} {
				if got := sc.History.StateSince(l); got != (core.Since{}) {
					t.Errorf("%s: another state is failed since %+v", name, got)
				}
				sc.History.Locks[l.UID].State = core.LockFailed
			}
			failed := 0
			for _, a := range Of(sc.Again().Snapshot) {
				if a.Rule == core.RuleLockFailed {
					if failed++; a.Since != tt.was {
						t.Errorf("%s: %s is failed since %+v, want %+v", name, a.ID, a.Since, tt.was)
					}
				}
			}
			if failed != 2 {
				t.Errorf("%s: %d locks are told to be failed", name, failed)
			}
		}
	}
}
