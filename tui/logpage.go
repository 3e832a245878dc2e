package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// ScopePodLog is the page of a log of pods.
const ScopePodLog Scope = "log of pods"

// logEvery is how often the page shows what has come: four screens a second at most, however fast the log is.
const logEvery = 250 * time.Millisecond

// logRanges are how much of a log is read before what comes.
var logRanges = []struct {
	name  string
	since time.Duration
	tail  int
}{
	{"the last 2,000 lines", 0, 2000},
	{"the last 15 minutes", 15 * time.Minute, ringLines},
	{"the last hour", time.Hour, ringLines},
	{"the last 6 hours", 6 * time.Hour, ringLines},
	{"the last 20,000 lines", 0, ringLines},
}

// logPage is the log of one or several pods, followed.
type logPage struct {
	target    core.LogTarget
	container string // that was chosen; empty: the target's
	previous  bool
	reach     int       // index of logRanges
	times     timeRange // in place of it
	typed     string    // what times was typed as

	feed  *logFeed
	ring  logRing
	state logState
	try   int // tells the readings of the page apart
	stop  context.CancelFunc
	asked time.Time

	held    bool // the page stays where it is; otherwise it is at the newest line
	matches bool // only lines with what is searched for
	cut     bool // long lines are cut; otherwise they are wrapped

	find                  finder
	offset, height, total int        // as drawn last
	owners                []*podLine // of the drawn lines: their rows
	made                  string     // for what the lines below were made
	lines                 []draw.Line
}

// logTick makes the page take what has come.
type logTick struct {
	page *logPage
	try  int
}

// logEndedMsg says that nothing more of a log comes.
type logEndedMsg struct {
	page *logPage
	try  int
}

// lookSavedMsg is the result of writing what a page shows to a file.
type lookSavedMsg struct {
	path string
	err  error
}

// ask reads the log from the beginning.
func (p *logPage) ask(m *Model) tea.Cmd {
	p.leave()
	p.try++
	p.feed, p.ring, p.state, p.made, p.held, p.offset = &logFeed{}, logRing{}, logState{}, "", false, 0
	p.asked = m.now()
	ctx, cancel := context.WithCancel(m.ctx)
	p.stop = cancel
	reach := logRanges[p.reach]
	r := core.LogRequest{LogTarget: p.target, Since: reach.since, Tail: reach.tail, Previous: p.previous, Follow: !p.previous}
	if !p.times.isZero() {
		r.Since, r.Tail, r.From, r.To = 0, 0, p.times.from, p.times.to
		r.Follow = r.Follow && r.To.IsZero()
	}
	if p.container != "" {
		r.Container = p.container
	}
	looker, feed, try := m.opts.Looker, p.feed, p.try
	return tea.Batch(m.after(logEvery/2, logTick{p, try}), func() tea.Msg {
		feed.end(looker.Log(ctx, r, feed.put))
		return logEndedMsg{p, try}
	})
}

// leave ends the reading: nothing is asked while the page is closed.
func (p *logPage) leave() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// arrive shows what has come.
func (msg logTick) arrive(m *Model) tea.Cmd {
	p := msg.page
	if msg.try != p.try || !m.shows(p) {
		m.dirty = false
		return nil
	}
	if !p.feed.take(&p.ring, &p.state) && p.state.well {
		m.dirty = false // while it is waited for, the page counts the time
	}
	if p.state.ended {
		return nil
	}
	return m.after(logEvery, msg)
}

// arrive shows the rest, and why nothing more comes.
func (msg logEndedMsg) arrive(*Model) tea.Cmd {
	if msg.try == msg.page.try {
		msg.page.feed.take(&msg.page.ring, &msg.page.state)
	}
	return nil
}

// arrive says whether the file was written.
func (msg lookSavedMsg) arrive(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "it was not written: "+msg.err.Error())
	}
	return m.say(toneInfo, "written, for you alone: "+msg.path)
}

func (*logPage) scope() Scope           { return ScopePodLog }
func (*logPage) page() bool             { return true }
func (*logPage) refresh(*Model) tea.Cmd { return nil }
func (p *logPage) search() *finder      { return &p.find }

