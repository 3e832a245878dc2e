package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/tui/draw"
)

// OwnerDesk is the backend of the page of owners: Keystone, and a folder to save notes in. Its methods are called from commands,
// never while the screen is drawn.
type OwnerDesk interface {
	// Contacts asks Keystone for the members of the projects, and for their names and e-mail addresses and those of the users.
	Contacts(ctx context.Context, projects, users []string) core.Contacts
	// Save writes a file of the name that only its owner may read, and returns its path. It never replaces a file.
	Save(name string, content []byte) (path string, err error)
}

// ownersAge is how old the notes on the page may be, and ownersShare how many times longer than they take to make: a large cloud
// is not searched for every Snapshot.
const (
	ownersAge   = 2 * time.Second
	ownersShare = 20
)

// ownersPage is the notes for the owners of instances, project by project.
type ownersPage struct {
	nodes []string // names of those that it was opened for; empty: the whole update
	all   bool     // the whole update is shown
	csv   bool     // as CSV rather than as text
	every bool     // notes for all projects with instances there, whether or not one needs its owner

	snap    *core.Snapshot // that the notes were made from; nil until they are there
	notes   []procedure.OwnerNote
	made    time.Time // when it was begun to make them
	took    time.Duration
	making  bool       // new ones are being made
	anew    bool       // those are not wanted any more: others are to follow
	next    ownersText // what the lines that are being made are for
	text    ownersText
	wide    int    // columns for the text, as drawn last
	project string // ID of the one whose note is shown; empty: all of them
	called  string // its name, as shown last

	contacts core.Contacts
	wants    bool // Keystone is to be asked when the notes are there
	asking   bool
	again    bool // more is to be asked when the answer has come
	asked    bool

	find                  finder
	offset, height, total int // as drawn last
}

// ownersText is lines of the page's text, and what they were made for. Their colours come later: they are the same in every look.
type ownersText struct {
	w       int
	csv     bool
	project string
	lines   []draw.Line
}

// ownersMadeMsg is the notes for a page.
type ownersMadeMsg struct {
	page  *ownersPage
	snap  *core.Snapshot
	notes []procedure.OwnerNote
	began time.Time
	took  time.Duration
	text  ownersText
}

// contactsMsg is what Keystone told the page.
type contactsMsg struct {
	page     *ownersPage
	contacts core.Contacts
}

// savedMsg is the result of saving.
type savedMsg struct {
	path string
	err  error
}

// openOwners opens the page for the nodes, or for the whole update when there are none.
func (m *Model) openOwners(nodes []string) tea.Cmd {
	if m.snap == nil {
		return m.say(toneWarn, "nothing is known yet")
	}
	return m.openOwnersPage(&ownersPage{nodes: nodes, all: len(nodes) == 0})
}

// openEveryOwner opens the page with a note for every project with instances.
func (m *Model) openEveryOwner() tea.Cmd {
	if m.snap == nil {
		return m.say(toneWarn, "nothing is known yet")
	}
	return m.openOwnersPage(&ownersPage{all: true, every: true})
}

func (m *Model) openOwnersPage(p *ownersPage) tea.Cmd {
	p.wants, p.wide = true, m.width-2
	m.open(p)
	return p.make(m)
}

// make has the notes made from the newest Snapshot, and their lines, beside the screen's loop: those of a large cloud are megabytes.
func (p *ownersPage) make(m *Model) tea.Cmd {
	if m.snap == nil {
		return nil
	}
	if p.making {
		p.anew = true
		return nil
	}
	p.making, p.anew, p.next = true, false, p.wanted()
	snap, nodes, all, every, contacts := m.snap, p.nodes, p.all, p.every, p.contacts
	text, began := p.next, m.now()
	return func() tea.Msg {
		start := time.Now()
		if all {
			nodes = procedure.NodesToTell(snap)
		}
		notes := procedure.OwnerNotes(snap, nodes, contacts, every)
		text.lines = ownersLines(snap, shownOf(notes, text.project), text.csv, text.w)
		return ownersMadeMsg{p, snap, notes, began, time.Since(start), text}
	}
}

// others has other notes made than those that are there, which are not shown under the new title meanwhile.
func (p *ownersPage) others(m *Model) tea.Cmd {
	p.snap, p.notes, p.text, p.offset, p.wants = nil, nil, ownersText{}, 0, true
	return p.make(m)
}

// arrive shows the notes that were made, unless others are wanted by now.
func (msg ownersMadeMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	p.making = false
	switch {
	case !m.shows(p):
		return nil
	case p.anew:
		return p.make(m)
	}
	p.snap, p.notes, p.made, p.took, p.text = msg.snap, msg.notes, msg.began, msg.took, msg.text
	cmd := p.follow(m)
	if p.wants {
		p.wants = false
		cmd = tea.Batch(cmd, p.ask(m))
	}
	return cmd
}

// mostAtOnce is how many instances have their notes' lines made while the screen is drawn: their text is a hundred kilobytes or so.
const mostAtOnce = 300

// few tells whether the lines of what is shown are made while the screen is drawn.
func (p *ownersPage) few() bool {
	n := 0
	for _, note := range p.shown() {
		n += 1 + len(note.Instances)
	}
	return n <= mostAtOnce
}

