package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// toBeRemoved is a cloud whose cmp-1 is to be removed; Rockoon made the lock.
func toBeRemoved() *testCloud {
	c := atRest()
	c.deletions = []*core.NodeNotice{{Meta: core.Meta{Name: "cmp-1", UID: "ndr", Created: worldTime}, Kind: core.KindNodeDeletionRequest,
		Node: "cmp-1"}}
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
			titles, by := scene.StepsOf(procedure.Of(b.engine.Snapshot(), scene.OfNode("cmp-1")))
			found, ok := by[st.step]
			if !ok || found.State != core.StepReady {
				t.Fatalf("%s is %s (%s); there are %q", st.step, found.State, found.Blocker(), titles)
			}
			id, err := b.confirm(found.Intent)
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != core.OperationDone {
				t.Fatalf("%s ended as %s: %s", st.step, op.State, op.Text)
			}
		}
		if want := []string{"service svc-cmp-1 false", "set-lock openstack-cmp-1=inactive", "delete openstack-cmp-1",
			"remove-finalizer openstack-cmp-1"}; !slices.Equal(c.written(), want) {
			t.Errorf("the servers received %q, want %q", c.written(), want)
		}
		if c.locks["cmp-1"] != nil {
			t.Error("the lock is still there")
		}
	})
}

// onlyHalfAway leaves one instance in the cloud: it was cold-migrated away from cmp-1, and nobody has confirmed or reverted it.
func onlyHalfAway(c *testCloud) {
	clear(c.instances)
	c.add("half", "cmp-2")
	c.instances["id-half"].Status, c.instances["id-half"].VMState = "VERIFY_RESIZE", "resized"
	c.migrations["id-half"] = []*core.Migration{{ID: 7, InstanceID: "id-half", Type: core.MigrationCold, Status: "finished",
		SourceHost: "cmp-1", DestHost: "cmp-2", Created: worldTime}}
}

