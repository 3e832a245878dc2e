package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// timeRange is a part of a log by time. An end that is zero is open: what comes is followed.
type timeRange struct{ from, to time.Time }

var (
	rangeSplit = regexp.MustCompile(`\s+(?:to|until|till|-|–)\s+`)
	clockSpan  = regexp.MustCompile(`^(.*\d{1,2}:\d{2}(?::\d{2})?)\s*[-–]\s*(\d{1,2}:\d{2}(?::\d{2})?)$`)
	clockTail  = regexp.MustCompile(`^(?:(.*?)[\sT]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$`)
)

// parseRange reads a range as a person types it, in the operator's zone: "02:00 to 03:00", "yesterday 23:30 to 01:00",
// "2026-03-13 02:00 to 2026-03-13 03:00", "02:00". A beginning without a day is the last such time, an end without one the next
// after the beginning. Without an end it is open.
func parseRange(text string, now time.Time) (timeRange, error) {
	now = now.Local()
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(strings.ToLower(text), "from "); ok {
		text = strings.TrimSpace(text[len(text)-len(rest):])
	}
	first, last := text, ""
	if parts := rangeSplit.Split(text, -1); len(parts) == 2 {
		first, last = parts[0], parts[1]
	} else if m := clockSpan.FindStringSubmatch(text); m != nil {
		first, last = m[1], m[2]
	}
	from, dayless, err := parseMoment(first, now)
	if err != nil {
		return timeRange{}, err
	}
	if dayless && from.After(now) {
		from = onDay(from, -1)
	}
	if from.After(now) {
		return timeRange{}, fmt.Errorf("%s is in the future", dayClock(from))
	}
	if last == "" {
		return timeRange{from: from}, nil
	}
	to, dayless, err := parseMoment(last, from)
	if err != nil {
		return timeRange{}, err
	}
	if dayless && !to.After(from) {
		to = onDay(to, 1)
	}
	if !to.After(from) {
		return timeRange{}, fmt.Errorf("the end, %s, is not after the beginning, %s", dayClock(to), dayClock(from))
	}
	return timeRange{from, to}, nil
}

// parseMoment reads a time with or without a day; without one it is on the day of near.
func parseMoment(text string, near time.Time) (at time.Time, dayless bool, err error) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, text); err == nil { // with a zone of its own
		return at.Local(), false, nil
	}
	wrong := fmt.Errorf("%q is not a time: want hours and minutes, as 02:00, with a day if it is not the last such time", text)
	m := clockTail.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false, wrong
	}
	hour, minute, second := decimal(m[2]), decimal(m[3]), decimal(m[4])
	if hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false, wrong
	}
	day := near
	switch word := strings.ToLower(strings.TrimSpace(m[1])); word {
	case "":
		dayless = true
	case "today":
	case "yesterday":
		day = onDay(near, -1)
	default:
		if day, err = parseDay(word, near); err != nil {
			return time.Time{}, false, wrong
		}
	}
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, 0, near.Location()), dayless, nil
}

