package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// unlabelled is a cluster in which somebody took the only role label off cmp-01, half an hour ago.
func unlabelled() scene {
	sc := healthy()
	n, l := sc.Nodes["cmp-01"], sc.NodeLock("cmp-01", ControllerOpenStack)
	n.Roles = nil
	l.Deleting, l.Finalizers, l.Original = ago(30*time.Minute), heldBy, map[string]string{"openstack-compute-node": "enabled", "edge": "on"}
	return sc
}

func entryAbout(s *Snapshot, id, node string) (Attention, bool) {
	all := s.Attention()
	i := slices.IndexFunc(all, func(a Attention) bool { return strings.HasPrefix(a.ID, id+"/") && a.Node == node })
	if i < 0 {
		return Attention{}, false
	}
	return all[i], true
}

// The lock of a live node whose role label was taken off is in deletion for ever. That is urgent, with its cause, and the steps let it
// go and give the node its role back, by the label that the lock remembers (docs/mosk.md#role-taken-off).
func TestALockInDeletionOnALiveNode(t *testing.T) {
	s := unlabelled().again().Snapshot
	a, ok := entryAbout(s, "lock-stuck", "cmp-01")
	if !ok || a.Severity != SeverityUrgent || a.Resolve == nil || !a.Since.At.Equal(ago(30*time.Minute)) {
		t.Fatalf("it is told as %+v", a)
	}
	for _, want := range []string{"its role label was taken off", "does not end while the node exists", "LCM waits for it"} {
		if !strings.Contains(a.Reason, want) {
			t.Errorf("%q is not in %q", want, a.Reason)
		}
	}
	if want := change("give it its role back", "kubectl label node cmp-01 openstack-compute-node=enabled"); !slices.Contains(a.Commands, want) {
		t.Errorf("the way out: %+v", a.Commands)
	}
	if v, _ := s.NodeView("cmp-01"); v.Stage != StageWaiting || v.What != "role label taken off" {
		t.Errorf("its stage is %s: %s", v.Stage, v.What)
	}
	titles, by := stepsOf(s.Procedure(ofNode("cmp-01")))
	free := by["let the lock of openstack on cmp-01 go"]
	if free.State != StepReady || free.Risk != RiskHigh || len(free.Commands) != 1 || !strings.Contains(free.Commands[0], usualFinalizer) {
		t.Errorf("to let it go is %+v; the steps are %q", free, titles)
	}
	if role := by["give cmp-01 its role label back"]; len(role.Commands) != 1 || role.State != StepLater {
		t.Errorf("to label it is %+v", role)
	}
	if _, twice := entryAbout(s, "node-waits", "cmp-01"); twice {
		t.Error("it is told twice")
	}
}

// What is no such lock: its node leaves, or it was deleted just now, or another's finalizer holds it.
func TestALockInDeletionThatEnds(t *testing.T) {
	for name, change := range map[string]func(scene){
		"the node is gone":          func(sc scene) { delete(sc.Nodes, "cmp-01") },
		"the node is being deleted": func(sc scene) { sc.Nodes["cmp-01"].Deleting = ago(5 * time.Minute) },
		"its removal is asked for": func(sc scene) {
			sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Name: "cmp-01", UID: "d", Created: noon}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"it was deleted just now":  func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).Deleting = ago(5 * time.Second) },
		"somebody else's holds it": func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).Finalizers = []string{"example.org/x"} },
	} {
		sc := unlabelled()
		change(sc)
		s := sc.again().Snapshot
		if a, told := entryAbout(s, "lock-stuck", "cmp-01"); told {
			t.Errorf("%s: %+v", name, a)
		}
		st := Plan(s, Intent{Kind: IntentFreeLock, Object: sc.NodeLock("cmp-01", ControllerOpenStack).Ref()})
		if st.Doable() {
			t.Errorf("%s: it can be let go", name)
		}
	}
}

