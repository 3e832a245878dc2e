package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"lockstep/cli/session"
	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/controller"
	"lockstep/sim/lan"
	"lockstep/sim/scenario"
)

// started returns a simulated cloud that ends with the test. The test is in a bubble: the cloud's network is in memory, and its
// clock begins with the bubble's.
func started(t *testing.T, o sim.Options) *sim.Cloud {
	t.Helper()
	o.Network, o.Start, o.Dir = lan.New(1), time.Now(), t.TempDir()
	c, err := sim.Start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	chronicle := c.Follow()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(chronicle)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// told returns a scenario of the catalogue, with a test's changes.
func told(t *testing.T, name string, change ...func(*scenario.Scenario)) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// placeOn returns the options with which a session, or a command, works with a simulated cloud. Nothing in it comes from the machine's
// own configuration, or from chance.
func placeOn(t *testing.T, c *sim.Cloud) options {
	t.Helper()
	return options{log: ownLog(t), Place: session.Place{Name: "mos", Clock: c.Clock.Now, Journal: t.TempDir(), CloudsYAML: ownClouds(t, c),
		Line: session.Line{Transport: c.Transport("lockstep"), Jitter: func(_ string, most time.Duration) time.Duration { return most / 2 }}}}
}

// runIn is one call of the program, in a bubble and without a terminal.
func runIn(t *testing.T, p options, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	code = execute(t.Context(), p, args, stdin, &o, &e)
	return code, o.String(), e.String()
}

// runOn is one call of the program on a simulated cloud.
func runOn(t *testing.T, c *sim.Cloud, args ...string) (code int, out, errs string) {
	t.Helper()
	return runIn(t, placeOn(t, c), append(args, "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)...)
}

// brief are short times for controllers in tests that are not about their work.
var brief = controller.Timing{
	RockoonRollout: 20 * time.Second, ServiceUpdate: 5 * time.Second, CephUpdate: time.Minute, Tempest: 10 * time.Minute,
	Update: 20 * time.Second, Finalize: 20 * time.Second,
	Reboot: time.Minute, // longer than a node is taken for Ready without its kubelet
}

// paced is brief with a minute for each of LCM's phases on a node, for tests that look at a node in them.
var paced = func() controller.Timing {
	t := brief
	t.Update, t.Finalize = time.Minute, time.Minute
	return t
}()

// quickly is how much faster than Lockstep the clouds of most stories live, as if Lockstep asked four times as rarely and was answered
// four times as late. In such a story time.Now, time.Sleep and until are Lockstep's time; st.Clock and all that is told are the cloud's.
// The random histories, the faults, and what is counted live at Lockstep's own speed.
const quickly = 4

// longest is how long a story waits for something, in its own time.
const longest = 4 * time.Hour

// until waits for a condition on a simulated cloud, and checks it once a second of its time.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Second) {
		if time.Since(began) > longest {
			t.Fatalf("it did not come to be that %s", what)
		}
	}
}

// story is Lockstep, without its screen, on a simulated cloud whose controllers live.
type story struct {
	*sim.Cloud
	t     *testing.T
	place options
	s     *session.Session
	snaps <-chan *core.Snapshot
	stop  func()
	last  *core.Snapshot
	runs  int // sessions so far
}

// newStory starts a cloud, for a session in which Lockstep plays the named controllers.
func newStory(t *testing.T, o sim.Options, actAs ...string) *story {
	t.Helper()
	st := &story{Cloud: started(t, o), t: t}
	st.place = placeOn(t, st.Cloud)
	configured(t, &st.place, st.Cloud, actAs...)
	return st
}

// begin opens a session and lets it run until stop, or the end of the test.
func (st *story) begin() {
	st.t.Helper()
	st.runs++
	st.place.Line.Holder = fmt.Sprintf("run %d", st.runs) // a new session finds the lease given back by the previous one
	ctx, cancel := context.WithCancel(context.WithoutCancel(st.t.Context()))
	s, err := st.place.open(ctx, st.place.log)
	if err != nil {
		st.t.Fatal(err)
	}
	snaps, unsubscribe := s.Engine.Subscribe()
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	st.s, st.snaps, st.stop = s, snaps, sync.OnceFunc(func() { unsubscribe(); cancel(); running.Wait() })
	st.t.Cleanup(st.stop)
}

// until waits for a condition on the Snapshot.
func (st *story) until(what string, so func(*core.Snapshot) bool) *core.Snapshot {
	st.t.Helper()
	deadline := time.NewTimer(longest)
	defer deadline.Stop()
	for {
		select {
		case st.last = <-st.snaps:
			if so(st.last) {
				return st.last
			}
		case <-deadline.C:
			st.t.Fatalf("it did not come to be that %s; the operations are %+v; the sources are\n%s", what, st.last.Operations,
				sessiontest.SourceTexts(st.last))
		}
	}
}

// arm arms writing, once the sources have answered.
func (st *story) arm() {
	st.t.Helper()
	st.until("everything is live", sessiontest.AllKnown)
	if err := st.s.Engine.Arm(st.t.Context(), ""); err != nil {
		st.t.Fatal(err)
	}
	st.until("writing is armed", func(s *core.Snapshot) bool { return s.Write.Armed })
}

// execute confirms a step and returns its operation when it has ended, or paused.
func (st *story) execute(step core.Step) core.Operation {
	st.t.Helper()
	g, err := st.s.Engine.Grant(step, step.Type)
	if err != nil {
		st.t.Fatalf("%s: %v", step.Title, err)
	}
	id, err := st.s.Engine.Execute(st.t.Context(), g)
	if err != nil {
		st.t.Fatalf("%s: %v", step.Title, err)
	}
	var op core.Operation
	st.until(step.Title+" ends", func(s *core.Snapshot) bool {
		i := slices.IndexFunc(s.Operations, func(o core.Operation) bool { return o.ID == id })
		if i < 0 {
			return false
		}
		op = s.Operations[i]
		return op.State.Ended() || op.State == core.OperationPaused
	})
	return op
}

// confirm executes an intent's step as soon as it can be done, with the dry-run that an operator sees before it.
func (st *story) confirm(i core.Intent) core.Operation {
	st.t.Helper()
	var stp core.Step
	st.until(string(i.Kind)+" can be done", func(s *core.Snapshot) bool {
		stp = step.Plan(s, i)
		return stp.Doable()
	})
	if p := st.s.Engine.Preview(st.t.Context(), i); p.Err != nil {
		st.t.Fatalf("the dry-run of %s: %v", stp.Title, p.Err)
	}
	op := st.execute(stp)
	if op.State != core.OperationDone {
		st.t.Fatalf("%s ended as %s: %s; %+v", stp.Title, op.State, op.Text, op.Items)
	}
	return op
}

// kubernetesOf returns a client of a cloud's Kubernetes with all rights.
func kubernetesOf(t *testing.T, c *sim.Cloud) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return client
}
