package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
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

func (p *logPage) paste(_ *Model, text string) {
	if p.find.typing {
		p.find.set(p.find.text + text)
	}
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

// layout makes the lines of the page, unless they are as they were. The line at its top stays there.
func (p *logPage) layout(m *Model, w int) {
	want := ""
	if p.matches {
		want = folded(p.find.text)
	}
	now := m.now()
	if m.snap != nil {
		now = m.snap.Now
	}
	shape := lineShape{width: w, several: len(p.state.pods) > 1, cut: p.cut, day: dayOf(now)}
	key := fmt.Sprint(shape, m.depth, m.theme.Name, p.ring.came, p.ring.dropped, "/", want)
	if key == p.made {
		return
	}
	p.made = key
	top, below := p.topRow()
	p.lines, p.owners = p.lines[:0], nil
	for _, r := range p.ring.rows {
		if want != "" && !r.contains(want) {
			continue
		}
		if r.drawn == nil || r.shape != shape {
			r.shape, r.drawn = shape, podLines(m, r, now, shape)
		}
		for _, l := range r.drawn {
			p.lines, p.owners = append(p.lines, l), append(p.owners, r)
		}
	}
	if !p.held || top == nil || len(p.owners) == 0 {
		return
	}
	at := sort.Search(len(p.owners), func(i int) bool { return p.owners[i].compare(top) >= 0 })
	if at < len(p.owners) && p.owners[at] == top {
		at += min(below, len(top.drawn)-1)
	}
	moved := at - p.offset
	p.offset = min(at, len(p.owners)-1)
	p.find.line, p.find.from = p.find.line+moved, p.find.from+moved
}

// topRow is the row at the top of the page, and how many of its lines are above the page; nil where nothing was drawn yet.
func (p *logPage) topRow() (row *podLine, below int) {
	if p.offset >= len(p.owners) {
		return nil, 0
	}
	row = p.owners[p.offset]
	for below < p.offset && p.owners[p.offset-below-1] == row {
		below++
	}
	return row, below
}

// dayOf tells the days of the operator's zone apart.
func dayOf(t time.Time) int {
	t = t.Local()
	return t.Year()*1000 + t.YearDay()
}

// podLines draws a line of a log: its time, its pod where there are several, and its text in the tone of its level.
func podLines(m *Model, r *podLine, now time.Time, shape lineShape) []draw.Line {
	w := shape.width
	if r.Notice {
		return draw.Paragraph(themes.Moves, "--- "+r.Text, w)
	}
	at := secondsClock(r.At, now)
	if r.At.IsZero() {
		at = "--:--:--"
	}
	lead := draw.One(themes.Dim, at+" ")
	if shape.several {
		pod := r.Pod
		if i := strings.LastIndexByte(pod, '-'); i >= 0 && len(pod)-i <= 7 {
			pod = pod[i+1:] // what tells the pods of a workload apart
		}
		lead = append(lead, draw.One(themes.Key, pod).Fit(6, false)...)
	}
	text := sanitise.Text(r.Text, core.MaxLogLine)
	if r.Length > 0 {
		text = fmt.Sprintf("(cut: %s in all) %s", bytesText(r.Length), text)
	}
	tone := levelTone(r.Text)
	room := max(w-lead.Width(), 12)
	if shape.cut {
		return []draw.Line{append(lead, draw.Text(tone, text)).Cut(w)}
	}
	var out []draw.Line
	for i, part := range draw.Wrap(text, room) {
		if i > 0 {
			lead = draw.Line{draw.Blank(lead.Width())}
		}
		out = append(out, append(lead[:len(lead):len(lead)], draw.Text(tone, part)))
	}
	if len(out) == 0 {
		out = append(out, lead)
	}
	return out
}

// levelTone is the look of a line by the level that it was logged with, in the forms of Python's logging, oslo.log, klog and JSON.
func levelTone(text string) themes.Token {
	head := text[:min(len(text), 120)]
	if len(head) > 5 && (head[0] == 'E' || head[0] == 'F' || head[0] == 'W') && strings.Trim(head[1:5], "0123456789") == "" {
		if head[0] == 'W' {
			return themes.Warn
		}
		return themes.Bad
	}
	for _, l := range []struct {
		tone  themes.Token
		words []string
	}{
		{themes.Bad, []string{" ERROR ", "[ERROR]", "[ERROR ", " CRITICAL ", "[CRITICAL]", `"level":"error"`, "level=error", " TRACE "}},
		{themes.Warn, []string{" WARNING ", "[WARNING]", "[WARNING ", `"level":"warn`, "level=warn"}},
		{themes.Dim, []string{" DEBUG ", "[DEBUG]", "[DEBUG ", `"level":"debug"`, "level=debug"}},
	} {
		if slices.ContainsFunc(l.words, func(w string) bool { return strings.Contains(head, w) }) {
			return l.tone
		}
	}
	return themes.Text
}

// bytesText is a number of bytes: "16 KiB", "2.0 MiB".
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return counted(n, "byte")
}

