package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// The states of a test cloud in which a played controller can do each of its steps on cmp-1.
var actScenes = map[core.IntentKind]func(c *testCloud){
	core.IntentActBegin: func(c *testCloud) {
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
	},
	core.IntentActOutOfScheduling: func(c *testCloud) {
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
		c.locks["cmp-1"].InnerState = core.InnerActive
	},
	core.IntentActRelease: func(c *testCloud) {
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
		c.locks["cmp-1"].InnerState = core.InnerActive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
		clear(c.instances)
	},
	core.IntentActIntoScheduling: func(c *testCloud) {
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = core.InnerActive, core.LockInactive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
	},
	core.IntentActRearm: func(c *testCloud) {
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = core.InnerActive, core.LockInactive
	},
	core.IntentActFinish: func(c *testCloud) { c.locks["cmp-1"].InnerState = core.InnerActive },
}

// A played controller does nothing on stale facts. Every source that a guard of the step reads counts: what it showed before a
// host rebooted says nothing about the host now.
func TestAPlayedControllerDoesNothingOnStaleFacts(t *testing.T) {
	always := []core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests, core.SourceOpenStackController}
	for kind, rests := range map[core.IntentKind][]core.SourceID{
		core.IntentActBegin:           {core.SourceComputeServices},
		core.IntentActOutOfScheduling: {core.SourceComputeServices},
		core.IntentActRelease:         {core.SourceComputeServices, core.SourceInstances, core.SourceMigrations},
		core.IntentActIntoScheduling:  {core.SourceComputeServices, core.SourceNetworkAgents, core.SourceNodePods},
		core.IntentActRearm:           {core.SourceComputeServices, core.SourceNetworkAgents, core.SourceNodePods},
		core.IntentActFinish:          {core.SourceComputeServices},
	} {
		for _, id := range slices.Concat(always, rests) {
			for _, state := range []core.SourceState{core.SourceStale, core.SourceFailed} {
				t.Run(fmt.Sprintf("%s, %s %s", kind, id, state), func(t *testing.T) {
					bubble.Run(t, func(t *testing.T) {
						cloud := atRest()
						actScenes[kind](cloud)
						b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
						defer b.end()
						b.arm()
						i := core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: "cmp-1"}
						if st := step.Plan(b.engine.Snapshot(), i); !st.Doable() {
							t.Fatalf("with everything fresh it is blocked: %s", st.Blocker())
						}
						b.engine.Apply(core.Delta{Source: id, State: state, Err: &core.APIError{Kind: core.ErrUnreachable, Call: "list"}, At: time.Now()})
						b.engine.call(b.engine.drain)
						if st := step.Plan(b.engine.Snapshot(), i); st.Doable() ||
							!strings.Contains(st.Blocker(), string(id)) && !strings.Contains(st.Blocker(), "not known") {
							t.Errorf("it can be done: %v; blocked by %q", st.Doable(), st.Blocker())
						}
					})
				})
			}
		}
	}
	t.Run("the cluster's lock, without its deployment", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			cloud := atRest()
			cloud.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime, Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest}
			b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
			defer b.end()
			b.arm()
			i := core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack}
			if st := step.Plan(b.engine.Snapshot(), i); !st.Doable() {
				t.Fatalf("with everything fresh it is blocked: %s", st.Blocker())
			}
			b.engine.Apply(core.Delta{Source: core.SourceOpenStackStatus, State: core.SourceFailed,
				Err: &core.APIError{Kind: core.ErrUnreachable, Call: "list"}, At: time.Now()})
			b.engine.call(b.engine.drain)
			if st := step.Plan(b.engine.Snapshot(), i); st.Doable() {
				t.Error("it can be done all the same")
			}
		})
	})
}

