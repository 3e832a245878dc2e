package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// managed connects a scene to a management cluster: each of its nodes has a Machine and an LCMMachine of the node's name,
// all of them at rest. The test may change them before it calls join.
type managed struct {
	scene
	cluster  *ManagedCluster
	lcm      *LCMCluster
	plan     *UpdatePlan
	machines map[string]*ManagedMachine
	agents   map[string]*LCMMachine
}

func (sc scene) managed() *managed {
	m := &managed{scene: sc, machines: map[string]*ManagedMachine{}, agents: map[string]*LCMMachine{}}
	m.Place = ManagementPlace{Context: "mgmt"}
	for _, id := range ManagementSources() {
		m.Sources[id] = Source{ID: id, State: SourceLive, Since: ago(time.Hour), AsOf: ago(2 * time.Second)}
	}
	meta := func(name string) Meta {
		return Meta{Name: name, Namespace: "prod", UID: "uid-" + name, Created: ago(900 * time.Hour)}
	}
	m.cluster = &ManagedCluster{Meta: meta("mos"), Ready: true, ReadyKnown: true, Release: "mosk-17-4-0-25-1", Target: "mosk-17-4-0-25-1", Maintenance: new(false)}
	m.lcm = &LCMCluster{Meta: meta("mos")}
	for name, n := range sc.Nodes {
		m.machines[name] = &ManagedMachine{Meta: meta("m-" + name), Cluster: "mos", Node: name, Ready: true, ReadyKnown: true, Maintenance: new(false), Control: n.Is(RoleMaster)}
		m.agents[name] = &LCMMachine{Meta: meta("m-" + name), Cluster: "mos", Hostname: name, State: LCMReady}
	}
	return m
}

// planned adds an update plan of the documents' steps, of which the first n are complete.
func (m *managed) planned(complete int) *UpdatePlan {
	m.plan = &UpdatePlan{Meta: Meta{Name: "mos-21.0.0", Namespace: "prod", UID: "plan"}, Cluster: "mos", Status: PlanInProgress, Started: ago(3 * time.Hour)}
	for i, id := range []string{"openstack", "ceph", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"} {
		st := PlanStep{ID: id, Name: "Update of " + id, Status: PlanNotStarted, Estimate: "1h30m0s", Granularity: "cluster"}
		if i < complete {
			st.Status, st.Commence, st.Started, st.Duration = PlanCompleted, true, ago(3*time.Hour), "26m36.355605528s"
		}
		m.plan.Steps = append(m.plan.Steps, st)
	}
	return m.plan
}

// join makes the Snapshot's view of the management cluster of what was set up.
func (m *managed) join(others ...Object) scene {
	objects := append([]Object{m.cluster, m.lcm}, others...)
	for _, o := range m.machines {
		objects = append(objects, o)
	}
	for _, o := range m.agents {
		objects = append(objects, o)
	}
	if m.plan != nil {
		objects = append(objects, m.plan)
	}
	m.Management = JoinManagement(m.Place, m.Nodes, objects...)
	return m.scene
}

// handed gives a node to LCM: its locks are released, it is cordoned.
func (sc scene) handed(node string) {
	sc.maintained(node, "").RawState = LockInactive
	sc.emptied(node)
	sc.Nodes[node].Cordoned = true
	sc.Pods[node] = &NodePods{Node: node}
}

const budgetText = `error when evicting pods/"exporter-0" -n "stacklight": Cannot evict pod as it would violate the pod's disruption budget. ` +
	`The disruption budget exporter needs 2 healthy pods and has 2 currently`

func drain(machine, message string, attempt int) *DrainState {
	return &DrainState{Meta: Meta{Name: "cd-" + machine, Namespace: "prod", UID: "drain-" + machine}, Cluster: "mos", Type: DrainKubernetes, Machine: machine,
		Wanted: "true", Value: "false", Message: message, Attempt: attempt}
}

func swarm(machine, message string, attempt int) *DrainState {
	d := drain(machine, message, attempt)
	d.Name, d.UID, d.Type = "sd-"+machine, "swarm-"+machine, "swarm-drain"
	return d
}

