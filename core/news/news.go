package news

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Format is the version of a Line as JSON.
const Format = 1

// Kind is what a Line is about.
type Kind string

// The kinds of lines.
const (
	KindWatch     Kind = "watch"     // watching begins: how everything stands
	KindEntry     Kind = "entry"     // an entry of "Needs you"
	KindUpdate    Kind = "update"    // the cluster's update begins or ends
	KindPhase     Kind = "phase"     // a phase of it comes into another state
	KindNode      Kind = "node"      // a node comes into another stage
	KindMigration Kind = "migration" // a migration begins or ends
	KindSource    Kind = "source"    // a source can be seen, or not any more
)

// What becomes of an entry.
const (
	Came    = "came"
	Worse   = "worse"   // it is more severe than before
	Better  = "better"  // it is less severe than before
	Aside   = "aside"   // it is set aside: it waits for somebody else
	Back    = "back"    // it is set aside no more
	Follows = "follows" // it is seen to follow only from another entry
	Alone   = "alone"   // what it followed from is no longer its cause, and it is still there
	Settled = "settled" // it is there no more
)

// Line is one thing that changed. Its texts are one line each, and are not sanitised for a terminal. JSON writes it for scripts.
type Line struct {
	Format   int         `json:"format"`
	Kind     Kind        `json:"kind"`
	At       time.Time   `json:"at"`   // by the cluster's clock, in UTC
	Wall     time.Time   `json:"wall"` // by the clock of the machine that watches, in UTC
	Cluster  string      `json:"cluster"`
	What     string      `json:"what"`                 // came, worse, better, aside, back, follows, alone, settled; or the new state
	Severity string      `json:"severity,omitempty"`   // of an entry: urgent, warning or notice
	Subject  string      `json:"subject,omitempty"`    // "cmp-07", "phase 4"
	Text     string      `json:"text"`                 // what is so now
	ID       string      `json:"id,omitempty"`         // of the entry: stable as long as it lasts
	Rule     string      `json:"rule,omitempty"`       // that found the entry
	Impact   core.Impact `json:"impact,omitempty"`     // what suffers by the entry
	Cause    string      `json:"cause,omitempty"`      // ID of the entry that this one only follows from
	Node     string      `json:"node,omitempty"`       // the node's name in Kubernetes
	Instance string      `json:"instance,omitempty"`   // the instance's ID
	Aside    *time.Time  `json:"asideUntil,omitempty"` // until when the entry is set aside; absent: it is not
	Since    *time.Time  `json:"since,omitempty"`      // since when it is so, where that is known
	About    bool        `json:"sinceAbout,omitempty"` // nobody saw it begin: then or before
	Lasted   float64     `json:"lastedSeconds,omitempty"`
	Side     string      `json:"lastedSide,omitempty"` // "<" it lasted at most so long, ">" at least, "~" either: nobody saw it begin or end

	severity core.Severity
}

// Mark is what kind of line it is, for people: "URGENT", "settled", "node".
func (l Line) Mark() string {
	switch {
	case l.Kind != KindEntry:
		return string(l.Kind)
	case l.What == Settled:
		return "settled"
	case l.Aside != nil:
		return "aside"
	case l.What == Follows:
		return "follows"
	case l.severity == core.SeverityUrgent:
		return "URGENT"
	}
	return l.Severity
}

// side notes on which side of Lasted the real length is.
func (l *Line) side(began, ended core.Since) {
	if l.Lasted > 0 {
		l.Side = core.LengthSide(began, ended)
	}
}

// Says is what the line says, for people: "cmp-07: manual mode: 2 instances must leave first".
func (l Line) Says() string {
	text := l.Text
	if l.Subject != "" {
		text = l.Subject + ": " + text
	}
	if l.Lasted > 0 {
		text += " (" + l.Side + wording.SpanText(time.Duration(l.Lasted*float64(time.Second))) + ")"
	}
	return text
}

// most is how much of a server's text a line has, in bytes.
const most = 400

