package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
)

func TestDrainMessages(t *testing.T) {
	for _, tt := range []struct{ text, namespace, pod, budget, reason string }{
		{scene.BudgetText, "stacklight", "exporter-0", "exporter",
			"budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)"},
		{`error when evicting pods/"db-0" -n "openstack" (will retry after 5s): ` +
			`Cannot evict pod as it would violate the pod's disruption budget.`,
			"openstack", "db-0", "", "a disruption budget keeps pod openstack/db-0"},
		{`error when evicting pod openstack/db-0: context deadline exceeded`, "openstack", "db-0", "",
			"pod openstack/db-0 does not go: error when evicting pod openstack/db-0: context deadline exceeded"},
		{`error when waiting for pod "exporter-0" in namespace "stacklight" to terminate: global timeout reached: 5m0s`, "stacklight",
			"exporter-0", "", `pod stacklight/exporter-0 does not go: error when waiting for pod "exporter-0" in namespace "stacklight" ` +
				"to terminate: global timeout reached: 5m0s"},
		{`drain did not complete within 10m`, "", "", "", "drain did not complete within 10m"},
		{"", "", "", "", ""},
	} {
		m := ReadDrainMessage(tt.text)
		if m.Namespace != tt.namespace || m.Pod != tt.pod || m.Budget != tt.budget || m.Reason() != tt.reason {
			t.Errorf("%q is read as %+v: %q", tt.text, m, m.Reason())
		}
		if m.Ending != strings.Contains(tt.text, "to terminate") {
			t.Errorf("%q: the pod is being deleted: %v", tt.text, m.Ending)
		}
	}
}

func TestDrainMessagesThatWait(t *testing.T) {
	for _, tt := range []struct {
		text, reason string
		waits        bool
		locks        []LockWait
		first        string
	}{
		{scene.LocksWaitText, "LCM waits for: ceph UpdatingController, openstack InProgress", true,
			[]LockWait{{"ceph", "UpdatingController"}, {"openstack", "InProgress"}}, ""},
		{"following NodeWorkloadLocks are still active - openstack: InProgress", "LCM waits for: openstack InProgress", true,
			[]LockWait{{"openstack", "InProgress"}}, ""},
		{"Error: following NodeWorkloadLocks are still active", "LCM waits for the node's locks", true, nil, ""},
		{"Error: following NodeWorkloadLocks are still active - openstack", "LCM waits for: openstack", true, []LockWait{{"openstack", ""}}, ""},
		{scene.SwarmWaitText, "LCM waits until node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c is drained", true, nil,
			"kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c"},
		{scene.BudgetText, "budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)", false, nil, ""},
		{"drain did not complete within 10m", "drain did not complete within 10m", false, nil, ""},
		{scene.LocksWaitText + "; " + scene.BudgetText,
			"budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)", false, nil, ""},
		{"", "", false, nil, ""},
	} {
		m := ReadDrainMessage(tt.text)
		if m.Waits != tt.waits || !slices.Equal(m.Locks, tt.locks) || m.First != tt.first || m.Reason() != tt.reason {
			t.Errorf("%q is read as %+v: %q", tt.text, m, m.Reason())
		}
	}
}

// Whatever a server writes, the result is one line, and the names of pods come from the text.
func TestDrainMessagesOfAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom(strings.Fields(scene.BudgetText+" "+scene.LocksWaitText+" "+scene.SwarmWaitText+
				" \n evicting pod a/b"))), func(w []string) string { return strings.Join(w, " ") })).Draw(t, "text")
		m := ReadDrainMessage(text)
		if strings.ContainsAny(m.Reason(), "\n\r") {
			t.Fatalf("%q", m.Reason())
		}
		if m.Pod != "" && !strings.Contains(m.Text, m.Pod) || m.Budget != "" && !m.Budgeted {
			t.Fatalf("%+v", m)
		}
	})
}

// A machine's node is found by its nodeRef, else by its agent's report, else by the machine name on the node.
func TestMachinesAreJoinedToTheirNodes(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Machines["cmp-01"].Node = ""
	m.Machines["cmp-02"].Node, m.Agents["cmp-02"].Hostname = "", ""
	m.Nodes["cmp-02"].ShortName = "m-cmp-02"
	delete(m.Machines, "cmp-03") // as if machines could not be read
	delete(m.Agents, "gtw-01")
	sc := m.Join(scene.Drain("m-cmp-01", "no", 1), scene.Drain("cmp-03", "no", 1))
	for _, node := range []string{"cmp-01", "cmp-02", "cmp-03", "gtw-01", "ctl-01"} {
		if v := MachineOf(sc.Snapshot, node); v == nil || v.Name != "m-"+node {
			t.Errorf("%s has the machine %+v", node, v)
		}
	}
	if MachineOf(sc.Snapshot, "cmp-01").Drain == nil || MachineOf(sc.Snapshot, "cmp-03").Drain == nil {
		t.Error("an LCMClusterState names its machine or its node")
	}
	if got := sc.Management.Namespace + "/" + sc.Management.Name; got != "prod/mos" {
		t.Errorf("the cluster is %s", got)
	}
	if sc.Again().Management != sc.Management {
		t.Error("a copy of the facts lacks the management cluster")
	}
}

