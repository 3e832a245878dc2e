package forecast

import (
	"testing"
	"time"
	_ "time/tzdata" // the nights the clocks change are tested on a machine without zones, too
)

func TestWindowsAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{"22:00-06:00": "22:00-06:00", " 9-17 ": "09:00-17:00", "0:30 – 5": "00:30-05:00", "22:00": "",
		"": "", "24:00-06:00": "", "22:60-06:00": "", "06:00-06:00": "", "22:00-06:00-07:00": "", "ten-six": ""} {
		w, err := ParseWindow(text)
		if w.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", text, w, err, want)
		}
	}
}

// A moment ahead is a time of day, or how far ahead it is, with or without a plus.
func TestMomentsAsTheyAreTyped(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 10, 0, 0, time.Local)
	for text, want := range map[string]time.Duration{"+45m": 45 * time.Minute, "30m": 30 * time.Minute, " +1h 30m ": 90 * time.Minute,
		"2h": 2 * time.Hour, "22:00": 50 * time.Minute, "21:00": 24*time.Hour - 10*time.Minute, "-5m": 0, "+0m": 0, "169h": 0, "soon": 0,
		"": 0, "45": 0} {
		at, err := ParseMoment(text, now)
		if got := at.Sub(now); (err == nil) != (want > 0) || err == nil && got != want {
			t.Errorf("%q is %v ahead, %v; want %v", text, got, err, want)
		}
	}
}

// Windows and times are by the operator's clock, also on the night on which it is changed.
func TestWindowsByTheOperatorsClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	was := time.Local
	time.Local = berlin
	t.Cleanup(func() { time.Local = was })
	w := window(t, "22:00-06:00")
	tests := []struct {
		name, at, from, to string
		takes              time.Duration
	}{
		{"in the evening before it", "2026-03-14T20:00:00Z", "2026-03-14T21:00:00Z", "2026-03-15T05:00:00Z", 8 * time.Hour},
		{"inside, before midnight", "2026-03-14T22:00:00Z", "2026-03-14T21:00:00Z", "2026-03-15T05:00:00Z", 8 * time.Hour},
		{"inside, after midnight", "2026-03-15T04:59:00Z", "2026-03-14T21:00:00Z", "2026-03-15T05:00:00Z", 8 * time.Hour},
		{"at its end", "2026-03-15T05:00:00Z", "2026-03-15T21:00:00Z", "2026-03-16T05:00:00Z", 8 * time.Hour},
		{"the clock goes forward", "2026-03-28T20:00:00Z", "2026-03-28T21:00:00Z", "2026-03-29T04:00:00Z", 7 * time.Hour},
		{"the clock goes back", "2026-10-24T19:00:00Z", "2026-10-24T20:00:00Z", "2026-10-25T05:00:00Z", 9 * time.Hour},
	}
	for _, tt := range tests {
		at, _ := time.Parse(time.RFC3339, tt.at)
		from, to := w.Next(at)
		if from.UTC().Format(time.RFC3339) != tt.from || to.UTC().Format(time.RFC3339) != tt.to || to.Sub(from) != tt.takes {
			t.Errorf("%s: from %s to %s", tt.name, from.UTC(), to.UTC())
		}
	}
	now, _ := time.Parse(time.RFC3339, "2026-03-14T20:00:00Z") // 21:00 there
	for text, want := range map[string]string{"06:00": "2026-03-15T05:00:00Z", "21:30": "2026-03-14T20:30:00Z", "21": "2026-03-15T20:00:00Z"} {
		if at, err := ParseTime(text, now); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v; want %s", text, at.UTC(), err, want)
		}
	}
	if _, err := ParseTime("6 o'clock", now); err == nil {
		t.Error("six o'clock is a time")
	}
}
