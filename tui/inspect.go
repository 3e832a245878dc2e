package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// facts collects what is known of an object, section by section.
type facts struct {
	w     int
	lines []draw.Line
}

const factLabel = 22

func (f *facts) section(title string) {
	if len(f.lines) > 0 {
		f.lines = append(f.lines, draw.Line{})
	}
	f.lines = append(f.lines, draw.One(themes.Strong, title))
}

// add adds one fact; an empty one is left out.
func (f *facts) add(label, value string) { f.tone(themes.Text, label, value) }

func (f *facts) tone(tone themes.Token, label, value string) {
	if value == "" {
		return
	}
	for _, part := range sanitise.Lines(value, sanitise.DetailLimit) {
		for _, s := range draw.Wrap(part, max(f.w-factLabel-1, 12)) {
			f.lines = append(f.lines, append(append(draw.Line{draw.Blank(1)}, draw.One(themes.Dim, label).Fit(factLabel, false)...),
				draw.Text(tone, s)))
			label = ""
		}
	}
	if len(value) > sanitise.DetailLimit {
		f.lines = append(f.lines, draw.Line{draw.Blank(factLabel + 1), draw.Text(themes.Warn, fmt.Sprintf("cut: %d bytes in all", len(value)))})
	}
}

// inspect shows everything that is known about the selected object.
func (m *Model) inspect() tea.Cmd {
	p := m.focused()
	s := p.subject()
	var title string
	var lines func(m *Model, f *facts)
	switch {
	case s.attention != nil:
		return m.inspectEntry(*s.attention)
	case s.update:
		title = "The cluster update"
		lines = phaseFacts
	case s.line != nil:
		m.openLine(*s.line)
		return nil
	case s.message != nil:
		msg := *s.message
		title = "Error"
		lines = func(m *Model, f *facts) {
			f.add("at", stamp(msg.at, m.snap.Now))
			f.tone(msg.tone, "says", msg.text)
		}
	case s.operation != nil:
		key := s.operation.ID
		title = s.operation.Title
		lines = func(m *Model, f *facts) { operationFacts(m, f, key) }
	case s.lock != nil:
		kind, name := s.lock.Kind, s.lock.Name
		last := s.lock
		title = string(kind) + " " + name
		lines = func(m *Model, f *facts) {
			if now := findLock(m.snap, kind, name); now != nil {
				last = now
			} else {
				f.tone(themes.Warn, "gone", "this is how it was last seen")
			}
			lockFacts(m, f, last)
		}
	case s.instance != "":
		key := s.instance
		title = "Instance " + p.selectedName()
		lines = func(m *Model, f *facts) { instanceFacts(m, f, key) }
	case s.node != "":
		key := s.node
		title = "Node " + m.snap.Label(key)
		lines = func(m *Model, f *facts) { nodeFacts(m, f, key) }
	default:
		entry := p.Text()
		title = p.name()
		lines = func(_ *Model, f *facts) {
			for _, l := range entry {
				f.add("", strings.TrimSpace(l))
			}
		}
	}
	m.open(&pager{
		history: m.historyOf(s),
		title:   func(*Model) string { return title },
		lines: func(m *Model, w int) []draw.Line {
			f := &facts{w: w}
			lines(m, f)
			return f.lines
		},
	})
	return nil
}

// inspectEntry shows all of an entry of what needs the operator.
func (m *Model) inspectEntry(a core.Attention) tea.Cmd {
	var page *entryPage // from which it is opened
	if p, ok := m.entryShown(); ok && p.id == a.ID {
		page = p
	}
	if whole, there := attention.ByID(m.snap, a.ID); there {
		a = whole
	}
	m.open(&pager{
		title: func(*Model) string { return a.Label },
		lines: func(m *Model, w int) []draw.Line {
			f := &facts{w: w}
			attentionFacts(m, f, a, page)
			return f.lines
		},
	})
	return nil
}

