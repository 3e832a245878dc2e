package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// tells are the records of entries about a node or instance, in a few words: "came notice", "settled after 40s".
func tells(records []Record, about string) []string {
	var out []string
	for _, r := range records {
		if r.Kind != RecordEntry || r.Node != about && r.Entry.Instance != about {
			continue
		}
		text := string(r.Entry.What) + " " + r.Entry.Severity
		lasted := time.Duration(r.Took * float64(time.Second)).Round(4 * entriesEvery) // it was looked at now and then
		switch r.Entry.What {
		case EntrySettled:
			text = "settled after " + lasted.String()
			if !r.Exact {
				text += ", unseen"
			}
			for _, by := range r.Entry.Seen {
				text += ", seen to by " + by.Title
			}
		case EntrySeenTo:
			text = "seen to by " + r.Entry.Seen[len(r.Entry.Seen)-1].Title
		}
		out = append(out, text)
	}
	return out
}

// alive is a cloud whose clock goes.
func alive() *testCloud {
	c := newTestCloud()
	c.since = time.Now()
	return c
}

// guest moves an instance to cmp-2, which is still to be updated in manual mode, or back to cmp-1. There it will hold the node.
func (b *bench) guest(there bool) {
	b.locked(func(c *testCloud) {
		c.instances["id-web-1"].Host = "cmp-1"
		if there {
			c.instances["id-web-1"].Host = "cmp-2"
		}
	})
	b.sync()
}

func wantTold(t *testing.T, b *bench, about string, want ...string) {
	t.Helper()
	if got := tells(b.journal(), about); !reflect.DeepEqual(got, want) {
		t.Errorf("the journal tells about %s:\n%s\nwant\n%s", about, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An entry of "Needs you" is in the journal when it came and when it was settled, once, with how long it was there. What was there for a
// moment is not.
func TestTheJournalTellsWhatNeededAPerson(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), alive())
		defer b.end()
		time.Sleep(time.Minute)
		b.guest(true)
		time.Sleep(4 * time.Second)
		b.guest(false)
		time.Sleep(time.Minute)
		wantTold(t, b, "cmp-2")

		b.guest(true)
		time.Sleep(40 * time.Second)
		b.guest(false)
		time.Sleep(5 * time.Second)
		b.guest(true) // it was away for a moment: it is the same entry
		time.Sleep(35 * time.Second)
		b.guest(false)
		time.Sleep(time.Minute)
		wantTold(t, b, "cmp-2", "came notice", "settled after 1m20s")
	})
}

// What an operator does about an entry is told with it.
func TestTheJournalTellsWhoSawToAnEntry(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := alive()
		cloud.migrating = true
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		time.Sleep(time.Minute)
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		b.locked(func(c *testCloud) { c.finish("id-web-1") })
		b.sync()
		b.awaitEnd(id)
		time.Sleep(time.Minute)
		wantTold(t, b, "cmp-1", "came urgent", "seen to by live-migrate web-1")
		for _, r := range b.journal() {
			if (r.Kind == RecordVerified || r.Kind == RecordEnded) && (r.Took < 60 || r.Took > 65) {
				t.Errorf("%s took %g s", r.Kind, r.Took)
			}
		}
	})
}

// killedWithAGuest plays a run that has told of a guest on cmp-2 and was killed.
func killedWithAGuest(t *testing.T, dir string, cloud *testCloud) {
	t.Helper()
	b := newBench(t, dir, cloud)
	time.Sleep(time.Minute)
	b.guest(true)
	time.Sleep(time.Minute)
	<-b.engine.scribe.written()
	b.die()
	b.cancel()
}

// The next run goes on with the entries of a run that was killed: what is still there did not come again, and what is gone was settled
// while nobody looked.
func TestTheNextRunGoesOnWithTheEntries(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), alive()
		killedWithAGuest(t, dir, cloud)
		cloud.mu.Lock()
		cloud.instances["id-web-1"].Host = "cmp-1"
		cloud.mu.Unlock()
		time.Sleep(time.Minute)
		next := newBench(t, dir, cloud)
		defer next.end()
		time.Sleep(time.Minute)
		wantTold(t, next, "cmp-1", "came urgent")
		wantTold(t, next, "cmp-2", "came notice", "settled after 2m0s, unseen")
	})
}

// Two windows tell of an entry once. The second does not settle what the first one still sees.
func TestTwoWindowsTellOfAnEntryOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), alive()
		first := newBench(t, dir, cloud)
		defer first.end()
		time.Sleep(time.Minute)
		first.guest(true)
		time.Sleep(time.Minute)
		blind := newTestCloud() // it is told nothing of this
		blind.since = cloud.since
		second := newBench(t, dir, blind)
		defer second.end()
		time.Sleep(time.Minute)
		wantTold(t, first, "cmp-2", "came notice")
		second.cloud = cloud
		second.sync()
		time.Sleep(time.Minute)
		first.guest(false)
		second.sync()
		time.Sleep(time.Minute)
		wantTold(t, first, "cmp-2", "came notice", "settled after 3m0s")
	})
}

