package core

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

func coldMigrate(name string) Intent { return Intent{Kind: IntentColdMigrate, Instance: "id-" + name} }

// goesOn is the node's maintenance going on without what it was about: its lock is released, and later its request is gone.
func goesOn(c *testCloud, node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locks[node].RawState, c.locks[node].InnerState = LockActive, InnerInactive
	delete(c.requests, node)
}

// A cold migration that Lockstep began is told until it is confirmed or reverted: after its node has gone on, wherever the instance is by
// then, and in the runs of Lockstep after that one.
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
		for end, decide := range map[string]IntentKind{"confirmed": IntentConfirmResize, "reverted": IntentRevertResize, "by somebody else": ""} {
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
						id, err := b.confirm(Intent{Kind: decide, Instance: "id-web-1"})
						if err != nil {
							t.Fatal(err)
						}
						b.awaitEnd(id)
					}
					b.sync()
					b.engine.changed() // a Snapshot has what the one before was seen to change
					coldIsOver(t, b.engine.Snapshot())
					b.end()
					cloud.mu.Lock() // its owner resizes it: a matter of the owner's
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
	if len(got) != 1 || got[0].Instance != "id-web-1" || got[0].Severity != SeverityWarning || got[0].Resolve == nil ||
		got[0].Reason != "confirm or revert its migration: Lockstep moved it from cmp-1 to cmp-2" {
		t.Fatalf("told: %+v; %+v", got, s.Attention())
	}
	p, _ := s.Procedure(*afterProcedureKey())
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "after/migrations" })
	if i < 0 || p.Steps[i].Status != "web-1 (VERIFY_RESIZE on cmp-2)" ||
		p.Steps[i+1].Intent.Kind != IntentConfirmResize || len(p.Steps[i+1].Alternatives) != 1 {
		t.Errorf("after the update: %q", outline(p))
	}
	way, _ := s.Procedure(*got[0].Resolve)
	if !slices.ContainsFunc(way.Steps, func(st Step) bool {
		return st.Intent.Kind == IntentConfirmResize && (st.State == StepReady || !s.Write.Armed)
	}) {
		t.Errorf("enter leads to %q", outline(way))
	}
}

func coldIsOver(t *testing.T, s *Snapshot) {
	t.Helper()
	if got := toldBy(s, "own-migration/"); len(got) != 0 || len(s.History.Cold) != 0 {
		t.Errorf("it is over, and told: %+v; %+v", got, s.History.Cold)
	}
	p, _ := s.Procedure(*afterProcedureKey())
	if i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "after/migrations" }); i < 0 || p.Steps[i].State != StepDone {
		t.Errorf("after the update: %q", outline(p))
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

// Where a cold migration of Lockstep's stands the facts say.
func TestWhereAColdMigrationStands(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene, in *Instance)
		want  coldState
	}{
		"it has not begun, as far as anybody knows": {func(scene, *Instance) {}, coldUnseen},
		"it is copied":               {func(_ scene, in *Instance) { in.Status, in.TaskState = "RESIZE", "resize_migrating" }, coldMoves},
		"it waits":                   {func(_ scene, in *Instance) { in.Status, in.Host = "VERIFY_RESIZE", "cmp-02" }, coldUndecided},
		"it waits, on the same host": {func(_ scene, in *Instance) { in.Status = "VERIFY_RESIZE" }, coldUndecided},
		"it is reverted": {func(_ scene, in *Instance) {
			in.Status, in.Host, in.TaskState = "REVERT_RESIZE", "cmp-02", "resize_reverting"
		}, coldMoves},
		"it was confirmed": {func(_ scene, in *Instance) { in.Host = "cmp-02" }, coldOver},
		"it was reverted":  {func(sc scene, in *Instance) { sc.coldRecord(in, "reverted") }, coldOver},
		"it failed":        {func(sc scene, in *Instance) { in.Status = "ERROR"; sc.coldRecord(in, "error") }, coldOver},
		"its owner resized it since": {func(sc scene, in *Instance) {
			in.Status = "VERIFY_RESIZE"
			sc.coldRecord(in, "finished").Type = MigrationResize
		}, coldOver},
		"an older record of another migration is told": {func(sc scene, in *Instance) { in.Status = "VERIFY_RESIZE"; sc.coldRecord(in, "completed").ID = 3 }, coldUndecided},
		"the instance is gone":                         {func(sc scene, in *Instance) { delete(sc.Instances, in.ID) }, coldOver},
		"nobody knows the instances":                   {func(sc scene, in *Instance) { delete(sc.Instances, in.ID); sc.source(SourceInstances, SourceFailed) }, coldUnseen},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.node("cmp-01", RoleCompute)
			sc.node("cmp-02", RoleCompute)
			in := sc.instance("cmp-01", "db-1")
			tt.given(sc, in)
			if got := sc.coldOf(in.ID, ColdMigration{Name: "db-1", From: "cmp-01", Known: 3, At: ago(10 * 60e9)}); got != tt.want {
				t.Errorf("it is %d, want %d", got, tt.want)
			}
		})
	}
}

func (sc scene) coldRecord(in *Instance, status string) *Migration {
	m := &Migration{ID: 4, InstanceID: in.ID, Type: MigrationCold, Status: status,
		SourceHost: "cmp-01", DestHost: "cmp-02", Created: ago(5 * 60e9), Updated: ago(60e9)}
	sc.Migrations[in.ID] = []*Migration{m}
	return m
}

// While the node that it is on waits for it, the node's own entry tells of it, once.
func TestAColdMigrationIsToldOnce(t *testing.T) {
	sc := healthy()
	in := sc.instance("cmp-01", "db-1")
	in.Status = "VERIFY_RESIZE"
	sc.mode("cmp-01", ModeManual)
	sc.maintained("cmp-01", "")
	sc.History.Cold = map[string]ColdMigration{in.ID: {Name: "db-1", From: "cmp-02", At: ago(60e9)}}
	var got []string
	for _, a := range sc.again().Attention() {
		if strings.Contains(a.Reason, "migration of db-1") || a.Instance == in.ID {
			got = append(got, a.ID+": "+a.Reason)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "node-waits/") {
		t.Errorf("%q", got)
	}
}
