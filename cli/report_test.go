package cli

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/handover"
	"lockstep/core/record"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// toReport is a whole update of a small cluster. One compute waits for the operator, and one instance does not converge.
const toReport = `
name: to-report
title: A whole update
teaches: Nothing
seed: 77
cluster: mos
release: {from: 17.4.0+25.1, to: 21.0.0+25.2}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: 1.0.7, to: 1.1.5}
history: {startAt: masters, begun: 90m, released: 10m}
nodes:
  - {machine: ctl-01, roles: [master, controller]}
  - {machine: cmp-01, roles: [compute]}
  - {machine: cmp-02, roles: [compute], annotations: {openstack.lcm.mirantis.com/instance_migration_mode: manual}}
  - {machine: cmp-03, roles: [compute]}
flavors: [{name: m1.small, vcpus: 2, memoryGiB: 4, diskGiB: 20}]
projects: [shop, "<b>lab</b>"]
instances:
  - {name: web-1, project: shop, flavor: m1.small, host: cmp-01}
  - {name: web-2, project: shop, flavor: m1.small, host: cmp-02}
  - {name: lab|1, project: "<b>lab</b>", flavor: m1.small, host: cmp-02}
  - {name: web-3, project: shop, flavor: m1.small, host: cmp-03}
`

// maintained is what the cloud's own server has of a request for a node.
type maintained struct{ began, ended time.Time }

// A whole update, with a kill of Lockstep and an outage in the middle: the report says the same as the simulated cloud's own record, and
// each of its numbers names the lines that it is from.
func TestTheReportSaysWhatTheCloudRecorded(t *testing.T) {
	bubble.Story(t, reportsTheUpdate)
}

func reportsTheUpdate(t *testing.T) {
	what, err := scenario.Parse([]byte(toReport))
	if err != nil {
		t.Fatal(err)
	}
	st := newStory(t, sim.Options{Scenario: what, Timing: brief, Paused: true, Speed: quickly})
	var mu sync.Mutex
	requests := map[string]*maintained{}
	st.Kube.Follow(func(c kubeapi.Change) {
		mu.Lock()
		defer mu.Unlock()
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		switch c.Kind {
		case watch.Added:
			requests[node] = &maintained{began: c.Now.GetCreationTimestamp().Time}
		case watch.Deleted:
			requests[node].ended = st.Clock.Now()
		}
	}, "nodemaintenancerequests")
	st.begin()
	st.until("everything is live", sessiontest.AllKnown)
	st.Clock.Resume()
	st.arm()
	name := map[string]string{}
	for _, n := range st.last.Nodes {
		name[n.Label()] = n.Name
	}
	waits := func(s *core.Snapshot) bool {
		r := s.NodeRequest(name["cmp-02"])
		return r != nil && len(s.InstancesOn(name["cmp-02"])) > 0
	}
	st.until("cmp-01 is worked on", func(s *core.Snapshot) bool { return s.NodeRequest(name["cmp-01"]) != nil })
	if err := st.Faults.On(fault.Setting{Server: fault.Kubernetes, Kind: "refused"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	st.Faults.Clear()
	st.until("cmp-02 waits for the operator", waits)
	time.Sleep(10 * time.Second)
	st.s.Journal.Close() // as a kill does: nothing is written any more
	st.stop()
	st.begin()
	st.until("everything is live again", sessiontest.AllKnown)
	var from string
	st.until("the lease is looked up", func(s *core.Snapshot) bool {
		from = s.Write.Lease
		return s.Write.Looked
	})
	if err := st.s.Engine.Arm(t.Context(), from); err != nil { // a killed run gives nothing back
		t.Fatal(err)
	}
	st.until("cmp-02 waits still", waits)
	handsTheShiftOver(t, st, name)
	web := ""
	for _, in := range st.last.InstancesOn(name["cmp-02"]) {
		if in.Name == "web-2" {
			web = in.ID
		}
	}
	st.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: web})
	time.Sleep(5 * time.Minute / quickly) // the other instance holds it
	st.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: name["cmp-02"]})
	st.until("the update is over", func(s *core.Snapshot) bool { return s.History.Update.UID != "" && !s.History.Update.Ended.IsZero() })
	time.Sleep(time.Minute)
	st.until("it is at rest", sessiontest.AllKnown)
	st.stop()

	r, skipped, err := record.Read([]string{st.s.Journal.Path()})
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	if a.To != what.Release.To || a.Running() || !a.EndSeen || len(a.Runs) != 2 {
		t.Errorf("the update: %s, running %v, end seen %v, %d runs", a.To, a.Running(), a.EndSeen, len(a.Runs))
	}
	mu.Lock()
	defer mu.Unlock()
	told := map[string]record.Maintenance{}
	for _, n := range a.Nodes {
		for _, m := range n.Maintenance {
			if _, twice := told[n.Name]; twice {
				t.Errorf("%s: told twice: %+v", n.Label, n.Maintenance)
			}
			told[n.Name] = m
		}
	}
	if got, want := slices.Sorted(maps.Keys(told)), slices.Sorted(maps.Keys(requests)); !slices.Equal(got, want) {
		t.Errorf("it tells of %q, the cloud of %q", got, want)
	}
	const lag = 5 * time.Second // from the server to the journal
	for node, q := range requests {
		if m := told[node]; !m.Began.Equal(q.began) || m.Ended.Sub(q.ended) < 0 || m.Ended.Sub(q.ended) > lag || !m.EndSeen {
			t.Errorf("%s: told %+v, the cloud has %+v", node, m, *q)
		}
	}
	moves := map[string]int{}
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			for _, m := range in.Moves {
				moves[in.Name+" "+m.Type+" "+m.From+" "+m.To+" "+m.Status]++
			}
		}
	}
	nova := map[string]int{}
	for id, all := range st.last.Migrations {
		for _, m := range all {
			if !m.Running() {
				from, to := st.last.NodeOfHost(m.SourceHost), st.last.NodeOfHost(m.DestHost)
				nova[st.last.Instances.At(id).Name+" "+m.Type+" "+from.Label()+" "+to.Label()+" "+m.Status]++
			}
		}
	}
	if !maps.Equal(moves, nova) {
		t.Errorf("it tells of the migrations %v, Nova of %v", moves, nova)
	}
	var did []string
	for _, act := range a.Actions {
		if act.State != string(core.OperationDone) || !act.Verified || act.Took <= 0 || len(act.Commands) == 0 || act.As == "" {
			t.Errorf("an action is not whole: %+v", act)
		}
		did = append(did, act.Kind)
	}
	if want := []string{"set-mode", "set-mode", "live-migrate", "live-migrate-all"}; !slices.Equal(did, want) {
		t.Errorf("it tells that %q was done, want %q", did, want)
	}
	stood := slices.ContainsFunc(a.Standstills, func(s record.Standstill) bool {
		return s.Cause == "operator" && s.Took > (5*time.Minute).Seconds()
	})
	seen := slices.ContainsFunc(a.Entries, func(e record.Entry) bool {
		return e.Node == name["cmp-02"] && e.Rule == string(core.RuleNodeWaits) && len(e.SeenTo) > 0 && !e.Settled.IsZero()
	})
	if !stood || !seen {
		t.Errorf("that the operator was waited for: stood still %v, %+v; needed somebody %v, %+v", stood, a.Standstills, seen, a.Entries)
	}
	for _, p := range a.Phases {
		for _, n := range a.Nodes {
			if end := n.Maintenance[0].Ended; p.Number == int(core.PhaseWorkers) && p.Ended.Before(end.Time) {
				t.Errorf("the workers' phase ended at %s, and %s at %s", p.Ended, n.Label, end)
			}
		}
	}
	tracesToLines(t, a, st.s.Journal.Path())
	holdsThePhases(t, a)
	reads(t, a)
}