func (p *logPage) handle(_ *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	was := p.find.text
	handled := p.find.typed(msg)
	if p.find.text == "" {
		p.matches = false
	}
	if handled && p.find.text != was && p.find.text != "" {
		p.held = true
	}
	return handled, nil
}

func (p *logPage) paste(_ *Model, text string) tea.Cmd {
	p.find.paste(text)
	return nil
}

func (p *logPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.scrollBy(wheel(at.Button))
	return nil
}

// scrollBy scrolls. Going up holds the page; at the end it follows again.
func (p *logPage) scrollBy(n int) {
	end := max(p.total-p.height, 0)
	p.offset = max(min(p.offset+n, end), 0)
	p.held = p.offset < end
}

func (p *logPage) pageHeight() int { return p.height }

// pick is the container that is shown; empty while no pod is known.
func (p *logPage) pick() string {
	want := p.container
	if want == "" {
		want = p.target.Container
	}
	if len(p.state.pods) == 0 {
		return want
	}
	for _, c := range p.state.pods[0].Containers {
		if c.Name == want {
			return want
		}
	}
	if all := p.state.pods[0].Containers; len(all) > 0 {
		return all[0].Name
	}
	return want
}

// turn goes to the next container of the pod.
func (p *logPage) turn(m *Model) tea.Cmd {
	all := p.state.pods[0].Containers
	at := slices.IndexFunc(all, func(c core.LogContainer) bool { return c.Name == p.pick() })
	p.container = all[(at+1)%len(all)].Name
	return p.ask(m)
}

func (p *logPage) hasMore() bool { return len(p.state.pods) > 0 && len(p.state.pods[0].Containers) > 1 }

// reads is how much of the log is read.
func (p *logPage) reads() string {
	if !p.times.isZero() {
		return p.times.String()
	}
	return logRanges[p.reach].name
}

// saved is the log as it is saved: which one it is, which times of it, and its lines.
func (p *logPage) saved() string {
	head := fmt.Sprintf("--- log of %s: namespace %s, container %s, %s", p.target.Label, p.target.Namespace, p.pick(), p.reads())
	if !p.times.isZero() {
		head += " (" + p.times.from.UTC().Format(time.RFC3339)
		if !p.times.to.IsZero() {
			head += " to " + p.times.to.UTC().Format(time.RFC3339)
		}
		head += ")"
	}
	if p.previous {
		head += ", previous run"
	}
	if p.matches {
		head += ", only lines with " + p.find.text
	}
	if p.ring.dropped > 0 {
		head += fmt.Sprintf(", %d older lines dropped", p.ring.dropped)
	}
	return sanitise.Text(head, 1<<10) + "\n" + p.text(p.ring.rows)
}

// text is what is shown, as it is saved and copied: with whole times, in UTC, and whole lines.
func (p *logPage) text(rows []*podLine) string {
	var b strings.Builder
	want := ""
	if p.matches {
		want = folded(p.find.text)
	}
	for _, r := range rows {
		if want != "" && !r.contains(want) {
			continue
		}
		text := sanitise.Text(r.Text, core.MaxLogLine)
		if r.Length > 0 {
			text += fmt.Sprintf(" (cut: %s in all)", bytesText(r.Length))
		}
		switch {
		case r.Notice:
			text = "--- " + text
		case !r.At.IsZero():
			text = r.At.UTC().Format("2006-01-02T15:04:05.000Z") + " " + r.Pod + " " + text
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// fileName is a name for a file of what a page shows.
func fileName(m *Model, kind, label, suffix string) string {
	at := m.now()
	if m.snap != nil {
		at = m.snap.Now
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, label)
	return fmt.Sprintf("%s-%s-%s.%s", kind, strings.Trim(safe[:min(len(safe), 60)], "-."), at.UTC().Format("20060102T150405Z"), suffix)
}

// saveText writes a text to a file in the folder where Lockstep was started.
func (m *Model) saveText(name, text string) tea.Cmd {
	save := m.opts.SaveFile
	return func() tea.Msg {
		path, err := save(name, []byte(text))
		return lookSavedMsg{path, err}
	}
}
