package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// aReturn is a cloud whose cmp-1 comes back while cmp-2 is away in its own maintenance. The pods of three DaemonSets on both
// nodes are old, Neutron hears from their agents, and nova-compute is up.
func aReturn() *testCloud {
	c := askedFor()
	c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime, Finalizers: scene.HeldBy},
		Kind: core.KindClusterMaintenanceRequest}
	c.requests["cmp-1"].Deleting, c.locks["cmp-1"].RawState = worldTime, core.LockInactive
	c.requests["cmp-2"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-2", UID: "nmr-2", Created: worldTime, Finalizers: scene.HeldBy},
		Kind: core.KindNodeMaintenanceRequest, Node: "cmp-2", Scope: core.ScopeOS}
	c.locks["cmp-2"].InnerState, c.locks["cmp-2"].RawState = core.InnerActive, core.LockInactive
	sc := scene.NewScene()
	for _, set := range []struct{ name, component, application string }{
		{"neutron-l3-agent-default", "l3-agent", "neutron"}, {"openvswitch-openvswitch-vswitchd-default", "openvswitch-vswitchd", "openvswitch"},
		{"nova-compute-default", "compute", "nova"}, {"neutron-ovs-agent-default", "neutron-ovs-agent", "neutron"},
	} {
		d := sc.DaemonSet("openstack/"+set.name, set.component, set.application != "nova" && set.component != "neutron-ovs-agent", "cmp-1",
			"cmp-2")
		d.Application = set.application
		if d.OnDelete {
			sc.Old("openstack/"+set.name, "cmp-1", "cmp-2")
		}
		sc.Pod("openstack/"+set.name, "cmp-2").Ready = false // its host is away
	}
	c.daemons = testDaemons{hash: "new", broken: map[string]bool{}}
	for _, d := range sc.DaemonSets {
		c.daemons.sets = append(c.daemons.sets, d)
		c.daemons.revisions = append(c.daemons.revisions, sc.DaemonRevisions[d.UID]...)
		c.daemons.pods = append(c.daemons.pods, sc.DaemonPods[d.UID]...)
	}
	for _, binary := range []string{"neutron-l3-agent", "neutron-openvswitch-agent"} {
		c.daemons.agents = append(c.daemons.agents,
			&core.NetworkAgent{ID: binary, Host: "cmp-1", Type: binary, Binary: binary, AdminUp: true, Alive: true})
	}
	return c
}

// On the way back Rockoon restarts old pods, and waits for agents and nova-compute. When Lockstep plays, each of these is a step
// before the scheduler gets the host back.
func TestWhatAPlayedNodeRestartsOnItsReturn(t *testing.T) {
	l3, switches, into := "restart neutron-l3-agent-default on cmp-1", "restart openvswitch-openvswitch-vswitchd-default on cmp-1",
		"put nova-compute back into scheduling on cmp-1"
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		want  []string // beginnings of the titles that can be confirmed, in their order
		not   []string
	}{
		"old pods, and they alone": {func(*testCloud) {}, []string{l3, switches, into},
			[]string{"restart neutron-ovs-agent", "restart nova-compute", "restart the network agents"}},
		"its request is gone already": {func(c *testCloud) { delete(c.requests, "cmp-1") }, []string{l3, switches, into}, nil},
		"an agent is silent": {func(c *testCloud) { c.daemons.agents[1].Alive = false },
			[]string{l3, switches, "restart the network agents of cmp-1"}, nil},
		"nova-compute is down": {func(c *testCloud) { c.services["cmp-1"].Up = false },
			[]string{l3, switches, "restart nova-compute-default on cmp-1"}, nil},
		"it is asked for still": {func(c *testCloud) {
			c.requests["cmp-1"].Deleting, c.locks["cmp-1"].RawState = time.Time{}, core.LockActive
			clear(c.instances)
		}, nil, []string{l3, switches}},
		"with Tungsten Fabric": {func(c *testCloud) {
			c.daemons.sets = append(c.daemons.sets, &core.DaemonSet{Meta: core.Meta{Namespace: core.NamespaceFabric, Name: "tf-vrouter-agent",
				UID: "ds-tf"}, OnDelete: true})
		}, []string{into}, []string{l3, switches}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := aReturn()
				tt.cloud(c)
				s := played(t, c).engine.Snapshot()
				p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
				var ready []string
				for _, st := range p.Steps {
					if st.State == core.StepReady {
						ready = append(ready, st.Title)
					}
				}
				last := -1
				for _, want := range tt.want {
					i := slices.IndexFunc(ready, func(title string) bool { return strings.HasPrefix(title, want) })
					if i <= last {
						t.Fatalf("ready are %q; want %q", ready, tt.want)
					}
					last = i
				}
				for _, not := range tt.not {
					if slices.ContainsFunc(ready, func(title string) bool { return strings.HasPrefix(title, not) }) {
						t.Errorf("ready are %q, %q among them", ready, not)
					}
				}
			})
		})
	}
}

