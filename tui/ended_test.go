package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// The screen says where the operator looks how a running operation ended, failures first. What had ended before is not news.
func TestTheScreenSaysHowItEnded(t *testing.T) {
	ended := func(state core.OperationState, text string) func(*core.Snapshot) {
		return func(s *core.Snapshot) { s.Operations[0].State, s.Operations[0].Text = state, text }
	}
	for name, tt := range map[string]struct {
		before, after func(*core.Snapshot)
		want          string
	}{
		"done":       {nil, ended(core.OperationDone, "runs on cmp-09"), "done: live-migrate web-1 (runs on cmp-09)"},
		"failed":     {nil, ended(core.OperationFailed, "No valid host"), "failed: live-migrate web-1 (No valid host)"},
		"stopped":    {nil, ended(core.OperationStopped, ""), "stopped: live-migrate web-1"},
		"lost":       {nil, ended(core.OperationUnknown, ""), "not known how it ended: live-migrate web-1"},
		"still runs": {nil, func(*core.Snapshot) {}, ""},
		"begun and ended between two looks": {func(s *core.Snapshot) { s.Operations = nil }, func(s *core.Snapshot) {
			s.Operations[0].State, s.Operations[0].Text, s.Operations[0].Ended = core.OperationDone, "", s.Now
		}, "done: live-migrate web-1"},
		"read from the journal": {func(s *core.Snapshot) { s.Operations = nil }, func(s *core.Snapshot) {
			s.Operations[0].State, s.Operations[0].Ended = core.OperationDone, s.Now.Add(-time.Hour)
		}, ""},
		"ended before": {ended(core.OperationDone, ""), ended(core.OperationDone, ""), ""},
		"two": {func(s *core.Snapshot) {
			s.Operations = append([]core.Operation{{ID: "op-2", Title: "stop db-2", State: core.OperationRunning}}, s.Operations...)
		}, func(s *core.Snapshot) {
			s.Operations[0].State, s.Operations[0].Text = core.OperationFailed, "locked"
			s.Operations = append([]core.Operation{{ID: "op-2", Title: "stop db-2", State: core.OperationDone}}, s.Operations...)
		}, "failed: live-migrate web-1 (locked)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := world()
			if tt.before != nil {
				tt.before(s)
			}
			d := drive(s, 120, 40)
			next := world()
			next.Revision = s.Revision + 1
			tt.after(next)
			d.send(snapshotMsg{next})
			if d.toast.text != tt.want {
				t.Errorf("it says %q, want %q", d.toast.text, tt.want)
			}
			if tt.want != "" && !strings.Contains(stripped(d.shows()), tt.want) {
				t.Errorf("%q is not on the screen", tt.want)
			}
			if len(d.messages) > 0 {
				t.Errorf("the log has it twice: %v", d.messages)
			}
		})
	}
}

// The answer to a confirmation can come after the cluster has shown the result: then the message is that it is done, not that it
// has begun.
func TestTheAnswerMayComeAfterTheEnd(t *testing.T) {
	d, _, _ := opened(theStep())
	d.snap.Operations = append([]core.Operation{{ID: "op-9", Title: "live-migrate web-1", State: core.OperationDone,
		Text: "runs on cmp-09"}}, d.snap.Operations...)
	d.keys("right", "enter")
	if want := "done: live-migrate web-1 (runs on cmp-09)"; d.toast.text != want {
		t.Errorf("it says %q, want %q", d.toast.text, want)
	}
}

// What was selected can go with the step that was done on it. The screen says both, how the step ended first; a failure does not lose its
// colour for it.
func TestWhatIsGoneDoesNotHideHowAStepEnded(t *testing.T) {
	for state, word := range map[core.OperationState]string{core.OperationDone: "done: ", core.OperationFailed: "failed: "} {
		d := drive(world(), 120, 40)
		d.keys("3")
		d.nodes.Choose("kaas-node-cmp09")
		d.fresh(func(s *core.Snapshot) { s.Operations[0].State, s.Operations[0].Text = state, "" })
		tone := d.toast.tone
		gone := func(s *core.Snapshot) {
			s.Operations[0].State, s.Operations[0].Text = state, ""
			without("kaas-node-cmp09")(s)
		}
		d.fresh(gone)
		want := word + "live-migrate web-1; nothing is selected: cmp-09 is no longer there"
		if d.toast.text != want || d.toast.tone != tone || !strings.Contains(stripped(d.shows()), want) {
			t.Errorf("it says %q, want %q", d.toast.text, want)
		}
		if len(d.said) == 0 || d.said[0].text != "nothing is selected: cmp-09 is no longer there" {
			t.Errorf("the messages have %v", d.said)
		}
		d.keys("esc")
		d.fresh(func(s *core.Snapshot) { without("kaas-node-cmp09")(s); without("kaas-node-cmp07")(s) })
		if strings.Contains(d.toast.text, word) {
			t.Errorf("what was cleared is back: %q", d.toast.text)
		}
	}
}