// What keeps a played controller from letting a node go for good, and from dropping its lock.
func TestWhatHoldsAPlayedRemoval(t *testing.T) {
	out := func(c *testCloud) {
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
	}
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		kind  core.IntentKind
		says  string // empty: it can be done
	}{
		"an instance runs": {out, core.IntentActRelease, "web-1 (ACTIVE)"},
		"an instance runs, and the node has lost its role": {func(c *testCloud) {
			out(c)
			c.roles = map[string][]core.Role{"cmp-1": {core.RoleStorage}}
		}, core.IntentActRelease, "web-1 (ACTIVE)"},
		"one that left it waits for a decision": {func(c *testCloud) {
			out(c)
			onlyHalfAway(c)
		}, core.IntentActRelease, "half"},
		"one that left it waits for a decision, and it is dead": {func(c *testCloud) {
			out(c)
			onlyHalfAway(c)
			c.services["cmp-1"].Up = false
		}, core.IntentActRelease, ""},
		"a stopped one holds it too": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.add("old", "cmp-1")
			c.instances["id-old"].Status, c.instances["id-old"].VMState, c.instances["id-old"].Power = "SHUTOFF", "stopped", core.PowerShutdown
		}, core.IntentActRelease, "old (SHUTOFF)"},
		"the mode skip is no help": {func(c *testCloud) {
			out(c)
			c.annotations["cmp-1"][core.AnnotationMigrationMode] = string(core.ModeSkip)
		}, core.IntentActRelease, "web-1 (ACTIVE)"},
		"still scheduled to": {func(c *testCloud) { clear(c.instances) }, core.IntentActRelease, "the scheduler puts nothing more"},
		"empty":              {func(c *testCloud) { out(c); clear(c.instances) }, core.IntentActRelease, ""},
		"a volume is on its disks": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.onDisks = map[string][]core.Volume{"cmp-1": {{ID: "vol-1", Name: "data"}}}
		}, core.IntentActRelease, "data"},
		"volumes can come to it": {func(c *testCloud) {
			out(c)
			clear(c.instances)
			c.volumeService("cmp-1@lvm")
		}, core.IntentActRelease, "puts no more volumes"},
		"its volume service goes out": {func(c *testCloud) { out(c); c.volumeService("cmp-1@lvm") }, core.IntentActVolumeOut, ""},
		"not begun: none is":          {func(*testCloud) {}, core.IntentActOutOfScheduling, ""},
		"the removal is given up": {func(c *testCloud) { out(c); clear(c.instances); c.deletions = nil }, core.IntentActRelease,
			"it is the time for it"},
		"the node is there":      {func(*testCloud) {}, core.IntentActDropLock, "it is the time for it"},
		"gone, with its service": {func(c *testCloud) { clear(c.instances); c.leave() }, core.IntentActDropLock, "nova-compute"},
		"gone, its machine disabled": {func(c *testCloud) {
			c.leave()
			c.disablings = []*core.NodeNotice{{Meta: core.Meta{Name: "d"}, Node: "cmp-1"}}
		}, core.IntentActDropLock, "it is the time for it"},
		"gone, with nothing left": {func(c *testCloud) { clear(c.instances); c.leave(); delete(c.services, "cmp-1") }, core.IntentActDropLock,
			""},
		"gone, with an agent": {func(c *testCloud) {
			clear(c.instances)
			c.leave()
			delete(c.services, "cmp-1")
			c.agents = []*core.NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent"}}
		}, core.IntentActDropLock, "neutron-l3-agent"},
		"asked for maintenance first": {func(c *testCloud) { c.requests["cmp-1"] = askedFor().requests["cmp-1"]; clear(c.instances) },
			core.IntentActRelease, "begun"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				tt.cloud(c)
				s := played(t, c).engine.Snapshot()
				i := core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"}
				if all := s.VolumeServicesOn("cmp-1"); tt.kind == core.IntentActVolumeOut {
					i.Object = all[0].Ref()
				}
				st := step.Plan(s, i)
				if got := st.Blocker(); (tt.says == "") != st.Doable() || !strings.Contains(got, tt.says) {
					t.Errorf("it is %s, blocked by %q; want %q", st.State, got, tt.says)
				}
			})
		})
	}
}

// Nova is asked right before the node is let go: an instance that arrived since then holds the node.
func TestAPlayedRemovalAsksNovaLast(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := toBeRemoved()
		clear(c.instances)
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
		b := played(t, c)
		c.mu.Lock()
		c.add("late", "cmp-1")
		c.instances["id-late"].Status = "SHUTOFF"
		c.mu.Unlock()
		id, err := b.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "late") || len(c.written()) > 0 {
			t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
		}
	})
}

// The same holds for a node that is not a compute: Ironic's nova-compute can run on a controller.
func TestAPlayedRemovalOfAControllerAsksNovaLast(t *testing.T) {
	for name, tt := range map[string]struct {
		late  bool
		state core.OperationState
		says  string
	}{"nothing is on it": {false, core.OperationDone, ""}, "a server was made since": {true, core.OperationFailed, "late"}} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				c.roles = map[string][]core.Role{"cmp-1": {core.RoleController}} // with a nova-compute
				clear(c.instances)
				b := played(t, c)
				c.mu.Lock()
				if tt.late {
					c.add("late", "cmp-1")
				}
				c.mu.Unlock()
				id, err := b.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"})
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

// The server is also asked whether the removal is still wanted. A lock that is let go for nothing lets LCM have the node with all
// its instances the next time it asks.
func TestAPlayedRemovalAsksWhetherItIsWanted(t *testing.T) {
	for name, tt := range map[string]struct {
		kind core.IntentKind
		then func(c *testCloud)
		says string
	}{
		"release: it is withdrawn": {core.IntentActRelease, func(c *testCloud) { c.deletions = nil }, "is gone"},
		"release: it is another": {core.IntentActRelease,
			func(c *testCloud) { d := *c.deletions[0]; d.UID = "another"; c.deletions = []*core.NodeNotice{&d} }, "is gone"},
		"release: it is being removed": {core.IntentActRelease,
			func(c *testCloud) { d := *c.deletions[0]; d.Deleting = worldTime; c.deletions = []*core.NodeNotice{&d} }, "being removed"},
		"out: it is withdrawn":              {core.IntentActOutOfScheduling, func(c *testCloud) { c.deletions = nil }, "is gone"},
		"release: Cinder has lost services": {core.IntentActRelease, func(c *testCloud) { clear(c.volumes) }, "Cinder"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				clear(c.instances)
				scene.OutOf(c.volumeService("cmp-1@lvm"), core.DisabledReasonMaintenance)
				if tt.kind == core.IntentActRelease {
					c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
				}
				b := played(t, c)
				c.mu.Lock()
				tt.then(c)
				c.mu.Unlock()
				id, err := b.confirm(core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) || len(c.written()) > 0 {
					t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
				}
			})
		})
	}
}

