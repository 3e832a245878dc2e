package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core/permittest"

	"pgregory.net/rapid"
)

// resting is a cluster that is connected to its management cluster, of which nothing is asked.
func resting() *managed { return healthy().managed() }

// inMode puts the cluster into maintenance mode, and machines of the nodes.
func (m *managed) inMode(nodes ...string) *managed {
	m.cluster.Maintenance, m.cluster.InMaintenance = new(true), true
	for _, n := range nodes {
		m.machines[n].Maintenance, m.machines[n].InMaintenance = new(true), true
	}
	return m
}

// The order of maintenance mode, and what must not be under way (docs/mosk.md#maintenance-mode): which guard of a step does not hold.
func TestGuardsOfMaintenance(t *testing.T) {
	enter, leave := Intent{Kind: IntentEnterCluster}, Intent{Kind: IntentLeaveCluster}
	enterMachine, leaveMachine := Intent{Kind: IntentEnterMachine, Node: "cmp-01"}, Intent{Kind: IntentLeaveMachine, Node: "cmp-01"}
	reboot := Intent{Kind: IntentReboot, Nodes: []string{"cmp-01", "cmp-02"}}
	none := func(*managed) []Object { return nil }
	asked := func(*managed) []Object {
		return []Object{&RebootRequest{Meta: Meta{Name: "mos", Namespace: "prod", UID: "r", Created: ago(time.Minute)}, Machines: []string{"m-cmp-03"}}}
	}
	inMode := func(nodes ...string) func(*managed) []Object {
		return func(m *managed) []Object { m.inMode(nodes...); return nil }
	}
	tests := []struct {
		name   string
		intent Intent
		given  func(*managed) []Object
		fails  string // the guard's ID; empty: it can be done
	}{
		{"cluster enters", enter, none, ""},
		{"cluster enters, it is in", enter, inMode(), "differs"},
		{"cluster enters, a plan runs", enter, func(m *managed) []Object { m.planned(3); return nil }, "no-update"},
		{"cluster enters, a plan is not begun", enter, func(m *managed) []Object {
			m.planned(0).Status, m.plan.Started = PlanNotStarted, time.Time{}
			return nil
		}, ""},
		{"cluster enters, its maintenance is asked for", enter, func(m *managed) []Object { m.update(time.Hour); return nil }, "no-request"},
		{"cluster enters, machines are rebooted", enter, asked, "no-reboot"},
		{"cluster enters, the Clusters are old", enter, func(m *managed) []Object { m.aged(SourceClusters, time.Hour); return nil }, "fresh"},
		{"cluster enters, an older release has no plans", enter, func(m *managed) []Object { m.source(SourcePlans, SourceAbsent); return nil }, ""},
		{"cluster enters, the plans are forbidden", enter, func(m *managed) []Object { m.source(SourcePlans, SourceForbidden); return nil }, "fresh"},
		{"cluster enters, not armed", enter, func(m *managed) []Object { m.Write.Armed = false; return nil }, "armed"},
		{"cluster leaves", leave, inMode(), ""},
		{"cluster leaves before a machine", leave, inMode("cmp-02"), "machines-out"},
		{"cluster leaves before a machine that goes in", leave, func(m *managed) []Object {
			m.inMode()
			m.machines["cmp-02"].Maintenance = new(true)
			return nil
		}, "machines-out"},
		{"machine enters", enterMachine, inMode(), ""},
		{"machine enters, its flag is not there yet", enterMachine, func(m *managed) []Object { m.inMode(); m.machines["cmp-01"].Maintenance = nil; return nil }, ""},
		{"machine enters before the cluster", enterMachine, none, "cluster-first"},
		{"machine enters while the cluster is on its way", enterMachine, func(m *managed) []Object { m.cluster.Maintenance = new(true); return nil }, "cluster-first"},
		{"machine enters, the cluster leaves", enterMachine, func(m *managed) []Object { m.inMode(); m.cluster.Maintenance = new(false); return nil }, "cluster-first"},
		{"machine enters, it is in", enterMachine, inMode("cmp-01"), "differs"},
		{"machine enters, nobody knows it", enterMachine, func(m *managed) []Object { m.inMode(); delete(m.machines, "cmp-01"); return nil }, "exists"},
		{"machine leaves", leaveMachine, inMode("cmp-01"), ""},
		{"machine leaves, it is out", leaveMachine, inMode(), "differs"},
		{"reboot", reboot, none, ""},
		{"reboot, one is asked for", reboot, asked, "no-reboot"},
		{"reboot in maintenance mode", reboot, inMode(), "no-maintenance"},
		{"reboot during an update", reboot, func(m *managed) []Object { m.planned(3); return nil }, "no-update"},
		{"reboot of a machine that is not Ready", reboot, func(m *managed) []Object { m.machines["cmp-02"].Ready = false; return nil }, "ready"},
		{"reboot of a machine on which LCM works", reboot, func(m *managed) []Object { m.agents["cmp-02"].State = LCMDeploy; return nil }, "ready"},
		{"reboot, the cluster is not Ready", reboot, func(m *managed) []Object { m.cluster.Ready = false; return nil }, "ready"},
		{"reboot of a machine that nobody knows", reboot, func(m *managed) []Object { delete(m.machines, "cmp-02"); return nil }, "machines"},
		{"reboot of nothing", Intent{Kind: IntentReboot}, none, "machines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := resting()
			objects := tt.given(m)
			step := Plan(m.join(objects...).Snapshot, tt.intent)
			var fails []string
			for _, g := range step.Guards {
				if !g.Holds {
					fails = append(fails, string(g.ID))
				}
			}
			if want := strings.Fields(tt.fails); !slices.Equal(fails, want) || (step.Doable() != (tt.fails == "")) {
				t.Errorf("the guards %v do not hold, want %v; doable %v", fails, want, step.Doable())
			}
		})
	}
	s := healthy()
	for _, id := range ManagementSources() {
		s.Sources[id] = Source{ID: id, State: SourceOff}
	}
	for _, i := range []Intent{enter, leave, enterMachine, leaveMachine, reboot} {
		if st := Plan(s.Snapshot, i); st.Doable() || !slices.ContainsFunc(st.Guards, func(g Guard) bool { return g.ID == "exists" && strings.Contains(g.Answer, "--management-context") }) {
			t.Errorf("%s without a management cluster: %+v", i.Kind, st.Guards)
		}
	}
}

