package controller

import (
	"strings"
	"time"
)

// The OpenStack controller is Python, and its texts carry Python's own forms of lists, dictionaries and times;
// operators and programs read them unchanged.

// pyString is the repr of a string: 'a', and "it's" where it has a single quote and no double one.
func pyString(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	escaped := strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	return quote + escaped + quote
}

// pyList is the repr of a list of strings: ['a', 'b'].
func pyList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = pyString(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// pyPair is one entry of a dictionary: a string key and the repr of its value.
type pyPair struct{ key, repr string }

// pyPairs is the repr of a dictionary, in its order: {'a': 'ACTIVE'}.
func pyPairs(pairs []pyPair) string {
	entries := make([]string, len(pairs))
	for i, p := range pairs {
		entries[i] = pyString(p.key) + ": " + p.repr
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// pyVerdict is one entry of a dictionary of service to bool.
type pyVerdict struct {
	service string
	ok      bool
}

// pyDict is the repr of a dictionary of service to bool, in its order: {'compute': True, 'database': False}.
func pyDict(verdicts []pyVerdict) string {
	pairs := make([]pyPair, len(verdicts))
	for i, v := range verdicts {
		pairs[i] = pyPair{v.service, "False"}
		if v.ok {
			pairs[i].repr = "True"
		}
	}
	return pyPairs(pairs)
}

// pyTime is str(datetime.utcnow()): no time zone, microseconds left out when they are zero.
func pyTime(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}

// pyJSON is json.dumps: with a space after each comma and colon.
func pyJSON(v any) string {
	var spaced strings.Builder
	quoted, escaped := false, false
	for _, c := range compactJSON(v) {
		spaced.WriteRune(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			spaced.WriteByte(' ')
		}
	}
	return spaced.String()
}
