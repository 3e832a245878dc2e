package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// live tells the engine the state of the cloud again and again, as watches do, until the operation has ended or pauses.
func (b *bench) live(id string) core.Operation {
	b.t.Helper()
	return b.watched(id, func(op core.Operation) bool { return op.State.Ended() || op.State == core.OperationPaused })
}

// watched does the same until the operation is as wanted.
func (b *bench) watched(id string, want func(core.Operation) bool) core.Operation {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		b.sync()
		op := b.operation(id)
		if want(op) {
			return op
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("operation %s is %+v", id, op)
		}
	}
}

// All old vRouters are restarted, one node at a time: each is deleted only when every other one is ready.
func TestOldVRoutersAreRestartedOneAtATime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud().withVRouters())
		defer b.end()
		b.arm()
		id, err := b.confirm(scene.RestartAll())
		if err != nil {
			t.Fatal(err)
		}
		if op := b.live(id); op.State != core.OperationDone || op.Text != "3 of 3 done" {
			t.Fatalf("%s: %s; %+v", op.State, op.Text, op.Items)
		}
		want := []string{"delete-pod tf-vrouter-agent-cmp-1", "delete-pod tf-vrouter-agent-cmp-2", "delete-pod tf-vrouter-agent-cmp-3"}
		if got := b.cloud.written(); !slices.Equal(got, want) {
			t.Errorf("the cluster received %q", got)
		}
		if b.cloud.daemons.down != 1 {
			t.Errorf("%d vRouters were down at once", b.cloud.daemons.down)
		}
		if st := step.Plan(b.engine.Snapshot(), scene.RestartAll()); st.State != core.StepDone || st.Status != "3 pods, all of revision new" {
			t.Errorf("%s: %s", st.State, st.Status)
		}
	})
}

// A failure of one stops the others: a vRouter that does not become ready, a DaemonSet that changes, a pod that somebody else
// replaces with a broken one, facts that go stale.
func TestRestartsStopAtTheFirstFailure(t *testing.T) {
	cases := []struct {
		name, says string
		spoil      func(b *bench)
		writes     int
	}{
		{"a write is refused", "no right", func(b *bench) {
			b.cloud.fail["delete-pod"] = &core.APIError{Kind: core.ErrForbidden, Call: "delete pod", Message: "no right"}
		}, 1},
		{"the new pod is of yet another revision", "runs newest, not new", func(b *bench) { b.cloud.daemons.hash = "newest" }, 1},
		{"another pod is gone, as only the server knows yet", "2 of 3 pods of tf-vrouter-agent are there", func(b *bench) {
			b.cloud.daemons.pods = b.cloud.daemons.pods[:2]
		}, 0},
		{"another pod is not ready, as only the server knows yet", "another pod of tf-vrouter-agent is not ready: cmp-3", func(b *bench) {
			b.cloud.daemons.pods[2].Ready, b.cloud.daemons.broken["cmp-3"] = false, true
		}, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud().withVRouters())
				defer b.end()
				b.arm()
				step := step.Plan(b.engine.Snapshot(), scene.RestartAll())
				g, err := b.engine.Grant(step, step.Type)
				if err != nil {
					t.Fatal(err)
				}
				b.cloud.mu.Lock()
				tc.spoil(b)
				b.cloud.mu.Unlock()
				if err := b.execute(g); err != nil {
					t.Fatal(err)
				}
				op := b.await(g.ID, func(op core.Operation) bool { return op.State == core.OperationPaused })
				if !strings.Contains(op.Text, tc.says) || op.Items[0].State != core.OperationFailed || op.Items[1].State != core.OperationQueued {
					t.Errorf("%s; %+v", op.Text, op.Items)
				}
				if got := b.cloud.written(); len(got) != tc.writes {
					t.Errorf("the cluster received %q", got)
				}
			})
		})
	}
}

