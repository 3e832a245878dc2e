package engine

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// acts are a part of an update, one minute each: a node goes into its maintenance, stands still, and goes on.
var acts = []func(sc scene.Scene){
	func(scene.Scene) {},
	func(sc scene.Scene) { sc.Maintained("cmp-01", "") },
	func(sc scene.Scene) {
		sc.Maintained("cmp-01", "Waiting servers migration is completed: ['"+scene.IDA+"']")
		sc.Instance("cmp-01", "web-1")
	},
	func(sc scene.Scene) {
		sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
		sc.Maintained("cmp-01", "Some servers are still present on the host. Servers with unset maintenance action: ['"+scene.IDA+"']")
		sc.Instance("cmp-01", "web-1")
	},
	func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockInactive },
	func(sc scene.Scene) {
		sc.Maintained("cmp-01", "").RawState = core.LockInactive
		sc.Nodes["cmp-01"].Cordoned = true
	},
	func(sc scene.Scene) {
		sc.Maintained("cmp-01", "").RawState = core.LockInactive
		sc.Nodes["cmp-01"].Cordoned, sc.Nodes["cmp-01"].Ready = true, "False"
	},
	func(scene.Scene) {},
}

// pastAfter is the History after all acts, with a new run of Lockstep before those acts that are named. Its times are to the second, as a
// Snapshot may wait for the beat.
func pastAfter(t *testing.T, anew ...int) core.History {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	began := time.Now()
	wall := func() time.Time { return scene.Noon.Add(time.Since(began)) }
	var e *Engine
	var leave func()
	start := func() {
		// A file this small is put away again and again: what counts of it is carried on.
		journal, err := OpenJournal(path, JournalOptions{Limit: 1 << 10})
		if err != nil {
			t.Fatal(err)
		}
		past, _ := journal.Past()
		e = New(Config{Cluster: "mos", Operator: "anna@jump01", Wall: wall, Settings: core.DefaultSettings(), Journal: journal, Past: past})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = e.Run(ctx) }()
		leave = func() { stop(); <-ended; journal.Close() }
	}
	show := func(act func(scene.Scene)) {
		sc := scene.NewScene()
		sc.Update(time.Hour)
		sc.Lock("", core.ControllerOpenStack, core.LockInactive)
		sc.Node("cmp-01", core.RoleCompute)
		sc.Node("cmp-02", core.RoleCompute)
		act(sc)
		facts := sc.Objects()
		for id := range sc.Sources {
			e.Apply(core.Delta{Source: id, At: wall(), State: core.SourceLive, Replace: true, Upserts: facts[id]})
		}
		time.Sleep(time.Minute)
	}
	start()
	for i, act := range acts {
		if slices.Contains(anew, i) {
			leave()
			start()
			show(acts[i-1]) // nothing has happened meanwhile
		} else if i > 0 {
			time.Sleep(time.Minute)
		}
		show(act)
	}
	h := e.Snapshot().History
	leave()
	for _, c := range h.Courses {
		for i := range c {
			c[i].Since.At = c[i].Since.At.Round(time.Second)
		}
	}
	for _, stands := range h.Stands {
		for i := range stands {
			stands[i].Since.At, stands[i].Until = stands[i].Since.At.Round(time.Second), stands[i].Until.Round(time.Second)
		}
	}
	return h
}

// A run that comes in the middle has the same past as one that was there all the time: the stages of each node and when the update
// stood still.
func TestThePastIsTheSameAfterARestart(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		want := pastAfter(t)
		var stages []core.Stage
		for _, c := range want.Courses["uid-cmp-01"] {
			stages = append(stages, c.Stage)
		}
		if len(stages) < 6 || !slices.Contains(stages, core.StageWaiting) {
			t.Fatalf("the node went through %q", stages)
		}
		stands := want.Stands[core.PhaseWorkers]
		if len(stands) != 1 || stands[0].Cause != core.StandsForPerson || stands[0].Until.Sub(stands[0].Since.At) != 2*time.Minute {
			t.Fatalf("the update stood still %+v", want.Stands)
		}
		for i := 1; i < len(acts); i++ {
			got := pastAfter(t, i)
			if !reflect.DeepEqual(got.Courses, want.Courses) {
				t.Errorf("after a restart before act %d the courses are\n%+v\nwithout it\n%+v", i, got.Courses, want.Courses)
			}
			if !reflect.DeepEqual(got.Stands, want.Stands) {
				t.Errorf("after a restart before act %d the standstills are\n%+v\nwithout it\n%+v", i, got.Stands, want.Stands)
			}
		}
	})
}

