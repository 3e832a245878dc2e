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

// Plan is what the update was planned and forecast to take, against what it took.
type Plan struct {
	By      string       `json:"by"`             // PlanByPlan or PlanByDocuments
	Name    string       `json:"name,omitempty"` // of the ClusterUpdatePlan
	Parts   []PlanPart   `json:"parts"`          // in the plan's order: its steps, or the phases
	Whole   PlanPart     `json:"whole"`
	Changes []PlanChange `json:"changes"` // of the plan, while the update ran
}

// By what an update was planned.
const (
	PlanByPlan      = "the update plan"
	PlanByDocuments = "the documents"
)

// PlanPart is a step of the update plan, or a phase, or the whole.
type PlanPart struct {
	ID          string `json:"id,omitempty"`
	Title       string `json:"title"`
	Phase       int    `json:"phase,omitempty"`
	Granularity string `json:"granularity,omitempty"` // of a step: cluster or machine
	Nodes       int    `json:"nodes,omitempty"`
	Beside      bool   `json:"beside,omitempty"` // it goes beside the part before it

	Planned   float64    `json:"plannedSeconds,omitempty"`
	PlannedBy string     `json:"plannedBy,omitempty"` // a step without an estimate is planned by the documents
	Forecasts []Forecast `json:"forecasts"`           // in the order in which they were given

	Began         Time     `json:"began"`                   // null: it is not known, or has not come
	Ended         Time     `json:"ended"`                   // null: it is not known, or has not come
	Exact         bool     `json:"exact"`                   // its times are the API's own, or somebody watched
	Reconstructed bool     `json:"reconstructed,omitempty"` // a line of it was made later, from the API's own times
	BeganMade     bool     `json:"beganReconstructed,omitempty"`
	EndMade       bool     `json:"endReconstructed,omitempty"`
	Took          float64  `json:"tookSeconds,omitempty"`
	Longer        *float64 `json:"longerSeconds,omitempty"` // than planned; negative: it was shorter. Absent where one of both is not known
	Lines         []Place  `json:"lines"`
}

// Forecast is until when something was forecast to take.
type Forecast struct {
	Given     Time     `json:"given"`
	Moment    string   `json:"moment"` // "first", "pace", or the ID of the part that began then
	End       Time     `json:"end"`
	Spread    float64  `json:"spreadSeconds,omitempty"`
	Unlearned float64  `json:"unlearnedSeconds,omitempty"` // how much of it rested on the documents' or the plan's numbers
	Later     *float64 `json:"laterSeconds,omitempty"`     // the end came later by this; negative: earlier. Absent before it came
	Line      Place    `json:"line"`
}

// Within tells whether the end came within the spread.
func (f Forecast) Within() bool { return f.Later != nil && math.Abs(*f.Later) <= f.Spread }

// PlanChange is how the plan changed while the update ran.
type PlanChange struct {
	At   Time   `json:"at"`
	What string `json:"what"`
	Line Place  `json:"line"`
}

// planner collects the lines about the plan.
type planner struct {
	plans     []engine.JournalLine
	forecasts []engine.JournalLine
	steps     map[string]*PlanPart // by ID: what became of each
}

func (b *builder) planLine(l engine.JournalLine, at Place) {
	p := &b.plan
	switch {
	case l.Plan != nil:
		p.plans = append(p.plans, l)
	case l.Forecast != nil:
		p.forecasts = append(p.forecasts, l)
	case l.PlanStep != nil:
		if p.steps == nil {
			p.steps = map[string]*PlanPart{}
		}
		st := p.steps[l.PlanStep.ID]
		if st == nil {
			st = &PlanPart{Exact: true}
			p.steps[l.PlanStep.ID] = st
		}
		st.Began = Time{cmp.Or(l.PlanStep.Started.UTC(), st.Began.Time)}
		switch {
		case l.To != core.PlanCompleted:
			st.Ended = Time{}
		case !l.PlanStep.Ended.IsZero():
			st.Ended = Time{l.PlanStep.Ended.UTC()}
		default: // the plan does not tell how long it took
			st.Ended, st.Exact = Time{l.When().UTC()}, l.Exact
		}
		switch {
		case l.To == core.PlanCompleted:
			st.EndMade = l.Reconstructed != ""
		case !l.PlanStep.Started.IsZero():
			st.BeganMade = st.BeganMade || l.Reconstructed != ""
		}
		st.Reconstructed = st.BeganMade || st.EndMade
		st.Lines = append(st.Lines, at)
	}
}