func (p *logPage) draw(m *Model, w, h int) []string {
	p.layout(m, w-2)
	head := p.head(m, w-2)
	p.height = max(h-len(head)-1, 1)
	p.total = len(p.lines)
	if end := max(p.total-p.height, 0); !p.held || p.offset > end {
		p.offset = end
	}
	body, offset := p.find.look(p.lines, p.offset, p.height)
	if p.offset = offset; p.find.text != "" && len(p.find.hits) > 0 {
		p.held = p.offset < p.total-p.height
	}
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, "Log of "+p.target.Label), p.note(), true, nil)}
	for _, l := range head {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	for i, l := range body[p.offset:min(p.offset+p.height, p.total)] {
		lead := draw.Blank(1)
		if p.find.current(p.offset + i) {
			lead = draw.Text(themes.Match, m.look.Glyph.Cursor)
		}
		out = append(out, m.look.Draw(append(draw.Line{lead}, l...), w, draw.AsItIs))
	}
	return out
}

// note is the right end of the page's rule: how many lines there are, and whether they go on.
func (p *logPage) note() draw.Line {
	if p.find.text != "" {
		return append(p.find.count(), draw.One(themes.Dim, "   esc clears it")...)
	}
	out := draw.One(themes.Dim, counted(len(p.ring.rows), "line"))
	if p.ring.dropped > 0 {
		out = out.And(themes.Dim, fmt.Sprintf(", %d older ones dropped", p.ring.dropped))
	}
	switch {
	case p.state.ended:
		out = out.And(themes.Dim, "   ended")
	case p.held:
		out = out.And(themes.Warn, fmt.Sprintf("   held, %d below: f follows", max(p.total-p.offset-p.height, 0)))
	case p.state.well && p.state.trouble == nil:
		out = out.And(themes.Good, "   following")
	}
	return out.And(themes.Dim, "   esc back")
}

