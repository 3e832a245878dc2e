package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/scene"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"pgregory.net/rapid"
)

// atRest is a test cloud without an update, whose OpenStack controller is switched off.
func atRest() *testCloud {
	c := newTestCloud()
	c.cluster, c.clusterLock.RawState, c.clusterLock.Release = nil, core.LockActive, "21.0.0+25.2"
	clear(c.requests)
	for _, l := range c.locks {
		l.InnerState = core.InnerInactive
	}
	for name := range c.annotations {
		delete(c.annotations[name], core.AnnotationMigrationMode)
	}
	c.rockoon = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "rockoon"}}
	c.osdpl = &core.OpenStackStatus{Meta: core.Meta{Namespace: "openstack", Name: "osh", UID: "osdplst"}, State: "APPLIED", Health: "21/21",
		Release: "21.0.0+25.2", ControllerVersion: "1.1.5"}
	return c
}

// The four flows of the documents, step by confirmed step, with Lockstep in the OpenStack controller's place and restarted before
// each step: CMR created, NMR created, NMR removed, CMR removed (docs/mosk.md#rockoon).
func TestTheFourFlowsOfTheOpenStackController(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), atRest()
		delete(cloud.instances, "id-web-3")
		cluster, node := core.ProcedureKey{Kind: core.ProcedureCluster}, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"}
		for _, phase := range []struct {
			name   string
			before func()
			key    core.ProcedureKey
			steps  []string // the steps that are ready, one after the other
			writes []string
		}{
			{"CMR created", func() {
				cloud.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime},
					Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2"}
			}, cluster, []string{"hold the request of mos", "release the lock on the cluster"},
				[]string{"add-finalizer mos", "set-lock openstack-osh=inactive"}},
			{"NMR created", func() {
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: []string{"lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"}},
					Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
			}, node, []string{"begin to prepare cmp-1", "take nova-compute out of scheduling on cmp-1", "live-migrate 2 instances from cmp-1",
				"release the lock on cmp-1"},
				[]string{"set-inner openstack-cmp-1=active", "service svc-cmp-1 false", "live-migrate id-web-1", "live-migrate id-web-2",
					"set-lock openstack-cmp-1=inactive"}},
			{"NMR removed", func() { cloud.requests["cmp-1"].Deleting = worldTime }, node,
				[]string{"put nova-compute back into scheduling on cmp-1", "take the lock back on cmp-1", "end the work on cmp-1",
					"let the request go of cmp-1"},
				[]string{"service svc-cmp-1 true", "set-lock openstack-cmp-1=active", "set-inner openstack-cmp-1=inactive", "remove-finalizer cmp-1"}},
			{"CMR removed", func() { cloud.cluster.Deleting = worldTime }, cluster,
				[]string{"take the lock back on the cluster", "let the request go of mos"},
				[]string{"set-lock openstack-osh=active", "remove-finalizer mos"}},
		} {
			cloud.mu.Lock()
			phase.before()
			already := len(cloud.writes)
			cloud.mu.Unlock()
			for _, want := range phase.steps {
				b := newBenchWith(t, dir, cloud, scene.PlaysOpenStack())
				b.arm()
				var ready []string
				p, _ := procedure.Of(b.engine.Snapshot(), phase.key)
				for _, st := range p.Steps {
					if st.State == core.StepReady && st.Intent.Kind != core.IntentLiveMigrate {
						ready = append(ready, st.Title)
					}
				}
				if len(ready) == 0 || ready[0] != want {
					t.Fatalf("%s: ready is %q, want first %q", phase.name, ready, want)
				}
				for _, st := range p.Steps {
					if st.Title == want {
						id, err := b.confirm(st.Intent)
						if err != nil {
							t.Fatal(err)
						}
						if op := b.awaitEnd(id); op.State != core.OperationDone {
							t.Fatalf("%s: %s ended as %s: %s", phase.name, want, op.State, op.Text)
						}
					}
				}
				b.end()
			}
			if got := cloud.written()[already:]; strings.Join(got, ", ") != strings.Join(phase.writes, ", ") {
				t.Errorf("%s: the servers received\n%q, want\n%q", phase.name, got, phase.writes)
			}
		}
	})
}

