package core

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/sim/bubble"
)

// Killed between a write and the sight of its result, Lockstep knows at its next start what it may have done, as long as the
// cluster says so: what it set is offered back, what it stopped is to be started, and an override is watched. Of the kill no
// more is left than the journal as it was while the server had the call.
func TestWhatWasSetIsKnownAfterAKillInTheMiddle(t *testing.T) {
	skip := Intent{Kind: IntentSetMode, Nodes: []string{"cmp-2"}, Mode: ModeSkip}
	for name, tt := range map[string]struct {
		intent Intent
		ends   func(c *testCloud)     // what comes of the call after the kill
		known  func(s *Snapshot) bool // by its History
		steps  ProcedureKey           // of the procedure that sees to it
		offers IntentKind             // within it; empty: none
	}{
		"a migration mode": {skip, nil, func(s *Snapshot) bool { return len(s.changedNodes()) == 1 }, ProcedureKey{Kind: ProcedureAfter}, IntentRestoreMode},
		"a number of attempts": {Intent{Kind: IntentSetAttempts, Nodes: []string{"cmp-2"}, Attempts: 7}, nil, func(s *Snapshot) bool { return len(s.triesNodes()) == 1 },
			ProcedureKey{Kind: ProcedureAfter}, IntentSetAttempts},
		"a tag":  {Intent{Kind: IntentTagPowerOff, Instance: "id-web-1"}, nil, func(s *Snapshot) bool { return len(s.taggedInstances()) == 1 }, ProcedureKey{Kind: ProcedureAfter}, IntentRestoreTags},
		"a stop": {Intent{Kind: IntentStop, Instance: "id-web-1"}, nil, func(s *Snapshot) bool { return len(s.stoppedInstances()) == 1 }, ProcedureKey{Kind: ProcedureAfter}, IntentStart},
		"a stop, in vain": {Intent{Kind: IntentStop, Instance: "id-web-1"}, func(c *testCloud) {
			in := c.instances["id-web-1"]
			in.Status, in.VMState, in.Power = "ACTIVE", "active", PowerRunning
		}, func(s *Snapshot) bool { return len(s.stoppedInstances()) == 0 }, ProcedureKey{}, ""},
		"a mode, in vain": {skip, func(c *testCloud) { delete(c.annotations["cmp-2"], AnnotationMigrationMode) }, func(s *Snapshot) bool { return len(s.changedNodes()) == 0 }, ProcedureKey{}, ""},
		"an override":     {Intent{Kind: IntentOverrideLock, State: LockInactive}, nil, func(s *Snapshot) bool { return len(s.History.Overrides) == 1 }, ProcedureKey{}, ""},
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
				if tt.intent.Kind == IntentOverrideLock {
					tt.intent.Object = b.engine.Snapshot().NodeLock("cmp-2", ControllerOpenStack).Ref()
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
				if i := slices.IndexFunc(past, func(r Record) bool { return r.Kind == RecordAfter || r.Kind == RecordVerified }); i >= 0 || len(past) == 0 {
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
				p, _ := s.Procedure(tt.steps)
				if !slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Intent.Kind == tt.offers }) {
					t.Errorf("%s is not offered: %q", tt.offers, outline(p))
				}
			})
		})
	}
}

// A stop that is under way when Lockstep leaves is remembered as one that was done: its guest takes its time to shut down.
func TestAStopUnderWayIsRememberedOnLeaving(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		cloud.onWrite = func(string) { b.cancel() }
		if _, err := b.confirm(Intent{Kind: IntentStop, Instance: "id-web-1"}); err != nil {
			t.Fatal(err)
		}
		<-b.ended
		cloud.onWrite = nil
		cloud.mu.Lock()
		in := cloud.instances["id-web-1"]
		in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", PowerShutdown
		cloud.mu.Unlock()
		b = newBench(t, dir, cloud)
		defer b.end()
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" || !r.At.Equal(worldTime) {
			t.Errorf("%+v", r)
		}
	})
}
