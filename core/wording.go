package core

import (
	"fmt"
	"strings"
	"time"
)

// clockText is a moment for a line that a person reads. All of these are in the operator's zone (time.Local), on screens, in what
// the commands print and in the texts of the journal, so that times on one page can be compared. Fields for programs (JSON, and
// the journal's own times) are in UTC, as the timestamps of the cluster's objects are.
func clockText(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format("15:04")
}

// spanText is a duration for a line: "45 s", "12 m", "2 h 41 m".
func spanText(d time.Duration) string {
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

// count is "1 instance", "3 instances".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}

// some are the first names of a list, and how many more there are.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// mostRead is how much is taken of what a server or a controller says, where a person reads it: whoever shows it wraps it, and cuts it
// where its own room ends. A longer text is in the inspection of its object.
const mostRead = 2000

// oneLine is the beginning of a text, on one line.
func oneLine(text string, most int) string {
	return strings.Join(strings.Fields(clip(text, most)), " ")
}

// verb is the word that agrees with n: verb(1, "needs", "need").
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
