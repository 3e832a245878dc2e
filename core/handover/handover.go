// Package handover makes the note that one shift leaves for the next: where the update stands, what is open and why, what was promised,
// what is to be set back, what comes next, and what to look at first. It is made to be read in a minute.
package handover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
	"lockstep/core/progress"
	"lockstep/core/record"
	"lockstep/core/wording"
)

// Format is the version of a Handover as JSON.
const Format = 1

// Handover is the note. Times are the cluster's, in UTC; texts are one line each, and are not sanitised for a terminal.
type Handover struct {
	Format  int       `json:"format"`
	Cluster string    `json:"cluster"`
	By      string    `json:"by"`   // who wrote it
	At      time.Time `json:"asOf"` // the cluster's time
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Stands  string    `json:"stands"` // where the update stands, in a sentence
	First   string    `json:"lookFirst"`

	Open    []Open    `json:"open"`
	Running []Running `json:"running"` // what is under way, and must not be left alone
	Promise []Promise `json:"promised"`
	SetBack []SetBack `json:"toSetBack"`
	Held    string    `json:"heldUpBy,omitempty"` // what keeps the update from going on: the times of next are then those if it goes on now
	Next    []Next    `json:"next"`
	Wrong   []Wrong   `json:"wentWrong"` // and was seen to
	Unseen  []string  `json:"notSeen"`   // what could not be looked at

	Seals []record.Seal `json:"seals"` // of each journal when the note was made: lockstep journal verify --seal
}

// Open is something that needs a person.
type Open struct {
	Severity string      `json:"severity"`
	Impact   core.Impact `json:"impact,omitempty"`
	Label    string      `json:"label,omitempty"`
	Reason   string      `json:"reason"`
	Since    *time.Time  `json:"since,omitempty"`
	About    bool        `json:"sinceAbout,omitempty"` // nobody saw it begin: then or before, or, with sinceLater, then or later
	Later    bool        `json:"sinceLater,omitempty"` // nobody saw it begin: then or later
	Hint     string      `json:"hint,omitempty"`       // the cause that is known, or what to do
	Aside    *Promise    `json:"aside,omitempty"`      // the note by which it waits for somebody else
}

// Running is an operation that is under way.
type Running struct {
	Title string     `json:"title"`
	By    string     `json:"by"`
	Since *time.Time `json:"since,omitempty"`
	Goes  string     `json:"goes,omitempty"` // how it goes
}

// Promise is a note that is not done with.
type Promise struct {
	Of    string     `json:"of,omitempty"`
	Text  string     `json:"text"`
	By    string     `json:"by"`
	Until *time.Time `json:"until,omitempty"`
	Past  bool       `json:"past,omitempty"` // its time has come
}

// Next is something that is ahead.
type Next struct {
	What string     `json:"what"`
	At   *time.Time `json:"at,omitempty"`

	Unlearned bool `json:"byPlanOrDocuments,omitempty"` // its time rests on the plan's or the documents' numbers: no pace was seen yet
}

// Wrong is something that went wrong, and does no more.
type Wrong struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	What  string    `json:"what"`
	Lines string    `json:"lines"` // of the journal
}

// How many of each kind the note has at most: it is read in a minute.
const (
	mostOpen  = 12
	mostNext  = 5
	mostWrong = 10
)

// What went wrong is worth telling from this length on.
const wrongFrom = 10 * time.Minute

// Of makes the note of a Snapshot. The account is that of the journal; nil where there is none.
func Of(s *core.Snapshot, a *record.Account) Handover {
	u := progress.Update(s)
	h := Handover{Format: Format, Cluster: wording.OneLine(s.CalledCluster(), 100), By: s.Operator, At: s.Now.UTC(),
		From: wording.OneLine(u.From, 60), To: wording.OneLine(u.To, 60), Stands: stands(s, u), Open: []Open{},
		Running: []Running{}, Promise: []Promise{},
		SetBack: setBack(withChanges(s, a)),
		Held:    wording.OneLine(forecast.Finish(s).Held, core.MostWhy),
		Next:    next(s), Wrong: []Wrong{}, Unseen: unseen(s),
		Seals: []record.Seal{}}
	promised := promises(s, a)
	for _, n := range promised {
		h.Promise = append(h.Promise, promise(s, n))
	}
	h.open(s, promised)
	h.running(s, a)
	if a != nil {
		h.Seals = a.Seals
		h.begun(s, a)
		h.wrong(s, a)
		h.disabled(s, a)
	}
	h.First = h.first()
	return h
}