// The nodes show which of the management cluster's clusters this one is, within what the operator named.
func TestTheClusterIsFoundByItsNodes(t *testing.T) {
	other := func(namespace, name, node string) *core.ManagedMachine {
		return &core.ManagedMachine{Meta: core.Meta{Name: "x-" + node, Namespace: namespace}, Cluster: name, Node: node}
	}
	for _, tt := range []struct {
		name   string
		given  func(m *scene.Managed)
		others []core.Object
		want   string // namespace/name; empty: none
	}{
		{"by most nodes", func(*scene.Managed) {}, []core.Object{other("test", "mos", "cmp-01"), other("test", "mos", "elsewhere")}, "prod/mos"},
		{"the project is named", func(m *scene.Managed) { m.Place.Namespace = "test" }, []core.Object{other("test", "mos", "cmp-01")},
			"test/mos"},
		{"the cluster is named, and has no node here", func(m *scene.Managed) { m.Place.Cluster = "new" },
			[]core.Object{&core.ManagedCluster{Meta: core.Meta{Name: "new", Namespace: "prod"}}}, "prod/new"},
		{"a cluster is named that is not there", func(m *scene.Managed) { m.Place.Cluster = "gone" }, nil, ""},
		{"no node is known", func(m *scene.Managed) { clear(m.Nodes) }, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scene.Healthy().Managed()
			tt.given(m)
			sc := m.Join(tt.others...)
			if got := strings.Trim(sc.Management.Namespace+"/"+sc.Management.Name, "/"); got != tt.want || sc.Management.Found != (tt.want != "") {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The stage of a node that LCM has follows its machine in LCM; where LCM reports nothing, the node's own signs count.
func TestStagesByTheMachine(t *testing.T) {
	tests := []struct {
		name   string
		given  func(m *scene.Managed) []core.Object
		want   core.Stage
		what   string
		reason string
	}{
		{"drains", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain = core.CordonDraining
			m.Pods["cmp-01"].Evictable = 3
			return nil
		}, core.StageDraining, "3 pods left", "LCM drains the machine"},
		{"drains, and a budget says no", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain = core.CordonDraining
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 2)}
		}, core.StageDraining, "blocked: budget exporter", "keeps pod stacklight/exporter-0"},
		{"its turn has come, and LCM has not looked at the locks again", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain = core.CordonDraining
			m.Pods["cmp-01"].Evictable = 3
			return []core.Object{scene.Drain("m-cmp-01", scene.LocksWaitText, 0)}
		}, core.StageDraining, "3 pods left", "LCM waits for: ceph UpdatingController, openstack InProgress"},
		{"waits for another controller's lock", func(m *scene.Managed) []core.Object {
			m.Lock("cmp-01", core.ControllerCeph, core.LockActive)
			return []core.Object{scene.Drain("m-cmp-01", scene.LocksWaitText, 0)}
		}, core.StagePreparing, "waits for ceph (UpdatingController)", "waits for the lock of ceph"},
		{"the agent works", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State = core.CordonDrained, core.LCMDeploy
			m.Agents["cmp-01"].Items = []core.StateItem{{Name: "host-os", Phase: "deploy", Started: scene.Ago(time.Minute)}}
			return nil
		}, core.StageUpdating, "host-os", "deploy, host-os"},
		{"the kubelet restarts while the agent works", func(m *scene.Managed) []core.Object {
			m.Nodes["cmp-01"].Ready = "False"
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State = core.CordonDrained, core.LCMUpgrade
			m.Agents["cmp-01"].Items = []core.StateItem{{Name: "kubernetes", Started: scene.Ago(time.Minute)}}
			return nil
		}, core.StageUpdating, "kubernetes", ""},
		{"an item fails", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State, m.Agents["cmp-01"].Items = core.CordonDrained, core.LCMPrepare,
				scene.FailedItems(2, time.Minute)
			return nil
		}, core.StageUpdating, "fails: host-packages", "exit code 100"},
		{"reboots", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State, m.Agents["cmp-01"].RebootAsked = core.CordonDrained, core.LCMReboot,
				scene.Ago(time.Minute)
			return nil
		}, core.StageRebooting, "reboots", "LCM reboots the machine"},
		{"has rebooted", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State, m.Agents["cmp-01"].RebootDone = core.CordonDrained, core.LCMReboot, true
			m.Nodes["cmp-01"].ReadySince = scene.Ago(time.Minute)
			return nil
		}, core.StageUpdating, "Ready again", ""},
		{"is held in maintenance mode", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain = core.CordonDrained
			m.Machines["cmp-01"].InMaintenance = true
			return nil
		}, core.StageUpdating, "in maintenance mode", "until you take it out"},
		{"LCM says a state that nobody knows", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State = core.CordonDrained, "Zapping"
			return nil
		}, core.StageUpdating, "drained", "cordoned, and drained"},
		{"the machine is not known", func(m *scene.Managed) []core.Object {
			delete(m.Agents, "cmp-01")
			return nil
		}, core.StageUpdating, "drained", ""},
		{"what LCM said is old", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Drain = core.CordonDraining
			m.Source(core.SourceLCMMachines, core.SourceStale)
			return nil
		}, core.StageUpdating, "drained", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := scene.Healthy().Managed()
			m.Handed("cmp-01")
			sc := m.Join(tt.given(m)...)
			v, _ := NodeView(sc.Snapshot, "cmp-01")
			if v.Stage != tt.want || !strings.Contains(v.What, tt.what) || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s, %q, because %q; want %s, %q, %q", v.Stage, v.What, v.Reason, tt.want, tt.what, tt.reason)
			}
		})
	}
	m := scene.Healthy().Managed()
	m.Agents["cmp-02"].State, m.Agents["cmp-02"].Items = core.LCMPrepare,
		[]core.StateItem{{Name: "download-images", Started: scene.Ago(time.Minute)}}
	if v, _ := NodeView(m.Join().Snapshot, "cmp-02"); v.Stage != core.StageIdle {
		t.Errorf("images are loaded before a node's turn comes: %s", v.Stage)
	}
}

