package engine

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// A node that goes through its whole maintenance while nothing of the cluster can be seen was let go all the same: the journal
// records it as found, not seen.
func TestALockThatPassedUnseenIsToldInTheJournal(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*core.WorkloadLock)
		want   []string
	}{
		"it is at another release": {func(l *core.WorkloadLock) { l.Release = "21.1.0+26.1" },
			[]string{"active → inactive", "inactive → active"}},
		"it is at the same release":  {func(*core.WorkloadLock) {}, nil},
		"its release was never told": {func(l *core.WorkloadLock) { l.Release = "" }, nil},
		"it is seen to be let go":    {func(l *core.WorkloadLock) { l.RawState = core.LockInactive }, []string{"active → inactive seen"}},
		"let go, and at another there": {func(l *core.WorkloadLock) { l.RawState, l.Release = core.LockInactive, "21.1.0+26.1" },
			[]string{"active → inactive seen"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				for _, l := range c.locks {
					l.Release = "21.0.0+25.2"
				}
				b := newBench(t, t.TempDir(), c)
				t.Cleanup(b.end)
				c.mu.Lock()
				l := *c.locks["cmp-1"]
				tt.change(&l)
				c.locks["cmp-1"] = &l
				c.mu.Unlock()
				b.sync()
				var got []string
				for _, r := range b.journal() {
					if r.Kind == RecordLock {
						told := r.From + " → " + r.To
						if r.Exact {
							told += " seen"
						}
						got = append(got, told)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("the journal tells %q, want %q", got, tt.want)
				}
			})
		})
	}
}
