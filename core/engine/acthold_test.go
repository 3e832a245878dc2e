package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// A request that nobody has seen has no finalizer, and is gone as soon as LCM withdraws it: nobody would take the node back. So
// the first step holds the request, and nothing begins before that.
func TestARequestIsHeldBeforeItIsBegun(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		c.requests["cmp-1"].Finalizers = []string{"example.org/another"}
		c.locks["cmp-1"].InnerState = core.InnerInactive
		b := played(t, c)
		begin := core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: "cmp-1"}
		if st := step.Plan(b.engine.Snapshot(), begin); st.Doable() ||
			!strings.Contains(st.Blocker(), "it bears no finalizer of the controller's") {
			t.Errorf("to begin is %s, blocked by %q", st.State, st.Blocker())
		}
		titles, by := scene.StepsOf(procedure.Of(b.engine.Snapshot(), scene.OfNode("cmp-1")))
		hold := by["hold the request of cmp-1"]
		if at := slices.Index(titles, hold.Title); at < 0 || at > slices.Index(titles, "begin to prepare cmp-1") ||
			hold.State != core.StepReady || !strings.Contains(hold.Then, core.UsualFinalizer) {
			t.Fatalf("first of %q is %+v", titles, hold)
		}
		id, err := b.confirm(hold.Intent)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if got := c.requests["cmp-1"].Finalizers; len(got) != 2 || got[0] != "example.org/another" || got[1] != core.UsualFinalizer {
			t.Errorf("the request bears %q", got)
		}
		b.sync()
		if st := step.Plan(b.engine.Snapshot(), begin); !st.Doable() {
			t.Errorf("it cannot be begun: %+v", st)
		}
		if titles, _ := scene.StepsOf(procedure.Of(b.engine.Snapshot(), scene.OfNode("cmp-1"))); slices.Contains(titles, hold.Title) {
			t.Errorf("the steps are still %q", titles)
		}
	})
}

// A request that was begun or released without being held is reported, and can be held as long as it exists.
func TestARequestThatWasBegunIsHeldLater(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		c.requests["cmp-1"].Finalizers = nil
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = core.InnerActive, core.LockInactive
		s := played(t, c).engine.Snapshot()
		_, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-1")))
		if st := by["hold the request of cmp-1"]; st.State != core.StepReady {
			t.Errorf("to hold it is %+v", st)
		}
		said := false
		for _, a := range attention.Of(s) {
			said = said || a.Node == "cmp-1" && strings.Contains(a.Reason, "nobody takes it back") && a.Severity == core.SeverityWarning &&
				a.Resolve != nil
		}
		if !said {
			t.Errorf("nothing is said of it: %+v", attention.Of(s))
		}
		c.requests["cmp-1"].Deleting = worldTime
		hold := step.Plan(played(t, c).engine.Snapshot(),
			core.Intent{Kind: core.IntentActHold, Controller: core.ControllerOpenStack, Object: c.requests["cmp-1"].Ref()})
		if hold.Doable() || !strings.Contains(hold.Blocker(), "it is being removed") {
			t.Errorf("one that is being removed: %s, blocked by %q", hold.State, hold.Blocker())
		}
	})
}

// A request that Lockstep holds, and whose lock is taken back, only has to be let go. The entry says so, and says that LCM waits.
func TestARequestThatWaitsToBeLetGoIsSaid(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Deleting: worldTime,
			Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
		c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime, Deleting: worldTime,
			Finalizers: scene.HeldBy}, Kind: core.KindClusterMaintenanceRequest}
		said := map[string]bool{}
		for _, a := range attention.Of(played(t, c).engine.Snapshot()) {
			if strings.Contains(a.Reason, "LCM waits for you to let its request go") && a.Severity == core.SeverityUrgent && a.Resolve != nil {
				said[a.Node] = true
			}
		}
		if !said["cmp-1"] || !said[""] {
			t.Errorf("it is said of %v", said)
		}
	})
}

// Where the operator has said that there is no OpenStack controller by any name, Lockstep plays it as where its Deployment is scaled to 0:
// nothing of the flow waits for a Deployment that is not there.
func TestAnAbsentControllerIsPlayed(t *testing.T) {
	for _, absent := range []bool{true, false} {
		bubble.Alone(t, func(t *testing.T) {
			c := askedFor()
			c.rockoon = nil
			c.requests["cmp-1"].Finalizers = nil
			c.locks["cmp-1"].InnerState = core.InnerInactive
			settings := scene.PlaysOpenStack()
			settings.ActAs[0].Absent = absent
			b := newBenchWith(t, t.TempDir(), c, settings)
			defer b.end()
			b.arm()
			hold := core.Intent{Kind: core.IntentActHold, Controller: core.ControllerOpenStack, Object: c.requests["cmp-1"].Ref()}
			if st := step.Plan(b.engine.Snapshot(), hold); st.Doable() != absent ||
				!absent && !strings.Contains(st.Blocker(), "no Deployment rockoon") {
				t.Fatalf("absent %v: to hold is %s, blocked by %q", absent, st.State, st.Blocker())
			}
			if !absent {
				return
			}
			for _, i := range []core.Intent{hold, {Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: "cmp-1"}} {
				id, err := b.confirm(i)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationDone {
					t.Fatalf("%s ended as %s: %s", i.Kind, op.State, op.Text)
				}
				b.sync()
			}
			c.mu.Lock()
			c.requests["cmp-1"].Deleting = worldTime
			c.mu.Unlock()
			b.sync()
			letGo := core.Intent{Kind: core.IntentActLetGo, Controller: core.ControllerOpenStack, Object: c.requests["cmp-1"].Ref()}
			if g, unmet := step.Plan(b.engine.Snapshot(), letGo).Unmet(core.GuardNobodyElse); unmet {
				t.Errorf("to let it go waits: %s", g.Answer)
			}
		})
	}
}
