package cli

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/scenario"
)

// watchStory plays a scenario and opens the dashboard on it, with or without the management cluster.
func watchStory(t *testing.T, told *scenario.Scenario, connected bool) *rig {
	t.Helper()
	return newRig(t, sim.Options{Scenario: told}, func(st *story) {
		if connected {
			st.place.Management = simManagement(st.Cloud)
		}
	})
}

// needs returns the entry of a rule in Attention; nil when there is none.
func needs(s *core.Snapshot, rule string) *core.Attention {
	for _, a := range attention.Of(s) {
		if strings.HasPrefix(a.ID, rule+"/") {
			return &a
		}
	}
	return nil
}

// A drain that a disruption budget blocks is reported at its first attempts, with the pod and the budget, though the locks do not
// mention it. It is one entry, whoever else repeats it.
func TestABlockedDrainNamesPodAndBudgetAtOnce(t *testing.T) {
	bubble.Story(t, blockedDrain)
}

func blockedDrain(t *testing.T) {
	r := watchStory(t, told(t, "drain-blocked"), true)
	r.until("the drain is blocked", func(s *core.Snapshot) bool { return needs(s, "drain-blocked") != nil })
	a := needs(r.last, "drain-blocked")
	if v := progress.MachineOf(r.last, a.Node); v == nil || v.Drain == nil || v.Drain.Attempt > 5 {
		t.Errorf("it was told late: %+v", v)
	}
	if !strings.Contains(a.Reason, "budget prometheus-es-exporter keeps pod stacklight/prometheus-es-exporter-") || a.Label != "cmp-01" {
		t.Errorf("%s: %s", a.Label, a.Reason)
	}
	r.shows("drain blocked: budget prometheus-es-exporter keeps pod stacklight/")
	r.until("LCM and its plan say so, too", func(s *core.Snapshot) bool {
		return s.Management.LCM.Stuck && s.Management.Plan().Status == core.PlanStuck
	})
	for _, a := range attention.Of(r.last) {
		if a.Severity == core.SeverityUrgent && !strings.HasPrefix(a.ID, "drain-blocked/") {
			t.Errorf("there is another entry: %s: %s", a.ID, a.Reason)
		}
	}
}

// The management cluster can go, and come back; the rest goes on without it.
func TestTheManagementClusterMayBeAway(t *testing.T) {
	bubble.Story(t, managementAway)
}

func managementAway(t *testing.T) {
	r := watchStory(t, told(t, "smooth"), true)
	r.until("all is live", func(s *core.Snapshot) bool { return live(s, core.ServerManagement) && live(s, core.ServerKubernetes) })
	r.shows("● management")
	machines := len(r.last.Management.Machines)
	for _, kind := range []string{"refused", "403", "503"} {
		if err := r.Faults.On(fault.Setting{Server: fault.Management, Kind: kind}); err != nil {
			t.Fatal(err)
		}
		want := sight[kind]
		r.until(kind+" is told", func(s *core.Snapshot) bool { return troubled(s, core.ServerManagement, want.is) != nil })
		r.showsOneOf(worst(want.kinds, "management"))
		r.until("Kubernetes goes on", func(s *core.Snapshot) bool { return live(s, core.ServerKubernetes) })
		if n := len(r.last.Management.Machines); n != machines {
			t.Errorf("%s: of %d machines %d are left", kind, machines, n)
		}
		r.Faults.Clear()
		r.until("all is live again", func(s *core.Snapshot) bool { return live(s, core.ServerManagement) })
	}
}

// Without a management cluster its sources are off: the header says so in a word, and there is no entry about it.
func TestWithoutAManagementClusterNothingIsAmiss(t *testing.T) {
	bubble.Run(t, withoutManagement)
}

func withoutManagement(t *testing.T) {
	r := watchStory(t, told(t, "smooth"), false)
	r.until("the cluster is live", func(s *core.Snapshot) bool { return live(s, core.ServerKubernetes) && live(s, core.ServerOpenStack) })
	r.shows("management off")
	for _, id := range core.ManagementSources() {
		if src := r.last.Sources[id]; src.State != core.SourceOff {
			t.Errorf("%s is %s", id, src.State)
		}
	}
	if a := needs(r.last, "sources"); a != nil {
		t.Errorf("it needs somebody: %s", a.Reason)
	}
}

