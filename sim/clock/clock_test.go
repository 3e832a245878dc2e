package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var start = time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)

func TestPausedClockStandsUntilItIsAdvanced(t *testing.T) {
	c := New(start, 60)
	c.Pause()
	at := c.Now()
	if !c.Now().Equal(at) || c.Speed() != 0 {
		t.Fatalf("a paused clock went from %v to %v", at, c.Now())
	}
	c.Advance(time.Hour)
	if got := c.Now(); !got.Equal(at.Add(time.Hour)) {
		t.Fatalf("an hour later it is %v", got.Sub(at))
	}
	c.Resume()
	if c.Speed() != 60 {
		t.Errorf("it runs on at %v", c.Speed())
	}
}

func TestSleepersWakeInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(start, 1)
		c.Pause()
		var err error
		woke := make(chan time.Time, 1)
		go func() {
			err = c.Sleep(t.Context(), time.Hour)
			woke <- c.Now()
		}()
		synctest.Wait()
		c.Advance(59 * time.Minute)
		synctest.Wait()
		if len(woke) > 0 {
			t.Fatalf("it woke at %v", (<-woke).Sub(start))
		}
		c.Advance(time.Minute)
		synctest.Wait()
		if len(woke) == 0 {
			t.Fatal("it still sleeps")
		}
		if at := <-woke; err != nil || !at.Equal(start.Add(time.Hour)) {
			t.Errorf("it woke at %v, %v", at.Sub(start), err)
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	c := New(start, 1)
	c.Pause()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestNoSpeedIsRealTime(t *testing.T) {
	for _, speed := range []float64{0, -1} {
		if got := New(start, speed).Speed(); got != 1 {
			t.Errorf("New with %v runs at %v", speed, got)
		}
	}
}
