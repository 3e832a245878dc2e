package tui

import (
	"testing"
	"time"

	"lockstep/core"
)

// How long a phase took is told as it was seen: with > where its beginning was not, and not at all where that would say nothing.
func TestHowLongAPhaseTook(t *testing.T) {
	w := world()
	s := &scene{snap: w, now: &instant{at: w.Now}}
	at := func(ago time.Duration, exact bool) core.Since {
		return core.Since{At: s.snap.Now.Add(-ago), Exact: exact}
	}
	for name, tt := range map[string]struct {
		phase core.Phase
		want  string
	}{
		"it was seen": {core.Phase{ID: core.PhaseMasters, State: core.PhaseDone, Started: at(time.Hour, true), Ended: at(40*time.Minute, true)},
			"20 m"},
		"its beginning was not": {core.Phase{ID: core.PhaseMasters, State: core.PhaseDone, Started: at(time.Hour, false),
			Ended: at(40*time.Minute, true)}, ">20 m"},
		"nobody watched": {core.Phase{ID: core.PhaseMasters, State: core.PhaseDone, Started: at(time.Hour, false), Ended: at(time.Hour, false)},
			""},
		"it runs": {core.Phase{ID: core.PhaseMasters, State: core.PhaseRunning, Started: at(5*time.Minute, true)}, "5 m"},
	} {
		if got := phaseTime(s, phaseRow{phase: tt.phase}).Text(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
