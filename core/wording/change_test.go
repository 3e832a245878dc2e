package wording

import "testing"

// What is not known of a change is left out, and not told as a question mark.
func TestAChangeTellsOnlyWhatIsKnown(t *testing.T) {
	for _, tt := range []struct{ from, to, change, update string }{
		{"21.0", "21.1", "21.0 → 21.1", "update 21.0 → 21.1"},
		{"", "21.1", "21.1", "update to 21.1"},
		{"21.0", "", "no longer 21.0", "update from 21.0"},
		{"", "", "changed", "update"},
	} {
		if got := Change(tt.from, tt.to); got != tt.change {
			t.Errorf("from %q to %q it is %q, want %q", tt.from, tt.to, got, tt.change)
		}
		if got := Update(tt.from, tt.to); got != tt.update {
			t.Errorf("the update from %q to %q is %q, want %q", tt.from, tt.to, got, tt.update)
		}
	}
}
