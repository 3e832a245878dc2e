package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/sim/bubble"
)

// A number of attempts that Lockstep set is remembered over a restart, and Lockstep offers to set it back.
func TestAttemptsAreOfferedBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		set := func(n int) {
			t.Helper()
			id, err := b.confirm(core.Intent{Kind: core.IntentSetAttempts, Nodes: []string{"cmp-1"}, Attempts: n})
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != core.OperationDone {
				t.Fatalf("%d: %s, %s", n, op.State, op.Text)
			}
			b.sync()
		}
		set(5)
		set(7)
		if n := len(b.engine.Snapshot().History.Changes); n != 0 {
			t.Errorf("%d migration modes are remembered", n)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		b.arm()
		b.sync()
		s := b.engine.Snapshot()
		st, ok := procedure.RestoreAttempts(s, "cmp-1")
		if !ok || st.Intent.Attempts != 0 || st.Change.(core.SetNodeAnnotation).New != nil ||
			!strings.Contains(st.Why, "before, it was not set") {
			t.Fatalf("%v, %+v: %s", ok, st.Intent, st.Why)
		}
		if got := procedure.ChangedAttempts(s); len(got) != 1 {
			t.Errorf("open %q", got)
		}
		set(0)
		if tries := b.engine.Snapshot().History.Tries; len(tries) != 0 {
			t.Errorf("once it is set back: %v", tries)
		}
	})
}