// stands is where the update stands, in a sentence.
func stands(s *core.Snapshot, u core.Update) string {
	switch {
	case !u.Known:
		return "Whether an update runs is not known."
	case !u.Running:
		return "No update runs."
	}
	text := fmt.Sprintf("Phase %d, %s: %d of %s done", u.Phase.ID, u.Phase.Title, u.Done, wording.Count(u.Nodes, "node"))
	switch end := forecast.Finish(s); {
	case end.At.IsZero() && end.Held != "":
		text += "; it is held up (" + end.Held + "), and when it is done nobody can say"
	case end.At.IsZero():
		text += "; when it is done cannot be said yet"
		if whole := forecast.Of(s).Whole; whole.Unlearned > 0 && !s.Reached(whole.At) {
			text += " (by the times of plan and documents about " + timeText(s, whole.At) + ")"
		}
	case end.Held != "":
		text += "; it is held up (" + end.Held + "): done about " + timeText(s, end.At) + " if it does now"
	default:
		text += "; done about " + timeText(s, end.At)
		if end.Spread > 0 {
			text += " ± " + wording.SpanText(end.Spread)
		}
	}
	return text + "."
}

// timeText is a time in the operator's zone, with its day when it is not near.
func timeText(s *core.Snapshot, at time.Time) string {
	if s.NearNow(at) {
		return wording.ClockText(at)
	}
	return at.Local().Format("Mon 2 Jan ") + wording.ClockText(at)
}

func (h *Handover) open(s *core.Snapshot, promised []core.Note) {
	all := slices.DeleteFunc(slices.Clone(attention.List(s)), func(a core.Attention) bool {
		told := a.Rule == core.RulePromise && // as what was promised, and that its time has come
			slices.ContainsFunc(promised, func(n core.Note) bool { return n.ID == a.Key })
		return a.Cause != "" || told
	})
	for i, a := range all {
		if i == mostOpen {
			h.Open = append(h.Open, Open{Severity: core.SeverityNotice.String(),
				Reason: "and " + strconv.Itoa(len(all)-mostOpen) + " more: lockstep status lists them"})
			break
		}
		o := Open{Severity: a.Severity.String(), Impact: a.Impact, Label: wording.OneLine(a.Label, 64), Reason: wording.OneLine(a.Reason, 300),
			Hint: a.Hint}
		if a.Diagnosis != nil {
			o.Hint = a.Diagnosis.Remedy
		}
		if !a.Since.At.IsZero() {
			o.Since, o.About, o.Later = new(a.Since.At.UTC()), !a.Since.Exact, a.Since.Later
		}
		if a.Aside != nil {
			o.Aside = new(promise(s, *a.Aside))
		}
		h.Open = append(h.Open, o)
	}
}

func (h *Handover) running(s *core.Snapshot, a *record.Account) {
	for _, op := range s.Operations {
		if op.State.Ended() {
			continue
		}
		r := Running{Title: wording.OneLine(op.Title, 200), By: wording.TextOf(op.Elsewhere, s.Operator), Goes: wording.OneLine(op.Goes(), 200)}
		if op.Past { // it goes on without the window that began it; whoever has the journal looks up only how it ended
			r.By = "an earlier window"
			if x := actionOf(a, op.ID); x != nil && x.By != "" {
				r.By = wording.OneLine(x.By, 100)
			}
			r.Goes = wording.OneLine("the window that began it is closed"+wording.Prefixed("; ", op.Goes()), 200)
		}
		if !op.Started.IsZero() {
			r.Since = new(op.Started.UTC())
		}
		h.Running = append(h.Running, r)
	}
	if o := s.Write.Other; o.Now != "" {
		r := Running{Title: wording.OneLine(o.Now, 300), By: wording.OneLine(s.Write.Lease, 100)}
		if !o.Since.IsZero() {
			r.Since = new(o.Since.UTC())
		}
		h.Running = append(h.Running, r)
	}
}

// actionOf is what the account has of an operation; nil when it has nothing.
func actionOf(a *record.Account, id string) *record.Action {
	if a != nil {
		if i := slices.IndexFunc(a.Actions, func(x record.Action) bool { return x.ID == id }); i >= 0 {
			return &a.Actions[i]
		}
	}
	return nil
}