// The servers are asked for what has changed since the last look. A change stops the step: nothing is written.
func TestAPlayedControllerAsksTheServersFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		kind core.IntentKind
		then func(c *testCloud) // not seen by Lockstep
		says string
	}{
		"release: the request is withdrawn": {core.IntentActRelease, func(c *testCloud) { clear(c.requests) }, "the request is gone"},
		"release: the request is another": {core.IntentActRelease,
			func(c *testCloud) { c.requests["cmp-1"].UID = "another" }, "is gone"},
		"release: the request is being removed": {core.IntentActRelease,
			func(c *testCloud) { c.requests["cmp-1"].Deleting = worldTime },
			"being removed"},
		"release: the request has another scope": {core.IntentActRelease,
			func(c *testCloud) { c.requests["cmp-1"].Scope = core.ScopeDrain },
			"its scope is"},
		"release: the mode is another": {core.IntentActRelease, func(c *testCloud) {
			c.annotations["cmp-1"] = map[string]string{core.AnnotationMigrationMode: string(core.ModeManual)}
		}, "it is manual"},
		"release: the request is not held any more": {core.IntentActRelease,
			func(c *testCloud) { c.requests["cmp-1"].Finalizers = nil },
			"finalizer"},
		"release: an instance has come": {core.IntentActRelease, func(c *testCloud) { c.add("late", "cmp-1") }, "late"},
		"release: one is on its way here": {core.IntentActRelease, func(c *testCloud) {
			c.add("late", "cmp-2")
			c.migrations["id-late"] = []*core.Migration{{ID: 7, InstanceID: "id-late", Type: core.MigrationLive, Status: "running",
				SourceHost: "cmp-2", DestHost: "cmp-1", Created: worldTime}}
		}, "late"},
		"release: one is on its way back": {core.IntentActRelease, func(c *testCloud) {
			c.add("late", "cmp-2")
			c.migrations["id-late"] = []*core.Migration{{ID: 7, InstanceID: "id-late", Type: core.MigrationCold, Status: "reverting",
				SourceHost: "cmp-1", DestHost: "cmp-2", Created: worldTime}}
		}, "late"},
		"release: the host is in scheduling": {core.IntentActRelease, func(c *testCloud) { c.services["cmp-1"].Enabled = true },
			"enabled again"},
		"begin: the request is withdrawn": {core.IntentActBegin, func(c *testCloud) { clear(c.requests) }, "the request is gone"},
		"begin: another node was begun": {core.IntentActBegin, func(c *testCloud) { c.locks["cmp-2"].InnerState = core.InnerActive },
			"no more nodes"},
		"out: the request is withdrawn": {core.IntentActOutOfScheduling, func(c *testCloud) { clear(c.requests) },
			"the request is gone"},
		"in: a pod is not ready": {core.IntentActIntoScheduling,
			func(c *testCloud) { c.notReady = map[string][]string{"openstack/cmp-1": {"ovs-x"}} }, "ovs-x"},
		"in: nova-compute is down": {core.IntentActIntoScheduling, func(c *testCloud) { c.services["cmp-1"].Up = false }, "down"},
		"in: somebody disabled it with a reason": {core.IntentActIntoScheduling,
			func(c *testCloud) { c.services["cmp-1"].DisabledReason = "broken fan" }, "broken fan"},
		"back: a pod is not ready": {core.IntentActRearm,
			func(c *testCloud) { c.notReady = map[string][]string{"openstack/cmp-1": {"ovs-x"}} },
			"ovs-x"},
		"back: it is out of scheduling again": {core.IntentActRearm, func(c *testCloud) {
			c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
		}, core.DisabledReasonMaintenance},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				actScenes[tt.kind](cloud)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				cloud.mu.Lock()
				tt.then(cloud)
				cloud.mu.Unlock()
				id, err := b.confirm(core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) {
					t.Errorf("it ended as %s: %s; want failed with %q", op.State, op.Text, tt.says)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the servers received %q", got)
				}
			})
		})
	}
}

