package forecast

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Window is the time of each day in which an update may work, in the operator's zone. It may cross midnight. The zero value is none.
type Window struct {
	from, to int // minutes since midnight; never the same
}

var windowText = regexp.MustCompile(`^([0-9]{1,2})(?::([0-9]{2}))?\s*(?:-|–)\s*([0-9]{1,2})(?::([0-9]{2}))?$`)

// ParseWindow reads a window, such as "22:00-06:00".
func ParseWindow(text string) (Window, error) {
	m := windowText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Window{}, fmt.Errorf("%q is not a window: want two times of day, as 22:00-06:00", text)
	}
	var w Window
	for i, at := range []*int{&w.from, &w.to} {
		t, err := minuteOf(m[1+2*i], m[2+2*i])
		if err != nil {
			return Window{}, fmt.Errorf("%q is not a window: %w", text, err)
		}
		*at = t
	}
	if w.from == w.to {
		return Window{}, fmt.Errorf("%q is not a window: it begins when it ends", text)
	}
	return w, nil
}

func minuteOf(hour, minute string) (int, error) {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if h > 23 || m > 59 {
		return 0, fmt.Errorf("there is no time %02d:%02d", h, m)
	}
	return 60*h + m, nil
}

var timeText = regexp.MustCompile(`^([0-9]{1,2})(?::([0-9]{2}))?$`)

// ParseTime reads a time of day, such as "06:00" or "6". It is the next moment after now at which the operator's clock shows it.
func ParseTime(text string, now time.Time) (time.Time, error) {
	m := timeText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return time.Time{}, fmt.Errorf("%q is not a time of day: want hours and minutes, as 06:00", text)
	}
	t, err := minuteOf(m[1], m[2])
	if err != nil {
		return time.Time{}, err
	}
	now = now.Local()
	for day := 0; ; day++ {
		if at := atMinute(now, day, t); at.After(now) {
			return at, nil
		}
	}
}

// ParseMoment reads a moment ahead of now: a time of day as ParseTime does, or how far ahead it is, as "+45m", "45m" or "+1h30m", at
// most a week.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	ahead, relative := strings.CutPrefix(strings.TrimSpace(text), "+")
	if _, err := time.ParseDuration(ahead); !relative && err != nil {
		at, err := ParseTime(text, now)
		if err != nil {
			return at, fmt.Errorf("%q is not a time: want a time of day, as 03:00, or how far ahead, as +45m", text)
		}
		return at, nil
	}
	d, err := time.ParseDuration(strings.ReplaceAll(ahead, " ", ""))
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("%q is not how far ahead: want hours and minutes, as +45m or +1h30m", text)
	case d <= 0 || d > 7*24*time.Hour:
		return time.Time{}, fmt.Errorf("%q is not ahead of now, or more than a week", text)
	}
	return now.Add(d), nil
}

// atMinute is a time of day some days after the day of a moment, in that moment's zone.
func atMinute(of time.Time, days, minute int) time.Time {
	return time.Date(of.Year(), of.Month(), of.Day()+days, minute/60, minute%60, 0, 0, of.Location())
}

// IsZero tells whether there is no window.
func (w Window) IsZero() bool { return w == Window{} }

// String is "22:00-06:00".
func (w Window) String() string {
	if w.IsZero() {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", w.from/60, w.from%60, w.to/60, w.to%60)
}

// Length is how long the window is by the clock; the night on which the clocks are changed is longer or shorter.
func (w Window) Length() time.Duration {
	return time.Duration((w.to-w.from+24*60)%(24*60)) * time.Minute
}

// Next is the window that a moment is in, from its beginning, or the next one after it.
func (w Window) Next(at time.Time) (from, to time.Time) {
	local := at.Local()
	for day := -1; ; day++ {
		from, to = atMinute(local, day, w.from), atMinute(local, day, w.to)
		if w.to < w.from {
			to = atMinute(local, day+1, w.to)
		}
		if to.After(at) && to.After(from) {
			return from, to
		}
	}
}
