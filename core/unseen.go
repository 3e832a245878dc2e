package core

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// beforeGap is where begins what may stand between a name and its separator: up to eight spaces, and whatever is not seen.
func beforeGap(text string, least, end int) int {
	for spaces := 0; ; spaces++ {
		end = beforeUnseen(text, least, end)
		r, n := utf8.DecodeLastRuneInString(text[least:end])
		if spaces == 8 || !isSpace(r) {
			return end
		}
		end -= n
	}
}

// afterGap is where ends what may stand between a separator and its value, and whether there are spaces in it.
func afterGap(text string, at int) (end int, spaced bool) {
	for end = at; ; spaced = true {
		end = afterUnseen(text, end)
		r, n := utf8.DecodeRuneInString(text[end:])
		if !isSpace(r) {
			return end, spaced
		}
		end += n
	}
}

// isSpace tells whether a screen shows a space for a rune; a value stands on the line of its name.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r > unicode.MaxASCII && unicode.Is(unicode.Z, r)
}

// colourParameters are what stands in a colour's sequence; grep ends one with K as well.
const (
	colourParameters = "0123456789;:"
	longestColour    = 40 // bytes of it that are looked at
)

// beforeUnseen is where begins what ends there and is not seen: a terminal's colours, and invisible characters.
func beforeUnseen(text string, least, end int) int {
	for end > least {
		switch c := text[end-1]; {
		case c == 'm' || c == 'K':
			from := end - 1
			for from > least && end-from < longestColour && strings.IndexByte(colourParameters, text[from-1]) >= 0 {
				from--
			}
			if !strings.HasSuffix(text[least:from], "\x1b[") {
				return end
			}
			end = from - len("\x1b[")
		default:
			r, n := rune(c), 1
			if c >= utf8.RuneSelf {
				r, n = utf8.DecodeLastRuneInString(text[least:end])
			}
			if !Unseen(r) {
				return end
			}
			end -= n
		}
	}
	return end
}

// afterUnseen is where ends what begins there and is not seen.
func afterUnseen(text string, from int) int {
	for from < len(text) {
		if rest, ok := strings.CutPrefix(text[from:], "\x1b["); ok {
			last := strings.TrimLeft(rest[:min(len(rest), longestColour)], colourParameters)
			if last != "" && (last[0] == 'm' || last[0] == 'K') {
				from = len(text) - len(rest) + min(len(rest), longestColour) - len(last) + 1
				continue
			}
		}
		r, n := rune(text[from]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[from:])
		}
		if !Unseen(r) {
			return from
		}
		from += n
	}
	return from
}

// Unseen tells whether a screen leaves a rune out: controls but for those that it shows as spaces, format characters (bidirectional and
// zero-width ones among them), variation selectors and invisible fillers.
func Unseen(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return (r < ' ' || r == 0x7f) && r != '\t' && r != '\n' && r != '\r'
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return true
	}
	return false
}
