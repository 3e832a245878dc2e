package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/sim/bubble"
)

func restartOn(node string) Intent {
	return Intent{Kind: IntentRestartPod, Workload: vRouters, Node: node}
}

func restartAll() Intent { return Intent{Kind: IntentRestartPods, Workload: vRouters} }

// A pod is old when its controller-revision-hash is not the newest ControllerRevision's; where hashes are not known, by
// the generation of the template (docs/mosk.md#restarts). updatedNumberScheduled plays no part.
func TestWhichPodsAreOld(t *testing.T) {
	cases := []struct {
		name    string
		change  func(sc scene, d *DaemonSet, p *DaemonPod)
		old     bool
		unknown string
	}{
		{"of the newest revision", func(scene, *DaemonSet, *DaemonPod) {}, false, ""},
		{"of another hash", func(_ scene, _ *DaemonSet, p *DaemonPod) { p.Hash = "old" }, true, ""},
		{"of another hash, though the generation is the same", func(_ scene, _ *DaemonSet, p *DaemonPod) { p.Hash, p.Template = "old", 2 }, true, ""},
		{"of the same hash, though the generation is another: a roll-back", func(_ scene, _ *DaemonSet, p *DaemonPod) { p.Template = 1 }, false, ""},
		{"the highest number counts, not the last made", func(sc scene, d *DaemonSet, p *DaemonPod) { sc.DaemonRevisions[d.UID][0].Number = 3 }, true, ""},
		{"no revisions: another generation", func(sc scene, d *DaemonSet, p *DaemonPod) { delete(sc.DaemonRevisions, d.UID); p.Template = 1 }, true, ""},
		{"no revisions: the same generation", func(sc scene, d *DaemonSet, _ *DaemonPod) { delete(sc.DaemonRevisions, d.UID) }, false, ""},
		{"a pod without a hash", func(_ scene, _ *DaemonSet, p *DaemonPod) { p.Hash, p.Template = "", 1 }, true, ""},
		{"nothing tells", func(sc scene, d *DaemonSet, p *DaemonPod) { delete(sc.DaemonRevisions, d.UID); d.Template = 0 }, false, "revisions are not known"},
		{"the DaemonSet has changed just now", func(_ scene, d *DaemonSet, p *DaemonPod) { d.Generation, p.Hash = 3, "old" }, false, "not been taken up"},
		{"the pods are not known", func(sc scene, _ *DaemonSet, p *DaemonPod) {
			sc.source(SourceFabricPods, SourceForbidden)
			p.Hash = "old"
		}, false, "forbidden"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := newScene()
			d := sc.daemonSet(vRouters, "vrouter", true, "cmp-01")
			tc.change(sc, d, sc.DaemonPods[d.UID][0])
			v, _ := sc.daemonNamed(vRouters)
			if got := len(v.Old) == 1; got != tc.old || !strings.Contains(v.Unknown, tc.unknown) || (v.Unknown == "") != (tc.unknown == "") {
				t.Errorf("old %v, unknown %q; want %v, %q", got, v.Unknown, tc.old, tc.unknown)
			}
		})
	}
}

