package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// After its last try the OpenStack controller says J. The earlier refusal is still shown, and no entry claims that somebody moves
// the instance.
func TestARefusalIsRememberedAfterTheControllerGaveUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		clear(cloud.annotations["cmp-1"]) // mode live
		b := newBench(t, dir, cloud)
		defer b.end()
		says := func(text string) string {
			t.Helper()
			cloud.mu.Lock()
			cloud.locks["cmp-1"].Message = worldTime.Format("2006-01-02 15:04:05.000000") + " " + text
			cloud.mu.Unlock()
			b.sync()
			v, ok := progress.InstanceView(b.engine.Snapshot(), "id-web-1")
			if !ok {
				t.Fatal("no such instance")
			}
			return v.Why
		}
		if why := says("Starting migration for id-web-1"); !strings.Contains(why, "live-migrates it") {
			t.Errorf("while it works: %q", why)
		}
		says("Got error while trying to migrate server id-web-1: No valid host was found.")
		why := says("Some servers are still present on the host. Servers with unset maintenance action: ['id-web-1']")
		if why != "the OpenStack controller could not move it, and tries again every minute: No valid host was found" {
			t.Errorf("after J: %q", why)
		}
		p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "live-migrate/id-web-1" })
		if i < 0 || !strings.Contains(p.Steps[i].Why, "tries again every minute: No valid host was found") {
			t.Errorf("the step says nothing of it: %q", scene.Outline(p))
		}
	})
}

// The next run reports a refusal by Nova as the run that saw it did, even when its text is gone: the same step is proposed for
// the same reason. A try with the same refusal makes no further record.
func TestTheNextRunKnowsWhatNovaRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		clear(cloud.annotations["cmp-1"]) // mode live
		b := newBench(t, dir, cloud)
		says := func(ago time.Duration, text string) {
			b.locked(func(c *testCloud) {
				c.locks["cmp-1"].Message = worldTime.Add(-ago).Format("2006-01-02 15:04:05.000000") + " " + text
			})
			b.sync()
		}
		const refused = "Got error while trying to migrate server id-web-1: "
		for try := range 3 {
			says(time.Duration(9-try)*time.Minute, refused+"No valid host was found.")
			says(time.Duration(9-try)*time.Minute, "Starting migration for id-web-2")
		}
		says(5*time.Minute, refused+"The host is in flames.")
		says(4*time.Minute, "Some servers are still present on the host. Servers with unset maintenance action: ['id-web-1']")
		proposed := func() (why, steps string) {
			v, _ := progress.InstanceView(b.engine.Snapshot(), "id-web-1")
			p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
			for _, st := range p.Steps {
				steps += st.ID + " " + string(st.State) + ": " + st.Why + "\n"
			}
			return v.Why, steps
		}
		why, steps := proposed()
		if why != "the OpenStack controller could not move it, and tries again every minute: The host is in flames" {
			t.Errorf("before the restart: %q", why)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if again, anew := proposed(); again != why || anew != steps {
			t.Errorf("after the restart: %q\n%s\nbefore it: %q\n%s", again, anew, why, steps)
		}
		var told []string
		for _, r := range b.journal() {
			if r.Kind == RecordMigrationRefused {
				told = append(told, r.Object.Name+" on "+r.Node+": "+r.Refusal.Text)
			}
		}
		if want := []string{"web-1 on cmp-1: No valid host was found.", "web-1 on cmp-1: The host is in flames."}; !slices.Equal(told, want) {
			t.Errorf("the record has %q", told)
		}
	})
}