// Maintenance without an update, all of it by confirmed steps: the cluster and a machine enter maintenance mode and leave it in
// order, and a machine is rebooted. LCM does each time what was requested.
func TestMaintenanceWithoutAnUpdate(t *testing.T) {
	bubble.Story(t, maintenanceWithoutUpdate)
}

func maintenanceWithoutUpdate(t *testing.T) {
	r := watchStory(t, told(t, "smooth", func(s *scenario.Scenario) {
		s.Management.Plan.Colleague = 0 // nobody begins the update
	}), true)
	r.until("all is live", func(s *core.Snapshot) bool { return live(s, core.ServerManagement) })
	r.arm()
	confirm := func(i core.Intent) {
		t.Helper()
		r.until(string(i.Kind)+" can be done", func(s *core.Snapshot) bool { return step.Plan(s, i).Doable() })
		if p := r.s.Engine.Preview(t.Context(), i); p.DryRun == "" {
			t.Errorf("%s: there was no dry-run", i.Kind)
		}
		r.confirm(i)
	}
	node := ""
	for name, n := range r.last.Nodes {
		if n.Label() == "cmp-02" {
			node = name
		}
	}
	enter := core.Intent{Kind: core.IntentEnterMachine, Node: node}
	if step := step.Plan(r.last, enter); step.Doable() || !strings.Contains(step.Blocker(), "the cluster is in maintenance mode") {
		t.Errorf("the machine could go first: %q", step.Blocker())
	}
	confirm(core.Intent{Kind: core.IntentEnterCluster})
	r.until("the cluster is in maintenance mode", func(s *core.Snapshot) bool { return s.Management.Cluster.InMaintenance })
	r.shows("maintenance mode   no update runs")
	confirm(enter)
	r.until("the machine is in it, and its node is drained", func(s *core.Snapshot) bool {
		v := progress.MachineOf(s, node)
		return v.Machine.InMaintenance && s.Nodes[node].Cordoned && len(s.InstancesOn(node)) == 0
	})
	r.until("it is held there", func(s *core.Snapshot) bool {
		v, _ := progress.NodeView(s, node)
		return v.Stage == core.StageUpdating && v.What == "in maintenance mode"
	})
	if step := step.Plan(r.last, core.Intent{Kind: core.IntentLeaveCluster}); step.Doable() {
		t.Error("the cluster could leave before its machine")
	}
	confirm(core.Intent{Kind: core.IntentLeaveMachine, Node: node})
	r.until("the node is back", func(s *core.Snapshot) bool {
		return !progress.MachineOf(s, node).Machine.InMaintenance && !s.Nodes[node].Cordoned && s.NodeRequest(node) == nil
	})
	confirm(core.Intent{Kind: core.IntentLeaveCluster})
	r.until("the cluster is out of it", func(s *core.Snapshot) bool {
		return !s.Management.Cluster.InMaintenance && s.ClusterRequest() == nil
	})
	boot := r.last.Nodes[node].BootID
	confirm(core.Intent{Kind: core.IntentReboot, Nodes: []string{node}})
	r.until("LCM is at it", func(s *core.Snapshot) bool {
		p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureMaintenance})
		last := p.Steps[len(p.Steps)-1]
		return s.Management.Reboot != nil && last.State == core.StepWaiting && strings.HasPrefix(last.Status, "0 of 1 done; cmp-02: ")
	})
	r.until("it has been rebooted, and the request is gone", func(s *core.Snapshot) bool {
		return s.Management.Reboot == nil && s.Nodes[node].BootID != boot && s.Nodes[node].Ready == "True" && s.NodeRequest(node) == nil
	})
	if u := r.last.History.Update; u.UID != "" {
		t.Errorf("it was taken for an update: %+v", u)
	}
}

// A login that cannot be used is a state of its sources.
func TestAManagementContextThatIsNotThereIsTold(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Paused: true})
		st.place.Management = session.Management{Context: "nowhere"}
		s, err := st.place.open(t.Context(), st.place.log)
		if err != nil {
			t.Fatal(err)
		}
		src := sourceOf(t, s, core.SourceMachines)
		if src.State != core.SourceFailed || src.Err == nil || src.Err.Kind != core.ErrConfiguration ||
			src.Err.Server != core.ServerManagement || !strings.Contains(src.Err.Error(), "nowhere") {
			t.Errorf("%s: %v", src.State, src.Err)
		}
	})
}

