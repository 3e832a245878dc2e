// Package sanitise makes texts from elsewhere safe for a terminal. Every text on the screen goes through it.
package sanitise

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
)

// How many bytes of one text are read at most: more does not fit on a screen.
const (
	RowLimit      = 4 << 10  // of a row
	DetailLimit   = 64 << 10 // of a text that is shown in full
	longestSecret = 4 << 10
)

// Text makes a text from an API safe to print on one line: it is cut to limit bytes first; escape and other control characters,
// bidirectional and zero-width ones are dropped, line breaks become spaces, broken UTF-8 becomes U+FFFD, and so does every
// cluster about whose width terminals disagree. Secrets are hidden.
func Text(s string, limit int) string {
	cut := len(s) > limit
	if s = withoutSecrets(s, limit); len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	if !Plain(s) {
		s = cleanRunes(s)
	}
	if cut {
		s += "…"
	}
	return s
}

// Typed is Text for what somebody typed or pasted to be searched for: it has no mark, and is refused where it is longer than limit.
func Typed(s string, limit int) (text string, fits bool) {
	if len(s) > limit {
		return "", false
	}
	s = Text(s, limit)
	return s, len(s) <= limit
}

// Lines is Text for a text of several lines; the limit holds for the whole.
func Lines(s string, limit int) []string {
	cut := len(s) > limit
	if s = withoutSecrets(s, limit); len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = Text(l, len(l)+1)
	}
	if cut {
		lines[len(lines)-1] += "…"
	}
	return lines
}

// withoutSecrets hides secrets before the text is cut: half a secret is not recognised as one. Of a longer text the end is dropped,
// because it may be such a half.
func withoutSecrets(s string, limit int) string {
	if len(s) <= limit+longestSecret {
		return core.Redact(s)
	}
	s = core.Redact(s[:limit+longestSecret])
	return s[:max(len(s)-longestSecret, 0)]
}

// Plain tells whether a text is printable ASCII: it needs no cleaning, and each byte takes a column.
func Plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func cleanRunes(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || unicode.Is(unicode.Z, r):
			b.WriteByte(' ')
		case core.Unseen(r):
			continue // and it does not separate the marks around it
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
			// An accent or two is a name in some language; a hundred is an attack on the lines above and below.
			if marks++; marks <= 2 && b.Len() > 0 {
				b.WriteRune(r)
			}
			continue
		case r == utf8.RuneError || unicode.Is(unicode.Co, r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
		marks = 0
	}
	out := b.String()
	if ansi.StringWidth(out) == ansi.StringWidthWc(out) {
		return out
	}
	return agreeOnWidth(out)
}

// agreeOnWidth replaces clusters whose width differs by grapheme and by character: a row that is one column off breaks the whole screen.
func agreeOnWidth(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		if ansi.StringWidth(cluster) == ansi.StringWidthWc(cluster) {
			b.WriteString(cluster)
		} else {
			b.WriteRune(utf8.RuneError)
		}
		s = s[len(cluster):]
	}
	return b.String()
}
