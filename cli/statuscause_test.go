package cli

import (
	"strings"
	"testing"
)

// An entry that only follows from another one says so, in the table and in the document.
func TestStatusNamesCauses(t *testing.T) {
	var out strings.Builder
	if err := (statusTable{}).print(&out, Status{NeedsYou: []StatusAttention{
		{ID: "controller-away", Severity: "urgent", Subject: "rockoon", Reason: "scaled to 0"},
		{ID: "node-slow/u", Severity: "warning", Subject: "cmp-01", Reason: "does not get back into service", Cause: "controller-away"},
	}}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "does not get back into service (because of rockoon)\n") ||
		!strings.Contains(text, "scaled to 0\n") {
		t.Error(text)
	}
}