// planned puts plan, forecasts and what came together.
func (b *builder) planned() {
	own := b.plan.plans
	if byPlan := slices.DeleteFunc(slices.Clone(own), func(l engine.JournalLine) bool { return l.Plan.UID == "" }); len(byPlan) > 0 {
		own = byPlan // before it was seen, the phases stood for it
	}
	if len(own) == 0 {
		return
	}
	first, last := own[0].Plan, own[len(own)-1].Plan
	out := &Plan{By: PlanByDocuments, Name: last.Name, Changes: []PlanChange{}}
	if last.UID != "" {
		out.By = PlanByPlan
	}
	at := map[string]int{}
	for _, l := range own { // each part as it was planned first
		line := b.lineOf(l)
		for _, p := range l.Plan.Parts {
			if _, known := at[p.ID]; !known {
				at[p.ID] = len(out.Parts)
				out.Parts = append(out.Parts, planPart(p))
			}
			part := &out.Parts[at[p.ID]]
			part.Lines = append(part.Lines, line)
		}
		out.Whole.Lines = append(out.Whole.Lines, line)
	}
	place := func(p PlanPart) int { // those that are gone come last
		i := slices.IndexFunc(last.Parts, func(o engine.PlannedPart) bool { return o.ID == p.ID })
		if i < 0 {
			return len(last.Parts)
		}
		return i
	}
	slices.SortStableFunc(out.Parts, func(x, y PlanPart) int { return place(x) - place(y) })
	for i := 1; i < len(own); i++ {
		for _, what := range planChanges(own[i-1].Plan, own[i].Plan) {
			out.Changes = append(out.Changes, PlanChange{At: Time{own[i].When().UTC()}, What: what, Line: b.lineOf(own[i])})
		}
	}
	for i := range out.Parts {
		b.came(&out.Parts[i], out.By)
	}
	b.whole(out, first)
	for i := range out.Parts {
		b.foretold(&out.Parts[i])
	}
	b.foretold(&out.Whole)
	b.Plan = out
}

func planPart(p engine.PlannedPart) PlanPart {
	out := PlanPart{ID: p.ID, Title: p.Title, Phase: int(p.Phase), Granularity: p.Granularity, Nodes: p.Nodes, Beside: p.Beside,
		Planned: p.Planned().Seconds()}
	switch {
	case (core.PlanStep{Estimate: p.Estimate}).Allows() > 0:
		out.PlannedBy = PlanByPlan
	case out.Planned > 0:
		out.PlannedBy = PlanByDocuments
	}
	return out
}

// came fills in what became of a part: of a step by the plan's own times, of a phase by what was seen of it.
func (b *builder) came(p *PlanPart, by string) {
	if st := b.plan.steps[p.ID]; st != nil && by == PlanByPlan {
		p.Began, p.Ended, p.Exact, p.Reconstructed = st.Began, st.Ended, st.Exact, st.Reconstructed
		p.BeganMade, p.EndMade = st.BeganMade, st.EndMade
		p.Lines = append(p.Lines, st.Lines...)
	} else if ph := b.phases[p.Phase]; ph != nil && by == PlanByDocuments {
		p.Began, p.Ended, p.Exact = ph.Began, ph.Ended, ph.Exact
		p.Lines = append(p.Lines, ph.Lines...)
	}
	p.against()
}

// against compares what it took with the plan, where it is known how long it took: nobody may have watched when it ended.
func (p *PlanPart) against() {
	known := p.Exact || p.Reconstructed || p.BeganMade || p.EndMade
	if p.Took = between(p.Began, p.Ended); p.Took > 0 && p.Planned > 0 && known {
		longer := p.Took - p.Planned
		p.Longer = &longer
	}
}

