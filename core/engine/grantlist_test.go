package engine

import (
	"context"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// Exactly what was shown is done: a list that has changed since needs its own confirmation, even if every instance on it is
// unchanged.
func TestAGrantIsForTheListThatWasShown(t *testing.T) {
	skipped := func() *testCloud {
		cloud := newTestCloud()
		cloud.annotations["cmp-1"][core.AnnotationMigrationMode] = string(core.ModeSkip)
		cloud.instances["id-web-1"].Tags = []string{core.TagMaintenanceAction + string(core.ActionLiveMigrate)}
		return cloud
	}
	grow := func(b *bench) {
		b.cloud.mu.Lock()
		b.cloud.annotations["cmp-1"][core.AnnotationMigrationMode] = string(core.ModeManual)
		b.cloud.mu.Unlock()
		b.sync()
	}
	all := core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"}
	shown := func(b *bench) core.Step {
		st := step.Plan(b.engine.Snapshot(), all)
		if c, ok := st.Change.(core.Batch); !ok || len(c.Items) != 1 {
			t.Fatalf("it is %+v", st.Change)
		}
		return st
	}
	t.Run("another before it is confirmed", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), skipped())
			defer b.end()
			b.arm()
			st := shown(b)
			grow(b)
			if _, err := b.engine.Grant(st, st.Type); err == nil || !strings.Contains(err.Error(), "changed") {
				t.Errorf("it was confirmed: %v", err)
			}
		})
	})
	t.Run("another before it is begun", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), skipped())
			defer b.end()
			b.arm()
			st := shown(b)
			g, err := b.engine.Grant(st, st.Type)
			if err != nil {
				t.Fatal(err)
			}
			grow(b)
			if id, err := b.engine.Execute(context.Background(), g); err == nil || !strings.Contains(err.Error(), "changed") {
				t.Errorf("it was begun: %v", err)
				b.awaitEnd(id)
			}
			if got := b.cloud.written(); len(got) > 0 {
				t.Errorf("the cloud received %q", got)
			}
		})
	})
}