// head is where the log comes from, and why nothing comes.
func (p *logPage) head(m *Model, w int) []draw.Line {
	var from []string
	if p.target.Server == core.ServerManagement {
		from = append(from, "management cluster")
	}
	switch n := len(p.state.pods); {
	case n == 0:
		from = append(from, "namespace "+p.target.Namespace)
	case n == 1:
		from = append(from, p.target.Namespace+"/"+p.state.pods[0].Name)
	default:
		text := fmt.Sprintf("%d pods of %s", n, p.target.Namespace)
		if p.read() < n {
			text = fmt.Sprintf("%d of %s: no more are read at once", p.read(), text)
		}
		from = append(from, text)
	}
	if c := p.pick(); c != "" {
		text := "container " + c
		if p.hasMore() {
			all := p.state.pods[0].Containers
			text += fmt.Sprintf(" (%d of %d)", slices.IndexFunc(all, func(one core.LogContainer) bool { return one.Name == c })+1, len(all))
		}
		from = append(from, text)
	}
	run := p.reads()
	if p.previous {
		run = "previous run, " + run
	}
	if p.matches {
		run += ", only lines with /" + p.find.text
	}
	out := draw.Paragraph(themes.Dim, strings.Join(append(from, run), ", "), w)
	tell := func(tone themes.Token, text string, most int) {
		lines := draw.Paragraph(tone, text, w)
		out = append(out, lines[:min(len(lines), most)]...)
	}
	var e *core.APIError
	switch {
	case errors.As(p.state.err, &e):
		tell(themes.Bad, e.Error(), 3)
		tell(themes.Key, e.Remedy, 3)
	case p.state.err != nil:
		tell(themes.Bad, p.state.err.Error(), 3)
	case p.state.trouble != nil:
		tell(themes.Warn, "It is tried again: "+p.state.trouble.Error(), 2)
		tell(themes.Key, p.state.trouble.Remedy, 2)
	case !p.state.well && !p.state.ended:
		text := "asking " + string(p.target.Server) + m.look.Glyph.Ellipsis
		if waited := m.now().Sub(p.asked); waited >= 2*time.Second {
			text += " " + age(waited) + "; where a container writes nothing, no answer may come"
		}
		tell(themes.Moves, text, 1)
	case len(p.ring.rows) == 0:
		text := "It has written nothing"
		switch r := logRanges[p.reach]; {
		case !p.times.isZero():
			text += " " + p.times.String() + ", as far as its log goes back: T asks for other times"
		case r.since > 0:
			text += " in " + r.name + ": a reads further back"
		}
		tell(themes.Dim, text+".", 1)
	case p.matches && len(p.lines) == 0:
		tell(themes.Dim, "No line has /"+p.find.text+" in it: m shows all lines.", 1)
	}
	return append(out, draw.Line{})
}

