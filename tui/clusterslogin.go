package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ClusterLogin is a cluster's login that the management cluster has, for a cluster that no context is configured for.
type ClusterLogin struct {
	Secret    string // its name
	Namespace string // where it is: the cluster's project
	As        string // with whose rights it is read: "context management"
	OpenStack string // where the login to OpenStack is from: "not configured: instances are not seen"
	Asked     bool   // the configuration asks for it: enter reads it without a question
}

// loginDialog asks before the administrator's login of a cluster is read, and shows why it could not be.
type loginDialog struct {
	id      fleet.ID
	login   ClusterLogin
	read    bool // the button that reads has the focus
	reading bool
	stop    context.CancelFunc
	err     error
}

// loginReadMsg says that the login of a cluster was read, or why it was not.
type loginReadMsg struct {
	dialog *loginDialog
	err    error
}

// openByLogin asks whether the login of a cluster is to be read, or reads it where the configuration says so.
func (p *clustersPage) openByLogin(m *Model, id fleet.ID, login ClusterLogin) tea.Cmd {
	d := &loginDialog{id: id, login: login, read: login.Asked}
	m.open(d)
	if login.Asked {
		return d.begin(m)
	}
	return nil
}

// begin reads the login. Lockstep keeps it for the cluster that is opened next.
func (d *loginDialog) begin(m *Model) tea.Cmd {
	ctx, stop := context.WithCancel(m.pump.ctx)
	d.reading, d.stop, d.err = true, stop, nil
	desk := m.opts.clusters.desk
	return func() tea.Msg { return loginReadMsg{d, desk.ReadLogin(ctx, d.id)} }
}

// arrive implements arrival.
func (msg loginReadMsg) arrive(m *Model) tea.Cmd {
	d := msg.dialog
	if !d.reading || m.opts.clusters == nil {
		return nil // it was given up
	}
	d.stop()
	d.reading = false
	if d.err = msg.err; d.err != nil {
		d.read = false
		return nil
	}
	m.withdraw(d)
	return m.opts.clusters.page.open(d.id)
}

func (*loginDialog) scope() Scope           { return ScopeForm }
func (*loginDialog) page() bool             { return false }
func (*loginDialog) refresh(*Model) tea.Cmd { return nil }

func (d *loginDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "left", "right", "tab", "shift+tab", "up", "down":
		if !d.reading {
			d.read = !d.read
		}
	case "esc", "q":
		d.giveUp(m)
	case "enter":
		switch {
		case d.reading:
		case d.read:
			return true, d.begin(m)
		default:
			d.giveUp(m)
		}
	}
	return true, nil
}

// giveUp closes the box. What is still being read is thrown away.
func (d *loginDialog) giveUp(m *Model) {
	if d.reading {
		d.reading = false
		d.stop()
	}
	m.close(d)
}

// enters is what enter does with the button that has the focus.
func (d *loginDialog) enters() string {
	switch {
	case d.reading:
		return "waits"
	case d.read:
		return "reads it and opens the cluster"
	}
	return "goes back"
}

func (d *loginDialog) hints() []keyHint {
	if d.reading {
		return []keyHint{{"esc", "gives up"}}
	}
	return []keyHint{{"enter", d.enters()}, {"tab", "other button"}, {"esc", "goes back"}}
}

// What the box leaves out where the screen is too low for all of it.
const (
	loginWhole    = iota
	loginUntaught // without why it asks, and what becomes of the login
	loginDense    // without blank lines, and what it says in a line or two each
	loginShortest // without what would be read: the title has whose login it is
	loginShortened
)

func (d *loginDialog) draw(m *Model, w, h int) []string {
	w = min(w-2, 84)
	body := inRoom(h, loginShortened, func(out int) []draw.Line { return d.body(w-4, out) })
	return m.look.Box(draw.One(themes.Warn, "Read the login of "+sanitise.Row(d.id.String())+"?"), nil, body, w)
}

// mostLoginTrouble is how many lines say why a login was not read, and as many what to do.
const mostLoginTrouble = 6

// body is what the box says, but for what is left out.
func (d *loginDialog) body(wide, out int) []draw.Line {
	var body []draw.Line
	gap := func() {
		if out < loginDense {
			body = append(body, draw.Line{})
		}
	}
	most := mostLoginTrouble // lines of each thing
	switch out {
	case loginDense:
		most = 2
	case loginShortest:
		most = 1
	}
	say := func(tone themes.Token, text string) { body = append(body, atMost(most, tone, text, wide)...) }
	fact := func(label, text string) {
		for i, l := range atMost(most, themes.Text, text, max(wide-12, 8)) {
			lead := draw.Blank(12)
			if i == 0 {
				lead = draw.Text(themes.Dim, (label + "            ")[:12])
			}
			body = append(body, append(draw.Line{lead}, l...))
		}
	}
	gap()
	if out < loginUntaught {
		say(themes.Text, "No context is configured for this cluster. The management cluster has a login to it, and Lockstep can read it:")
		gap()
	}
	if out < loginShortest {
		fact("Secret", d.login.Secret+" in namespace "+d.login.Namespace)
		fact("read as", d.login.As)
		fact("OpenStack", d.login.OpenStack)
		gap()
	}
	say(themes.Warn, "It is an administrator's login: with it nothing is forbidden there but by Lockstep itself.")
	if out < loginUntaught {
		say(themes.Dim, "It stays in memory until you leave the cluster, and is written nowhere. Commands that you run by hand need a login of "+
			"your own.")
	}
	if d.err != nil {
		gap()
		for _, l := range loginTrouble(d.err) {
			say(themes.Needs, l)
		}
	}
	does := "enter " + d.enters()
	if d.reading {
		does = "reading; esc gives up"
	}
	focus := 0
	if d.read {
		focus = 1
	}
	gap()
	return append(body, draw.Apart(draw.One(themes.Dim, does), draw.Buttons([]string{"Back", "Read and open"}, focus), wide))
}

// loginTrouble is why a login could not be read, and what to do.
func loginTrouble(err error) []string {
	var api *core.APIError
	if !errors.As(err, &api) {
		return []string{"It could not be read: " + err.Error()}
	}
	text := "It could not be read: " + api.Cause()
	if api.Message != "" {
		text += ": " + api.Message
	}
	if api.Remedy == "" {
		return []string{text}
	}
	return []string{text, api.Remedy}
}