func TestDrainMessages(t *testing.T) {
	for _, tt := range []struct{ text, namespace, pod, budget, reason string }{
		{budgetText, "stacklight", "exporter-0", "exporter", "budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)"},
		{`error when evicting pods/"db-0" -n "openstack" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`,
			"openstack", "db-0", "", "a disruption budget keeps pod openstack/db-0"},
		{`error when evicting pod openstack/db-0: context deadline exceeded`, "openstack", "db-0", "", "pod openstack/db-0 does not go: error when evicting pod openstack/db-0: context deadline exceeded"},
		{`drain did not complete within 10m`, "", "", "", "drain did not complete within 10m"},
		{"", "", "", "", ""},
	} {
		m := ReadDrainMessage(tt.text)
		if m.Namespace != tt.namespace || m.Pod != tt.pod || m.Budget != tt.budget || m.Reason() != tt.reason {
			t.Errorf("%q is read as %+v: %q", tt.text, m, m.Reason())
		}
	}
}

// The two texts of the normal course, as the operator's guide prints them: LCM waits for the node's locks, and the drain of
// Swarm for that of Kubernetes. Neither is a drain that is refused.
const (
	locksWaitText = `Error: following    NodeWorkloadLocks are still active - ceph: UpdatingController,openstack: InProgress`
	swarmWaitText = `Error: waiting for kubernetes node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c to be drained first`
)

func TestDrainMessagesThatWait(t *testing.T) {
	for _, tt := range []struct {
		text, reason string
		waits        bool
		locks        []LockWait
		first        string
	}{
		{locksWaitText, "LCM waits for: ceph UpdatingController, openstack InProgress", true,
			[]LockWait{{"ceph", "UpdatingController"}, {"openstack", "InProgress"}}, ""},
		{"following NodeWorkloadLocks are still active - openstack: InProgress", "LCM waits for: openstack InProgress", true, []LockWait{{"openstack", "InProgress"}}, ""},
		{"Error: following NodeWorkloadLocks are still active", "LCM waits for the node's locks", true, nil, ""},
		{"Error: following NodeWorkloadLocks are still active - openstack", "LCM waits for: openstack", true, []LockWait{{"openstack", ""}}, ""},
		{swarmWaitText, "LCM waits until node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c is drained", true, nil, "kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c"},
		{budgetText, "budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)", false, nil, ""},
		{"drain did not complete within 10m", "drain did not complete within 10m", false, nil, ""},
		{locksWaitText + "; " + budgetText, "budget exporter keeps pod stacklight/exporter-0 (needs 2 healthy pods and has 2 currently)", false, nil, ""},
		{"", "", false, nil, ""},
	} {
		m := ReadDrainMessage(tt.text)
		if m.Waits != tt.waits || !slices.Equal(m.Locks, tt.locks) || m.First != tt.first || m.Reason() != tt.reason {
			t.Errorf("%q is read as %+v: %q", tt.text, m, m.Reason())
		}
	}
}

// Whatever a server says, what comes out is one line, and what is called a pod stands in the text.
func TestDrainMessagesOfAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.SampledFrom(strings.Fields(budgetText+" "+locksWaitText+" "+swarmWaitText+" \n evicting pod a/b"))), func(w []string) string { return strings.Join(w, " ") })).Draw(t, "text")
		m := ReadDrainMessage(text)
		if strings.ContainsAny(m.Reason(), "\n\r") {
			t.Fatalf("%q", m.Reason())
		}
		if m.Pod != "" && !strings.Contains(m.Text, m.Pod) || m.Budget != "" && !m.Budgeted {
			t.Fatalf("%+v", m)
		}
	})
}

// A machine's node is found by its nodeRef, else by what its agent reports, else by the name that the node carries.
func TestMachinesAreJoinedToTheirNodes(t *testing.T) {
	m := healthy().managed()
	m.machines["cmp-01"].Node = ""
	m.machines["cmp-02"].Node, m.agents["cmp-02"].Hostname = "", ""
	m.Nodes["cmp-02"].ShortName = "m-cmp-02"
	delete(m.machines, "cmp-03") // machines may not be read
	delete(m.agents, "gtw-01")
	sc := m.join(drain("m-cmp-01", "no", 1), drain("cmp-03", "no", 1))
	for _, node := range []string{"cmp-01", "cmp-02", "cmp-03", "gtw-01", "ctl-01"} {
		if v := sc.MachineOf(node); v == nil || v.Name != "m-"+node {
			t.Errorf("%s has the machine %+v", node, v)
		}
	}
	if sc.MachineOf("cmp-01").Drain == nil || sc.MachineOf("cmp-03").Drain == nil {
		t.Error("an LCMClusterState names its machine or its node")
	}
	if got := sc.Management.Namespace + "/" + sc.Management.Name; got != "prod/mos" {
		t.Errorf("the cluster is %s", got)
	}
	if sc.again().Management != sc.Management {
		t.Error("a copy of the facts lacks the management cluster")
	}
}

