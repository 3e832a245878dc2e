package record

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// reboots adds a graceful reboot of a node by an operator, from one minute to another, with an instance that moved.
func reboots(r *Reader, node, cluster string, from, to int) {
	add := func(minute int, rec engine.Record) {
		rec.At = at(minute).Time
		r.Add(engine.JournalLine{Record: rec})
	}
	op := "op-" + node
	add(from, engine.Record{Kind: engine.RecordGrant, Operation: op, By: "anna", Title: "reboot " + node + " gracefully", Node: node,
		Intent: &core.Intent{Kind: core.IntentReboot, Nodes: []string{node}}})
	add(from, engine.Record{Kind: engine.RecordVerified, Operation: op, State: string(core.OperationDone),
		Title:  "reboot " + node + " gracefully",
		Intent: &core.Intent{Kind: core.IntentReboot, Nodes: []string{node}}})
	round := core.Round{Request: "r-" + node, Update: cluster, Started: at(from + 1).Time, Instances: 1}
	begun := round
	add(from+1, engine.Record{Kind: engine.RecordRound, Node: node, Label: node, Round: &begun})
	add(from+1, engine.Record{Kind: engine.RecordStage, Node: node, Label: node, To: string(core.StageEvacuating), Exact: true})
	add(from+3, engine.Record{Kind: engine.RecordMove, Node: node, Move: &engine.MoveRecord{Migration: from, Instance: "i-" + node,
		Name: "web-" + node,
		Type: core.MigrationLive, Status: "completed", From: node, To: "cmp-9", Began: at(from + 1).Time, Ended: at(from + 3).Time}})
	add(from+3, engine.Record{Kind: engine.RecordStage, Node: node, Label: node, To: string(core.StageRebooting), Exact: true})
	round.Ended = at(to).Time
	add(to, engine.Record{Kind: engine.RecordRound, Node: node, Label: node, Round: &round})
	add(to, engine.Record{Kind: engine.RecordStage, Node: node, Label: node, To: string(core.StageIdle), Exact: true})
}

// updates adds the beginning and the end of an update in which a node went through its maintenance.
func updates(r *Reader, uid, release, node string, from, to int) {
	u := core.UpdateRecord{UID: uid, Release: release, Started: at(from).Time}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordUpdate, At: at(from).Time, Update: new(u)}})
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordRound, At: at(to - 1).Time, Node: node, Label: node,
		Round: &core.Round{Request: uid + node, Update: uid, Started: at(from + 1).Time, Ended: at(to - 1).Time}}})
	u.Ended, u.EndSeen = at(to).Time, true
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordUpdate, At: at(to).Time, Update: new(u)}})
}

func printed(t *testing.T, a *Account) map[string]string {
	t.Helper()
	var md, html strings.Builder
	if err := Markdown(&md, a, time.UTC); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&html, a, time.UTC); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"md": md.String(), "html": html.String()}
}

// Where nodes were only rebooted, the report tells of the reboots: who asked for them, the nodes' stages, and their instances.
func TestTheReportOfReboots(t *testing.T) {
	r := &Reader{}
	reboots(r, "cmp-1", "cmr", 1, 11)
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	if !a.Outside || a.Title() != ": graceful reboots, no update" || !a.EndSeen || !a.Began.Equal(at(1).Time) || !a.Ended.Equal(at(11).Time) {
		t.Errorf("outside %v, %q, from %v to %v (seen: %v)", a.Outside, a.Title(), a.Began, a.Ended, a.EndSeen)
	}
	for name, text := range printed(t, a) {
		for _, want := range []string{"began 2026-11-22 02:01, ended 2026-11-22 02:11, and took 10 m", "1 node went through maintenance",
			"evacuating 2 m, rebooting 7 m", "web-cmp-1", "reboot cmp-1 gracefully"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it has no %q:\n%s", name, want, text)
			}
		}
		for _, no := range []string{"Phases</h2>", "## Phases", "stood still"} {
			if strings.Contains(text, no) {
				t.Errorf("%s: it has %q, though no update ran", name, no)
			}
		}
	}
}

// A reboot that goes on has not ended. One that began is told though its step is unknown: somebody else asked for it.
func TestTheReportOfRebootsThatGoOn(t *testing.T) {
	r := &Reader{}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordRound, At: at(5).Time, Node: "cmp-1", Label: "cmp-1",
		Round: &core.Round{Request: "r", Started: at(4).Time}}})
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	if !a.Running() || a.Title() != ": maintenance outside an update" || !a.Began.Equal(at(4).Time) {
		t.Errorf("%q, from %v to %v", a.Title(), a.Began, a.Ended)
	}
}

// What was rebooted before an update and after it is no part of the update's report; it is asked for by itself.
func TestRebootsAreNoPartOfAnUpdate(t *testing.T) {
	r := &Reader{}
	reboots(r, "cmp-1", "cmr-before", 1, 8)
	updates(r, "u", "21.0.1", "cmp-2", 10, 20)
	reboots(r, "cmp-3", "", 30, 40)
	nodes := func(a *Account) (out []string) {
		for _, n := range a.Nodes {
			if len(n.Maintenance) > 0 {
				out = append(out, n.Name)
			}
		}
		return out
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes(a); a.Outside || !slices.Equal(got, []string{"cmp-2"}) {
		t.Errorf("the update: %v went through maintenance (outside: %v)", got, a.Outside)
	}
	if text := strings.Join(a.Summary(time.UTC), " "); !strings.Contains(text, "2 nodes went through maintenance outside it") {
		t.Errorf("the update does not say that there is more: %s", text)
	}
	if c := a.Counts(); c.Moved != 0 {
		t.Errorf("the update counts what moved outside it: %+v", c)
	}
	out, err := r.AccountOutside()
	if err != nil {
		t.Fatal(err)
	}
	if c := out.Counts(); c.Moved != 1 {
		t.Errorf("outside, %+v", c)
	}
	if got := nodes(out); !out.Outside || !slices.Equal(got, []string{"cmp-3"}) || len(out.Actions) != 1 || !out.Began.Equal(at(30).Time) {
		t.Errorf("outside: %v, %d steps, from %v", got, len(out.Actions), out.Began)
	}
}

func TestThereIsNothingToReport(t *testing.T) {
	r := &Reader{}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordStart, At: at(1).Time}})
	for _, f := range []func() (*Account, error){func() (*Account, error) { return r.Account("") }, r.AccountOutside} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), "the journal tells of no") {
			t.Errorf("%v", err)
		}
	}
	updates(r, "u", "21.0.1", "cmp-2", 10, 20)
	if _, err := r.AccountOutside(); err == nil || !strings.Contains(err.Error(), "no maintenance since the update to 21.0.1") {
		t.Errorf("%v", err)
	}
}
