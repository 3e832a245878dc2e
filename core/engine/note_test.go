package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// A note is in the journal before it is seen. The next run has it, and one that is changed or done replaces what it was.
func TestANoteIsKept(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, ctx := t.TempDir(), context.Background()
		b := newBench(t, dir, newTestCloud())
		n, err := b.engine.Note(ctx, core.Note{On: core.NoteOn{Node: "cmp-01", Label: "cmp-01"},
			Text: "  owner informed\nby https://u:geheim@x/ ", Until: worldTime.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if n.ID == "" || n.By != "anna@jump01" || !n.At.Equal(worldTime) || strings.Contains(n.Text, "geheim") || strings.Contains(n.Text, "\n") {
			t.Errorf("it is kept as %+v", n)
		}
		if s := b.engine.Snapshot(); s.Write.Armed || len(s.Notes) != 1 || s.Notes[0] != n {
			t.Errorf("armed %v, shown are %+v", s.Write.Armed, s.Notes)
		}
		n.Text = "owner will stop it himself"
		changed, err := b.engine.Note(ctx, n)
		if err != nil || changed.ID != n.ID {
			t.Fatalf("%+v, %v", changed, err)
		}
		other, err := b.engine.Note(ctx, core.Note{Text: "the customer's window is over at six"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.engine.Note(ctx, core.Note{ID: other.ID, Done: true}); err != nil {
			t.Fatal(err)
		}
		b.end()
		b = newBench(t, dir, newTestCloud())
		defer b.end()
		s := b.engine.Snapshot()
		if open := s.OpenNotes("", "cmp-01", ""); len(s.Notes) != 2 || len(open) != 1 || open[0].Text != "owner will stop it himself" {
			t.Errorf("the next run has %+v", s.Notes)
		}
		if done, _ := s.NoteByID(other.ID); !done.Done || done.Text != "the customer's window is over at six" {
			t.Errorf("what is done is %+v", done)
		}
	})
}

// What cannot be a note is refused, and says why; nothing of it is in the journal.
func TestWhatIsNoNoteIsRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		entry := core.NoteOn{Entry: "node-waits/1"}
		for _, tt := range []struct {
			note core.Note
			why  string
		}{
			{core.Note{Text: " \n"}, "needs a text"},
			{core.Note{Text: "x", Until: worldTime}, "is past"},
			{core.Note{Text: "x", Aside: true, Until: worldTime.Add(time.Hour)}, "only an entry"},
			{core.Note{Text: "x", Aside: true, On: entry}, "until a time"},
			{core.Note{Text: "x", Aside: true, On: entry, Until: worldTime.Add(core.MostAside + time.Minute)}, "at most 12 h"},
			{core.Note{Text: "x", ID: "other"}, "there is no note other"},
			{core.Note{ID: "other", Done: true}, "there is no note other"},
		} {
			_, err := b.engine.Note(context.Background(), tt.note)
			refused(t, err, tt.why)
		}
		if s := b.engine.Snapshot(); len(s.Notes) > 0 {
			t.Errorf("kept are %+v", s.Notes)
		}
		for _, r := range b.journal() {
			if r.Kind == RecordNote {
				t.Errorf("%+v", r)
			}
		}
	})
}

// A note that cannot be written to the disk is not shown as if it were.
func TestANoteThatCannotBeWrittenIsRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		<-b.engine.cfg.Journal.turn
		b.engine.cfg.Journal.write = func(*os.File, []byte) (int, error) { return 0, errors.New("no space left on device") }
		b.engine.cfg.Journal.release()
		_, err := b.engine.Note(context.Background(), core.Note{Text: "x"})
		refused(t, err, "no space left")
		if s := b.engine.Snapshot(); len(s.Notes) > 0 {
			t.Errorf("shown are %+v", s.Notes)
		}
	})
}

