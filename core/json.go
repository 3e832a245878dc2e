package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EncodeJSON encodes a document that leaves Lockstep: for a terminal, for other programs, for a file. Each text in it is redacted, and no
// character in it has an effect on a terminal. indent is what each level is indented by; without one the document is one line. It ends with
// a newline.
func EncodeJSON(document any, indent string) ([]byte, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	raw = PlainJSON(RedactJSON(raw), math.MaxInt)
	if indent == "" {
		return append(raw, '\n'), nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", indent); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// JSONForYAML is EncodeJSON for a reader of YAML, which takes no surrogates: those characters without an effect that JSON writes by two of
// them, are replaced.
func JSONForYAML(document any) ([]byte, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	raw = bytes.Map(func(r rune) rune {
		if r > math.MaxUint16 && Invisible(r) {
			return unicode.ReplacementChar
		}
		return r
	}, RedactJSON(raw))
	return PlainJSON(raw, math.MaxInt), nil
}

// RedactJSON redacts each text of an encoded JSON value by itself, names of fields as well.
func RedactJSON(raw []byte) []byte {
	var out []byte
	done := 0 // up to where raw was written to out
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		begin, escaped := i, false
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				escaped = true
				i++
			}
		}
		if i >= len(raw) { // no JSON
			break
		}
		if !escaped && !mayHide(raw[begin+1:i]) {
			continue
		}
		text := string(raw[begin+1 : i])
		if escaped && json.Unmarshal(raw[begin:i+1], &text) != nil {
			continue
		}
		hidden := Redact(text)
		if hidden == text {
			continue
		}
		quoted, err := json.Marshal(hidden)
		if err != nil {
			continue // a string is always encoded
		}
		out = append(append(out, raw[done:begin]...), quoted...)
		done = i + 1
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// mayHide tells whether there can be anything in a text that Redact hides: without a separator no name has a value beside it. The times of
// which a journal is full have only theirs.
func mayHide(text []byte) bool {
	if bytes.IndexByte(text, '=') < 0 && bytes.IndexByte(text, ':') < 0 && !bytes.Contains(text, []byte("--")) {
		return bytes.Contains(text, []byte("invalid URL escape")) // as net/url quotes a part of a password
	}
	return bytes.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789-:.TZ+", r) })
}

// PlainJSON makes an encoded JSON value safe for a file that people print on their terminals. It cuts every string to most bytes, and
// marks it as cut. It escapes characters that are invisible or change the text around them (C1 controls, DEL, bidi marks and the like).
func PlainJSON(raw []byte, most int) []byte {
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
			if Invisible(r) {
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

// Invisible tells whether a terminal shows no character for the rune: it is invisible, or changes the order of the text around it.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
