package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

func entryAbout(s *core.Snapshot, id, node string) (core.Attention, bool) {
	all := Of(s)
	i := slices.IndexFunc(all, func(a core.Attention) bool { return strings.HasPrefix(a.ID, id+"/") && a.Node == node })
	if i < 0 {
		return core.Attention{}, false
	}
	return all[i], true
}

// When the role label of a live node was taken off, its lock stays in deletion forever. The entry is urgent and shows the cause.
// Its steps release the lock and give the node its role back, by the label that the lock remembers (docs/mosk.md#role-taken-off).
func TestALockInDeletionOnALiveNode(t *testing.T) {
	s := scene.Unlabelled().Again().Snapshot
	a, ok := entryAbout(s, "lock-stuck", "cmp-01")
	if !ok || a.Severity != core.SeverityUrgent || a.Resolve == nil || !a.Since.At.Equal(scene.Ago(30*time.Minute)) {
		t.Fatalf("it is told as %+v", a)
	}
	for _, want := range []string{"its role label was taken off", "does not end while the node exists", "LCM waits for it"} {
		if !strings.Contains(a.Reason, want) {
			t.Errorf("%q is not in %q", want, a.Reason)
		}
	}
	if want := procedure.ToChange("give it its role back",
		"kubectl label node cmp-01 openstack-compute-node=enabled"); !slices.Contains(a.Commands, want) {
		t.Errorf("the way out: %+v", a.Commands)
	}
	if v, _ := progress.NodeView(s, "cmp-01"); v.Stage != core.StageWaiting || v.What != "role label taken off" {
		t.Errorf("its stage is %s: %s", v.Stage, v.What)
	}
	titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
	free := by["let the lock of openstack on cmp-01 go"]
	if free.State != core.StepReady || free.Risk != core.RiskHigh || len(free.Commands) != 1 ||
		!strings.Contains(free.Commands[0], core.UsualFinalizer) {
		t.Errorf("to let it go is %+v; the steps are %q", free, titles)
	}
	if role := by["give cmp-01 its role label back"]; len(role.Commands) != 1 || role.State != core.StepLater {
		t.Errorf("to label it is %+v", role)
	}
	if _, twice := entryAbout(s, "node-waits", "cmp-01"); twice {
		t.Error("it is told twice")
	}
}

// A lock is not stuck when its node leaves, when it was just deleted, or when another finalizer holds it.
func TestALockInDeletionThatEnds(t *testing.T) {
	for name, change := range map[string]func(scene.Scene){
		"the node is gone":          func(sc scene.Scene) { delete(sc.Nodes, "cmp-01") },
		"the node is being deleted": func(sc scene.Scene) { sc.Nodes["cmp-01"].Deleting = scene.Ago(5 * time.Minute) },
		"its removal is asked for": func(sc scene.Scene) {
			sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "d", Created: scene.Noon},
				Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"it was deleted just now": func(sc scene.Scene) {
			sc.NodeLock("cmp-01", core.ControllerOpenStack).Deleting = scene.Ago(5 * time.Second)
		},
		"somebody else's holds it": func(sc scene.Scene) {
			sc.NodeLock("cmp-01", core.ControllerOpenStack).Finalizers = []string{"example.org/x"}
		},
	} {
		sc := scene.Unlabelled()
		change(sc)
		s := sc.Again().Snapshot
		if a, told := entryAbout(s, "lock-stuck", "cmp-01"); told {
			t.Errorf("%s: %+v", name, a)
		}
		st := step.Plan(s, core.Intent{Kind: core.IntentFreeLock, Object: sc.NodeLock("cmp-01", core.ControllerOpenStack).Ref()})
		if st.Doable() {
			t.Errorf("%s: it can be let go", name)
		}
	}
}

