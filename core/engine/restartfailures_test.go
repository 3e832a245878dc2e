package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// A failure is shown until it is acknowledged, in the next run as in the one that made it: whether it was refused right before
// the write, failed within a batch, or was written without effect. A step that succeeded in the end has not failed.
func TestTheNextRunShowsWhatFailed(t *testing.T) {
	move := func(c *testCloud) { c.instances["id-web-1"].TaskState = "rebooting" } // only Nova knows it yet
	for name, tt := range map[string]struct {
		do     func(b *bench) string // returns the operation's ID
		step   core.Intent
		failed bool
	}{
		"refused by the last look": {func(b *bench) string {
			g := b.grant(liveMigrate("web-1"))
			b.locked(move)
			return b.executed(g)
		}, liveMigrate("web-1"), true},
		"an item of a batch, and with it the batch": {func(b *bench) string {
			g := b.grant(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
			b.locked(func(c *testCloud) {
				c.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: "No valid host was found."}
			})
			id := b.executed(g)
			b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
			if err := b.engine.Control(id, core.ControlStop); err != nil {
				b.t.Fatal(err)
			}
			return id
		}, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"}, true},
		"no answer, and nothing came of it": {func(b *bench) string {
			g := b.grant(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1"}, Mode: core.ModeSkip})
			b.locked(func(c *testCloud) {
				c.fail["annotate"] = &core.APIError{Kind: core.ErrTimeout, Call: "annotate", Message: "no answer"}
			})
			return b.executed(g)
		}, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1"}, Mode: core.ModeSkip}, true},
		"failed twice, and acknowledged once": {func(b *bench) string {
			i := core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-1", Reason: "a test"}
			b.locked(func(c *testCloud) {
				c.fail["service"] = &core.APIError{Kind: core.ErrServer, Call: "service", Message: "no", Status: 400}
			})
			b.awaitEnd(b.executed(b.grant(i)))
			b.sync()
			b.locked(func(c *testCloud) {
				c.fail["service"] = &core.APIError{Kind: core.ErrServer, Call: "service", Message: "no", Status: 400}
			})
			id := b.executed(b.grant(i))
			b.awaitEnd(id)
			b.engine.Acknowledge(id)
			return id
		}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-1", Reason: "a test"}, false},
		"failed first, and done then": {func(b *bench) string {
			g := b.grant(core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-1", Reason: "a test"})
			b.locked(func(c *testCloud) {
				c.fail["service"] = &core.APIError{Kind: core.ErrServer, Call: "service", Message: "no", Status: 400}
			})
			b.awaitEnd(b.executed(g))
			b.sync()
			delete(b.cloud.fail, "service")
			b.awaitEnd(b.executed(b.grant(core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-1", Reason: "a test"})))
			return b.executed(b.grant(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"}))
		}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-1", Reason: "a test"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				dir, cloud := t.TempDir(), newTestCloud()
				b := newBench(t, dir, cloud)
				b.arm()
				b.awaitEnd(tt.do(b))
				b.engine.Disarm()
				b.sync()
				before, running := step.Plan(b.engine.Snapshot(), tt.step), stepsOfTheFirst(b)
				changes := len(b.engine.Snapshot().History.Changes)
				b.end()
				b = newBench(t, dir, cloud)
				defer b.end()
				after, anew := step.Plan(b.engine.Snapshot(), tt.step), stepsOfTheFirst(b)
				if failed := before.State == core.StepFailed; failed != tt.failed {
					t.Errorf("before it is %s: %s", before.State, before.Status)
				}
				if before.State != after.State || before.Status != after.Status {
					t.Errorf("the next run has %s (%s), this one had %s (%s)", after.State, after.Status, before.State, before.Status)
				}
				if !slices.Equal(running, anew) {
					t.Errorf("the next run proposes\n%s\nthis one did\n%s", strings.Join(anew, "\n"), strings.Join(running, "\n"))
				}
				if n := len(b.engine.Snapshot().History.Changes); n != changes {
					t.Errorf("the next run remembers %d changes, this one did %d", n, changes)
				}
				failures := 0
				for _, op := range b.engine.Snapshot().Operations {
					if op.State == core.OperationFailed && !op.Acknowledged {
						failures++
						b.engine.Acknowledge(op.ID)
					}
				}
				if failures != 1 {
					t.Errorf("the next run shows %d failures", failures)
				}
				if st := step.Plan(b.engine.Snapshot(), tt.step); st.State == core.StepFailed {
					t.Errorf("acknowledged, it is %s: %s", st.State, st.Status)
				}
			})
		})
	}
}

func (b *bench) locked(f func(*testCloud)) {
	b.cloud.mu.Lock()
	defer b.cloud.mu.Unlock()
	f(b.cloud)
}

// executed executes a grant and returns its operation.
func (b *bench) executed(g core.Grant) string {
	b.t.Helper()
	if err := b.execute(g); err != nil {
		b.t.Fatal(err)
	}
	return g.ID
}

// stepsOfTheFirst are the steps of cmp-1 and their states.
func stepsOfTheFirst(b *bench) []string {
	p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
	var out []string
	for _, st := range p.Steps {
		out = append(out, st.Title+": "+string(st.State))
	}
	return out
}
