package core

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/sim/bubble"
)

// heldBy is how requests bear the finalizer of an OpenStack controller that has seen them.
var heldBy = []string{usualFinalizer}

// playsOpenStack are settings with which Lockstep plays the OpenStack controller, one compute at a time.
func playsOpenStack() Settings {
	s := DefaultSettings()
	s.ActAs = []ActAs{{Controller: ControllerOpenStack, Roles: []Role{RoleController, RoleCompute, RoleGateway}, Namespace: "openstack"}}
	s.MaxParallelNodes[RoleCompute] = 1
	return s
}

// atRest is a test cloud without an update, whose OpenStack controller is switched off.
func atRest() *testCloud {
	c := newTestCloud()
	c.cluster, c.clusterLock.RawState, c.clusterLock.Release = nil, LockActive, "21.0.0+25.2"
	clear(c.requests)
	for _, l := range c.locks {
		l.InnerState = InnerInactive
	}
	for name := range c.annotations {
		delete(c.annotations[name], AnnotationMigrationMode)
	}
	c.rockoon = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "rockoon"}}
	c.osdpl = &OpenStackStatus{Meta: Meta{Namespace: "openstack", Name: "osh", UID: "osdplst"}, State: "APPLIED", Health: "21/21", Release: "21.0.0+25.2", ControllerVersion: "1.1.5"}
	return c
}