// While LCM asks for the node, or may at any moment, the lock is let go only once another one holds it: without one LCM would drain and
// reboot the host with what runs on it.
func TestALockInDeletionIsNotLetGoIntoAMaintenance(t *testing.T) {
	for name, asked := range map[string]func(scene){
		"asked for":      func(sc scene) { sc.update(time.Hour); sc.request("cmp-01", 10*time.Minute) },
		"an update runs": func(sc scene) { sc.update(time.Hour) },
	} {
		sc := unlabelled()
		asked(sc)
		s := sc.again().Snapshot
		free := Intent{Kind: IntentFreeLock, Object: sc.NodeLock("cmp-01", ControllerOpenStack).Ref()}
		if st := Plan(s, free); st.Doable() || !strings.Contains(st.Blocker(), "LCM does not take the node") {
			t.Errorf("%s: it is %s: %s", name, st.State, st.Blocker())
		}
		if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); a.Severity != SeverityUrgent {
			t.Errorf("%s: it is told as %+v", name, a)
		}
		if v, _ := s.NodeView("cmp-01"); v.Stage != StageWaiting {
			t.Errorf("%s: its stage is %s", name, v.Stage)
		}
		_, by := stepsOf(s.Procedure(ofNode("cmp-01")))
		hold := by["hold cmp-01 by a lock of your own"]
		if len(hold.Commands) != 1 || !strings.Contains(hold.Commands[0], `"controllerName":"operator"`) || !strings.Contains(hold.Commands[0], `"nodeName":"cmp-01"`) {
			t.Errorf("%s: to hold it is %+v", name, hold)
		}
		own := ownLock("cmp-01")
		l := sc.lock("cmp-01", own.Controller, "")
		l.Name = own.Name
		s = sc.again().Snapshot
		if st := Plan(s, free); !st.Doable() {
			t.Errorf("%s: held otherwise it is %s: %s", name, st.State, st.Blocker())
		}
		if titles, by := stepsOf(s.Procedure(ofNode("cmp-01"))); by["take your own lock on cmp-01 away"].State != StepLater {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}

// A lock of MOSK's own other controllers is no such hold: they let it go by themselves.
func TestALockOfCephIsNoHold(t *testing.T) {
	sc := unlabelled()
	sc.update(time.Hour)
	sc.lock("cmp-01", ControllerCeph, LockActive)
	if st := Plan(sc.again().Snapshot, Intent{Kind: IntentFreeLock, Object: sc.NodeLock("cmp-01", ControllerOpenStack).Ref()}); st.Doable() {
		t.Error("it can be let go")
	}
}

// With its label back the node's old lock is still in deletion: it says so, and how a new one is made.
func TestALabelThatIsBackDoesNotMendTheLock(t *testing.T) {
	sc := unlabelled()
	sc.Nodes["cmp-01"].Roles = []Role{RoleCompute}
	s := sc.again().Snapshot
	if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); strings.Contains(a.Reason, "taken off") || !strings.Contains(a.Detail, "a role again") {
		t.Errorf("it is told as %+v", a)
	}
	titles, by := stepsOf(s.Procedure(ofNode("cmp-01")))
	if st := by["let the OpenStack controller make a new lock"]; len(st.Commands) != 1 || !strings.HasPrefix(st.Commands[0], "kubectl annotate node cmp-01 ") {
		t.Errorf("the steps are %q: %+v", titles, st)
	}
}

// Who plays the controller is told the same, and can take the node through its maintenance with the lock as it is.
func TestALockInDeletionOfAPlayedController(t *testing.T) {
	sc := unlabelled()
	sc.Settings = playsOpenStack()
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	sc.update(time.Hour)
	sc.request("cmp-01", 10*time.Minute)
	s := sc.again().Snapshot
	if a, _ := entryAbout(s, "lock-stuck", "cmp-01"); !strings.Contains(a.Detail, "As the OpenStack controller you can take the node through its maintenance as it is") {
		t.Errorf("it is told as %+v", a)
	}
	titles, by := stepsOf(s.Procedure(ofNode("cmp-01")))
	if _, ok := by["begin to prepare cmp-01"]; !ok {
		t.Errorf("the steps are %q", titles)
	}
}

// A node without a role and without a lock on which nova-compute runs is held by nobody.
func TestANodeOfNovaWithoutARoleIsHeldByNobody(t *testing.T) {
	sc := unlabelled()
	sc.NodeLocks["cmp-01"] = nil
	a, ok := entryAbout(sc.again().Snapshot, "roleless", "cmp-01")
	if !ok || a.Severity != SeverityWarning || a.Commands[0].Line != "kubectl label node cmp-01 openstack-compute-node=enabled" {
		t.Errorf("it is told as %+v", a)
	}
	sc.update(time.Hour)
	sc.request("cmp-01", 10*time.Minute)
	if a, _ := entryAbout(sc.again().Snapshot, "roleless", "cmp-01"); a.Severity != SeverityUrgent {
		t.Errorf("asked for, it is told as %+v", a)
	}
	if _, told := entryAbout(healthy().again().Snapshot, "roleless", "cmp-01"); told {
		t.Error("a node with its role is told, too")
	}
}

// The step takes the finalizer off, and the lock is gone.
func TestALockInDeletionIsLetGo(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.cluster = nil
		c.roles = map[string][]Role{"cmp-1": {RoleStorage}}
		l := c.locks["cmp-1"]
		l.Deleting, l.Finalizers = worldTime.Add(-time.Hour), []string{usualFinalizer}
		b := newBench(t, t.TempDir(), c)
		t.Cleanup(b.end)
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentFreeLock, Object: l.Ref()})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if c.locks["cmp-1"] != nil || !slices.Contains(c.written(), "remove-finalizer openstack-cmp-1") {
			t.Errorf("the lock is %+v after %q", c.locks["cmp-1"], c.written())
		}
	})
}
