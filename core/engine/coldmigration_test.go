package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

func coldMigrate(name string) core.Intent {
	return core.Intent{Kind: core.IntentColdMigrate, Instance: "id-" + name}
}

// goesOn lets the node's maintenance continue without the cold migration: its lock is released, and later its request is gone.
func goesOn(c *testCloud, node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locks[node].RawState, c.locks[node].InnerState = core.LockActive, core.InnerInactive
	delete(c.requests, node)
}

// A cold migration that Lockstep began is reported until it is confirmed or reverted: after its node has gone on, wherever the
// instance is by then, and in later runs of Lockstep.
func TestAColdMigrationIsFollowedToItsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		begin func(t *testing.T, dir string, cloud *testCloud) // leaves the journal in dir
	}{
		"seen to its end": {func(t *testing.T, dir string, cloud *testCloud) {
			b := newBench(t, dir, cloud)
			defer b.end()
			b.arm()
			id, err := b.confirm(coldMigrate("web-1"))
			if err != nil {
				t.Fatal(err)
			}
			b.awaitEnd(id)
			goesOn(cloud, "cmp-1")
			b.sync()
			coldIsTold(t, b)
		}},
		"killed in the middle": {func(t *testing.T, dir string, cloud *testCloud) {
			b, _ := killed(t, cloud, coldMigrate("web-1"), func(*testCloud) {})
			b.end()
			copyJournal(t, b.path, dir)
		}},
	} {
		for end, decide := range map[string]core.IntentKind{"confirmed": core.IntentConfirmResize, "reverted": core.IntentRevertResize,
			"by somebody else": ""} {
			t.Run(name+", "+end, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					dir, cloud := t.TempDir(), newTestCloud()
					tt.begin(t, dir, cloud)
					goesOn(cloud, "cmp-1")
					cloud.mu.Lock()
					cloud.cluster = nil
					cloud.mu.Unlock()
					b := newBench(t, dir, cloud)
					b.sync()
					coldIsTold(t, b)
					if decide == "" {
						cloud.mu.Lock()
						in := cloud.instances["id-web-1"]
						in.Status, in.VMState = "ACTIVE", "active"
						cloud.mu.Unlock()
					} else {
						b.arm()
						id, err := b.confirm(core.Intent{Kind: decide, Instance: "id-web-1"})
						if err != nil {
							t.Fatal(err)
						}
						b.awaitEnd(id)
					}
					b.sync()
					b.engine.changed() // a Snapshot has what was seen to change in the one before
					coldIsOver(t, b.engine.Snapshot())
					b.end()
					cloud.mu.Lock() // its owner resizes it, which is the owner's business
					cloud.instances["id-web-1"].Status = "VERIFY_RESIZE"
					cloud.mu.Unlock()
					b = newBench(t, dir, cloud)
					defer b.end()
					b.sync()
					coldIsOver(t, b.engine.Snapshot())
				})
			})
		}
	}
}

func coldIsTold(t *testing.T, b *bench) {
	t.Helper()
	s := b.engine.Snapshot()
	got := toldBy(s, "own-migration/")
	if len(got) != 1 || got[0].Instance != "id-web-1" || got[0].Severity != core.SeverityWarning || got[0].Resolve == nil ||
		got[0].Reason != "confirm or revert its migration: Lockstep moved it from cmp-1 to cmp-2" {
		t.Fatalf("told: %+v; %+v", got, attention.Of(s))
	}
	p, _ := procedure.Of(s, *procedure.AfterKey())
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/migrations" })
	if i < 0 || p.Steps[i].Status != "web-1 (VERIFY_RESIZE on cmp-2)" ||
		p.Steps[i+1].Intent.Kind != core.IntentConfirmResize || len(p.Steps[i+1].Alternatives) != 1 {
		t.Errorf("after the update: %q", scene.Outline(p))
	}
	way, _ := procedure.Of(s, *got[0].Resolve)
	if !slices.ContainsFunc(way.Steps, func(st core.Step) bool {
		return st.Intent.Kind == core.IntentConfirmResize && (st.State == core.StepReady || !s.Write.Armed)
	}) {
		t.Errorf("enter leads to %q", scene.Outline(way))
	}
}

func coldIsOver(t *testing.T, s *core.Snapshot) {
	t.Helper()
	if got := toldBy(s, "own-migration/"); len(got) != 0 || len(s.History.Cold) != 0 {
		t.Errorf("it is over, and told: %+v; %+v", got, s.History.Cold)
	}
	p, _ := procedure.Of(s, *procedure.AfterKey())
	if i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "after/migrations" }); i < 0 ||
		p.Steps[i].State != core.StepDone {
		t.Errorf("after the update: %q", scene.Outline(p))
	}
}

// copyJournal copies the journal into the folder.
func copyJournal(t *testing.T, path, dir string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), raw, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
