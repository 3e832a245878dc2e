package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"lockstep/core/wording"
)

// encodeRecord returns a Record's line, with its newline.
func encodeRecord(r Record) ([]byte, error) {
	if c := r.Change; c != nil && (tooLong(c.Old) || tooLong(c.New)) {
		// A value that was cut must never be offered back.
		r.Change = nil
		r.Text = wording.TextOf(r.Text, "the value of "+wording.OneLine(c.Key, 200)+" is too long to be kept: it is not offered back")
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a journal record: %w", err)
	}
	if bytes.Contains(raw, []byte("://")) {
		if raw, err = withoutSecrets(raw); err != nil {
			return nil, err
		}
	}
	return append(plainJSON(raw, wording.MaxRecordText), '\n'), nil
}

func tooLong(s *string) bool { return s != nil && len(*s) > wording.MaxRecordText }

// plainJSON makes an encoded JSON value safe for a file that people print on their terminals. It cuts every string to most bytes, and
// marks it as cut. It escapes characters that are invisible or change the text around them (C1 controls, DEL, bidi marks and the like).
func plainJSON(raw []byte, most int) []byte {
	const mark = " …(cut)"
	out := make([]byte, 0, len(raw)+1)
	var (
		inside, cut bool
		length      int // of the string so far, in bytes
	)
	for i := 0; i < len(raw); {
		c := raw[i]
		if !inside || c == '"' {
			if c == '"' {
				if cut {
					out = append(out, mark...)
				}
				inside, cut, length = !inside, false, 0
			}
			out = append(out, c)
			i++
			continue
		}
		token, size := raw[i:i+1], 1
		var hidden rune
		switch {
		case c == '\\' && raw[i+1] == 'u':
			token, size = raw[i:i+6], 3
		case c == '\\':
			token = raw[i : i+2]
		case c >= 0x7f:
			r, n := utf8.DecodeRune(raw[i:])
			token, size = raw[i:i+n], n
			if hides(r) {
				hidden = r
			}
		}
		i += len(token)
		if cut = cut || length+size > most; cut {
			continue
		}
		length += size
		if hidden == 0 {
			out = append(out, token...)
			continue
		}
		if a, b := utf16.EncodeRune(hidden); a != unicode.ReplacementChar {
			out = fmt.Appendf(out, `\u%04x\u%04x`, a, b)
		} else {
			out = fmt.Appendf(out, `\u%04x`, hidden)
		}
	}
	return out
}

// hides tells whether a terminal shows no character for the rune: it is invisible, or changes the order of the text around it.
func hides(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
