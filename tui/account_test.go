package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// kept is the world in which the OpenStack controller has failed twice on the request of cmp-07; its lock does not mention it.
func kept() *core.Snapshot {
	s := world()
	const node = "kaas-node-cmp07"
	r := *s.NodeRequests[node][0]
	r.Scope = ""
	r.Kept = core.Bookkeeping{Marked: true, Change: &core.Tries{Purpose: "create", Failed: 2, Words: "'scope'",
		Started: before(3 * time.Minute), Next: fixtureNow.Add(40 * time.Second)}}
	s.NodeRequests[node] = []*core.MaintenanceRequest{&r}
	for i, l := range s.NodeLocks.At(node) {
		if l.Controller == core.ControllerOpenStack {
			silent := *l
			silent.Message = ""
			s.NodeLocks.At(node)[i] = &silent
		}
	}
	return s
}

// The screen shows on what the controller fails without writing a text: in the controller's own words, with the time of the next
// try.
func TestWhatTheControllerHasNotedIsShown(t *testing.T) {
	const again = "tries again at 16:43:50, failed twice: 'scope'"
	for name, screen := range map[string]struct {
		keys []string
		want []string
	}{
		"the locks": {[]string{"5"}, []string{"silent: " + again}},
		"the lock": {[]string{"5", "i"}, []string{"The OpenStack controller's own account", "tries again at 16:43:50, failed twice",
			"'scope'", "its request has no scope", "2026-03-14 16:43:50 UTC, in 40 s"}},
		"the node":      {[]string{"3", "i"}, []string{"The OpenStack controller's own account", again, "2026-03-14 16:43:50 UTC, in 40 s"}},
		"its steps":     {[]string{"enter"}, []string{again}},
		"what it needs": {[]string{"1", "i"}, []string{again}},
	} {
		t.Run(name, func(t *testing.T) {
			shown := stripped(drive(kept(), 200, 60).keys(screen.keys...).shows())
			for _, want := range screen.want {
				if !strings.Contains(shown, want) {
					t.Errorf("it does not show %q:\n%s", want, shown)
				}
			}
		})
	}
}
