package handover

import (
	"strings"
	"testing"
	"time"

	"lockstep/core/record"
)

// The next shift reads by whom an entry is set aside and until when, which times rest on no pace that was seen, and the journal's seal.
func TestTheNoteSaysWhatItRestsOn(t *testing.T) {
	when := func(hour int) *time.Time { return new(time.Date(2026, 11, 22, hour, 0, 0, 0, time.UTC)) }
	h := Handover{Cluster: "mos", At: *when(2), Open: []Open{{Severity: "urgent", Label: "cmp-07", Reason: "erp-db fits nowhere",
		Aside: &Promise{Text: "its owner stops it", By: "anna", Until: when(7)}, Hint: "Make room."}},
		Next:  []Next{{What: "cmp-08 begins", At: when(3), Unlearned: true}},
		Seals: []record.Seal{{File: "/x/mos.jsonl", Seq: 184, Sum: strings.Repeat("7c12ab49ab2fc6c8", 4)}}}
	text := strings.Join(h.Text(time.UTC, false), "\n")
	for _, want := range []string{"- cmp-07: erp-db fits nowhere; set aside by anna until 07:00: its owner stops it. Make room.\n",
		"\nNext, by the times of plan and documents until a pace is known\n- about 03:00: cmp-08 begins\n",
		"\nJournal mos.jsonl, seal 184:7c12ab49ab2fc6c8 ("} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	if h.Next[0].Unlearned = false; strings.Contains(strings.Join(h.Text(time.UTC, false), "\n"), "plan and documents") {
		t.Error("a pace that was seen is told to be the documents'")
	}
}

// What is set aside comes last, and yet the next shift does not read that everything goes by itself while it waits for somebody. Journals
// of the same name are told apart.
func TestTheNoteDoesNotHideWhatIsSetAside(t *testing.T) {
	until := time.Date(2026, 11, 22, 7, 0, 0, 0, time.Local)
	h := Handover{Open: []Open{{Severity: "notice", Reason: "a little thing"},
		{Severity: "urgent", Label: "cmp-07", Reason: "erp-db fits nowhere", Aside: &Promise{Until: &until}}},
		Seals: []record.Seal{{File: "/a/mos.jsonl", Seq: 1}, {File: "/b/mos.jsonl", Seq: 2}}}
	if got, want := h.first(), "What was set aside until 07:00: cmp-07: erp-db fits nowhere."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := strings.Join(h.Text(time.UTC, false), "\n"); !strings.Contains(text, "Journal /b/mos.jsonl, seal 2:") {
		t.Errorf("its journals cannot be told apart:\n%s", text)
	}
	h.Open = h.Open[:1]
	if got := h.first(); !strings.HasPrefix(got, "Nothing: ") {
		t.Errorf("%q", got)
	}
}
