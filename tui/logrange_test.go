package tui

import (
	"strings"
	"testing"
	"time"
)

// Times are read as they are typed, in the operator's zone, with the day that is meant.
func TestTimesOfALogAreReadAsTyped(t *testing.T) {
	now := time.Date(2026, 3, 14, 1, 30, 0, 0, time.Local)
	in := func(loc *time.Location, year int, month time.Month, day, hour, minute, second int) time.Time {
		return time.Date(year, month, day, hour, minute, second, 0, loc)
	}
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, 3, day, hour, minute, second, 0, time.Local)
	}
	for text, want := range map[string]timeRange{
		"02:00 to 03:00":                               {at(13, 2, 0, 0), at(13, 3, 0, 0)}, // tonight's are still to come
		"from 00:10 to 01:00":                          {at(14, 0, 10, 0), at(14, 1, 0, 0)},
		"00:10-1:00":                                   {at(14, 0, 10, 0), at(14, 1, 0, 0)},
		"23:30 - 00:15:30":                             {at(13, 23, 30, 0), at(14, 0, 15, 30)},
		"yesterday 23:30 until 01:00":                  {at(13, 23, 30, 0), at(14, 1, 0, 0)},
		"Mar 12 02:00 to 03:00":                        {at(12, 2, 0, 0), at(12, 3, 0, 0)},
		"12 mar 22:00 to today 01:00":                  {at(12, 22, 0, 0), at(12, 1, 0, 0)},
		"2026-03-12 02:00 to 2026-03-13 04:00":         {at(12, 2, 0, 0), at(13, 4, 0, 0)},
		"2026-03-12T02:00-03:00":                       {at(12, 2, 0, 0), at(12, 3, 0, 0)},
		"03-11 02:00":                                  {from: at(11, 2, 0, 0)},
		"01:00":                                        {from: at(14, 1, 0, 0)},
		"08:08:09 to 09:09":                            {at(13, 8, 8, 9), at(13, 9, 9, 0)}, // no octal numbers
		"Dec 31 23:00 to 00:30":                        {in(time.Local, 2025, 12, 31, 23, 0, 0), in(time.Local, 2026, 1, 1, 0, 30, 0)},
		"2026-03-12T02:00:00Z to 2026-03-12T02:00:05Z": {in(time.UTC, 2026, 3, 12, 2, 0, 0), in(time.UTC, 2026, 3, 12, 2, 0, 5)},
	} {
		got, err := parseRange(text, now)
		if strings.HasSuffix(text, "today 01:00") {
			if err == nil {
				t.Errorf("%q: an end before the beginning is %s", text, got)
			}
			continue
		}
		if err != nil || !got.from.Equal(want.from) || !got.to.Equal(want.to) {
			t.Errorf("%q: got %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noon", "25:00", "02:60", "02:00 to", "02:00 to 3", "Mar 15 02:00",
		"2026-03-12 04:00 to 2026-03-12 03:00",
		"Feb 30 02:00", "02:00 to 03:00 to 04:00", "0200"} {
		if got, err := parseRange(text, now); err == nil {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

// The page asks for the times that were typed, says which they are, and so does what is saved; what is no time is refused.
func TestALogOfARangeOfTime(t *testing.T) {
	f := &fakeLooker{parts: rockoonParts()}
	saved := ""
	d := drive(world(), 120, 40, withLooker(f), func(o *Options) {
		o.SaveFile = func(name string, content []byte) (string, error) { saved = string(content); return name, nil }
	}).keys("5", "P", "T", "noon", "enter")
	if shown := stripped(d.shows()); len(f.asked) != 1 || !strings.Contains(shown, `"noon" is not a time`) {
		t.Fatalf("%d requests:\n%s", len(f.asked), shown)
	}
	for range 4 {
		d.keys("backspace")
	}
	d.keys("02:00 to 03:00", "enter", "enter")
	r := timeRange{f.asked[1].From, f.asked[1].To}
	if got := f.asked[1]; len(f.asked) != 2 || got.Follow || got.Tail != 0 || got.Since != 0 || r.to.Sub(r.from) != time.Hour ||
		r.from.Local().Hour() != 2 || r.from.After(fixtureNow) {
		t.Errorf("asked is %+v", f.asked)
	}
	d.dirty = true
	if shown := stripped(d.shows()); !strings.Contains(shown, r.String()) {
		t.Errorf("%s is not on the page:\n%s", r, shown)
	}
	if d.keys("s"); !strings.HasPrefix(saved, "--- log of rockoon") || !strings.Contains(strings.SplitN(saved, "\n", 2)[0], r.String()) {
		t.Errorf("saved is %s", saved)
	}
	d.keys("T", "esc")
	if len(f.asked) != 2 {
		t.Error("esc reads anew")
	}
	if d.keys("a"); f.asked[2].From != (time.Time{}) || f.asked[2].Tail != 2000 || !f.asked[2].Follow {
		t.Errorf("a asks for %+v", f.asked[2])
	}
	if d.keys("T"); d.top().(*rangeBox).input.Value() != "" {
		t.Error("the range is over, and is offered")
	}
}