// Reporter tells what has changed from one Snapshot to the next. The zero Reporter has seen none.
type Reporter struct {
	began      bool
	entries    map[string]*seen
	update     core.Update
	phases     map[core.PhaseID]core.PhaseState
	stages     map[string]stage
	views      []*core.NodeView  // of the Snapshot before
	migrations map[string]latest // by instance ID
	asOf       time.Time         // when the migrations were looked at last, by the cluster's clock
	listed     map[string][]*core.Migration
	sources    map[core.SourceID]bool // whether it can be seen
	anew       bool                   // a source can be seen that could not at the look before: what it shows may be so for long
	looks      uint64
	glance     core.Glance // at the last Snapshot that could have news
}

// latest is the latest migration of an instance.
type latest struct {
	id     int
	status string
}

type seen struct {
	core.Attention
	first core.Since // by the cluster's clock
	last  uint64     // the number of the look at which it was there
}

type stage struct {
	stage core.Stage
	since core.Since
	label string // of the node, which nobody can ask for when it is gone
}

// Next are the lines of what has changed since the Snapshot before. The first Snapshot gives one line that says how everything stands, and
// one for each entry.
func (r *Reporter) Next(s *core.Snapshot) (out []Line) {
	if r.glance.Same(s) {
		return nil
	}
	r.glance = core.GlanceAt(s, func(s *core.Snapshot) { out = r.next(s) })
	return out
}

func (r *Reporter) next(s *core.Snapshot) []Line {
	var out []Line
	add := func(l Line) {
		l.Format, l.At, l.Wall, l.Cluster = Format, s.Now.UTC(), s.Wall.UTC(), wording.OneLine(s.CalledCluster(), 100)
		out = append(out, l)
	}
	first := !r.began
	if first {
		r.began = true
		add(Line{Kind: KindWatch, What: "begins", Text: stands(s)})
	}
	r.sourcesOf(s, first, add)
	r.updateOf(s, first, add)
	r.nodesOf(s, first, add)
	r.migrationsOf(s, first, add)
	r.entriesOf(s, add)
	return out
}

// change is when something came or went that was not so at the look before: now, or before, where a source was away meanwhile.
func (r *Reporter) change(s *core.Snapshot) core.Since { return core.Since{At: s.Now, Exact: !r.anew} }

// stands is how everything stands, in a sentence.
func stands(s *core.Snapshot) string {
	u := progress.Update(s)
	text := "whether an update runs is not known"
	switch {
	case u.Running:
		text = "the update" + wording.Prefixed(" to ", wording.OneLine(u.To, 60)) + " runs, phase " + strconv.Itoa(int(u.Phase.ID)) + ", " +
			u.Phase.Title + ", " + wording.Count(u.Done, "node") + " of " + strconv.Itoa(u.Nodes) + " done"
	case u.Known:
		text = "no update runs"
	}
	now, aside := attention.Now(attention.List(s))
	waits := ""
	if len(aside) > 0 {
		waits = fmt.Sprintf("; %d set aside", len(aside))
	}
	if n := len(now); n > 0 {
		return text + "; " + wording.Count(n, "thing") + wording.Verb(n, " needs", " need") + " you" + waits
	}
	return text + "; nothing needs you" + waits
}

func (r *Reporter) sourcesOf(s *core.Snapshot, first bool, add func(Line)) {
	is := make(map[core.SourceID]bool, len(s.Sources))
	r.anew = false
	for _, id := range sortedKeys(s.Sources) {
		src := s.Sources[id]
		switch src.State {
		case core.SourceOff, core.SourceAbsent:
			continue // there is nothing to be seen
		case core.SourceConnecting:
			if was, known := r.sources[id]; known {
				is[id] = was
			}
			continue
		}
		is[id] = src.State == core.SourceLive
		was, known := r.sources[id]
		r.anew = r.anew || is[id] && !was
		switch {
		case is[id] && known && !was:
			add(Line{Kind: KindSource, What: string(src.State), Subject: string(id), Text: "can be seen again"})
		case !is[id] && (was || !known): // also one that has only been connecting until now
			text := string(src.State)
			if src.Err != nil {
				text += ": " + wording.OneLine(src.Err.Error(), most)
			}
			add(Line{Kind: KindSource, What: string(src.State), Subject: string(id), Text: text})
		}
	}
	r.sources = is
}

