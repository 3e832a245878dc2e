package engine

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/sim/bubble"
)

// beKilled is another run on the journal. It writes the beginning of an operation and waits to be killed.
func beKilled(path string) {
	j, err := OpenJournal(path, JournalOptions{Run: "killed", Who: "bert@jump01, process 7"})
	if err == nil {
		err = j.Write(Record{Kind: RecordBefore, Operation: "1"}, true)
	}
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("begun\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // Go ends a process in which nothing can happen any more
	runtime.KeepAlive(j)
}

// The kernel tells whether a run lives, even after kill -9.
func TestARunThatIsKilledIsDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path, JournalOptions{Run: "own"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "LOCKSTEP_TEST_JOURNAL="+path)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if who, lives := RunLives(path, "killed"); !lives || who != "bert@jump01, process 7" {
		t.Errorf("it lives: %v, %q", lives, who)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if who, lives := RunLives(path, "killed"); lives || who != "" {
		t.Errorf("it was killed, and lives: %q", who)
	}
	if _, err := os.Stat(runName(path, "killed")); err != nil {
		t.Errorf("a killed run takes nothing away: %v", err)
	}
	next, err := OpenJournal(path, JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if past, _ := next.Past(); len(past) != 1 || past[0].Run != "killed" {
		t.Errorf("%+v", past)
	}
	if _, err := os.Stat(runName(path, "killed")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next run does not tidy up: %v", err)
	}
	if _, lives := RunLives(path, "own"); !lives {
		t.Error("it takes a run for dead that lives")
	}
}

// A run that leaves in good order removes its file.
func TestARunThatLeavesTakesItsFileAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a[b]*", "journal.jsonl")
	j, err := OpenJournal(path, JournalOptions{Run: "own"})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(runName(path, "own")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// die ends a bench as kill -9 does: it writes no more records, and its lock is free.
func (b *bench) die() {
	j := b.engine.cfg.Journal
	<-j.turn
	j.alive.Close()
	j.alive = nil
	j.file.Close()
	j.file = nil
	j.lock.Close()
	j.lock = nil
	j.release()
}

// A second window of the same user knows that the first one lives, and shows its operations under way. It learns how they end,
// and when the first one is killed.
func TestASecondWindowKnowsThatTheFirstLives(t *testing.T) {
	for name, end := range map[string]struct {
		how  func(first *bench)
		want func(s *core.Snapshot, id string) bool
	}{
		"it ends well": {func(first *bench) {
			first.locked(func(c *testCloud) {
				c.migrating = false
				c.finish("id-web-1")
			})
		}, func(s *core.Snapshot, id string) bool {
			return !slices.ContainsFunc(s.Operations, func(op core.Operation) bool { return op.ID == id })
		}},
		"the first window is killed": {func(first *bench) { first.die() }, func(s *core.Snapshot, id string) bool {
			return slices.ContainsFunc(s.Operations, func(op core.Operation) bool {
				return op.ID == id && op.Past && op.Elsewhere == ""
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				dir, cloud := t.TempDir(), newTestCloud()
				cloud.migrating = true
				first := newBench(t, dir, cloud)
				defer first.end()
				first.arm()
				id, err := first.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: "id-web-1"})
				if err != nil {
					t.Fatal(err)
				}
				first.await(id, func(op core.Operation) bool { return op.State == core.OperationVerifying })
				second := newBench(t, dir, cloud)
				defer second.end()
				op := second.operation(id)
				if op.State != core.OperationRunning || op.Elsewhere == "" || !strings.Contains(op.Text, "another window of yours") {
					t.Errorf("the second window says %+v", op)
				}
				if err := second.engine.Control(id, core.ControlStop); err == nil || !strings.Contains(err.Error(), "control it there") {
					t.Errorf("controlled from elsewhere: %v", err)
				}
				for _, a := range attention.Of(second.engine.Snapshot()) {
					if strings.HasPrefix(a.ID, "operation/") {
						t.Errorf("it needs somebody: %+v", a)
					}
				}
				end.how(first)
				deadline := time.Now().Add(patience)
				for !end.want(second.engine.Snapshot(), id) {
					if time.Now().After(deadline) {
						t.Fatalf("the second window says %+v", second.engine.Snapshot().Operations)
					}
					time.Sleep(time.Second)
				}
			})
		})
	}
}

// The second window offers to set back what the first one set and did not set back.
func TestASecondWindowKnowsWhatTheFirstDid(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		first := newBench(t, dir, cloud)
		defer first.end()
		second := newBench(t, dir, cloud)
		defer second.end()
		first.arm()
		id, err := first.confirm(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-2"}, Mode: core.ModeSkip})
		if err != nil {
			t.Fatal(err)
		}
		first.awaitEnd(id)
		failed, err := first.confirm(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		first.awaitEnd(failed)
		time.Sleep(2 * tickEvery)
		if s := second.engine.Snapshot(); len(s.History.Changes) != 1 || len(s.History.Stopped) != 1 {
			t.Errorf("it is not known: %+v", s.History)
		}
	})
}

// What two dashboards see is recorded once, even if one is behind, or had no news for a long time.
func TestTwoDashboardsRecordATransitionOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		first := newBench(t, dir, cloud)
		<-first.engine.scribe.written()
		second := newBench(t, dir, cloud)
		set := func(b *bench, to core.LockState, release string) {
			cloud.mu.Lock()
			l := *cloud.locks["cmp-1"]
			l.RawState, l.Release = to, release
			cloud.locks["cmp-1"] = &l
			cloud.mu.Unlock()
			b.sync()
			<-b.engine.scribe.written() // otherwise the scheduler decides who writes first
		}
		both := func(to core.LockState) {
			set(first, to, "1")
			set(second, to, "1")
		}
		both(core.LockActive)
		both(core.LockInactive) // the first sees it first
		set(second, core.LockActive, "1")
		set(first, core.LockActive, "1") // and the second
		// The second is behind: it sees each state after the first has seen the next.
		set(first, core.LockInactive, "1")
		set(first, core.LockActive, "1")
		set(second, core.LockInactive, "1")
		set(second, core.LockActive, "1")
		// The second is blind, and comes back when it is over.
		set(first, core.LockInactive, "1")
		time.Sleep(core.MostBehind + time.Second)
		set(second, core.LockInactive, "1")
		both(core.LockActive)
		// The second reports what only it sees.
		set(second, core.LockInactive, "1")
		set(second, core.LockActive, "1")
		set(first, core.LockActive, "1")
		// The first is gone: nothing is left out any more.
		both(core.LockInactive)
		first.end()
		set(second, core.LockActive, "1")
		set(second, core.LockInactive, "1")
		var got []string
		stages := map[string]int{}
		for _, r := range second.journal() {
			if r.Kind == RecordLock && r.Node == "cmp-1" {
				got = append(got, r.From+" → "+r.To)
			}
			if r.Kind == RecordStage && r.From == "" {
				stages[r.Node]++
			}
		}
		off, on := "active → inactive", "inactive → active"
		want := []string{off, on, off, on, off, on, off, on, off, on, off}
		if !slices.Equal(got, want) {
			t.Errorf("the journal tells\n%q, want\n%q", got, want)
		}
		for node, n := range stages {
			if n != 1 {
				t.Errorf("%s was seen for the first time %d times", node, n)
			}
		}
		second.end()
	})
}

