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

	notes    []procedure.OwnerNote
	made     time.Time
	took     time.Duration
	project  string // ID of the one whose note is shown; empty: all of them
	contacts core.Contacts
	asking   bool
	again    bool // more is to be asked when the answer has come
	asked    bool

	find                  finder
	offset, height, total int // as drawn last
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
	p := &ownersPage{nodes: nodes, all: len(nodes) == 0}
	p.gather(m)
	m.open(p)
	return p.ask(m)
}

// openEveryOwner opens the page with a note for every project with instances.
func (m *Model) openEveryOwner() tea.Cmd {
	if m.snap == nil {
		return m.say(toneWarn, "nothing is known yet")
	}
	p := &ownersPage{all: true, every: true}
	p.gather(m)
	m.open(p)
	return p.ask(m)
}

// gather makes the notes from the newest Snapshot.
func (p *ownersPage) gather(m *Model) {
	began := m.now()
	nodes := p.nodes
	if p.all {
		nodes = procedure.NodesToTell(m.snap)
	}
	p.notes, p.made = procedure.OwnerNotes(m.snap, nodes, p.contacts, p.every), m.now()
	p.took = p.made.Sub(began)
	if p.at() < 0 {
		p.project = ""
	}
}

// at is the index of the note that is shown; -1 for all.
func (p *ownersPage) at() int {
	return slices.IndexFunc(p.notes, func(n procedure.OwnerNote) bool { return n.ProjectID == p.project })
}

// shown is the notes that are shown.
func (p *ownersPage) shown() []procedure.OwnerNote {
	if i := p.at(); i >= 0 {
		return p.notes[i : i+1]
	}
	return p.notes
}

// turn goes to another project's note; all of them come before the first one.
func (p *ownersPage) turn(by int) {
	n := len(p.notes) + 1
	i := (p.at() + 1 + by + n) % n
	p.project, p.offset = "", 0
	if i > 0 {
		p.project = p.notes[i-1].ProjectID
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
func (p *ownersPage) content(m *Model) string {
	if p.csv {
		return procedure.OwnersCSV(p.shown())
	}
	return procedure.OwnersText(m.snap, p.shown())
}

// save writes what is shown to a file named after its content and time.
func (p *ownersPage) save(m *Model) tea.Cmd {
	desk := m.opts.Owners
	switch {
	case desk == nil:
		return m.say(toneWarn, "nothing can be saved here")
	case len(p.notes) == 0:
		return m.say(toneWarn, "there is nothing to save")
	}
	what := []string{"owners", m.snap.Cluster, p.about(m)}
	if i := p.at(); i >= 0 {
		what = append(what, p.notes[i].Project)
	}
	suffix := ".txt"
	if p.csv {
		suffix = ".csv"
	}
	name := strings.Join(append(what, m.now().Format("20060102-150405")), "-") + suffix
	text := p.content(m)
	return func() tea.Msg {
		path, err := desk.Save(name, []byte(text))
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
	if m.snap != nil {
		p.gather(m)
	}
	if p.again && m.shows(p) {
		return p.ask(m)
	}
	return nil
}

// arrive says what became of saving.
func (msg savedMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "not saved: "+msg.err.Error())
	}
	return m.say(toneInfo, "saved: "+msg.path)
}
