package checklist

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Verdict is how a point stands.
type Verdict string

// The verdicts, the worst first.
const (
	Fail    Verdict = "fail"      // it stops the update, or harms by it
	Warn    Verdict = "warn"      // worth knowing before
	Unknown Verdict = "not known" // it could not be seen, or no API shows it
	Pass    Verdict = "pass"
)

var verdictRank = map[Verdict]int{Fail: 0, Warn: 1, Unknown: 2, Pass: 3}

// Report is the checklist of a cluster as of one moment. JSON writes it for scripts, and Read reads that again.
type Report struct {
	Format  int       `json:"format"` // of the document: 1
	Cluster string    `json:"cluster"`
	Made    time.Time `json:"made"`                 // by the wall clock
	AsOf    time.Time `json:"asOf"`                 // the cluster's time
	Began   time.Time `json:"updateBegan,omitzero"` // when the update began that runs, or was the last; zero when none was seen
	Update  bool      `json:"updateRuns"`           // points about the rest before and after an update are left out while one runs
	From    string    `json:"from,omitempty"`       // release; empty when unknown
	To      string    `json:"target,omitempty"`     // release that is planned, or that the update goes to; empty when there is none
	After   string    `json:"after,omitempty"`      // release that the last update led to; empty while one runs, or when none is known of
	Release string    `json:"release,omitempty"`    // release that the cluster is at; empty while an update runs, or when unknown
	Points  []Point   `json:"points"`               // the worst first, each kind in the order of the procedure
}

// Point is one thing that must be so.
type Point struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"` // a sentence that is true when it passes
	Verdict  Verdict     `json:"verdict"`
	Stops    bool        `json:"stops"`             // the update must not begin when it fails or is not known
	Impact   core.Impact `json:"impact"`            // what suffers when it is not so
	Why      string      `json:"why,omitempty"`     // why it must be so
	Unknown  string      `json:"unknown,omitempty"` // why it is not known
	Note     string      `json:"note,omitempty"`    // worth knowing although it passes
	Remedy   string      `json:"remedy,omitempty"`  // what to do
	Page     string      `json:"page,omitempty"`    // where the documents speak of it
	Findings []Finding   `json:"findings,omitempty"`
	Commands []string    `json:"commands,omitempty"` // by which it can be looked at, or done, by hand

	Resolve *core.ProcedureKey `json:"-"` // the steps that settle it; nil when Lockstep has none

	of *time.Time // the cluster's time of the older check that it was taken from; nil: it is of its report
}

// Finding is one thing that speaks against a point.
type Finding struct {
	Key     string  `json:"key"` // tells it from the point's other findings, in every report: what was found, of what; empty in older ones
	Of      string  `json:"of"`  // the node, instance or object; may be empty
	Says    string  `json:"says"`
	Verdict Verdict `json:"verdict"` // Fail or Warn

	Each []string `json:"each,omitempty"` // IDs of the instances that it counts together; one more is something new

	Remedy string `json:"remedy,omitempty"`

	Entry   string             `json:"-"` // ID of the entry of "Needs you" that it is; else empty
	Resolve *core.ProcedureKey `json:"-"`
}

// Text is the finding in one line.
func (f Finding) Text() string {
	if f.Of == "" {
		return f.Says
	}
	return f.Of + ": " + f.Says
}

// Count is how many points have the verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, p := range r.Points {
		if p.Verdict == v {
			n++
		}
	}
	return n
}

// Stopping are the points that fail and so stop an update.
func (r *Report) Stopping() []Point {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool { return p.Verdict != Fail })
}

// Unseen are the points that could stop an update and are not known, or not all of them.
func (r *Report) Unseen() []Point {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool { return !p.Stops || p.Unknown == "" || p.Verdict == Fail })
}

// Headline is the report in a sentence: "mos: the update to 21.0.0 — 2 things stop it, 3 to know, 1 not known". After an update, and
// before another is known to come, it says so.
func (r *Report) Headline() string {
	about, stops, stop := "an update", " stops it", " stop it"
	switch {
	case r.Update:
		about = "the update" + wording.Prefixed(" to ", r.To) + ", which runs"
	case r.To != "":
		about = "the update to " + r.To
	case !r.Began.IsZero() || r.After != "":
		about = "after the update" + wording.Prefixed(" to ", r.After)
		stops, stop = " would stop another", " would stop another"
	}
	var parts []string
	if n := r.Count(Fail); n > 0 {
		parts = append(parts, wording.Count(n, "thing")+wording.Verb(n, stops, stop))
	} else {
		parts = append(parts, "nothing that is known"+stops)
	}
	if n := r.Count(Warn); n > 0 {
		parts = append(parts, fmt.Sprintf("%d to know", n))
	}
	if n := r.Count(Unknown); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not known", n))
	}
	return r.Cluster + ": " + about + " — " + strings.Join(parts, ", ")
}

