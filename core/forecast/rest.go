package forecast

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// MostBetween is how long the documents let a cluster stay between two releases: longer is a risk for workloads (docs/mosk.md#phases).
const MostBetween = 24 * time.Hour

// Rest is a point where the update can stand still.
type Rest struct {
	At      Moment // when it is reached
	By      Moment // what keeps it there is to be done before this; zero when it stands there by itself
	After   string // what has been done: "step ceph", "cmp-07"
	Next    string // what would come next
	Node    bool   // it is between nodes, not between parts
	Through int    // nodes that are through then
	How     string // what keeps it there, as a sentence
	Means   string // the state between, as a sentence
}

// Rests are the points where the running update can rest, in their order; none when no update runs. Inside a node and inside a step that
// goes for the cluster as a whole there is none. Without an update plan LCM goes on by itself: it can be kept from computes only, by
// their mode (docs/mosk.md#phases, #update-plans, #modes-elsewhere).
func Rests(s *core.Snapshot) []Rest {
	f := Of(s)
	if !f.Running {
		return nil
	}
	all, through := 0, 0
	for _, p := range f.Parts {
		all += p.Nodes
		through += p.Nodes - p.Left
	}
	var out []Rest
	var done []string
	at, before := Moment{At: present(s)}, "the steps before it"
	for i := 0; i < len(f.Parts); {
		if f.Parts[i].State == PartDone {
			before = f.Parts[i].Title
			done = append(done, before)
			i++
			continue
		}
		together := f.Parts[i : i+f.SideBySide(i)]
		if first := together[0]; first.State == PartLater && first.commencedByPeople() { // before them
			r := Rest{At: at, After: before, Next: titles(together), Through: through,
				Means: stateText(done, f.Parts[i:]) + throughText(through, all)}
			r.How, r.By = keptFrom(together)
			out = append(out, r)
		}
		var spans []NodeSpan
		for _, n := range f.Nodes {
			if slices.ContainsFunc(together, func(p Part) bool { return p.ID == n.Part }) {
				spans = append(spans, n)
			}
		}
		switch {
		case together[0].Phase != core.PhaseWorkers:
		case !slices.ContainsFunc(together, func(p Part) bool { return !p.held() }):
			out = append(out, heldRest(s, together, spans, before, done, f.Parts[i:], through, all))
		default:
			out = append(out, betweenNodes(s, together, spans, done, f.Parts[i:], through, all)...)
		}
		through += len(spans)
		for _, p := range together {
			done = append(done, p.Title)
			at = later(at, p.End)
		}
		before = titles(together)
		i += len(together)
	}
	return out
}

// SideBySide is how many parts from this one on go at the same time. One that nobody has commenced does not join a part that runs.
func (f *Forecast) SideBySide(i int) int {
	n := 1
	for ; i+n < len(f.Parts); n++ {
		p := f.Parts[i+n]
		if !p.Beside || p.State == PartDone || f.Parts[i].State == PartRuns && p.State == PartLater && !p.Commenced && !p.Whole {
			break
		}
	}
	return n
}

// titles names parts that go side by side.
func titles(parts []Part) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.Title
	}
	return wording.Some(out, 4)
}

// keptFrom is what keeps the update from parts that have not begun, in sentences, and before when it is to be done.
func keptFrom(parts []Part) (how string, by Moment) {
	var commenced, others []Part
	for _, p := range parts {
		if !p.Commenced {
			others = append(others, p)
			continue
		}
		if commenced = append(commenced, p); by.At.IsZero() || p.Start.At.Before(by.At) {
			by = p.Start
		}
	}
	if n := len(commenced); n > 0 {
		how = "Take commence away from " + titles(commenced) + " before " + wording.Verb(n, "it begins", "they begin") +
			" (inferred from the automatic pause)."
	}
	if len(others) > 0 {
		how = wording.Join(how, "Do not commence "+titles(others)+".")
	}
	return how, by
}

// held tells whether a step has begun and lost its commence: nodes in maintenance go on to their end, and no further one begins.
func (p *Part) held() bool { return p.State == PartRuns && p.Wants }

// heldRest is the point at which held parts stand still by themselves: when the nodes in maintenance have ended.
func heldRest(s *core.Snapshot, together []Part, spans []NodeSpan, before string, done []string, parts []Part, through, all int) Rest {
	r := Rest{At: Moment{At: present(s)}, After: before, Next: titles(together), Through: through,
		How: "Do not commence " + titles(together) + " again."}
	for _, p := range together {
		if p.Left < p.Nodes {
			r.After, r.Node = "the nodes that are through", true
		}
	}
	for _, n := range spans {
		if !n.Began {
			continue
		}
		if !n.End.At.Before(r.At.At) {
			r.After = n.Label
		}
		r.At, r.Node = later(r.At, n.End), true
		r.Through++
	}
	r.Means = stateText(done, parts) + throughText(r.Through, all)
	return r
}