// whole is the plan as a whole: its parts one after the other, but those that go beside one another.
func (b *builder) whole(plan *Plan, first *engine.PlanRecord) {
	w := &plan.Whole
	w.Title, w.PlannedBy, w.Exact = "the whole", plan.By, true
	group, known := 0.0, true
	for i, p := range first.Parts {
		planned := p.Planned().Seconds()
		if known = known && planned > 0; i == 0 || !p.Beside {
			w.Planned += group
			group = 0
		}
		group = max(group, planned)
		w.Nodes += p.Nodes
	}
	if w.Planned += group; !known {
		w.Planned, w.PlannedBy = 0, "" // a sum of some would be none
	}
	if plan.By == PlanByDocuments {
		w.Began, w.Ended, w.Exact = b.Began, b.Ended, b.Ended.IsZero() || b.EndSeen
	} else {
		over := true
		for _, p := range plan.Parts {
			if over = over && !p.Ended.IsZero(); !p.Began.IsZero() && (w.Began.IsZero() || p.Began.Before(w.Began.Time)) {
				w.Began, w.BeganMade = p.Began, p.BeganMade
			}
			if p.Ended.After(w.Ended.Time) {
				w.Ended, w.EndMade = p.Ended, p.EndMade
			}
			w.Exact = w.Exact && p.Exact
			w.Lines = append(w.Lines, b.stepLines(p.ID)...)
		}
		if !over {
			w.Ended, w.EndMade = Time{}, false
		}
		w.Reconstructed = w.BeganMade || w.EndMade
	}
	w.against()
}

func (b *builder) stepLines(id string) []Place {
	if st := b.plan.steps[id]; st != nil {
		return st.Lines
	}
	return nil
}

// foretold adds the forecasts of a part: the first, the first by the nodes' pace, and that of its own beginning. Of the whole: all.
func (b *builder) foretold(p *PlanPart) {
	p.Forecasts = []Forecast{}
	for _, l := range b.plan.forecasts {
		f, own := l.Forecast, l.Forecast.Whole
		if p.ID != "" {
			if f.Moment != engine.ForecastFirst && f.Moment != engine.ForecastPace && f.Moment != p.ID {
				continue
			}
			i := slices.IndexFunc(f.Parts, func(one engine.ForecastPart) bool { return one.ID == p.ID })
			if i < 0 {
				continue
			}
			own = f.Parts[i].ForecastEnd
		}
		if own.End.IsZero() {
			continue
		}
		one := Forecast{Given: Time{l.When().UTC()}, Moment: f.Moment, End: Time{own.End.UTC()}, Spread: own.Spread, Unlearned: own.Unlearned,
			Line: b.lineOf(l)}
		if !p.Ended.IsZero() {
			later := p.Ended.Sub(own.End).Round(time.Millisecond).Seconds()
			one.Later = &later
		}
		p.Forecasts = append(p.Forecasts, one)
		p.Lines = append(p.Lines, one.Line)
	}
}

// stretch is a time from a moment to another.
type stretch struct{ from, to time.Time }

// plannedTimes are when each part was planned, from the beginning of the whole on: one after the other, but those that go beside one
// another. Parts after one that nothing is planned for have none.
func (a *Account) plannedTimes() map[string]stretch {
	out := map[string]stretch{}
	if a.Plan == nil || a.Plan.Whole.Began.IsZero() {
		return out
	}
	from, to := a.Plan.Whole.Began.Time, a.Plan.Whole.Began.Time
	for _, p := range a.Plan.Parts {
		if p.Planned <= 0 {
			return out
		}
		if !p.Beside {
			from = to
		}
		end := from.Add(time.Duration(p.Planned * float64(time.Second)))
		out[p.ID] = stretch{from, end}
		if end.After(to) {
			to = end
		}
	}
	return out
}

// planChanges say how a plan differs from the one before.
func planChanges(before, after *engine.PlanRecord) []string {
	var out []string
	was, is := map[string]engine.PlannedPart{}, map[string]engine.PlannedPart{}
	var oldOrder, newOrder []string
	for _, p := range before.Parts {
		was[p.ID] = p
	}
	for _, p := range after.Parts {
		is[p.ID] = p
	}
	if before.UID != after.UID {
		out = append(out, "another plan: "+wording.TextOf(after.Name, "the phases"))
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if _, there := is[id]; !there {
			out = append(out, was[id].Title+" is gone")
		}
	}
	for _, p := range after.Parts {
		o, there := was[p.ID]
		switch {
		case !there:
			out = append(out, p.Title+" is new"+wording.Prefixed(", ", p.Estimate))
			continue
		case o.Estimate != p.Estimate:
			out = append(out, fmt.Sprintf("%s: estimated %s, before %s", p.Title, wording.TextOf(p.Estimate, "nothing"),
				wording.TextOf(o.Estimate, "nothing")))
		}
		if o.Granularity != p.Granularity {
			out = append(out, fmt.Sprintf("%s: by %s, before by %s", p.Title, p.Granularity, o.Granularity))
		}
		if o.Nodes != p.Nodes {
			out = append(out, fmt.Sprintf("%s: %s, before %d", p.Title, wording.Count(p.Nodes, "node"), o.Nodes))
		}
		newOrder = append(newOrder, p.ID)
	}
	for _, p := range before.Parts {
		if _, there := is[p.ID]; there {
			oldOrder = append(oldOrder, p.ID)
		}
	}
	if !slices.Equal(oldOrder, newOrder) {
		out = append(out, "the order is "+strings.Join(newOrder, ", "))
	}
	return out
}

