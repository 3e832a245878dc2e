package wording

import (
	"testing"
	"time"
)

// A zone is said by its offset, too: letters alone are those of several zones, and some zones have none.
func TestAZoneIsSaidInFull(t *testing.T) {
	at := time.Date(2026, 11, 26, 9, 7, 0, 0, time.UTC)
	for want, zone := range map[string]*time.Location{
		"UTC":             time.UTC,
		"IST (UTC+05:30)": time.FixedZone("IST", 5*3600+1800),
		"EST (UTC-05:00)": time.FixedZone("EST", -5*3600),
		"GMT (UTC+00:00)": time.FixedZone("GMT", 0),
		"UTC-03:00":       time.FixedZone("-03", -3*3600), // as Go has it of zones without letters
		"UTC+01:00":       time.FixedZone("", 3600),
	} {
		if got := ZoneText(at.In(zone)); got != want {
			t.Errorf("%v: %q, want %q", zone, got, want)
		}
	}
}

// A line that stands by itself has its zone, and what it has can be read again.
func TestAMomentHasItsZone(t *testing.T) {
	at := time.Date(2026, 11, 26, 9, 7, 3, 0, time.UTC)
	for want, zone := range map[string]*time.Location{
		"2026-11-26 09:07:03Z":      time.UTC,
		"2026-11-26 14:37:03+05:30": time.FixedZone("IST", 5*3600+1800),
		"2026-11-26 04:07:03-05:00": time.FixedZone("EST", -5*3600),
	} {
		got := at.In(zone).Format(MomentForm)
		if back, err := time.Parse(MomentForm, got); got != want || err != nil || !back.Equal(at) {
			t.Errorf("%v: %q, want %q; read again it is %v, %v", zone, got, want, back, err)
		}
	}
	if got := MomentText(at); got != at.Local().Format(MomentForm) {
		t.Errorf("%q is not in the operator's zone", got)
	}
	if got := MomentText(time.Time{}); got != "an unknown time" {
		t.Errorf("%q", got)
	}
}
