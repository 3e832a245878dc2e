package session

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lockstep/kube"
	"lockstep/sim/bubble"
)

// Between two looks the clock goes on at the rate of the last one, also while the server is silent, and it never goes back when a look
// shows that it went too fast.
func TestASimulatedClockGoesOnAndNeverBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		there := time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)
		var server struct {
			sync.Mutex
			says kube.ClockReading
			err  error
		}
		answers := func(says kube.ClockReading, err error) {
			server.Lock()
			defer server.Unlock()
			server.says, server.err = says, err
		}
		c := &SimulatedClock{read: func(context.Context) (kube.ClockReading, error) {
			server.Lock()
			defer server.Unlock()
			return server.says, server.err
		}}
		answers(kube.ClockReading{Now: there, Rate: 60, Speed: 60}, nil)
		if err := c.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(time.Minute)) {
			t.Errorf("a second later it is %s", got)
		}
		answers(kube.ClockReading{}, errors.New("connection refused"))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.Run(ctx) }()
		time.Sleep(4*time.Second + clockEvery/2) // between two looks
		silent := there.Add(5*time.Minute + 15*time.Second)
		if got := c.Now(); !got.Equal(silent) {
			t.Errorf("while the server is silent it is %s", got)
		}
		answers(kube.ClockReading{Now: there.Add(4 * time.Minute), Rate: 0, Speed: 0}, nil)
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(silent) {
			t.Errorf("after a look that is behind, it is %s", got)
		}
		answers(kube.ClockReading{Now: there.Add(6 * time.Minute), Rate: 60, Speed: 60}, nil)
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(6*time.Minute + 15*time.Second)) { // the last look was a quarter of a second ago
			t.Errorf("after a look that is ahead, it is %s", got)
		}
		stop()
		<-done
	})
}