// What happened while no Lockstep ran is told with the time at which it was found, and that nobody watched.
func TestAStageThatBeganUnwatchedSaysSo(t *testing.T) {
	queued := core.StageRecord{Stage: core.StageQueued, Since: core.Since{At: scene.Ago(time.Minute)}}
	h := core.History{Stages: map[string]core.StageRecord{"uid-cmp-01": queued}}
	for _, watched := range []bool{true, false} {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		sc.Maintained("cmp-01", "Waiting servers migration is completed: ['"+scene.IDA+"']")
		sc.Instance("cmp-01", "web-1")
		sc.History.Stages = h.Stages
		e := New(Config{})
		now := e.observeStages(sc.Snapshot, h, watched)
		course := now.Courses["uid-cmp-01"]
		if len(course) != 1 || course[0].Since.Exact != watched {
			t.Errorf("watched: %v, and the course is %+v", watched, course)
		}
		if since := now.Stages["uid-cmp-01"].Since; since.Exact != watched {
			t.Errorf("watched: %v, and the node is at it since %+v", watched, since)
		}
	}
}

// A stage that was seen to begin began then, whatever its evidence says. One that was found began after its evidence, and has been so since
// it was seen: a run that comes later knows that, too.
func TestAStageOfUnknownBeginning(t *testing.T) {
	sc := scene.NewScene()
	n := sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "").RawState = core.LockInactive // asked for 20 minutes ago
	preparing := core.StageRecord{Stage: core.StagePreparing, Since: core.Since{At: scene.Ago(30 * time.Minute), Exact: true}}
	found := core.Since{At: scene.Ago(20 * time.Minute), Later: true, Seen: sc.Now}
	for name, tt := range map[string]struct {
		had     bool
		watched bool
		want    core.Since
	}{
		"seen to begin":             {true, true, core.Since{At: sc.Now, Exact: true}},
		"found after a time":        {true, false, found},
		"found at the start":        {false, false, found},
		"found with its node later": {false, true, found},
	} {
		s := sc.Again()
		s.History.Stages = map[string]core.StageRecord{}
		if tt.had {
			s.History.Stages[n.UID] = preparing
		}
		e := New(Config{})
		now := e.observeStages(s.Snapshot, s.History, tt.watched)
		course := now.Courses[n.UID]
		if got := now.Stages[n.UID]; got.Stage != core.StageReleased || got.Since != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
		if len(course) != 1 || course[0].Since != (core.Since{At: tt.want.At, Exact: tt.want.Exact, Later: tt.want.Later}) {
			t.Errorf("%s: its course is %+v", name, course)
		}
		var told []Record
		if text, err := json.Marshal(e.seen); err != nil || json.Unmarshal(text, &told) != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again := HistoryOf(told)
		if got := again.Stages[n.UID]; got.Since != tt.want {
			t.Errorf("%s: the journal has %+v, want %+v", name, got.Since, tt.want)
		}
	}
}

// A maintenance, a lock's state, a phase and a standstill that ended or began while no Lockstep ran say so: the time is that of the look.
func TestWhatEndedUnwatchedSaysSo(t *testing.T) {
	for _, watched := range []bool{true, false} {
		sc := scene.NewScene()
		update := sc.Update(time.Hour)
		sc.Lock("", core.ControllerOpenStack, core.LockInactive)
		node := sc.Node("cmp-01", core.RoleCompute)
		lock := sc.Lock("cmp-01", core.ControllerOpenStack, core.LockActive)
		open := core.Standstill{Cause: core.StandsForPerson, Subject: "cmp-01", Since: core.Since{At: scene.Ago(30 * time.Minute)}}
		h := core.History{Update: core.UpdateRecord{UID: update.UID, Started: scene.Ago(time.Hour)},
			Rounds: map[string]core.Round{node.UID: {Request: "gone", Update: update.UID, Started: scene.Ago(6 * time.Hour)}},
			Locks:  map[string]*core.LockRecord{lock.UID: {State: core.LockInactive, Since: core.Since{At: scene.Ago(6 * time.Hour), Exact: true}}},
			Phases: map[core.PhaseID]core.PhaseRecord{core.PhaseTrigger: {}},
			Stands: map[core.PhaseID][]core.Standstill{core.PhaseWorkers: {open}}}
		sc.History = h
		e := New(Config{})
		all := looks{all: true}
		if r := e.observeRounds(sc.Snapshot, h, all, watched).Rounds[node.UID]; !r.Ended.Equal(sc.Now) || r.EndUnseen == watched {
			t.Errorf("watched: %v, and the maintenance is %+v", watched, r)
		}
		now := e.observeLocks(sc.Snapshot, h, all, watched)
		if r := now.Lock(lock.UID); r.State != core.LockActive || r.Since.Exact != watched {
			t.Errorf("watched: %v, and the lock is %+v", watched, r)
		}
		if list := e.observeStandstills(sc.Snapshot, h, watched).Stands[core.PhaseWorkers]; len(list) == 0 || list[0].Until.IsZero() ||
			list[0].UntilUnseen == watched {
			t.Errorf("watched: %v, and the standstills are %+v", watched, list)
		}
		for id, r := range e.observePhases(sc.Snapshot, h, watched).Phases {
			if r.Started.At.Equal(sc.Now) && r.Started.Exact != watched {
				t.Errorf("watched: %v, and phase %d is %+v", watched, id, r)
			}
		}
		for _, r := range e.seen {
			if r.Kind == RecordLock && r.Exact != watched {
				t.Errorf("watched: %v, and the journal says %+v", watched, r)
			}
		}
	}
}

