package clock

import (
	"context"
	"time"
)

// The governor's measures, in real time.
const (
	governEvery = 20 * time.Millisecond // between two looks
	governNap   = 2 * time.Millisecond  // how long it sleeps to see how late it is woken
	governLate  = 12 * time.Millisecond // later than that, goroutines wait for a processor
	governLeast = 1.0 / 10              // of the speed: slower than that, nothing would move
)

// Govern slows the clock down while this machine cannot keep up, until ctx is done. Without it, virtual time would pass
// while the controllers wait for a processor, as if they had slept: a migration would be over before anyone looked at
// it, and an agent dead before it could report.
func (c *Clock) Govern(ctx context.Context) {
	defer c.setPace(1)
	pace := 1.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(governEvery):
		}
		asleep := time.Now()
		c.nap(governNap)
		next := min(pace*1.1, 1)
		if time.Since(asleep)-governNap > governLate {
			next = max(pace*0.8, governLeast)
		}
		if next != pace {
			pace = next
			c.setPace(pace)
		}
	}
}

// setPace sets the share of its speed at which the clock runs from now on.
func (c *Clock) setPace(pace float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebase(func() { c.pace = pace })
}
