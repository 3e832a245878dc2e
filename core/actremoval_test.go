package core

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// toBeRemoved is a cloud whose cmp-1 is to be removed; the lock is one that Rockoon made.
func toBeRemoved() *testCloud {
	c := atRest()
	c.deletions = []*NodeNotice{{Meta: Meta{Name: "cmp-1", UID: "ndr", Created: worldTime}, Kind: KindNodeDeletionRequest, Node: "cmp-1"}}
	c.locks["cmp-1"].Finalizers = []string{"lcm.mirantis.com/rockoon.nodeworkloadlock-finalizer"}
	return c
}

// leave takes cmp-1 out of the cluster.
func (c *testCloud) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.uids, "cmp-1")
	c.deletions = nil
}

// A node's removal, step by confirmed step, with Lockstep in the OpenStack controller's place (docs/mosk.md#removal).
func TestThePlayedRemovalOfANode(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := toBeRemoved()
		clear(c.instances)
		b := played(t, c)
		for _, st := range []struct {
			before func()
			step   string
		}{
			{nil, "take nova-compute out of scheduling on cmp-1"},
			{nil, "release the lock on cmp-1"},
			{func() {
				c.leave()
				c.mu.Lock()
				delete(c.services, "cmp-1") // the operator has deleted it
				c.mu.Unlock()
			}, "delete the lock of cmp-1"},
			{nil, "let the lock go of cmp-1"},
		} {
			if st.before != nil {
				st.before()
			}
			b.sync()
			titles, by := stepsOf(b.engine.Snapshot().Procedure(ofNode("cmp-1")))
			found, ok := by[st.step]
			if !ok || found.State != StepReady {
				t.Fatalf("%s is %s (%s); there are %q", st.step, found.State, found.Blocker(), titles)
			}
			id, err := b.confirm(found.Intent)
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != OperationDone {
				t.Fatalf("%s ended as %s: %s", st.step, op.State, op.Text)
			}
		}
		if want := []string{"service svc-cmp-1 false", "set-lock openstack-cmp-1=inactive", "delete openstack-cmp-1", "remove-finalizer openstack-cmp-1"}; !slices.Equal(c.written(), want) {
			t.Errorf("the servers received %q, want %q", c.written(), want)
		}
		if c.locks["cmp-1"] != nil {
			t.Error("the lock is still there")
		}
	})
}

// onlyHalfAway leaves one instance in the cloud: it was cold-migrated away from cmp-1, and nobody has decided on it.
func onlyHalfAway(c *testCloud) {
	clear(c.instances)
	c.add("half", "cmp-2")
	c.instances["id-half"].Status, c.instances["id-half"].VMState = "VERIFY_RESIZE", "resized"
	c.migrations["id-half"] = []*Migration{{ID: 7, InstanceID: "id-half", Type: MigrationCold, Status: "finished", SourceHost: "cmp-1", DestHost: "cmp-2", Created: worldTime}}
}

