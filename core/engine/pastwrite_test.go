package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// hungUp begins a confirmed step and hangs up while the server has the first call. The next run begins a minute later.
func hungUp(t *testing.T, cloud *testCloud, i core.Intent) (next *bench, id string) {
	t.Helper()
	dir := t.TempDir()
	b := newBench(t, dir, cloud)
	b.arm()
	cloud.onWrite = func(string) { b.cancel() }
	id, err := b.confirm(i)
	if err != nil {
		t.Fatal(err)
	}
	<-b.ended
	cloud.onWrite = nil
	time.Sleep(time.Minute)
	return newBench(t, dir, cloud), id
}

// killed does the same with a kill, which leaves only the journal as it was while the server had the call. The function after
// decides what the call leads to.
func killed(t *testing.T, cloud *testCloud, i core.Intent, after func(c *testCloud)) (next *bench, id string) {
	t.Helper()
	dir := t.TempDir()
	b := newBench(t, t.TempDir(), cloud)
	b.arm()
	cloud.onWrite = func(string) {
		copyJournal(t, b.path, dir)
	}
	id, err := b.confirm(i)
	if err != nil {
		t.Fatal(err)
	}
	b.await(id, func(op core.Operation) bool {
		return op.State.Ended() || op.State == core.OperationVerifying && op.Text != "accepted"
	})
	cloud.onWrite = nil
	b.end()
	cloud.mu.Lock()
	after(cloud)
	cloud.mu.Unlock()
	time.Sleep(time.Minute)
	return newBench(t, dir, cloud), id
}

func toldBy(s *core.Snapshot, rule string) []core.Attention {
	return slices.DeleteFunc(slices.Clone(attention.Of(s)), func(a core.Attention) bool { return !strings.HasPrefix(a.ID, rule) })
}

// What a kill left unseen is looked up at the next start, and reported as it is: done, under way, or not done.
func TestWhatAKillLeftUnseenIsLookedUp(t *testing.T) {
	at := func(host string) func(c *testCloud) {
		return func(c *testCloud) {
			in := c.instances["id-web-1"]
			in.Host, in.Status, in.TaskState = host, "ACTIVE", ""
			m := c.migrations["id-web-1"][0]
			if m.Status = "completed"; host != m.DestHost {
				m.Status, m.Failure = "error", failText
			}
		}
	}
	for name, tt := range map[string]struct {
		intent core.Intent
		after  func(c *testCloud) // what the call leads to
		state  core.OperationState
		text   string
		told   int // entries of it that need somebody
	}{
		"it has left":    {liveMigrate("web-1"), at("cmp-2"), core.OperationDone, "runs on cmp-2", 0},
		"it failed":      {liveMigrate("web-1"), at("cmp-1"), core.OperationFailed, "No valid host", 1},
		"it moves still": {liveMigrate("web-1"), func(*testCloud) {}, core.OperationVerifying, "running, to cmp-2", 0},
		"the instance is gone": {liveMigrate("web-1"),
			func(c *testCloud) { delete(c.instances, "id-web-1") }, core.OperationSkipped, "does not exist any more", 0},
		"a stop that was done": {core.Intent{Kind: core.IntentStop, Instance: "id-web-1"},
			func(*testCloud) {}, core.OperationDone, "is SHUTOFF on cmp-1", 0},
		"a stop that was not": {core.Intent{Kind: core.IntentStop, Instance: "id-web-1"},
			func(c *testCloud) { c.instances["id-web-1"].Status = "ACTIVE" }, core.OperationFailed,
			"nothing shows that it was done: it is ACTIVE on cmp-1", 1},
		"a stop that was not, of an instance that has left since": {core.Intent{Kind: core.IntentStop, Instance: "id-web-1"},
			func(c *testCloud) { c.instances["id-web-1"].Status, c.instances["id-web-1"].Host = "ACTIVE", "cmp-2" }, core.OperationFailed,
			"nothing shows that it was done: it is ACTIVE on cmp-2", 1},
		"a cold migration": {core.Intent{Kind: core.IntentColdMigrate, Instance: "id-web-1"},
			func(*testCloud) {}, core.OperationDone, "waits to be confirmed or reverted", 0},
		"a migration mode": {core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-2"}, Mode: core.ModeLive},
			func(*testCloud) {}, core.OperationDone, "", 0},
		"a mode that was not set": {core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-2"}, Mode: core.ModeLive},
			func(c *testCloud) { c.annotations["cmp-2"][core.AnnotationMigrationMode] = "manual" }, core.OperationUnknown, leftUnseen, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				cloud.migrating = true
				b, id := killed(t, cloud, tt.intent, tt.after)
				defer func() { b.end() }()
				b.sync()
				op := b.operation(id)
				if op.State != tt.state || !strings.Contains(op.Text, tt.text) {
					t.Errorf("it is %s: %s", op.State, op.Text)
				}
				if got := toldBy(b.engine.Snapshot(), "operation/"); len(got) != tt.told {
					t.Errorf("told: %+v", got)
				}
				if got := cloud.written(); len(got) != 1 {
					t.Errorf("the cloud received %q", got)
				}
				if tt.state == core.OperationVerifying {
					cloud.mu.Lock()
					cloud.finish("id-web-1")
					cloud.mu.Unlock()
					b.sync()
					if op := b.operation(id); op.State != core.OperationDone || op.Text != "runs on cmp-2" {
						t.Errorf("after its end it is %s: %s", op.State, op.Text)
					}
				}
				b.end()
				if _, err := ReadJournal(b.path, func(r Record) {
					if r.Took < 0 {
						t.Errorf("the record of its end says that it took %g s: %+v", r.Took, r)
					}
				}); err != nil {
					t.Error(err)
				}
				again := newBench(t, filepath.Dir(b.path), cloud)
				defer again.end()
				want := tt.state // what has ended well needs no third look
				switch tt.state {
				case core.OperationDone, core.OperationVerifying, core.OperationSkipped:
					want = ""
				}
				if op := again.operation(id); op.State != want {
					t.Errorf("the run after that has it as %s: %s", op.State, op.Text)
				}
			})
		})
	}
}

