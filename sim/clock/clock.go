// Package clock is the virtual clock of the simulated cloud: every controller, every timestamp and every age in sim comes from one
// Clock, which may run faster than the wall's.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock shows virtual time: an origin that moves at Speed virtual seconds per real second. The zero value is not
// usable; call New. A Clock is safe for use by several goroutines.
type Clock struct {
	mu      sync.Mutex
	origin  time.Time // virtual time at base
	base    time.Time // real time (with its monotonic reading) at which the virtual time was origin
	speed   float64   // virtual seconds per real second; 0 while paused
	pace    float64   // the share of speed at which it runs; 1 unless Govern slows it down
	resume  float64   // the speed to return to after Pause
	changed chan struct{}
	nap     func(time.Duration) // how Govern sleeps to see how late it is woken
}

// New returns a Clock that shows start now and runs at speed virtual seconds per real second. A speed that is not
// positive counts as 1.
func New(start time.Time, speed float64) *Clock {
	if speed <= 0 {
		speed = 1
	}
	return &Clock{origin: start, base: time.Now(), speed: speed, pace: 1, resume: speed, changed: make(chan struct{}), nap: time.Sleep}
}

// Now is the virtual time, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	return c.origin.Add(time.Duration(float64(time.Since(c.base)) * c.speed * c.pace)).UTC()
}

// rebase applies a change from now on; earlier time is unaffected. The caller holds mu.
func (c *Clock) rebase(change func()) {
	c.origin, c.base = c.now(), time.Now()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Reading is the virtual time, how many virtual seconds pass in a real one right now, and Speed, of which Govern may take something.
func (c *Clock) Reading() (now time.Time, rate, speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(), c.speed * c.pace, c.speed
}

// Speed is the number of virtual seconds per real second; 0 while the clock is paused.
func (c *Clock) Speed() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speed
}

// SetSpeed changes the speed from now on; sleepers still wake at their virtual time. A speed that is not positive
// pauses the clock.
func (c *Clock) SetSpeed(speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebase(func() {
		if c.speed = max(speed, 0); c.speed > 0 {
			c.resume = c.speed
		}
	})
}

// Pause stops the clock; Resume continues at the previous speed.
func (c *Clock) Pause() { c.SetSpeed(0) }

// Resume continues a paused clock.
func (c *Clock) Resume() {
	c.mu.Lock()
	speed := c.resume
	c.mu.Unlock()
	c.SetSpeed(speed)
}

// Advance moves the clock forward by d at once; sleepers whose time has come wake.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebase(func() { c.origin = c.origin.Add(d) })
}

// Sleep waits until d of virtual time has passed, or ctx is done and then returns ctx's error.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	return c.SleepUntil(ctx, c.Now().Add(d))
}

// SleepUntil waits until the virtual time t, or until ctx is done and then returns ctx's error.
func (c *Clock) SleepUntil(ctx context.Context, t time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.mu.Lock()
		left, speed, changed := t.Sub(c.now()), c.speed*c.pace, c.changed
		c.mu.Unlock()
		if left <= 0 {
			return nil
		}
		var due <-chan time.Time
		var timer *time.Timer
		if speed > 0 {
			timer = time.NewTimer(time.Duration(float64(left)/speed) + time.Microsecond)
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-due:
		case <-changed:
		}
		if timer != nil {
			timer.Stop()
		}
	}
}