func (r *Reporter) updateOf(s *core.Snapshot, first bool, add func(Line)) {
	u := progress.Update(s)
	if u.Known && r.update.Known && u.Running != r.update.Running {
		line := Line{Kind: KindUpdate, What: "begins", Text: "the update" + wording.Prefixed(" to ", wording.OneLine(u.To, 60)) + " begins"}
		if !u.Running {
			line.What, line.Text = "ends", "the update is over"
			if began := r.update.Started; !began.At.IsZero() {
				line.Lasted = s.Now.Sub(began.At).Seconds()
				line.side(began, r.change(s))
			}
		}
		add(line)
	}
	if u.Known && !r.update.Known && !first && u.Running { // it could not be seen until now
		line := Line{Kind: KindUpdate, What: "runs", Text: "the update" + wording.Prefixed(" to ", wording.OneLine(u.To, 60)) + " runs"}
		if at := u.Started.At; u.Started.Exact && !at.IsZero() {
			line.Lasted = s.Now.Sub(at).Seconds()
		}
		add(line)
	}
	if u.Known {
		r.update = u
	}
	phases := map[core.PhaseID]core.PhaseState{}
	for _, p := range progress.Phases(s) {
		phases[p.ID] = p.State
		if was, known := r.phases[p.ID]; known && was != p.State && u.Running {
			l := Line{Kind: KindPhase, What: string(p.State), Subject: "phase " + strconv.Itoa(int(p.ID)), Text: p.Title + ": " + string(p.State)}
			if p.State == core.PhaseDone {
				if l.Lasted = p.Elapsed(s.Now).Seconds(); l.Lasted > 0 {
					l.Side = p.ElapsedSide()
				}
			}
			add(l)
		}
	}
	r.phases = phases
}

func (r *Reporter) nodesOf(s *core.Snapshot, first bool, add func(Line)) {
	if r.stages == nil {
		r.stages = map[string]stage{}
	}
	views, before := progress.NodeViews(s), r.views
	r.views = views
	for i, v := range views {
		if i < len(before) && before[i] == v {
			continue // thousands of them, in each Snapshot
		}
		was, known := r.stages[v.Name]
		if known && was.stage == v.Stage {
			if was.label != v.Label {
				r.stages[v.Name] = stage{was.stage, was.since, v.Label}
			}
			continue
		}
		since := r.change(s)
		if v.Since.Exact && !v.Since.At.IsZero() && v.Since.At.Before(s.Now) {
			since = v.Since
		} else if !known {
			since = core.Since{} // it was in it before
		}
		r.stages[v.Name] = stage{v.Stage, since, v.Label}
		if first || !known && !v.Active() {
			continue
		}
		l := Line{Kind: KindNode, What: string(v.Stage), Subject: wording.OneLine(v.Label, 64), Node: v.Name, Text: string(v.Stage)}
		if known {
			l.Text = string(was.stage) + " → " + string(v.Stage)
			if !was.since.At.IsZero() {
				l.Lasted = max(since.At.Sub(was.since.At), 0).Seconds() // the API tells times in whole seconds
				l.side(was.since, since)
			}
		}
		l.Text += wording.Prefixed(": ", wording.OneLine(v.What, most))
		add(l)
	}
	if len(r.stages) == len(views) {
		return // all of them are there
	}
	for _, name := range sortedKeys(r.stages) {
		if _, there := progress.NodeView(s, name); there {
			continue
		}
		label := r.stages[name].label
		delete(r.stages, name)
		if s.Known(core.SourceNodes) {
			add(Line{Kind: KindNode, What: "gone", Subject: wording.OneLine(label, 64), Node: name, Text: "is not there any more"})
		}
	}
}