// Text is a point in one line: what speaks against it, or why it is not known, or its title.
func (p Point) Text() string {
	switch p.Verdict {
	case Fail, Warn:
		return wording.SomeClauses(p.Said(), 3)
	case Unknown:
		return p.Unknown
	}
	return p.Title + wording.Dashed(p.Note)
}

// Groups are the findings, those of several objects that say the same together, in their order.
func (p Point) Groups() [][]Finding {
	var groups [][]Finding
	at := map[string]int{}
	for _, f := range p.Findings {
		i, there := at[f.Says]
		if !there {
			i = len(groups)
			at[f.Says], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// GroupText is a group of findings in one line: "cmp-01, cmp-02: cordoned".
func GroupText(group []Finding) string {
	of := make([]string, len(group))
	for i, f := range group {
		of[i] = f.Of
	}
	return Finding{Of: wording.Some(slices.Compact(of), 4), Says: group[0].Says}.Text()
}

// Said is what speaks against the point, one line a group.
func (p Point) Said() []string {
	var says []string
	for _, group := range p.Groups() {
		says = append(says, GroupText(group))
	}
	return says
}

// format is the version of the document.
const format = 1

// JSON is the report for scripts. Times are in UTC.
func (r *Report) JSON() ([]byte, error) {
	return core.EncodeJSON(r, "  ")
}

// Compared is a report with how it differs from an earlier one: a stable document for scripts. Read reads its report.
type Compared struct {
	Report
	Against *time.Time `json:"against,omitempty"` // the cluster's time of the check with which it is compared
	Since   []Change   `json:"since,omitempty"`   // in what they differ

	NotCompared []string `json:"notCompared,omitempty"` // IDs of points that are known now and were not, or not wholly, then
}

// With compares the report with an earlier one; nil when there is none.
func (r Report) With(earlier *Report) Compared {
	c := Compared{Report: r}
	if earlier != nil {
		c.Against, c.Since = &earlier.AsOf, c.Compare(*earlier)
		c.NotCompared = c.notCompared(*earlier)
	}
	return c
}

// JSON is the document. Times are in UTC.
func (c *Compared) JSON() ([]byte, error) {
	return core.EncodeJSON(c, "  ")
}

// Read reads a report that JSON wrote. A document of another format is an error.
func Read(raw []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return Report{}, fmt.Errorf("it is not a report of lockstep check: %w", err)
	}
	if r.Format != format {
		return Report{}, fmt.Errorf("it has the format %d; this Lockstep reads %d", r.Format, format)
	}
	if r.AsOf.IsZero() || len(r.Points) == 0 { // other documents of Lockstep have the format, too
		return Report{}, errors.New("it is not a report of lockstep check: it has no points")
	}
	for _, p := range r.Points {
		if p.ID == "" || !slices.Contains([]Verdict{Fail, Warn, Unknown, Pass}, p.Verdict) {
			return Report{}, fmt.Errorf("it is not a report of lockstep check: one of its points is %q, with the verdict %q",
				wording.OneLine(p.ID, 40), wording.OneLine(string(p.Verdict), 40))
		}
	}
	return r, nil
}

// FileName is a name for a file with the report.
func (r *Report) FileName() string {
	return "check-" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '_'
	}, r.Cluster) + "-" + r.AsOf.UTC().Format("20060102T150405Z") + ".json"
}

// Change is how a point differs from an earlier report.
type Change struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Was    Verdict   `json:"was"`
	Now    Verdict   `json:"now"`
	New    []Finding `json:"new,omitempty"`    // what the earlier report does not have
	Mended []Finding `json:"mended,omitempty"` // what only the earlier report has

	Against *time.Time `json:"against,omitempty"` // the older check in which the point was known last; absent: the one of all points
}

// Broke tells whether the point is worse than before. What is not known, or was not, is neither broken nor mended.
func (c Change) Broke() bool {
	return c.Was != Unknown && c.Now != Unknown && (len(c.New) > 0 || verdictRank[c.Now] < verdictRank[c.Was])
}