// How a lock is found at first is in the journal, where that is not how it is at rest: a run that comes later counts from there, too. One
// that comes while Lockstep watches came so then.
func TestALockIsFoundOnce(t *testing.T) {
	for _, tt := range []struct {
		state core.LockState
		told  bool
	}{{core.LockInactive, true}, {core.LockFailed, true}, {core.LockActive, false}} {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		lock := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		lock.RawState = tt.state
		first := New(Config{Clock: func() time.Time { return sc.Now }})
		want := first.observeLocks(sc.Snapshot, sc.History, looks{all: true}, false).StateSince(lock)
		if told := len(first.seen) == 1; told != tt.told || told && (first.seen[0].From != "" || first.seen[0].Exact) {
			t.Errorf("%s: told %+v", tt.state, first.seen)
		}
		if (want.At.Equal(sc.Now) && !want.Exact) != tt.told {
			t.Errorf("%s: since %+v", tt.state, want)
		}
		if _, asks := first.past.locks[lock.UID]; asks != tt.told {
			t.Errorf("%s: its last write is asked for: %v", tt.state, asks)
		}
		again := sc.Again()
		again.Now = again.Now.Add(time.Hour)
		later := New(Config{})
		h := later.observeLocks(again.Snapshot, HistoryOf(first.seen), looks{all: true}, false)
		if got := h.StateSince(lock); got != want || len(later.seen) > 0 {
			t.Errorf("%s: a later run has it since %+v, and told %+v", tt.state, got, later.seen)
		}
		came := New(Config{Clock: func() time.Time { return sc.Now }})
		made := came.observeLocks(sc.Snapshot, sc.History, looks{all: true}, true)
		if got := made.StateSince(lock); tt.told && got != (core.Since{At: sc.Now, Exact: true}) || len(came.past.locks) > 0 {
			t.Errorf("%s: it came while Lockstep watched, since %+v, %+v", tt.state, got, came.past.locks)
		}
	}
}

// A lock that was inactive in the maintenance before and is so in this one may have been active in between: its last write is asked for.
func TestALockOfAnEarlierMaintenanceIsAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		known   core.Since
		watched bool
		looked  time.Duration // ago, by this run; 0: never
		anew    bool
	}{
		"known in an earlier one":              {core.Since{At: scene.Ago(50 * time.Hour), Exact: true}, false, 0, true},
		"known in this one":                    {core.Since{At: scene.Ago(10 * time.Minute)}, false, 0, false},
		"this run has looked at it since":      {core.Since{At: scene.Ago(50 * time.Hour)}, false, 10 * time.Minute, false},
		"this run looked before this one":      {core.Since{At: scene.Ago(50 * time.Hour)}, false, 50 * time.Minute, true},
		"it was watched when it was asked for": {core.Since{At: scene.Ago(50 * time.Hour)}, true, 50 * time.Minute, false},
	} {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "") // asked for 20 minutes ago
		lock := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		lock.RawState = core.LockInactive
		h := core.History{Locks: map[string]*core.LockRecord{lock.UID: {State: core.LockInactive, Since: tt.known}}}
		e := New(Config{Clock: func() time.Time { return sc.Now }})
		if tt.looked > 0 {
			e.lookedAt = scene.Ago(tt.looked)
		}
		now := e.observeLocks(sc.Snapshot, h, looks{names: []string{"cmp-01"}}, tt.watched)
		if got := now.Lock(lock.UID).Since; got != tt.known || (e.past.locks[lock.UID].was.State != "") != tt.anew {
			t.Errorf("%s: since %+v, want %+v; asked for %+v", name, got, tt.known, e.past.locks[lock.UID])
		}
		if slices.ContainsFunc(e.seen, func(r Record) bool { return r.Object.UID == lock.UID }) {
			t.Errorf("%s: told %+v, though nobody saw a change", name, e.seen)
		}
	}
}