// read is how many of the pods are read.
func (p *logPage) read() int {
	n := 0
	for _, pod := range p.state.pods {
		if pod.Read {
			n++
		}
	}
	return n
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

// podLogActions work on the page of a log.
func podLogActions() []Action {
	with := func(f func(m *Model, p *logPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*logPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	need := func(what string, has func(m *Model, p *logPage) bool) func(m *Model) string {
		return func(m *Model) string {
			if p, ok := m.top().(*logPage); ok && has(m, p) {
				return ""
			}
			return what
		}
	}
	lines := need("there are no lines yet", func(_ *Model, p *logPage) bool { return len(p.ring.rows) > 0 })
	scroll := func(by func(p *logPage) int) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *logPage) tea.Cmd { p.scrollBy(by(p)); return nil })
	}
	all := []Action{
		{ID: "podlog.close", Title: "Close the log; nothing of it is read any more", Short: "back", Keys: []string{"esc", "backspace"},
			Footer: 8, run: with(func(m *Model, p *logPage) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "podlog.follow", Title: "Follow the newest line, or stay where the page is", Short: "follow", Keys: []string{"f"}, Footer: 1,
			now: func(m *Model) string {
				if p, ok := m.top().(*logPage); ok && !p.held {
					return "hold"
				}
				return "follow"
			}, run: with(func(_ *Model, p *logPage) tea.Cmd { p.held = !p.held; return nil })},
		{ID: "podlog.container", Title: "Show the log of the pod's next container", Short: "container", Keys: []string{"c"}, Footer: 3,
			blocked: need("no other container is known", func(_ *Model, p *logPage) bool { return p.hasMore() }),
			run:     with(func(m *Model, p *logPage) tea.Cmd { return p.turn(m) })},
		{ID: "podlog.previous", Title: "Show what the container wrote before it was started again, or its present run", Short: "previous run",
			Keys: []string{"p"}, Footer: 4,
			now: func(m *Model) string {
				if p, ok := m.top().(*logPage); ok && p.previous {
					return "this run"
				}
				return "previous run"
			}, run: with(func(m *Model, p *logPage) tea.Cmd { p.previous = !p.previous; return p.ask(m) })},
		{ID: "podlog.range", Title: "Read further back: 2,000 lines, 15 minutes, an hour, 6 hours, 20,000 lines", Short: "how far back",
			Keys: []string{"a"}, Footer: 5,
			run: with(func(m *Model, p *logPage) tea.Cmd {
				if p.times.isZero() {
					p.reach = (p.reach + 1) % len(logRanges)
				}
				p.times, p.typed = timeRange{}, ""
				return p.ask(m)
			})},
		{ID: "podlog.times", Title: "Show the log from one time to another: 02:00 to 03:00", Short: "times", Keys: []string{"T"},
			run: with(func(m *Model, p *logPage) tea.Cmd { return m.askRange(p) })},
		{ID: "podlog.matches", Title: "Show only the lines with what is searched for, or all lines", Short: "only matches",
			Keys: []string{"m"}, Footer: 7,
			blocked: need("there is no search yet: / starts one", func(_ *Model, p *logPage) bool { return p.find.text != "" }),
			run: with(func(_ *Model, p *logPage) tea.Cmd {
				p.matches = !p.matches
				p.find.jump = true
				return nil
			})},
		{ID: "podlog.wrap", Title: "Cut long lines, or wrap them", Short: "wrap", Keys: []string{"z"},
			run: with(func(_ *Model, p *logPage) tea.Cmd { p.cut = !p.cut; return nil })},
		{ID: "podlog.save", Title: "Write the lines that are kept to a file, readable by you alone", Short: "save", Keys: []string{"s"},
			Footer: 6,
			blocked: func(m *Model) string {
				if m.opts.SaveFile == nil {
					return "files cannot be written here"
				}
				return lines(m)
			}, run: with(func(m *Model, p *logPage) tea.Cmd {
				return m.saveText(fileName(m, "log", p.target.Label, "log"), p.saved())
			})},
		{ID: "podlog.copy", Title: "Copy the lines that are seen", Short: "copy", Keys: []string{"y"}, blocked: lines,
			run: with(func(m *Model, p *logPage) tea.Cmd {
				seen := slices.Compact(slices.Clone(p.owners[p.offset:min(p.offset+p.height, len(p.owners))]))
				if len(seen) == 0 {
					return m.say(toneWarn, "there is nothing to copy")
				}
				return m.copy(p.text(seen))
			})},
		{ID: "podlog.again", Title: "Read the log anew", Short: "anew", Keys: []string{"r"},
			run: with(func(m *Model, p *logPage) tea.Cmd { return p.ask(m) })},
		{ID: "podlog.down", Title: "Scroll down", Short: "down", Keys: []string{"down", "j", "enter"},
			run: scroll(func(*logPage) int { return 1 })},
		{ID: "podlog.up", Title: "Scroll up", Short: "up", Keys: []string{"up", "k"}, run: scroll(func(*logPage) int { return -1 })},
		{ID: "podlog.page.down", Title: "Scroll down a page", Short: "page down", Keys: []string{"pgdown", "space", "ctrl+f"},
			run: scroll(func(p *logPage) int { return p.height - 1 })},
		{ID: "podlog.page.up", Title: "Scroll up a page", Short: "page up", Keys: []string{"pgup", "ctrl+u"},
			run: scroll(func(p *logPage) int { return 1 - p.height })},
		{ID: "podlog.first", Title: "Go to the oldest line", Short: "oldest", Keys: []string{"home", "g"},
			run: scroll(func(*logPage) int { return -1 << 30 })},
		{ID: "podlog.last", Title: "Go to the newest line and follow", Short: "newest", Keys: []string{"end", "G"},
			run: scroll(func(*logPage) int { return 1 << 30 })},
	}
	for i := range all {
		all[i].Scope = ScopePodLog
	}
	found := findActions(ScopePodLog, "podlog", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*logPage); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})
	found[0].Footer = 2
	return append(all, found...)
}