// A run does not record a transition that another run has already recorded, whichever saw it first.
func TestWhatIsTold(t *testing.T) {
	at := worldTime
	lock := func(to string, after time.Duration) Record {
		return Record{Kind: RecordLock, Object: &core.Ref{UID: "l"}, To: to, Wall: at.Add(after)}
	}
	heard := told{}
	for i, to := range []string{"inactive", "active", "inactive"} {
		heard.hear(lock(to, time.Duration(i)*time.Second))
	}
	for i, step := range []struct {
		r    Record
		want bool
	}{
		{lock("inactive", 5*time.Second), true},
		{lock("active", 6*time.Second), true},
		{lock("inactive", 7*time.Second), true},
		{lock("active", 8*time.Second), false},   // its own news
		{lock("inactive", 9*time.Second), false}, // after it, what others recorded is history
		{Record{Kind: RecordVerified, Object: &core.Ref{UID: "l"}, To: "inactive"}, false},
	} {
		if got := heard.again(step.r); got != step.want {
			t.Errorf("step %d: told already: %v", i, got)
		}
	}
	entry := func(what EntryEvent, severity string) Record {
		return Record{Kind: RecordEntry, Wall: at, Entry: &EntryRecord{ID: "e", What: what, Severity: severity}}
	}
	for _, what := range []EntryEvent{EntryCame, EntrySettled} { // the other run does something about it
		if heard.hear(entry(what, "notice")); !heard.again(entry(what, "urgent")) {
			t.Errorf("an entry that two runs see in another way %s twice", what)
		}
	}
	if heard.hear(entry(EntryWorse, "warning")); heard.again(entry(EntryWorse, "urgent")) {
		t.Error("what became worse than another run saw is told already")
	}
	known := len(heard)
	for i := range 1000 { // tens of thousands of migrations end in an update
		move := Record{Kind: RecordMove, Wall: at, Move: &MoveRecord{Instance: "i", Migration: i, Status: "completed"}}
		if heard.hear(move); !heard.again(move) || heard.again(move) {
			t.Fatalf("migration %d is not told once", i)
		}
	}
	if len(heard) != known {
		t.Errorf("%d migrations are remembered that both runs have told", len(heard)-known)
	}
	heard.hear(lock("active", time.Minute))
	heard.hear(lock("inactive", time.Minute))
	if heard.again(lock("active", time.Hour)) {
		t.Error("a value that was left long ago counts as this one")
	}
}

