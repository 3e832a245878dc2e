package cli

import (
	"cmp"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Status is what `lockstep status` prints: a stable document for scripts. Times are RFC 3339 in UTC, durations seconds.
type Status struct {
	Format    int               `json:"format"` // of the document: 1
	Cluster   string            `json:"cluster"`
	Simulated bool              `json:"simulated,omitempty"` // it is a rehearsal of that cluster
	AsOf      time.Time         `json:"asOf"`
	Update    StatusUpdate      `json:"update"`
	NeedsYou  []StatusAttention `json:"needsYou"`
	Phases    []StatusPhase     `json:"phases"`
	Nodes     []StatusNode      `json:"nodes"`
	Locks     []StatusLock      `json:"clusterLocks"`
	Sources   []StatusSource    `json:"sources"`

	RoleLabels string `json:"roleLabels,omitempty"` // the labels of the nodes' roles; absent where they are the defaults
}

// StatusUpdate is the update as a whole.
type StatusUpdate struct {
	Running bool       `json:"running"`
	Known   bool       `json:"known"` // whether it could be read that an update runs, or that none does; else running says nothing
	From    string     `json:"from,omitempty"`
	To      string     `json:"to,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	Done    int        `json:"nodesDone"`
	Nodes   int        `json:"nodes"`
	Finish  *time.Time `json:"finishEstimate,omitempty"`
	Spread  int        `json:"finishSpreadSeconds,omitempty"` // plus or minus
	Held    string     `json:"heldUpBy,omitempty"`            // why it does not go on; a finishEstimate is the end if it goes on now
	Elapsed int        `json:"elapsedSeconds,omitempty"`
	// Baseline is how long the documents' formula allows for the whole update, one node after the other.
	Baseline   int    `json:"baselineSeconds,omitempty"`
	Assessment string `json:"assessment"` // in a sentence
	// End is when it is over, in words: with its spread, what holds it up, or why no end is forecast yet. Empty while no update runs.
	End string `json:"end,omitempty"`
	// Plan is what the update plan on the management cluster says: the one that runs, or comes next.
	Plan    string `json:"plan,omitempty"`
	Release string `json:"release,omitempty"` // that the cluster is at, while no update runs
	Offered string `json:"offered,omitempty"` // what it can be updated to, while no update runs
}

// StatusAttention is one thing that needs a person.
type StatusAttention struct {
	ID       string     `json:"id"`
	Severity string     `json:"severity"` // urgent, warning or notice
	Impact   string     `json:"impact"`   // what suffers: data, instances, API, time or "nothing yet"
	Subject  string     `json:"subject"`
	Reason   string     `json:"reason"`
	Since    *time.Time `json:"since,omitempty"`
	About    bool       `json:"sinceAbout,omitempty"` // nobody saw it begin: then or before, or, with sinceLater, then or later
	Later    bool       `json:"sinceLater,omitempty"` // nobody saw it begin: then or later
	Hint     string     `json:"hint,omitempty"`
	Cause    string     `json:"cause,omitempty"` // the ID of the entry that it follows from
	Page     string     `json:"page,omitempty"`  // where the documents speak of it

	Aside *StatusNote  `json:"aside,omitempty"` // by which it waits for somebody else; absent: it does not
	Notes []StatusNote `json:"notes,omitempty"` // on it that are not done

	Diagnosis *StatusDiagnosis `json:"diagnosis,omitempty"` // absent where no row of docs/causes.md fits

	Evidence []string `json:"evidence,omitempty"`
	Commands []string `json:"commands,omitempty"` // by which it can be looked at, or mended, by hand
}

// StatusNote is what an operator wrote down.
type StatusNote struct {
	ID    string     `json:"id"`
	Text  string     `json:"text"`
	By    string     `json:"by"`
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until,omitempty"` // when to be reminded
}

func statusNote(n core.Note) StatusNote {
	return StatusNote{ID: oneLine(n.ID), Text: oneLine(n.Text), By: oneLine(n.By), At: n.At.UTC(), Until: moment(n.Until)}
}

// StatusDiagnosis is the row of docs/causes.md that fits an entry.
type StatusDiagnosis struct {
	ID        string `json:"id"`
	Cause     string `json:"cause"`
	Remedy    string `json:"remedy"`
	Forbidden string `json:"forbidden,omitempty"` // what must not be done, and why
	Issue     string `json:"knownIssue,omitempty"`
}

// StatusPhase is one of the five phases.
type StatusPhase struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	Elapsed  int      `json:"elapsedSeconds,omitempty"`
	Side     string   `json:"elapsedSide,omitempty"`    // "<" at most so long, ">" at least, "~" either: nobody saw it begin or end
	Allowed  int      `json:"allowedSeconds,omitempty"` // by the documents' formula, one node after the other
	Done     int      `json:"done,omitempty"`
	Total    int      `json:"total,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// StatusNode is one node.
type StatusNode struct {
	Name      string            `json:"name"`
	Label     string            `json:"label"`
	Roles     []core.Role       `json:"roles"`
	Stage     string            `json:"stage"`
	Since     *time.Time        `json:"since,omitempty"`
	About     bool              `json:"sinceAbout,omitempty"` // nobody saw it begin: then or before, or, with sinceLater, then or later
	Later     bool              `json:"sinceLater,omitempty"` // nobody saw it begin: then or later
	Reason    string            `json:"reason,omitempty"`
	Mode      string            `json:"migrationMode"`
	Ready     string            `json:"ready,omitempty"`
	Cordoned  bool              `json:"cordoned,omitempty"`
	Instances *int              `json:"instances,omitempty"` // absent when not known
	Blocking  *int              `json:"blocking,omitempty"`  // absent when not known
	Locks     map[string]string `json:"locks,omitempty"`     // state by controller
	Problems  []string          `json:"problems,omitempty"`

	Controller *StatusAccount `json:"openstackController,omitempty"` // absent when its bookkeeping says nothing

	matters bool // worth showing in one look
}

// StatusAccount is what the OpenStack controller does about a node's request, by its own bookkeeping.
type StatusAccount struct {
	// "tries again", "at work", "first try", "never seen", "stopped", "gave up", "held" or "handled"
	State  string     `json:"state"`
	Failed int        `json:"failed,omitempty"` // how often it has failed
	Words  string     `json:"words,omitempty"`  // of its last failure
	Next   *time.Time `json:"next,omitempty"`   // when it tries again; in the past: since when it does
}

// StatusLock is a ClusterWorkloadLock.
type StatusLock struct {
	Name       string `json:"name"`
	Controller string `json:"controller"`
	State      string `json:"state"`
	Release    string `json:"release,omitempty"`
	Message    string `json:"message,omitempty"`
	Meaning    string `json:"meaning,omitempty"`
}

// StatusSource is the state of a source.
type StatusSource struct {
	ID    string     `json:"id"`
	State string     `json:"state"`
	AsOf  *time.Time `json:"asOf,omitempty"`
	Error string     `json:"error,omitempty"`

	cause string // the error in a word or two, where the document has all of it elsewhere
}

// statusOf is the document, with these entries of what needs a person.
func statusOf(s *core.Snapshot, needs []core.Attention) Status {
	u := progress.Update(s)
	end := forecast.Finish(s)
	st := Status{
		Format:  1,
		Cluster: oneLine(s.Cluster), Simulated: s.Simulated,
		AsOf: s.Now.UTC(),
		Update: StatusUpdate{Running: u.Running, Known: u.Known, From: oneLine(u.From), To: oneLine(u.To), Started: moment(u.Started.At),
			Done: u.Done, Nodes: u.Nodes, Finish: moment(end.At), Spread: int(end.Spread.Seconds()),
			Held: oneLine(end.Held)},
		NeedsYou: []StatusAttention{},
		Phases:   []StatusPhase{},
		Nodes:    []StatusNode{},
		Locks:    []StatusLock{},
		Sources:  []StatusSource{},

		RoleLabels: oneLine(s.RoleLabelsText()),
	}
	if u.Running {
		st.Update.Elapsed = int(max(s.Now.Sub(u.Started.At), 0).Seconds())
		st.Update.Baseline = int(progress.EstimatesOf(s).Whole().Seconds())
		st.Update.End = oneLine(forecast.EndText(s))
	}
	st.Update.addManagement(s, u)
	st.Update.Assessment = assessment(s, u, needs)
	for _, a := range needs {
		st.NeedsYou = append(st.NeedsYou, StatusAttention{ID: oneLine(a.ID), Severity: a.Severity.String(), Impact: string(a.Impact),
			Subject: oneLine(a.Label), Reason: oneLine(a.Reason), Since: moment(a.Since.At), About: about(a.Since), Later: a.Since.Later,
			Hint: oneLine(a.Hint), Cause: oneLine(a.Cause), Page: a.Page.String()})
		last := &st.NeedsYou[len(st.NeedsYou)-1]
		if d := a.Diagnosis; d != nil {
			last.Diagnosis = &StatusDiagnosis{ID: string(d.ID), Cause: oneLine(d.Cause), Remedy: oneLine(d.Remedy), Forbidden: oneLine(d.Forbidden),
				Issue: d.Issue}
		}
		if a.Aside != nil {
			last.Aside = new(statusNote(*a.Aside))
		}
		for _, n := range s.OpenNotes(a.ID, "", "") {
			last.Notes = append(last.Notes, statusNote(n))
		}
		for _, e := range a.Evidence {
			last.Evidence = append(last.Evidence, oneLine(e.Of+": "+e.Says))
		}
		for _, c := range a.Commands {
			last.Commands = append(last.Commands, oneLine(c.Line))
		}
	}
	allowed := progress.EstimatesOf(s)
	for _, p := range progress.Phases(s) {
		sp := StatusPhase{Number: int(p.ID), Title: p.Title, State: string(p.State), Elapsed: int(p.Elapsed(s.Now).Seconds()),
			Done: p.Done, Total: p.Total, Allowed: int(allowed.Phase(p.ID).Seconds())}
		if sp.Elapsed > 0 {
			sp.Side = p.ElapsedSide()
		}
		for _, e := range p.Evidence {
			sp.Evidence = append(sp.Evidence, oneLine(e))
		}
		st.Phases = append(st.Phases, sp)
	}
	needing := nodesNeedingYou(needs)
	for _, v := range progress.NodeViews(s) {
		n := statusNode(s, v)
		n.matters = nodeMatters(v, needing)
		st.Nodes = append(st.Nodes, n)
	}
	for _, l := range s.ClusterLocks {
		m := progress.ReadLock(s, l)
		st.Locks = append(st.Locks, StatusLock{Name: oneLine(l.Name), Controller: oneLine(l.Controller), State: oneLine(string(l.State())),
			Release: oneLine(l.Release), Message: oneLine(l.Message), Meaning: m.Meaning})
	}
	for _, src := range s.Sources {
		ss := StatusSource{ID: string(src.ID), State: string(src.State), AsOf: moment(src.AsOf)}
		if src.Err != nil {
			ss.Error, ss.cause = oneLine(src.Err.Error()), causeTold(s, src)
		}
		st.Sources = append(st.Sources, ss)
	}
	sort.Slice(st.Sources, func(i, j int) bool { return st.Sources[i].ID < st.Sources[j].ID })
	return st
}

// addManagement adds what the update plan says and, while no update runs, at which release the cluster is and what it can be updated to.
func (u *StatusUpdate) addManagement(s *core.Snapshot, is core.Update) {
	m := s.Management
	plan := m.Plan()
	if plan != nil && plan.Status != core.PlanCompleted {
		u.Plan = oneLine(planText(s, plan))
	}
	if is.Running || !is.Known {
		return
	}
	u.Release = oneLine(progress.Release(s))
	if m == nil || m.Cluster == nil {
		return
	}
	if u.Release == "" {
		u.Release = oneLine(m.Cluster.Release)
	}
	var offered []string
	for _, r := range m.Cluster.Available {
		offered = append(offered, cmp.Or(r.Name, r.Version))
	}
	u.Offered = oneLine(strings.Join(offered, ", "))
}

// planText is a plan in a line: its name, how many of its steps are done, and the steps that are under way or come next.
func planText(s *core.Snapshot, p *core.UpdatePlan) string {
	done := 0
	var now []string
	for _, st := range p.Steps {
		switch {
		case st.Status == core.PlanCompleted:
			done++
		case st.Begun():
			now = append(now, progress.StepShort(st)+" "+progress.PlanStepText(s, st))
		}
	}
	text := fmt.Sprintf("%s: %s, %d of %d steps done", p.Name, p.Status, done, len(p.Steps))
	if len(now) > 0 {
		text += "; " + strings.Join(now, "; ")
	}
	if st, ok := p.Next(); ok {
		text += "; next is " + progress.StepShort(st) + wording.TextIf(st.Held(), ", which is held", ", which nobody has commenced")
	}
	return text
}

// assessment is the state of the update in a sentence.
func assessment(s *core.Snapshot, u core.Update, all []core.Attention) string {
	urgent, waits := attention.Urgent(all), ""
	if urgent > 0 {
		waits = "; " + wording.Count(urgent, "thing") + wording.Verb(urgent, " needs", " need") + " a person at once"
	}
	if _, aside := attention.Now(all); len(aside) > 0 {
		waits += fmt.Sprintf("; %d set aside", len(aside))
	}
	switch {
	case !u.Known:
		return "whether an update runs is not known" + waits
	case u.Beside != "":
		return "no update runs: " + u.Beside + waits
	case u.ByHand:
		return "no update runs: a maintenance was asked for by hand" + waits
	case !u.Running:
		return "no update runs" + waits
	case u.Phase.State == core.PhaseStuck:
		return fmt.Sprintf("stuck in phase %d, %s%s", u.Phase.ID, u.Phase.Title, waits)
	case u.Moving == 0 && u.Waiting > 0:
		return fmt.Sprintf("stands still in phase %d, %s%s", u.Phase.ID, u.Phase.Title, waits)
	}
	if p, stand := progress.UpdateStands(s); stand.Cause != "" { // what it waits for says the line of its end
		return fmt.Sprintf("stands still %s phase %d, %s%s", wording.TextIf(p.State == core.PhasePending, "before", "in"), p.ID, p.Title, waits)
	}
	return fmt.Sprintf("goes on, in phase %d, %s%s", u.Phase.ID, u.Phase.Title, waits)
}

func statusNode(s *core.Snapshot, v *core.NodeView) StatusNode {
	n := StatusNode{Name: oneLine(v.Name), Label: oneLine(v.Label), Roles: []core.Role{}, Stage: string(v.Stage), Since: moment(v.Since.At),
		About: about(v.Since), Later: v.Since.Later, Reason: oneLine(v.Reason), Mode: oneLine(string(v.Mode)), Instances: known(v.Instances),
		Blocking: known(v.Blocking)}
	if v.Node != nil {
		n.Roles = append(n.Roles, v.Node.Roles...)
		n.Ready, n.Cordoned = v.Node.Ready, v.Node.Cordoned
	}
	for _, l := range v.Locks {
		if n.Locks == nil {
			n.Locks = map[string]string{}
		}
		n.Locks[oneLine(l.Controller)] = oneLine(string(l.State()))
	}
	if a := progress.NodeAccount(s, v.Name); a.State != progress.AccountNone {
		n.Controller = &StatusAccount{State: string(a.State), Failed: a.Failed, Words: oneLine(a.Words), Next: moment(a.Next)}
	}
	for _, p := range v.Problems {
		n.Problems = append(n.Problems, oneLine(p))
	}
	return n
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func known(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func (t statusTable) print(out io.Writer, s Status) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	t.head(out, s)
	if len(s.NeedsYou) == 0 {
		fmt.Fprintln(w, "Nothing needs you.")
	} else {
		if err := w.Flush(); err != nil {
			return err
		}
		t.needs(out, s)
	}
	fmt.Fprintln(w, "\nPHASE\tSTATE\tTOOK\tALLOWED\tDONE")
	for _, p := range s.Phases {
		took := span(time.Duration(p.Elapsed) * time.Second)
		if p.Side != "" {
			took = p.Side + " " + took
		}
		fmt.Fprintf(w, "%d %s\t%s\t%s\t%s\t%s\n", p.Number, p.Title, p.State, took,
			span(time.Duration(p.Allowed)*time.Second), count(p.Done, p.Total))
	}
	if s.RoleLabels != "" {
		fmt.Fprintf(w, "\nRoles come from labels other than the defaults: %s\n", s.RoleLabels)
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	t.nodes(out, s)
	printSources(w, s)
	return w.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return "(unknown)"
	}
	return s
}

func count(done, total int) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", done, total)
}

func number(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func since(now time.Time, t *time.Time, about, later bool) string {
	if t == nil {
		return "-"
	}
	text := span(now.Sub(*t))
	switch {
	case !about || text == "-":
		return text
	case later:
		return "< " + text
	}
	return "> " + text
}

// about tells whether nobody saw something begin, and the time is only the nearest that is known.
func about(s core.Since) bool { return !s.At.IsZero() && !s.Exact }

// span is a duration in two units at most: "41 s", "12 m", "2 h 41 m", "3 d 4 h".
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
}