// betweenNodes are the points between the nodes of parts that go side by side: those in maintenance end, and no further one begins.
func betweenNodes(s *core.Snapshot, together []Part, spans []NodeSpan, done []string, parts []Part, through, all int) []Rest {
	means := stateText(done, parts)
	var commenced []Part
	for _, p := range together {
		if !p.held() {
			commenced = append(commenced, p)
		}
	}
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b NodeSpan) int { return a.Start.At.Compare(b.Start.At) })
	var out []Rest
	var reached Moment
	for i, n := range spans {
		reached = later(reached, n.End)
		if i+1 == len(spans) || spans[i+1].Began {
			continue
		}
		next := spans[i+1]
		if together[0].commencedByPeople() && !next.Start.At.After(n.Start.At) {
			continue // they begin at once: what keeps LCM from one keeps it from both
		}
		r := Rest{At: reached, By: next.Start, After: n.Label, Next: next.Label, Node: true, Through: through + i + 1}
		switch node := s.Nodes[next.Node]; {
		case together[0].commencedByPeople():
			r.How = "Take commence away from " + titles(commenced) + ": nodes in maintenance go on to their end (inferred from the automatic pause)."
		case node != nil && node.Is(core.RoleCompute):
			r.How = "Set the mode of " + next.Label + ", and of the computes after it, to manual: LCM asks for it, and it waits with its instances."
		default:
			continue // nothing is known that keeps LCM from it
		}
		r.Means = means + throughText(r.Through, all)
		out = append(out, r)
	}
	return out
}

// stateText says what the state between means.
func stateText(done []string, left []Part) string {
	var old []string
	for _, p := range left {
		if p.State != PartDone {
			old = append(old, p.Title)
		}
	}
	return "New: " + wording.TextOf(strings.Join(done, ", "), "nothing") + ". To come: " +
		wording.TextOf(strings.Join(old, ", "), "nothing") + "."
}

// throughText is how many of the nodes are through.
func throughText(through, all int) string {
	if all == 0 {
		return ""
	}
	return " " + wording.Itoa(through) + " of " + wording.Count(all, "node") + " through."
}

// BetweenText says what standing between two releases means, and until when the documents allow it.
func BetweenText(s *core.Snapshot) string {
	text := "A cluster works between phases, but longer than one day between two releases is a risk for workloads, and users should not " +
		"write meanwhile. There is no way back."
	if r := progress.UpdateRequest(s); r != nil {
		day := r.Created.Add(MostBetween)
		if s.Reached(day) {
			return text + " The day was over at " + clockText(s, day) + "."
		}
		return text + " The day is over at " + clockText(s, day) + "."
	}
	return text
}

// Stop is the answer to whether the update can rest before a time.
type Stop struct {
	Before time.Time
	Last   *Rest // the last point that is reached by then even if everything takes as long as the slow end; nil when there is none
	Maybe  *Rest // a later one that is reached by then if nothing takes longer than usual; nil when there is none
	Count  int   // points that are reached by then for sure
	First  *Rest // the first point after it, when none is reached by then
	Over   bool  // the whole update is over by then
}

// StopBefore says where the update can rest before a time. What must be done before a moment that has passed is no longer possible.
func StopBefore(s *core.Snapshot, before time.Time) Stop {
	out := Stop{Before: before}
	f := Of(s)
	out.Over = !f.Whole.At.IsZero() && !f.Whole.Until().After(before)
	for _, r := range Rests(s) {
		switch {
		case !r.At.Until().After(before):
			out.Last = new(r)
			out.Count++
		case !r.At.At.After(before):
			out.Maybe = new(r)
		case out.First == nil:
			out.First = new(r)
		}
	}
	if out.Last != nil {
		out.First = nil
	}
	return out
}

// Texts answer "can we stop before 06:00?", each in a sentence.
func (st Stop) Texts(s *core.Snapshot) []string {
	before := clockText(s, st.Before)
	var out []string
	if st.Over {
		return []string{"It is over before " + before + ", even at the slow end, " + Assumed(s) + "."}
	}
	switch {
	case st.Last != nil:
		r := st.Last
		out = append(out, "Yes: before "+before+" it can rest after "+r.After+", which is reached "+reachedText(s, r.At)+".",
			byText(s, r), r.Means)
		if st.Count > 1 {
			out[len(out)-1] += " It can rest at " + wording.Count(st.Count-1, "earlier point") + ", too."
		}
	case st.First != nil && st.Maybe == nil:
		out = append(out, "No: before "+before+" no point is reached where it can rest. The first is after "+st.First.After+", "+
			reachedText(s, st.First.At)+".")
	case st.Maybe == nil:
		out = append(out, "No: nothing is known that keeps the update from going on to its end.")
	}
	if r := st.Maybe; r != nil {
		out = append(out, "Perhaps after "+r.After+", "+reachedText(s, r.At)+": "+wording.TextIf(st.Last == nil,
			"at the slow end that is too late, and there is no point before it.", "at the slow end that is too late."))
		if st.Last == nil {
			out = append(out, byText(s, r))
		}
	}
	return slices.DeleteFunc(out, func(t string) bool { return t == "" })
}

func reachedText(s *core.Snapshot, m Moment) string {
	if !m.At.After(present(s)) && m.Spread == 0 {
		return "now"
	}
	return MomentText(s, m)
}

func byText(s *core.Snapshot, r *Rest) string {
	if r.By.At.IsZero() {
		return r.How
	}
	if s.Reached(r.By.At) {
		return r.How + " At once: " + r.Next + " comes next."
	}
	return r.How + " Before " + clockText(s, r.By.At) + ", when " + r.Next + " begins."
}
