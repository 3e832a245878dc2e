package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// title is what the tables call the column of a run.
func (r Run) title() string {
	if r.OpenStack {
		return r.Program + " + OpenStack"
	}
	return r.Program
}

// heading is what was measured, from which checkout, and when.
func (r Report) heading() string {
	return fmt.Sprintf("%s, measured from %s, %s", r.Version, r.Commit, r.Date.UTC().Format("2006-01-02 15:04 UTC"))
}

// printReport prints a table for each fleet, as Markdown.
func printReport(w io.Writer, r Report) error {
	fmt.Fprintf(w, "%s\n%s\n", r.heading(), r.Machine)
	if r.Quick {
		fmt.Fprintln(w, "A quick look: the programs had not settled, and the samples are few.")
	}
	for _, fleet := range fleetsOf(r.Runs) {
		f, err := fleetNamed(fleet)
		if err != nil {
			return err
		}
		heading := f.String()
		if took, filled := r.FillTook[fleet]; filled {
			heading += fmt.Sprintf("; filled in %.1f s", took)
		}
		fmt.Fprintf(w, "\n%s\n\n", heading)
		runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool { return run.Fleet != fleet })
		header := []string{fmt.Sprintf("%d changes a second", f.Rate)}
		for _, run := range runs {
			header = append(header, run.title())
		}
		var lines [][]string
		for i, m := range metrics {
			line := []string{m.label()}
			for _, run := range runs {
				cell := m.cell(run.Figures)
				if run.Missing != "" && i == 0 {
					cell = run.Missing
				}
				line = append(line, cell)
			}
			lines = append(lines, line)
		}
		if err := printTable(w, header, lines); err != nil {
			return err
		}
	}
	return nil
}

func fleetsOf(runs []Run) []string {
	var names []string
	for _, r := range runs {
		if !slices.Contains(names, r.Fleet) {
			names = append(names, r.Fleet)
		}
	}
	return names
}

// compareReports prints two reports side by side, with the ratio of the new to the old values.
func compareReports(w io.Writer, before, after Report) error {
	fmt.Fprintf(w, "old: %s\n     %s\n", before.heading(), before.Machine)
	fmt.Fprintf(w, "new: %s\n     %s\n", after.heading(), after.Machine)
	if before.Machine.CPU != after.Machine.CPU || before.Machine.Cores != after.Machine.Cores {
		fmt.Fprintln(w, "They were measured on different machines.")
	}
	if before.Quick || after.Quick {
		fmt.Fprintln(w, "At least one of them is a quick look.")
	}
	for _, run := range after.Runs {
		if run.Missing != "" {
			continue
		}
		i := slices.IndexFunc(before.Runs, func(old Run) bool {
			return old.Fleet == run.Fleet && old.Program == run.Program && old.OpenStack == run.OpenStack && old.Missing == ""
		})
		if i < 0 {
			fmt.Fprintf(w, "\n%s nodes, %s: only in the new figures\n", run.Fleet, run.title())
			continue
		}
		fmt.Fprintf(w, "\n%s nodes, %s\n\n", run.Fleet, run.title())
		var lines [][]string
		for _, m := range metrics {
			old := before.Runs[i].Figures
			lines = append(lines, []string{m.label(), m.cell(old), m.cell(run.Figures), m.ratioOf(old, run.Figures)})
		}
		if err := printTable(w, []string{"", "old", "new", "new / old"}, lines); err != nil {
			return err
		}
	}
	return nil
}

// label is the metric's title with its unit.
func (m metric) label() string {
	if m.unit == "" {
		return m.title
	}
	return m.title + ", " + m.unit
}

// cell is the metric's value; a dash where it was not measured.
func (m metric) cell(f Figures) string {
	value, measured := f[m.name]
	if !measured {
		return "–"
	}
	return strconv.FormatFloat(value, 'f', m.decimals, 64)
}

// ratioOf is the new value by the old one, where that says something.
func (m metric) ratioOf(before, after Figures) string {
	old, measured := before[m.name]
	value, again := after[m.name]
	if !m.ratio || !measured || !again || old == 0 {
		return ""
	}
	return strconv.FormatFloat(value/old, 'f', 2, 64)
}

// printTable prints a Markdown table whose columns line up.
func printTable(w io.Writer, header []string, lines [][]string) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---"
	}
	for _, line := range append([][]string{header, rule}, lines...) {
		fmt.Fprintf(aligned, "| %s\t|\n", strings.Join(line, "\t| "))
	}
	return aligned.Flush()
}
