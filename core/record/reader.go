package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

// Reader takes the lines of a journal, in order, and makes accounts of the updates in it. Lines before the first update belong to that;
// what follows an update's end belongs to it, until the next one begins.
type Reader struct {
	parts   []part
	seals   []Seal
	several bool // journals: their numbers of lines alone do not tell lines apart
}

// part is the lines of one update.
type part struct {
	update core.UpdateRecord
	lines  []engine.JournalLine
}

// Read reads journals of one cluster: one, or several as one.
func Read(paths []string) (r *Reader, skipped int, err error) {
	r = &Reader{several: len(paths) > 1}
	for _, path := range paths { // before the lines: what is written meanwhile is beyond the seal
		seal, err := engine.SealJournal(path)
		if err != nil {
			return nil, 0, err
		}
		if seal.Seq > 0 {
			r.seals = append(r.seals, seal)
		}
	}
	if len(paths) == 1 {
		skipped, err = engine.ReadJournalLines(paths[0], r.Add)
	} else {
		skipped, err = engine.MergeJournals(paths, r.Add)
	}
	return r, skipped, err
}

// Add takes the next line.
func (r *Reader) Add(l engine.JournalLine) {
	if len(r.parts) == 0 {
		r.parts = []part{{}}
	}
	last := &r.parts[len(r.parts)-1]
	if u := l.Update; l.Kind == engine.RecordUpdate && u != nil {
		if last.update.UID != "" && u.UID != last.update.UID {
			r.parts = append(r.parts, part{})
			last = &r.parts[len(r.parts)-1]
		}
		from := last.update.From
		last.update = *u
		last.update.From = cmp.Or(u.From, from)
	}
	last.lines = append(last.lines, l)
}

// Updates are those that the journal tells of, the last one last.
func (r *Reader) Updates() []core.UpdateRecord {
	var out []core.UpdateRecord
	for _, p := range r.parts {
		if p.update.UID != "" {
			out = append(out, p.update)
		}
	}
	return out
}

