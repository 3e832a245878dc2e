package record

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

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
