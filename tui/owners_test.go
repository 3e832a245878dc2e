package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// fakeDesk is a Keystone that knows some people, and a folder.
type fakeDesk struct {
	asked    [][]string // the projects of each question
	contacts core.Contacts
	saved    map[string]string
	refuse   error
}

func (f *fakeDesk) Contacts(_ context.Context, projects, _ []string) core.Contacts {
	f.asked = append(f.asked, projects)
	return f.contacts
}

func (f *fakeDesk) Save(name string, content []byte) (string, error) {
	if f.refuse != nil {
		return "", f.refuse
	}
	if f.saved == nil {
		f.saved = map[string]string{}
	}
	f.saved[name] = string(content)
	return "/home/anna/" + name, nil
}

func withOwners(f *fakeDesk) func(*Options) { return func(o *Options) { o.Owners = f } }

func newDesk() *fakeDesk {
	return &fakeDesk{contacts: core.Contacts{
		People: map[string]core.Person{"u-jd": {ID: "u-jd", Name: "jd", Email: "jd@sci.example"},
			"u-eve": {ID: "u-eve", Name: "eve", Email: "eve@sci.example"}},
		Members: map[string][]string{"p-science": {"u-eve", "u-jd"}},
	}}
}

// owned is the world, with owners for its instances.
func owned() *core.Snapshot {
	s := world()
	for _, in := range s.Instances.All() {
		in.UserID = "u-" + in.ProjectID
		if in.ProjectID == "p-science" {
			in.UserID = "u-jd"
		}
	}
	return s
}

func TestOwnersPage(t *testing.T) {
	for _, size := range sizes {
		desk := newDesk()
		d := drive(owned(), size.w, size.h, withOwners(desk)).keys("1", "O")
		golden(t, fmt.Sprintf("owners-%dx%d", size.w, size.h), stripped(d.shows()))
		if size.w == 120 {
			golden(t, "owners-csv-120x40", stripped(d.keys("v").shows()))
		}
	}
}

// The page is about the selection: the entry's node, the marked nodes, the instances' node, the step's; else everything.
func TestOwnersOfWhatIsSelected(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		want string
	}{
		{[]string{"1", "O"}, "Owners of instances on cmp-07"},
		{[]string{"3", "space", "down", "space", "O"}, "Owners of instances on cmp-"},
		{[]string{"4", "O"}, "Owners of instances on cmp-07"},
		{[]string{"2", "O"}, "Owners of instances, whole update"},
		{[]string{"1", "enter", "enter", "O"}, "Owners of instances on cmp-07"},
		{[]string{"1", "O", "e"}, "Owners of instances, whole update"},
		{[]string{"1", "O", "e", "e"}, "Owners of instances on cmp-07"},
	} {
		d := drive(owned(), 120, 40, withOwners(newDesk())).keys(tc.keys...)
		if frame := stripped(d.shows()); !strings.Contains(frame, tc.want) {
			t.Errorf("%q does not show %q:\n%s", tc.keys, tc.want, frame)
		}
	}
	d := drive(owned(), 120, 40, withOwners(newDesk())).keys("1", "enter", "enter")
	p := d.top().(*procedurePage)
	i := slices.IndexFunc(p.proc.Steps, func(s core.Step) bool { return len(s.Tell) > 0 })
	if i < 0 {
		t.Fatalf("no step tells the owners: %+v", p.proc.Steps)
	}
	p.steps.Choose(p.proc.Steps[i].ID)
	if frame := stripped(d.keys("enter").shows()); !strings.Contains(frame, "Owners of instances on cmp-07") ||
		!strings.Contains(frame, "To: jd@sci.example") {
		t.Errorf("enter on %q:\n%s", p.proc.Steps[i].Title, frame)
	}
}

// The page shows one project's note after the other. What is shown is saved, complete and unwrapped, and no file is replaced.
func TestOwnersAreSavedAsTheyAreShown(t *testing.T) {
	desk := newDesk()
	d := drive(owned(), 80, 24, withOwners(desk)).keys("1", "O", "right", "s")
	stamp := fixtureWall.Format("20060102-150405")
	first := "owners-mos-cmp-07-science-" + stamp + ".txt"
	if text := desk.saved[first]; !strings.Contains(text, "Subject: mos: maintenance of hosts with instances of project science\n") ||
		strings.Contains(text, "project shop") {
		t.Fatalf("saved: %q", desk.saved)
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, "saved: /home/anna/"+first) {
		t.Errorf("it is not said where:\n%s", frame)
	}
	d.keys("left", "v", "s")
	if text := desk.saved["owners-mos-cmp-07-"+stamp+".csv"]; !strings.HasPrefix(text, `"project","project_id",`) ||
		strings.Count(text, "\n") != 3 {
		t.Errorf("saved: %q", desk.saved)
	}
	desk.refuse = errors.New("the file exists")
	if frame := stripped(d.keys("s").shows()); !strings.Contains(frame, "not saved: the file exists") {
		t.Errorf("a refusal is not said:\n%s", frame)
	}
	if cmd := d.top().(*ownersPage).save(d.Model); cmd == nil {
		t.Error("nothing is saved")
	}
	var copied []string
	collect(d.copy(d.top().(*ownersPage).content()), &copied)
	if len(copied) == 0 || !strings.HasPrefix(copied[0], `"project","project_id",`) {
		t.Errorf("copied %q", copied)
	}
}