// holdsThePhases checks what is held against what came where no plan drives the update: the documents' phases.
func holdsThePhases(t *testing.T, a *record.Account) {
	t.Helper()
	if a.Plan == nil || a.Plan.By != record.PlanByDocuments || len(a.Plan.Parts) != 4 || len(a.Plan.Changes) > 0 {
		t.Fatalf("the plan is %+v", a.Plan)
	}
	sum := 0.0
	for i, p := range a.Plan.Parts {
		is := a.Phases[i+1]
		if sum += p.Planned; p.Phase != is.Number || p.Took != is.Took || p.Planned <= 0 || p.PlannedBy != record.PlanByDocuments {
			t.Errorf("phase %d is told as %+v, it was %+v", is.Number, p, is)
		}
	}
	if w := a.Plan.Whole; w.Took != a.Took || w.Planned != sum || len(w.Forecasts) < 2 || w.Forecasts[0].Moment != engine.ForecastFirst {
		t.Errorf("the whole is told as %+v; planned %v, it took %v", w, sum, a.Took)
	}
}

// handsTheShiftOver checks the note that is written while cmp-02 waits for the operator.
func handsTheShiftOver(t *testing.T, st *story, name map[string]string) {
	t.Helper()
	<-time.After(time.Minute)
	set := core.Intent{Kind: core.IntentSetMode, Nodes: []string{name["cmp-03"]}, Mode: core.ModeSkip}
	st.confirm(set)
	s := st.until("the mode is set", func(s *core.Snapshot) bool { return len(s.History.Changes) > 0 })
	account, _, err := accountFor([]string{st.s.JournalPath, filepath.Join(t.TempDir(), "none.jsonl")}, s)
	if err != nil || account == nil {
		t.Fatalf("%+v, %v", account, err)
	}
	garbage := filepath.Join(t.TempDir(), "garbage.jsonl")
	if err := os.WriteFile(garbage, []byte("garbage\nmore of it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, skipped, err := accountFor([]string{st.s.JournalPath, garbage}, s); err != nil || skipped != 2 {
		t.Errorf("%d lines are no records: %v", skipped, err)
	}
	h := handover.Of(s, account)
	text := strings.Join(h.Text(time.UTC, false), "\n")
	for _, want := range []string{"Phase 4, worker nodes: ", "Look first at: cmp-02: manual mode: 2 instances must leave first",
		"- cmp-02: manual mode", "suffers: time", "To set back\n- cmp-03: ", "skip → ", "cmp-02 is through; it goes on only with the operator",
		"cmp-03 begins", "Nothing that cannot be left alone runs."} {
		if !strings.Contains(text, want) {
			t.Errorf("the note does not say %q:\n%s", want, text)
		}
	}
	marked := strings.Join(h.Text(time.UTC, true), "\n")
	if strings.Contains(marked, "<b>") || !strings.Contains(marked, "\n## Open\n") {
		t.Errorf("as Markdown:\n%s", marked)
	}
	set.Mode = ""
	st.confirm(set)
}

// tracesToLines checks that each thing in the account names lines that are about it.
func tracesToLines(t *testing.T, a *record.Account, path string) {
	t.Helper()
	kinds := map[int]engine.RecordKind{}
	if _, err := engine.ReadJournalLines(path, func(l engine.JournalLine) { kinds[l.Line] = l.Kind }); err != nil {
		t.Fatal(err)
	}
	of := func(what string, places []record.Place, want ...engine.RecordKind) {
		t.Helper()
		if len(places) == 0 {
			t.Errorf("%s: it names no lines", what)
		}
		for _, p := range places {
			if !slices.Contains(want, kinds[p.Line]) || p.Seq == 0 {
				t.Errorf("%s: line %d is a %s, want %q", what, p.Line, kinds[p.Line], want)
			}
		}
	}
	for _, p := range a.Phases {
		of("phase "+p.Title, p.Lines, engine.RecordPhase)
	}
	for _, n := range a.Nodes {
		for _, m := range n.Maintenance {
			of(n.Name, m.Lines, engine.RecordRound)
		}
		for _, s := range n.Stages {
			of(n.Name+" "+s.Stage, []record.Place{s.Line}, engine.RecordStage)
		}
	}
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			for _, m := range in.Moves {
				of(in.Name, []record.Place{m.Line}, engine.RecordMove)
			}
		}
	}
	for _, x := range a.Actions {
		of(x.Title, x.Lines, engine.RecordGrant, engine.RecordBefore, engine.RecordAfter, engine.RecordVerified, engine.RecordEnded)
	}
	for _, e := range a.Entries {
		of(e.Reason, e.Lines, engine.RecordEntry)
	}
	for _, s := range a.Standstills {
		of(s.Cause, s.Lines, engine.RecordStandstill)
	}
	if a.Plan == nil {
		t.Error("it tells of no plan")
		return
	}
	for _, p := range slices.Concat(a.Plan.Parts, []record.PlanPart{a.Plan.Whole}) {
		of(p.Title, p.Lines, engine.RecordPlan, engine.RecordPlanStep, engine.RecordForecast, engine.RecordPhase)
		for _, f := range p.Forecasts {
			of(p.Title+", its forecast", []record.Place{f.Line}, engine.RecordForecast)
		}
	}
}

