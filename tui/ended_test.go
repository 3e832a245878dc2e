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
