package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
)

// notedWorld is the fixture with a note on a node, one that is done, and one whose time has come.
func notedWorld() *core.Snapshot {
	s := world()
	s.Notes = []core.Note{
		{ID: "1", On: core.NoteOn{Node: "kaas-node-cmp07", Label: "cmp-07"}, Text: "its owner is informed",
			By: "anna@jump01", At: before(time.Hour)},
		{ID: "2", On: core.NoteOn{Label: "the update"}, Text: "told the customer that it is late", By: "bert@jump01",
			At: before(50 * time.Minute), Done: true},
		{ID: "3", On: core.NoteOn{Instance: instanceID(1), Label: "web-1"}, Text: "its owner will stop it himself", By: "anna@jump01",
			At: before(40 * time.Minute), Until: before(5 * time.Minute)},
	}
	return s
}

// waits is the first entry, which waits for a person, set aside in the fixture by a note.
func waits(t *testing.T) (*core.Snapshot, core.Attention) {
	t.Helper()
	s := world()
	a := attention.Of(s)[0]
	s = s.CopyFacts()
	s.Notes = []core.Note{attention.SetAside(core.Note{ID: "4", On: core.NoteOn{Entry: a.ID, Label: a.Label},
		Text: "bert asks the owner", By: "anna@jump01", At: before(time.Minute)}, a, fixtureNow.Add(time.Hour))}
	return s, a
}

func TestNotesAsTheyAreShown(t *testing.T) {
	aside, _ := waits(t)
	for _, size := range sizes {
		name := func(what string) string { return fmt.Sprintf("note%s-%dx%d", what, size.w, size.h) }
		golden(t, name("s"), stripped(drive(notedWorld(), size.w, size.h).keys("1").palette("notes").shows()))
		golden(t, name("d"), stripped(drive(notedWorld(), size.w, size.h).keys("3").shows()))
		golden(t, name("-form"), stripped(drive(world(), size.w, size.h).keys("1", "#", "bert asks the owner", "tab", "+45m", "tab",
			"space").shows()))
		golden(t, name("-aside"), stripped(drive(aside, size.w, size.h).keys("1", "end").shows()))
		golden(t, name("-aside-entry"), stripped(drive(aside, size.w, size.h).keys("1", "end", "enter").shows()))
	}
}

// palette runs the action that the palette finds by what is typed.
func (d *driver) palette(text string) *driver { return d.keys(":", text, "enter") }

// A note is about what is selected, and is kept once, however often enter is pressed.
func TestANoteIsAboutWhatIsSelected(t *testing.T) {
	a := attention.Of(world())[0]
	for _, tt := range []struct {
		keys []string
		on   core.NoteOn
	}{
		{[]string{"1"}, core.NoteOn{Entry: a.ID, Label: a.Label}},
		{[]string{"1", "enter"}, core.NoteOn{Entry: a.ID, Label: a.Label}},
		{[]string{"2"}, core.NoteOn{Label: "the update"}},
		{[]string{"3"}, core.NoteOn{Node: "kaas-node-cmp07", Label: "cmp-07"}},
		{[]string{"4"}, core.NoteOn{Instance: instanceID(3), Label: "batch-17"}},
	} {
		d := drive(world(), 120, 40).keys(tt.keys...)
		d.keys("#", "owner informed", "enter", "enter")
		if len(d.fake.notes) != 1 || d.fake.notes[0].On != tt.on || d.fake.notes[0].Text != "owner informed" {
			t.Errorf("%v: kept are %+v", tt.keys, d.fake.notes)
		}
		if _, opened := d.top().(*entryPage); d.top() != nil && (!opened || len(tt.keys) == 1) {
			t.Errorf("%v: the second enter does something else", tt.keys)
		}
		if !strings.Contains(d.shows(), "noted") {
			t.Errorf("%v: it is not said:\n%s", tt.keys, stripped(d.shows()))
		}
	}
}