// What keeps a played controller from letting a node go for good, and from dropping its lock.
func TestWhatHoldsAPlayedRemoval(t *testing.T) {
	out := func(c *testCloud) {
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
	}
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		kind  IntentKind
		says  string // empty: it can be done
	}{
		"an instance runs": {out, IntentActRelease, "web-1 (ACTIVE)"},
		"an instance runs, and the node has lost its role": {func(c *testCloud) {
			out(c)
			c.roles = map[string][]Role{"cmp-1": {RoleStorage}}
		}, IntentActRelease, "web-1 (ACTIVE)"},
		"one that left it waits for a decision": {func(c *testCloud) {
			out(c)
			onlyHalfAway(c)
		}, IntentActRelease, "half"},
		"one that left it waits for a decision, and it is dead": {func(c *testCloud) {
			out(c)
			onlyHalfAway(c)
			c.services["cmp-1"].Up = false
		}, IntentActRelease, ""},
		"a stopped one holds it too": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.add("old", "cmp-1")
			c.instances["id-old"].Status, c.instances["id-old"].VMState, c.instances["id-old"].Power = "SHUTOFF", "stopped", PowerShutdown
		}, IntentActRelease, "old (SHUTOFF)"},
		"the mode skip is no help": {func(c *testCloud) {
			out(c)
			c.annotations["cmp-1"][AnnotationMigrationMode] = string(ModeSkip)
		}, IntentActRelease, "web-1 (ACTIVE)"},
		"still scheduled to": {func(c *testCloud) { clear(c.instances) }, IntentActRelease, "the scheduler puts nothing more"},
		"empty":              {func(c *testCloud) { out(c); clear(c.instances) }, IntentActRelease, ""},
		"a volume is on its disks": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.onDisks = map[string][]Volume{"cmp-1": {{ID: "vol-1", Name: "data"}}}
		}, IntentActRelease, "data"},
		"volumes can come to it": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.volumeService("cmp-1@lvm")
		}, IntentActRelease, "puts no more volumes"},
		"its volume service goes out": {func(c *testCloud) { out(c); c.volumeService("cmp-1@lvm") }, IntentActVolumeOut, ""},
		"not begun: none is":          {func(*testCloud) {}, IntentActOutOfScheduling, ""},
		"the removal is given up":     {func(c *testCloud) { out(c); clear(c.instances); c.deletions = nil }, IntentActRelease, "it is the time for it"},
		"the node is there":           {func(*testCloud) {}, IntentActDropLock, "it is the time for it"},
		"gone, with its service":      {func(c *testCloud) { clear(c.instances); c.leave() }, IntentActDropLock, "nova-compute"},
		"gone, its machine disabled":  {func(c *testCloud) { c.leave(); c.disablings = []*NodeNotice{{Meta: Meta{Name: "d"}, Node: "cmp-1"}} }, IntentActDropLock, "it is the time for it"},
		"gone, with nothing left":     {func(c *testCloud) { clear(c.instances); c.leave(); delete(c.services, "cmp-1") }, IntentActDropLock, ""},
		"gone, with an agent": {func(c *testCloud) {
			clear(c.instances)
			c.leave()
			delete(c.services, "cmp-1")
			c.agents = []*NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent"}}
		}, IntentActDropLock, "neutron-l3-agent"},
		"asked for maintenance first": {func(c *testCloud) { c.requests["cmp-1"] = askedFor().requests["cmp-1"]; clear(c.instances) }, IntentActRelease, "begun"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				tt.cloud(c)
				s := played(t, c).engine.Snapshot()
				i := Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: "cmp-1"}
				if all := s.VolumeServicesOn("cmp-1"); tt.kind == IntentActVolumeOut {
					i.Object = all[0].Ref()
				}
				st := Plan(s, i)
				if got := st.Blocker(); (tt.says == "") != st.Doable() || !strings.Contains(got, tt.says) {
					t.Errorf("it is %s, blocked by %q; want %q", st.State, got, tt.says)
				}
			})
		})
	}
}

// Nova is asked right before the node is let go: what was put there since holds it.
func TestAPlayedRemovalAsksNovaLast(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := toBeRemoved()
		clear(c.instances)
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
		b := played(t, c)
		c.mu.Lock()
		c.add("late", "cmp-1")
		c.instances["id-late"].Status = "SHUTOFF"
		c.mu.Unlock()
		id, err := b.confirm(Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, "late") || len(c.written()) > 0 {
			t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
		}
	})
}

// Also of a node that is no compute: Ironic's nova-compute can run on a controller.
func TestAPlayedRemovalOfAControllerAsksNovaLast(t *testing.T) {
	for name, tt := range map[string]struct {
		late  bool
		state OperationState
		says  string
	}{"nothing is on it": {false, OperationDone, ""}, "a server was made since": {true, OperationFailed, "late"}} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				c.roles = map[string][]Role{"cmp-1": {RoleController}} // with a nova-compute
				clear(c.instances)
				b := played(t, c)
				c.mu.Lock()
				if tt.late {
					c.add("late", "cmp-1")
				}
				c.mu.Unlock()
				id, err := b.confirm(Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != tt.state || !strings.Contains(op.Text, tt.says) || tt.late == (len(c.written()) > 0) {
					t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
				}
			})
		})
	}
}