// Word is "new" for what passed before, else "worse".
func (c Change) Word() string { return wording.TextIf(c.Was == Pass, "new", "worse") }

// Before is how the point stood before, and what of it is gone.
func (c Change) Before() string {
	gone := make([]string, len(c.Mended))
	for i, f := range c.Mended {
		gone[i] = f.Text()
	}
	return string(c.Was) + wording.Prefixed("; gone: ", wording.SomeClauses(gone, 3))
}

// Since are the points in which the report differs from an earlier one, what broke first. Points that only one of them has, as those
// that are left out while an update runs, are not compared.
func (r *Report) Since(earlier Report) []Change {
	var out []Change
	for _, p := range r.Points {
		i := slices.IndexFunc(earlier.Points, func(q Point) bool { return q.ID == p.ID })
		if i < 0 {
			continue
		}
		was := earlier.Points[i]
		c := Change{ID: p.ID, Title: p.Title, Was: was.Verdict, Now: p.Verdict, New: grown(p.Findings, was.Findings),
			Mended: without(was.Findings, p.Findings), Against: was.of}
		if was.Unknown != "" { // what is not known is neither broken nor mended
			c.New = nil
		}
		if p.Unknown != "" {
			c.Mended = nil
		}
		if c.Was != c.Now || len(c.New)+len(c.Mended) > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(verdictRank[a.Now]-verdictRank[b.Now], verdictRank[b.Was]-verdictRank[a.Was])
	})
	return out
}

// notCompared are the points that are known now, of which the earlier report does not tell enough, and of which nothing is told: nobody
// knows whether anything of them is worse.
func (c *Compared) notCompared(earlier Report) []string {
	var ids []string
	for _, p := range c.Points {
		i := slices.IndexFunc(earlier.Points, func(q Point) bool { return q.ID == p.ID })
		told := slices.ContainsFunc(c.Since, func(d Change) bool { return d.ID == p.ID && d.Was != Unknown })
		if p.Verdict != Unknown && !told && (i < 0 || earlier.Points[i].Unknown != "") {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// FillFrom takes those points from an older report that are not known in this one and were known then. It tells whether there were any.
func (r *Report) FillFrom(older Report) bool {
	filled := false
	for i := range r.Points {
		p := &r.Points[i]
		j := slices.IndexFunc(older.Points, func(q Point) bool { return q.ID == p.ID })
		if p.Verdict != Unknown || j < 0 || older.Points[j].Verdict == Unknown {
			continue
		}
		if !filled { // the points may be another report's, too
			r.Points = slices.Clone(r.Points)
		}
		filled = true
		r.Points[i] = older.Points[j]
		r.Points[i].of = &older.AsOf
	}
	return filled
}

// Follows tells whether an update lay between an earlier report and this one, by the releases alone; false when one of them is unknown.
func (r *Report) Follows(earlier Report) bool {
	return r.Release != "" && earlier.Release != "" && !progress.SameRelease(r.Release, earlier.Release)
}

// Compare returns how the report differs from an earlier one. When an update lay between that nobody watched and no plan tells of, the
// report is one after that update from then on.
func (r *Report) Compare(earlier Report) []Change {
	if r.After == "" && !r.Update && r.Follows(earlier) {
		r.After = r.Release
	}
	return r.Since(earlier)
}

// without are the findings of a that b does not have. What is found counts by its key: a text can hold a number that grows.
func without(a, b []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(a), func(f Finding) bool { return slices.ContainsFunc(b, f.same) })
}

// grown are the findings of a that count something that b's do not, besides those that b does not have at all.
func grown(a, b []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(a), func(f Finding) bool {
		return slices.ContainsFunc(b, func(g Finding) bool {
			return f.same(g) && (g.Key == "" || !slices.ContainsFunc(f.Each, func(id string) bool { return !slices.Contains(g.Each, id) }))
		})
	})
}

// same tells whether both reports found this. Reports of versions before keys tell it by the object, which they wrote with its state, or by
// the text.
func (f Finding) same(g Finding) bool {
	switch {
	case f.Key != "" && g.Key != "":
		return f.Key == g.Key
	case f.Of != "" || g.Of != "":
		return withoutState(f.Of) == withoutState(g.Of)
	}
	return f.Says == g.Says
}

// withoutState is an object's name without what stood behind it in brackets.
func withoutState(of string) string {
	if i := strings.LastIndex(of, " ("); i > 0 && strings.HasSuffix(of, ")") {
		return of[:i]
	}
	return of
}