func (r *Reporter) migrationsOf(s *core.Snapshot, first bool, add func(Line)) {
	if core.SameMap(r.listed, s.Migrations) && !first {
		return // thousands of them
	}
	now := make(map[string]latest, len(s.Migrations))
	for _, id := range sortedKeys(s.Migrations) {
		m := s.LatestMigration(id)
		if m == nil {
			continue
		}
		now[id] = latest{m.ID, m.Status}
		was, known := r.migrations[id]
		switch {
		case first || known && was.id == m.ID && was.status == m.Status:
			continue
		case known && was.id == m.ID && m.Running(), !known && !m.Running() && !r.endedSince(m):
			continue // it goes on; or it is an old one that Nova lists now
		}
		subject := core.ShortID(id)
		if in := s.Instances.At(id); in != nil {
			subject = wording.OneLine(progress.InstanceLabel(in), 64)
		}
		text := wording.OneLine(m.Type, 40) + " from " + wording.OneLine(progress.HostLabel(s, m.SourceHost), 64) +
			wording.Prefixed(" to ", wording.OneLine(progress.HostLabel(s, m.DestHost), 64)) + ", " + wording.OneLine(m.Status, 40)
		if m.Failure != "" && !m.Running() {
			text += ": " + wording.OneLine(m.Failure, most)
		}
		add(Line{Kind: KindMigration, What: wording.OneLine(m.Status, 40), Subject: subject, Instance: id, Text: text})
	}
	if src := s.Sources[core.SourceMigrations]; s.Known(core.SourceMigrations) {
		r.migrations, r.listed, r.asOf = now, s.Migrations, s.Now.Add(-max(s.Wall.Sub(src.AsOf), 0))
	}
}

// clocksApart is how far Nova's clock may be behind, and how late its list may tell of a change.
const clocksApart = time.Minute

// endedSince tells whether a migration that was not listed before has begun and ended since the last look: a small instance is moved, and
// an attempt fails, in less time than lies between two looks.
func (r *Reporter) endedSince(m *core.Migration) bool {
	return !r.asOf.IsZero() && m.Updated.After(r.asOf.Add(-clocksApart))
}

func (r *Reporter) entriesOf(s *core.Snapshot, add func(Line)) {
	if r.entries == nil {
		r.entries = map[string]*seen{}
	}
	r.looks++
	for _, a := range attention.List(s) {
		now, known := r.entries[a.ID]
		if !known {
			now = &seen{first: r.change(s)}
			r.entries[a.ID] = now
		}
		was := now.Attention
		now.Attention, now.last = a, r.looks
		what := Came
		switch {
		case known && a.Aside != nil && was.Aside == nil:
			what = Aside
		case known && a.Aside == nil && was.Aside != nil:
			what = Back
		case known && a.Severity > was.Severity:
			what = Worse
		case known && a.Severity < was.Severity:
			what = Better
		case known && a.Cause != "" && was.Cause == "":
			what = Follows
		case known && a.Cause == "" && was.Cause != "": // whoever was called about its cause has to hear that this is not over
			what = Alone
		case known:
			continue
		}
		add(entry(a, what))
	}
	var gone []*seen
	for id, was := range r.entries {
		if was.last != r.looks {
			gone = append(gone, was)
			delete(r.entries, id)
		}
	}
	slices.SortFunc(gone, func(a, b *seen) int { return cmp.Compare(a.ID, b.ID) })
	for _, was := range gone {
		l := entry(was.Attention, Settled)
		since := was.first
		if certain := was.Since.Certain(); !certain.At.IsZero() && certain.At.Before(since.At) {
			since = certain
		}
		l.Lasted = max(s.Now.Sub(since.At), 0).Seconds()
		l.side(since, r.change(s))
		add(l)
	}
}

// entry is the line of an entry.
func entry(a core.Attention, what string) Line {
	l := Line{Kind: KindEntry, What: what, Severity: a.Severity.String(), Subject: wording.OneLine(a.Label, 64),
		Text: wording.OneLine(a.Reason, most), ID: wording.OneLine(a.ID, 200), Rule: string(a.Rule), Impact: a.Impact,
		Cause: wording.OneLine(a.Cause, 200), Node: a.Node, Instance: a.Instance, severity: a.Severity}
	if since := a.Since.Certain(); !since.At.IsZero() {
		l.Since, l.About = new(since.At.UTC()), !since.Exact
	}
	if n := a.Aside; n != nil {
		l.Aside = new(n.Until.UTC())
		l.Text = "until " + n.Until.Local().Format("15:04") + " it waits for somebody else (" + wording.OneLine(n.Text, 200) + "): " + l.Text
	}
	return l
}

func sortedKeys[K ~string, T any](m map[K]T) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