// decimal is the number that digits are in the decimal system, 0 without any: 08 is eight, and no octal number.
func decimal(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// parseDay reads a day; without a year it is the last such day.
func parseDay(word string, near time.Time) (time.Time, error) {
	if day, err := time.Parse("2006-01-02", word); err == nil {
		return day, nil
	}
	for _, form := range []string{"Jan 2", "2 Jan", "01-02"} {
		for _, year := range []int{near.Year(), near.Year() - 1} { // with the year at once: not every year has a February 29
			day, err := time.Parse(form+" 2006", fmt.Sprint(word, " ", year))
			if err == nil && !day.After(near.AddDate(0, 0, 1)) {
				return day, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a day", word)
}

// onDay is the same time of day some days later.
func onDay(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, t.Hour(), t.Minute(), t.Second(), 0, t.Location())
}

// dayClock is a time with its day and its zone, with seconds where it has some.
func dayClock(t time.Time) string { return t.Local().Format("Jan 2 " + clockForm(t) + " MST") }

func clockForm(t time.Time) string {
	if t.Second() != 0 {
		return "15:04:05"
	}
	return "15:04"
}

// isZero tells whether there is no range.
func (r timeRange) isZero() bool { return r.from.IsZero() }

// String is "from Mar 13 02:00 to 03:00 CET". What both have in common is said once.
func (r timeRange) String() string {
	switch {
	case r.isZero():
		return ""
	case r.to.IsZero():
		return "from " + dayClock(r.from) + " on"
	}
	from, to := r.from.Local(), r.to.Local()
	first, last := dayClock(from), dayClock(to)
	if zone, _ := from.Zone(); strings.HasSuffix(last, " "+zone) {
		first = strings.TrimSuffix(first, " "+zone)
	}
	if dayOf(from) == dayOf(to) {
		last = to.Format(clockForm(to) + " MST")
	}
	return "from " + first + " to " + last
}

// rangeBox asks for the times of a log.
type rangeBox struct {
	log   *logPage
	input textinput.Model
	wrong string
}

func (m *Model) askRange(p *logPage) tea.Cmd {
	b := &rangeBox{log: p, input: newField(p.typed)}
	m.open(b)
	return nil
}

func (*rangeBox) scope() Scope           { return ScopeForm }
func (*rangeBox) page() bool             { return false }
func (*rangeBox) refresh(*Model) tea.Cmd { return nil }
func (*rangeBox) hints() []keyHint {
	return []keyHint{{"enter", "read it"}, {"esc", "as it was"}, {"ctrl+u", "empty it"}}
}

func (b *rangeBox) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "esc":
		m.close(b)
	case "enter":
		return true, b.take(m)
	default:
		b.input, _ = b.input.Update(msg)
		b.wrong = ""
	}
	return true, nil
}

func (b *rangeBox) paste(_ *Model, text string) tea.Cmd {
	b.wrong = pasteInto(&b.input, text)
	return nil
}

// now is the cluster's time: the times of a log are by its clocks.
func (*rangeBox) now(m *Model) time.Time {
	if m.snap != nil {
		return m.snap.Now
	}
	return m.now()
}

// take reads the log in what was typed; nothing ends the range.
func (b *rangeBox) take(m *Model) tea.Cmd {
	text := strings.TrimSpace(b.input.Value())
	var r timeRange
	if text != "" {
		var err error
		if r, err = parseRange(text, b.now(m)); err != nil {
			b.wrong = err.Error()
			return nil
		}
	}
	m.close(b)
	b.log.times, b.log.typed = r, text
	return b.log.ask(m)
}

func (b *rangeBox) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 78)
	inner := max(w-4, 10)
	body := inRoom(h, 2, func(out int) []draw.Line {
		body, most := []draw.Line{{}}, 2 // lines that say what is wrong, or what it is
		if out == 0 {
			body = append(append(body, draw.Paragraph(themes.Text, "Times of your zone ("+b.now(m).Local().Format("MST")+"): 02:00 to 03:00, "+
				"yesterday 23:30 to 01:00, Mar 13 02:00 to 03:00, or 02:00 for what came since then. Empty: no range.", inner)...), draw.Line{})
			most = h
		}
		label := draw.One(themes.Dim, "from ")
		body = append(body, append(label, inputLine(b.input.Value(), b.input.Position(), inner-label.Width(), true)...), draw.Line{})
		switch r, err := parseRange(b.input.Value(), b.now(m)); {
		case b.wrong != "":
			return append(body, atMost(most, themes.Bad, b.wrong, inner)...)
		case err == nil:
			return append(body, atMost(most, themes.Dim, "That is "+r.String()+".", inner)...)
		}
		return append(body, draw.Line{})
	})
	return m.look.Box(draw.One(themes.Strong, "Which times of the log"), m.whichCluster(), body, w)
}
