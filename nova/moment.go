package nova

import (
	"strings"
	"time"
)

// layouts are the ways in which OpenStack's services write a time; without a zone it is UTC. Each accepts a fraction of a second.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05-0700"}

// parseTime reads a time of OpenStack; the zero time when it cannot.
func parseTime(text string) time.Time {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// formatTime writes a time as the parameter changes-since takes it.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