// Each row is one thing that keeps a vRouter from being restarted, and the guard that says so.
func TestRestartIsHeldBack(t *testing.T) {
	cases := []struct {
		name, guard, says string
		change            func(sc scene)
	}{
		{"nothing", "", "", func(scene) {}},
		{"it is new", "old", "the DaemonSet is at new", func(sc scene) { p := sc.pod(vRouters, "cmp-01"); p.Hash = "new" }},
		{"another pod is not ready", "one-at-a-time", "cmp-02 (CrashLoopBackOff)", func(sc scene) { p := sc.pod(vRouters, "cmp-02"); p.Ready, p.Waits = false, "CrashLoopBackOff" }},
		{"another pod is ending", "one-at-a-time", "cmp-03 (ending)", func(sc scene) { sc.pod(vRouters, "cmp-03").Deleting = noon }},
		{"another pod is missing", "one-at-a-time", "3 of 4 pods are there", func(sc scene) { sc.DaemonSets[0].Desired = 4 }},
		{"it is ending itself", "one-at-a-time", "being deleted already", func(sc scene) { sc.pod(vRouters, "cmp-01").Deleting = noon }},
		{"the node is in maintenance", "no-request", "it has a maintenance request since", func(sc scene) { sc.request("cmp-01", time.Minute) }},
		{"whether it is in maintenance is not known", "fresh", "forbidden", func(sc scene) { sc.source(SourceNodeRequests, SourceForbidden) }},
		{"the node is not Ready", "node-ready", "Ready is Unknown", func(sc scene) { sc.Nodes["cmp-01"].Ready = "Unknown" }},
		{"its DaemonSet replaces its pods itself", "on-delete", "replaces them itself", func(sc scene) { sc.DaemonSets[0].OnDelete = false }},
		{"the pods were not confirmed for long", "fresh", "old", func(sc scene) { sc.aged(SourceFabricPods, 2*time.Minute) }},
		{"another of its pods is being restarted", "alone", "something", func(sc scene) {
			sc.doing(Operation{Step: "restart-pod/ds-tf-vrouter-agent/cmp-02", Intent: restartOn("cmp-02"), Node: "cmp-02",
				Title: "something"})
		}},
		{"all of its pods are being restarted", "alone", "something", func(sc scene) {
			sc.doing(Operation{Step: "restart-pods/ds-tf-vrouter-agent", Intent: restartAll(), Title: "something"})
		}},
		{"something else is done on the node", "alone", "something", func(sc scene) {
			sc.doing(Operation{Step: "set-mode/uid-cmp-01/skip", Node: "cmp-01", Title: "something"})
		}},
		{"there is no pod", "exists", "there is none on gtw-01", nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc, node := vRouterScene(), "cmp-01"
			if tc.change == nil {
				node = "gtw-01"
			} else {
				tc.change(sc)
			}
			st := Plan(sc.again().Snapshot, restartOn(node))
			if tc.guard == "" {
				if !st.Doable() || st.Risk != RiskHigh || st.Type != "cmp-01" || !strings.Contains(st.Why, "The network of every instance on the node is cut") || !strings.Contains(st.Why, "1 instance is on it") {
					t.Errorf("%+v", st)
				}
				return
			}
			i := slices.IndexFunc(st.Guards, func(g Guard) bool { return g.ID == GuardID(tc.guard) })
			if st.Doable() || i < 0 || st.Guards[i].Holds || !strings.Contains(st.Guards[i].Answer, tc.says) {
				t.Errorf("doable %v, guards %+v", st.Doable(), st.Guards)
			}
		})
	}
}

// A confirmation goes stale with the pod, the revision and the list that it was given for.
func TestRestartRestsOnPodsAndRevision(t *testing.T) {
	for _, i := range []Intent{restartOn("cmp-01"), restartAll()} {
		for n, change := range []func(sc scene){
			func(sc scene) { sc.pod(vRouters, "cmp-01").UID = "another" },
			func(sc scene) { sc.DaemonRevisions["ds-tf-vrouter-agent"][1].Hash = "newer" },
		} {
			sc := vRouterScene()
			before := Plan(sc.again().Snapshot, i)
			change(sc)
			after := Plan(sc.again().Snapshot, i)
			if !before.Doable() || len(ChangedFacts(before.Basis, after.Basis)) == 0 {
				t.Errorf("%s: change %d leaves the basis as it was: %v", i.Kind, n, after.Basis)
			}
		}
	}
}

// live tells the engine what the cloud is, again and again, as watches do, until the operation has ended or pauses.
func (b *bench) live(id string) Operation {
	b.t.Helper()
	return b.watched(id, func(op Operation) bool { return op.State.Ended() || op.State == OperationPaused })
}

// watched does the same until the operation is as wanted.
func (b *bench) watched(id string, want func(Operation) bool) Operation {
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

// All old vRouters, one node at a time: each is deleted only when every other one is ready.
func TestOldVRoutersAreRestartedOneAtATime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud().withVRouters())
		defer b.end()
		b.arm()
		id, err := b.confirm(restartAll())
		if err != nil {
			t.Fatal(err)
		}
		if op := b.live(id); op.State != OperationDone || op.Text != "3 of 3 done" {
			t.Fatalf("%s: %s; %+v", op.State, op.Text, op.Items)
		}
		want := []string{"delete-pod tf-vrouter-agent-cmp-1", "delete-pod tf-vrouter-agent-cmp-2", "delete-pod tf-vrouter-agent-cmp-3"}
		if got := b.cloud.written(); !slices.Equal(got, want) {
			t.Errorf("the cluster received %q", got)
		}
		if b.cloud.daemons.down != 1 {
			t.Errorf("%d vRouters were down at once", b.cloud.daemons.down)
		}
		if st := Plan(b.engine.Snapshot(), restartAll()); st.State != StepDone || st.Status != "3 pods, all of revision new" {
			t.Errorf("%s: %s", st.State, st.Status)
		}
	})
}