// What keeps a played controller from its next step, one condition each.
func TestAPlayedControllerWaits(t *testing.T) {
	prepare := func(c *testCloud) {
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
	}
	begun := func(c *testCloud) {
		prepare(c)
		c.locks["cmp-1"].InnerState = core.InnerActive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
	}
	back := func(c *testCloud) {
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = core.InnerActive, core.LockInactive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
	}
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		kind  core.IntentKind
		node  string
		says  string // empty: it can be done
	}{
		"release: instances run": {begun, core.IntentActRelease, "cmp-1", "no running instance is left on the host"},
		"release: still scheduled to, and the node has lost its role": {func(c *testCloud) {
			begun(c)
			clear(c.instances)
			c.services["cmp-1"].Enabled, c.roles = true, map[string][]core.Role{"cmp-1": {core.RoleStorage}}
		}, core.IntentActRelease, "cmp-1", "the scheduler puts nothing more"},
		"release: a controller that Nova knows as Ironic's": {func(c *testCloud) {
			begun(c)
			c.services["cmp-1"].Enabled, c.roles = true, map[string][]core.Role{"cmp-1": {core.RoleController}}
		}, core.IntentActRelease, "cmp-1", ""},
		"release: instances run, and the node has lost its role": {func(c *testCloud) {
			begun(
				c)
			c.roles = map[string][]core.Role{"cmp-1": {core.RoleStorage}}
		}, core.IntentActRelease, "cmp-1",
			"no running instance is left on the host"},
		"release: scope drain never moves": {func(c *testCloud) { begun(c); c.requests["cmp-1"].Scope = core.ScopeDrain },
			core.IntentActRelease, "cmp-1", ""},
		"release: not begun": {func(c *testCloud) {
			begun(c)
			c.locks["cmp-1"].InnerState = core.InnerInactive
			clear(
				c.instances)
		}, core.IntentActRelease, "cmp-1", "the work on the node was begun"},
		"release: still scheduled to": {func(c *testCloud) { begun(c); c.services["cmp-1"].Enabled = true; clear(c.instances) },
			core.IntentActRelease, "cmp-1", "the scheduler puts nothing more"},
		"release: nobody asks": {func(c *testCloud) { begun(c); clear(c.requests); clear(c.instances) }, core.IntentActRelease, "cmp-1",
			"it is the time for it"},
		"release: the host is empty": {func(c *testCloud) { begun(c); clear(c.instances) }, core.IntentActRelease, "cmp-1", ""},
		"begin":                      {prepare, core.IntentActBegin, "cmp-1", ""},
		"begin: for a release that nobody has applied": {func(c *testCloud) {
			prepare(
				c)
			c.requests["cmp-1"].Release = "21.1.0"
		}, core.IntentActBegin, "cmp-1", "nobody has applied 21.1.0"},
		"begin: another is worked on": {func(c *testCloud) {
			prepare(
				c)
			c.locks["cmp-2"].InnerState = core.InnerActive
		}, core.IntentActBegin, "cmp-1", "compute: cmp-2"},
		"begin: another's lock is not held, though it is not noted as worked on": {func(c *testCloud) {
			prepare(
				c)
			c.locks["cmp-2"].RawState = core.LockInactive
		}, core.IntentActBegin, "cmp-1", "compute: cmp-2"},
		"begin: another's lock failed": {func(c *testCloud) { prepare(c); c.locks["cmp-2"].RawState = core.LockFailed }, core.IntentActBegin,
			"cmp-1", "compute: cmp-2"},
		"begin: another is let go for good": {func(c *testCloud) {
			prepare(c)
			c.locks["cmp-2"].RawState = core.LockInactive
			c.deletions = []*core.NodeNotice{{Meta: core.Meta{Name: "cmp-2", UID: "ndr", Created: worldTime}, Kind: core.KindNodeDeletionRequest,
				Node: "cmp-2"}}
		}, core.IntentActBegin, "cmp-1", ""},
		"begin: the controller runs": {func(c *testCloud) {
			prepare(c)
			c.rockoon = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Ready: 1}
		}, core.IntentActBegin, "cmp-1", "the controller itself does not run"},
		"begin: the controller restarts": {func(c *testCloud) {
			prepare(c)
			c.rockoon = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1}
		}, core.IntentActBegin, "cmp-1", "as soon as one is"},
		"begin: its last pod goes": {func(c *testCloud) { prepare(c); c.rockoon.Existing = 1 }, core.IntentActBegin, "cmp-1",
			"1 pod of it is there still"},
		"begin: it is not to be seen": {func(c *testCloud) { prepare(c); c.rockoon = nil }, core.IntentActBegin, "cmp-1",
			"it may run all the same"},
		"cluster: OpenStack is not healthy": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest}
			c.osdpl.Unhealthy = []string{"nova/api"}
		}, core.IntentActRelease, "", "nova/api"},
		"cluster: OpenStack is being applied": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest}
			c.osdpl.State = "APPLYING"
		}, core.IntentActRelease, "", "APPLYING"},
		"cluster: nobody has applied what is asked for": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.1.0"}
		}, core.IntentActRelease, "", "OpenStack is still at 21.0.0+25.2: nobody has applied 21.1.0"},
		"cluster: OpenStack does not say where it is": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.osdpl.Release = ""
		}, core.IntentActRelease, "", "does not say at which release it is"},
		"cluster: the old controller has applied it": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.rockoon.Image = "registry.local:5000/openstack/rockoon:1.2.0"
		}, core.IntentActRelease, "", "it was applied by controller 1.1.5, and the Deployment rockoon is at 1.2.0 by now"},
		"cluster: a controller whose version begins alike has applied it": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.rockoon.Image = "registry.local:5000/openstack/rockoon:1.1.50"
		}, core.IntentActRelease, "", "it was applied by controller 1.1.5, and the Deployment rockoon is at 1.1.50 by now"},
		"cluster: the lock is of the old release": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.clusterLock.Release = "17.4.0+25.1"
		}, core.IntentActRelease, "", "the lock is of 17.4.0+25.1"},
		"cluster: the lock is taken back at OpenStack's release first": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.clusterLock.Release = "17.4.0+25.1"
		}, core.IntentActRearm, "", ""},
		"cluster: OpenStack is there, by the controller that comes with it": {func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
				Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.rockoon.Image = "registry.local:5000/openstack/rockoon:1.1.5"
		}, core.IntentActRelease, "", ""},
		"back: another's reason stays": {func(c *testCloud) { back(c); c.services["cmp-1"].DisabledReason = "broken fan" },
			core.IntentActIntoScheduling, "cmp-1", "nothing"},
		"back: nova-compute is down": {func(c *testCloud) { back(c); c.services["cmp-1"].Up = false }, core.IntentActIntoScheduling,
			"cmp-1", "nova-compute is up"},
		"back: the lock before the service": {back, core.IntentActRearm, "cmp-1", "not disabled for the maintenance"},
		"back: pods are not ready": {func(c *testCloud) {
			back(c)
			c.pods = &core.NodePods{Node: "cmp-1", NotReady: []core.PodName{{Namespace: "openstack", Name: "neutron-x"}}}
		}, core.IntentActIntoScheduling, "cmp-1", "neutron-x"},
		"back: an agent is dead": {func(c *testCloud) {
			back(c)
			c.agents = []*core.NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent", AdminUp: true}}
		}, core.IntentActIntoScheduling, "cmp-1", "l3-agent"},
		"back: an agent is dead that somebody set down": {func(c *testCloud) {
			back(c)
			c.agents = []*core.NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent"}}
		}, core.IntentActIntoScheduling, "cmp-1", "l3-agent"},
		"back: in order":                  {back, core.IntentActIntoScheduling, "cmp-1", ""},
		"end: the lock is not taken back": {back, core.IntentActFinish, "cmp-1", "the lock is taken back"},
		"a node that the controller has not": {func(c *testCloud) {
			prepare(c)
			c.roles = map[string][]core.Role{"cmp-1": {core.RoleStorage}}
			delete(c.locks, "cmp-1")
		}, core.IntentActCreateLock, "cmp-1", "holds nodes like this one"},
		"a node without its lock": {func(c *testCloud) { delete(c.locks, "cmp-1") }, core.IntentActCreateLock, "cmp-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				tt.cloud(cloud)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: tt.node})
				got := st.Blocker()
				if tt.says == "nothing" {
					if st.Change != nil || st.State != core.StepDone {
						t.Errorf("it is %s, and would change %v", st.State, st.Change)
					}
					return
				}
				if (tt.says == "") != st.Doable() || !strings.Contains(got, tt.says) {
					t.Errorf("it is %s, blocked by %q; want %q", st.State, got, tt.says)
				}
			})
		})
	}
}