// collect runs a command and keeps what it puts into the clipboard.
func collect(cmd tea.Cmd, into *[]string) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			collect(c, into)
		}
	default:
		if text := fmt.Sprintf("%s", msg); strings.HasPrefix(text, "\"project\",") {
			*into = append(*into, text)
		}
	}
}

// The note that is read is for one customer. When its project has none any more, nothing takes its place: what is copied and saved then
// would tell that customer of all others.
func TestANoteThatGoesLeavesNoOther(t *testing.T) {
	desk := newDesk()
	d := drive(owned(), 120, 40, withOwners(desk)).keys("1", "O", "right")
	if p := d.top().(*ownersPage); p.called != "science" || len(p.shown()) != 1 {
		t.Fatalf("%q is shown, %d notes", p.called, len(p.shown()))
	}
	s := owned()
	for _, in := range s.Instances.All() {
		if in.ProjectID == "p-science" {
			in.ProjectID = "p-shop"
		}
	}
	d.later(time.Minute).send(snapshotMsg{s})
	if frame := stripped(d.shows()); !strings.Contains(frame, "Project science has no note any more") {
		t.Errorf("it is not said:\n%s", frame)
	}
	for _, key := range []string{"y", "s"} {
		if frame := stripped(d.keys(key).shows()); !strings.Contains(frame, "there is nothing to") || len(desk.saved) > 0 {
			t.Errorf("after %s, saved %q:\n%s", key, desk.saved, frame)
		}
	}
	if p := d.keys("left").top().(*ownersPage); len(p.shown()) == 0 {
		t.Error("the others cannot be gone to")
	}
}

// The page says what Keystone does not show, and why; the rest stays.
func TestOwnersWithoutKeystone(t *testing.T) {
	desk := &fakeDesk{contacts: core.Contacts{Missing: []core.MissingFacts{{What: "the members of 2 projects",
		Err: &core.APIError{Kind: core.ErrForbidden,
			Server: core.ServerOpenStack, Call: "list the role assignments", Message: "You are not authorized",
			Remedy: "it needs the role admin"}}}}}
	d := drive(owned(), 120, 40, withOwners(desk)).keys("1", "O")
	frame := strings.Join(strings.Fields(stripped(d.shows())), " ")
	for _, want := range []string{"Keystone does not show the members of 2 projects: list the role assignments: forbidden: You are not " +
		"authorized. it needs the role admin",
		"(no e-mail is known)", "batch-17"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not in\n%s", want, frame)
		}
	}
	if d.keys("r"); len(desk.asked) != 2 {
		t.Errorf("Keystone was asked %d times", len(desk.asked))
	}
	d = drive(owned(), 120, 40).keys("1", "O", "s")
	if frame := stripped(d.shows()); !strings.Contains(frame, "Keystone cannot be asked from here") ||
		!strings.Contains(frame, "nothing can be saved here") {
		t.Errorf("without anything behind the page:\n%s", frame)
	}
}

// Names come from the cloud's users: no note breaks the screen, at any size.
func TestOwnersWithNamesThatAreNone(t *testing.T) {
	s := owned()
	for _, in := range s.Instances.All() {
		in.Name = "\x1b[2J\u202e" + strings.Repeat("ü", 300) + "\n\rTo: me"
	}
	s.Projects["p-science"] = "\x1b]0;x\a" + strings.Repeat("日", 100)
	for _, size := range [][2]int{{40, 12}, {79, 23}, {300, 100}} {
		d := drive(s, size[0], size[1], withOwners(newDesk())).keys("1", "O")
		checkFrame(t, d.shows(), size[0], size[1])
		checkFrame(t, d.keys("v", "right", "end").shows(), size[0], size[1])
	}
}

// For the text of another controller's lock the page says whom to ask, and never shows an empty meaning.
func TestALockOfSomebodyElsesSaysWhomToAsk(t *testing.T) {
	s := owned()
	s.NodeLocks = s.NodeLocks.Put("cmp-07", append(s.NodeLocks.At("cmp-07"),
		&core.WorkloadLock{Kind: core.KindNodeWorkloadLock, Controller: "backup-agent", Node: "cmp-07", RawState: core.LockFailed,
			Message: "Detach of volume failed: device is busy", Meta: core.Meta{Name: "backup-agent-cmp-07", UID: "nwl-backup"}}))
	d := drive(s, 120, 60).keys("5")
	d.locks.Choose("nwl-backup")
	for i, l := range d.locks.Rows() {
		if l.Controller == "backup-agent" {
			d.locks.GoTo(i)
		}
	}
	frame := stripped(d.keys("i").shows())
	if strings.Contains(frame, "says:\n") || !strings.Contains(frame, "no document lists this text") ||
		!strings.Contains(frame, "ask who runs it") {
		t.Errorf("the inspection:\n%s", frame)
	}
}
