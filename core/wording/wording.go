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

func TextOr(v *string, or string) string {
	if v == nil {
		return or
	}
	return *v
}

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

// Join puts sentences together, the empty ones left out.
func Join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

func InBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func TextIf(yes bool, then, or string) string {
	if yes {
		return then
	}
	return or
}

func Itoa(n int) string { return strconv.Itoa(n) }

// ClockText is a moment for a line that a person reads. All of these are in the operator's zone (time.Local), on screens, in what
// the commands print and in the texts of the journal, so that times on one page can be compared. Fields for programs (JSON, and
// the journal's own times) are in UTC, as the timestamps of the cluster's objects are.
func ClockText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format("15:04")
}

// SpanText is a duration for a line: "45 s", "12 m", "2 h 41 m".
func SpanText(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Minutes()))
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
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// MostRead is how much is taken of what a server or a controller says, where a person reads it: whoever shows it wraps it, and cuts it
// where its own room ends. A longer text is in the inspection of its object.
const MostRead = 2000

// OneLine is the beginning of a text, on one line.
func OneLine(text string, most int) string {
	return strings.Join(strings.Fields(Clip(text, most)), " ")
}

// Verb is the word that agrees with n: verb(1, "needs", "need").
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func Because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + Clip(strings.TrimRight(text, " .\n"), MaxRecordText)
}
