package clock

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A governed clock runs slower while its governor is woken late, as when every processor is busy: never faster than its speed, never
// backwards, and at its own speed again when it is woken in time, or when the governor ends.
func TestGovernedClockWaitsForTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(start, 1000)
		var late atomic.Int64
		c.nap = func(d time.Duration) { time.Sleep(d + time.Duration(late.Load())) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Govern(ctx)
		}()
		before := c.Now()
		// rounds lets the governor look so many times, and returns the pace after the last one.
		rounds := func(n int) (pace float64) {
			t.Helper()
			for range n {
				time.Sleep(governEvery + governNap + time.Duration(late.Load()))
				synctest.Wait()
				now, rate, speed := c.Reading()
				if now.Before(before) {
					t.Fatalf("from %v back to %v", before, now)
				}
				if speed != 1000 || rate > speed {
					t.Fatalf("its speed is %v, and it runs at %v", speed, rate)
				}
				before, pace = now, rate/speed
			}
			return pace
		}
		want := func(pace, want float64) {
			t.Helper()
			if math.Abs(pace-want) > 1e-9 {
				t.Errorf("it runs at %v of its speed, want %v", pace, want)
			}
		}
		want(rounds(3), 1)
		late.Store(int64(20 * time.Millisecond))
		want(rounds(1), 0.8)
		want(rounds(3), 0.8*0.8*0.8*0.8)
		want(rounds(30), governLeast)
		late.Store(int64(governLate)) // which is not late yet
		want(rounds(1), governLeast*1.1)
		late.Store(0)
		want(rounds(1), governLeast*1.1*1.1)
		want(rounds(50), 1)

		late.Store(int64(20 * time.Millisecond))
		want(rounds(5), 0.8*0.8*0.8*0.8*0.8)
		cancel()
		<-done
		if _, rate, speed := c.Reading(); rate != 1000 || speed != 1000 {
			t.Errorf("without a governor it runs at %v of %v", rate, speed)
		}
		began := time.Now()
		if err := c.Sleep(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took.Round(time.Millisecond) != 60*time.Millisecond {
			t.Errorf("a minute took %v", took)
		}
	})
}
