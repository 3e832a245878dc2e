package checklist

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Room is what is known of the room for each node's instances.
type Room struct {
	Forecast *evacuation.Forecast // nil when none was made
	Why      string               // why there is none: "it was not asked for"
}

// row is one point. What speaks against it are entries of "Needs you", points of the list after an update, and what look finds.
type row struct {
	id, title, why string
	stops          bool // an update must not begin against it
	rest           bool // it is about a cluster at rest, and left out while an update runs
	managed        bool // it needs the management cluster
	impact         core.Impact
	page           core.Page
	remedy         string

	sources  []core.SourceID      // what look reads; unless they are known it does not look
	rests    []core.SourceID      // what the entries and the points after an update rest on: it passes only when these are seen, too
	rules    []core.AttentionRule // entries that speak against it
	same     []core.AttentionRule // entries that only say what the point itself finds
	after    []afterPoint         // points after an update that are among it
	look     func(*look)
	commands func(*core.Snapshot) []string
}

// afterPoint is a point after an update, and what its open objects are, in a word or two.
type afterPoint struct{ id, says string }

// look collects what speaks against one point.
type look struct {
	s       *core.Snapshot
	room    Room
	row     *row
	found   []Finding
	unknown string
	note    string
	resolve *core.ProcedureKey
}

// fail adds a finding as bad as its row.
func (l *look) fail(of, says string, resolve *core.ProcedureKey) {
	v := Warn
	if l.row.stops {
		v = Fail
	}
	l.add(Finding{Of: of, Says: says, Verdict: v, Resolve: resolve})
}

func (l *look) warn(of, says string, resolve *core.ProcedureKey) {
	l.add(Finding{Of: of, Says: says, Verdict: Warn, Resolve: resolve})
}

// add adds a finding. What its object's name alone does not tell apart gets a key of its own (key).
func (l *look) add(f Finding) {
	if f.Key == "" {
		f.Key = findingKey(f.Of)
	}
	l.found = append(l.found, f)
}

// key is the key of the last finding: what was found, of what. It says nothing of how it stands, which changes.
func (l *look) key(what ...string) { l.found[len(l.found)-1].Key = findingKey(what...) }

func findingKey(what ...string) string { return wording.OneLine(strings.Join(what, "/"), 200) }

// Of is the checklist of a Snapshot.
func Of(s *core.Snapshot, room Room) Report {
	u := progress.Update(s)
	r := Report{Format: format, Cluster: wording.OneLine(s.Cluster, 100), Made: s.Wall.UTC(), AsOf: s.Now.UTC(),
		Began: Began(s), Update: underWay(s), From: wording.OneLine(u.From, 60), To: wording.OneLine(target(s, u), 60)}
	if !r.Update {
		r.After, r.Release = wording.OneLine(last(s, u), 60), wording.OneLine(progress.Release(s), 60)
	}
	after := map[string]core.AfterPoint{}
	var old []core.AfterPoint // of DaemonSets
	for _, p := range procedure.AfterUpdate(s) {
		after[p.ID] = p
		if p.Pods != "" {
			old = append(old, p)
		}
	}
	entries := map[core.AttentionRule][]core.Attention{}
	for _, a := range attention.List(s) {
		entries[a.Rule] = append(entries[a.Rule], a)
	}
	if r.Update { // what stands in the points that are left out is about what goes on
		for i := range rows {
			if rows[i].rest {
				for _, rule := range slices.Concat(rows[i].rules, rows[i].same) {
					entries[goesOn] = append(entries[goesOn], entries[rule]...)
				}
			}
		}
	}
	for i := range rows {
		if rows[i].rest && r.Update {
			continue
		}
		r.Points = append(r.Points, rows[i].point(s, room, after, old, entries))
	}
	slices.SortStableFunc(r.Points, func(a, b Point) int { return verdictRank[a.Verdict] - verdictRank[b.Verdict] })
	return r
}

// Began is when the update began that runs, or was the last; zero when none was seen. An update that nobody watched the update plan tells
// of.
func Began(s *core.Snapshot) time.Time {
	if r := progress.UpdateRequest(s); r != nil {
		return r.Created.UTC()
	}
	if plan, ok := unwatched(s); ok {
		return plan.Started.UTC()
	}
	return s.History.Update.Started.UTC()
}

// last is the release that the last update led to; empty when none was seen.
func last(s *core.Snapshot, u core.Update) string {
	if plan, ok := unwatched(s); ok {
		return progress.ReleaseOf(plan.Target)
	}
	return u.To
}

// unwatched is a completed update plan that began after every update that Lockstep saw.
func unwatched(s *core.Snapshot) (*core.UpdatePlan, bool) {
	plan := s.Management.Plan()
	if plan == nil || plan.Status != core.PlanCompleted || plan.Started.IsZero() {
		return nil, false
	}
	seen := s.History.Update
	return plan, seen.Started.IsZero() || !seen.Ended.IsZero() && plan.Started.After(seen.Ended)
}

// underWay tells whether an update runs. A request for something else (maintenance mode, a reboot, one made by hand) is none; an update
// that pauses between two steps of its plan is one.
func underWay(s *core.Snapshot) bool {
	p := s.Management.Plan()
	return progress.UpdateRequest(s) != nil || p != nil && p.UnderWay()
}

