package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// ownedMany is owned with n more instances on cmp-07 that need their owner.
func ownedMany(n int) *core.Snapshot {
	s := owned()
	on := *s.ByHost["kaas-node-cmp07"][0]
	on.Tags = []string{core.TagMaintenanceAction + string(core.ActionNotify)}
	on.Status, on.TaskState = "ACTIVE", ""
	for i := range n {
		in := on
		in.ID, in.Name = fmt.Sprintf("ffff%04x-8a3c-4f10-9d2e-5b1f0c7a0000", i), fmt.Sprintf("many-%04d", i)
		s.Instances.Put(&in)
		s.ByHost[in.Host] = append(s.ByHost[in.Host], &in)
	}
	return s
}

// A frame of the page costs what is seen of it: the notes of a large cloud are megabytes, and a frame is drawn for every key.
func TestOwnersAreNotMadeForEveryFrame(t *testing.T) {
	d := drive(ownedMany(500), 120, 40, withOwners(newDesk())).keys("1", "O", "v")
	for _, what := range []string{"CSV", "text"} {
		if n := testing.AllocsPerRun(5, func() { d.top().draw(d.Model, 120, 40) }); n > 1000 {
			t.Errorf("as %s, a frame of 40 lines made %v allocations", what, n)
		}
		d.keys("v")
	}
	d.keys("/", "Many-0300")
	if n := testing.AllocsPerRun(5, func() { d.top().draw(d.Model, 120, 40) }); n > 1000 || !strings.Contains(foundLine(d), "many-0300") {
		t.Errorf("with a search on %q a frame made %v allocations", foundLine(d), n)
	}
}

// Where there are too many notes to write them while the screen is drawn, the page turns and takes another width all the same, however
// often a Snapshot comes meanwhile.
func TestManyOwnersAreWrittenBesideTheLoop(t *testing.T) {
	d := drive(ownedMany(500), 120, 40, withOwners(newDesk())).keys("1", "O")
	p := d.top().(*ownersPage)
	_, cmd := d.Update(namedKeys["left"]) // to the last project, which has them all or not
	d.run(cmd)
	for p.few() {
		d.keys("left")
	}
	_, csv := d.Update(tea.KeyPressMsg{Code: 'v', Text: "v"})
	if frame := stripped(d.shows()); csv == nil || !strings.Contains(frame, "being written") {
		t.Errorf("they are written while the screen is drawn:\n%s", frame)
	}
	for range 3 {
		d.later(10 * time.Second).news()
	}
	d.run(csv)
	if frame := stripped(d.shows()); !strings.Contains(frame, `"project","project_id"`) {
		t.Errorf("the notes are not there:\n%s", frame)
	}
	d.send(tea.WindowSizeMsg{Width: 100, Height: 40})
	d.shows()
	s := ownedMany(500)
	s.Revision = d.snap.Revision + 1
	d.send(snapshotMsg{s})
	if frame := stripped(d.shows()); !strings.Contains(frame, `"project","project_id"`) {
		t.Errorf("the notes are not there in another width:\n%s", frame)
	}
}

// The notes are gathered beside the screen's loop: an Update waits for none of them, and the page follows when they are there.
func TestOwnersAreGatheredBesideTheLoop(t *testing.T) {
	d := drive(owned(), 120, 40, withOwners(newDesk())).keys("1", "O")
	p := d.top().(*ownersPage)
	s := ownedMany(8)
	s.Revision = d.snap.Revision + 1
	_, cmd := d.later(time.Minute).Update(snapshotMsg{s})
	if text := p.content(); !strings.Contains(text, "batch-17") || strings.Contains(text, "many-0007") {
		t.Errorf("the loop gathered the notes itself:\n%s", text)
	}
	d.run(cmd)
	if !strings.Contains(p.content(), "many-0007") {
		t.Errorf("the page did not follow:\n%s", p.content())
	}
}

// Notes that come late are shown only on the page that they were made for, and not where something else is to be shown meanwhile.
func TestLateOwnersReplaceNothing(t *testing.T) {
	d := drive(owned(), 120, 40, withOwners(newDesk())).keys("1", "O")
	p := d.top().(*ownersPage)
	_, wide := d.Update(tea.KeyPressMsg{Code: 'e', Text: "e"}) // the whole update
	_, narrow := d.Update(tea.KeyPressMsg{Code: 'e', Text: "e"})
	d.run(narrow)
	d.run(wide)
	if text := p.content(); p.all || !strings.Contains(text, "batch-17") || strings.Contains(text, "on cmp-11") {
		t.Errorf("whole update %v, and the page has\n%s", p.all, text)
	}
	_, wide = d.Update(tea.KeyPressMsg{Code: 'e', Text: "e"})
	d.keys("esc").keys("1", "O")
	d.run(wide)
	if q := d.top().(*ownersPage); q == p || strings.Contains(q.content(), "on cmp-11") {
		t.Errorf("the notes of a page that was closed are on another:\n%s", q.content())
	}
}

// While notes are being made, the page says so, and neither copies nor saves others under the new name.
func TestOwnersThatAreBeingMade(t *testing.T) {
	desk := newDesk()
	d := drive(owned(), 120, 40, withOwners(desk)).keys("1", "O")
	_, cmd := d.Update(tea.KeyPressMsg{Code: 'e', Text: "e"})
	if frame := stripped(d.keys("s").shows()); !strings.Contains(frame, "being gone through") || len(desk.saved) != 0 {
		t.Errorf("saved %q while it shows\n%s", desk.saved, frame)
	}
	d.run(cmd)
	if frame := stripped(d.shows()); !strings.Contains(frame, "To: ") {
		t.Errorf("the page shows\n%s", frame)
	}
}

// The chosen project's tab stays in sight however many there are, and those that are not seen cost nothing.
func TestTabsOfManyProjects(t *testing.T) {
	s := ownedMany(800)
	for i, in := range s.ByHost["kaas-node-cmp07"] {
		in.ProjectID = fmt.Sprintf("p-%04d", i)
	}
	d := drive(s, 80, 24, withOwners(newDesk())).keys("1", "O", "left")
	p := d.top().(*ownersPage)
	name := p.notes[len(p.notes)-1].Project
	if frame := stripped(d.shows()); !strings.Contains(frame, name+" (1)") || !strings.Contains(frame, "Subject: ") {
		t.Errorf("the last project, %s, is not seen:\n%s", name, frame)
	}
	if n := testing.AllocsPerRun(5, func() { p.draw(d.Model, 80, 24) }); n > 1000 {
		t.Errorf("a frame made %v allocations", n)
	}
}
