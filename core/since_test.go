package core

import (
	"testing"
	"time"
)

// What is late counts from when something was so for certain. Of what began later than all that is known, that is when it was seen.
func TestSinceWhenItIsCertain(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct{ given, want Since }{
		"it was seen to begin": {Since{At: at, Exact: true}, Since{At: at, Exact: true}},
		"it began by then":     {Since{At: at}, Since{At: at}},
		"it began later":       {Since{At: at, Later: true, Seen: at.Add(time.Hour)}, Since{At: at.Add(time.Hour)}},
		"later, and unseen":    {NotBefore(at), Since{}},
		"nobody knows":         {NotBefore(time.Time{}), Since{}},
	} {
		if got := tt.given.Certain(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
