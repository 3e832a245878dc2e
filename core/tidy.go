package core

import (
	"lockstep/core/wording"
	"strings"
	"unicode"
)

// LongestTidy is how much of one text of an API a forecast keeps, in characters.
const LongestTidy = 400

// Tidy makes an API's text fit for printing: redacted, on one line, without control and format characters, at most LongestTidy long.
func Tidy(text string) string {
	text = Redact(text)
	plain := true
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			plain = false
			break
		}
	}
	if plain && len(text) <= LongestTidy {
		return text
	}
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		switch {
		case n == LongestTidy:
			b.WriteString("…")
			return b.String()
		case unicode.IsSpace(r):
			if !space && n > 0 {
				b.WriteByte(' ')
				n++
			}
			space = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			continue
		}
		b.WriteRune(r)
		n++
		space = false
	}
	return strings.TrimSpace(b.String())
}

// Printable is the beginning of a text on one line, without the characters that a terminal or a mail program interprets: notes to
// owners leave Lockstep.
func Printable(text string, most int) string {
	return wording.OneLine(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, wording.Clip(Redact(text), 4*most)), most)
}
