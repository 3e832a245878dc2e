package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// planBook follows, for the journal, what the update was planned and forecast to take, and the steps of its plan. It is owned by the
// goroutine of Run.
type planBook struct {
	update string            // UID of the update that it is about
	plan   string            // UID of the plan that drives it; empty: none does, or it is not known
	told   string            // the plan as the journal has it: its fingerprint
	steps  map[string]string // by ID: the state of each step as the journal has it
	given  map[string]bool   // the moments of the forecasts that the journal has
	ends   map[string]given  // by moment: those forecasts
	came   map[string]bool   // by key: of what the journal has that it came

	rounds  int    // how many maintenances of nodes this run saw end
	looked  string // what could have changed it, at the last look
	watched bool   // this run saw the plans in the Snapshot before
	gave    bool   // this run has looked at the forecast of this update before
}

// given is a forecast, and when it was given.
type given struct {
	at time.Time
	*ForecastRecord
}

func (b *planBook) begin(update string) {
	*b = planBook{update: update, steps: map[string]string{}, given: map[string]bool{}, ends: map[string]given{}, came: map[string]bool{},
		rounds: b.rounds, watched: b.watched}
}

// remember takes in what earlier runs have recorded of the last update.
func (b *planBook) remember(past []Record) {
	b.begin("")
	for _, r := range past {
		switch {
		case r.Kind == RecordUpdate && r.Update != nil && r.Update.UID != b.update && !r.endsEarlier(b.update):
			b.begin(r.Update.UID)
		case r.Kind == RecordPlan && r.Plan != nil:
			b.plan, b.told = r.Plan.UID, r.Plan.fingerprint()
		case r.Kind == RecordPlanStep && r.PlanStep != nil:
			b.steps[r.PlanStep.ID] = r.To
		case r.Kind == RecordForecast && r.Forecast != nil:
			b.given[r.Forecast.Moment], b.ends[r.Forecast.Moment] = true, given{r.When(), r.Forecast}
		case r.Kind == RecordForetold && r.Foretold != nil:
			b.came[r.Foretold.key()] = true
		}
	}
}

// fingerprint is the same for plans that say the same. What the documents allow changes with every instance that moves, so it does not
// count.
func (p *PlanRecord) fingerprint() string {
	var b strings.Builder
	for _, part := range p.Parts {
		fmt.Fprintf(&b, "%q %q %q %d %t\n", part.ID, part.Granularity, part.Estimate, part.Nodes, part.Beside)
	}
	sum := sha256.Sum256([]byte(p.UID + "\n" + b.String()))
	return hex.EncodeToString(sum[:8])
}

// observePlan journals what the update is planned to take, when it begins and when that changes; the steps of its plan, as they come into
// their states; and until when it is forecast to take, at a few moments: as soon as anything is known, as soon as the nodes' pace is
// known, and when a part begins.
func (e *Engine) observePlan(s *core.Snapshot) {
	b, u := &e.plan, e.history.Update
	if e.cfg.Journal == nil || !settled(s) || connecting(s) {
		return
	}
	live := s.Sources[core.SourcePlans].State == core.SourceLive
	watched := b.watched && live
	if b.watched = live; u.UID == "" {
		return
	}
	if b.update != u.UID {
		b.begin(u.UID)
	}
	key := b.key(s, u)
	if key == b.looked {
		return
	}
	b.looked = key
	if r := progress.UpdateRequest(s); r != nil && r.UID == u.UID {
		f := forecast.Of(s)
		plan := planRecord(s, f)
		if b.plan != "" && plan.UID == "" { // the plan is over, or cannot be seen: what is left are no other parts
			plan = nil
		}
		if plan != nil && len(plan.Parts) > 0 && plan.fingerprint() != b.told {
			b.plan, b.told = plan.UID, plan.fingerprint()
			r := Record{Kind: RecordPlan, Plan: plan}
			if p := planOf(s, plan.UID); p != nil {
				r.Object = new(p.Ref())
			}
			e.see(r)
		}
		if plan != nil {
			e.observeForecast(s, f)
		}
	}
	if live {
		e.observePlanSteps(s, watched)
	}
	e.observeForetold(s)
}

