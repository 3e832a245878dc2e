package clock

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// A governed clock runs slower while every processor is busy, never faster than its speed, never backwards, and at its
// own speed again when the governor ends.
func TestGovernedClockWaitsForTheMachine(t *testing.T) {
	c := New(start, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Govern(ctx)
	}()
	pace := func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.pace
	}

	busy, rest := context.WithCancel(t.Context())
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for busy.Err() == nil {
				for i := range 1 << 16 {
					_ = i
				}
			}
		}()
	}
	before := c.Now()
	for pace() > 0.5 { // the test ends at its deadline if this never happens
		now := c.Now()
		if now.Before(before) {
			t.Fatalf("from %v back to %v", before, now)
		}
		before = now
		runtime.Gosched()
	}
	if got := c.Speed(); got != 1000 {
		t.Errorf("its speed is %v", got)
	}
	rest()
	cancel()
	<-done
	if got := pace(); got != 1 {
		t.Errorf("without a governor it runs at %v of its speed", got)
	}
	wake, over := context.WithTimeout(t.Context(), time.Minute)
	defer over()
	if err := c.Sleep(wake, time.Minute); err != nil {
		t.Error(err)
	}
}