// attentionFacts are all facts of an entry; page is its page, which has read its logs, or nil.
func attentionFacts(m *Model, f *facts, a core.Attention, page *entryPage) {
	if now, there := attention.ByID(m.snap, a.ID); there {
		a = now
		if page != nil {
			a = page.withLogs(now)
		}
	} else {
		f.tone(themes.Warn, "over", "this is how it was last seen")
	}
	f.add("what", a.Subject.String())
	f.tone(severityMark(m.look.Glyph, a.Severity).tone, "how urgent", a.Severity.String())
	f.add("impact", string(a.Impact))
	f.add("why", a.Reason)
	f.add("more", moreThan(a))
	f.add("since", sinceWhen(m, a.Since))
	for _, fact := range diagnosisTold(a) {
		f.tone(fact.tone, fact.label, fact.text)
	}
	f.tone(themes.Key, hintLabel(a), hintText(m.keyOf, m.snap, a))
	if cause, ok := attention.Listed(m.snap, a.Cause); ok {
		f.tone(themes.Key, "because of", cause.Label+": "+cause.Reason)
	}
	f.add("documents", a.Page.String())
	if d := a.Diagnosis; d != nil {
		f.add("known as", string(d.ID)+" (docs/causes.md); lockstep demo "+d.Scenarios[0]+" has it")
	}
	noteFacts(m, f, m.snap.OpenNotes(a.ID, "", ""))
	if len(a.Evidence) > 0 {
		f.section("What it rests on")
	}
	for _, e := range a.Evidence {
		f.add(e.Of, e.Says)
	}
	for _, changes := range []bool{true, false} {
		title := "By hand: these only look"
		if changes {
			title = "By hand: these change something, and Lockstep does not check them"
		}
		for _, c := range a.Commands {
			if c.Changes != changes {
				continue
			}
			if title != "" {
				f.section(title)
				title = ""
			}
			f.tone(themes.Key, c.For, c.Line)
		}
	}
	if follow := attention.Following(m.snap, a.ID); len(follow) > 0 {
		f.section("What follows from it")
		for _, b := range follow {
			f.add(b.Label, b.Reason)
		}
	}
	if a.Subject.Kind == core.KindSource {
		if src, ok := m.snap.Sources[core.SourceID(a.Subject.Name)]; ok {
			f.section("Source")
			f.lines = append(f.lines, troubleLines(m, &src, f.w)...)
		}
	}
}

func phaseFacts(m *Model, f *facts) {
	rests := ""
	for _, p := range progress.Phases(m.snap) {
		f.section(fmt.Sprintf("%d %s", p.ID, p.Title))
		f.tone(phaseMark(m.look.Glyph, p.State).tone, "state", string(p.State))
		if !p.Started.At.IsZero() {
			f.add("began", sinceStamp(p.Started, m.snap.Now))
			took := "not known: nobody saw its end"
			if p.Timed() {
				took = phaseTook(p, m.snap.Now)
			}
			f.add("took", took)
		}
		if p.Total > 0 {
			f.add("through", fmt.Sprintf("%d of %d", p.Done, p.Total))
		}
		for _, l := range p.Lines {
			text := l.Text
			if l.Limit > 0 {
				text += ", at most " + age(l.Limit) + " by the documents"
			}
			f.add(l.Label, text)
		}
		for _, e := range p.Evidence {
			f.add("because", e)
			rests += " " + e
		}
	}
	f.add("short for", shortFor(rests))
	managementFacts(m, f)
	for _, st := range m.snap.OpenStack {
		f.section("OpenStackDeploymentStatus " + st.Name)
		f.add("state", st.State)
		f.add("OpenStack", st.OpenStackVersion)
		f.add("controller", st.ControllerVersion)
		f.add("release", st.Release)
		f.add("health", st.Health)
		f.add("progress", st.LCMProgress)
		f.add("cause", st.Cause)
		f.tone(themes.Warn, "not healthy", strings.Join(st.Unhealthy, ", "))
		for _, svc := range st.Services {
			f.add(svc.Name, strings.TrimSpace(svc.State+" "+svc.Release))
		}
	}
	if d := m.snap.Controller; d != nil {
		f.section("Rockoon")
		f.add("ready", fmt.Sprintf("%d of %d", d.Ready, d.Replicas))
		f.add("image", d.Image)
	}
}

