package wording

import (
	"unicode/utf8"
)

// Clip cuts s to at most n bytes at a rune's border, and says so.
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
