package step

import "testing"

func TestVersionsThatAreOne(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"1.2.1", "1.2.1", true}, {"1.2.1", "1.2.10", false}, {"1.2", "1.2.1", false}, {"1.2.1", "v1.2.1", true},
		{"1.2.1", "1.2.1-amd64", true}, {"1.2.1.dev5", "1.2.1", false}, {"11.2.1", "1.2.1", false},
	} {
		if sameVersion(tt.a, tt.b) != tt.same || sameVersion(tt.b, tt.a) != tt.same {
			t.Errorf("%s and %s are one: %v, want %v", tt.a, tt.b, !tt.same, tt.same)
		}
	}
}