// Right before the cluster is let go, the server is asked for pods that are not ready; one such pod stops the step.
func TestTheClusterIsNotLetGoWithPodsThatAreNotReady(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		cloud.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
			Kind: core.KindClusterMaintenanceRequest}
		cloud.notReady = map[string][]string{"openstack/": {"nova-api-0"}}
		b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
		defer b.end()
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, "nova-api-0") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) > 0 {
			t.Errorf("the cluster received %q", got)
		}
	})
}

// actMachine is LCM, the owners and the operator around a Lockstep that plays the OpenStack controller.
type actMachine struct {
	*machine
}

// These hold however LCM asks and withdraws, whatever fails, and wherever Lockstep is killed: a lock is released only on a host
// that is out of scheduling and runs nothing that has to be moved; no more nodes are in work than the rule allows; every write
// has its grant and its record; and a restart proposes the same.
func TestAPlayedControllerUnderRandomInterleavings(t *testing.T) {
	lane.Fewer(t)
	writes := 0
	rapid.Check(t, func(rt *rapid.T) { bubble.Alone(t, func(t *testing.T) { writes += interleavePlayed(t, rt) }) })
	if writes == 0 {
		t.Error("nothing was ever written")
	}
}

// interleavePlayed draws one history, and returns how many writes it had.
func interleavePlayed(t *testing.T, rt *rapid.T) (writes int) {
	dir, err := os.MkdirTemp(t.TempDir(), "act")
	if err != nil {
		t.Fatal(err)
	}
	cloud := atRest()
	for _, host := range []string{"cmp-1@lvm", "cmp-2@hdd", "cmp-2@ssd"} {
		cloud.volumeService(host)
	}
	m := &actMachine{&machine{t: t, rt: rt, dir: dir, cloud: cloud, settings: scene.PlaysOpenStack()}}
	m.bench = newBenchWith(t, dir, cloud, m.settings)
	var broken string
	cloud.onLock = func(l *core.WorkloadLock, to core.LockState) {
		if broken == "" && to == core.LockInactive && l.Node != "" {
			broken = m.unsafe(l)
		}
	}
	defer func() { m.bench.end() }()
	rt.Repeat(map[string]func(*rapid.T){
		"": func(rt *rapid.T) {
			m.check(rt)
			m.locked(func(c *testCloud) {
				working := 0
				for _, l := range c.locks {
					if l.InnerState == core.InnerActive {
						working++
					}
				}
				if working > 1 {
					broken = fmt.Sprintf("%d nodes are worked on, and the rule allows 1", working)
				}
			})
			if broken != "" {
				rt.Fatal(broken)
			}
		},
		"arm":         func(*rapid.T) { m.bench.engine.Arm(context.Background(), m.bench.engine.Snapshot().Write.Lease) },
		"disarm":      func(*rapid.T) { m.bench.engine.Disarm() },
		"look":        func(*rapid.T) { m.bench.sync() },
		"next step":   m.next,
		"again":       m.next,
		"LCM asks":    m.ask,
		"LCM is done": m.lcmDone,
		"use a grant": m.use,
		"grant":       m.grantAct,
		"two begin":   m.twoBegin,
		"control":     m.control,
		"acknowledge": m.acknowledge,
		"nova fails":  m.failAct,
		"migrations":  m.migrations,
		"time passes": func(*rapid.T) { time.Sleep(time.Second) },
		"restart":     m.restart,
	})
	m.rest()
	if broken != "" {
		rt.Fatal(broken)
	}
	return len(cloud.written())
}