// What each step stands for by hand, how it is confirmed, and how it is undone.
func TestStepsOfMaintenance(t *testing.T) {
	flag := func(resource, name, on string) string {
		return "kubectl --context mgmt -n prod patch " + resource + " " + name + ` --type=merge -p '{"spec":{"providerSpec":{"value":{"maintenance":` + on + `}}}}'`
	}
	for _, tt := range []struct {
		intent  Intent
		in      []string
		mode    bool
		risk    Risk
		typed   string
		command string
		undo    string
	}{
		{Intent{Kind: IntentEnterCluster}, nil, false, RiskHigh, "mos", flag("clusters.cluster.k8s.io", "mos", "true"), flag("clusters.cluster.k8s.io", "mos", "false")},
		{Intent{Kind: IntentLeaveCluster}, nil, true, RiskMedium, "", flag("clusters.cluster.k8s.io", "mos", "false"), flag("clusters.cluster.k8s.io", "mos", "true")},
		{Intent{Kind: IntentEnterMachine, Node: "cmp-01"}, nil, true, RiskHigh, "cmp-01", flag("machines.cluster.k8s.io", "m-cmp-01", "true"), flag("machines.cluster.k8s.io", "m-cmp-01", "false")},
		{Intent{Kind: IntentLeaveMachine, Node: "cmp-01"}, []string{"cmp-01"}, true, RiskMedium, "", flag("machines.cluster.k8s.io", "m-cmp-01", "false"), flag("machines.cluster.k8s.io", "m-cmp-01", "true")},
		{Intent{Kind: IntentReboot, Nodes: []string{"cmp-01"}}, nil, false, RiskHigh, "cmp-01",
			`echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"GracefulRebootRequest","metadata":{"name":"mos","namespace":"prod"},"spec":{"machines":["m-cmp-01"]}}' | kubectl --context mgmt create -f -`, ""},
		{Intent{Kind: IntentReboot, Nodes: []string{"cmp-02", "cmp-01"}}, nil, false, RiskHigh, "2 machines",
			`echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"GracefulRebootRequest","metadata":{"name":"mos","namespace":"prod"},"spec":{"machines":["m-cmp-01","m-cmp-02"]}}' | kubectl --context mgmt create -f -`, ""},
	} {
		m := resting()
		if tt.mode {
			m.inMode(tt.in...)
		}
		step := Plan(m.join().Snapshot, tt.intent)
		if step.Risk != tt.risk || step.Type != tt.typed || !slices.Equal(step.Commands, []string{tt.command}) || strings.TrimPrefix(step.Undo, "set it back: ") != tt.undo {
			t.Errorf("%s: risk %s, typed %q,\n%s\nundo %s", tt.intent.Kind, step.Risk, step.Type, step.Commands, step.Undo)
		}
		if step.Why == "" || step.Then == "" || step.Target.UID == "" {
			t.Errorf("%s: why %q, then %q, target %+v", tt.intent.Kind, step.Why, step.Then, step.Target)
		}
	}
}