// Account is that of the update to the release; empty: of the last one. An update that was asked for several times is told as its last.
func (r *Reader) Account(release string) (*Account, error) {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if u := r.parts[i].update; u.UID != "" && (release == "" || u.Release == release) {
			return r.accountOf(r.parts[i]), nil
		}
	}
	var known []string
	for _, u := range r.Updates() {
		known = append(known, u.Release)
	}
	if release != "" && len(known) > 0 {
		return nil, fmt.Errorf("the journal tells of no update to %s; it has those to %s", release, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("the journal tells of no update")
}

// builder makes one account.
type builder struct {
	*Account
	nodes     map[string]*Node
	instances map[string]*Instance
	projects  map[string]string // of an instance: its project's name
	phases    map[int]*Phase
	runs      map[string]*Run
	actions   map[string]*Action
	order     []string // of the actions
	entries   []*Entry
	latest    map[string]*Entry // by ID: the last one with it
	several   bool              // journals
	notes     map[string]*Note
	noted     []string
	records   []engine.Record
	places    map[string][]Place // by object UID: of the writes
	plan      planner
}

func (r *Reader) accountOf(p part) *Account {
	b := &builder{Account: &Account{Format: Format, From: p.update.From, To: p.update.Release, Began: Time{p.update.Started.UTC()},
		Ended: Time{p.update.Ended.UTC()}, EndSeen: p.update.EndSeen, EndReconstructed: p.update.Reconstructed, Lines: len(p.lines)},
		nodes: map[string]*Node{}, instances: map[string]*Instance{}, projects: map[string]string{}, phases: map[int]*Phase{},
		runs: map[string]*Run{}, actions: map[string]*Action{}, latest: map[string]*Entry{}, notes: map[string]*Note{},
		places: map[string][]Place{}, several: r.several}
	for _, l := range p.lines {
		b.add(l)
	}
	b.finish()
	b.Seals = some(r.seals)
	return b.Account
}

func (b *builder) add(l engine.JournalLine) {
	at := b.lineOf(l)
	if when := l.When().UTC(); when.After(b.Last.Time) {
		b.Last = Time{when}
	}
	b.Cluster = cmp.Or(l.Cluster, b.Cluster)
	b.records = append(b.records, l.Record)
	switch l.Kind {
	case engine.RecordStart, engine.RecordStop, engine.RecordIdentity:
		b.run(l, at)
	case engine.RecordPhase:
		b.phase(l, at)
	case engine.RecordStage:
		b.stage(l, at)
	case engine.RecordRound:
		b.round(l, at)
	case engine.RecordStandstill:
		b.standstill(l, at)
	case engine.RecordMove:
		b.move(l, at)
	case engine.RecordPlan, engine.RecordPlanStep, engine.RecordForecast:
		b.planLine(l, at)
	case engine.RecordGrant, engine.RecordBefore, engine.RecordAfter, engine.RecordVerified, engine.RecordEnded, engine.RecordControl:
		b.action(l, at)
	case engine.RecordRefused:
		b.Refused = append(b.Refused, Refusal{At: Time{l.When().UTC()}, By: l.By, Title: l.Title, Why: l.Error, Line: at})
	case engine.RecordEntry:
		b.entry(l, at)
	case engine.RecordNote:
		b.note(l, at)
	}
}

func (b *builder) run(l engine.JournalLine, at Place) {
	run := b.runs[l.Run]
	if run == nil {
		run = &Run{ID: l.Run, By: l.By}
		b.runs[l.Run] = run
	}
	run.Lines = append(run.Lines, at)
	switch {
	case l.Kind == engine.RecordStart:
		run.Began, run.Version = Time{l.When().UTC()}, l.Version
	case l.Kind == engine.RecordStop:
		run.Ended = Time{l.When().UTC()}
	case l.As != nil:
		run.As = l.As.String()
	}
}

func (b *builder) phase(l engine.JournalLine, at Place) {
	if l.Phase == nil {
		return
	}
	p := b.phases[int(l.Number)]
	if p == nil {
		p = &Phase{Number: int(l.Number)}
		b.phases[p.Number] = p
	}
	p.Title = cmp.Or(l.Title, p.Title)
	p.Began, p.Ended = Time{l.Phase.Started.At.UTC()}, Time{l.Phase.Ended.At.UTC()}
	p.Exact = l.Phase.Started.Exact && (l.Phase.Ended.At.IsZero() || l.Phase.Ended.Exact)
	p.Took = between(p.Began, p.Ended)
	p.Reconstructed = p.Reconstructed || l.Reconstructed != ""
	p.Lines = append(p.Lines, at)
}

func (b *builder) node(l engine.JournalLine) *Node {
	n := b.nodes[l.Node]
	if n == nil {
		n = &Node{Name: l.Node, Label: l.Node}
		b.nodes[l.Node] = n
	}
	n.Label = cmp.Or(l.Label, n.Label)
	return n
}

func (b *builder) stage(l engine.JournalLine, at Place) {
	n := b.node(l)
	began := l.When()
	if l.Stage != nil && !l.Stage.Since.At.IsZero() {
		began = l.Stage.Since.At
	}
	s := Stage{Stage: l.To, Began: Time{began.UTC()}, Exact: l.Exact, Why: l.Text, Line: at, Reconstructed: l.Reconstructed}
	i := len(n.Stages)
	if l.Reconstructed != "" { // it was before what is told already
		for i > 0 && n.Stages[i-1].Began.After(began) {
			i--
		}
		for _, at := range []int{i - 1, i} { // what was found later gives way, also where its evidence was older
			if at >= 0 && at < len(n.Stages) && n.Stages[at].Stage == s.Stage && !n.Stages[at].Exact && n.Stages[at].Reconstructed == "" {
				s.Why, i = n.Stages[at].Why, at
				n.Stages = slices.Delete(n.Stages, at, at+1)
				break
			}
		}
	}
	n.Stages = slices.Insert(n.Stages, i, s)
}

// stageTimes says when each stage of a node ended: when the next one began.
func (n *Node) stageTimes() {
	for i := range n.Stages {
		if s := &n.Stages[i]; i+1 < len(n.Stages) {
			s.Ended = n.Stages[i+1].Began
			s.Took = between(s.Began, s.Ended)
		}
	}
}

func (b *builder) round(l engine.JournalLine, at Place) {
	if l.Round == nil {
		return
	}
	n := b.node(l)
	m := Maintenance{Began: Time{l.Round.Started.UTC()}, Ended: Time{l.Round.Ended.UTC()},
		EndSeen: !l.Round.Ended.IsZero() && !l.Round.EndUnseen && !l.Round.Reconstructed, Reconstructed: l.Round.Reconstructed}
	if l.Round.Instances >= 0 {
		m.Instances = &l.Round.Instances
	}
	if m.EndSeen || m.Reconstructed {
		m.Took = between(m.Began, m.Ended)
	}
	if k := len(n.Maintenance); k > 0 && n.Maintenance[k-1].Began.Equal(m.Began.Time) {
		m.Lines = n.Maintenance[k-1].Lines
		n.Maintenance = n.Maintenance[:k-1]
	}
	m.Lines = append(m.Lines, at)
	n.Maintenance = append(n.Maintenance, m)
}

func (b *builder) standstill(l engine.JournalLine, at Place) {
	if l.Stands == nil {
		return
	}
	s := Standstill{Phase: int(l.Number), Cause: string(l.Stands.Cause), Subject: l.Stands.Subject, Why: l.Stands.Why,
		Began: Time{l.Stands.Since.At.UTC()}, Ended: Time{l.Stands.Until.UTC()}}
	s.Took = between(s.Began, s.Ended)
	for i := range slices.Backward(b.Standstills) { // several runs know its beginning by the moment at which each of them looked
		o := &b.Standstills[i]
		if o.Phase != s.Phase || o.Cause != s.Cause || !o.Ended.IsZero() && !s.Began.Before(o.Ended.Time) {
			continue
		}
		if o.Ended.IsZero() {
			o.Ended, o.Why = s.Ended, s.Why
		}
		o.Took = between(o.Began, o.Ended)
		o.Lines = append(o.Lines, at)
		return
	}
	s.Lines = []Place{at}
	b.Standstills = append(b.Standstills, s)
}

// leastStandstill is how long the update must stand still before the report tells of it, in seconds, as with entries of "Needs you": a
// controller that goes from one thing to the next holds it for a moment, again and again.
const leastStandstill = 10

func (b *builder) instance(id, name, project string) *Instance {
	in := b.instances[id]
	if in == nil {
		in = &Instance{ID: id}
		b.instances[id] = in
	}
	in.Name = cmp.Or(name, in.Name)
	b.projects[id] = cmp.Or(project, b.projects[id])
	return in
}

func (b *builder) move(l engine.JournalLine, at Place) {
	m := l.Move
	if m == nil {
		return
	}
	in := b.instance(m.Instance, m.Name, m.Project)
	move := Move{Type: m.Type, Status: m.Status, From: m.From, To: m.To, Began: Time{m.Began.UTC()}, Ended: Time{m.Ended.UTC()},
		Text: m.Text, Line: at}
	move.Took = between(move.Began, move.Ended)
	if k := len(in.Moves); k > 0 && in.Moves[k-1].Began.Equal(move.Began.Time) && in.Moves[k-1].Type == move.Type {
		// A cold migration is finished first, and confirmed or reverted later: the instance is down up to the first.
		move.Ended, move.Took = in.Moves[k-1].Ended, in.Moves[k-1].Took
		in.Moves = in.Moves[:k-1]
	}
	in.Moves = append(in.Moves, move)
}

func (b *builder) action(l engine.JournalLine, at Place) {
	id := core.BatchOf(l.Operation)
	a := b.actions[id]
	if a == nil {
		a = &Action{ID: id, By: l.By, State: "confirmed"}
		b.actions[id] = a
		b.order = append(b.order, id)
	}
	a.Lines = append(a.Lines, at)
	item := core.OfBatch(l.Operation)
	if l.Intent != nil && l.Intent.Instance != "" && l.Object != nil {
		b.instance(l.Intent.Instance, l.Object.Name, l.Project)
	}
	switch l.Kind {
	case engine.RecordGrant:
		a.By, a.Title, a.Node, a.Typed, a.Commands, a.Basis = l.By, l.Title, l.Node, l.Typed, l.Commands, l.Basis
		a.Confirmed = Time{l.When().UTC()}
		if l.As != nil {
			a.As = l.As.String()
		}
		b.deviates(l, at)
	case engine.RecordBefore:
		if !item {
			a.State, a.Before, a.After = "begun", l.From, l.To
		}
		if len(a.Commands) == 0 {
			a.Commands = l.Commands
		}
	case engine.RecordVerified:
		b.stops(l, at)
		if !item {
			a.end(l)
			a.Verified = l.State == string(core.OperationDone)
		}
	case engine.RecordEnded:
		a.end(l)
		if a.Verified = l.State == string(core.OperationDone); len(l.Items) > 0 {
			a.Items = a.Items[:0]
		}
		for _, i := range l.Items {
			a.Items = append(a.Items, Item{i.Label, string(i.State), i.Text, between(Time{i.Began}, Time{i.Ended})})
		}
	case engine.RecordControl:
		return // pausing and acknowledging change nothing in the cluster
	}
	if l.Intent != nil && !item {
		a.Kind = string(l.Intent.Kind)
	}
	a.Title = cmp.Or(a.Title, l.Title)
	if l.Object != nil && !item {
		a.Object, a.UID = l.Object.String(), l.Object.UID
	}
	if l.Object != nil && l.Kind != engine.RecordGrant {
		key := cmp.Or(l.Object.UID, l.Object.Name)
		b.places[key] = append(b.places[key], at)
	}
}

func (a *Action) end(l engine.JournalLine) {
	a.State, a.Text, a.Ended, a.Took = l.State, cmp.Or(l.Error, l.Text), Time{l.When().UTC()}, l.Took
}

// deviates notes a confirmation that goes against what the documents, or the check, say.
func (b *builder) deviates(l engine.JournalLine, at Place) {
	i := l.Intent
	if i == nil {
		return
	}
	what := ""
	switch {
	case i.PastStops:
		what = "in spite of what stops the update"
	case i.Kind == core.IntentOverrideLock:
		what = "a lock set in its controller's place, to " + string(i.State)
	case i.Kind == core.IntentFreeLock, i.Kind == core.IntentClearInner, i.Kind == core.IntentRearmLock, i.Kind == core.IntentAskCluster,
		i.Kind == core.IntentAskNode, i.Kind == core.IntentResetState, i.Kind == core.IntentDeclareSafe:
		what = "by hand what a controller, or Nova, does otherwise"
	case i.PastFailures:
		what = "a batch that goes on past failures"
	default:
		return
	}
	b.Deviations = append(b.Deviations, Deviation{At: Time{l.When().UTC()}, By: l.By, What: l.Title + ": " + what, Line: at,
		Typed: l.Typed})
}

// stops notes that an operator has stopped an instance, or brought it back.
func (b *builder) stops(l engine.JournalLine, at Place) {
	if l.Intent == nil || l.Object == nil || l.State != string(core.OperationDone) {
		return
	}
	switch l.Intent.Kind {
	case core.IntentStop, core.IntentShelve:
		in := b.instance(l.Intent.Instance, l.Object.Name, l.Project)
		in.Stopped = append(in.Stopped, Stop{Stopped: Time{l.When().UTC()}, By: l.By, Lines: []Place{at}})
	case core.IntentStart, core.IntentUnshelve:
		in := b.instance(l.Intent.Instance, l.Object.Name, l.Project)
		if k := len(in.Stopped); k > 0 && in.Stopped[k-1].Started.IsZero() {
			in.Stopped[k-1].Started = Time{l.When().UTC()}
			in.Stopped[k-1].Lines = append(in.Stopped[k-1].Lines, at)
		}
	}
}

func (b *builder) entry(l engine.JournalLine, at Place) {
	r := l.Entry
	if r == nil {
		return
	}
	e := b.latest[r.ID] // several runs know when it came by the moment at which each of them looked
	if e == nil || !e.Settled.IsZero() && l.Began.After(e.Settled.Time) {
		e = &Entry{ID: r.ID, Rule: string(r.Rule), Severity: r.Severity, Came: Time{l.Began.UTC()}}
		b.latest[r.ID] = e
		b.entries = append(b.entries, e)
	}
	if severityRank(r.Severity) > severityRank(e.Severity) {
		e.Severity = r.Severity
	}
	e.Impact, e.Label, e.Reason, e.Cause = string(r.Impact), r.Label, r.Reason, r.Cause
	e.Node, e.Instance, e.Since = l.Node, r.Instance, Time{r.Since.UTC()}
	for _, s := range r.Seen {
		if !slices.ContainsFunc(e.SeenTo, func(o SeenTo) bool { return o.Operation == s.Operation }) {
			e.SeenTo = append(e.SeenTo, SeenTo{s.Operation, s.By, s.Title})
		}
	}
	if r.What == engine.EntrySettled && (e.Settled.IsZero() || l.Exact && !e.EndSeen) {
		e.Settled, e.EndSeen = Time{l.When().UTC()}, l.Exact
	}
	e.Lines = append(e.Lines, at)
}

// notesOn tells of the notes on an entry that were written while it was there: who sets it aside sees to it, too.
func (b *builder) notesOn(e *Entry) {
	for _, id := range b.noted {
		n := b.notes[id].Note
		if n.On.Entry != e.ID || n.At.Before(e.Came.Time) || !e.Settled.IsZero() && n.At.After(e.Settled.Time) {
			continue
		}
		e.SeenTo = append(e.SeenTo, SeenTo{By: n.By, Title: wording.TextIf(n.Aside, "set aside: ", "noted: ") + n.Text})
	}
}

func severityRank(s string) int { return slices.Index([]string{"notice", "warning", "urgent"}, s) }

func (b *builder) note(l engine.JournalLine, at Place) {
	if l.Note == nil {
		return
	}
	n := b.notes[l.Note.ID]
	if n == nil {
		n = &Note{}
		b.notes[l.Note.ID] = n
		b.noted = append(b.noted, l.Note.ID)
	}
	n.Note = *l.Note
	n.Lines = append(n.Lines, at)
}

// finish puts together what was collected.
func (b *builder) finish() {
	end := cmp.Or(b.Ended.Time, b.Last.Time)
	b.Took = between(b.Began, Time{end})
	for _, id := range slices.Sorted(maps.Keys(b.runs)) {
		b.Runs = append(b.Runs, *b.runs[id])
	}
	slices.SortStableFunc(b.Runs, func(x, y Run) int { return x.Began.Compare(y.Began.Time) })
	for _, n := range slices.Sorted(maps.Keys(b.phases)) {
		b.Phases = append(b.Phases, *b.phases[n])
	}
	for _, name := range slices.Sorted(maps.Keys(b.nodes)) {
		n := b.nodes[name]
		n.stageTimes()
		for _, m := range n.Maintenance {
			n.Took += m.Took
		}
		b.Nodes = append(b.Nodes, *n)
	}
	slices.SortStableFunc(b.Nodes, func(x, y Node) int { return x.began().Compare(y.began()) })
	b.outliers()
	b.Standstills = slices.DeleteFunc(b.Standstills, func(s Standstill) bool { return !s.Ended.IsZero() && s.Took < leastStandstill })
	for i := range b.Standstills {
		if n := b.nodes[b.Standstills[i].Subject]; n != nil {
			b.Standstills[i].Label = n.Label
		}
	}
	slices.SortStableFunc(b.Standstills, func(x, y Standstill) int { return x.Began.Compare(y.Began.Time) })
	for _, id := range b.order {
		b.Actions = append(b.Actions, *b.actions[id])
	}
	slices.SortStableFunc(b.Actions, func(x, y Action) int { return x.Confirmed.Compare(y.Confirmed.Time) })
	slices.SortStableFunc(b.Refused, func(x, y Refusal) int { return x.At.Compare(y.At.Time) })
	slices.SortStableFunc(b.Deviations, func(x, y Deviation) int { return x.At.Compare(y.At.Time) })
	for _, e := range b.entries {
		e.Lasted = between(e.Came, Time{cmp.Or(e.Settled.Time, b.Last.Time)})
		b.notesOn(e)
		b.Entries = append(b.Entries, *e)
	}
	slices.SortStableFunc(b.Entries, func(x, y Entry) int { return x.Came.Compare(y.Came.Time) })
	for _, id := range b.noted {
		b.Notes = append(b.Notes, *b.notes[id])
	}
	slices.SortStableFunc(b.Notes, func(x, y Note) int { return x.At.Compare(y.At) })
	b.byProject()
	b.planned()
	b.left()
	b.called()
	b.neverNull()
}

// called gives nodes the names that people use, in texts in which they stand by their names in Kubernetes.
func (b *builder) called() {
	var names []string
	for _, n := range b.Nodes {
		if n.Name != "" && n.Label != n.Name {
			names = append(names, n.Name, n.Label)
		}
	}
	r := strings.NewReplacer(names...)
	call := func(texts ...*string) {
		for _, t := range texts {
			*t = r.Replace(*t)
		}
	}
	for i := range b.Actions {
		a := &b.Actions[i]
		call(&a.Title, &a.Text, &a.Before, &a.After)
		for k := range a.Items {
			call(&a.Items[k].Label, &a.Items[k].Text)
		}
	}
	for i := range b.Entries {
		call(&b.Entries[i].Reason, &b.Entries[i].Label)
	}
	for i := range b.Standstills {
		call(&b.Standstills[i].Why)
	}
	for i := range b.Refused {
		call(&b.Refused[i].Title, &b.Refused[i].Why)
	}
	for i := range b.Deviations {
		call(&b.Deviations[i].What)
	}
	for i := range b.Left {
		call(&b.Left[i].Of)
	}
}

// neverNull gives empty lists to JSON in the place of null.
func (a *Account) neverNull() {
	a.Files, a.Runs, a.Phases, a.Nodes = some(a.Files), some(a.Runs), some(a.Phases), some(a.Nodes)
	a.Standstills, a.Projects, a.Actions, a.Refused = some(a.Standstills), some(a.Projects), some(a.Actions), some(a.Refused)
	a.Entries, a.Notes, a.Deviations, a.Left = some(a.Entries), some(a.Notes), some(a.Deviations), some(a.Left)
	for i := range a.Nodes {
		a.Nodes[i].Stages, a.Nodes[i].Maintenance = some(a.Nodes[i].Stages), some(a.Nodes[i].Maintenance)
	}
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// What makes a node stand out: its maintenance took this many times as long as the median of all, and this much longer at least.
const (
	outlierTimes = 2
	outlierLeast = 15 * time.Minute
)

func (b *builder) outliers() {
	var took []float64
	for _, n := range b.Nodes {
		if n.Took > 0 {
			took = append(took, n.Took)
		}
	}
	if len(took) < 3 {
		return // there is no usual length
	}
	slices.Sort(took)
	median := took[len(took)/2]
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Took > outlierTimes*median && n.Took-median > outlierLeast.Seconds() {
			n.Outlier = "it took " + Span(n.Took) + "; half of the nodes took " + Span(median) + " or less"
			if s, ok := n.longest(); ok {
				n.Outlier += "; longest it was " + s.Stage + ", " + Span(s.Took)
			}
		}
	}
}

// began is when its first maintenance began; far away where there was none.
func (n Node) began() time.Time {
	if len(n.Maintenance) == 0 {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return n.Maintenance[0].Began.Time
}

// longest is the stage that took longest of those that belong to a maintenance.
func (n Node) longest() (Stage, bool) {
	var out Stage
	for _, s := range n.Stages {
		if s.Took > out.Took && s.Stage != string(core.StageIdle) && s.Stage != string(core.StageDone) {
			out = s
		}
	}
	return out, out.Took > 0
}

func (b *builder) byProject() {
	of := map[string][]Instance{}
	for id, in := range b.instances {
		for _, m := range in.Moves {
			switch {
			case m.Failed():
				in.Failed++
				fallthrough
			case m.Live():
				in.Slow += m.Took
			default:
				in.Down += m.Took
			}
		}
		for _, s := range in.Stopped {
			in.Down += between(s.Stopped, Time{cmp.Or(s.Started.Time, b.Last.Time)})
		}
		if len(in.Moves)+len(in.Stopped) > 0 {
			of[b.projects[id]] = append(of[b.projects[id]], *in)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		p := Project{Name: name, Instances: of[name]}
		slices.SortFunc(p.Instances, func(x, y Instance) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID)) })
		b.Projects = append(b.Projects, p)
	}
}

