package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/step"
	"lockstep/scene"
)

// After a suspend the facts are as old as the wall clock says, and a grant from before has expired. A bubble has no monotonic
// clock, so this test uses real time; it does not wait.
func TestASuspendMakesWhatIsKnownOld(t *testing.T) {
	cloud := newTestCloud()
	journal, err := OpenJournal(filepath.Join(t.TempDir(), "journal.jsonl"), JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var slept atomic.Int64
	wall := func() time.Time { return scene.Asleep(time.Now(), time.Duration(slept.Load())) }
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
	if err := e.Arm(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	st := step.Plan(e.Snapshot(), liveMigrate("web-1"))
	if b := st.Blocker(); b != "" {
		t.Fatal(b)
	}
	grant, err := e.Grant(st, st.Type)
	if err != nil {
		t.Fatal(err)
	}

	slept.Store(int64(2 * time.Hour))
	e.call(func() {})
	s := e.Snapshot()
	if ok, text := s.Fresh(core.SourceInstances); ok || !strings.Contains(text, "2 h") {
		t.Errorf("fresh: %v, %q", ok, text)
	}
	told := false
	for _, a := range attention.Of(s) {
		told = told || strings.Contains(a.Reason, "not confirmed for 2 h")
	}
	if !told {
		t.Errorf("it is not told: %+v", attention.Of(s))
	}
	if b := step.Plan(s, liveMigrate("web-1")).Blocker(); b == "" {
		t.Error("a step rests on facts from before the suspend")
	}

	tell()
	if ok, text := e.Snapshot().Fresh(core.SourceInstances); !ok {
		t.Errorf("after the sources have been heard: %s", text)
	}
	_, err = e.Execute(t.Context(), grant)
	refused(t, err, "the confirmation is older than")
}

// asleep is an operator lease at whose confirmation, the last question before a write, the machine falls asleep.
type asleep struct {
	*testCloud
	falls func()
}

func (a asleep) Confirm(ctx context.Context) error {
	err := a.testCloud.Confirm(ctx)
	a.falls()
	return err
}

// What the servers answered before a suspend is no reason for a write after it. Real time, as above.
func TestWhatTheServersAnsweredBeforeASuspendIsOld(t *testing.T) {
	for slept, want := range map[time.Duration]core.OperationState{
		answersHold - 10*time.Second: core.OperationDone, answersHold + time.Second: core.OperationFailed, 2 * time.Hour: core.OperationFailed,
	} {
		cloud := newTestCloud()
		journal, err := OpenJournal(filepath.Join(t.TempDir(), "journal.jsonl"), JournalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var sleeps atomic.Int64
		wall := func() time.Time { return scene.Asleep(time.Now(), time.Duration(sleeps.Load())) }
		e := New(Config{Cluster: "mos", Operator: "anna@jump01", Journal: journal, Kubernetes: cloud, OpenStack: cloud,
			Writers: Writers{Kubernetes: cloud, OpenStack: cloud}, Lease: asleep{cloud, func() { sleeps.Store(int64(slept)) }},
			Wall: wall, Clock: func() time.Time { return worldTime }})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = e.Run(ctx) }()
		for _, d := range cloud.deltas(wall()) {
			e.Apply(d)
		}
		e.call(e.drain)
		if err := e.Arm(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		st := step.Plan(e.Snapshot(), liveMigrate("web-1"))
		g, err := e.Grant(st, st.Type)
		if err != nil {
			t.Fatal(err)
		}
		snapshots, stop := e.Subscribe()
		id, err := e.Execute(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		var op core.Operation
		for s := range snapshots {
			i := slices.IndexFunc(s.Operations, func(o core.Operation) bool { return o.ID == id })
			if i >= 0 && s.Operations[i].State.Ended() {
				op = s.Operations[i]
				break
			}
		}
		stop()
		if wrote := len(cloud.written()) > 0; op.State != want || wrote != (want == core.OperationDone) {
			t.Errorf("after %s it is %s: %s; written %v", slept, op.State, op.Text, cloud.written())
		}
		cancel()
		<-ended
		journal.Close()
	}
}
