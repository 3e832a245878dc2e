package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/scenario"
)

// storyRig is the program, without its screen, at work on a scenario that plays.
type storyRig struct {
	*sim.Cloud
	t *testing.T
	s *session
}

func playStory(t *testing.T, name string, speed float64) *storyRig {
	t.Helper()
	t.Parallel()
	speed /= slower
	told, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := sim.Start(context.WithoutCancel(t.Context()), sim.Options{Scenario: told, Speed: speed, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := open(t.Context(), place{options: ownOptions(t, cloud), name: "mos", clock: cloud.Clock.Now, pace: speed, journal: t.TempDir(),
		cloudsYAML: ownClouds(t, cloud)}, ownLog(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return &storyRig{Cloud: cloud, t: t, s: s}
}

// until waits for what is so of a Snapshot.
func (r *storyRig) until(what string, so func(*core.Snapshot) bool) *core.Snapshot {
	r.t.Helper()
	snaps, stop := r.s.engine.Subscribe()
	defer stop()
	deadline := time.After(2 * patience)
	for {
		select {
		case s := <-snaps:
			if so(s) {
				return s
			}
		case <-deadline:
			s := r.s.engine.Snapshot()
			p, _ := s.Procedure(core.ProcedureKey{Kind: core.ProcedureAfter})
			for _, st := range p.Steps {
				r.t.Logf("%s %s: %s %s", st.State, st.Title, st.Status, st.Blocker())
			}
			r.t.Fatalf("it did not come to be that %s; the operations are %+v; the sources are\n%s", what, s.Operations, sourceTexts(s))
		}
	}
}

// confirm grants a step as soon as it can be done, has it done, and returns how it ended.
func (r *storyRig) confirm(i core.Intent) core.Operation {
	r.t.Helper()
	var id string
	r.until(fmt.Sprintf("%s can be done", i.Kind), func(s *core.Snapshot) bool {
		step := core.Plan(s, i)
		if !step.Doable() {
			return false
		}
		if p := r.s.engine.Preview(r.t.Context(), i); p.Err != nil {
			r.t.Logf("dry-run of %s: %v", i.Kind, p.Err)
			return false
		}
		g, err := r.s.engine.Grant(step, step.Type)
		if err != nil {
			return false
		}
		id, err = r.s.engine.Execute(r.t.Context(), g)
		return err == nil
	})
	var ended core.Operation
	r.until(fmt.Sprintf("%s has ended", i.Kind), func(s *core.Snapshot) bool {
		at := slices.IndexFunc(s.Operations, func(op core.Operation) bool { return op.ID == id })
		if at < 0 {
			return false
		}
		ended = s.Operations[at]
		return ended.State.Ended() || ended.State == core.OperationPaused
	})
	return ended
}

func (r *storyRig) arm() {
	r.t.Helper()
	if err := r.s.engine.Arm(r.t.Context(), false); err != nil {
		r.t.Fatal(err)
	}
}

// downAtOnce counts, by the API server's own events, on how many nodes a DaemonSet has no ready pod at once at most; stop
// ends the count.
func (r *storyRig) downAtOnce(namespace, name string) (stop func() (most, replaced int)) {
	r.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", r.KubeconfigPath)
	if err != nil {
		r.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		r.t.Fatal(err)
	}
	selector := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + name}
	list, err := client.CoreV1().Pods(namespace).List(r.t.Context(), selector)
	if err != nil {
		r.t.Fatal(err)
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
	events, err := client.CoreV1().Pods(namespace).Watch(context.WithoutCancel(r.t.Context()), selector)
	if err != nil {
		r.t.Fatal(err)
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

// The update is over and the vRouters are still the old ones: Lockstep says so, restarts them in one batch, and never are
// two of them down at once. Then nothing is left.
func TestOldVRoutersAreRestartedOnASimulatedCloud(t *testing.T) {
	r := playStory(t, "tf-vrouters", 600)
	r.until("old vRouters need somebody", func(s *core.Snapshot) bool {
		left, over := s.AfterUpdateLeft()
		return over && left == 1 && slices.ContainsFunc(s.Attention(), func(a core.Attention) bool {
			return a.ID == "after-update" && a.Reason == "pods run an older revision until you restart them: tf-vrouter-agent (2 of 2)"
		})
	})
	r.arm()
	count := r.downAtOnce("tf", "tf-vrouter-agent")
	op := r.confirm(core.Intent{Kind: core.IntentRestartPods, Workload: "tf/tf-vrouter-agent"})
	most, replaced := count()
	if op.State != core.OperationDone || len(op.Items) != 2 {
		t.Errorf("%s: %s; %+v", op.State, op.Text, op.Items)
	}
	if most != 1 || replaced != 2 {
		t.Errorf("%d vRouters were down at once, and %d were replaced; want 1 and 2", most, replaced)
	}
	r.until("nothing is left", func(s *core.Snapshot) bool {
		left, over := s.AfterUpdateLeft()
		return over && left == 0
	})
}

// The agents of a node that is back do not report: the OpenStack controller's text offers the restart of their pods, and
// that lets the node return.
func TestSilentAgentsAreRestartedOnASimulatedCloud(t *testing.T) {
	r := playStory(t, "agents-dead", 600)
	var node string
	r.until("the restart of the agents is offered", func(s *core.Snapshot) bool {
		for _, v := range s.NodeViews() {
			p, _ := s.Procedure(core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name})
			if slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentRestartAgents }) {
				node = v.Name
				return true
			}
		}
		return false
	})
	r.arm()
	if op := r.confirm(core.Intent{Kind: core.IntentRestartAgents, Node: node}); op.State != core.OperationDone {
		t.Errorf("%s: %s; %+v", op.State, op.Text, op.Items)
	}
	r.until("the node is through", func(s *core.Snapshot) bool {
		v, _ := s.NodeView(node)
		return v.Request == nil
	})
}

// The nova-compute of a node that is back does not report: the OpenStack controller's text offers the restart of its pod, and
// that lets the node return.
func TestASilentComputeIsRestartedOnASimulatedCloud(t *testing.T) {
	r := playStory(t, "compute-silent", 600)
	var restart core.Step
	r.until("the restart of nova-compute is offered", func(s *core.Snapshot) bool {
		for _, v := range s.NodeViews() {
			p, _ := s.Procedure(core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name})
			if i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentRestartAgent }); i >= 0 {
				restart = p.Steps[i]
				return true
			}
		}
		return false
	})
	r.arm()
	if op := r.confirm(restart.Intent); op.State != core.OperationDone {
		t.Errorf("%s: %s", op.State, op.Text)
	}
	r.until("the node is through, and in scheduling", func(s *core.Snapshot) bool {
		v, _ := s.NodeView(restart.Node)
		return v.Request == nil && v.Service != nil && v.Service.Up && v.Service.Enabled
	})
}

