package core

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// asleep is a time as time.Now tells it on a machine that has slept for so long: the wall clock has gone on, the monotonic one has not.
func asleep(t time.Time, slept time.Duration) time.Time {
	const shift = 30 // above the nanoseconds, in the first word of a Time that has a monotonic reading
	*(*uint64)(unsafe.Pointer(&t)) += uint64(slept/time.Second) << shift
	return t
}

func TestAsleepIsWhatASleepingMachineTells(t *testing.T) {
	before := time.Now()
	after := asleep(before, 2*time.Hour)
	if after.Sub(before) != 0 || after.Round(0).Sub(before) != 2*time.Hour {
		t.Fatalf("%s and %s", before, after)
	}
}

// After a suspend what is known is as old as the wall clock says, and a confirmation from before counts no longer. A bubble has no
// monotonic clock: this one is on real time, and waits for none.
func TestASuspendMakesWhatIsKnownOld(t *testing.T) {
	cloud := newTestCloud()
	journal, err := OpenJournal(filepath.Join(t.TempDir(), "journal.jsonl"), JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var slept atomic.Int64
	wall := func() time.Time { return asleep(time.Now(), time.Duration(slept.Load())) }
	e := New(Config{Cluster: "mos", Operator: "anna@jump01", Journal: journal, Kubernetes: cloud, OpenStack: cloud,
		Writers: Writers{Kubernetes: cloud, OpenStack: cloud}, Lease: cloud,
		Wall: wall, Clock: func() time.Time { return worldTime }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	tell := func() {
		for _, d := range cloud.deltas(wall()) {
			e.Apply(d)
		}
		e.call(e.drain)
	}
	tell()
	if err := e.Arm(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	step := Plan(e.Snapshot(), liveMigrate("web-1"))
	if b := step.Blocker(); b != "" {
		t.Fatal(b)
	}
	grant, err := e.Grant(step, step.Type)
	if err != nil {
		t.Fatal(err)
	}

	slept.Store(int64(2 * time.Hour))
	e.call(func() {})
	s := e.Snapshot()
	if ok, text := s.fresh(SourceInstances); ok || !strings.Contains(text, "2 h") {
		t.Errorf("fresh: %v, %q", ok, text)
	}
	told := false
	for _, a := range s.Attention() {
		told = told || strings.Contains(a.Reason, "not confirmed for 2 h")
	}
	if !told {
		t.Errorf("it is not told: %+v", s.Attention())
	}
	if b := Plan(s, liveMigrate("web-1")).Blocker(); b == "" {
		t.Error("a step rests on facts from before the suspend")
	}

	tell()
	if ok, text := e.Snapshot().fresh(SourceInstances); !ok {
		t.Errorf("after the sources have been heard: %s", text)
	}
	_, err = e.Execute(t.Context(), grant)
	refused(t, err, "the confirmation is older than")
}