// reads checks the report's forms: names are no markup in them, and nothing comes from elsewhere.
func reads(t *testing.T, a *record.Account) {
	t.Helper()
	for form, print := range reportPrinters {
		var out bytes.Buffer
		if err := print(&out, a); err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		text := out.String()
		if form == "html" {
			if strings.Contains(text, "<b>") {
				t.Error("a project's name is markup")
			}
			text = html.UnescapeString(text)
		} else if form != formatJSON && strings.Contains(text, "<b>lab") {
			t.Errorf("%s: a project's name is markup", form)
		}
		for _, want := range []string{"web-2", "21.0.0+25.2", "cmp-02"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it does not tell of %s", form, want)
			}
		}
		switch form {
		case "html":
			for _, elsewhere := range []string{"http:", "https:", "<script", "<link", "@import", "url("} {
				if strings.Contains(text, elsewhere) {
					t.Errorf("the page has %q", elsewhere)
				}
			}
			if !strings.Contains(text, "<svg") {
				t.Error("the page has no timeline")
			}
		case formatJSON:
			var document map[string]any
			if err := json.Unmarshal(out.Bytes(), &document); err != nil || document["format"] != float64(record.Format) {
				t.Errorf("%v: format %v", err, document["format"])
			}
			if strings.Contains(text, ": null") && !strings.Contains(text, `"settled": null`) && !strings.Contains(text, `"since": null`) {
				t.Errorf("a list is null:\n%s", text)
			}
		}
	}
}
