package record

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

//go:embed report.html
var page string

// HTML writes the report as one page without anything from elsewhere: it can be mailed, and read without a network. Times are in the zone.
func HTML(w io.Writer, a *Account, zone *time.Location) error {
	at := func(layout string) func(Time) string {
		return func(t Time) string {
			if t.IsZero() {
				return "–"
			}
			return t.In(zone).Format(layout)
		}
	}
	name, _ := a.Last.In(zone).Zone()
	tmpl, err := template.New("report").Funcs(template.FuncMap{
		"at": at("2006-01-02 15:04:05"), "clock": at("01-02 15:04:05"), "span": span,
		"lines": func(p []Place) string { return lines(p...) },
		"line":  func(p Place) string { return p.String() }, "or": wording.TextOf, "some": wording.Some,
		"inc": func(i int) int { return i + 1 }, "zone": func() string { return name },
		"summary": func() []string { return a.Summary(zone) }, "graph": func() graph { return graphOf(a, zone) },
		"live": func(m Move) bool { return m.Live() }, "done": func(s string) bool { return s == string(core.OperationDone) },
		"during":   func(n Node, m Maintenance) string { return n.During(m) },
		"todo":     func() bool { return len(a.Open())+len(a.Left) > 0 },
		"deviated": func() bool { return len(a.Deviations)+len(a.Refused) > 0 },
		"noted":    func(n Note) string { return at("01-02 15:04")(Time{n.At}) },
		"open":     func(e Entry) bool { return e.Settled.IsZero() }, "files": func(n int) string { return wording.Count(n, "line") },
		"skipped":      skippedText,
		"endText":      func(m Maintenance) string { return m.endText() },
		"planRows":     func() table { return tableOf(a.planRows(at("01-02 15:04:05"))) },
		"forecastRows": func() table { return tableOf(a.forecastRows(at("01-02 15:04:05"))) },
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("read the report's form: %w", err)
	}
	var out strings.Builder
	if err := tmpl.Execute(&out, a); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = io.WriteString(w, core.Redact(out.String()))
	return err
}

// table is rows under a head.
type table struct {
	Head []string
	Rows [][]string
}

func tableOf(head []string, rows [][]string) table { return table{head, rows} }

// graph is the timeline of the report, in the units of its drawing.
type graph struct {
	Width, Height, Axis int
	Rows                []graphRow
	Ticks               []graphTick
	Marks               []graphMark
	Planned             bool // there are bars of the plan
	Reconstructed       bool // there are bars that were reconstructed
}

type graphRow struct {
	Label string
	Y     int
	Bars  []graphBar

	Planned []graphBar // as it was planned, one part after the other; drawn thinly
}

type graphBar struct {
	X, Width float64
	Class    string // of the stage: go, wait, fail, away, done
	Title    string
}

type graphTick struct {
	X     float64
	Label string
}

// graphMark is something that happened: a step of an operator, a migration.
type graphMark struct {
	X     float64
	Y     int
	Class string
	Title string
}

// The timeline's measures.
const (
	graphWidth = 1000
	graphLabel = 190
	graphRowOf = 16
	graphTop   = 24
	graphRight = 12
	mostNodes  = 600 // rows of nodes; of more the rest is left out, and the page says so in the table of nodes
)

// stageClasses are the looks of stages; those that are not here go on.
var stageClasses = map[string]string{
	string(core.StageIdle): "", string(core.StageDone): "", string(core.StageWaiting): "wait", string(core.StageFailed): "fail",
	string(core.StageRebooting): "away", string(core.StageDraining): "lcm", string(core.StageUpdating): "lcm",
}

func graphOf(a *Account, zone *time.Location) graph {
	from, to := a.Began.Time, a.Ended.Time
	if to.IsZero() {
		to = a.Last.Time
	}
	if from.IsZero() || !to.After(from) {
		return graph{}
	}
	x := func(t time.Time) float64 {
		part := float64(t.Sub(from)) / float64(to.Sub(from))
		return graphLabel + min(max(part, 0), 1)*(graphWidth-graphLabel-graphRight)
	}
	g := graph{Width: graphWidth}
	row := func(label string) *graphRow {
		g.Rows = append(g.Rows, graphRow{Label: wording.OneLine(label, 28), Y: graphTop + len(g.Rows)*graphRowOf})
		return &g.Rows[len(g.Rows)-1]
	}
	bar := func(r *graphRow, began, ended Time, class, title string) {
		end := ended.Time
		if end.IsZero() {
			end = to
		}
		if began.IsZero() || end.Before(from) || began.After(to) {
			return
		}
		left := x(began.Time)
		r.Bars = append(r.Bars, graphBar{left, max(x(end)-left, 0.8), class, title + ", " + Span(end.Sub(began.Time).Seconds())})
	}
	planned := a.plannedTimes()
	thin := func(r *graphRow, id string) {
		p, ok := planned[id]
		if left := x(p.from); ok && p.from.Before(to) && p.to.After(from) {
			r.Planned = append(r.Planned, graphBar{left, max(x(p.to)-left, 0.8), "planned", "planned: " + Span(p.to.Sub(p.from).Seconds())})
			g.Planned = true
		}
	}
	for _, p := range a.Phases {
		r := row(fmt.Sprint(p.Number, " ", p.Title))
		bar(r, p.Began, p.Ended, "phase", p.Title)
		thin(r, fmt.Sprint("phase ", p.Number))
	}
	if a.Plan != nil && a.Plan.By == PlanByPlan {
		for _, p := range a.Plan.Parts {
			r := row(p.Title)
			bar(r, p.Began, p.Ended, "phase", p.Title)
			thin(r, p.ID)
		}
	}
	if len(a.Standstills) > 0 {
		r := row("stood still")
		for _, s := range a.Standstills {
			bar(r, s.Began, s.Ended, "wait", s.Cause+wording.Prefixed(": ", s.Why))
		}
	}
	if len(a.Actions) > 0 {
		r := row("operators")
		for _, act := range a.Actions {
			class := "did"
			if act.State == string(core.OperationFailed) || act.State == string(core.OperationUnknown) {
				class = "bad"
			}
			if !act.Confirmed.IsZero() && !act.Confirmed.Before(from) && !act.Confirmed.After(to) {
				g.Marks = append(g.Marks, graphMark{x(act.Confirmed.Time), r.Y, class, act.Title + ": " + act.State})
			}
		}
	}
	rows := 0
	for _, n := range a.Nodes {
		if len(n.Maintenance) == 0 || rows == mostNodes {
			continue
		}
		rows++
		r := row(n.Label)
		for _, s := range n.Stages {
			class, known := stageClasses[s.Stage]
			if !known {
				class = "go"
			}
			if class != "" {
				title := n.Label + " " + s.Stage + wording.Prefixed(": ", wording.OneLine(s.Why, 200))
				if s.Reconstructed != "" {
					class, title, g.Reconstructed = class+" made", title+", reconstructed by "+s.Reconstructed, true
				}
				bar(r, s.Began, s.Ended, class, title)
			}
		}
	}
	g.Axis = graphTop + len(g.Rows)*graphRowOf
	g.Height = g.Axis + 22
	g.ticks(from.In(zone), to.In(zone), x)
	return g
}

// ticks puts round times on the axis.
func (g *graph) ticks(from, to time.Time, x func(time.Time) float64) {
	step := 24 * time.Hour
	for _, s := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		4 * time.Hour, 6 * time.Hour, 12 * time.Hour} {
		if to.Sub(from) <= 10*s {
			step = s
			break
		}
	}
	if days := to.Sub(from) / (10 * step); days > 0 {
		step *= days + 1
	}
	midnight := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, from.Location())
	for t := midnight; !t.After(to); t = t.Add(step) {
		if t.Before(from) {
			continue
		}
		label := t.Format("15:04")
		if t.Hour() == 0 && t.Minute() == 0 || len(g.Ticks) == 0 {
			label = t.Format("01-02 15:04")
		}
		g.Ticks = append(g.Ticks, graphTick{x(t), label})
	}
}
