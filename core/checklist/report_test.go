package checklist_test

import (
	"testing"

	"lockstep/core/checklist"
)

// Other documents of Lockstep have the same format: none of them is taken for a report, whose comparison would find nothing.
func TestWhatIsNoReportIsNotRead(t *testing.T) {
	for name, raw := range map[string]string{
		"a status":         `{"format":1,"cluster":"mos","asOf":"2026-03-14T12:00:00Z","nodes":[]}`,
		"nothing in it":    `{"format":1,"cluster":"mos"}`,
		"another's points": `{"format":1,"asOf":"2026-03-14T12:00:00Z","points":[{"id":"nodes","verdict":"fine"}]}`,
	} {
		if r, err := checklist.Read([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := checklist.Read([]byte(`{"format":1,"asOf":"2026-03-14T12:00:00Z","points":[{"id":"nodes","verdict":"pass"}]}`)); err != nil {
		t.Error(err)
	}
}