// Which of a management cluster's clusters this one is, its nodes say, within what the operator named.
func TestTheClusterIsFoundByItsNodes(t *testing.T) {
	other := func(namespace, name, node string) *ManagedMachine {
		return &ManagedMachine{Meta: Meta{Name: "x-" + node, Namespace: namespace}, Cluster: name, Node: node}
	}
	for _, tt := range []struct {
		name   string
		given  func(m *managed)
		others []Object
		want   string // namespace/name; empty: none
	}{
		{"by most nodes", func(*managed) {}, []Object{other("test", "mos", "cmp-01"), other("test", "mos", "elsewhere")}, "prod/mos"},
		{"the project is named", func(m *managed) { m.Place.Namespace = "test" }, []Object{other("test", "mos", "cmp-01")}, "test/mos"},
		{"the cluster is named, and has no node here", func(m *managed) { m.Place.Cluster = "new" },
			[]Object{&ManagedCluster{Meta: Meta{Name: "new", Namespace: "prod"}}}, "prod/new"},
		{"a cluster is named that is not there", func(m *managed) { m.Place.Cluster = "gone" }, nil, ""},
		{"no node is known", func(m *managed) { clear(m.Nodes) }, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := healthy().managed()
			tt.given(m)
			sc := m.join(tt.others...)
			if got := strings.Trim(sc.Management.Namespace+"/"+sc.Management.Name, "/"); got != tt.want || sc.Management.Found != (tt.want != "") {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func failedItems(attempt int, begun time.Duration) []StateItem {
	return []StateItem{
		{Name: "download-images", Phase: "prepare", Attempt: 1, Started: ago(begun + time.Hour), Finished: ago(begun + 50*time.Minute)},
		{Name: "host-packages", Phase: "prepare", ExitCode: 100, Message: "E: Failed to fetch linux-image  503", Attempt: attempt, Started: ago(begun), Finished: ago(begun / 2)},
	}
}

// One row for each thing that the management cluster can tell of what needs a person (docs/mosk.md#management-objects).
func TestAttentionToTheManagementCluster(t *testing.T) {
	for _, tt := range managedScenes() {
		t.Run(tt.name, func(t *testing.T) {
			m := healthy().managed()
			var got []row
			sc := m.join(tt.given(m)...)
			for _, a := range sc.Attention() {
				got = append(got, row{a.Severity, string(a.Rule), a.Reason})
			}
			matches := func(a, b row) bool {
				return a.severity == b.severity && a.rule == b.rule && strings.Contains(a.reason, b.reason)
			}
			if !slices.EqualFunc(got, tt.want, matches) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// managedScene is what a management cluster is made to show, and what is to be told of it.
type managedScene struct {
	name  string
	given func(m *managed) []Object
	want  []row
}

func managedScenes() []managedScene {
	return []managedScene{
		{"all at rest", func(*managed) []Object { return nil }, nil},
		{"a drain that is refused for the first time", func(m *managed) []Object {
			m.handed("cmp-01")
			return []Object{drain("m-cmp-01", budgetText, 1)}
		}, []row{{SeverityWarning, "drain-blocked", "drain blocked: budget exporter keeps pod stacklight/exporter-0"}}},
		{"a drain that is refused again and again", func(m *managed) []Object {
			m.handed("cmp-01")
			return []Object{drain("m-cmp-01", budgetText, 3)}
		}, []row{{SeverityUrgent, "drain-blocked", "attempt 3"}}},
		{"LCM and the plan only repeat it", func(m *managed) []Object {
			m.handed("cmp-01")
			says := "machine cmp-01: drain failed 3 times: " + budgetText
			m.lcm.Stuck, m.lcm.StuckMessage = true, says
			st := &m.planned(3).Steps[3]
			st.Status, st.Commence, st.Started, st.Message = PlanStuck, true, ago(time.Hour), says
			m.agents["cmp-01"].DrainError = budgetText
			return []Object{drain("m-cmp-01", budgetText, 3)}
		}, []row{{SeverityUrgent, "drain-blocked", ""}}},
		{"LCM repeats a long one", func(m *managed) []Object {
			long := strings.Repeat("no space is left on the device, ", 40)
			m.agents["cmp-01"].State, m.agents["cmp-01"].Items = LCMDeploy, failedItems(3, time.Minute)
			m.agents["cmp-01"].Items[1].Message = long
			m.lcm.Stuck, m.lcm.StuckMessage = true, "machine cmp-01: state item host-packages failed 3 times: "+long
			return nil
		}, []row{{SeverityUrgent, "state-item", "no space is left"}}},
		{"LCM says more than that", func(m *managed) []Object {
			m.handed("cmp-01")
			m.lcm.Stuck, m.lcm.StuckMessage = true, "machine cmp-01: drain failed 3 times: "+budgetText+"; machine cmp-02: node is not Ready"
			return []Object{drain("m-cmp-01", budgetText, 3)}
		}, []row{{SeverityUrgent, "drain-blocked", ""}, {SeverityUrgent, "lcm-stuck", "an operation of LCM is stuck: machine cmp-02: node is not Ready"}}},
		{"LCM waits for the node's locks, and Swarm for Kubernetes", func(m *managed) []Object {
			m.update(time.Hour)
			m.maintained("cmp-01", "")
			m.agents["cmp-01"].DrainError, m.agents["cmp-01"].SwarmError = locksWaitText, swarmWaitText
			return []Object{drain("m-cmp-01", locksWaitText, 0), swarm("m-cmp-01", swarmWaitText, 0)}
		}, nil},
		{"LCM goes on waiting for locks that are long inactive", func(m *managed) []Object {
			m.handed("cmp-01")
			for _, l := range m.NodeLocks["cmp-01"] {
				m.History.Locks[l.UID] = LockRecord{State: LockInactive, Since: Since{At: ago(20 * time.Minute), Exact: true}}
			}
			return []Object{drain("m-cmp-01", locksWaitText, 0)}
		}, []row{{SeverityWarning, "drain-waits", "LCM waits for: ceph UpdatingController, openstack InProgress; the node's locks are inactive since"}}},
		{"LCM has not looked at the locks again yet", func(m *managed) []Object {
			m.handed("cmp-01")
			for _, l := range m.NodeLocks["cmp-01"] {
				m.History.Locks[l.UID] = LockRecord{State: LockInactive, Since: Since{At: ago(time.Minute), Exact: true}}
			}
			return []Object{drain("m-cmp-01", locksWaitText, 0)}
		}, nil},
		{"LCM waits at one attempt after another", func(m *managed) []Object {
			m.update(time.Hour)
			m.maintained("cmp-01", "")
			return []Object{swarm("m-cmp-01", swarmWaitText, 4)}
		}, []row{{SeverityWarning, "drain-waits", "swarm-drain: LCM waits until node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c is drained; attempt 4"}}},
		{"a drain that succeeded has nothing to say", func(m *managed) []Object {
			d := drain("m-cmp-01", budgetText, 4)
			d.Value = "true"
			return []Object{d}
		}, nil},
		{"a drain that is given up", func(m *managed) []Object {
			d := drain("m-cmp-01", budgetText, 4)
			d.Wanted = "false"
			return []Object{d}
		}, nil},
		{"an error of a drain beside it", func(m *managed) []Object {
			m.agents["cmp-01"].SwarmError = "cannot drain: rpc error"
			return nil
		}, []row{{SeverityWarning, "swarm-error", "the drain of Swarm says: cannot drain: rpc error"}}},
		{"a state item that fails", func(m *managed) []Object {
			m.agents["cmp-01"].State, m.agents["cmp-01"].Items = LCMPrepare, failedItems(2, time.Minute)
			return nil
		}, []row{{SeverityWarning, "state-item", "state item host-packages (prepare) failed, attempt 2, exit code 100: E: Failed to fetch linux-image 503"}}},
		{"a state item that fails for the third time", func(m *managed) []Object {
			m.agents["cmp-01"].State, m.agents["cmp-01"].Items = LCMPrepare, failedItems(3, time.Minute)
			return nil
		}, []row{{SeverityUrgent, "state-item", "attempt 3"}}},
		{"what failed once on a machine that is Ready", func(m *managed) []Object {
			m.agents["cmp-01"].Items = failedItems(3, time.Minute)
			return nil
		}, nil},
		{"LCM is stuck", func(m *managed) []Object {
			m.lcm.Stuck, m.lcm.StuckMessage = true, "kubelet of ctl-01"
			return nil
		}, []row{{SeverityUrgent, "lcm-stuck", "kubelet of ctl-01"}}},
		{"the step of a plan is Stuck", func(m *managed) []Object {
			st := &m.planned(3).Steps[3]
			st.Status, st.Commence, st.Started, st.Message = PlanStuck, true, ago(time.Hour), "takes longer than estimated"
			m.lcm.Stuck, m.lcm.StuckMessage = true, "takes longer than estimated"
			return nil
		}, []row{{SeverityUrgent, "plan-stuck", "group mos-default is Stuck: takes longer than estimated"}}},
		{"the next step is not commenced", func(m *managed) []Object {
			m.planned(3)
			return nil
		}, []row{{SeverityWarning, "plan-waits", "until somebody commences group mos-default"}}},
		{"the next step is scheduled", func(m *managed) []Object {
			m.planned(3).Steps[3].Status = PlanScheduled
			return nil
		}, nil},
		{"a plan that nobody has begun", func(m *managed) []Object {
			m.planned(0)
			m.plan.Status, m.plan.Started = PlanNotStarted, time.Time{}
			return nil
		}, nil},
		{"an alert has paused the update", func(m *managed) []Object {
			m.planned(3).Status, m.plan.Steps[3].Status = PlanAutoPaused, PlanAutoPaused
			return []Object{&AutoPause{Meta: Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A", "B"}, Firing: []string{"B"}}}
		}, []row{{SeverityUrgent, "auto-pause", "the update is paused: B is firing"}}},
		{"the alert is over, and nothing goes on by itself", func(m *managed) []Object {
			m.planned(3).Status, m.plan.Steps[3].Status = PlanAutoPaused, PlanAutoPaused
			return []Object{&AutoPause{Meta: Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A", "B"}}}
		}, []row{{SeverityUrgent, "auto-pause", "when the step is commenced again"}}},
		{"machines that were not rebooted", func(m *managed) []Object {
			m.machines["cmp-01"].Reboot, m.machines["cmp-02"].Reboot = true, true
			return nil
		}, []row{{SeverityNotice, "reboots-left", "2 machines have to be rebooted for what was installed: m-cmp-01, m-cmp-02"}}},
		{"machines whose turn comes", func(m *managed) []Object {
			m.update(time.Hour)
			m.machines["cmp-01"].Reboot = true
			return nil
		}, nil},
		{"machines whose reboot is asked for", func(m *managed) []Object {
			m.machines["cmp-01"].Reboot = true
			return []Object{&RebootRequest{Meta: Meta{Name: "mos", Namespace: "prod"}, Machines: []string{"m-cmp-01"}}}
		}, nil},
		{"it is not configured", func(m *managed) []Object {
			for _, id := range ManagementSources() {
				m.source(id, SourceOff)
			}
			return nil
		}, nil},
		{"an older release lacks a kind", func(m *managed) []Object { m.source(SourceAutoPauses, SourceAbsent); return nil }, nil},
		{"one kind is forbidden", func(m *managed) []Object { m.source(SourceDrains, SourceForbidden); return nil },
			[]row{{SeverityWarning, "source", "forbidden: lcmclusterstates"}}},
	}
}

// An outage of the management cluster is told with what it means for the update.
func TestAnOutageOfTheManagementClusterSaysWhatItMeans(t *testing.T) {
	m := healthy().managed()
	m.update(time.Hour)
	for _, id := range ManagementSources() {
		m.Sources[id] = Source{ID: id, State: SourceStale, Since: ago(2 * time.Minute), AsOf: ago(2 * time.Minute),
			Err: &APIError{Kind: ErrUnreachable, Server: ServerManagement, Call: "watch " + string(id), Message: "connection refused"}}
	}
	all := m.join().Attention()
	if len(all) != 1 || all[0].Label != "management" || all[0].Severity != SeverityWarning || !strings.Contains(all[0].Detail, "nothing new begins on the nodes") {
		t.Fatalf("%+v", all)
	}
	p, ok := m.Procedure(*all[0].Resolve)
	if !ok || len(p.Steps) != len(ManagementSources()) || !slices.Equal(p.Steps[0].Commands, []string{"kubectl --context mgmt get --raw /readyz"}) {
		t.Errorf("%+v", p)
	}
}

// A node that LCM has is where LCM says that its machine is; where LCM says nothing, the node's own signs count.
func TestStagesByTheMachine(t *testing.T) {
	tests := []struct {
		name   string
		given  func(m *managed) []Object
		want   Stage
		what   string
		reason string
	}{
		{"drains", func(m *managed) []Object {
			m.agents["cmp-01"].Drain = CordonDraining
			m.Pods["cmp-01"].Evictable = 3
			return nil
		}, StageDraining, "3 pods left", "LCM drains the machine"},
		{"drains, and a budget says no", func(m *managed) []Object {
			m.agents["cmp-01"].Drain = CordonDraining
			return []Object{drain("m-cmp-01", budgetText, 2)}
		}, StageDraining, "blocked: budget exporter", "keeps pod stacklight/exporter-0"},
		{"its turn has come, and LCM has not looked at the locks again", func(m *managed) []Object {
			m.agents["cmp-01"].Drain = CordonDraining
			m.Pods["cmp-01"].Evictable = 3
			return []Object{drain("m-cmp-01", locksWaitText, 0)}
		}, StageDraining, "3 pods left", "LCM waits for: ceph UpdatingController, openstack InProgress"},
		{"waits for another controller's lock", func(m *managed) []Object {
			m.lock("cmp-01", ControllerCeph, LockActive)
			return []Object{drain("m-cmp-01", locksWaitText, 0)}
		}, StagePreparing, "waits for ceph (UpdatingController)", "waits for the lock of ceph"},
		{"the agent works", func(m *managed) []Object {
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State = CordonDrained, LCMDeploy
			m.agents["cmp-01"].Items = []StateItem{{Name: "host-os", Phase: "deploy", Started: ago(time.Minute)}}
			return nil
		}, StageUpdating, "host-os", "deploy, host-os"},
		{"the kubelet restarts while the agent works", func(m *managed) []Object {
			m.Nodes["cmp-01"].Ready = "False"
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State = CordonDrained, LCMUpgrade
			m.agents["cmp-01"].Items = []StateItem{{Name: "kubernetes", Started: ago(time.Minute)}}
			return nil
		}, StageUpdating, "kubernetes", ""},
		{"an item fails", func(m *managed) []Object {
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State, m.agents["cmp-01"].Items = CordonDrained, LCMPrepare, failedItems(2, time.Minute)
			return nil
		}, StageUpdating, "fails: host-packages", "exit code 100"},
		{"reboots", func(m *managed) []Object {
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State, m.agents["cmp-01"].RebootAsked = CordonDrained, LCMReboot, ago(time.Minute)
			return nil
		}, StageRebooting, "reboots", "LCM reboots the machine"},
		{"has rebooted", func(m *managed) []Object {
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State, m.agents["cmp-01"].RebootDone = CordonDrained, LCMReboot, true
			m.Nodes["cmp-01"].ReadySince = ago(time.Minute)
			return nil
		}, StageUpdating, "Ready again", ""},
		{"is held in maintenance mode", func(m *managed) []Object {
			m.agents["cmp-01"].Drain = CordonDrained
			m.machines["cmp-01"].InMaintenance = true
			return nil
		}, StageUpdating, "in maintenance mode", "until you take it out"},
		{"LCM says a state that nobody knows", func(m *managed) []Object {
			m.agents["cmp-01"].Drain, m.agents["cmp-01"].State = CordonDrained, "Zapping"
			return nil
		}, StageUpdating, "drained", "cordoned, and drained"},
		{"the machine is not known", func(m *managed) []Object {
			delete(m.agents, "cmp-01")
			return nil
		}, StageUpdating, "drained", ""},
		{"what LCM said is old", func(m *managed) []Object {
			m.agents["cmp-01"].Drain = CordonDraining
			m.source(SourceLCMMachines, SourceStale)
			return nil
		}, StageUpdating, "drained", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := healthy().managed()
			m.handed("cmp-01")
			sc := m.join(tt.given(m)...)
			v, _ := sc.NodeView("cmp-01")
			if v.Stage != tt.want || !strings.Contains(v.What, tt.what) || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s, %q, because %q; want %s, %q, %q", v.Stage, v.What, v.Reason, tt.want, tt.what, tt.reason)
			}
		})
	}
	m := healthy().managed()
	m.agents["cmp-02"].State, m.agents["cmp-02"].Items = LCMPrepare, []StateItem{{Name: "download-images", Started: ago(time.Minute)}}
	if v, _ := m.join().NodeView("cmp-02"); v.Stage != StageIdle {
		t.Errorf("images are loaded before a node's turn comes: %s", v.Stage)
	}
}

// What the plan says of its steps is evidence of the phase that they belong to.
func TestPhasesByThePlan(t *testing.T) {
	m := healthy().managed()
	m.update(3 * time.Hour)
	for _, l := range m.ClusterLocks {
		l.RawState = LockInactive
	}
	m.request("cmp-01", 10*time.Minute)
	st := &m.planned(3).Steps[3]
	st.Status, st.Commence, st.Started, st.Message = PlanInProgress, true, ago(time.Hour), "0 of 3 machines updated"
	sc := m.join(&MachineGroup{Meta: Meta{Name: "mos-default", Namespace: "prod"}, Cluster: "mos", Index: 2, Concurrent: 3})
	want := map[PhaseID]string{
		PhaseTrigger: "update plan mos-21.0.0: InProgress since 09:00", PhaseServices: "plan, step ceph: Completed, 26 m",
		PhaseMasters: "plan, step k8s-controllers: Completed", PhaseFinish: "plan, step mcc-components: NotStarted, 1 h 30 m estimated, not commenced",
		PhaseWorkers: "plan, group mos-default (index 2, 3 at a time, not rebooted): InProgress, 1 h of 1 h 30 m, 0 of 3 machines updated",
	}
	for _, p := range sc.Phases() {
		if all := strings.Join(p.Evidence, "\n"); !strings.Contains(all, want[p.ID]) {
			t.Errorf("phase %d says\n%s\nwant %s", p.ID, all, want[p.ID])
		}
	}
	for status, state := range map[string]PhaseState{PlanStuck: PhaseStuck, PlanAutoPaused: PhaseWaiting, "Rolling": PhaseRunning} {
		st.Status = status
		if got := sc.again().Phases()[PhaseWorkers-1].State; got != state {
			t.Errorf("with the step %s the phase is %s, want %s", status, got, state)
		}
	}
}

// The cluster's procedure shows the plan's steps, and the command that commences the one that waits.
func TestTheProcedureOfTheClusterShowsThePlan(t *testing.T) {
	m := healthy().managed()
	m.update(3 * time.Hour)
	m.planned(3)
	p, _ := m.join().Procedure(ProcedureKey{Kind: ProcedureCluster})
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Title == "plan, group mos-default" })
	if i < 0 {
		t.Fatalf("%+v", p.Steps)
	}
	want := `kubectl --context mgmt -n prod patch clusterupdateplans mos-21.0.0 --type=json -p '[{"op":"test","path":"/spec/steps/3/id","value":"k8s-workers-mos-default"},{"op":"add","path":"/spec/steps/3/commence","value":true}]'`
	if st := p.Steps[i]; st.State != StepWaiting || !strings.HasPrefix(st.Status, "to be commenced") || !slices.Equal(st.Commands, []string{want}) {
		t.Errorf("%s %q %q", st.State, st.Status, st.Commands)
	}
}

// The steps of a node whose drain is blocked say by which pod and budget, and how to see them.
func TestTheStepsOfANodeSayWhatBlocksItsDrain(t *testing.T) {
	m := healthy().managed()
	m.handed("cmp-01")
	m.agents["cmp-01"].Drain = CordonDraining
	p, _ := m.join(drain("m-cmp-01", budgetText, 2)).Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return strings.HasPrefix(st.ID, "drain/") })
	want := []string{"kubectl -n stacklight get pod exporter-0 -o wide", "kubectl -n stacklight describe pdb exporter",
		"kubectl --context mgmt -n prod get lcmclusterstates cd-m-cmp-01 -o wide"}
	if i < 0 || p.Steps[i].State != StepWaiting || !strings.Contains(p.Steps[i].Status, "budget exporter keeps pod stacklight/exporter-0") || !slices.Equal(p.Steps[i].Commands, want) {
		t.Errorf("%+v", p.Steps)
	}
}

// A request of the cluster that is for maintenance mode or for a reboot is no update: nothing of it is overdue or estimated.
func TestMaintenanceIsNoUpdate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given func(m *managed) []Object
		want  string
	}{
		{"maintenance mode", func(m *managed) []Object { m.inMode(); return nil }, "maintenance mode"},
		{"a reboot", func(m *managed) []Object { return []Object{&RebootRequest{Meta: Meta{Name: "mos", Namespace: "prod"}}} }, "a graceful reboot"},
		{"an update, by its plan", func(m *managed) []Object { m.planned(2); m.inMode(); return nil }, ""},
		{"an update without a plan", func(m *managed) []Object { return nil }, ""},
	} {
		m := resting()
		m.update(100 * time.Hour)
		sc := m.join(tt.given(m)...)
		if u := sc.Update(); u.Beside != tt.want || u.Running != (tt.want == "") || u.ByHand {
			t.Errorf("%s: %+v", tt.name, u)
		}
		overdue := slices.ContainsFunc(sc.Attention(), func(a Attention) bool { return strings.HasPrefix(a.ID, "phase/") })
		if overdue != (tt.want == "") {
			t.Errorf("%s: a phase is overdue: %v", tt.name, overdue)
		}
	}
}

// What a request of the cluster is for comes by another stream than the request itself: it is not taken for an update before
// that can have been told.
func TestARequestIsNotTakenForAnUpdateTooEarly(t *testing.T) {
	for _, tt := range []struct {
		name  string
		age   time.Duration
		given func(m *managed)
		want  bool
	}{
		{"new, and no plan runs", 10 * time.Second, func(*managed) {}, true},
		{"new, and a plan runs", 10 * time.Second, func(m *managed) { m.planned(1) }, false},
		{"old enough", 2 * time.Minute, func(*managed) {}, false},
		{"the plans have not come yet", time.Hour, func(m *managed) { m.source(SourcePlans, SourceConnecting) }, true},
		{"the management cluster is away", 10 * time.Second, func(m *managed) { m.source(SourceClusters, SourceStale) }, false},
	} {
		m := resting()
		r := m.update(tt.age)
		tt.given(m)
		if got := m.join().toBeTold(r); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	sc := healthy()
	if sc.toBeTold(sc.update(time.Second)) {
		t.Error("without a management cluster there is nothing to wait for")
	}
}

// What LCM waits for is joined with the locks: the drain, which comes later, says it, and so does each lock that it waits for.
func TestWhatLCMWaitsForIsJoinedWithTheLocks(t *testing.T) {
	m := healthy().managed()
	m.maintained("cmp-01", "")
	m.lock("cmp-01", ControllerCeph, LockActive)
	sc := m.join(drain("m-cmp-01", locksWaitText, 0), swarm("m-cmp-01", swarmWaitText, 0))
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	said := map[string]string{}
	for _, st := range p.Steps {
		id, _, _ := strings.Cut(st.ID, "/")
		if id == "lock" {
			id += " " + st.Label
			if st.Target.Name == sc.NodeLock("cmp-01", ControllerOpenStack).Name {
				id = "lock openstack"
			}
		}
		said[id] = st.Status + " | " + st.Why
	}
	for id, want := range map[string]string{
		"drain":          "LCM waits for: ceph UpdatingController, openstack InProgress |",
		"lock openstack": "LCM waits for it, and shows it as InProgress.",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("step %s says %q, not %q", id, said[id], want)
		}
	}
	all := false
	for _, text := range said {
		all = all || strings.Contains(text, "shows it as UpdatingController")
	}
	if !all {
		t.Errorf("no step of Ceph's lock: %v", said)
	}
	if text := strings.Join(p.Summary, "\n"); !strings.Contains(text, "swarm-drain: LCM waits until node") || strings.Contains(text, "blocked") {
		t.Errorf("summary: %s", text)
	}
}