// What goes wrong with one stops the others: a vRouter that does not become ready, a DaemonSet that changes, a pod that
// somebody else replaces by a broken one, facts that go stale.
func TestRestartsStopAtTheFirstFailure(t *testing.T) {
	cases := []struct {
		name, says string
		spoil      func(b *bench)
		writes     int
	}{
		{"a write is refused", "no right", func(b *bench) {
			b.cloud.fail["delete-pod"] = &APIError{Kind: ErrForbidden, Call: "delete pod", Message: "no right"}
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
				step := Plan(b.engine.Snapshot(), restartAll())
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
				op := b.await(g.ID, func(op Operation) bool { return op.State == OperationPaused })
				if !strings.Contains(op.Text, tc.says) || op.Items[0].State != OperationFailed || op.Items[1].State != OperationQueued {
					t.Errorf("%s; %+v", op.Text, op.Items)
				}
				if got := b.cloud.written(); len(got) != tc.writes {
					t.Errorf("the cluster received %q", got)
				}
			})
		})
	}
}

// A pod that somebody else has replaced meanwhile needs nothing any more.
func TestRestartLeavesOutWhatIsNew(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud().withVRouters())
		defer b.end()
		b.arm()
		b.cloud.daemons.holdNew = true // the first restart takes its time
		id, err := b.confirm(restartAll())
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op Operation) bool { return op.Items[0].State == OperationVerifying })
		b.cloud.mu.Lock()
		p := b.cloud.daemons.pods[1]
		p.UID, p.Name, p.Hash, p.Template = "theirs", "theirs", "new", 2
		b.cloud.daemons.holdNew = false
		b.cloud.mu.Unlock()
		op := b.live(id)
		if op.State != OperationDone || op.Items[1].State != OperationSkipped || op.Items[1].Text != "a new pod is there already" {
			t.Errorf("%s: %s; %+v", op.State, op.Text, op.Items)
		}
		if got := b.cloud.written(); len(got) != 2 {
			t.Errorf("the cluster received %q", got)
		}
	})
}

// An agent's pod is restarted when Neutron does not hear from the agent, and done when it does again.
func TestSilentAgentsAreRestarted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		sc := newScene()
		set := sc.daemonSet(ovsAgents, "neutron-ovs-agent", false, "cmp-1", "cmp-2")
		agent := &NetworkAgent{ID: "a1", Host: "cmp-1", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent", AdminUp: true, Heartbeat: worldTime.Add(-time.Hour)}
		cloud.daemons = testDaemons{sets: []*DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID], hash: "new", broken: map[string]bool{}, agents: []*NetworkAgent{agent}}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		if st := Plan(b.engine.Snapshot(), Intent{Kind: IntentRestartAgents, Node: "cmp-2"}); st.Doable() {
			t.Error("agents of which Neutron shows nothing, and for which nobody waits, can be restarted")
		}
		id, err := b.confirm(Intent{Kind: IntentRestartAgents, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.sync()
		b.watched(id, func(op Operation) bool {
			return op.Items[0].Text == "the new pod is ready; Neutron does not hear from Open vSwitch agent yet"
		})
		cloud.mu.Lock()
		agent.Alive, agent.Heartbeat = true, worldTime.Add(time.Minute)
		cloud.mu.Unlock()
		if op := b.live(id); op.State != OperationDone {
			t.Errorf("%s: %s", op.State, op.Text)
		}
		if st := Plan(b.engine.Snapshot(), Intent{Kind: IntentRestartAgents, Node: "cmp-1"}); st.Doable() {
			t.Error("an agent that is alive can be restarted")
		}
	})
}