// unsafe is why the lock must not be released now. The caller holds the cloud's lock.
func (m *actMachine) unsafe(l *core.WorkloadLock) string {
	r := m.cloud.requests[l.Node]
	switch {
	case r == nil:
		return "" // withdrawn just now: LCM does nothing on the node, and the next step takes the lock back
	case m.cloud.services[l.Node].Enabled:
		return l.Name + " was released while the scheduler uses the host"
	case m.takesVolumes(l.Node):
		return l.Name + " was released while the scheduler puts volumes on the host"
	case l.InnerState != core.InnerActive:
		return l.Name + " was released without having been worked on"
	case r.Scope == core.ScopeDrain:
		return ""
	}
	mode := core.ModeLive
	if v, ok := m.cloud.annotations[l.Node][core.AnnotationMigrationMode]; ok {
		mode = core.MigrationMode(v)
	}
	for _, in := range m.cloud.instances {
		action, _ := core.EffectiveAction(in.Tags, mode)
		if in.Host == l.Node && core.Blocks(in, action) {
			return l.Name + " was released while " + in.Name + " runs there"
		}
	}
	return ""
}

// next confirms one of the steps that can be confirmed, of a node or of the cluster; not always the first.
func (m *actMachine) next(rt *rapid.T) {
	key := core.ProcedureKey{Kind: core.ProcedureNode, Subject: m.node(rt)}
	if rapid.IntRange(0, 4).Draw(rt, "cluster") == 0 {
		key = core.ProcedureKey{Kind: core.ProcedureCluster}
	}
	p, _ := procedure.Of(m.bench.engine.Snapshot(), key)
	var doable []core.Intent
	for _, step := range p.Steps {
		for _, way := range append([]core.Step{step}, step.Alternatives...) {
			if way.Doable() && way.Intent.Kind != core.IntentAskCluster && way.Intent.Kind != core.IntentAskNode {
				doable = append(doable, way.Intent)
			}
		}
	}
	if len(doable) == 0 {
		rt.Skip("nothing can be confirmed")
	}
	m.bench.confirm(doable[min(rapid.IntRange(0, 3).Draw(rt, "step"), len(doable)-1)])
}