func operationFacts(m *Model, f *facts, id string) {
	for _, op := range m.snap.Operations {
		if op.ID != id {
			continue
		}
		f.tone(operationMark(m.look.Glyph, op.State).tone, "state", string(op.State))
		f.add("began", stamp(op.Started, m.snap.Now))
		if !op.Ended.IsZero() {
			f.add("ended", stamp(op.Ended, m.snap.Now))
		}
		f.add("took", took(op.State, op.Started, op.Ended, m.snap.Now))
		f.add("says", named(m.snap, op.Text))
		f.add("id", op.ID)
		for _, it := range op.Items {
			f.section(it.Label)
			f.tone(operationMark(m.look.Glyph, it.State).tone, "state", string(it.State))
			f.add("instance", it.Instance)
			f.add("took", took(it.State, it.Started, it.Ended, m.snap.Now))
			f.add("says", named(m.snap, it.Text))
		}
		return
	}
	f.tone(themes.Warn, "gone", "it is no longer known")
}

func findLock(s *core.Snapshot, kind core.Kind, name string) *core.WorkloadLock {
	for _, l := range s.ClusterLocks {
		if l.Kind == kind && l.Name == name {
			return l
		}
	}
	for _, locks := range s.NodeLocks.All() {
		for _, l := range locks {
			if l.Kind == kind && l.Name == name {
				return l
			}
		}
	}
	return nil
}

func lockFacts(m *Model, f *facts, l *core.WorkloadLock) {
	now := m.snap.Now
	f.add("controller", l.Controller)
	if l.Node != "" {
		f.add("node", m.snap.Label(l.Node)+orDifferent(" (", l.Node, ")", m.snap.Label(l.Node)))
	}
	state := string(l.State())
	if l.RawState == "" {
		state += " (it has no status: that counts as active)"
	}
	f.tone(lockMark(m.look.Glyph, l.State()).tone, "state", state)
	if r := m.snap.History.Lock(l.UID); r.State == l.State() && !r.Since.At.IsZero() {
		f.add("since", sinceWhen(m, r.Since))
	}
	f.add("inner state", l.InnerState)
	f.add("release", l.Release)
	if l.Progress != nil {
		f.add("progress", fmt.Sprintf("%d %%, %s", l.Progress.Percentage, l.Progress.Description))
	}
	if l.Message != "" {
		msg := readLock(m.snap, l)
		word, tone := messageWord(msg.Class)
		f.section("What it says")
		f.add("text", named(m.snap, l.Message))
		if msg.Name != "" {
			f.tone(themes.Strong, "situation", msg.Name+orDifferent(" (text ", string(msg.ID), ")", ""))
		}
		if msg.Meaning != "" {
			f.tone(tone, "means", strings.TrimSpace(word+" "+msg.Meaning))
		} else if msg.Class == progress.MessageUnknown {
			f.tone(tone, "means", "no document lists this text: read it as it stands")
		}
		f.add("Lockstep sees", procedure.Seen(m.snap, l, msg))
		f.tone(themes.Key, "what to do", msg.Remedy)
		if !msg.At.IsZero() {
			f.add("said", stamp(msg.At, now))
		}
		for _, id := range msg.Instances {
			name := "not in Nova's list"
			if inst := m.snap.Instances.At(id); inst != nil {
				name = instanceName(inst) + " on " + m.snap.Label(inst.Host) + ", " + inst.Status
			}
			f.add(id, name)
		}
		f.add("raw", l.Message)
	}
	accountFacts(m, f, progress.AccountOf(m.snap, l), l.Node)
	if ask := progress.AskAbout(m.snap, l); ask != "" {
		f.section("Whom to ask")
		f.tone(themes.Key, "", ask)
	}
	metaFacts(m, f, l.Meta)
}

func orDifferent(before, s, after, other string) string {
	if s == other {
		return ""
	}
	return before + s + after
}

func metaFacts(m *Model, f *facts, meta core.Meta) {
	f.section("Object")
	f.add("name", meta.Name)
	f.add("namespace", meta.Namespace)
	f.add("uid", meta.UID)
	f.add("resource version", meta.ResourceVersion)
	f.add("created", stamp(meta.Created, m.snap.Now))
	if !meta.Deleting.IsZero() {
		f.tone(themes.Warn, "being removed since", stamp(meta.Deleting, m.snap.Now))
	}
	f.add("finalizers", strings.Join(meta.Finalizers, ", "))
}
