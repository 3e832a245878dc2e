package sanitise

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestTextFromAnAPICannotDriveTheTerminal(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"ordinary text", "cmp-07: 3 of 15", "cmp-07: 3 of 15"},
		{"other scripts", "größe 日本語 Ελλάδα", "größe 日本語 Ελλάδα"},
		{"a colour", "\x1b[31mred\x1b[m", "[31mred[m"},
		{"a window title", "\x1b]0;owned\x07x", "]0;ownedx"},
		{"a clipboard write", "\x1b]52;c;cm0gLXJm\x1b\\", "]52;c;cm0gLXJm\\"},
		{"8-bit controls", "a\u009b31mb\u009dc\u0085d", "a31mbcd"},
		{"a cursor that goes back", "safe\r\x1b[2Kevil\b\b", "safe [2Kevil"},
		{"line breaks and tabs", "a\nb\r\nc\td", "a b  c d"},
		{"direction overrides", "user\u202egpj.exe\u2066\u2069\u200f", "usergpj.exe"},
		{"zero-width characters", "ad\u200bmin\u200d\ufeff\u2060\u00ad", "admin"},
		{"invisible fillers", "a\u3164b\u115fc\u034f", "abc"},
		{"tag characters", "a\U000e0041\U000e0042b", "ab"},
		{"broken UTF-8", "a\xff\xfeb\xc3", "a\ufffd\ufffdb\ufffd"},
		{"private use", "a\ue000b", "a\ufffdb"},
		{"an accent", "e\u0301", "e\u0301"},
		{"a tower of accents", "e" + strings.Repeat("\u0301", 50) + "x", "e\u0301\u0301x"},
		{"a line separator", "a\u2028b\u2029c", "a b c"},
		{"delete", "a\x7fb", "ab"},
		{"null", "a\x00b", "ab"},
	} {
		if got := Row(c.in); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.what, c.in, got, c.want)
		}
	}
}

func TestLongTextIsCutBeforeAnythingElse(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	got := Row(huge)
	if len(got) > RowLimit+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
		t.Errorf("2 MB became %d bytes, valid=%v, ends in %q", len(got), utf8.ValidString(got), got[len(got)-4:])
	}
	lines := Lines(strings.Repeat("line\n", 1<<18), DetailLimit)
	if len(lines) > DetailLimit/5+1 || !strings.HasSuffix(lines[len(lines)-1], "…") {
		t.Errorf("a long text of lines became %d lines", len(lines))
	}
}

// What is searched for has no mark in it, which stands in no text: what is too long is refused.
func TestATypedTextHasNoMark(t *testing.T) {
	if got, fits := Typed("cmp-01\x1b\ncmp-02", 20); !fits || got != "cmp-01 cmp-02" {
		t.Errorf("%q, %v", got, fits)
	}
	for _, s := range []string{strings.Repeat("x", 21), strings.Repeat("\xff", 10)} { // the second grows when it is made clean
		if got, fits := Typed(s, 20); fits {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// Whatever bytes come: nothing invisible or controlling is left, and every terminal agrees on the width.
func TestCleanTextIsHarmless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
		if rapid.Bool().Draw(rt, "runes") {
			in = rapid.String().Draw(rt, "text")
		}
		out := Row(in)
		if !utf8.ValidString(out) {
			rt.Fatalf("%q became broken UTF-8 %q", in, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				rt.Fatalf("%q left %U in %q", in, r, out)
			}
		}
		if ansi.StringWidth(out) != ansi.StringWidthWc(out) {
			rt.Fatalf("terminals disagree on the width of %q", out)
		}
		if again := Row(out); again != out {
			rt.Fatalf("cleaning twice changes %q to %q", out, again)
		}
	})
}