// The four flows of the documents, step by confirmed step, with Lockstep in the OpenStack controller's place and started anew
// before each: CMR created, NMR created, NMR removed, CMR removed (docs/mosk.md#rockoon).
func TestTheFourFlowsOfTheOpenStackController(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), atRest()
		delete(cloud.instances, "id-web-3")
		cluster, node := ProcedureKey{Kind: ProcedureCluster}, ProcedureKey{Kind: ProcedureNode, Subject: "cmp-1"}
		for _, phase := range []struct {
			name   string
			before func()
			key    ProcedureKey
			steps  []string // the steps that are ready, one after the other
			writes []string
		}{
			{"CMR created", func() {
				cloud.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Created: worldTime}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0+25.2"}
			}, cluster, []string{"hold the request of mos", "release the lock on the cluster"}, []string{"add-finalizer mos", "set-lock openstack-osh=inactive"}},
			{"NMR created", func() {
				cloud.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: []string{"lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"}},
					Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
			}, node, []string{"begin to prepare cmp-1", "take nova-compute out of scheduling on cmp-1", "live-migrate 2 instances from cmp-1", "release the lock on cmp-1"},
				[]string{"set-inner openstack-cmp-1=active", "service svc-cmp-1 false", "live-migrate id-web-1", "live-migrate id-web-2", "set-lock openstack-cmp-1=inactive"}},
			{"NMR removed", func() { cloud.requests["cmp-1"].Deleting = worldTime }, node,
				[]string{"put nova-compute back into scheduling on cmp-1", "take the lock back on cmp-1", "end the work on cmp-1", "let the request go of cmp-1"},
				[]string{"service svc-cmp-1 true", "set-lock openstack-cmp-1=active", "set-inner openstack-cmp-1=inactive", "remove-finalizer cmp-1"}},
			{"CMR removed", func() { cloud.cluster.Deleting = worldTime }, cluster, []string{"take the lock back on the cluster", "let the request go of mos"},
				[]string{"set-lock openstack-osh=active", "remove-finalizer mos"}},
		} {
			cloud.mu.Lock()
			phase.before()
			already := len(cloud.writes)
			cloud.mu.Unlock()
			for _, want := range phase.steps {
				b := newBenchWith(t, dir, cloud, playsOpenStack())
				b.arm()
				var ready []string
				p, _ := b.engine.Snapshot().Procedure(phase.key)
				for _, st := range p.Steps {
					if st.State == StepReady && st.Intent.Kind != IntentLiveMigrate {
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
						if op := b.awaitEnd(id); op.State != OperationDone {
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
		c.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
	}
	begun := func(c *testCloud) {
		prepare(c)
		c.locks["cmp-1"].InnerState = InnerActive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
	}
	back := func(c *testCloud) {
		c.locks["cmp-1"].InnerState, c.locks["cmp-1"].RawState = InnerActive, LockInactive
		c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
	}
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		kind  IntentKind
		node  string
		says  string // empty: it can be done
	}{
		"release: instances run": {begun, IntentActRelease, "cmp-1", "no running instance is left on the host"},
		"release: still scheduled to, and the node has lost its role": {func(c *testCloud) {
			begun(c)
			clear(c.instances)
			c.services["cmp-1"].Enabled, c.roles = true, map[string][]Role{"cmp-1": {RoleStorage}}
		}, IntentActRelease, "cmp-1", "the scheduler puts nothing more"},
		"release: a controller that Nova knows as Ironic's": {func(c *testCloud) {
			begun(c)
			c.services["cmp-1"].Enabled, c.roles = true, map[string][]Role{"cmp-1": {RoleController}}
		}, IntentActRelease, "cmp-1", ""},
		"release: instances run, and the node has lost its role": {func(c *testCloud) { begun(c); c.roles = map[string][]Role{"cmp-1": {RoleStorage}} }, IntentActRelease, "cmp-1",
			"no running instance is left on the host"},
		"release: scope drain never moves":             {func(c *testCloud) { begun(c); c.requests["cmp-1"].Scope = ScopeDrain }, IntentActRelease, "cmp-1", ""},
		"release: not begun":                           {func(c *testCloud) { begun(c); c.locks["cmp-1"].InnerState = InnerInactive; clear(c.instances) }, IntentActRelease, "cmp-1", "the work on the node was begun"},
		"release: still scheduled to":                  {func(c *testCloud) { begun(c); c.services["cmp-1"].Enabled = true; clear(c.instances) }, IntentActRelease, "cmp-1", "the scheduler puts nothing more"},
		"release: nobody asks":                         {func(c *testCloud) { begun(c); clear(c.requests); clear(c.instances) }, IntentActRelease, "cmp-1", "it is the time for it"},
		"release: the host is empty":                   {func(c *testCloud) { begun(c); clear(c.instances) }, IntentActRelease, "cmp-1", ""},
		"begin":                                        {prepare, IntentActBegin, "cmp-1", ""},
		"begin: for a release that nobody has applied": {func(c *testCloud) { prepare(c); c.requests["cmp-1"].Release = "21.1.0" }, IntentActBegin, "cmp-1", "nobody has applied 21.1.0"},
		"begin: another is worked on":                  {func(c *testCloud) { prepare(c); c.locks["cmp-2"].InnerState = InnerActive }, IntentActBegin, "cmp-1", "compute: cmp-2"},
		"begin: another's lock is not held, though it is not noted as worked on": {func(c *testCloud) { prepare(c); c.locks["cmp-2"].RawState = LockInactive }, IntentActBegin, "cmp-1", "compute: cmp-2"},
		"begin: another's lock failed":                                           {func(c *testCloud) { prepare(c); c.locks["cmp-2"].RawState = LockFailed }, IntentActBegin, "cmp-1", "compute: cmp-2"},
		"begin: another is let go for good": {func(c *testCloud) {
			prepare(c)
			c.locks["cmp-2"].RawState = LockInactive
			c.deletions = []*NodeNotice{{Meta: Meta{Name: "cmp-2", UID: "ndr", Created: worldTime}, Kind: KindNodeDeletionRequest, Node: "cmp-2"}}
		}, IntentActBegin, "cmp-1", ""},
		"begin: the controller runs": {func(c *testCloud) {
			prepare(c)
			c.rockoon = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Ready: 1}
		}, IntentActBegin, "cmp-1", "the controller itself does not run"},
		"begin: the controller restarts": {func(c *testCloud) {
			prepare(c)
			c.rockoon = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1}
		}, IntentActBegin, "cmp-1", "as soon as one is"},
		"begin: its last pod goes":    {func(c *testCloud) { prepare(c); c.rockoon.Existing = 1 }, IntentActBegin, "cmp-1", "1 pod of it is there still"},
		"begin: it is not to be seen": {func(c *testCloud) { prepare(c); c.rockoon = nil }, IntentActBegin, "cmp-1", "it may run all the same"},
		"cluster: OpenStack is not healthy": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest}
			c.osdpl.Unhealthy = []string{"nova/api"}
		}, IntentActRelease, "", "nova/api"},
		"cluster: OpenStack is being applied": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest}
			c.osdpl.State = "APPLYING"
		}, IntentActRelease, "", "APPLYING"},
		"cluster: nobody has applied what is asked for": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.1.0"}
		}, IntentActRelease, "", "OpenStack is still at 21.0.0+25.2: nobody has applied 21.1.0"},
		"cluster: OpenStack does not say where it is": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.osdpl.Release = ""
		}, IntentActRelease, "", "does not say at which release it is"},
		"cluster: the old controller has applied it": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.rockoon.Image = "registry.local:5000/openstack/rockoon:1.2.0"
		}, IntentActRelease, "", "it was applied by controller 1.1.5, and the Deployment rockoon is at 1.2.0 by now"},
		"cluster: the lock is of the old release": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.clusterLock.Release = "17.4.0+25.1"
		}, IntentActRelease, "", "the lock is of 17.4.0+25.1"},
		"cluster: the lock is taken back at OpenStack's release first": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.clusterLock.Release = "17.4.0+25.1"
		}, IntentActRearm, "", ""},
		"cluster: OpenStack is there, by the controller that comes with it": {func(c *testCloud) {
			c.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0"}
			c.rockoon.Image = "registry.local:5000/openstack/rockoon:1.1.5"
		}, IntentActRelease, "", ""},
		"back: another's reason stays":      {func(c *testCloud) { back(c); c.services["cmp-1"].DisabledReason = "broken fan" }, IntentActIntoScheduling, "cmp-1", "nothing"},
		"back: nova-compute is down":        {func(c *testCloud) { back(c); c.services["cmp-1"].Up = false }, IntentActIntoScheduling, "cmp-1", "nova-compute is up"},
		"back: the lock before the service": {back, IntentActRearm, "cmp-1", "not disabled for the maintenance"},
		"back: pods are not ready": {func(c *testCloud) {
			back(c)
			c.pods = &NodePods{Node: "cmp-1", NotReady: []PodName{{"openstack", "neutron-x"}}}
		}, IntentActIntoScheduling, "cmp-1", "neutron-x"},
		"back: an agent is dead": {func(c *testCloud) {
			back(c)
			c.agents = []*NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent", AdminUp: true}}
		}, IntentActIntoScheduling, "cmp-1", "l3-agent"},
		"back: an agent is dead that somebody set down": {func(c *testCloud) {
			back(c)
			c.agents = []*NetworkAgent{{ID: "a", Host: "cmp-1", Binary: "neutron-l3-agent"}}
		}, IntentActIntoScheduling, "cmp-1", "l3-agent"},
		"back: in order":                  {back, IntentActIntoScheduling, "cmp-1", ""},
		"end: the lock is not taken back": {back, IntentActFinish, "cmp-1", "the lock is taken back"},
		"a node that the controller has not": {func(c *testCloud) {
			prepare(c)
			c.roles = map[string][]Role{"cmp-1": {RoleStorage}}
			delete(c.locks, "cmp-1")
		}, IntentActCreateLock, "cmp-1", "holds nodes like this one"},
		"a node without its lock": {func(c *testCloud) { delete(c.locks, "cmp-1") }, IntentActCreateLock, "cmp-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				tt.cloud(cloud)
				b := newBenchWith(t, t.TempDir(), cloud, playsOpenStack())
				defer b.end()
				b.arm()
				st := Plan(b.engine.Snapshot(), Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: tt.node})
				got := st.Blocker()
				if tt.says == "nothing" {
					if st.Change != nil || st.State != StepDone {
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

// Pods that are not ready are asked for right before the cluster is let go, and stop it.
func TestTheClusterIsNotLetGoWithPodsThatAreNotReady(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		cloud.cluster = &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest}
		cloud.notReady = map[string][]string{"openstack/": {"nova-api-0"}}
		b := newBenchWith(t, t.TempDir(), cloud, playsOpenStack())
		defer b.end()
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentActRelease, Controller: ControllerOpenStack})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, "nova-api-0") {
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

// However LCM asks and withdraws, whatever fails, and wherever Lockstep is killed: a lock is released only on a host that is
// out of scheduling and on which nothing runs that has to be moved; never more nodes are worked on than the rule allows;
// every write has its grant and its record; and a restart proposes the same.
func TestAPlayedControllerUnderRandomInterleavings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { bubble.Alone(t, func(t *testing.T) { interleavePlayed(t, rt) }) })
}