// Whether another window lives is asked of the disk. One that does not answer holds nothing up; until it does, the window may live.
func TestADiskThatHangsHoldsNoSnapshotUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), alive()
		killedWithAGuest(t, dir, cloud)
		answers := make(chan struct{})
		blind := newTestCloud() // it is told nothing of the guest
		blind.since = cloud.since
		blind.lives = func(string) (string, bool) { <-answers; return "", false }
		second := newBench(t, dir, blind)
		defer second.end()
		time.Sleep(time.Minute)
		before := second.engine.Snapshot()
		time.Sleep(time.Minute)
		if after := second.engine.Snapshot(); after.Now.Sub(before.Now) < 50*time.Second {
			t.Errorf("%s after %s", after.Now, before.Now)
		}
		wantTold(t, second, "cmp-2", "came notice")
		close(answers)
		time.Sleep(time.Minute)
		wantTold(t, second, "cmp-2", "came notice", "settled after 1m0s, unseen")
	})
}

// The entries that are there go along when the journal's file is put away.
func TestEntriesGoAlongIntoTheNextFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openSmall(t, path)
	entry := func(id string, what EntryEvent) {
		r := Record{Kind: RecordEntry, Entry: &EntryRecord{ID: id, What: what, Severity: "urgent"}}
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	entry("stays", EntryCame)
	entry("goes", EntryCame)
	entry("goes", EntrySettled)
	numbered(t, j, "anna", 0, 100)
	if n := len(archives(t, path)); n < 2 {
		t.Fatalf("%d files were put away", n)
	}
	past, _, err := readPast(path)
	if err != nil {
		t.Fatal(err)
	}
	var b entryBook
	b.remember(past)
	if len(b.open) != 1 || b.open["stays"] == nil {
		t.Errorf("it remembers %v", b.open)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A migration is in the journal once when it has ended, whoever began it. The next run tells of those that ended meanwhile, with the time
// at which they ended, and of no other again.
func TestTheJournalTellsOfEachMigrationOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), alive()
		now := func() time.Time { return worldTime.Add(time.Since(cloud.since)) }
		moves := func(b *bench) (out []string) {
			for _, r := range b.journal() {
				if r.Kind == RecordMove {
					out = append(out, r.Says())
				}
			}
			return out
		}
		status := func(b *bench, instance string, id int, status string) {
			b.locked(func(c *testCloud) {
				all := c.migrations[instance]
				if len(all) == 0 || all[len(all)-1].ID != id {
					all = append(all, &core.Migration{ID: id, InstanceID: instance, Type: core.MigrationLive, SourceHost: "cmp-1", DestHost: "cmp-2",
						Created: now()})
				}
				m := *all[len(all)-1]
				m.Status, m.Updated = status, now()
				c.migrations[instance] = append(all[:len(all)-1:len(all)-1], &m)
			})
			b.sync()
			time.Sleep(time.Second)
		}
		var away []*core.Migration
		b := newBench(t, dir, cloud)
		time.Sleep(time.Minute)
		before := len(moves(b))
		status(b, "id-web-1", 71, "running")
		status(b, "id-web-1", 71, "completed")
		status(b, "id-web-2", 72, "error")
		time.Sleep(time.Minute)
		b.sync()
		b.locked(func(c *testCloud) { away = c.migrations["id-web-1"]; delete(c.migrations, "id-web-1") }) // Nova lists the newest only
		b.sync()
		time.Sleep(time.Minute)
		b.locked(func(c *testCloud) { c.migrations["id-web-1"] = away })
		b.sync()
		time.Sleep(time.Minute)
		want := []string{"web-1: live-migration from cmp-1 to cmp-2: completed, after 1 s", "web-2: live-migration from cmp-1 to cmp-2: error"}
		if got := moves(b)[before:]; !reflect.DeepEqual(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		status(b, "id-web-3", 73, "running")
		b.end()
		cloud.mu.Lock()
		m := *cloud.migrations["id-web-3"][0]
		m.Status, m.Updated = "completed", now()
		cloud.migrations["id-web-3"] = []*core.Migration{&m}
		cloud.mu.Unlock()
		time.Sleep(5 * time.Minute)
		next := newBench(t, dir, cloud)
		defer next.end()
		time.Sleep(time.Minute)
		want = append(want, "web-3: live-migration from cmp-1 to cmp-2: completed, after 1 s")
		if got := moves(next)[before:]; !reflect.DeepEqual(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for _, r := range next.journal() {
			if r.Kind == RecordMove && r.Move.Migration == 73 && !r.At.Equal(m.Updated) {
				t.Errorf("it is told at %s, and ended %s, when nobody looked", r.At, m.Updated)
			}
		}
	})
}
