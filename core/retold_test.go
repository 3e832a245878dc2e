package core

import (
	"fmt"
	"testing"
	"time"
)

// What a run found and what was then reconstructed is one thing, and what was seen another one, though it has the same value: each stands
// at its place in the history of what it is about. What was done is never told again, whatever it says.
func TestWhatIsToldAgain(t *testing.T) {
	type told struct {
		minute int
		value  string
		known  Known
	}
	begin := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		lines []told
		want  string // the minutes of those that tell again
	}{
		{"found after half a day", []told{{0, "updating", KnownSeen}, {20, "done", KnownByAPI}, {720, "done", KnownFound}}, "[720]"},
		{"seen, and the API has it a moment before", []told{{0, "idle", KnownSeen}, {20, "done", KnownByAPI}, {21, "done", KnownSeen}}, "[20]"},
		{"nothing has its time", []told{{0, "updating", KnownSeen}, {720, "done", KnownFound}}, "[]"},
		{"to and fro", []told{{0, "updating", KnownSeen}, {10, "rebooting", KnownByAPI}, {15, "updating", KnownByAPI}, {20, "done", KnownByAPI},
			{60, "done", KnownFound}}, "[60]"},
		{"another maintenance came after", []told{{20, "done", KnownByAPI}, {60, "done", KnownFound}, {70, "queued", KnownSeen},
			{90, "done", KnownSeen}}, "[60]"},
		{"another value", []told{{20, "released", KnownByAPI}, {60, "done", KnownFound}}, "[]"},
	} {
		var lines []Telling
		for _, l := range c.lines {
			at := begin.Add(time.Duration(l.minute) * time.Minute)
			lines = append(lines, Telling{About: "stage n", Value: l.value, At: at, Run: "a", Known: l.known},
				Telling{Value: "done", At: begin, Run: "a", Known: l.known})
		}
		again := []int{}
		for i, is := range Retold(lines)[0] {
			if is {
				again = append(again, int(lines[i].At.Sub(begin).Minutes()))
			}
		}
		if got := fmt.Sprint(again); got != c.want {
			t.Errorf("%s: told again are those of %s, want %s", c.name, got, c.want)
		}
	}
}