func interleavePlayed(t *testing.T, rt *rapid.T) {
	dir, err := os.MkdirTemp(t.TempDir(), "act")
	if err != nil {
		t.Fatal(err)
	}
	cloud := atRest()
	for _, host := range []string{"cmp-1@lvm", "cmp-2@hdd", "cmp-2@ssd"} {
		cloud.volumeService(host)
	}
	m := &actMachine{&machine{t: t, rt: rt, dir: dir, cloud: cloud, settings: playsOpenStack()}}
	m.bench = newBenchWith(t, dir, cloud, m.settings)
	var broken string
	cloud.onLock = func(l *WorkloadLock, to LockState) {
		if broken == "" && to == LockInactive && l.Node != "" {
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
					if l.InnerState == InnerActive {
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
		"arm":         func(*rapid.T) { m.bench.engine.Arm(context.Background(), true) },
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
}

// unsafe is why the lock must not be released now; the cloud is locked.
func (m *actMachine) unsafe(l *WorkloadLock) string {
	r := m.cloud.requests[l.Node]
	switch {
	case r == nil:
		return "" // withdrawn this very moment: LCM does nothing on the node, and the next step takes the lock back
	case m.cloud.services[l.Node].Enabled:
		return l.Name + " was released while the scheduler uses the host"
	case m.takesVolumes(l.Node):
		return l.Name + " was released while the scheduler puts volumes on the host"
	case l.InnerState != InnerActive:
		return l.Name + " was released without having been worked on"
	case r.Scope == ScopeDrain:
		return ""
	}
	mode := ModeLive
	if v, ok := m.cloud.annotations[l.Node][AnnotationMigrationMode]; ok {
		mode = MigrationMode(v)
	}
	for _, in := range m.cloud.instances {
		action, _ := EffectiveAction(in.Tags, mode)
		if in.Host == l.Node && blocks(in, action) {
			return l.Name + " was released while " + in.Name + " runs there"
		}
	}
	return ""
}

// next confirms the first steps that can be confirmed, of a node or of the cluster, not always the first of them.
func (m *actMachine) next(rt *rapid.T) {
	key := ProcedureKey{Kind: ProcedureNode, Subject: m.node(rt)}
	if rapid.IntRange(0, 4).Draw(rt, "cluster") == 0 {
		key = ProcedureKey{Kind: ProcedureCluster}
	}
	p, _ := m.bench.engine.Snapshot().Procedure(key)
	var doable []Intent
	for _, step := range p.Steps {
		for _, way := range append([]Step{step}, step.Alternatives...) {
			if way.Doable() && way.Intent.Kind != IntentAskCluster && way.Intent.Kind != IntentAskNode {
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
	kind := rapid.SampledFrom([]IntentKind{IntentActBegin, IntentActOutOfScheduling, IntentActRelease, IntentActIntoScheduling, IntentActRearm, IntentActFinish,
		IntentActVolumeOut, IntentActVolumeIn}).Draw(rt, "kind")
	i := Intent{Kind: kind, Controller: ControllerOpenStack, Node: m.node(rt)}
	if kind == IntentActVolumeOut || kind == IntentActVolumeIn {
		i.Object = Ref{Kind: KindVolumeService, Name: i.Node + rapid.SampledFrom([]string{"@lvm", "@hdd", "@ssd"}).Draw(rt, "back end")}
	}
	step := Plan(m.bench.engine.Snapshot(), i)
	if g, err := m.bench.engine.Grant(step, step.Type); err == nil {
		m.grants = append(m.grants, g)
	}
}

// twoBegin confirms the beginning on two nodes before either is done.
func (m *actMachine) twoBegin(*rapid.T) {
	var grants []Grant
	for _, node := range []string{"cmp-1", "cmp-2"} {
		step := Plan(m.bench.engine.Snapshot(), Intent{Kind: IntentActBegin, Controller: ControllerOpenStack, Node: node})
		if g, err := m.bench.engine.Grant(step, step.Type); err == nil {
			grants = append(grants, g)
		}
	}
	for _, g := range grants {
		m.bench.engine.Execute(context.Background(), g)
	}
}

func (m *actMachine) ask(rt *rapid.T) {
	node, scope := m.node(rt), rapid.SampledFrom([]Scope{ScopeOS, ScopeOS, ScopeDrain}).Draw(rt, "scope")
	m.locked(func(c *testCloud) {
		if c.requests[node] == nil {
			c.lastID++
			c.requests[node] = &MaintenanceRequest{Meta: Meta{Name: node, UID: "nmr-" + itoa(c.lastID), Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: node, Scope: scope}
		}
	})
}

// lcmDone takes a request away, whether the node was handled or not: an update can be given up.
func (m *actMachine) lcmDone(rt *rapid.T) {
	node := m.node(rt)
	m.locked(func(c *testCloud) { delete(c.requests, node) })
}

func (m *actMachine) failAct(rt *rapid.T) {
	action := rapid.SampledFrom([]string{"live-migrate", "stop", "service", "volume-service", "list-volumes", "set-lock", "set-inner"}).Draw(rt, "action")
	kind := rapid.SampledFrom([]ErrorKind{ErrConflict, ErrTimeout, ErrServer, ErrForbidden}).Draw(rt, "kind")
	lose := rapid.Bool().Draw(rt, "answer lost")
	m.locked(func(c *testCloud) {
		if lose {
			c.lose[action] = true
			return
		}
		c.fail[action] = &APIError{Kind: kind, Call: action, Message: "as the test wants it"}
	})
}
