package cli

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// playStory begins a scenario whose controllers live.
func playStory(t *testing.T, told *scenario.Scenario) *story {
	t.Helper()
	st := newStory(t, sim.Options{Scenario: told, Timing: brief, Speed: quickly})
	st.begin()
	return st
}

// downAtOnce counts, by the API server's own events, on how many nodes at most a DaemonSet has no ready pod at once; stop ends
// the count.
func (st *story) downAtOnce(namespace, name string) (stop func() (most, replaced int)) {
	st.t.Helper()
	client := kubernetesOf(st.t, st.Cloud)
	selector := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + name}
	list, err := client.CoreV1().Pods(namespace).List(st.t.Context(), selector)
	if err != nil {
		st.t.Fatal(err)
	}
	ready := func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	up := map[string]string{} // node → the pod that serves it
	for i := range list.Items {
		up[list.Items[i].Spec.NodeName] = ""
		if p := &list.Items[i]; ready(p) {
			up[p.Spec.NodeName] = p.Name
		}
	}
	selector.ResourceVersion = list.ResourceVersion
	events, err := client.CoreV1().Pods(namespace).Watch(context.WithoutCancel(st.t.Context()), selector)
	if err != nil {
		st.t.Fatal(err)
	}
	most, replaced := 0, 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			switch {
			case ready(p) && up[p.Spec.NodeName] != p.Name:
				up[p.Spec.NodeName] = p.Name
				replaced++
			case !ready(p) && up[p.Spec.NodeName] == p.Name:
				up[p.Spec.NodeName] = ""
			}
			down := 0
			for _, name := range up {
				if name == "" {
					down++
				}
			}
			most = max(most, down)
		}
	}()
	return func() (int, int) {
		events.Stop()
		<-done
		return most, replaced
	}
}

// The update is over and the vRouters are still the old ones. Lockstep says so and restarts them in one batch, never two at once.
// Then nothing is left.
func TestOldVRoutersAreRestartedOnASimulatedCloud(t *testing.T) {
	bubble.Story(t, oldVRouters)
}

func oldVRouters(t *testing.T) {
	r := playStory(t, told(t, "tf-vrouters"))
	r.until("old vRouters need somebody", func(s *core.Snapshot) bool {
		left, over := procedure.AfterUpdateLeft(s)
		return over && left == 1 && slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
			return a.ID == "after-update" && a.Reason == "pods run an older revision until you restart them: tf-vrouter-agent (2 of 2)"
		})
	})
	r.arm()
	count := r.downAtOnce("tf", "tf-vrouter-agent")
	op := r.confirm(core.Intent{Kind: core.IntentRestartPods, Workload: "tf/tf-vrouter-agent"})
	most, replaced := count()
	if len(op.Items) != 2 {
		t.Errorf("restarted were %+v", op.Items)
	}
	if most != 1 || replaced != 2 {
		t.Errorf("%d vRouters were down at once, and %d were replaced; want 1 and 2", most, replaced)
	}
	r.until("nothing is left", func(s *core.Snapshot) bool {
		left, over := procedure.AfterUpdateLeft(s)
		return over && left == 0
	})
}

// The agents of a node that is back do not report. The OpenStack controller's text offers the restart of their pods, which lets
// the node return.
func TestSilentAgentsAreRestartedOnASimulatedCloud(t *testing.T) {
	bubble.Story(t, silentAgents)
}

func silentAgents(t *testing.T) {
	r := playStory(t, told(t, "agents-dead"))
	var node string
	r.until("the restart of the agents is offered", func(s *core.Snapshot) bool {
		for _, v := range progress.NodeViews(s) {
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name})
			if slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentRestartAgents }) {
				node = v.Name
				return true
			}
		}
		return false
	})
	r.arm()
	r.confirm(core.Intent{Kind: core.IntentRestartAgents, Node: node})
	r.until("the node is through", func(s *core.Snapshot) bool {
		v, _ := progress.NodeView(s, node)
		return v.Request == nil
	})
}

// The nova-compute of a node that is back does not report. The OpenStack controller's text offers the restart of its pod, which
// lets the node return.
func TestASilentComputeIsRestartedOnASimulatedCloud(t *testing.T) {
	bubble.Story(t, silentCompute)
}

func silentCompute(t *testing.T) {
	r := playStory(t, told(t, "compute-silent"))
	var restart core.Step
	r.until("the restart of nova-compute is offered", func(s *core.Snapshot) bool {
		for _, v := range progress.NodeViews(s) {
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name})
			if i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentRestartAgent }); i >= 0 {
				restart = p.Steps[i]
				return true
			}
		}
		return false
	})
	r.arm()
	r.confirm(restart.Intent)
	r.until("the node is through, and in scheduling", func(s *core.Snapshot) bool {
		v, _ := progress.NodeView(s, restart.Node)
		return v.Request == nil && v.Service != nil && v.Service.Up && v.Service.Enabled
	})
}

// A node was taken back while neither its nova-compute nor its network agents report: the controller of Rockoon 1.2 does not wait for
// them. It is told while LCM goes on with the next node, and its page restarts both.
func TestWhatWasTakenBackSilentIsToldAndMended(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		r := playStory(t, told(t, "back-but-silent"))
		var entry *core.Attention
		silent := func(s *core.Snapshot) bool {
			entry = needs(s, string(core.RuleReturnedDown))
			return entry != nil
		}
		r.until("it is told", silent)
		if entry.Severity != core.SeverityUrgent || !strings.Contains(entry.Reason, "nova-compute and network agents down: ") ||
			r.last.NodeRequest(entry.Node) != nil {
			t.Errorf("told is %+v", entry)
		}
		r.until("LCM goes on", func(s *core.Snapshot) bool { return len(s.NodeRequests) > 0 })
		r.arm()
		for _, kind := range []core.IntentKind{core.IntentRestartAgent, core.IntentRestartAgents} {
			p, _ := procedure.Of(r.last, core.ProcedureKey{Kind: core.ProcedureNode, Subject: entry.Node})
			i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == kind })
			if i < 0 {
				t.Fatalf("no step of its page is %s: %+v", kind, p.Steps)
			}
			r.confirm(p.Steps[i].Intent)
		}
		r.until("it reports", func(s *core.Snapshot) bool { return !silent(s) })
	})
}

// Tempest is requested, runs and fails. Removed and requested again, it passes once the fault is repaired; then it is removed.
func TestTempestRunsOnASimulatedCloud(t *testing.T) {
	bubble.Story(t, tempestRuns)
}

func tempestRuns(t *testing.T) {
	r := playStory(t, told(t, "tempest-fails", func(s *scenario.Scenario) {
		s.Troubles[0].For = scenario.Duration(30 * time.Minute)
	}))
	mended := r.Clock.Now().Add(30 * time.Minute)
	run := func(want core.StepState) {
		t.Helper()
		r.until("the run of Tempest is "+string(want), func(s *core.Snapshot) bool {
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureAfter})
			return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/tempest-run" && st.State == want })
		})
	}
	r.until("the update is over", func(s *core.Snapshot) bool {
		_, over := procedure.AfterUpdateLeft(s)
		return over
	})
	r.arm()
	for _, want := range []core.StepState{core.StepFailed, core.StepDone} {
		if want == core.StepDone {
			time.Sleep(mended.Sub(r.Clock.Now()) / quickly) // until the fault is repaired
		}
		r.confirm(core.Intent{Kind: core.IntentAddTempest})
		run(want)
		r.confirm(core.Intent{Kind: core.IntentRemoveTempest})
		run(core.StepLater)
	}
}
