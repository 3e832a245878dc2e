package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/core/wording"
)

func newClusters(p *options) *cobra.Command {
	var (
		output string
		wait   patience
	)
	cmd := &cobra.Command{
		Use:   "clusters",
		Short: "Take one look at all clusters of a management cluster and print a line for each",
		Long: `Takes one look at a management cluster and prints a line for each of its clusters: release and what is offered, phase,
progress and end of its update, and what needs a person, all by what the management cluster itself knows. The management cluster
is the one of --management-context, else the one of --context.

The exit code is 0 when nothing needs you, 2 when something does or a cluster could not be looked into, and 1 when there is no list.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch output {
			case "table", formatJSON:
			default:
				return fmt.Errorf("-o is %q; it takes table or json", output)
			}
			v, err := lookAtFleet(cmd.Context(), *p, wait.of(cmd))
			if err != nil {
				return err
			}
			if output == formatJSON {
				err = printJSON(cmd.OutOrStdout(), clustersOf(v))
			} else {
				err = printClusters(cmd.OutOrStdout(), v)
			}
			if err != nil {
				return fmt.Errorf("print the clusters: %w", err)
			}
			if clustersNeed(v) {
				return exitWith(exitAttention)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "`format`: table or json")
	wait.addTo(cmd)
	return cmd
}

// clustersNeed tells whether a cluster needs a person, or may: of what was not seen nobody knows.
func clustersNeed(v *fleet.View) bool {
	return !v.Complete || v.Part != nil || len(v.Denied)+len(v.Failed) > 0 || slices.ContainsFunc(v.Rows, func(r fleet.Row) bool {
		return r.Worst() > core.SeverityNotice || r.State == fleet.StateUnknown || len(r.Missing) > 0
	})
}

// lookAtFleet takes one look at the management cluster.
func lookAtFleet(ctx context.Context, p options, wait patience) (*fleet.View, error) {
	if err := p.configure(); err != nil {
		return nil, err
	}
	log, err := p.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if wait.named {
		p.LoginFor = max(wait.wait, 1)
	}
	f, err := openFleet(ctx, p, log)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { f.run(running) })
	v := f.look(ctx, wait.wait)
	stop()
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return v, noClusters(v)
}

// noClusters is why there is no list; nil when there is one.
func noClusters(v *fleet.View) error {
	late := &core.APIError{Kind: core.ErrTimeout, Server: core.ServerManagement, Call: "list the clusters",
		Message: "the management cluster has not answered in time", Remedy: "Try a longer --wait, and see the log."}
	if v == nil {
		return late
	}
	if len(v.Rows) > 0 {
		return nil
	}
	for _, src := range v.Sources {
		switch {
		case src.ID != core.SourceClusters:
		case src.State == core.SourceAbsent:
			return &core.APIError{Kind: core.ErrNotFound, Server: core.ServerManagement, Call: "list the clusters",
				Message: "this cluster does not know clusters.cluster.k8s.io: " + v.Name + " is no management cluster",
				Remedy:  "Name the management cluster with --management-context, or with --context.", Err: src.Err}
		case src.Err != nil:
			return src.Err
		}
	}
	if n := len(v.Denied); n > 0 && v.Denied[0].Err != nil {
		e := *v.Denied[0].Err
		e.Call = "list the clusters"
		e.Remedy = "Is this a management cluster? Name it with --management-context or --context. Where it is, " + e.Remedy
		e.Message = fmt.Sprintf("clusters.cluster.k8s.io may be listed in none of %d namespaces", n)
		return &e
	}
	if !v.Complete {
		return late
	}
	if v.Part != nil {
		return v.Part.Err
	}
	return errors.New("the management cluster has no clusters but itself")
}

// printClusters prints the list for a person.
func printClusters(out io.Writer, v *fleet.View) error {
	var b strings.Builder
	t := tableOn(out, true, false)
	fmt.Fprintf(&b, "%s   as of %s\n", oneLine(fleetHead(v)), wording.StampText(v.Now))
	rows := [][]string{{"CLUSTER", "PROJECT", "RELEASE", "OFFERED", "UPDATE", "PROGRESS", "END", "NEEDS YOU"}}
	for i := range v.Rows {
		r := &v.Rows[i]
		row := []string{r.Name, r.Project, dashed(releaseText(r)), dashed(strings.Join(r.Offered, ", ")), dashed(updateText(r)),
			dashed(r.ProgressText()), dashed(endText(r)), dashed(needText(r))}
		for j := range row {
			row[j] = oneLine(row[j])
		}
		rows = append(rows, row)
	}
	t.columns(&b, rows, 7, 4, 3, 0)
	if n := len(v.Denied); n > 0 {
		names := make([]string, n)
		for i, d := range v.Denied {
			names[i] = d.Project
		}
		fmt.Fprintln(&b, oneLine(fmt.Sprintf("Not looked into, because clusters may not be listed there: %s", strings.Join(names, ", "))))
	}
	others := "all projects"
	if v.Part != nil {
		others = "other projects"
		fmt.Fprintln(&b, oneLine(fmt.Sprintf("Only these projects were looked into, because others are not known (%s): %s", v.Part.Err.Cause(),
			strings.Join(v.Part.Projects, ", "))))
	}
	for _, d := range v.Failed {
		fmt.Fprintln(&b, oneLine(fmt.Sprintf("Could not be looked into: %s: %s", cmp.Or(d.Project, others), whyFailed(d))))
	}
	if !v.Complete {
		fmt.Fprintln(&b, "Not everything has come in time: a longer --wait may show more.")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// whyFailed is why the clusters of a project could not be listed.
func whyFailed(d fleet.Denied) string {
	if d.Err == nil {
		return "they have not been told of for a while"
	}
	return core.Redact(d.Err.Error())
}

func dashed(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// fleetHead is the management cluster in one line: "management, Container Cloud 2.30.0: 7 clusters, 2 under way, 1 urgent".
func fleetHead(v *fleet.View) string {
	text := v.Name
	if v.Version != "" {
		text += ", Container Cloud " + v.Version
	}
	if v.Waits != "" {
		text += " (" + v.Waits + " waits)"
	}
	noun := "clusters"
	if len(v.Rows) == 1 {
		noun = "cluster"
	}
	text += fmt.Sprintf(": %d %s", len(v.Rows), noun)
	underWay, urgent := v.Count()
	if underWay > 0 {
		text += fmt.Sprintf(", %d under way", underWay)
	}
	if urgent > 0 {
		text += fmt.Sprintf(", %d urgent", urgent)
	}
	return text
}

func releaseText(r *fleet.Row) string {
	if r.Target != "" {
		return r.Release + " → " + r.Target
	}
	return r.Release
}

// updateText is the phase, and what its update does where that is not the usual.
func updateText(r *fleet.Row) string {
	text := r.PhaseText()
	switch r.State {
	case fleet.StateUpdates, fleet.StateScheduled, fleet.StateMaintenance, fleet.StateRests, fleet.StateOffered:
		return text
	case fleet.StateUnknown:
		return string(r.State)
	}
	return strings.TrimPrefix(text+", "+string(r.State), ", ")
}

func endText(r *fleet.Row) string {
	if r.Finish.IsZero() {
		return ""
	}
	return "about " + r.Finish.Local().Format("Jan 2 15:04")
}

// needText is what needs a person most, and how much else does; or what could not be read.
func needText(r *fleet.Row) string {
	var parts []string
	if n := len(r.Needs); n > 0 {
		a := r.Needs[0]
		text := a.Severity.String() + ": " + a.Label + ": " + a.Reason
		if n > 1 {
			text += fmt.Sprintf("; and %d more", n-1)
		}
		parts = append(parts, text)
	}
	for _, m := range r.Missing {
		parts = append(parts, fmt.Sprintf("%s not known: %s", m.What, m.Why))
	}
	return strings.Join(parts, "; ")
}

// Clusters is what `lockstep clusters -o json` prints: a stable document for scripts. Times are RFC 3339 in UTC.
type Clusters struct {
	Format     int           `json:"format"` // of the document: 1
	Management string        `json:"management"`
	Version    string        `json:"version,omitempty"`
	Waits      string        `json:"waits,omitempty"` // a newer version of the management cluster
	AsOf       time.Time     `json:"asOf"`
	Complete   bool          `json:"complete"` // everything has answered, and it is known which projects there are
	Clusters   []ClustersRow `json:"clusters"`
	Denied     []string      `json:"denied,omitempty"` // projects whose clusters may not be listed
	Only       []string      `json:"only,omitempty"`   // projects that were looked into, where it is not known which others there are

	Failed []ClustersFailed `json:"failed,omitempty"` // projects whose clusters could not be listed, or not of late
}

// ClustersFailed is a project into which nobody could look.
type ClustersFailed struct {
	Project string `json:"project,omitempty"` // absent: all of them, or all but only
	Why     string `json:"why"`
}

// ClustersRow is one cluster.
type ClustersRow struct {
	Project  string         `json:"project"`
	Name     string         `json:"name"`
	Release  string         `json:"release,omitempty"`
	Target   string         `json:"target,omitempty"`
	Offered  []string       `json:"offered,omitempty"`
	State    fleet.State    `json:"state"`
	Phase    int            `json:"phase,omitempty"`
	Step     string         `json:"step,omitempty"`
	Started  *time.Time     `json:"started,omitempty"`
	Done     *int           `json:"nodesDone,omitempty"` // absent when not known, as the next
	Nodes    *int           `json:"nodes,omitempty"`
	Steps    int            `json:"steps,omitempty"`
	StepDone int            `json:"stepsDone,omitempty"`
	Finish   *time.Time     `json:"finishByPlan,omitempty"`
	NoFinish string         `json:"noFinishBecause,omitempty"`
	NeedsYou []ClustersNeed `json:"needsYou"`
	Missing  []string       `json:"notKnown,omitempty"`
}

// ClustersNeed is one thing that needs a person.
type ClustersNeed struct {
	Severity string     `json:"severity"` // urgent, warning or notice
	Subject  string     `json:"subject"`
	Reason   string     `json:"reason"`
	Since    *time.Time `json:"since,omitempty"`
	About    bool       `json:"sinceAbout,omitempty"` // nobody saw it begin: then or before, or, with sinceLater, then or later
	Later    bool       `json:"sinceLater,omitempty"` // nobody saw it begin: then or later
}

func clustersOf(v *fleet.View) Clusters {
	out := Clusters{Format: 1, Management: v.Name, Version: v.Version, Waits: v.Waits, AsOf: v.Now.UTC(),
		Complete: v.Complete && v.Part == nil, Clusters: []ClustersRow{}}
	if v.Part != nil {
		out.Only = v.Part.Projects
	}
	for _, d := range v.Denied {
		out.Denied = append(out.Denied, d.Project)
	}
	for _, d := range v.Failed {
		out.Failed = append(out.Failed, ClustersFailed{d.Project, whyFailed(d)})
	}
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC().Truncate(time.Second)
		return &t
	}
	for i := range v.Rows {
		r := &v.Rows[i]
		row := ClustersRow{Project: r.Project, Name: r.Name, Release: r.Release, Target: r.Target, Offered: r.Offered, State: r.State,
			Phase: int(r.Phase), Step: r.Step, Started: at(r.Started), Steps: r.Steps, StepDone: r.StepsDone, Finish: at(r.Finish),
			NoFinish: r.NoEnd, NeedsYou: []ClustersNeed{}}
		if r.NodesKnown {
			row.Done, row.Nodes = &r.Done, &r.Nodes
		}
		for _, n := range r.Needs {
			row.NeedsYou = append(row.NeedsYou, ClustersNeed{Severity: n.Severity.String(), Subject: n.Label, Reason: core.Redact(n.Reason),
				Since: at(n.Since.At), About: about(n.Since), Later: n.Since.Later})
		}
		for _, m := range r.Missing {
			row.Missing = append(row.Missing, fmt.Sprintf("%s: %s", m.What, core.Redact(m.Why)))
		}
		out.Clusters = append(out.Clusters, row)
	}
	return out
}