// begun adds what colleagues have begun by journals of their own, and whose end is in none. A run that was killed leaves such steps, too.
func (h *Handover) begun(s *core.Snapshot, a *record.Account) {
	for _, x := range a.Actions {
		known := slices.ContainsFunc(s.Operations, func(op core.Operation) bool { return op.ID == x.ID })
		told := x.By == s.Write.Lease && x.Title != "" && strings.Contains(s.Write.Other.Now, beginning(x.Title))
		if x.State != record.Begun || known || told {
			continue
		}
		r := Running{Title: wording.OneLine(x.Title, 200), By: wording.OneLine(x.By, 100),
			Goes: "its end is in no journal: look whether it runs"}
		if !x.Confirmed.IsZero() {
			r.Since = new(x.Confirmed.UTC())
		}
		h.Running = append(h.Running, r)
	}
}

// beginning is what the holder of the lease tells at least of a title.
func beginning(title string) string {
	const most = 60
	if title = wording.OneLine(title, 1<<10); len(title) <= most {
		return title
	}
	at := most
	for !utf8.RuneStart(title[at]) {
		at--
	}
	return strings.TrimSpace(title[:at])
}

// promises are the notes that are not done, the oldest first: those that Lockstep knows, whatever update they were written in, and those
// of colleagues' journals.
func promises(s *core.Snapshot, a *record.Account) []core.Note {
	all := slices.Clone(s.Notes)
	if a != nil {
		for _, n := range a.Notes {
			own := n.Note
			own.Done = n.Done
			all = append(all, own)
		}
	}
	told := map[string]bool{}
	for _, n := range all {
		told[n.ID] = told[n.ID] || n.Done
	}
	all = slices.DeleteFunc(all, func(n core.Note) bool {
		done := told[n.ID]
		told[n.ID] = true // the next one of this ID is the same note
		return done
	})
	slices.SortStableFunc(all, func(x, y core.Note) int { return x.At.Compare(y.At) })
	return all
}

func promise(s *core.Snapshot, n core.Note) Promise {
	p := Promise{Of: wording.OneLine(n.On.Label, 64), Text: wording.OneLine(n.Text, 300), By: wording.OneLine(n.By, 100)}
	if !n.Until.IsZero() {
		p.Until, p.Past = new(n.Until.UTC()), s.Reached(n.Until)
	}
	return p
}

// next is what is ahead, as far as a forecast means anything, in the order of the update: of each step first the nodes that are finished
// in any case, then its commence where it wants one, then the nodes that wait for it, as they begin. Where that is too much, the next
// commence is told yet: without somebody nothing comes after it.
func next(s *core.Snapshot) []Next {
	out := []Next{}
	f := forecast.Of(s)
	if !f.Running {
		return out
	}
	commenced := false
	tell := func(what string, at forecast.Moment) bool {
		entry := Next{What: what}
		if !at.At.IsZero() && !s.Reached(at.At) {
			entry.At, entry.Unlearned = new(at.At.UTC()), at.Unlearned > 0
		}
		out = append(out, entry)
		return len(out) < mostNext
	}
	nodes := func(together []forecast.Part, began bool) bool {
		spans := slices.DeleteFunc(slices.Clone(f.Nodes), func(n forecast.NodeSpan) bool {
			return n.Began != began || !slices.ContainsFunc(together, func(p forecast.Part) bool { return p.ID == n.Part })
		})
		next := func(n forecast.NodeSpan) forecast.Moment {
			if n.Began {
				return n.End
			}
			return n.Start
		}
		slices.SortStableFunc(spans, func(a, b forecast.NodeSpan) int { return next(a).At.Compare(next(b).At) })
		for _, n := range spans {
			what := n.Label + wording.TextIf(n.Began, " is through", " begins")
			if !tell(what+wording.TextIf(forecast.Waits(s, n.Node), "; it goes on only with the operator", ""), next(n)) {
				return false
			}
		}
		return true
	}
	commence := func(p *forecast.Part) bool {
		if !p.Wants || p.State == forecast.PartDone {
			return true
		}
		commenced = true
		return tell("commence "+p.Title+wording.TextIf(p.State == forecast.PartRuns, " again", ""), p.Start)
	}
	room := true
	for i := 0; i < len(f.Parts) && room; {
		together := f.Parts[i : i+f.SideBySide(i)]
		i += len(together)
		room = nodes(together, true)
		for k := range together {
			room = room && commence(&together[k])
		}
		room = room && nodes(together, false)
	}
	for i := range f.Parts {
		if !commenced && f.Parts[i].Wants {
			commence(&f.Parts[i])
		}
	}
	return out
}

