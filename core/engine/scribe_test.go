package engine

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// hold makes every fsync of the journal wait until release is called, and then do what it did before.
func (b *bench) hold() (release func()) {
	held := make(chan struct{})
	before := b.engine.cfg.Journal.sync
	b.engine.cfg.Journal.sync = func(f *os.File) error {
		<-held
		return before(f)
	}
	return sync.OnceFunc(func() { close(held) })
}

// A disk that hangs holds up only writes to the cluster: Deltas are taken in and shown, refusals come at once, and nothing is
// sent before its record is on the disk.
func TestADiskThatHangsHoldsUpNobody(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		g, again := b.grant(liveMigrate("web-1")), b.grant(liveMigrate("web-2"))
		<-b.engine.scribe.written()
		release := b.hold()
		defer release()
		began := time.Now()
		if err := b.execute(g); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if op := b.operation(g.ID); op.State != core.OperationRunning || len(b.cloud.written()) > 0 {
			t.Errorf("it is %s: %s; %q were sent", op.State, op.Text, b.cloud.written())
		}
		b.locked(func(c *testCloud) { c.instances["id-web-3"].Status = "SHUTOFF" })
		b.sync()
		if in := b.engine.Snapshot().Instances.At("id-web-3"); in.Status != "SHUTOFF" {
			t.Errorf("the instance is shown as %s", in.Status)
		}
		again.Typed = "another"
		refused(t, b.execute(again), "not as it was given")
		b.engine.Acknowledge("none")
		b.engine.Disarm()
		if took := time.Since(began); took > 0 {
			t.Errorf("that took %s", took)
		}
		release()
		if op := b.awaitEnd(g.ID); op.State != core.OperationFailed || len(b.cloud.written()) > 0 {
			t.Errorf("disarmed meanwhile, it is %s: %s; %q were sent", op.State, op.Text, b.cloud.written())
		}
	})
}

// What the servers said before a write is good for a minute and a half. When the disk takes longer for the record, nothing is sent, and the
// journal says so: the write is to be confirmed again.
func TestADiskThatHangsSendsNothingOnOldAnswers(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for hangs, want := range map[time.Duration]core.OperationState{
			answersHold - time.Second: core.OperationDone,
			answersHold + time.Second: core.OperationFailed,
			10 * time.Minute:          core.OperationFailed,
		} {
			b := newBench(t, t.TempDir(), newTestCloud())
			b.arm()
			g := b.grant(liveMigrate("web-1"))
			<-b.engine.scribe.written()
			release := b.hold()
			if err := b.execute(g); err != nil {
				t.Fatal(err)
			}
			time.Sleep(hangs)
			release()
			op := b.awaitEnd(g.ID)
			sent := len(b.cloud.written())
			if op.State != want || want == core.OperationFailed && (sent > 0 || !strings.Contains(op.Text, "confirm it again")) {
				t.Errorf("after %s it is %s: %s; %d were sent", hangs, op.State, op.Text, sent)
			}
			b.end()
			last := Record{}
			if _, err := ReadJournal(b.path, func(r Record) {
				if r.Operation == g.ID && r.Kind == RecordVerified {
					last = r
				}
			}); err != nil || last.State != string(want) {
				t.Errorf("after %s the journal has %+v, %v", hangs, last, err)
			}
		}
	})
}

// A disk that is full while a step is done takes nothing from the journal: that the step was accepted, and how it ended, is written as soon
// as there is room.
func TestTheEndOfAStepWaitsForRoomOnTheDisk(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		b.arm()
		g := b.grant(liveMigrate("web-1"))
		room := func() {}
		b.cloud.onWrite = func(string) { room = fullDisk(b.engine.cfg.Journal, 0) }
		if err := b.execute(g); err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(g.ID); op.State != core.OperationDone {
			t.Fatalf("it is %s: %s", op.State, op.Text)
		}
		<-b.engine.scribe.written()
		room()
		b.end()
		var kinds []RecordKind
		if _, err := ReadJournal(b.path, func(r Record) {
			if r.Operation == g.ID {
				kinds = append(kinds, r.Kind)
			}
		}); err != nil || !slices.Equal(kinds, []RecordKind{RecordGrant, RecordBefore, RecordAfter, RecordVerified, RecordEnded}) {
			t.Errorf("the journal has %v, %v", kinds, err)
		}
	})
}

