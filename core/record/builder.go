package record

import (
	"cmp"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

// builder makes one account.
type builder struct {
	*Account
	nodes     map[string]*Node
	instances map[string]*Instance
	projects  map[string]string // of an instance: its project's name
	phases    map[int]*Phase
	runs      map[string]*Run
	actions   map[string]*Action
	lookedUp  map[string]bool // by operation: a later run found how it ended
	stopped   map[string]bool // by operation: it stopped an instance, and is told
	order     []string        // of the actions
	entries   []*Entry
	latest    map[string]*Entry // by ID: the last one with it
	several   bool              // journals
	notes     map[string]*Note
	noted     []string
	first     time.Time          // of the first line
	places    map[string][]Place // by object UID: of the writes
	plan      planner
	update    core.UpdateRecord   // the zero value where the account is of no update
	outside   map[string]struct{} // nodes that went through maintenance outside the update
}

func (r *Reader) accountOf(p part) *Account {
	b := &builder{Account: &Account{Format: Format, From: p.update.From, To: p.update.Release, Began: Time{p.update.Started.UTC()},
		Ended: Time{p.update.Ended.UTC()}, EndSeen: p.update.EndSeen, EndReconstructed: p.update.Reconstructed, Lines: len(p.lines)},
		nodes: map[string]*Node{}, instances: map[string]*Instance{}, projects: map[string]string{}, phases: map[int]*Phase{},
		runs: map[string]*Run{}, actions: map[string]*Action{}, lookedUp: map[string]bool{},
		stopped: map[string]bool{}, latest: map[string]*Entry{},
		notes: map[string]*Note{}, places: map[string][]Place{}, several: r.several, update: p.update, outside: map[string]struct{}{}}
	b.Outside = p.update.UID == ""
	r.tellChanges(b.Account)
	for _, l := range p.lines {
		b.add(l)
	}
	b.runsOf(r, p)
	b.finish()
	return b.Account
}

// runsOf adds what other parts tell of the runs that this one is of: a run can begin in one update and end in the next.
func (b *builder) runsOf(r *Reader, own part) {
	of, told := map[string]bool{}, map[Place]bool{}
	for _, l := range own.lines {
		of[l.Run], told[b.lineOf(l)] = true, true
	}
	for _, p := range r.parts {
		for _, l := range p.lines {
			b.Cluster, b.Simulated = cmp.Or(b.Cluster, l.Cluster), b.Simulated || l.Simulated
			if k := l.Kind; !l.Again && of[l.Run] && (k == engine.RecordStart || k == engine.RecordStop || k == engine.RecordIdentity) &&
				!told[b.lineOf(l)] {
				b.run(l, b.lineOf(l))
			}
		}
	}
}

// Changes is an account of no update: it tells only what is left of all that the journals tell.
func (r *Reader) Changes() *Account {
	a := &Account{Format: Format, Outside: true}
	r.tellChanges(a)
	return a
}

// tellChanges tells the account what all lines together say: what was changed for one update may be set back during another.
func (r *Reader) tellChanges(a *Account) {
	var all []engine.Record
	for _, p := range r.parts {
		for _, l := range p.lines {
			if !l.Again {
				all = append(all, l.Record)
			}
		}
	}
	a.done, a.disabled, a.Seals = engine.HistoryOf(all), disabledIn(all), some(r.seals)
}

func (b *builder) add(l engine.JournalLine) {
	at := b.lineOf(l)
	when := l.When().UTC()
	if when.After(b.Last.Time) {
		b.Last = Time{when}
	}
	if b.first.IsZero() || when.Before(b.first) {
		b.first = when
	}
	b.Cluster = cmp.Or(l.Cluster, b.Cluster)
	if l.Again {
		b.again(l, at)
		return
	}
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
	case engine.RecordUp:
		if l.Object != nil {
			b.broughtBack(l.Object.UID, l, at)
		}
	case engine.RecordRefused:
		b.Refused = append(b.Refused, Refusal{At: Time{l.When().UTC()}, By: l.By, Title: l.Title, Why: l.Error, Line: at})
	case engine.RecordEntry:
		b.entry(l, at)
	case engine.RecordNote:
		b.note(l, at)
	}
}