// The form says what is wrong, keeps what was typed, and keeps no note until it is right.
func TestTheFormOfANoteSaysWhatIsWrong(t *testing.T) {
	d := drive(world(), 120, 40).keys("1", "#", "enter")
	says := func(want string) {
		t.Helper()
		if shown := stripped(d.shows()); !strings.Contains(shown, want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
	says("a note needs a text")
	d.keys("bert asks", "tab", "soon", "enter")
	says(`"soon" is not a time`)
	d.send(namedKeys["esc"])
	d.keys("#", "bert asks", "tab", "tab", "space", "enter")
	says("until when does it wait")
	d.keys("shift+tab", "+13h", "enter")
	says("at most 12 h")
	if len(d.fake.notes) > 0 {
		t.Fatalf("kept are %+v", d.fake.notes)
	}
	d.fake.noteErr = errors.New("the disk is full")
	d.keys("backspace", "backspace", "backspace", "1h", "enter")
	says("the disk is full")
	says("bert asks")
	d.fake.noteErr = nil
	d.keys("enter")
	says("set aside until")
	n := d.fake.notes[len(d.fake.notes)-1]
	if !n.Aside || !n.Until.Equal(fixtureNow.Add(time.Hour)) || n.Severity != "urgent" || n.Matter == "" {
		t.Errorf("%+v", n)
	}
}

// What puts data at risk is not set aside: the form says so, and has no field for it.
func TestTheFormDoesNotSetAsideWhatPutsDataAtRisk(t *testing.T) {
	d := drive(world(), 120, 40).keys("1")
	a := attention.Of(d.snap)[0]
	f := newNoteForm(d.Model, core.Note{On: core.NoteOn{Entry: a.ID, Label: a.Label}})
	if f.fields(d.Model) != noteAside+1 {
		t.Fatal("what waits for a person cannot be set aside")
	}
	for _, a := range attention.Of(notedWorld()) {
		if a.Rule == core.RulePromise {
			d.send(snapshotMsg{notedWorld()})
			f = newNoteForm(d.Model, core.Note{On: core.NoteOn{Entry: a.ID}})
			if f.fields(d.Model) != noteUntil+1 {
				t.Error("a reminder can be set aside")
			}
			return
		}
	}
	t.Error("nothing is promised")
}

// What is set aside comes last, is said to wait, and is not counted as urgent.
func TestWhatIsSetAsideIsSeen(t *testing.T) {
	s, a := waits(t)
	d := drive(s, 120, 40, func(o *Options) { o.Title, o.CountUrgent = "Lockstep", true }).keys("1")
	rows := d.needs.All()
	if last := rows[len(rows)-1]; last.ID != a.ID {
		t.Errorf("the last row is %s", last.ID)
	}
	shown := stripped(d.keys("end").shows())
	for _, want := range []string{"waits for somebody else until", "1 set aside"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
	was := drive(world(), 120, 40, func(o *Options) { o.Title, o.CountUrgent = "Lockstep", true }).windowTitle()
	if now := d.windowTitle(); now == was {
		t.Errorf("the title still says %q", now)
	}
	d.keys("enter")
	if !strings.Contains(stripped(d.shows()), "have it back") {
		t.Errorf("there is no way back:\n%s", stripped(d.shows()))
	}
	d.entryShownT(t).ways.Choose("do/aside.back")
	d.keys("enter")
	if n := d.fake.notes; len(n) != 1 || !n[0].Done || n[0].ID != "4" {
		t.Errorf("%+v", n)
	}
}

func (d *driver) entryShownT(t *testing.T) *entryPage {
	t.Helper()
	p, ok := d.entryShown()
	if !ok {
		t.Fatal("no entry is shown")
	}
	return p
}

// On the page of notes a note is changed, done, and gone to; a note that is done is left alone.
func TestThePageOfNotes(t *testing.T) {
	d := drive(notedWorld(), 120, 40).palette("notes")
	d.keys("enter", " (by phone)", "enter")
	if n := d.fake.notes; len(n) != 1 || n[0].ID != "3" || n[0].Text != "its owner will stop it himself (by phone)" || !n[0].Until.IsZero() {
		t.Fatalf("%+v", n)
	}
	d.keys("D")
	if n := d.fake.notes; len(n) != 2 || n[1].ID != "3" || !n[1].Done {
		t.Errorf("%+v", n)
	}
	d.keys("end", "D", "enter")
	if len(d.fake.notes) != 2 || !strings.Contains(stripped(d.shows()), "it is done") {
		t.Errorf("%+v\n%s", d.fake.notes, stripped(d.shows()))
	}
	d.keys("home", "f")
	if d.focus != ScopeInstances {
		t.Errorf("the focus is on %s", d.focus)
	}
}

// A long note is changed without losing its end, and one that is not changed stays as it is, its author's.
func TestChangingALongNoteKeepsItsEnd(t *testing.T) {
	s := notedWorld()
	long := strings.Repeat("its owner moves it himself, ", 11) + "by phone at 03:00"
	s.Notes[2].Text = long
	d := drive(s, 120, 40).palette("notes")
	d.keys("enter", "enter")
	if n := d.fake.notes; len(n) != 0 || !strings.Contains(stripped(d.shows()), "the note is as it was") {
		t.Errorf("a note that was not changed is written: %+v\n%s", n, stripped(d.shows()))
	}
	if _, open := d.top().(*notesPage); !open {
		t.Errorf("%T is open", d.top())
	}
	d.keys("enter", "!", "enter")
	if n := d.fake.notes; len(n) != 1 || n[0].Text != long+"!" {
		t.Errorf("%d characters: %+v", len(long), n)
	}
}

// A note whose time is days ahead keeps it, to the second, when its text is changed.
func TestChangingANoteKeepsItsTime(t *testing.T) {
	for _, ahead := range []time.Duration{2*time.Hour + 7*time.Second, 49*time.Hour + 7*time.Second} {
		s := notedWorld()
		until := s.Now.Add(ahead)
		for i := range s.Notes {
			s.Notes[i].Until = until
		}
		d := drive(s, 120, 40).palette("notes")
		d.keys("enter", " (by phone)", "enter")
		if n := d.fake.notes; len(n) != 1 || !n[0].Until.Equal(until) || !strings.HasSuffix(n[0].Text, "(by phone)") {
			t.Errorf("%s ahead: %+v\n%s", ahead, n, stripped(d.shows()))
		}
	}
}

// At its time a note says so, once.
func TestANoteRemindsOnTheScreen(t *testing.T) {
	s := notedWorld()
	s.Notes[2].Until = fixtureNow.Add(time.Minute)
	d := drive(s, 120, 40)
	if strings.Contains(stripped(d.shows()), "promised") {
		t.Error("it reminds before its time")
	}
	later := s.CopyFacts()
	later.Revision, later.Now = s.Revision+1, fixtureNow.Add(time.Minute)
	d.send(snapshotMsg{later})
	if want := "web-1: promised until " + clock(later.Now, later.Now); !strings.Contains(stripped(d.shows()), want) {
		t.Errorf("it does not say %q:\n%s", want, stripped(d.shows()))
	}
	n := d.toast.n
	again := later.CopyFacts()
	again.Revision, again.Now = later.Revision+1, later.Now.Add(time.Minute)
	if d.send(snapshotMsg{again}); d.toast.n != n {
		t.Errorf("it reminds again: %s", d.toast.text)
	}
}

// An entry that is over while its form is open cannot be set aside any more. The form says so, and keeps the note alone when asked again.
func TestAnEntryThatIsOverIsNotSetAside(t *testing.T) {
	d := drive(world(), 120, 40).keys("1", "#", "bert asks", "tab", "+45m", "tab", "space")
	over := d.snap.CopyFacts()
	over.Revision++
	over.NodeRequests, over.NodeLocks = nil, core.ByName[[]*core.WorkloadLock]{}
	d.send(snapshotMsg{over})
	if d.keys("space"); d.top().(*noteForm).text.Value() != "bert asks" {
		t.Errorf("a key for another field was typed: %q", d.top().(*noteForm).text.Value())
	}
	if d.keys("enter"); len(d.fake.notes) > 0 || !strings.Contains(stripped(d.shows()), "its entry is over") {
		t.Errorf("kept are %+v\n%s", d.fake.notes, stripped(d.shows()))
	}
	if d.keys("enter"); len(d.fake.notes) != 1 || d.fake.notes[0].Aside || d.fake.notes[0].Text != "bert asks" {
		t.Errorf("kept are %+v", d.fake.notes)
	}
}