// A restart of Open vSwitch is felt by the agents that work with it: it is done when Neutron hears from them again.
func TestAgentsOnTheSwitchAreAwaited(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const switches = "openstack/openvswitch-openvswitch-vswitchd-default"
		cloud := newTestCloud().withVRouters()
		sc := newScene()
		set := sc.daemonSet(switches, "openvswitch-vswitchd", true, "cmp-1")
		set.Application = "openvswitch"
		sc.old(switches, "cmp-1")
		agent := &NetworkAgent{ID: "a1", Host: "cmp-1", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent", AdminUp: true, Alive: true, Heartbeat: worldTime.Add(-time.Minute)}
		cloud.daemons = testDaemons{sets: []*DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID], hash: "new", broken: map[string]bool{}, agents: []*NetworkAgent{agent}}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentRestartPod, Workload: switches, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.watched(id, func(op Operation) bool {
			return op.Text == "the new pod is ready; Neutron does not hear from Open vSwitch agent yet"
		})
		cloud.mu.Lock()
		agent.Heartbeat = worldTime.Add(time.Minute)
		cloud.mu.Unlock()
		if op := b.live(id); op.State != OperationDone {
			t.Errorf("%s: %s", op.State, op.Text)
		}
		agent.Alive = false
		b.sync()
		if st := Plan(b.engine.Snapshot(), Intent{Kind: IntentRestartAgents, Node: "cmp-1"}); st.Doable() {
			t.Error("Open vSwitch counts as an agent of Neutron's")
		}
	})
}

// While a batch runs, each of its pods says how it stands there.
func TestPodsOfARunningBatchSayWhereTheyStand(t *testing.T) {
	sc := vRouterScene()
	sc.doing(Operation{Step: "restart-pods/ds-tf-vrouter-agent", Intent: restartAll(), Title: "restart", Items: []OperationItem{
		{Label: "cmp-01", Node: "cmp-01", State: OperationFailed, Text: "no"}, {Label: "cmp-02", Node: "cmp-02", State: OperationVerifying, Text: "the old pod ends"}, {Label: "cmp-03", State: OperationQueued}}})
	for node, want := range map[string]StepState{"cmp-01": StepFailed, "cmp-02": StepRunning, "cmp-03": StepWaiting} {
		if st := Plan(sc.again().Snapshot, restartOn(node)); st.State != want {
			t.Errorf("%s: %s (%s), want %s", node, st.State, st.Status, want)
		}
	}
}

// The OpenStack controller's texts P and Q are answered with the agents' pods of the node.
func TestTextsOfSilentAgentsOfferTheirRestart(t *testing.T) {
	for id, text := range map[string]string{
		"P": "Timeout waiting for network agents on the host cmp-01.",
		"Q": "Got error while waiting for network agents. Cannot execute openstack commands, error: 503.",
		"M": "Timeout waiting for compute services up on the host.",
	} {
		sc := healthy()
		sc.daemonSet(ovsAgents, "neutron-ovs-agent", false, "cmp-01")
		sc.Agents["cmp-01"] = []*NetworkAgent{{ID: "a", Host: "cmp-01", Binary: "neutron-openvswitch-agent", AdminUp: true}}
		sc.maintained("cmp-01", text).RawState = LockInactive
		sc.NodeRequest("cmp-01").Deleting = ago(8 * time.Minute)
		p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Intent.Kind == IntentRestartAgents })
		if offered := i >= 0 && p.Steps[i].Doable(); offered != (id != "M") {
			t.Errorf("%s: offered %v in %s", id, offered, fmt.Sprint(p.Steps))
		}
	}
}

// Whatever the cluster is like: a pod is restarted only when it is old, its node is at rest and every other pod of its
// DaemonSet serves. So two are never down at once.
func TestNoRestartTakesASecondPodDown(t *testing.T) {
	through := 0
	property := func(t *rapid.T) {
		sc := anyScene(t)
		node := rapid.SampledFrom([]string{"cmp-01", "cmp-02"}).Draw(t, "which node")
		st := Plan(sc.Snapshot, restartOn(node))
		if !st.Doable() {
			return
		}
		through++
		change, ok := st.Change.(RestartPod)
		if !ok || !change.OneAtATime {
			t.Fatalf("%+v", st.Change)
		}
		found := false
		for _, p := range sc.DaemonPods["ds-tf-vrouter-agent"] {
			switch {
			case p.UID == change.Pod.UID:
				found = p.Node == node && p.Hash == "old" && p.Deleting.IsZero()
			case !p.Ready || !p.Deleting.IsZero():
				t.Fatalf("the pod on %s is down: the one on %s was restarted", p.Node, node)
			}
		}
		if !found || len(sc.NodeRequests[node]) > 0 || sc.Nodes[node].Ready != "True" {
			t.Fatalf("old %v, requests %v, Ready %s", found, sc.NodeRequests[node], sc.Nodes[node].Ready)
		}
	}
	for range 20 { // chance lets few scenes through; go on until it has
		if rapid.Check(t, property); through > 0 {
			break
		}
	}
	if through == 0 {
		t.Error("no scene let the step through: the property was not tested")
	}
}