// Tempest is asked for, runs and fails; removed and asked for again, it passes once what was broken is mended; then it is
// removed.
func TestTempestRunsOnASimulatedCloud(t *testing.T) {
	r := playStory(t, "tempest-fails", 1200)
	run := func(want core.StepState) {
		t.Helper()
		r.until("the run of Tempest is "+string(want), func(s *core.Snapshot) bool {
			p, _ := s.Procedure(core.ProcedureKey{Kind: core.ProcedureAfter})
			return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/tempest-run" && st.State == want })
		})
	}
	r.until("the update is over", func(s *core.Snapshot) bool {
		_, over := s.AfterUpdateLeft()
		return over
	})
	r.arm()
	for _, want := range []core.StepState{core.StepFailed, core.StepDone} {
		if want == core.StepDone {
			mended := r.Cloud.Clock.Now().Add(3 * time.Hour)
			r.until("what was broken is mended", func(*core.Snapshot) bool { return r.Cloud.Clock.Now().After(mended) })
		}
		if op := r.confirm(core.Intent{Kind: core.IntentAddTempest}); op.State != core.OperationDone {
			t.Fatalf("%s: %s", op.State, op.Text)
		}
		run(want)
		if op := r.confirm(core.Intent{Kind: core.IntentRemoveTempest}); op.State != core.OperationDone {
			t.Fatalf("%s: %s", op.State, op.Text)
		}
		run(core.StepLater)
	}
}
