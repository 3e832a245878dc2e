package cli

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"lockstep/kube"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A rehearsal in which the cloud's clock runs faster is told by that clock, in a process of its own too: only the kubeconfig knows of it.
func TestACommandFollowsTheClockOfASimulatedCloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Timing: brief, Speed: 60})
		time.Sleep(10 * time.Minute) // ten hours there
		p := placeOn(t, c)
		p.clock = nil
		code, out, errs := runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
		var s Status
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(code, err, errs)
		}
		if off := c.Clock.Now().Sub(s.AsOf); off.Abs() > 10*time.Minute { // ten seconds here
			t.Errorf("it is %s there, and the status is of %s", c.Clock.Now(), s.AsOf)
		}
	})
}

// At the machine's own speed nothing is asked for a clock.
func TestACloudInRealTimeHasNoClockOfItsOwn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Timing: brief, Paused: true})
		client, err := kube.Load(kube.Options{Kubeconfig: c.KubeconfigPath, Transport: c.Transport("lockstep")})
		if err != nil {
			t.Fatal(err)
		}
		if client.OwnClock {
			t.Error("its kubeconfig tells of a clock")
		}
	})
}

// Between two looks the clock goes on at the rate of the last one, also while the server is silent, and it never goes back when a look
// shows that it went too fast.
func TestASimulatedClockGoesOnAndNeverBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		there := time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)
		says, silent := kube.ClockReading{Now: there, Rate: 60, Speed: 60}, error(nil)
		c := &simulatedClock{read: func(context.Context) (kube.ClockReading, error) { return says, silent }}
		if err := c.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(time.Minute)) {
			t.Errorf("a second later it is %s", got)
		}
		silent = errors.New("connection refused")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.run(ctx) }()
		time.Sleep(4 * time.Second)
		if got := c.Now(); !got.Equal(there.Add(5 * time.Minute)) {
			t.Errorf("while the server is silent it is %s", got)
		}
		says, silent = kube.ClockReading{Now: there.Add(4 * time.Minute), Rate: 0, Speed: 0}, nil
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(5*time.Minute+30*time.Second)) && !got.Equal(there.Add(5*time.Minute)) {
			t.Errorf("after a look that is behind, it is %s", got)
		}
		stop()
		<-done
	})
}
