package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// After a kill between a write and the sight of its result, Lockstep knows at its next start what it may have done, as long as
// the cluster shows it: it offers to set back what it set, to start what it stopped, and it watches an override. The kill leaves
// only the journal as it was while the server had the call.
func TestWhatWasSetIsKnownAfterAKillInTheMiddle(t *testing.T) {
	skip := core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-2"}, Mode: core.ModeSkip}
	for name, tt := range map[string]struct {
		intent core.Intent
		ends   func(c *testCloud)          // what the call leads to after the kill
		known  func(s *core.Snapshot) bool // by its History
		steps  core.ProcedureKey           // of the procedure that deals with it
		offers core.IntentKind             // within it; empty: none
	}{
		"a migration mode": {skip, nil, func(s *core.Snapshot) bool { return len(procedure.ModesToRestore(s)) == 1 },
			core.ProcedureKey{Kind: core.ProcedureAfter}, core.IntentRestoreMode},
		"a number of attempts": {core.Intent{Kind: core.IntentSetAttempts, Nodes: []string{"cmp-2"}, Attempts: 7}, nil,
			func(s *core.Snapshot) bool { return len(procedure.AttemptsToRestore(s)) == 1 },
			core.ProcedureKey{Kind: core.ProcedureAfter}, core.IntentSetAttempts},
		"a tag": {core.Intent{Kind: core.IntentTagPowerOff, Instance: "id-web-1"}, nil,
			func(s *core.Snapshot) bool { return len(procedure.TagsToRestore(s)) == 1 }, core.ProcedureKey{Kind: core.ProcedureAfter},
			core.IntentRestoreTags},
		"a stop": {core.Intent{Kind: core.IntentStop, Instance: "id-web-1"}, nil,
			func(s *core.Snapshot) bool { return len(procedure.StoppedInstances(s)) == 1 }, core.ProcedureKey{Kind: core.ProcedureAfter},
			core.IntentStart},
		"a stop, in vain": {core.Intent{Kind: core.IntentStop, Instance: "id-web-1"}, func(c *testCloud) {
			in := c.instances["id-web-1"]
			in.Status, in.VMState, in.Power = "ACTIVE", "active", core.PowerRunning
		}, func(s *core.Snapshot) bool { return len(procedure.StoppedInstances(s)) == 0 }, core.ProcedureKey{}, ""},
		"a mode, in vain": {skip, func(c *testCloud) { delete(c.annotations["cmp-2"], core.AnnotationMigrationMode) },
			func(s *core.Snapshot) bool { return len(procedure.ModesToRestore(s)) == 0 }, core.ProcedureKey{}, ""},
		"an override": {core.Intent{Kind: core.IntentOverrideLock, State: core.LockInactive}, nil,
			func(s *core.Snapshot) bool { return len(s.History.Overrides) == 1 }, core.ProcedureKey{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				dir, cloud := t.TempDir(), newTestCloud()
				b := newBench(t, dir, cloud)
				defer b.end()
				b.arm()
				killed := filepath.Join(t.TempDir(), "journal.jsonl")
				cloud.onWrite = func(string) {
					raw, err := os.ReadFile(b.path)
					if err == nil {
						err = os.WriteFile(killed, raw, 0o600)
					}
					if err != nil {
						t.Error(err)
					}
				}
				if tt.intent.Kind == core.IntentOverrideLock {
					tt.intent.Object = b.engine.Snapshot().NodeLock("cmp-2", core.ControllerOpenStack).Ref()
				}
				id, err := b.confirm(tt.intent)
				if err != nil {
					t.Fatal(err)
				}
				b.awaitEnd(id)
				if tt.ends != nil {
					cloud.mu.Lock()
					tt.ends(cloud)
					cloud.mu.Unlock()
				}
				var past []Record
				if _, err := ReadJournal(killed, func(r Record) { past = append(past, r) }); err != nil {
					t.Fatal(err)
				}
				if i := slices.IndexFunc(past, func(r Record) bool { return r.Kind == RecordAfter || r.Kind == RecordVerified }); i >= 0 ||
					len(past) == 0 {
					t.Fatalf("the journal of the kill has %d records, and an end at %d", len(past), i)
				}
				next := newBench(t, filepath.Dir(killed), cloud)
				defer next.end()
				s := next.engine.Snapshot()
				if !tt.known(s) {
					t.Errorf("it is not known: %+v", s.History)
				}
				if tt.offers == "" {
					return
				}
				p, _ := procedure.Of(s, tt.steps)
				if !slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == tt.offers }) {
					t.Errorf("%s is not offered: %q", tt.offers, scene.Outline(p))
				}
			})
		})
	}
}

// A stop that is under way when Lockstep leaves is remembered as done: the guest takes its time to shut down.
func TestAStopUnderWayIsRememberedOnLeaving(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		cloud.onWrite = func(string) { b.cancel() }
		if _, err := b.confirm(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"}); err != nil {
			t.Fatal(err)
		}
		<-b.ended
		cloud.onWrite = nil
		cloud.mu.Lock()
		in := cloud.instances["id-web-1"]
		in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
		cloud.mu.Unlock()
		b = newBench(t, dir, cloud)
		defer b.end()
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" || !r.At.Equal(worldTime) {
			t.Errorf("%+v", r)
		}
	})
}