// While LCM asks for the node, or may at any moment, the lock is released only once another lock holds the node: without one LCM
// would drain and reboot the host with everything that runs on it.
func TestALockInDeletionIsNotLetGoIntoAMaintenance(t *testing.T) {
	for name, asked := range map[string]func(scene.Scene){
		"asked for":      func(sc scene.Scene) { sc.Update(time.Hour); sc.Request("cmp-01", 10*time.Minute) },
		"an update runs": func(sc scene.Scene) { sc.Update(time.Hour) },
	} {
		sc := scene.Unlabelled()
		asked(sc)
		s := sc.Again().Snapshot
		free := core.Intent{Kind: core.IntentFreeLock, Object: sc.NodeLock("cmp-01", core.ControllerOpenStack).Ref()}
		if st := step.Plan(s, free); st.Doable() || !strings.Contains(st.Blocker(), "LCM does not take the node") {
			t.Errorf("%s: it is %s: %s", name, st.State, st.Blocker())
		}
		if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); a.Severity != core.SeverityUrgent {
			t.Errorf("%s: it is told as %+v", name, a)
		}
		if v, _ := progress.NodeView(s, "cmp-01"); v.Stage != core.StageWaiting {
			t.Errorf("%s: its stage is %s", name, v.Stage)
		}
		_, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
		hold := by["hold cmp-01 by a lock of your own"]
		if len(hold.Commands) != 1 || !strings.Contains(hold.Commands[0], `"controllerName":"operator"`) ||
			!strings.Contains(hold.Commands[0], `"nodeName":"cmp-01"`) {
			t.Errorf("%s: to hold it is %+v", name, hold)
		}
		own := progress.OwnLock("cmp-01")
		l := sc.Lock("cmp-01", own.Controller, "")
		l.Name = own.Name
		s = sc.Again().Snapshot
		if st := step.Plan(s, free); !st.Doable() {
			t.Errorf("%s: held otherwise it is %s: %s", name, st.State, st.Blocker())
		}
		if titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01"))); by["take your own lock on cmp-01 away"].State != core.StepLater {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}

// When the label is back, the node's old lock is still in deletion: its entry says so, and says how a new lock is made.
func TestALabelThatIsBackDoesNotMendTheLock(t *testing.T) {
	sc := scene.Unlabelled()
	sc.Nodes["cmp-01"].Roles = []core.Role{core.RoleCompute}
	s := sc.Again().Snapshot
	if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); strings.Contains(a.Reason, "taken off") || !strings.Contains(a.Detail, "a role again") {
		t.Errorf("it is told as %+v", a)
	}
	titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
	if st := by["let the OpenStack controller make a new lock"]; len(st.Commands) != 1 ||
		!strings.HasPrefix(st.Commands[0], "kubectl annotate node cmp-01 ") {
		t.Errorf("the steps are %q: %+v", titles, st)
	}
}

// Where Lockstep plays the controller, the entry is the same, and the node can go through its maintenance with the lock as it is.
func TestALockInDeletionOfAPlayedController(t *testing.T) {
	sc := scene.Unlabelled()
	sc.Settings = scene.PlaysOpenStack()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	sc.Update(time.Hour)
	sc.Request("cmp-01", 10*time.Minute)
	s := sc.Again().Snapshot
	if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); !strings.Contains(a.Detail,
		"As the OpenStack controller you can take the node through its maintenance as it is") {
		t.Errorf("it is told as %+v", a)
	}
	titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
	if _, ok := by["begin to prepare cmp-01"]; !ok {
		t.Errorf("the steps are %q", titles)
	}
}

// A node without a role and without a lock, on which nova-compute runs, is held by nobody.
func TestANodeOfNovaWithoutARoleIsHeldByNobody(t *testing.T) {
	sc := scene.Unlabelled()
	sc.NodeLocks = sc.NodeLocks.Put("cmp-01", nil)
	a, ok := entryAbout(sc.Again().Snapshot, "roleless", "cmp-01")
	if !ok || a.Severity != core.SeverityWarning || a.Commands[0].Line != "kubectl label node cmp-01 openstack-compute-node=enabled" {
		t.Errorf("it is told as %+v", a)
	}
	sc.Update(time.Hour)
	sc.Request("cmp-01", 10*time.Minute)
	if a, _ := entryAbout(sc.Again().Snapshot, "roleless", "cmp-01"); a.Severity != core.SeverityUrgent {
		t.Errorf("asked for, it is told as %+v", a)
	}
	if _, told := entryAbout(scene.Healthy().Again().Snapshot, "roleless", "cmp-01"); told {
		t.Error("a node with its role is told, too")
	}
}
