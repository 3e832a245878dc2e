package recording

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core/wording"
)

// KeyBetween tells whether a key is after one moment and not after the other, so that reading from it is less.
func (r *Recording) KeyBetween(after, upTo time.Time) bool {
	for _, p := range r.parts {
		if p.at.After(after) && !p.at.After(upTo) {
			return true
		}
	}
	return false
}

// momentForms are how a moment can be named with its day.
var momentForms = []string{time.RFC3339, wording.MomentForm, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
	"2006-01-02 15:04"}

// Moment is the moment of the recording that a text names: "02:15" or "02:15:30" on the day on which it was recorded, "2026-03-14 02:15",
// or "+10m" and "-1h" from now on. Times are those of the zone, unless the text names another.
func (r *Recording) Moment(text string, now time.Time, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text[:1], "+-") {
		return r.within(now.Add(d), text)
	}
	for _, form := range momentForms {
		if at, err := time.ParseInLocation(form, text, zone); err == nil {
			return r.within(at, text)
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		at, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		var found time.Time
		from := r.From.In(zone)
		for day := 0; ; day++ {
			m := time.Date(from.Year(), from.Month(), from.Day()+day, at.Hour(), at.Minute(), at.Second(), 0, zone)
			if m.After(r.To) {
				break
			}
			// Of several days, the one nearest to what is shown.
			if end := m.Add(time.Minute); end.After(r.From) && (found.IsZero() || m.Sub(now).Abs() < found.Sub(now).Abs()) {
				found = m
			}
		}
		if found.IsZero() {
			return found, r.outside(text, zone)
		}
		if found.Before(r.From) { // the minute in which it begins
			found = r.From
		}
		return found, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time: want 02:15, 2026-03-14 02:15, +10m or -1h", text)
}

func (r *Recording) within(at time.Time, text string) (time.Time, error) {
	switch {
	case strings.HasPrefix(text, "-") && at.Before(r.From):
		return r.From, nil
	case strings.HasPrefix(text, "+") && at.After(r.To):
		return r.To, nil
	case at.Before(r.From.Truncate(time.Minute)) || at.After(r.To):
		return at, r.outside(text, at.Location())
	}
	return at, nil
}

func (r *Recording) outside(text string, zone *time.Location) error {
	return fmt.Errorf("%s is not in the recording: it goes from %s to %s", text, r.From.In(zone).Format(wording.MomentForm),
		r.To.In(zone).Format(wording.MomentForm))
}
