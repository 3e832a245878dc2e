package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lockstep/core/evacuation"
)

// printPlanTable prints a plan for a terminal: what needs a person first, then the nodes. Instances that just move are listed
// only with all.
func printPlanTable(out io.Writer, p *evacuation.Forecast, all bool) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\n%s\n%s\n", oneLine(p.Cluster), oneLine(p.Headline()), p.MadeText(), oneLine(p.TimeText()))
	if len(p.Unknown) > 0 {
		fmt.Fprintln(w, "\nNOT CHECKED\tWHY\tMEANS")
		for _, u := range p.Unknown {
			fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(u.What), oneLine(u.Why), oneLine(u.Means))
		}
	}
	title := "\nNODE\tINSTANCE\tPROJECT\tFATE\tTO\tWHY"
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for _, x := range n.Instances {
			if !all && !x.NeedsPerson() {
				continue
			}
			if title != "" {
				fmt.Fprintln(w, title)
				title = ""
			}
			printPlanInstance(w, n, &x)
		}
	}
	fmt.Fprintln(w, "\nNODE\tZONE\tWAVE\tMODE\tINSTANCES\tBLOCK\tMAY FAIL\tNOT KNOWN\tMOVE\tGO DOWN\tSTAY\tTAKES\tONE MORE HOST LOST")
	for i := range p.Nodes {
		n := &p.Nodes[i]
		c := n.Counts
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", oneLine(n.Label), orDash(oneLine(n.Zone)), n.Wave,
			oneLine(string(n.Mode)), c.Instances, c.Blocks, c.MayFail,
			c.Unknown, c.Moves, c.GoesDown, c.Stays, evacuation.SpanText(n.Time), n.SpareText())
	}
	for i := range p.Nodes {
		for _, note := range p.Nodes[i].Notes {
			fmt.Fprintf(w, "\n%s: %s\n", oneLine(p.Nodes[i].Label), oneLine(note))
		}
	}
	if len(p.Closed) > 0 {
		fmt.Fprintln(w, "\nTAKES NO INSTANCES\tWHY")
		for _, h := range p.Closed {
			fmt.Fprintf(w, "%s\t%s\n", oneLine(h.Host), oneLine(h.Why))
		}
	}
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "\nDone already: %s\n", oneLine(strings.Join(p.LeftOut, ", ")))
	}
	fmt.Fprintln(w)
	for _, note := range p.Otherwise {
		fmt.Fprintf(w, "%s\n", note)
	}
	return w.Flush()
}

// printPlanInstance prints an instance, each further reason on a line of its own.
func printPlanInstance(w io.Writer, n *evacuation.NodeForecast, x *evacuation.InstanceForecast) {
	why := ""
	if len(x.Reasons) > 0 {
		why = x.Reasons[0].Text
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(n.Label), oneLine(x.Name), oneLine(x.Project), x.Fate, orDash(oneLine(x.Target)),
		oneLine(why))
	for i, r := range x.Reasons {
		if i > 0 {
			fmt.Fprintf(w, "\t\t\t\t\t%s\n", oneLine(r.Text))
		}
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
