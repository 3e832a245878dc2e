package core

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// A request that nobody has seen bears no finalizer, and is gone as soon as LCM withdraws it: nobody would take the node back. So the
// first step is to hold it, and nothing is begun before.
func TestARequestIsHeldBeforeItIsBegun(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		c.requests["cmp-1"].Finalizers = []string{"example.org/another"}
		c.locks["cmp-1"].InnerState = InnerInactive
		b := played(t, c)
		begin := Intent{Kind: IntentActBegin, Controller: ControllerOpenStack, Node: "cmp-1"}
		if st := Plan(b.engine.Snapshot(), begin); st.Doable() || !strings.Contains(st.Blocker(), "it bears no finalizer of the controller's") {
			t.Errorf("to begin is %s, blocked by %q", st.State, st.Blocker())
		}
		titles, by := stepsOf(b.engine.Snapshot().Procedure(ofNode("cmp-1")))
		hold := by["hold the request of cmp-1"]
		if at := slices.Index(titles, hold.Title); at < 0 || at > slices.Index(titles, "begin to prepare cmp-1") || hold.State != StepReady || !strings.Contains(hold.Then, usualFinalizer) {
			t.Fatalf("first of %q is %+v", titles, hold)
		}
		id, err := b.confirm(hold.Intent)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if got := c.requests["cmp-1"].Finalizers; len(got) != 2 || got[0] != "example.org/another" || got[1] != usualFinalizer {
			t.Errorf("the request bears %q", got)
		}
		b.sync()
		if st := Plan(b.engine.Snapshot(), begin); !st.Doable() {
			t.Errorf("it cannot be begun: %+v", st)
		}
		if titles, _ := stepsOf(b.engine.Snapshot().Procedure(ofNode("cmp-1"))); slices.Contains(titles, hold.Title) {
			t.Errorf("the steps are still %q", titles)
		}
	})
}

// A request that was begun on before, or released, and is not held is said so, and can be held as long as it stands.
func TestARequestThatWasBegunIsHeldLater(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		c.requests["cmp-1"].Finalizers = nil
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = InnerActive, LockInactive
		s := played(t, c).engine.Snapshot()
		_, by := stepsOf(s.Procedure(ofNode("cmp-1")))
		if st := by["hold the request of cmp-1"]; st.State != StepReady {
			t.Errorf("to hold it is %+v", st)
		}
		said := false
		for _, a := range s.Attention() {
			said = said || a.Node == "cmp-1" && strings.Contains(a.Reason, "nobody takes it back") && a.Severity == SeverityWarning && a.Resolve != nil
		}
		if !said {
			t.Errorf("nothing is said of it: %+v", s.Attention())
		}
		c.requests["cmp-1"].Deleting = worldTime
		hold := Plan(played(t, c).engine.Snapshot(), Intent{Kind: IntentActHold, Controller: ControllerOpenStack, Object: c.requests["cmp-1"].Ref()})
		if hold.Doable() || !strings.Contains(hold.Blocker(), "it is being removed") {
			t.Errorf("one that is being removed: %s, blocked by %q", hold.State, hold.Blocker())
		}
	})
}

// The finalizer's name differs between releases: it is the one that the controller's own objects bear.
func TestTheFinalizerOfTheController(t *testing.T) {
	const older, other = "lcm.mirantis.com/openstack-controller.nodemaintenancerequest-finalizer", "example.org/something"
	for name, tt := range map[string]struct {
		configured string
		lock       []string // of the node's OpenStack lock
		want       string
		says       string
	}{
		"nobody bears one":         {"", nil, usualFinalizer, "the usual one"},
		"another's is none":        {"", []string{other}, usualFinalizer, "the usual one"},
		"its locks bear one":       {"", []string{other, older}, older, "as its own objects bear it"},
		"as configured":            {"lcm.mirantis.com/mine", []string{older}, "lcm.mirantis.com/mine", "as configured"},
		"its locks bear the usual": {"", []string{usualFinalizer}, usualFinalizer, "as its own objects bear it"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			sc.Settings = playsOpenStack()
			sc.Settings.ActAs[0].Finalizer = tt.configured
			sc.NodeLock("cmp-01", ControllerOpenStack).Finalizers = tt.lock
			if got, source := sc.finalizer(); got != tt.want || !strings.Contains(source, tt.says) {
				t.Errorf("it is %q, %s", got, source)
			}
		})
	}
}

// A request that Lockstep has held, and whose lock is taken back, waits for nothing more than to be let go: that is said, and LCM waits.
func TestARequestThatWaitsToBeLetGoIsSaid(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Deleting: worldTime, Finalizers: heldBy},
			Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
		c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Created: worldTime, Deleting: worldTime, Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest}
		said := map[string]bool{}
		for _, a := range played(t, c).engine.Snapshot().Attention() {
			if strings.Contains(a.Reason, "LCM waits for you to let its request go") && a.Severity == SeverityUrgent && a.Resolve != nil {
				said[a.Node] = true
			}
		}
		if !said["cmp-1"] || !said[""] {
			t.Errorf("it is said of %v", said)
		}
	})
}
