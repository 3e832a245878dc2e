package record

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// at is a moment of the tests' night.
func at(minute int) Time {
	return Time{time.Date(2026, 11, 22, 2, minute, 0, 0, time.UTC)}
}

// Who set an entry aside saw to it, too. Where nobody did anything with Lockstep, the report says so.
func TestTheReportSaysWhoSawToAnEntry(t *testing.T) {
	r := &Reader{}
	line := func(what engine.EntryEvent, id string, when Time) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordEntry, At: when.Time, Began: at(1).Time,
			Entry: &engine.EntryRecord{ID: id, What: what, Severity: "warning", Reason: "it waits"}}})
	}
	note := func(id, on string, when Time, aside bool) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordNote, At: when.Time,
			Note: &core.Note{ID: id, On: core.NoteOn{Entry: on}, Text: "the owner knows", By: "anna", At: when.Time, Aside: aside}}})
	}
	r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}}})
	for _, id := range []string{"aside", "settled", "open"} {
		line(engine.EntryCame, id, at(1))
	}
	note("1", "aside", at(2), true)
	note("2", "settled", at(9), false) // after its end: about another one
	line(engine.EntrySettled, "settled", at(5))
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range a.Entries {
		got[e.ID] = e.Saw()
	}
	if got["aside"] != "set aside: the owner knows (anna)" || got["settled"] != "nobody by Lockstep" || got["open"] != "nobody yet" {
		t.Errorf("%q", got)
	}
}

// A node's stages are told for each maintenance, a stage that came back once, with all its time; what rests is no stage of it.
func TestTheStagesOfAMaintenance(t *testing.T) {
	n := Node{Stages: []Stage{{Stage: "done", Began: at(0)}, {Stage: "queued", Began: at(1)}, {Stage: "evacuating", Began: at(4)},
		{Stage: "waiting for you", Began: at(10)}, {Stage: "evacuating", Began: at(20)}, {Stage: "done", Began: at(23)},
		{Stage: "queued", Began: at(40)}}}
	n.stageTimes()
	if got := n.During(Maintenance{Began: at(1), Ended: at(23)}); got != "queued 3 m, evacuating 9 m, waiting for you 10 m" {
		t.Errorf("%q", got)
	}
}

// What is open stands first by what is most severe. A report in which nothing is left, and nothing deviates, says both. No part that goes
// on is told to have an end that was reconstructed.
func TestTheReportSaysWhatIsLeftAndThatNothingIs(t *testing.T) {
	a := &Account{Cluster: "mos", To: "21.0.1", Began: at(0), Last: at(30), Seals: []Seal{{File: "/x/mos.jsonl", Seq: 184,
		Sum: strings.Repeat("7c12ab49ab2fc6c8", 4)}}, Plan: &Plan{Parts: []PlanPart{{ID: "1", Title: "one", Began: at(1), Reconstructed: true}}}}
	forms := func() map[string]string {
		var md, html strings.Builder
		if err := Markdown(&md, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&html, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"md": md.String(), "html": html.String()}
	}
	for name, text := range forms() {
		for _, want := range []string{"Left to do", "Nothing, as far as the journal tells.", "Deviations from the documents",
			"None, as far as the journal tells.", "184:7c12ab49ab2fc6c8", "mos.jsonl"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it has no %q", name, want)
			}
		}
		if strings.Contains(text, "–, reconstructed") {
			t.Errorf("%s: an end that is none was reconstructed", name)
		}
	}
	a.Entries = []Entry{{Severity: "notice", Reason: "a little thing", Came: at(1)},
		{Severity: "urgent", Reason: "a great thing", Came: at(2)}}
	for name, text := range forms() {
		little, great := strings.Index(text, "a little thing"), strings.Index(text, "a great thing")
		if great < 0 || great > little {
			t.Errorf("%s: what is urgent does not stand first", name)
		}
	}
}