// Whether the removal is still asked for is asked as well: a lock that is let go for nothing lets LCM have the node, guests and
// all, the next time that it asks.
func TestAPlayedRemovalAsksWhetherItIsWanted(t *testing.T) {
	for name, tt := range map[string]struct {
		kind IntentKind
		then func(c *testCloud)
		says string
	}{
		"release: it is withdrawn":          {IntentActRelease, func(c *testCloud) { c.deletions = nil }, "is gone"},
		"release: it is another":            {IntentActRelease, func(c *testCloud) { d := *c.deletions[0]; d.UID = "another"; c.deletions = []*NodeNotice{&d} }, "is gone"},
		"release: it is being removed":      {IntentActRelease, func(c *testCloud) { d := *c.deletions[0]; d.Deleting = worldTime; c.deletions = []*NodeNotice{&d} }, "being removed"},
		"out: it is withdrawn":              {IntentActOutOfScheduling, func(c *testCloud) { c.deletions = nil }, "is gone"},
		"release: Cinder has lost services": {IntentActRelease, func(c *testCloud) { clear(c.volumes) }, "Cinder"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				clear(c.instances)
				c.volumeService("cmp-1@lvm").outOf(DisabledReasonMaintenance)
				if tt.kind == IntentActRelease {
					c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
				}
				b := played(t, c)
				c.mu.Lock()
				tt.then(c)
				c.mu.Unlock()
				id, err := b.confirm(Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, tt.says) || len(c.written()) > 0 {
					t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
				}
			})
		})
	}
}

// Cinder too: a volume that was made since the last look would go with the node.
func TestAPlayedRemovalAsksCinderLast(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := toBeRemoved()
		clear(c.instances)
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
		b := played(t, c)
		c.mu.Lock()
		c.onDisks = map[string][]Volume{"cmp-1": {{ID: "vol-1", Name: "late-data"}}}
		c.mu.Unlock()
		id, err := b.confirm(Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, "late-data") || len(c.written()) > 0 {
			t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
		}
	})
}

// A removal and what it leaves wait for whoever plays the controller, and are told once.
func TestAPlayedRemovalNeedsAPerson(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		told := func(c *testCloud) (out []string) {
			for _, a := range played(t, c).engine.Snapshot().Attention() {
				if a.Node == "cmp-1" {
					out = append(out, a.Reason)
				}
			}
			return out
		}
		if got := told(toBeRemoved()); len(got) != 1 || !strings.Contains(got[0], "its removal waits for you") {
			t.Errorf("to be removed: %q", got)
		}
		c := toBeRemoved()
		c.leave()
		if got := told(c); len(got) != 1 || !strings.Contains(got[0], "it is gone, and its lock") {
			t.Errorf("gone: %q", got)
		}
		c = toBeRemoved()
		c.locks["cmp-1"].RawState = LockInactive
		if got := told(c); len(got) != 0 {
			t.Errorf("let go: %q", got)
		}
		v, _ := played(t, func() *testCloud { c := toBeRemoved(); clear(c.instances); return c }()).engine.Snapshot().NodeView("cmp-1")
		if v.Stage != StageWaiting || !strings.Contains(v.Reason, "let it go") {
			t.Errorf("empty, it is %s: %s", v.Stage, v.Reason)
		}
	})
}

