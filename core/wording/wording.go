package wording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TextOr is the text that v points to, or the other one when v is nil.
func TextOr(v *string, or string) string {
	if v == nil {
		return or
	}
	return *v
}

// Times is "once", "twice", "3 times".
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Itoa(n) + " times"
}

// Sentence is a text as a sentence of its own.
func Sentence(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// Sentences are texts, each as a sentence of its own.
func Sentences(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Sentence(text)
	}
	return out
}

// TextOf is text, or the other one when it is empty.
func TextOf(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// Change is what became of something: "active → inactive". What is not known is left out: "inactive", "no longer active".
func Change(from, to string) string {
	switch {
	case from == "" && to == "":
		return "changed"
	case from == "":
		return to
	case to == "":
		return "no longer " + from
	}
	return from + " → " + to
}

// Update names an update by the releases that are known of it: "update 21.0.0 → 21.0.1", "update to 21.0.1", "update from 21.0.0".
func Update(from, to string) string {
	switch {
	case from == "" && to == "":
		return "update"
	case from == "":
		return "update to " + to
	case to == "":
		return "update from " + from
	}
	return "update " + Change(from, to)
}

// Join joins sentences with spaces and leaves out empty ones.
func Join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// InBrackets is " (text)", with its leading space; empty for an empty text.
func InBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// Prefixed is the text after the given beginning; empty for an empty text.
func Prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// Dashed is " — text"; empty for an empty text.
func Dashed(text string) string {
	if text == "" {
		return ""
	}
	return " — " + text
}

// TextIf is one of two texts.
func TextIf(yes bool, then, or string) string {
	if yes {
		return then
	}
	return or
}

// Itoa is strconv.Itoa.
func Itoa(n int) string { return strconv.Itoa(n) }

// ClockText is a moment for a line that a person reads. Screens, command output and the journal's texts all use the operator's
// zone (time.Local), so that times on one page can be compared. Fields for programs (JSON, the journal's own times) are in UTC, like
// the timestamps of the cluster's objects.
func ClockText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format("15:04")
}

// StampText is a moment for the head of what is printed, saved or sent, with its day and the operator's zone. It says in which zone the
// other times of that page are (ClockText): who reads it may be elsewhere. Letters alone do not say it: IST is a zone of three countries.
func StampText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format("2006-01-02 15:04 ") + ZoneText(t.Local())
}

// MomentForm is the form of a moment in a line that stands by itself, as time.Format takes it: "2026-03-14 02:15:07Z" in UTC, and
// "2026-03-14 03:15:07+01:00" elsewhere. Such lines are piped, cut and sent to people in other zones, who see no head of a page. What
// takes a moment takes this form, too.
const MomentForm = "2006-01-02 15:04:05Z07:00"

// MomentText is a moment in a line that stands by itself, in the operator's zone.
func MomentText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format(MomentForm)
}

// ZoneText is the zone of a moment: "UTC", "IST (UTC+05:30)", or "UTC-03:00" where the zone has no letters.
func ZoneText(t time.Time) string {
	name, offset := t.Zone()
	from := t.Format("UTC-07:00")
	switch {
	case offset == 0 && name == "UTC":
		return name
	case strings.HasPrefix(name, "+"), strings.HasPrefix(name, "-"), name == "":
		return from
	}
	return name + " (" + from + ")"
}

// SpanText is a duration for a line: "45 s", "12 m", "2 h 41 m", "1 d 14 h".
func SpanText(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d >= 24*time.Hour && int(d.Hours())%24 == 0:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	case d >= 24*time.Hour:
		return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
	case int(d.Minutes())%60 == 0:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
}

// Count is "1 instance", "3 instances".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Itoa(n) + " " + noun + "s"
}

// Some are the first names of a list, and how many more there are.
func Some(names []string, most int) string { return SomeOf(names, len(names), most) }

// SomeOf is Some for a list of which only the first names are there, at least most.
func SomeOf(first []string, all, most int) string { return some(first, all, most, ", ", " ") }

// SomeClauses is Some for texts that have commas of their own: "a holds b, c; d is down; and 3 more".
func SomeClauses(clauses []string, most int) string {
	return some(clauses, len(clauses), most, "; ", "; ")
}

func some(first []string, all, most int, between, last string) string {
	if all <= most {
		return strings.Join(first, between)
	}
	return strings.Join(first[:most], between) + fmt.Sprintf("%sand %d more", last, all-most)
}

// MostRead is how much of a server's or controller's text a person is shown, in bytes. The screen wraps it and cuts it to its room.
// The inspection of the object has the whole text.
const MostRead = 2000

// OneLine is the beginning of a text, on one line.
func OneLine(text string, most int) string {
	if len(text) <= most && isOneLine(text) {
		return text
	}
	return strings.Join(strings.Fields(Clip(text, most)), " ")
}

// isOneLine tells whether OneLine has nothing to change in a text, as in nearly every name; false also where that takes a closer look.
func isOneLine(text string) bool {
	space := true // before it
	for i := range len(text) {
		c := text[i]
		if c == ' ' && space || c != ' ' && (c < '!' || c > '~') {
			return false
		}
		space = c == ' '
	}
	return !space || text == ""
}

// Verb is the word that agrees with n: Verb(1, "needs", "need").
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Because is ": text", without the text's last full stop; empty for an empty text.
func Because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + Clip(strings.TrimRight(text, " .\n"), MaxRecordText)
}

// Clip cuts s to at most n bytes, between runes, and marks the cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …(cut)"
}

// MaxRecordText is how much one string of a Record keeps, in bytes.
const MaxRecordText = 4096

// AddNew appends the texts that are not empty and not in the list yet, up to MaxListed in all.
func AddNew(list []string, more ...string) []string {
	seen := make(map[string]bool, len(list)+len(more))
	for _, v := range list {
		seen[v] = true
	}
	for _, v := range more {
		if v != "" && !seen[v] && len(list) < MaxListed {
			seen[v] = true
			list = append(list, v)
		}
	}
	return list
}
