package tui

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// timesOfDay matches the times that a screen shows.
var timesOfDay = regexp.MustCompile(`\b([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\b`)

// withoutAxis is a frame without the times above the timeline: these are round in every zone.
func withoutAxis(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.Contains(lines[i-1], "7 Timeline") {
			lines[i] = lines[i][:max(strings.LastIndex(lines[i], "│"), 0)]
		}
	}
	return strings.Join(lines, "\n")
}

// The columns of the timeline begin at round times of the operator's zone.
func TestTheAxisIsRoundInTheOperatorsZone(t *testing.T) {
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("EAST", 330*60), time.FixedZone("WEST", -3*60*60-45*60)} {
		livingIn(t, zone)
		lines := strings.Split(stripped(drive(world(), 120, 40).keys("T", "-").shows()), "\n")
		named := timesOfDay.FindAllString(lines[4], -1)
		for _, at := range named {
			if !strings.HasSuffix(at, ":00") && !strings.HasSuffix(at, ":30") {
				t.Errorf("%s: the axis names %s: %q", zone, at, lines[4])
			}
		}
		if len(named) < 3 {
			t.Errorf("%s: the axis is %q", zone, lines[4])
		}
	}
}

// Every time on every page is in the operator's zone: half an hour to the east, each is half an hour later.
func TestTimesAreInTheOperatorsZone(t *testing.T) {
	pages := [][]string{nil, {"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"enter"}, {"i"}, {"1", "enter"}, {"2", "i"}, {"3", "i"},
		{"4", "i"}, {"5", "i"}, {"s"}, {"w"}, {"z"}, {"F"}}
	shown := func(zone *time.Location, keys []string) (frame string, times []string) {
		livingIn(t, zone)
		frame = stripped(drive(world(), 200, 60).keys(keys...).shows())
		frame = strings.ReplaceAll(frame, "2026-03-14 16:41:00 Some servers", "Some servers") // a lock's message is the controller's own words
		return frame, timesOfDay.FindAllString(withoutAxis(frame), -1)
	}
	all := 0
	for _, keys := range pages {
		_, here := shown(time.UTC, keys)
		frame, there := shown(time.FixedZone("EAST", 30*60), keys)
		if len(here) != len(there) {
			t.Errorf("%q: %d times here, %d there:\n%s", keys, len(here), len(there), frame)
			continue
		}
		for i := range here {
			layout := "15:04:05"[:len(here[i])]
			was, err := time.Parse(layout, here[i])
			if err != nil {
				t.Fatal(err)
			}
			if want := was.Add(30 * time.Minute).Format(layout); there[i] != want {
				t.Errorf("%q: %s is %s there, want %s:\n%s", keys, here[i], there[i], want, frame)
			}
		}
		if strings.Contains(frame, "UTC") {
			t.Errorf("%q says UTC:\n%s", keys, frame)
		}
		all += len(here)
	}
	if all < 20 {
		t.Errorf("the pages show %d times only", all)
	}
}