// What is left in OpenStack of a node that is gone has its commands, once it is down.
func TestWhatIsLeftOfANodeThatIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		up, alive bool
		want      map[string]string // by step: in its commands; "" for none
	}{
		"down":        {false, false, map[string]string{"delete the compute service of cmp-1": "openstack compute service delete svc-cmp-1", "delete the network agents of cmp-1": "openstack network agent delete agent-1"}},
		"up, alive":   {true, true, map[string]string{"delete the compute service of cmp-1": "", "delete the network agents of cmp-1": ""}},
		"down, heard": {false, true, map[string]string{"delete the compute service of cmp-1": "openstack compute service delete svc-cmp-1", "delete the network agents of cmp-1": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				clear(c.instances)
				c.leave()
				c.services["cmp-1"].Up = tt.up
				c.agents = []*NetworkAgent{{ID: "agent-1", Host: "cmp-1", Binary: "neutron-l3-agent", Alive: tt.alive, AdminUp: true}}
				_, by := stepsOf(played(t, c).engine.Snapshot().Procedure(ofNode("cmp-1")))
				for title, want := range tt.want {
					st, ok := by[title]
					if got := strings.Join(st.Commands, "\n"); !ok || st.State != StepWaiting || !strings.Contains(got, want) || want == "" && got != "" {
						t.Errorf("%s is %s: %s, %q", title, st.State, st.Status, got)
					}
				}
			})
		})
	}
}

// Nothing is let go by who does not see the nodes, or whether the OpenStack controller runs: a lock that is not taken back would
// look like one of a node that never was.
func TestNothingIsLetGoUnseen(t *testing.T) {
	sc := healthy()
	sc.Settings = playsOpenStack()
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	sc.maintained("cmp-01", "").RawState = LockInactive
	r := sc.NodeRequest("cmp-01")
	r.Deleting, r.Finalizers = noon, []string{"lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"}
	let := Intent{Kind: IntentActLetGo, Controller: ControllerOpenStack, Object: r.Ref()}
	if got := failing(Plan(sc.Snapshot, let)); !slices.Equal(got, []GuardID{"taken-back"}) {
		t.Errorf("not taken back: held by %q", got)
	}
	nodes := sc.Nodes
	sc.Nodes = map[string]*Node{}
	sc.source(SourceNodes, SourceConnecting)
	if got := failing(Plan(sc.again().Snapshot, let)); !slices.Contains(got, "fresh") {
		t.Errorf("with the nodes not seen yet: held by %q", got)
	}
	sc.Nodes = nodes
	sc.Sources[SourceNodes] = sc.Sources[SourceNodeLocks]
	l := sc.NodeLock("cmp-01", ControllerOpenStack)
	l.RawState, l.InnerState = LockActive, InnerInactive
	if st := Plan(sc.again().Snapshot, let); !st.Doable() {
		t.Errorf("taken back: %s", st.Blocker())
	}
	sc.source(SourceOpenStackController, SourceStale)
	if got := failing(Plan(sc.again().Snapshot, let)); !slices.Equal(got, []GuardID{"fresh"}) {
		t.Errorf("with the controller not seen any more: held by %q", got)
	}
}

// The lock of a node that is gone stays while it is not known whether Cinder still knows its host.
func TestNoLockIsDroppedWhileCinderIsNotSeen(t *testing.T) {
	for state, want := range map[SourceState]bool{SourceLive: true, SourceAbsent: true, SourceFailed: false, SourceForbidden: false} {
		sc := healthy()
		sc.Settings = playsOpenStack()
		sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
		delete(sc.Nodes, "cmp-01")
		delete(sc.Services, "cmp-01")
		delete(sc.ByHost, "cmp-01")
		l := sc.NodeLock("cmp-01", ControllerOpenStack)
		sc.source(SourceVolumeServices, state)
		if st := Plan(sc.Snapshot, Intent{Kind: IntentActDropLock, Controller: ControllerOpenStack, Node: "cmp-01"}); st.Doable() != want {
			t.Errorf("drop, volume services %s: %v, %s", state, st.Doable(), st.Blocker())
		}
		l.Deleting, l.Finalizers = noon, []string{"lcm.mirantis.com/rockoon.nodeworkloadlock-finalizer"}
		if st := Plan(sc.again().Snapshot, Intent{Kind: IntentActLetGo, Controller: ControllerOpenStack, Object: l.Ref()}); st.Doable() != want {
			t.Errorf("let go, volume services %s: %v, %s", state, st.Doable(), st.Blocker())
		}
	}
}