// key is what the records of a plan are made of, but the time: where it is the same, there is nothing new.
func (b *planBook) key(s *core.Snapshot, u core.UpdateRecord) string {
	var k strings.Builder
	fmt.Fprint(&k, u.UID, u.Ended.IsZero(), b.rounds, len(s.Nodes), s.Sources[core.SourcePlans].State)
	for _, p := range progress.Phases(s) {
		fmt.Fprint(&k, p.State, " ")
	}
	for _, p := range b.plans(s) {
		fmt.Fprintf(&k, "%q %q", p.UID, p.Status)
		for _, st := range p.Steps {
			fmt.Fprintf(&k, "%q %q %q %q %d %q", st.Key(), st.Status, st.Estimate, st.Granularity, st.Started.Unix(), st.Duration)
		}
	}
	return k.String()
}

// plans are the plan that drives the update, and the one that comes first now.
func (b *planBook) plans(s *core.Snapshot) []*core.UpdatePlan {
	var out []*core.UpdatePlan
	now := s.Management.Plan()
	if now != nil {
		out = append(out, now)
	}
	if own := planOf(s, b.plan); own != nil && own != now {
		out = append(out, own)
	}
	return out
}

// planOf is the plan with the UID; nil when it is not seen.
func planOf(s *core.Snapshot, uid string) *core.UpdatePlan {
	if s.Management == nil || uid == "" {
		return nil
	}
	i := slices.IndexFunc(s.Management.Plans, func(p *core.UpdatePlan) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	return s.Management.Plans[i]
}

// planRecord is what the update is planned to take now.
func planRecord(s *core.Snapshot, f *forecast.Forecast) *PlanRecord {
	out := &PlanRecord{}
	if r := progress.UpdateRequest(s); r != nil {
		out.Update = r.UID
	}
	planned := len(f.Parts) > 0 && f.Parts[0].Plan
	if plan := s.Management.Plan(); planned && plan != nil {
		out.Name, out.UID, out.Source, out.Target = wording.OneLine(plan.Name, 200), plan.UID, wording.OneLine(plan.Source, 100),
			wording.OneLine(plan.Target, 100)
	}
	for _, p := range f.Parts {
		part := PlannedPart{ID: partID(p), Title: wording.OneLine(core.Tidy(p.Title), 100), Phase: p.Phase, Nodes: p.Nodes, Beside: p.Beside,
			Estimate: wording.OneLine(p.Estimate, 40), Documents: seconds(p.Documents)}
		if p.Plan {
			part.Granularity = "cluster"
			if p.ByMachine {
				part.Granularity = "machine"
			}
		}
		if n := len(out.Parts); n > 0 && out.Parts[n-1].ID == part.ID { // groups of one phase
			out.Parts[n-1].Nodes += part.Nodes
			out.Parts[n-1].Documents += part.Documents
			continue
		}
		if !p.Plan {
			part.Title = phaseTitle(s, p)
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// partID is what a part is called in the journal: a phase is one part, in how many groups its nodes go.
func partID(p forecast.Part) string {
	if p.Plan {
		return p.ID
	}
	return "phase " + wording.Itoa(int(p.Phase))
}

func phaseTitle(s *core.Snapshot, p forecast.Part) string {
	for _, phase := range progress.Phases(s) {
		if phase.ID == p.Phase {
			return phase.Title
		}
	}
	return p.Title
}

// observeForecast journals the forecast at the moments at which it is kept.
func (e *Engine) observeForecast(s *core.Snapshot, f *forecast.Forecast) {
	b := &e.plan
	if f.Whole.At.IsZero() {
		return
	}
	give := func(moment string) {
		if b.given[moment] {
			return
		}
		b.given[moment] = true
		r := forecastRecord(f)
		r.Update, r.Moment = b.update, moment
		b.ends[moment] = given{s.Now, r}
		e.see(Record{Kind: RecordForecast, Forecast: r})
	}
	first := !b.gave
	b.gave = true
	give(ForecastFirst)
	if !forecast.Finish(s).At.IsZero() {
		give(ForecastPace)
	}
	for _, p := range f.Parts {
		switch id := partID(p); {
		case p.State != forecast.PartRuns || p.Plan && p.Started.IsZero():
		case first: // it began before this run looked, or the first forecast is that of its beginning, too
			b.given[id] = true
		default:
			give(id)
		}
	}
}

// observeForetold journals what was forecast and came: each step, or phase, all nodes, and the whole. A part is measured by the forecast of
// its own beginning, else by the first one; the others by the first one after the nodes' pace was known. Where nobody knows when it came
// there is nothing to be measured.
func (e *Engine) observeForetold(s *core.Snapshot) {
	b := &e.plan
	see := func(part endedPart, of given, end ForecastEnd) {
		came := part.came
		r := &ForetoldRecord{Update: b.update, Kind: part.kind, ID: part.id, Title: part.title, Given: of.at.UTC(), ForecastEnd: end,
			Came: came.UTC()}
		if !part.began.IsZero() {
			r.Began = part.began.UTC()
		}
		if b.came[r.key()] || came.IsZero() || end.End.IsZero() || !came.After(of.at) {
			return
		}
		b.came[r.key()] = true
		e.history.Foretold = core.WithForetold(e.history.Foretold, r.key(), r.kept())
		e.see(Record{Kind: RecordForetold, At: e.when(s, came), Foretold: r})
	}
	by := func(moments ...string) given {
		for _, m := range moments {
			if g := b.ends[m]; g.ForecastRecord != nil {
				return g
			}
		}
		return given{ForecastRecord: &ForecastRecord{}}
	}
	var nodes time.Time
	all := true
	for _, p := range e.endedParts(s) {
		g := by(p.id, ForecastFirst)
		for _, part := range g.Parts {
			if part.ID == p.id {
				see(p, g, part.ForecastEnd)
			}
		}
		if p.phase == core.PhaseWorkers {
			all = all && !p.came.IsZero()
			nodes = core.Later(nodes, p.came)
		}
	}
	whole := by(ForecastPace, ForecastFirst)
	if all {
		see(endedPart{kind: core.ForetoldNodes, came: nodes}, whole, whole.Nodes)
	}
	if u := e.history.Update; u.UID == b.update && (u.EndSeen || u.Reconstructed) {
		see(endedPart{kind: core.ForetoldWhole, came: u.Ended}, whole, whole.Whole)
	}
}

// endedPart is a part of the update, or what is measured like one, and when it began and ended; zero when it has not, or nobody knows when.
type endedPart struct {
	kind      core.ForetoldKind
	id, title string
	phase     core.PhaseID
	began     time.Time
	came      time.Time
}

// endedParts are the steps of the plan that drives the update or, where none does, the phases.
func (e *Engine) endedParts(s *core.Snapshot) []endedPart {
	var out []endedPart
	if e.plan.plan == "" {
		for _, p := range progress.Phases(s) {
			part := endedPart{kind: core.ForetoldPhase, id: "phase " + wording.Itoa(int(p.ID)), title: p.Title, phase: p.ID}
			r := e.history.Phases[p.ID]
			if r.Started.Exact {
				part.began = r.Started.At
			}
			if r.Ended.Exact {
				part.came = r.Ended.At
			}
			out = append(out, part)
		}
		return out
	}
	if plan := planOf(s, e.plan.plan); plan != nil {
		for i, st := range plan.Steps {
			out = append(out, endedPart{core.ForetoldStep, stepID(st, i), progress.StepShort(st), st.Phase(), st.Started, stepEnded(st)})
		}
	}
	return out
}

func forecastRecord(f *forecast.Forecast) *ForecastRecord {
	end := func(m forecast.Moment) ForecastEnd {
		return ForecastEnd{End: m.At.UTC(), Spread: seconds(m.Spread), Unlearned: seconds(m.Unlearned)}
	}
	out := &ForecastRecord{Whole: end(f.Whole)}
	if !f.NodesEnd.At.IsZero() {
		out.Nodes = end(f.NodesEnd)
	}
	for _, p := range f.Parts {
		if p.End.At.IsZero() {
			continue
		}
		part := ForecastPart{ID: partID(p), ForecastEnd: end(p.End)}
		if n := len(out.Parts); n > 0 && out.Parts[n-1].ID == part.ID {
			out.Parts = out.Parts[:n-1] // the last group ends last
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// observePlanSteps journals the states that the steps of the plan came into. What happened while this run did not look (watched: it saw
// them in the Snapshot before) is told with the plan's own times.
func (e *Engine) observePlanSteps(s *core.Snapshot, watched bool) {
	b := &e.plan
	plan := planOf(s, b.plan)
	if plan == nil {
		return
	}
	for i, st := range plan.Steps {
		id := stepID(st, i)
		was := wording.TextOf(b.steps[id], core.PlanNotStarted)
		if st.Status == was || st.Status == "" {
			continue
		}
		b.steps[id] = st.Status
		see := func(from, to string, ended, at time.Time, field string) {
			r := Record{Kind: RecordPlanStep, Title: progress.StepShort(st), From: from, To: to, Object: new(plan.Ref()), Exact: watched,
				PlanStep: &PlanStepRecord{Plan: plan.UID, ID: id, Message: wording.OneLine(core.Redact(st.Message), mostOfReason),
					Started: st.Started.UTC(), Ended: ended}}
			if !watched && !at.IsZero() && !at.After(s.Now) {
				r.At, r.Reconstructed = at.UTC(), field
			}
			e.see(r)
		}
		begun := st.Status == core.PlanInProgress
		if !watched && !begun && !st.Started.IsZero() && (was == core.PlanNotStarted || was == core.PlanScheduled) {
			see(was, core.PlanInProgress, time.Time{}, st.Started, fieldStepStarted)
			was = core.PlanInProgress
		}
		switch ended := stepEnded(st); {
		case begun && was != core.PlanNotStarted && was != core.PlanScheduled: // it goes on again; no field tells since when
			see(was, st.Status, time.Time{}, time.Time{}, "")
		case begun:
			see(was, st.Status, time.Time{}, st.Started, fieldStepStarted)
		default:
			see(was, st.Status, ended, ended, fieldStepDuration)
		}
	}
}

// The fields of a ClusterUpdatePlan that tell when a step began, and when it ended (docs/mosk.md#update-plans).
const (
	fieldStepStarted  = "ClusterUpdatePlan status.steps.startedAt"
	fieldStepDuration = "ClusterUpdatePlan status.steps.startedAt and duration"
)

// stepID is what a step is called as a part.
func stepID(st core.PlanStep, i int) string {
	return wording.OneLine(wording.TextOf(st.ID, "step "+wording.Itoa(i+1)), 80)
}

// stepEnded is when a step ended by the plan: when it began, and how long it took. Zero where the plan does not tell.
func stepEnded(st core.PlanStep) time.Time {
	d, err := time.ParseDuration(st.Duration)
	if err != nil || d <= 0 || st.Started.IsZero() || st.Status != core.PlanCompleted {
		return time.Time{}
	}
	return st.Started.Add(d).UTC()
}

// planLine is the line of a record of a plan, of one of its steps, or of a forecast.
func (r Record) planLine(l *core.JournalLine) bool {
	l.Kind = core.LineUpdate
	switch {
	case r.Plan != nil:
		l.Label, l.What = "the plan", fmt.Sprintf("it has %s", wording.Count(len(r.Plan.Parts), "part"))
		if r.Plan.Name != "" {
			l.What = fmt.Sprintf("%s has %s", wording.OneLine(r.Plan.Name, 100), wording.Count(len(r.Plan.Parts), "step"))
		}
		var parts []string
		for _, p := range r.Plan.Parts {
			parts = append(parts, p.Title+wording.Prefixed(" ", wording.TextIf(p.Planned() > 0, wording.SpanText(p.Planned()), "")))
		}
		l.Why = wording.OneLine(strings.Join(parts, ", "), mostOfLine)
	case r.PlanStep != nil:
		l.Label, l.What, l.Why = r.Title, wording.Change(r.From, r.To), wording.OneLine(r.PlanStep.Message, mostOfLine)
		if !r.PlanStep.Ended.IsZero() {
			l.Took = r.PlanStep.Ended.Sub(r.PlanStep.Started)
		}
	case r.Forecast != nil:
		f := r.Forecast
		l.Label, l.What = "the forecast", "over "+f.Whole.text()
		if !f.Nodes.End.IsZero() {
			l.What += ", all nodes through " + f.Nodes.text()
		}
		l.Why = wording.TextOf(map[string]string{ForecastFirst: "the first one", ForecastPace: "the nodes' pace is known"}[f.Moment],
			f.Moment+" began")
	case r.Foretold != nil:
		f := r.Foretold
		l.Label = wording.TextOf(f.Title, map[core.ForetoldKind]string{core.ForetoldNodes: "all nodes", core.ForetoldWhole: "the update"}[f.Kind])
		l.What, l.Why = "ended "+offText(f.kept().Off()), "forecast "+f.ForecastEnd.text()
	default:
		return false
	}
	return true
}

// offText is how an end came, against its forecast.
func offText(off time.Duration) string {
	if off.Abs() < time.Minute {
		return "as forecast"
	}
	return wording.SpanText(off.Abs()) + wording.TextIf(off > 0, " later than forecast", " earlier than forecast")
}

func (f ForecastEnd) text() string {
	text := clockOf("about ", f.End)
	if f.Spread >= 1 {
		text += " ± " + wording.SpanText(time.Duration(f.Spread*float64(time.Second)))
	}
	return text
}