// wrong is what went wrong, and does no more: what the journal has of it. An operation of which the Snapshot shows that it still goes, or
// went well, did not: the journal has it as unknown, since the window that began it was closed.
func (h *Handover) wrong(s *core.Snapshot, a *record.Account) {
	failed := func(state core.OperationState) bool {
		return state == core.OperationFailed || state == core.OperationUnknown
	}
	var all []Wrong
	for _, st := range a.StoodStillBy() {
		if !st.Ended.IsZero() && st.Took >= wrongFrom.Seconds() {
			all = append(all, Wrong{st.Began.Time, st.Ended.Time, "stood still" + st.TimesText() + ": " + st.Cause + wording.Prefixed(", ", st.Why) +
				wording.TextIf(!st.EndSeen, " (it ended then or before)", ""),
				record.Lines(st.Lines)})
		}
	}
	for _, x := range a.Actions {
		well := slices.ContainsFunc(s.Operations, func(op core.Operation) bool { return op.ID == x.ID && !failed(op.State) })
		if failed(core.OperationState(x.State)) && !well {
			all = append(all, Wrong{x.Confirmed.Time, x.Ended.Time, x.Title + ": " + x.State + wording.Prefixed(": ", x.Text),
				record.Lines(x.Lines)})
		}
	}
	for _, e := range a.Entries {
		if e.Severity == core.SeverityUrgent.String() && !e.Settled.IsZero() && e.Lasted >= wrongFrom.Seconds() && e.Cause == "" {
			all = append(all, Wrong{e.Came.Time, e.Settled.Time, labelled(e.Label) + e.Reason, record.Lines(e.Lines)})
		}
	}
	slices.SortStableFunc(all, func(x, y Wrong) int { return y.From.Compare(x.From) })
	h.Wrong = append(h.Wrong, all[:min(len(all), mostWrong)]...)
}

// unseen names what could not be looked at.
func unseen(s *core.Snapshot) []string {
	out := []string{}
	for id, src := range s.Sources {
		if src.State != core.SourceLive && src.State != core.SourceOff && src.State != core.SourceAbsent {
			out = append(out, string(id)+": "+string(src.State))
		}
	}
	if s.Sources[core.SourceInstances].State == core.SourceOff {
		out = append(out, "OpenStack: "+s.WhyUnknown(core.SourceInstances))
	}
	slices.Sort(out)
	return out
}

// labelled is "cmp-07: "; empty without a label.
func labelled(label string) string { return wording.TextIf(label != "", label+": ", "") }

// NeedsSomebody tells whether something needs a person now.
func (h Handover) NeedsSomebody() bool {
	return slices.ContainsFunc(h.Open, func(o Open) bool { return o.Aside == nil }) ||
		slices.ContainsFunc(h.Promise, func(p Promise) bool { return p.Past })
}

// clockOf is a time of day behind a word; empty where there is none.
func clockOf(word string, at *time.Time) string {
	if at == nil {
		return ""
	}
	return word + wording.ClockText(*at)
}

// first is what to look at first.
func (h *Handover) first() string {
	if len(h.Open) > 0 && h.Open[0].Severity == core.SeverityUrgent.String() && h.Open[0].Aside == nil {
		return labelled(h.Open[0].Label) + h.Open[0].Reason + "."
	}
	for _, p := range h.Promise {
		if p.Past {
			return "The time of a promise has come: " + labelled(p.Of) + p.Text + "."
		}
	}
	if len(h.Open) > 0 && h.Open[0].Severity != core.SeverityNotice.String() && h.Open[0].Aside == nil { // what is set aside comes last
		return labelled(h.Open[0].Label) + h.Open[0].Reason + "."
	}
	if len(h.Running) > 0 {
		return "What runs: " + h.Running[0].Title + "."
	}
	for _, o := range h.Open {
		if a := o.Aside; a != nil && o.Severity != core.SeverityNotice.String() { // it goes by itself only as far as that
			return "What was set aside" + clockOf(" until ", a.Until) + ": " + labelled(o.Label) + o.Reason + "."
		}
	}
	if len(h.Unseen) > 0 {
		return "What cannot be seen: " + h.Unseen[0] + "."
	}
	if len(h.Open) > 0 {
		return "Nothing urgent: " + labelled(h.Open[0].Label) + h.Open[0].Reason + "."
	}
	return "Nothing: it goes by itself."
}