// What a played controller asks of Nova, Cinder and the pods can take a minute. A request that is withdrawn, or made, meanwhile stops the
// step.
func TestAPlayedControllerAsksForTheRequestLast(t *testing.T) {
	asks, release, in := actScenes[core.IntentActBegin], actScenes[core.IntentActRelease], actScenes[core.IntentActIntoScheduling]
	for name, tt := range map[string]struct {
		kind      core.IntentKind
		is        func(c *testCloud)
		meanwhile func(c *testCloud)
		says      string // empty: it is written
	}{
		"release: nothing happens": {core.IntentActRelease, release, func(*testCloud) {}, ""},
		"release: the request is withdrawn": {core.IntentActRelease, release,
			func(c *testCloud) { clear(c.requests) }, "the request is gone"},
		"in: nothing happens":       {core.IntentActIntoScheduling, in, func(*testCloud) {}, ""},
		"in: the node is asked for": {core.IntentActIntoScheduling, in, asks, "asked for again"},
		"in: another node is asked for": {core.IntentActIntoScheduling, in,
			func(c *testCloud) { asks(c); c.requests["cmp-1"].Node = "cmp-2" }, ""},
		"in: its request is being removed": {core.IntentActIntoScheduling, in,
			func(c *testCloud) { asks(c); c.requests["cmp-1"].Deleting = worldTime }, ""},
		"volumes in: the node is asked for": {core.IntentActVolumeIn, func(c *testCloud) {
			actScenes[core.IntentActRearm](c)
			scene.OutOf(c.volumeService("cmp-1@lvm"), core.DisabledReasonMaintenance)
		}, asks, "asked for again"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				tt.is(cloud)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				cloud.mu.Lock()
				cloud.onAsked = func() { tt.meanwhile(cloud) }
				cloud.mu.Unlock()
				i := core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"}
				if tt.kind == core.IntentActVolumeIn {
					i.Object = scene.LvmOf("cmp-1")
				}
				id, err := b.confirm(i)
				if err != nil {
					t.Fatal(err)
				}
				op, wrote := b.awaitEnd(id), len(cloud.written()) > 0
				if tt.says == "" && !wrote || tt.says != "" && (wrote || !strings.Contains(op.Text, tt.says)) {
					t.Errorf("it ended as %s: %s; the servers received %q", op.State, op.Text, cloud.written())
				}
			})
		})
	}
}

// Nothing is written when somebody has scaled the OpenStack controller up again, whatever the step.
func TestAPlayedControllerAsksWhetherItIsAlone(t *testing.T) {
	for kind, sc := range actScenes {
		t.Run(string(kind), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				sc(cloud)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				cloud.mu.Lock()
				scaled := *cloud.rockoon // Lockstep has the other one
				scaled.Replicas = 1
				cloud.rockoon = &scaled
				cloud.mu.Unlock()
				id, err := b.confirm(core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationFailed ||
					!strings.Contains(op.Text, "the OpenStack controller itself is not out of the way") {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the servers received %q", got)
				}
			})
		})
	}
}

// A request that is gone by the time of the write also stops the release: otherwise the lock would stay open for the next time
// LCM asks.
func TestNothingIsReleasedForARequestThatIsGone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		actScenes[core.IntentActRelease](cloud)
		b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
		defer b.end()
		b.arm()
		step := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"})
		cloud.mu.Lock()
		clear(cloud.requests)
		cloud.mu.Unlock()
		b.sync()
		if err := b.engine.actCheck(step)(context.Background()); err == nil || !strings.Contains(err.Error(), "its maintenance request is gone") {
			t.Errorf("the check says %v", err)
		}
	})
}

// Where Lockstep plays the OpenStack controller, no other step gets around the checks of the controller's own steps.
func TestNoOtherStepGoesPastThoseOfAPlayedController(t *testing.T) {
	for name, tt := range map[string]struct {
		cloud  func(c *testCloud)
		intent func(c *testCloud) core.Intent
		says   string
	}{
		"enabling nova-compute, with an agent dead": {func(c *testCloud) {
			actScenes[core.IntentActIntoScheduling](c)
			c.agents = []*core.NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent", AdminUp: true}}
		}, func(*testCloud) core.Intent { return core.Intent{Kind: core.IntentEnableCompute, Node: "cmp-1"} }, "own turn"},
		"clearing the inner_state, with nova-compute disabled": {func(c *testCloud) {
			actScenes[core.IntentActIntoScheduling](c)
			c.locks["cmp-1"].RawState = core.LockActive
		}, func(c *testCloud) core.Intent {
			return core.Intent{Kind: core.IntentClearInner, Object: c.locks["cmp-1"].Ref()}
		}, "does not play"},
		"moving all before it is begun": {actScenes[core.IntentActBegin],
			func(*testCloud) core.Intent { return core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"} }, "it was not begun"},
		"moving all while the scheduler uses it": {actScenes[core.IntentActOutOfScheduling],
			func(*testCloud) core.Intent { return core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"} }, "nova-compute is enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				tt.cloud(cloud)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				if st := step.Plan(b.engine.Snapshot(), tt.intent(cloud)); st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
					t.Errorf("it can be done: %v; blocked by %q, want %q", st.Doable(), st.Blocker(), tt.says)
				}
				p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
				for _, st := range p.Steps {
					if st.Intent.Kind == core.IntentClearInner || st.Intent.Kind == core.IntentLiveMigrate && st.State == core.StepReady {
						t.Errorf("the node's steps offer %q", st.Title)
					}
				}
			})
		})
	}
}