func (m *actMachine) grantAct(rt *rapid.T) {
	kind := rapid.SampledFrom([]core.IntentKind{core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentActRelease,
		core.IntentActIntoScheduling, core.IntentActRearm, core.IntentActFinish,
		core.IntentActVolumeOut, core.IntentActVolumeIn}).Draw(rt, "kind")
	i := core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: m.node(rt)}
	if kind == core.IntentActVolumeOut || kind == core.IntentActVolumeIn {
		i.Object = core.Ref{Kind: core.KindVolumeService, Name: i.Node + rapid.SampledFrom([]string{"@lvm", "@hdd", "@ssd"}).Draw(rt, "back end")}
	}
	step := step.Plan(m.bench.engine.Snapshot(), i)
	if g, err := m.bench.engine.Grant(step, step.Type); err == nil {
		m.grants = append(m.grants, g)
	}
}

// twoBegin confirms the start of two nodes before either is done.
func (m *actMachine) twoBegin(*rapid.T) {
	var grants []core.Grant
	for _, node := range []string{"cmp-1", "cmp-2"} {
		step := step.Plan(m.bench.engine.Snapshot(), core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: node})
		if g, err := m.bench.engine.Grant(step, step.Type); err == nil {
			grants = append(grants, g)
		}
	}
	for _, g := range grants {
		m.bench.engine.Execute(context.Background(), g)
	}
}

func (m *actMachine) ask(rt *rapid.T) {
	node, scope := m.node(rt), rapid.SampledFrom([]core.Scope{core.ScopeOS, core.ScopeOS, core.ScopeDrain}).Draw(rt, "scope")
	m.locked(func(c *testCloud) {
		if c.requests[node] == nil {
			c.lastID++
			c.requests[node] = &core.MaintenanceRequest{Meta: core.Meta{Name: node, UID: "nmr-" + wording.Itoa(c.lastID), Created: worldTime,
				Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: node, Scope: scope}
		}
	})
}

// lcmDone takes a request away, whether or not the node was handled: an update can be given up.
func (m *actMachine) lcmDone(rt *rapid.T) {
	node := m.node(rt)
	m.locked(func(c *testCloud) { delete(c.requests, node) })
}

func (m *actMachine) failAct(rt *rapid.T) {
	action := rapid.SampledFrom([]string{"live-migrate", "stop", "service", "volume-service", "list-volumes", "set-lock",
		"set-inner"}).Draw(rt, "action")
	kind := rapid.SampledFrom([]core.ErrorKind{core.ErrConflict, core.ErrTimeout, core.ErrServer, core.ErrForbidden}).Draw(rt, "kind")
	lose := rapid.Bool().Draw(rt, "answer lost")
	m.locked(func(c *testCloud) {
		if lose {
			c.lose[action] = true
			return
		}
		c.fail[action] = &core.APIError{Kind: kind, Call: action, Message: "as the test wants it"}
	})
}