// wanted is what lines are wanted for.
func (p *ownersPage) wanted() ownersText {
	return ownersText{w: p.wide, csv: p.csv, project: p.project}
}

func (t ownersText) fits(want ownersText) bool {
	return t.w == want.w && t.csv == want.csv && t.project == want.project
}

// lines are those of what is shown; false when they are being made.
func (p *ownersPage) lines() ([]draw.Line, bool) {
	switch want := p.wanted(); {
	case p.text.lines != nil && p.text.fits(want):
	case p.snap == nil || !p.few():
		return nil, false
	default:
		want.lines = ownersLines(p.snap, p.shown(), p.csv, p.wide)
		p.text = want
	}
	return p.text.lines, true
}

// follow has lines made when something else is shown, or in another width, and they are many.
func (p *ownersPage) follow(m *Model) tea.Cmd {
	if p.snap == nil || len(p.notes) == 0 {
		return nil
	}
	if _, there := p.lines(); there || p.making && (p.anew || p.next.fits(p.wanted())) {
		return nil
	}
	return p.make(m)
}

// at is the index of the note that is shown; -1 for all, and when it is gone.
func (p *ownersPage) at() int {
	return slices.IndexFunc(p.notes, func(n procedure.OwnerNote) bool { return n.ProjectID == p.project })
}

// shown is the notes that are shown.
func (p *ownersPage) shown() []procedure.OwnerNote { return shownOf(p.notes, p.project) }

// gone tells whether the project whose note is shown has none any more. Nothing is shown in its place: what is copied or saved goes to one
// customer, and the others' names do not.
func (p *ownersPage) gone() bool { return p.project != "" && p.at() < 0 }

// shownOf is the project's note, or all of them where none is named.
func shownOf(notes []procedure.OwnerNote, project string) []procedure.OwnerNote {
	if project == "" {
		return notes
	}
	if i := slices.IndexFunc(notes, func(n procedure.OwnerNote) bool { return n.ProjectID == project }); i >= 0 {
		return notes[i : i+1]
	}
	return nil
}

// turn goes to another project's note; all of them come before the first one.
func (p *ownersPage) turn(by int) {
	n := len(p.notes) + 1
	i := (p.at() + 1 + by + n) % n
	p.project, p.called, p.offset = "", "", 0
	if i > 0 {
		p.project, p.called = p.notes[i-1].ProjectID, p.notes[i-1].Project
	}
}

// ask asks Keystone whom the notes are for.
func (p *ownersPage) ask(m *Model) tea.Cmd {
	desk, parent := m.opts.Owners, m.ctx
	if desk == nil || len(p.notes) == 0 {
		return nil
	}
	if p.again = p.asking; p.again {
		return nil // when the answer has come
	}
	p.asking = true
	projects, users := procedure.ContactsToAsk(p.notes)
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, answerWithin)
		defer cancel()
		return contactsMsg{p, desk.Contacts(ctx, projects, users)}
	}
}

// content is what the page shows, unwrapped: what is copied and saved.
func (p *ownersPage) content() string { return ownersContent(p.snap, p.shown(), p.csv) }

func ownersContent(snap *core.Snapshot, notes []procedure.OwnerNote, csv bool) string {
	if csv {
		return procedure.OwnersCSV(notes)
	}
	return procedure.OwnersText(snap, notes)
}

// save writes what is shown to a file named after its content and time.
func (p *ownersPage) save(m *Model) tea.Cmd {
	desk := m.opts.Owners
	switch {
	case desk == nil:
		return m.say(toneWarn, "nothing can be saved here")
	case len(p.shown()) == 0:
		return m.say(toneWarn, "there is nothing to save")
	}
	what := []string{"owners", m.snap.CalledCluster(), p.about(m)}
	if i := p.at(); i >= 0 {
		what = append(what, p.notes[i].Project)
	}
	suffix := ".txt"
	if p.csv {
		suffix = ".csv"
	}
	name := strings.Join(append(what, m.now().Format("20060102-150405")), "-") + suffix
	snap, notes, csv := p.snap, p.shown(), p.csv
	return func() tea.Msg {
		path, err := desk.Save(name, []byte(ownersContent(snap, notes, csv)))
		return savedMsg{path, err}
	}
}

// about is what the page is about, for a file's name.
func (p *ownersPage) about(m *Model) string {
	switch {
	case p.all:
		return "update"
	case len(p.nodes) == 1:
		return m.snap.Label(p.nodes[0])
	}
	return fmt.Sprintf("%d-nodes", len(p.nodes))
}

// arrive has the contacts on the page.
func (msg contactsMsg) arrive(m *Model) tea.Cmd {
	p := msg.page
	p.contacts, p.asking, p.asked = msg.contacts, false, true
	if !m.shows(p) || m.snap == nil {
		return nil
	}
	p.wants = p.wants || p.again // the notes have others to ask for
	return p.make(m)
}

// arrive says what became of saving.
func (msg savedMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "not saved: "+msg.err.Error())
	}
	return m.say(toneInfo, "saved: "+msg.path)
}