// A pod that somebody else has replaced meanwhile needs nothing more.
func TestRestartLeavesOutWhatIsNew(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud().withVRouters())
		defer b.end()
		b.arm()
		b.cloud.daemons.holdNew = true // the first restart takes its time
		id, err := b.confirm(scene.RestartAll())
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op core.Operation) bool { return op.Items[0].State == core.OperationVerifying })
		b.cloud.mu.Lock()
		p := b.cloud.daemons.pods[1]
		p.UID, p.Name, p.Hash, p.Template = "theirs", "theirs", "new", 2
		b.cloud.daemons.holdNew = false
		b.cloud.mu.Unlock()
		op := b.live(id)
		if op.State != core.OperationDone || op.Items[1].State != core.OperationSkipped || op.Items[1].Text != "a new pod is there already" {
			t.Errorf("%s: %s; %+v", op.State, op.Text, op.Items)
		}
		if got := b.cloud.written(); len(got) != 2 {
			t.Errorf("the cluster received %q", got)
		}
	})
}

// An agent's pod is restarted when Neutron does not hear from the agent; the step is done when Neutron does again.
func TestSilentAgentsAreRestarted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		sc := scene.NewScene()
		set := sc.DaemonSet(scene.OvsAgents, "neutron-ovs-agent", false, "cmp-1", "cmp-2")
		agent := &core.NetworkAgent{ID: "a1", Host: "cmp-1", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent", AdminUp: true,
			Heartbeat: worldTime.Add(-time.Hour)}
		cloud.daemons = testDaemons{sets: []*core.DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID],
			hash: "new", broken: map[string]bool{}, agents: []*core.NetworkAgent{agent}}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		if st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentRestartAgents, Node: "cmp-2"}); st.Doable() {
			t.Error("agents of which Neutron shows nothing, and for which nobody waits, can be restarted")
		}
		id, err := b.confirm(core.Intent{Kind: core.IntentRestartAgents, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.sync()
		b.watched(id, func(op core.Operation) bool {
			return op.Items[0].Text == "the new pod is ready; Neutron does not hear from Open vSwitch agent yet"
		})
		cloud.mu.Lock()
		agent.Alive, agent.Heartbeat = true, worldTime.Add(time.Minute)
		cloud.mu.Unlock()
		if op := b.live(id); op.State != core.OperationDone {
			t.Errorf("%s: %s", op.State, op.Text)
		}
		if st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentRestartAgents, Node: "cmp-1"}); st.Doable() {
			t.Error("an agent that is alive can be restarted")
		}
	})
}

// A restart of Open vSwitch affects the agents that work with it: it is done when Neutron hears from them again.
func TestAgentsOnTheSwitchAreAwaited(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const switches = "openstack/openvswitch-openvswitch-vswitchd-default"
		cloud := newTestCloud().withVRouters()
		sc := scene.NewScene()
		set := sc.DaemonSet(switches, "openvswitch-vswitchd", true, "cmp-1")
		set.Application = "openvswitch"
		sc.Old(switches, "cmp-1")
		agent := &core.NetworkAgent{ID: "a1", Host: "cmp-1", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent", AdminUp: true,
			Alive: true, Heartbeat: worldTime.Add(-time.Minute)}
		cloud.daemons = testDaemons{sets: []*core.DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID],
			hash: "new", broken: map[string]bool{}, agents: []*core.NetworkAgent{agent}}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentRestartPod, Workload: switches, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.watched(id, func(op core.Operation) bool {
			return op.Text == "the new pod is ready; Neutron does not hear from Open vSwitch agent yet"
		})
		cloud.mu.Lock()
		agent.Heartbeat = worldTime.Add(time.Minute)
		cloud.mu.Unlock()
		if op := b.live(id); op.State != core.OperationDone {
			t.Errorf("%s: %s", op.State, op.Text)
		}
		agent.Alive = false
		b.sync()
		if st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentRestartAgents, Node: "cmp-1"}); st.Doable() {
			t.Error("Open vSwitch counts as an agent of Neutron's")
		}
	})
}