// When another node waits for the operator, that is another standstill, even when the first goes on in the same moment.
func TestEachNodeThatWaitsIsAStandstillOfItsOwn(t *testing.T) {
	e, h := New(Config{}), core.History{}
	look := func(at time.Duration, waiting ...string) {
		sc := scene.NewScene()
		update := sc.Update(time.Hour)
		sc.Lock("", core.ControllerOpenStack, core.LockInactive)
		for i, name := range waiting {
			sc.Node(name, core.RoleCompute).Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
			id := scene.IDA[:len(scene.IDA)-1] + string(rune('1'+i))
			sc.Maintained(name, "Some servers are still present on the host. Servers with unset maintenance action: ['"+id+"']")
			sc.Instance(name, "web-1")
		}
		sc.Now = sc.Now.Add(at)
		h.Update = core.UpdateRecord{UID: update.UID, Started: scene.Ago(time.Hour)}
		sc.History = h
		h = e.observeStandstills(sc.Snapshot, h, true)
	}
	look(0, "cmp-01")
	look(time.Minute, "cmp-01", "cmp-02")
	look(2*time.Minute, "cmp-02")
	look(3*time.Minute, "cmp-02")
	var got []string
	for _, st := range h.Stands[core.PhaseWorkers] {
		got = append(got, string(st.Cause)+" "+st.Subject)
	}
	if want := []string{"operator cmp-01", "operator cmp-02"}; !slices.Equal(got, want) {
		t.Errorf("the standstills are %q, want %q", got, want)
	}
}

// A node's maintenance in the update before stays known while it goes through this one, and after a restart; one whose length is not known
// does not.
func TestTheMaintenanceOfTheUpdateBeforeIsKept(t *testing.T) {
	last := core.Round{Request: "was", Update: "last", Started: scene.Ago(240 * time.Hour), Ended: scene.Ago(239 * time.Hour)}
	unseen, reboot := last, last
	unseen.EndUnseen, reboot.Beside = true, true
	for _, tt := range []struct {
		old  core.Round
		kept bool
	}{{last, true}, {unseen, false}, {reboot, false},
		{core.Round{Request: "by hand", Started: last.Started, Ended: last.Ended}, false}} {
		sc := scene.NewScene()
		update := sc.Update(time.Hour)
		node := sc.Node("cmp-01", core.RoleCompute)
		sc.Maintained("cmp-01", "")
		e := New(Config{})
		h := e.observeRounds(sc.Snapshot, core.History{Rounds: map[string]core.Round{node.UID: tt.old}}, looks{all: true}, true)
		if got, kept := h.Earlier[node.UID]; kept != tt.kept || kept && got != tt.old || h.Rounds[node.UID].Update != update.UID {
			t.Errorf("of %+v is kept %+v beside %+v", tt.old, got, h.Rounds[node.UID])
		}
		past := append([]Record{{Kind: RecordRound, Object: new(node.Ref()), Round: &tt.old}}, e.seen...)
		if again := replay(past); again.Earlier[node.UID] != h.Earlier[node.UID] {
			t.Errorf("after a restart of %+v is kept %+v", tt.old, again.Earlier)
		}
	}
}

// A graceful reboot has a request of the cluster, and is no update: how long it took says nothing of an update's nodes, and it does not
// take the place of what an update took.
func TestAGracefulRebootIsNoPaceOfAnUpdate(t *testing.T) {
	sc := scene.NewScene()
	cmr := sc.Update(time.Hour)
	node := sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "")
	m := sc.Managed()
	sc = m.Join(&core.RebootRequest{Meta: core.Meta{Name: m.Cluster.Name, Namespace: m.Cluster.Namespace}})
	h := New(Config{}).observeRounds(sc.Snapshot, core.History{}, looks{all: true}, true)
	if r := h.Rounds[node.UID]; r.Update != cmr.UID || !r.Beside || r.OfUpdate() {
		t.Errorf("it counts as one of an update: %+v", r)
	}
}

// However long an update takes, a course and a list of standstills stay short.
func TestThePastIsBounded(t *testing.T) {
	var course core.Course
	var stands []core.Standstill
	for i := range 1000 {
		at := core.Since{At: scene.Noon.Add(time.Duration(i) * time.Second)}
		course = course.With(core.CourseStage{Stage: []core.Stage{core.StageEvacuating, core.StageWaiting}[i%2], Since: at})
		stands = core.WithStandstill(stands, core.Standstill{Cause: core.StandsByAlert, Since: at})
	}
	if len(course) != core.MostCourseStages || !course[len(course)-1].Since.At.Equal(scene.Noon.Add(999*time.Second)) {
		t.Errorf("a course has %d stages, the last at %s", len(course), course[len(course)-1].Since.At)
	}
	if len(stands) != core.MostStandstills || !stands[len(stands)-1].Since.At.Equal(scene.Noon.Add(999*time.Second)) {
		t.Errorf("%d standstills are kept", len(stands))
	}
}