// overheard notes what a session asks of all servers.
type overheard struct {
	http.RoundTripper
	mu    sync.Mutex
	asked []string // URLs
}

// RoundTrip implements http.RoundTripper.
func (o *overheard) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.asked = append(o.asked, r.URL.String())
	o.mu.Unlock()
	return o.RoundTripper.RoundTrip(r)
}

// times is how often something was asked whose URL has this in it.
func (o *overheard) times(text string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, url := range o.asked {
		if strings.Contains(url, text) {
			n++
		}
	}
	return n
}

// sourceOf runs a session until it knows what becomes of a source, and returns that.
func sourceOf(t *testing.T, s *session.Session, id core.SourceID) (src core.Source) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := inBackground(func() { s.Run(ctx) })
	until(t, "a source is live, or says why not", func() bool {
		src = s.Engine.Snapshot().Sources[id]
		return src.State != core.SourceConnecting
	})
	stop()
	<-done
	select {
	case text := <-s.Troubles:
		t.Error(text)
	default:
	}
	return src
}

// A rehearsal never reaches a management cluster that is real, and an operator's cluster none that is simulated, whatever the configuration
// names. Nor does a rehearsal run the command that calls people.
func TestARehearsalReachesNothingReal(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "auto-pause"), Paused: true})
		actual := unmarked(t, st.KubeconfigPath)
		simulated := st.KubeconfigPath
		for name, tt := range map[string]struct{ cluster, management, refused string }{
			"both simulated":              {simulated, simulated, ""},
			"both real":                   {actual, actual, ""},
			"a real management cluster":   {simulated, actual, "the cluster is simulated, and this is not"},
			"a management cluster of sim": {actual, simulated, "it is simulated, and the cluster is not"},
		} {
			p, asks := st.place, &overheard{RoundTripper: st.place.Line.Transport}
			p.Line.Transport = asks
			p.Kubeconfig, p.Management = tt.cluster, session.Management{Kubeconfig: tt.management, Context: sim.ManagementContext}
			s, err := p.open(t.Context(), p.log)
			if err != nil {
				t.Fatal(err)
			}
			src := sourceOf(t, s, core.SourceMachines)
			if asked := asks.times("/machines"); (asked > 0) != (tt.refused == "") {
				t.Errorf("%s: the management cluster was asked %d times", name, asked)
			}
			switch {
			case tt.refused == "" && src.State != core.SourceLive:
				t.Errorf("%s: machines are %s: %v", name, src.State, src.Err)
			case tt.refused != "" && (src.State != core.SourceFailed || !strings.Contains(src.Err.Error(), tt.refused)):
				t.Errorf("%s: machines are %s: %v", name, src.State, src.Err)
			}
			calls := notify{Command: []string{"curl"}}.callsBy(s)
			if (len(calls) == 0) != (tt.cluster == simulated) {
				t.Errorf("%s: calls are made by %q", name, calls)
			}
			if says := slices.ContainsFunc(s.Notices, func(n string) bool { return strings.Contains(n, "nothing here is real") }); says !=
				(tt.cluster == simulated && p.Clock == nil) {
				t.Errorf("%s: %q", name, s.Notices)
			}
		}
	})
}

// Flags override the configuration. A cluster that they name is not the configuration's cluster.
func TestWhichManagementClusterIsMeant(t *testing.T) {
	written := session.Management{Kubeconfig: "k", Context: "c", Namespace: "n", Cluster: "m"}
	for name, tt := range map[string]struct{ flags, want session.Management }{
		"no flags": {session.Management{}, written},
		"another project": {session.Management{Namespace: "p"},
			session.Management{Kubeconfig: "k", Context: "c", Namespace: "p", Cluster: "m"}},
		"another context":          {session.Management{Context: "d"}, session.Management{Context: "d"}},
		"another context, project": {session.Management{Context: "d", Namespace: "p"}, session.Management{Context: "d", Namespace: "p"}},
	} {
		if got := tt.flags.Or(written); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	if (session.Management{Namespace: "n"}).Configured() {
		t.Error("a project alone connects nothing")
	}
}