// Without file locks the journal is still written, as one file, and NoLocks says why windows cannot know of one another.
func TestJournalWithoutLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := newJournal(path, JournalOptions{Run: "a", Who: "anna", Limit: 1})
	j.locks = func(*os.File, bool) error { return syscall.ENOLCK }
	if err := j.begin(); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.NoLocks(); err == nil || !strings.Contains(err.Error(), "has no locks") {
		t.Errorf("%v", err)
	}
	numbered(t, j, "anna", 0, 100)
	whole(t, path, map[string]int{"anna": 100})
	if left := archives(t, path); len(left) > 0 {
		t.Errorf("put away where another may be writing: %q", left)
	}
}

// A lock server that is away for a moment makes the window wait: what a write depends on is refused, what has happened is written once the
// lock can be had. Nothing is written without it, and the windows still know of one another.
func TestALockThatFailsOnceIsNoEndOfLocks(t *testing.T) {
	for _, failure := range []error{syscall.ENOLCK, syscall.EIO, syscall.ESTALE} {
		j := openJournal(t)
		works := j.locks
		j.locks = func(*os.File, bool) error { return failure }
		if err := j.Write(Record{Kind: RecordBefore, Operation: "not done"}, true); !errors.Is(err, failure) {
			t.Errorf("written without the lock: %v", err)
		}
		if err := j.Keep(true, Record{Kind: RecordVerified, Operation: "1"}); !errors.Is(err, failure) {
			t.Errorf("written without the lock: %v", err)
		}
		if got := operationsIn(t, j.Path()); len(got) > 0 || j.NoLocks() != nil {
			t.Errorf("it has %q, %v", got, j.NoLocks())
		}
		j.locks = works
		if _, err := j.Follow(); err != nil || !slices.Equal(operationsIn(t, j.Path()), []string{"1"}) {
			t.Errorf("%v, %q", err, operationsIn(t, j.Path()))
		}
	}
}