// What is asked for and not there yet is waited for, not done; nothing is offered a second time.
func TestMaintenanceThatIsOnItsWay(t *testing.T) {
	m := resting()
	m.cluster.Maintenance = new(true)
	m.update(time.Minute)
	sc := m.join()
	if st := Plan(sc.Snapshot, Intent{Kind: IntentEnterCluster}); st.State != StepWaiting || st.Doable() {
		t.Errorf("%s, %q", st.State, st.Status)
	}
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureMaintenance})
	if !slices.ContainsFunc(p.Steps, func(st Step) bool {
		return st.Title == "the cluster lock of ceph is released" && st.State == StepWaiting
	}) {
		t.Errorf("what it waits for is not shown: %+v", p.Steps)
	}
}

// A reboot never names no machine, which would mean all of them, whatever is asked for.
func TestARebootIsNeverOfAllMachines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := resting()
		names := append(m.NodeNames(), "nobody", "")
		for _, gone := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(rt, "gone") {
			delete(m.machines, gone)
		}
		nodes := rapid.SliceOf(rapid.SampledFrom(names)).Draw(rt, "nodes")
		step := Plan(m.join().Snapshot, Intent{Kind: IntentReboot, Nodes: nodes})
		change, ok := step.Change.(RequestReboot)
		if !ok {
			return
		}
		if len(change.Machines) == 0 {
			rt.Fatalf("%v leads to a reboot of all machines", nodes)
		}
		for _, name := range change.Machines {
			if !slices.Contains(nodes, strings.TrimPrefix(name, "m-")) {
				rt.Fatalf("%v leads to a reboot of %s", nodes, name)
			}
		}
	})
}

// fakeManagement is a management cluster for the writers.
type fakeManagement struct {
	wanted   *bool
	is       bool // the cluster
	inMode   []string
	request  *RebootRequest
	writes   []string
	lost     bool
	readFail error
}

func (f *fakeManagement) DryRun(context.Context, Change) error { return nil }

func (f *fakeManagement) Write(_ context.Context, p Permit, c Change) error {
	if err := TakePermit(p, c, ServerManagement); err != nil {
		return err
	}
	switch c := c.(type) {
	case SetMaintenance:
		f.writes = append(f.writes, c.Object.String())
		f.wanted = new(c.On)
	case RequestReboot:
		f.writes = append(f.writes, strings.Join(c.Machines, ","))
		f.request = &RebootRequest{Machines: c.Machines}
		if f.lost {
			return &APIError{Kind: ErrTimeout}
		}
	}
	return nil
}

func (f *fakeManagement) Maintenance(context.Context, Ref) (*bool, bool, error) {
	return f.wanted, f.is, f.readFail
}

func (f *fakeManagement) MachinesInMaintenance(context.Context, Ref) ([]string, error) {
	return f.inMode, f.readFail
}

