package controller

import (
	"strings"
	"time"
)

// The OpenStack controller is Python, and its texts carry Python's own forms of lists, dictionaries and times; operators
// and programs read them as they are.

// pyList is the repr of a list of strings: ['a', 'b'].
func pyList(items []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + item + "'")
	}
	b.WriteByte(']')
	return b.String()
}

// pyVerdict is one entry of a dictionary of service to bool.
type pyVerdict struct {
	service string
	ok      bool
}

// pyDict is the repr of a dictionary of service to bool, in its order: {'compute': True, 'database': False}.
func pyDict(verdicts []pyVerdict) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range verdicts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + v.service + "': ")
		if v.ok {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	}
	b.WriteByte('}')
	return b.String()
}

// pyTime is str(datetime.utcnow()): no time zone, microseconds left out when they are zero.
func pyTime(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}