// In a batch that a hang-up cut off, nothing has failed: finished items are done, items under way are watched, and the rest was
// not begun and can be confirmed again.
func TestABatchThatWasCutOffIsToldAsItIs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.migrating = true
		b, id := hungUp(t, cloud, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
		defer b.end()
		b.sync()
		op := b.operation(id)
		if op.State != core.OperationVerifying || op.Text != "0 of 3 done, 1 under way, 2 not begun" {
			t.Errorf("it is %s: %s", op.State, op.Text)
		}
		if item := op.Items[0]; item.State != core.OperationVerifying || !strings.Contains(item.Text, "running, to cmp-2") ||
			item.Started.IsZero() {
			t.Errorf("its first item is %+v", item)
		}
		if got := toldBy(b.engine.Snapshot(), "operation/"); len(got) != 0 {
			t.Errorf("told: %+v", got)
		}
		if got := toldBy(b.engine.Snapshot(), "node-waits/"); len(got) != 1 || got[0].Severity != core.SeverityUrgent {
			t.Errorf("nobody moves the others, and the node's entry is %+v", got)
		}
		if err := b.engine.Control(id, core.ControlStop); err == nil {
			t.Error("what another run began can be stopped")
		}
		b.arm()
		if st := step.Plan(b.engine.Snapshot(), liveMigrate("web-2")); !st.Doable() {
			t.Errorf("the next one cannot be confirmed: %s", st.Blocker())
		}
		cloud.mu.Lock()
		cloud.finish("id-web-1")
		cloud.mu.Unlock()
		b.sync()
		if op := b.operation(id); op.State != core.OperationStopped || op.Text != "1 of 3 done, 2 not begun" ||
			op.Items[0].Text != "runs on cmp-2" {
			t.Errorf("it is %s: %s; %+v", op.State, op.Text, op.Items[0])
		}
	})
}

// A step that was cut off before anything was sent has not failed, in the journal and for the next run: not when a server was asked,
// not when its record was written, and not beside another item that was sent.
func TestWhatWasNotSentOnLeavingHasNotFailed(t *testing.T) {
	cutOff := map[string]func(b *bench, cloud *testCloud){
		"when another item was sent": func(b *bench, cloud *testCloud) {
			cloud.onWrite = func(string) { b.cancel(); time.Sleep(time.Second) }
		},
		"when its record was written": func(b *bench, _ *testCloud) {
			synced := b.engine.cfg.Journal.sync
			b.engine.cfg.Journal.sync = func(f *os.File) error {
				if text, err := os.ReadFile(b.path); err != nil || strings.Contains(string(text), `"kind":"before"`) {
					b.cancel()
				}
				return synced(f)
			}
		},
	}
	for when, cut := range cutOff {
		for name, intent := range map[string]core.Intent{
			"a batch": {Kind: core.IntentLiveMigrateAll, Node: "cmp-1"}, "one": liveMigrate("web-1"),
		} {
			if name == "one" && when == "when another item was sent" {
				continue
			}
			t.Run(name+" "+when, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					cloud := newTestCloud()
					settings := core.DefaultSettings()
					settings.MigrateAtOnce = 2
					cloud.migrating = true
					b := newBenchWith(t, t.TempDir(), cloud, settings)
					b.arm()
					<-b.engine.scribe.written()
					cut(b, cloud)
					id, err := b.confirm(intent)
					if err != nil {
						t.Fatal(err)
					}
					<-b.ended
					for _, r := range b.journal() {
						if r.State == string(core.OperationFailed) || strings.Contains(r.Text, "failed") {
							t.Errorf("%s: %s, %s; %+v", r.Kind, r.State, r.Text, r.Items)
						}
					}
					again := newBench(t, filepath.Dir(b.path), cloud)
					defer again.end()
					again.sync()
					if op := again.operation(id); op.State == core.OperationFailed {
						t.Errorf("the next run has it as %s: %s", op.State, op.Text)
					}
				})
			})
		}
	}
}