// The plan's report on its steps is evidence of the phase that the steps belong to.
func TestPhasesByThePlan(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Update(3 * time.Hour)
	for _, l := range m.ClusterLocks {
		l.RawState = core.LockInactive
	}
	m.Request("cmp-01", 10*time.Minute)
	st := &m.Planned(3).Steps[3]
	st.Status, st.Commence, st.Started, st.Message = core.PlanInProgress, true, scene.Ago(time.Hour), "0 of 3 machines updated"
	sc := m.Join(&core.MachineGroup{Meta: core.Meta{Name: "mos-default", Namespace: "prod"}, Cluster: "mos", Index: 2, Concurrent: 3})
	want := map[core.PhaseID]string{
		core.PhaseTrigger: "update plan mos-21.0.0: InProgress since 09:00", core.PhaseServices: "plan, step ceph: Completed, 26 m",
		core.PhaseMasters: "plan, step k8s-controllers: Completed",
		core.PhaseFinish:  "plan, step mcc-components: NotStarted, 1 h 30 m estimated, not commenced",
		core.PhaseWorkers: "plan, group mos-default (index 2, 3 at a time, not rebooted): InProgress, 1 h of 1 h 30 m, 0 of 3 machines updated",
	}
	for _, p := range Phases(sc.Snapshot) {
		if all := strings.Join(p.Evidence, "\n"); !strings.Contains(all, want[p.ID]) {
			t.Errorf("phase %d says\n%s\nwant %s", p.ID, all, want[p.ID])
		}
	}
	for status, state := range map[string]core.PhaseState{core.PlanStuck: core.PhaseStuck, core.PlanAutoPaused: core.PhaseWaiting,
		"Rolling": core.PhaseRunning} {
		st.Status = status
		if got := Phases(sc.Again().Snapshot)[core.PhaseWorkers-1].State; got != state {
			t.Errorf("with the step %s the phase is %s, want %s", status, got, state)
		}
	}
}

// What LCM itself calls stuck stands once: the Cluster's condition says the same words.
func TestWhatLCMCallsStuckStandsOnce(t *testing.T) {
	sc := scene.Healthy()
	m := sc.Managed()
	m.Lcm.Stuck, m.Lcm.StuckMessage = true, "cmp-01 is not Ready"
	m.Cluster.Conditions = []core.Condition{{Type: "LCMOperation", Message: "cmp-01 is not Ready"}, {Type: "Kubelet", Message: "1 of 7"}}
	got := ManagementSummary(m.Join().Snapshot)
	if want := []string{"Kubelet not ready: 1 of 7", "LCM is stuck: cmp-01 is not Ready"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
