package record

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// A journal of a whole update is kept as it was written, with a kill in the middle: every later version tells the same out of it.
func TestAKeptJournalIsTold(t *testing.T) {
	r, skipped, err := Read([]string{filepath.Join("..", "engine", "testdata", "journal-v2-whole.jsonl")})
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	a, err := r.Account("21.0.0+25.2")
	if err != nil {
		t.Fatal(err)
	}
	if a.Lines != 136 || len(a.Runs) != 2 || a.Runs[0].By != "Anna (root@vm)" || a.Runs[0].As == "" || !a.EndSeen || len(a.Phases) != 5 {
		t.Errorf("%d lines, runs %+v, end seen %v, %d phases", a.Lines, a.Runs, a.EndSeen, len(a.Phases))
	}
	if len(a.Actions) != 4 || a.Actions[0].Kind != string(core.IntentCommence) || !a.Actions[0].Verified || len(a.Actions[0].Lines) != 5 {
		t.Errorf("what was done: %+v", a.Actions)
	}
	if len(a.Notes) != 1 || a.Notes[0].Text != "the owner is informed, and stops it himself until 03:00" || a.Counts().Live != 2 {
		t.Errorf("notes %+v, counts %+v", a.Notes, a.Counts())
	}
	if a.Plan == nil || a.Plan.By != PlanByPlan || a.Plan.Name != "mos-21.0.0" || len(a.Plan.Parts) != 4 {
		t.Fatalf("the plan: %+v", a.Plan)
	}
	for i, want := range []struct {
		id            string
		planned, took float64
		made          bool
	}{{"openstack", 5400, 2220, false}, {"k8s-controllers", 6000, 248, false}, {"k8s-workers-mos-default", 28800, 733, true},
		{"mcc-components", 5400, 60, false}} {
		p := a.Plan.Parts[i]
		if p.ID != want.id || p.Planned != want.planned || p.Took-want.took > 1 || want.took-p.Took > 1 || p.Reconstructed != want.made ||
			len(p.Forecasts) == 0 || *p.Forecasts[0].Later >= 0 {
			t.Errorf("step %d: %+v, want %+v", i, p, want)
		}
	}
	made := map[string]string{}
	for _, n := range a.Nodes {
		for _, s := range n.Stages {
			if s.Reconstructed != "" {
				made[n.Label+" "+s.Stage] = s.Reconstructed
			}
		}
		if len(n.Maintenance) != 1 || n.Maintenance[0].Reconstructed != (n.Label == "cmp-02") {
			t.Errorf("%s: %+v", n.Label, n.Maintenance)
		}
	}
	if len(made) != 3 || !strings.HasPrefix(made["cmp-02 done"], "LCMMachineUpgradeDrainStatus") {
		t.Errorf("reconstructed: %v", made)
	}
	for form, print := range map[string]func(*bytes.Buffer) error{
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, a, time.UTC) },
		"html":     func(b *bytes.Buffer) error { return HTML(b, a, time.UTC) },
		"json":     func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(a) },
	} {
		var out bytes.Buffer
		if err := print(&out); err != nil || !strings.Contains(out.String(), "reconstructed") ||
			!strings.Contains(out.String(), "mos-default") {
			t.Errorf("%s: %v\n%s", form, err, out.String())
		}
	}
}

// Without a plan the phases stand for its steps. The plan is known by a later line: then its steps count, and how it changed is told.
func TestThePhasesStandForAPlan(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 3, 1, 10, minute, 0, 0, time.UTC) }
	phases := &engine.PlanRecord{Update: "u", Parts: []engine.PlannedPart{
		{ID: "phase 2", Title: "OpenStack and Ceph", Phase: 2, Documents: 1200},
		{ID: "phase 4", Title: "worker nodes", Phase: 4, Documents: 600, Nodes: 3},
	}}
	steps := func(ceph string, ids ...string) *engine.PlanRecord {
		p := &engine.PlanRecord{Update: "u", UID: "p", Name: "mos-21"}
		for _, id := range ids {
			part := engine.PlannedPart{ID: id, Title: "step " + id, Estimate: "10m"}
			if id == "ceph" {
				part.Estimate = ceph
			}
			part.Beside = id == "beside"
			p.Parts = append(p.Parts, part)
		}
		return p
	}
	r := &Reader{}
	line := 0
	add := func(minute int, rec engine.Record) {
		line++
		rec.At = at(minute)
		r.Add(engine.JournalLine{Record: rec, File: "f", Line: line, Seq: int64(line)})
	}
	add(0, engine.Record{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21", Started: at(0)}})
	add(0, engine.Record{Kind: engine.RecordPlan, Plan: phases})
	add(0, engine.Record{Kind: engine.RecordForecast, Forecast: &engine.ForecastRecord{Update: "u", Moment: engine.ForecastFirst,
		Whole: engine.ForecastEnd{End: at(40), Spread: 300},
		Parts: []engine.ForecastPart{{ID: "phase 2", ForecastEnd: engine.ForecastEnd{End: at(20)}}}}})
	add(25, engine.Record{Kind: engine.RecordPhase, Number: 2, Phase: &core.PhaseRecord{Started: core.Since{At: at(0), Exact: true},
		Ended: core.Since{At: at(25), Exact: true}}})
	account := func() *Account {
		a, err := r.Account("")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := account()
	p := a.Plan
	if p == nil || p.By != PlanByDocuments || len(p.Parts) != 2 || p.Parts[0].Took != 1500 || *p.Parts[0].Longer != 300 ||
		*p.Parts[0].Forecasts[0].Later != 300 || p.Whole.Planned != 1800 || p.Whole.Longer != nil || p.Parts[1].Longer != nil {
		t.Fatalf("by the documents: %+v", p)
	}
	add(44, engine.Record{Kind: engine.RecordUpdate,
		Update: &core.UpdateRecord{UID: "u", Release: "21", Started: at(0), Ended: at(44), EndSeen: true}})
	if w := account().Plan.Whole; w.Took != 2640 || *w.Longer != 840 || *w.Forecasts[0].Later != 240 || !w.Forecasts[0].Within() {
		t.Errorf("the whole: %+v", w)
	}
	add(45, engine.Record{Kind: engine.RecordPlan, Plan: steps("20m", "openstack", "ceph", "beside")})
	add(46, engine.Record{Kind: engine.RecordPlan, Plan: steps("30m", "ceph", "openstack", "late")})
	a = account()
	var ids, changes []string
	for _, p := range a.Plan.Parts {
		ids = append(ids, p.ID)
	}
	for _, c := range a.Plan.Changes {
		changes = append(changes, c.What)
	}
	if got := strings.Join(ids, " "); got != "ceph openstack late beside" || a.Plan.Whole.Planned != 1800 || a.Plan.By != PlanByPlan {
		t.Errorf("the steps are %s, the whole %+v", got, a.Plan.Whole)
	}
	want := "step beside is gone; step ceph: estimated 30m, before 20m; step late is new, 10m; the order is ceph, openstack"
	if got := strings.Join(changes, "; "); got != want {
		t.Errorf("the changes: %s", got)
	}
}