// target is the release of the update that runs, is planned, or is the newest that is offered.
func target(s *core.Snapshot, u core.Update) string {
	if u.Running {
		return u.To
	}
	if s.Management == nil {
		return "" // what is to come is not seen
	}
	if p := s.Management.Plan(); p != nil && p.Status != core.PlanCompleted {
		return progress.ReleaseOf(p.Target)
	}
	if c := s.Management.Cluster; c != nil && len(c.Available) > 0 {
		return c.Available[len(c.Available)-1].Version
	}
	return ""
}

// point judges the row.
func (r *row) point(s *core.Snapshot, room Room, after map[string]core.AfterPoint, old []core.AfterPoint,
	entries map[core.AttentionRule][]core.Attention) Point {
	p := Point{ID: r.id, Title: r.title, Stops: r.stops, Impact: r.impact, Why: r.why, Page: r.page.String(), Remedy: r.remedy}
	l := &look{s: s, room: room, row: r}
	if r.managed && (s.Management == nil || !s.Management.Found) {
		l.unknown = unmanaged(s)
	}
	for _, id := range r.sources {
		if !s.Known(id) {
			l.unknown = cmp.Or(l.unknown, l.unseen(id))
		}
	}
	if l.unknown == "" && r.look != nil {
		r.look(l)
	}
	for _, is := range r.after {
		points := []core.AfterPoint{}
		if a, there := after[is.id]; there { // a cloud without Cinder has no point about it
			points = append(points, a)
		}
		if is.id == oldPods {
			points = old
		}
		for _, a := range points {
			l.unknown = cmp.Or(l.unknown, a.Unknown)
			l.note = cmp.Or(l.note, a.Note)
			p.Why = cmp.Or(p.Why, a.Why)
			says := is.says
			if is.id == oldPods {
				says += " " + strings.TrimPrefix(a.Title, "no old pod ")
			}
			for _, left := range a.Open {
				l.fail(left.Of, says+wording.InBrackets(wording.TextIf(left.How != says, left.How, "")), procedure.AfterKey())
				l.key(is.id, cmp.Or(left.ID, left.Of))
			}
		}
	}
	for _, rule := range r.rules {
		for _, e := range entries[rule] {
			l.entry(e)
		}
	}
	for _, id := range slices.Concat(r.sources, r.rests) {
		l.unknown = cmp.Or(l.unknown, l.unseen(id))
	}
	p.Findings, p.Note, p.Resolve = l.found, l.note, l.resolve
	if r.commands != nil {
		p.Commands = s.Own.Commands(r.commands(s))
	}
	p.Verdict = Pass
	for _, f := range p.Findings {
		if verdictRank[f.Verdict] < verdictRank[p.Verdict] {
			p.Verdict = f.Verdict
		}
		if p.Resolve == nil {
			p.Resolve = f.Resolve
		}
	}
	switch {
	case p.Verdict == Pass && l.unknown != "":
		p.Verdict, p.Unknown = Unknown, l.unknown
	case p.Verdict == Pass:
		p.Remedy = ""
	default:
		p.Unknown = l.unknown // some of it speaks against it, and the rest is not known
	}
	return p
}

// unseen is why a source shows nothing of what is there now; empty when it does. What the servers do not know is not there. A management
// cluster that is not connected is told by the points that are about it.
func (l *look) unseen(id core.SourceID) string {
	switch src := l.s.Sources[id]; {
	case absent(l.s, id) || src.AsksNobody():
		return ""
	case (src.State == core.SourceOff || src.ID == "") && id.Server() == core.ServerManagement && !l.row.managed:
		return ""
	case !l.s.Known(id):
		return string(id) + ": " + l.s.WhyUnknown(id)
	}
	if fresh, age := l.s.Fresh(id); !fresh {
		return age
	}
	return ""
}

// oldPods stands for the points after an update that are about old pods of a DaemonSet.
const oldPods = "old"

// goesOn stands for entries about what the points that are left out while an update runs are about.
const goesOn core.AttentionRule = "goes on"

// entry adds an entry of "Needs you".
func (l *look) entry(a core.Attention) {
	f := Finding{Of: wording.OneLine(a.Label, 64), Says: wording.OneLine(a.Reason, 400), Verdict: Warn, Remedy: a.Hint, Entry: a.ID,
		Resolve: a.Resolve, Key: findingKey(a.ID)}
	if a.Severity == core.SeverityUrgent || a.Severity == core.SeverityWarning && l.row.stops {
		f.Verdict = Fail
	}
	l.add(f)
}

// absent tells whether the servers have no such kind, and so none of it is there.
func absent(s *core.Snapshot, id core.SourceID) bool { return s.Sources[id].State == core.SourceAbsent }

// unmanaged is why the management cluster tells nothing of this cluster.
func unmanaged(s *core.Snapshot) string {
	if s.Sources[core.SourceClusters].State == core.SourceOff || len(s.Sources[core.SourceClusters].ID) == 0 {
		return "the management cluster is not connected: name it by --management-context"
	}
	if !s.Known(core.SourceClusters) {
		return string(core.SourceClusters) + ": " + s.WhyUnknown(core.SourceClusters)
	}
	return "this cluster was not found among those of the management cluster"
}