// Times are those of the work: when it was confirmed or sent, and when it ended by Nova's record; not when Lockstep left or
// looked.
func TestTimesOfAnEarlierRunAreThoseOfTheWork(t *testing.T) {
	at := func(minute int) time.Time { return scene.Noon.Add(time.Duration(minute-60) * time.Minute) }
	intent := liveMigrate("db-1")
	object := &core.Ref{Kind: core.KindInstance, Name: "db-1", UID: "id-db-1"}
	begun := &core.ActionBegun{Host: "cmp-01", Status: "ACTIVE", At: at(41)}
	batch := []Record{
		{Kind: RecordGrant, Operation: "b", At: at(40)},
		{Kind: RecordBefore, Operation: "b/0", At: at(41), Wall: at(41), Intent: &intent, Object: object, Begun: begun},
		{Kind: RecordVerified, Operation: "b/0", At: at(43), State: string(core.OperationUnknown)},
		{Kind: RecordEnded, Operation: "b", At: at(54), State: string(core.OperationUnknown),
			Began: at(40), Items: []ItemRecord{{Label: "db-1", Instance: "id-db-1", State: core.OperationUnknown, Began: at(41), Ended: at(43)}}},
	}
	single := []Record{{Kind: RecordBefore, Operation: "s", At: at(41), Wall: at(41), Intent: &intent, Object: object, Begun: begun}}
	for id, past := range map[string][]Record{"b": batch, "s": single} {
		o := newOperations()
		o.restore(past)
		op := o.list()[0]
		if want := map[string]time.Time{"b": at(40), "s": at(41)}[id]; op.ID != id || !op.Started.Equal(want) || id == "s" && !op.Ended.IsZero() {
			t.Errorf("%s is %+v", id, op)
		}
		if id == "b" && (!op.Items[0].Started.Equal(at(41)) || !op.Items[0].Ended.Equal(at(43))) {
			t.Errorf("its item is %+v", op.Items[0])
		}
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		sc.Node("cmp-02", core.RoleCompute)
		in := sc.Instance("cmp-02", "db-1")
		sc.Instances.Remove(in.ID)
		in.ID = "id-db-1"
		sc.Instances.Put(in)
		sc.Migrations[in.ID] = []*core.Migration{{ID: 7, InstanceID: in.ID, Type: core.MigrationLive, Status: "completed",
			SourceHost: "cmp-01", DestHost: "cmp-02", Created: at(41), Updated: at(44)}}
		ended, _ := o.lookUp(sc.Snapshot)
		if len(ended) != 1 || ended[0].State != core.OperationDone || !ended[0].Ended.Equal(at(44)) {
			t.Fatalf("%s ended as %+v", id, ended)
		}
		again := newOperations()
		again.restore(append(past, o.endOf(ended[0])))
		if left := again.list(); len(left) != 0 {
			t.Errorf("%s is still told by the run after that: %+v", id, left)
		}
	}
}

// Who acknowledges that an end is not known has not acknowledged that it failed. The run that learns it and the next one tell it alike.
func TestAnEndThatIsLearntAfterItWasAcknowledgedIsTold(t *testing.T) {
	intent := liveMigrate("db-1")
	past := []Record{
		{Kind: RecordBefore, Operation: "s", At: scene.Noon, Wall: scene.Noon, Intent: &intent,
			Object: &core.Ref{Kind: core.KindInstance, Name: "db-1", UID: "id-db-1"},
			Begun:  &core.ActionBegun{Host: "cmp-01", Status: "ACTIVE", At: scene.Noon}},
		{Kind: RecordControl, Operation: "s", State: stateAcknowledged},
	}
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	in := sc.Instance("cmp-01", "db-1")
	sc.Instances.Remove(in.ID)
	in.ID = "id-db-1"
	sc.Instances.Put(in)
	sc.Migrations[in.ID] = []*core.Migration{{ID: 7, InstanceID: in.ID, Type: core.MigrationLive, Status: "cancelled", SourceHost: "cmp-01",
		Created: scene.Noon.Add(time.Second), Updated: scene.Noon.Add(time.Minute)}}
	now := newOperations()
	now.restore(past[:1])
	if !now.acknowledge("s") {
		t.Fatal("it cannot be acknowledged")
	}
	ended, _ := now.lookUp(sc.Snapshot)
	if len(ended) != 1 || ended[0].State != core.OperationFailed {
		t.Fatalf("%+v", ended)
	}
	next := newOperations()
	next.restore(append(past, now.endOf(ended[0])))
	for who, o := range map[string]*operations{"this run": now, "the next": next} {
		if list := o.list(); len(list) != 1 || list[0].State != core.OperationFailed || list[0].Acknowledged {
			t.Errorf("%s has %+v", who, list)
		}
	}
}