// again keeps the place of a line that tells again what another line tells: who looks up what the account says of a phase or of a
// maintenance finds all of them.
func (b *builder) again(l engine.JournalLine, at Place) {
	switch {
	case l.Kind == engine.RecordPhase && b.phases[int(l.Number)] != nil:
		p := b.phases[int(l.Number)]
		p.Lines = append(p.Lines, at)
	case l.Kind == engine.RecordRound && l.Round != nil && b.nodes[l.Node] != nil:
		all := b.nodes[l.Node].Maintenance
		for i := range slices.Backward(all) {
			if all[i].Began.Equal(l.Round.Started.UTC()) {
				all[i].Lines = append(all[i].Lines, at)
				return
			}
		}
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
	n.Stages = append(n.Stages, Stage{Stage: l.To, Began: Time{began.UTC()}, Exact: l.Exact, Why: l.Text, Line: at,
		Reconstructed: l.Reconstructed})
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
	if !b.Outside && !b.inUpdate(*l.Round) {
		b.outside[l.Node] = struct{}{}
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

// inUpdate tells whether the maintenance of a node was a part of the update. What was not, has another request of the cluster or none, and
// was before the update or after it: a graceful reboot, say.
func (b *builder) inUpdate(r core.Round) bool {
	u := b.update
	return r.Update == u.UID || r.Update == "" && !r.Started.Before(u.Started) && (u.Ended.IsZero() || r.Started.Before(u.Ended))
}

func (b *builder) standstill(l engine.JournalLine, at Place) {
	if l.Stands == nil || b.Outside { // only an update stands still: its end may stand behind the update's own
		return
	}
	s := Standstill{Phase: int(l.Number), Cause: string(l.Stands.Cause), Subject: l.Stands.Subject, Why: l.Stands.Why,
		Began: Time{l.Stands.Since.At.UTC()}, Ended: Time{l.Stands.Until.UTC()},
		EndSeen: !l.Stands.Until.IsZero() && !l.Stands.UntilUnseen}
	s.Took = between(s.Began, s.Ended)
	for i := range slices.Backward(b.Standstills) { // several runs know its beginning by the moment at which each of them looked
		o := &b.Standstills[i]
		if o.Phase != s.Phase || o.Cause != s.Cause || !o.Ended.IsZero() && !s.Began.Before(o.Ended.Time) {
			continue
		}
		if o.Ended.IsZero() {
			o.Ended, o.EndSeen, o.Why = s.Ended, s.EndSeen, s.Why
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
	} else if !move.Live() && !move.Failed() && !move.moved() {
		move.Took = 0 // only its end was seen: how long the instance was down before is not known
	}
	in.Moves = append(in.Moves, move)
}

// lies tells whether something that lasted so long lies in the time of the account, at least in part. to is zero where it lasts, or where
// nobody saw its end.
func (b *builder) lies(from, to Time) bool {
	return b.Outside || b.Began.IsZero() || (to.IsZero() || !to.Before(b.Began.Time)) && (b.Ended.IsZero() || !from.After(b.Ended.Time))
}

func (b *builder) action(l engine.JournalLine, at Place) {
	id := core.BatchOf(l.Operation)
	a := b.actions[id]
	if a == nil {
		if l.Kind == engine.RecordControl {
			return // of a step that is told elsewhere
		}
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
		if a.Ended.IsZero() { // by another clock, or by Nova's, it can have ended before it began
			a.State = Begun
		}
		if !item {
			a.Before, a.After = l.From, l.To
		}
		if len(a.Commands) == 0 {
			a.Commands = l.Commands
		}
	case engine.RecordVerified:
		b.stops(l, at)
		if !item && !b.lookedUp[id] {
			a.end(l)
			a.Verified = l.State == string(core.OperationDone)
		}
	case engine.RecordEnded:
		if l.LookedUp {
			b.lookedUp[id] = true
			b.stops(l, at)
		} else if b.lookedUp[id] { // the run that began it had left, at a later time than it ended, and did not know how
			return
		}
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
		if b.stopped[l.Operation] { // the journal has it twice where a disk was full
			return
		}
		b.stopped[l.Operation] = l.Operation != ""
		in.Stopped = append(in.Stopped, Stop{Stopped: Time{l.When().UTC()}, By: l.By, Lines: []Place{at}})
	case core.IntentStart, core.IntentUnshelve:
		b.broughtBack(l.Intent.Instance, l, at)
	}
}

// broughtBack notes that an instance that was stopped is up again, whoever brought it back.
func (b *builder) broughtBack(id string, l engine.JournalLine, at Place) {
	in := b.instance(id, l.Object.Name, l.Project)
	if k := len(in.Stopped); k > 0 && in.Stopped[k-1].Started.IsZero() {
		in.Stopped[k-1].Started = Time{l.When().UTC()}
		in.Stopped[k-1].Lines = append(in.Stopped[k-1].Lines, at)
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