// A record can stay in the journal though the disk was not known to have it, and nothing was sent. The journal has the end of that step,
// too: the next run does not take it for done.
func TestAStepWhoseRecordWasNotSyncedIsNotTakenForDone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		b.arm()
		g := b.grant(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"})
		<-b.engine.scribe.written()
		before, fails := b.engine.cfg.Journal.sync, true
		b.engine.cfg.Journal.sync = func(f *os.File) error {
			if fails {
				fails = false
				return syscall.ENOSPC
			}
			return before(f)
		}
		if err := b.execute(g); err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(g.ID); op.State != core.OperationFailed || len(b.cloud.written()) > 0 {
			t.Errorf("it is %s: %s; %q were sent", op.State, op.Text, b.cloud.written())
		}
		b.end()
		past, _ := readAll(t, b.path)
		if !slices.ContainsFunc(past, func(r Record) bool { return r.Kind == RecordBefore }) {
			t.Error("the record did not stay")
		}
		if h := HistoryOf(past); len(h.Stopped) > 0 {
			t.Errorf("the next run takes it to have stopped %+v", h.Stopped)
		}
	})
}

// The operator is told once that the journal cannot be written, and why, and once that it is again.
func TestTheOperatorIsToldThatTheJournalCannotBeWritten(t *testing.T) {
	var told []string
	e := New(Config{Journal: openJournal(t), Trouble: func(text string) { told = append(told, text) }})
	for _, err := range []error{nil, syscall.ENOSPC, syscall.ENOSPC, errLeaving, nil, nil} {
		e.kept(err)
	}
	if len(told) != 2 || !strings.Contains(told[0], "cannot be written (no space left on device): its records wait") ||
		!strings.Contains(told[1], "is written again") {
		t.Errorf("%q", told)
	}
}

// slowBook takes a second for each record, and refuses records that a write depends on.
type slowBook struct {
	mu      sync.Mutex
	written string // the titles
}

func (b *slowBook) read() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written
}

func (b *slowBook) Keep(_ bool, records ...Record) error {
	for _, r := range records {
		time.Sleep(time.Second)
		b.mu.Lock()
		b.written += r.Title
		b.mu.Unlock()
	}
	return nil
}

func (b *slowBook) Write(r Record, durable bool) error {
	_ = b.Keep(durable, r)
	return errors.New("the disk is full")
}

// Records are written in the order in which things happened, whether or not somebody waits for them.
func TestRecordsKeepTheirOrder(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := &slowBook{}
		s := scribe{journal: b}
		s.put(false, nil, Record{Title: "a"}, Record{Title: "b"})
		failed := make(chan error, 1)
		s.demand(Record{Title: "c"}, func(err error) { failed <- err })
		s.put(false, nil, Record{Title: "d"})
		if err := <-failed; err == nil || b.read() != "abc" {
			t.Errorf("%v after %v", err, b.read())
		}
		<-s.written()
		if b.read() != "abcd" {
			t.Errorf("%v", b.read())
		}
	})
}

// Leaving does not wait forever for a disk that hangs.
func TestLeavingDoesNotWaitForADiskThatHangs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		b.arm()
		<-b.engine.scribe.written()
		release := b.hold()
		began := time.Now()
		b.cancel()
		<-b.engine.done
		if took := time.Since(began); took > leaveTimeout+time.Second {
			t.Errorf("left after %s", took)
		}
		if err := b.engine.Arm(context.Background(), ""); !errors.Is(err, ErrRefused) {
			t.Errorf("armed after the end: %v", err)
		}
		release()
		<-b.ended
	})
}

// A record says what was known when it was made, however late it is written: it shares no memory with its maker.
func TestARecordIsDetachedFromItsMaker(t *testing.T) {
	var r Record
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
	d := reflect.ValueOf(r.detached())
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && f.Pointer() == d.Field(i).Pointer() {
			t.Errorf("%s is shared", v.Type().Field(i).Name)
		}
	}
}