func (f *fakeManagement) RebootRequest(context.Context, Ref) (*RebootRequest, error) {
	if f.request == nil {
		return nil, &APIError{Kind: ErrNotFound, Message: "not found"}
	}
	return f.request, nil
}

// Right before the write the server itself is asked for what the order rests on.
func TestWritersOnTheManagementClusterAskTheServer(t *testing.T) {
	cluster, machine := Ref{Kind: KindCluster, Name: "mos"}, Ref{Kind: KindMachine, Name: "m-cmp-01"}
	for _, tt := range []struct {
		name   string
		server fakeManagement
		change Change
		why    string // of the refusal; empty: there is none
	}{
		{"cluster enters", fakeManagement{}, SetMaintenance{Object: cluster, On: true}, ""},
		{"cluster leaves", fakeManagement{}, SetMaintenance{Object: cluster}, ""},
		{"cluster leaves, a machine has entered meanwhile", fakeManagement{inMode: []string{"cmp-1"}}, SetMaintenance{Object: cluster}, "in maintenance mode still: cmp-1"},
		{"machine enters", fakeManagement{is: true}, SetMaintenance{Object: machine, On: true}, ""},
		{"machine enters, the cluster has left meanwhile", fakeManagement{}, SetMaintenance{Object: machine, On: true}, "the cluster is not in maintenance mode"},
		{"machine leaves", fakeManagement{}, SetMaintenance{Object: machine}, ""},
		{"reboot", fakeManagement{}, RequestReboot{Machines: []string{"a"}}, ""},
		{"reboot, another was asked for meanwhile", fakeManagement{request: &RebootRequest{}}, RequestReboot{Machines: []string{"a"}}, "asked for already"},
		{"reboot of all", fakeManagement{}, RequestReboot{}, "would mean all"},
		{"reboot in maintenance mode", fakeManagement{is: true}, RequestReboot{Machines: []string{"a"}}, "in maintenance mode"},
		{"the server cannot be asked", fakeManagement{readFail: errors.New("away")}, SetMaintenance{Object: cluster}, "away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Config{Management: &tt.server, Writers: Writers{Management: &tt.server}})
			w := checkerOf(e, Step{}, tt.change)
			err := w.check(t.Context())
			if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
				t.Errorf("the check says %v, want %q", err, tt.why)
			}
			if len(tt.server.writes) > 0 {
				t.Errorf("the check has written %v", tt.server.writes)
			}
			if err == nil {
				if err := tt.server.Write(t.Context(), permittest.For(t, tt.change), tt.change); err != nil {
					t.Fatal(err)
				}
				if o := w.outcome(t.Context(), sent{began: noon, accepted: true}); o.state != OperationDone {
					t.Errorf("the outcome is %+v", o)
				}
			}
		})
	}
	if _, err := New(Config{}).target(ServerManagement); !errors.Is(err, ErrRefused) {
		t.Errorf("without a management cluster: %v", err)
	}
}

// An answer that was lost is looked up; a request of somebody else is not taken for ours; one that is gone was worked off.
func TestHowARebootRequestEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server fakeManagement
		after  func(f *fakeManagement)
		want   OperationState
	}{
		{"the answer was lost, it is there", fakeManagement{lost: true}, func(*fakeManagement) {}, OperationDone},
		{"another one is there", fakeManagement{lost: true}, func(f *fakeManagement) { f.request = &RebootRequest{Machines: []string{"b"}} }, OperationFailed},
		{"accepted, and gone again", fakeManagement{}, func(f *fakeManagement) { f.request = nil }, OperationDone},
	} {
		c := RequestReboot{Machines: []string{"a"}}
		w := &rebootChecker{management: &tt.server, change: c}
		err := tt.server.Write(t.Context(), permittest.For(t, c), c) // it may be lost
		tt.after(&tt.server)
		if o := w.outcome(t.Context(), sent{began: noon, accepted: err == nil}); o.state != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, o, tt.want)
		}
	}
	w := &rebootChecker{management: &fakeManagement{}, change: RequestReboot{Machines: []string{"a"}}}
	if o := w.outcome(t.Context(), sent{began: noon}); o.err == nil {
		t.Errorf("a request that nobody accepted and that is not there: %+v", o)
	}
}