// Says is by what the update was planned, in a sentence.
func (p *Plan) Says() string {
	if p.By == PlanByPlan {
		return "Planned is what the plan " + p.Name + " estimates; steps of groups of one index go side by side."
	}
	return "No update plan drove it: planned is what the documents allow for each phase, by their formula, which takes nodes one after " +
		"the other."
}

// forecastOf is the forecast that a part is measured by: the one of its own beginning, else the first.
func (p PlanPart) forecastOf() (Forecast, bool) {
	for _, f := range p.Forecasts {
		if f.Moment == p.ID && p.ID != "" {
			return f, true
		}
	}
	if len(p.Forecasts) == 0 {
		return Forecast{}, false
	}
	return p.Forecasts[0], true
}

// momentText says when a forecast was given.
func (a *Account) momentText(moment string) string {
	switch moment {
	case engine.ForecastFirst:
		return "the first one"
	case engine.ForecastPace:
		return "the nodes' pace was known"
	}
	for _, p := range a.Plan.Parts {
		if p.ID == moment {
			return p.Title + " began"
		}
	}
	return moment + " began"
}

// differs is "12 m longer", "3 m earlier".
func differs(by *float64, more, less string) string {
	switch {
	case by == nil:
		return "–"
	case math.Abs(*by) < 1:
		return "as planned"
	case *by < 0:
		return Span(-*by) + " " + less
	}
	return Span(*by) + " " + more
}

// planRows are the table of plan against actual: its head, and a row for each part and for the whole, their texts as they are.
func (a *Account) planRows(clock func(Time) string) (head []string, rows [][]string) {
	head = []string{"part", "planned", "began", "forecast", "ended", "took", "against the plan", "against the forecast"}
	parts := slices.Concat(a.Plan.Parts, []PlanPart{a.Plan.Whole})
	for _, p := range parts {
		planned := span(p.Planned)
		if p.PlannedBy != "" && p.PlannedBy != a.Plan.By {
			planned += ", by " + p.PlannedBy
		}
		ended := clock(p.Ended)
		switch {
		case p.Ended.IsZero():
		case p.EndMade:
			ended += ", reconstructed"
		case !p.Exact:
			ended += " or before"
		}
		forecast, off := "–", "–"
		if f, ok := p.forecastOf(); ok {
			forecast = f.text(clock)
			if off = differs(f.Later, "later", "earlier"); f.Later != nil && f.Spread > 0 {
				off += wording.TextIf(f.Within(), ", within the spread", "")
			}
		}
		began := clock(p.Began) + wording.TextIf(p.BeganMade, ", reconstructed", "")
		rows = append(rows, []string{p.Title, planned, began, forecast, ended, span(p.Took), differs(p.Longer, "longer", "shorter"), off,
			lines(p.Lines...)})
	}
	return append(head, "lines"), rows
}

func (f Forecast) text(clock func(Time) string) string {
	text := clock(f.End)
	if f.Spread >= 1 {
		text += " ± " + Span(f.Spread)
	}
	if f.Unlearned >= 1 {
		text += ", " + Span(f.Unlearned) + " of it by plan or documents"
	}
	return text
}

// forecastRows are the table of the forecasts of the whole.
func (a *Account) forecastRows(clock func(Time) string) (head []string, rows [][]string) {
	for _, f := range a.Plan.Whole.Forecasts {
		rows = append(rows, []string{clock(f.Given), a.momentText(f.Moment), f.text(clock), differs(f.Later, "later", "earlier"), lines(f.Line)})
	}
	return []string{"given", "when", "the whole is over", "it came", "lines"}, rows
}