// Disabled is what a Leftover says of a service that was disabled, and not enabled again.
const Disabled = "disabled by an operator"

// undone are the steps that set back what others did.
var undone = map[core.IntentKind]core.IntentKind{
	core.IntentDisableCompute: core.IntentEnableCompute, core.IntentDisableVolume: core.IntentEnableVolume,
}

// left finds what Lockstep changed, and did not set back.
func (b *builder) left() {
	h := engine.HistoryOf(b.records)
	add := func(of, what, by string, at time.Time, key string) {
		b.Left = append(b.Left, Leftover{Of: of, What: what, By: by, At: Time{at.UTC()}, Lines: some(b.places[key])})
	}
	for _, changes := range []map[string]core.AnnotationChange{h.Changes, h.Tries} {
		for uid, c := range changes {
			add(c.Node, "annotation "+c.Key+": "+textOf(c.Old)+" → "+textOf(c.New), c.By, c.At, uid)
		}
	}
	for uid, c := range h.Tags {
		add(c.Instance, fmt.Sprintf("maintenance_action tags: %v → %v", c.Old, c.New), c.By, c.At, uid)
	}
	for uid, s := range h.Stopped {
		add(s.Name, "stopped or shelved, and not brought back", s.By, s.At, uid)
	}
	for uid, c := range h.Cold {
		add(c.Name, "a cold migration that was neither confirmed nor reverted", c.By, c.At, uid)
	}
	open := map[string]engine.Record{}
	for _, r := range b.records {
		if r.Kind != engine.RecordVerified || r.Intent == nil || r.Object == nil || !core.OperationState(r.State).MayHaveBeenDone() {
			continue
		}
		key := string(r.Object.Kind) + " " + cmp.Or(r.Object.UID, r.Object.Name)
		for does, undoes := range undone {
			switch r.Intent.Kind {
			case does:
				open[key] = r
			case undoes:
				delete(open, key)
			}
		}
	}
	for _, r := range open {
		add(r.Object.Name, Disabled, r.By, r.When(), cmp.Or(r.Object.UID, r.Object.Name))
	}
	slices.SortFunc(b.Left, func(x, y Leftover) int {
		return cmp.Or(x.At.Compare(y.At.Time), cmp.Compare(x.Of, y.Of), cmp.Compare(x.What, y.What))
	})
}

func textOf(s *string) string {
	if s == nil {
		return "none"
	}
	return wording.TextOf(*s, `""`)
}

// between is the time from one moment to another, in seconds; 0 where one of them is not known.
func between(from, to Time) float64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return math.Max(to.Sub(from.Time).Round(time.Millisecond).Seconds(), 0)
}

// Span is a time in seconds, for people: "1 h 4 m".
func Span(seconds float64) string {
	return wording.SpanText(time.Duration(seconds * float64(time.Second)))
}