// Another run on the journal takes a note in.
func TestNotesOfOtherRunsAreTakenIn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir := t.TempDir()
		anna, bert := newBench(t, dir, newTestCloud()), newBench(t, dir, newTestCloud())
		defer anna.end()
		defer bert.end()
		n, err := anna.engine.Note(context.Background(), core.Note{Text: "owner informed"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * tickEvery)
		if s := bert.engine.Snapshot(); len(s.Notes) != 1 || s.Notes[0] != n {
			t.Errorf("the other run has %+v", s.Notes)
		}
		if _, err := bert.engine.Note(context.Background(), core.Note{ID: n.ID, Done: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * tickEvery)
		if s := anna.engine.Snapshot(); len(s.Notes) != 1 || !s.Notes[0].Done {
			t.Errorf("the run that wrote it has %+v", s.Notes)
		}
	})
}

// A run that only reads the journal, as a watch does, takes in what others do as well: their notes, and what they
// changed. It goes on in the next file, and finds a journal that comes later.
func TestARunThatOnlyReadsFollowsTheOthers(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "journal.jsonl")
		follower, past, _, err := OpenFollower(path)
		if err != nil || len(past) > 0 {
			t.Fatal(past, err)
		}
		watch := New(Config{Cluster: "mos", Follower: follower, Lives: func(run string) (string, bool) { return RunLives(path, run) }})
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = watch.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		anna := newBench(t, dir, newTestCloud())
		defer func() { anna.end() }()
		note, err := anna.engine.Note(ctx, core.Note{Text: "owner informed", Until: worldTime.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * tickEvery)
		if s := watch.Snapshot(); len(s.Notes) != 1 || s.Notes[0] != note {
			t.Errorf("the watch has %+v", s.Notes)
		}
		anna.arm()
		id, err := anna.confirm(core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-2"}, Mode: core.ModeSkip})
		if err != nil {
			t.Fatal(err)
		}
		anna.awaitEnd(id)
		release, err := anna.engine.cfg.Journal.exclusive()
		if err != nil {
			t.Fatal(err)
		}
		if err := anna.engine.cfg.Journal.rotate(); err != nil {
			t.Fatal(err)
		}
		release()
		if _, err := anna.engine.Note(ctx, core.Note{ID: note.ID, Done: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * tickEvery)
		if s := watch.Snapshot(); len(s.Notes) != 1 || !s.Notes[0].Done || len(s.History.Changes) != 1 {
			t.Errorf("after the next file has begun, the watch has %+v and %+v", s.Notes, s.History.Changes)
		}
		if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "Lockstep ended") {
			t.Errorf("%s, %v", raw, err)
		}
	})
}

// The journal's next file has the notes that are not done, and as many of those that are done as a run lists.
func TestNotesAreCarriedIntoTheNextFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := OpenJournal(path, JournalOptions{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	write := func(r Record) {
		t.Helper()
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	note := func(id string, minute int, done bool) {
		at := worldTime.Add(time.Duration(minute) * time.Minute)
		write(Record{Kind: RecordNote, Wall: worldTime, Note: &core.Note{ID: id, Text: "first", At: at}})
		write(Record{Kind: RecordNote, Wall: worldTime, Note: &core.Note{ID: id, Text: "last", At: at, Done: done}})
	}
	note("open", 0, false)
	for i := range core.MostNotesDone + 20 {
		note("done"+strconv.Itoa(i), i, true)
	}
	for i := 0; j.number == 1; i++ {
		write(Record{Kind: RecordStart, Wall: worldTime, Text: strings.Repeat("x", 4000)})
	}
	past, _, err := readPast(path)
	if err != nil {
		t.Fatal(err)
	}
	notes := notesOf(past)
	if len(notes) != core.MostNotesDone+1 || notes[0].ID != "open" || notes[0].Text != "last" || notes[1].ID != "done20" {
		t.Errorf("%d notes, the first %+v", len(notes), notes[:min(2, len(notes))])
	}
	write(Record{Kind: RecordUpdate, Wall: worldTime, Update: &core.UpdateRecord{UID: "next", Started: worldTime}})
	if past, _, err = readPast(path); err != nil {
		t.Fatal(err)
	}
	if notes := notesOf(past); len(notes) != 1 || notes[0].ID != "open" {
		t.Errorf("in the next update there are %d notes", len(notes))
	}
}