// The restart is done although the same pod of a node in maintenance is not ready; no entry says that somebody else does it.
func TestAnOldPodIsRestartedOnAPlayedReturn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := aReturn()
		b := played(t, c)
		i := core.Intent{Kind: core.IntentRestartPod, Workload: "openstack/neutron-l3-agent-default", Node: "cmp-1"}
		if st := step.Plan(b.engine.Snapshot(), i); strings.Contains(st.Why, "itself") || !strings.Contains(st.Why, "back into scheduling") {
			t.Errorf("it says %q", st.Why)
		}
		id, err := b.confirm(i)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.live(id); op.State != core.OperationDone {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		if st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentRestartPod, Workload: i.Workload, Node: "cmp-2"}); st.Doable() {
			t.Error("the pod of a node that is asked for can be restarted")
		}
		assist := newBenchWith(t, t.TempDir(), aReturn(), core.DefaultSettings())
		defer assist.end()
		assist.arm()
		if st := step.Plan(assist.engine.Snapshot(), i); st.Doable() {
			t.Error("it can be restarted on the return of a node of a controller that is not played")
		}
	})
}

// Until a played node is taken back, nothing is offered for its next maintenance.
func TestAPlayedReturnComesBeforeTheNextMaintenance(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := aReturn()
		delete(c.requests, "cmp-1")
		titles, _ := scene.StepsOf(procedure.Of(played(t, c).engine.Snapshot(), scene.OfNode("cmp-1")))
		if i := slices.IndexFunc(titles, func(title string) bool { return strings.HasPrefix(title, "set migration") }); i >= 0 ||
			!slices.Contains(titles, "end the work on cmp-1") {
			t.Errorf("the steps are %q", titles)
		}
	})
}

// A played return is reported in one entry, that of its turn, however long it takes and whatever the lock still says.
func TestAPlayedReturnIsToldOnce(t *testing.T) {
	for name, cloud := range map[string]func(c *testCloud){
		"its request goes":    func(c *testCloud) { c.requests["cmp-1"].Deleting = worldTime.Add(-24 * time.Hour) },
		"its request is gone": func(c *testCloud) { delete(c.requests, "cmp-1") },
		"an old text": func(c *testCloud) {
			c.locks["cmp-1"].Message = "2026-01-16 11:00:00.000000 Timeout waiting for network agents on the host cmp-1."
		},
		"inner_state alone": func(c *testCloud) {
			delete(c.requests, "cmp-1")
			c.locks["cmp-1"].RawState, c.services["cmp-1"].Enabled = core.LockActive, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := aReturn()
				cloud(c)
				var told []string
				for _, a := range attention.Of(played(t, c).engine.Snapshot()) {
					if a.Node == "cmp-1" {
						told = append(told, a.Reason)
					}
				}
				if len(told) != 1 || !strings.Contains(told[0], "it waits for you to take it back") {
					t.Errorf("it is told %q", told)
				}
			})
		})
	}
}