// What the cluster showed before a write, or right after it, tells nothing of it: a poll may hang while its source is live.
func TestNothingShowsItInFactsThatAreOlder(t *testing.T) {
	for asOf, ended := range map[time.Duration]bool{-time.Second: false, 5 * time.Second: false, nothingShows: true} {
		sc := scene.Healthy()
		in := sc.InstancesOn("cmp-01")[0]
		w := core.PastWrite{Operation: "1", Intent: core.Intent{Kind: core.IntentStop, Instance: in.ID}, Object: in.Ref(),
			Begun: &core.ActionBegun{Host: in.Host, Status: in.Status, At: scene.Ago(time.Hour)}, At: scene.Ago(time.Hour),
			Wall: scene.Ago(time.Hour)}
		for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations} {
			src := sc.Sources[id]
			src.State, src.AsOf = core.SourceLive, w.Wall.Add(asOf)
			sc.Sources[id] = src
		}
		if o, ok := lookUp(sc.Snapshot, w); ok != ended || ok && o.state != core.OperationFailed {
			t.Errorf("by facts of %s after it: %v, %+v", asOf, ok, o)
		}
	}
}

// What is under way when an update begins still counts for the run after this one; what ended before does not. That the same update is
// noted once more, by another run, changes nothing.
func TestWhatIsUnderWayAsAnUpdateBeginsStillCounts(t *testing.T) {
	begins := Record{Kind: RecordUpdate, Update: &core.UpdateRecord{UID: "u2", Started: scene.Noon}}
	before := func(id string) Record {
		intent := liveMigrate("db-" + id)
		return Record{Kind: RecordBefore, Operation: id, At: scene.Noon, Wall: scene.Noon, Intent: &intent,
			Object: &core.Ref{Kind: core.KindInstance, Name: "db-" + id, UID: "id-db-" + id},
			Begun:  &core.ActionBegun{Host: "cmp-01", At: scene.Noon}}
	}
	failed := Record{Kind: RecordVerified, Operation: "failed", At: scene.Noon, State: string(core.OperationFailed)}
	for name, past := range map[string][]Record{
		"another update": {before("failed"), failed, before("flying"), begins},
		"the same again": {begins, before("flying"), begins},
	} {
		d := newDigest(false)
		for _, r := range past {
			d.add(r)
		}
		for from, records := range map[string][]Record{"the journal": past, "its next file": d.records()} {
			o := newOperations()
			o.restore(records)
			if list := o.list(); len(list) != 1 || list[0].ID != "flying" || !list[0].Ended.IsZero() || len(o.unseen) != 1 {
				t.Errorf("%s: by %s there are %+v, and unseen %+v", name, from, list, o.unseen)
			}
		}
	}
}

// A migration of an earlier run whose host has died meanwhile has not failed for all that is known: its record runs. It stays open.
func TestAMigrationOfAnEarlierRunOffADeadHostStaysOpen(t *testing.T) {
	intent := liveMigrate("db-1")
	o := newOperations()
	o.restore([]Record{{Kind: RecordBefore, Operation: "s", At: scene.Ago(time.Hour), Wall: scene.Ago(time.Hour), Intent: &intent,
		Object: &core.Ref{Kind: core.KindInstance, Name: "db-1", UID: "id-db-1"},
		Begun:  &core.ActionBegun{Host: "cmp-01", Status: "ACTIVE", At: scene.Ago(time.Hour)}}})
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	in := sc.Instance("cmp-01", "db-1")
	sc.Instances.Remove(in.ID)
	in.ID, in.Status, in.TaskState = "id-db-1", "MIGRATING", "migrating"
	sc.Instances.Put(in)
	sc.Migrations[in.ID] = []*core.Migration{{ID: 7, InstanceID: in.ID, Type: core.MigrationLive, Status: "running", SourceHost: "cmp-01",
		Created: scene.Ago(59 * time.Minute), Updated: scene.Ago(58 * time.Minute)}}
	sc.Dies("cmp-01")
	if ended, _ := o.lookUp(sc.Snapshot); len(ended) > 0 || len(o.unseen) != 1 {
		t.Errorf("it ended as %+v; unseen: %+v", ended, o.unseen)
	}
}