// Cinder is asked too: a volume made since the last look would go with the node.
func TestAPlayedRemovalAsksCinderLast(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := toBeRemoved()
		clear(c.instances)
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
		b := played(t, c)
		c.mu.Lock()
		c.onDisks = map[string][]core.Volume{"cmp-1": {{ID: "vol-1", Name: "late-data"}}}
		c.mu.Unlock()
		id, err := b.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "late-data") || len(c.written()) > 0 {
			t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
		}
	})
}

// A removal and what it leaves behind wait for whoever plays the controller, and are reported once.
func TestAPlayedRemovalNeedsAPerson(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		told := func(c *testCloud) (out []string) {
			for _, a := range attention.Of(played(t, c).engine.Snapshot()) {
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
		c.locks["cmp-1"].RawState = core.LockInactive
		if got := told(c); len(got) != 0 {
			t.Errorf("let go: %q", got)
		}
		v, _ := progress.NodeView(played(t, func() *testCloud { c := toBeRemoved(); clear(c.instances); return c }()).engine.Snapshot(), "cmp-1")
		if v.Stage != core.StageWaiting || !strings.Contains(v.Reason, "let it go") {
			t.Errorf("empty, it is %s: %s", v.Stage, v.Reason)
		}
	})
}

// Once a node is gone and down, there are commands for what it leaves behind in OpenStack.
func TestWhatIsLeftOfANodeThatIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		up, alive bool
		want      map[string]string // by step: in its commands; "" for none
	}{
		"down": {false, false, map[string]string{"delete the compute service of cmp-1": "openstack compute service delete svc-cmp-1",
			"delete the network agents of cmp-1": "openstack network agent delete agent-1"}},
		"up, alive": {true, true, map[string]string{"delete the compute service of cmp-1": "", "delete the network agents of cmp-1": ""}},
		"down, heard": {false, true, map[string]string{"delete the compute service of cmp-1": "openstack compute service delete svc-cmp-1",
			"delete the network agents of cmp-1": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := toBeRemoved()
				clear(c.instances)
				c.leave()
				c.services["cmp-1"].Up = tt.up
				c.agents = []*core.NetworkAgent{{ID: "agent-1", Host: "cmp-1", Binary: "neutron-l3-agent", Alive: tt.alive, AdminUp: true}}
				_, by := scene.StepsOf(procedure.Of(played(t, c).engine.Snapshot(), scene.OfNode("cmp-1")))
				for title, want := range tt.want {
					st, ok := by[title]
					if got := strings.Join(st.Commands, "\n"); !ok || st.State != core.StepWaiting || !strings.Contains(got, want) ||
						want == "" && got != "" {
						t.Errorf("%s is %s: %s, %q", title, st.State, st.Status, got)
					}
				}
			})
		})
	}
}
