package kube

import (
	"testing"
	"time"
	"unsafe"

	"lockstep/core"
)

// asleep is a time as time.Now returns it on a machine that was suspended for that long: the wall clock has gone on, the monotonic
// one has not.
func asleep(t time.Time, slept time.Duration) time.Time {
	const shift = 30 // above the nanoseconds, in the first word of a Time that has a monotonic reading
	*(*uint64)(unsafe.Pointer(&t)) += uint64(slept/time.Second) << shift
	return t
}

// A watch from before a suspend is opened again when the machine is awake, although the machine slept through its silence.
func TestAWatchIsNotReliedOnAfterASuspend(t *testing.T) {
	for slept, want := range map[time.Duration]bool{0: false, 2 * time.Hour: true} {
		s := newStream(watched[0], 0, nil, newOutbox(func(core.Delta) {}), WatchOptions{}.withDefaults())
		closed := false
		s.state, s.heard, s.cancel = core.SourceLive, time.Now(), func() { closed = true }
		s.checkSilence(asleep(s.heard.Add(time.Second), slept))
		if closed != want {
			t.Errorf("after %s of sleep, closed: %v", slept, closed)
		}
	}
}

// A lease that was not renewed for too long, awake or asleep, is not held.
func TestALeaseIsNotHeldAfterASuspend(t *testing.T) {
	before := time.Now()
	if d := elapsed(asleep(before, time.Minute), before); d != time.Minute {
		t.Errorf("a minute of sleep is %s", d)
	}
	if d := elapsed(asleep(before.Add(time.Minute), -time.Hour), before); d != time.Minute {
		t.Errorf("with a clock that was set back, a minute is %s", d)
	}
}
