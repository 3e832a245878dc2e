package tui

import (
	"os"
	"path/filepath"
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
		if got := clean(c.in, rowLimit); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.what, c.in, got, c.want)
		}
	}
}

func TestLongTextIsCutBeforeAnythingElse(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	got := clean(huge, rowLimit)
	if len(got) > rowLimit+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
		t.Errorf("2 MB became %d bytes, valid=%v, ends in %q", len(got), utf8.ValidString(got), got[len(got)-4:])
	}
	lines := cleanLines(strings.Repeat("line\n", 1<<18), detailLimit)
	if len(lines) > detailLimit/5+1 || !strings.HasSuffix(lines[len(lines)-1], "…") {
		t.Errorf("a long text of lines became %d lines", len(lines))
	}
}

// Whatever bytes come: nothing invisible or controlling is left, and every terminal agrees on how wide it is.
func TestCleanTextIsHarmless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
		if rapid.Bool().Draw(rt, "runes") {
			in = rapid.String().Draw(rt, "text")
		}
		out := clean(in, rowLimit)
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
		if again := clean(out, rowLimit); again != out {
			rt.Fatalf("cleaning twice changes %q to %q", out, again)
		}
	})
}

// Spans are made in one file only, so that no text can get round txt.
func TestSpansAreMadeInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f == "line.go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "span{") {
			t.Errorf("%s makes a span by itself", f)
		}
	}
}

// A whole world of hostile names must not put one escape sequence of its own on the screen, nor one line out of place.
func TestAHostileClusterCannotDriveTheTerminal(t *testing.T) {
	const evil = "\x1b[2J\x1b]52;c;ZXZpbA==\x07\u202e\r\nna\u0301\u0301\u0301me👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿"
	s := world()
	s.Cluster, s.Operator = evil, evil
	for _, n := range s.Nodes {
		n.ShortName += evil
		n.KubeletVersion = evil
		n.Annotations["openstack.lcm.mirantis.com/"+evil] = evil
	}
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			l.Message, l.Release, l.InnerState = evil, evil, evil
		}
	}
	for _, i := range s.Instances {
		i.Name, i.Status, i.TaskState, i.Fault, i.Tags = evil+i.Name, evil, evil, evil, []string{evil}
	}
	s.Operations[0].Title, s.Operations[0].Text = evil, evil
	for _, size := range sizes {
		for _, keys := range [][]string{nil, {"1"}, {"4"}, {"5"}, {"6"}, {"i"}, {"enter"}, {"4", "i"}, {"5", "i"}, {"p"}, {":"}} {
			d := drive(s, size.w, size.h).keys(keys...)
			frame := d.shows()
			checkFrame(t, frame, size.w, size.h)
			rest := sgr.ReplaceAllString(frame, "")
			for _, r := range rest {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%dx%d %v: %U is on the screen", size.w, size.h, keys, r)
				}
			}
		}
	}
}

func TestWrappingKeepsWordsAndLosesNothing(t *testing.T) {
	got := wrap("openstack server migrate --live-migration 0cb6df91-8a3c-4f10-9d2e-5b1f0c7a0002", 50)
	if strings.Join(got, "|") != "openstack server migrate --live-migration|0cb6df91-8a3c-4f10-9d2e-5b1f0c7a0002" {
		t.Errorf("a command became %q", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := clean(rapid.StringMatching(`[a-zé日 -]{0,80}`).Draw(rt, "text"), rowLimit)
		w := rapid.IntRange(2, 30).Draw(rt, "width")
		lines := wrap(in, w)
		for _, l := range lines {
			if width(l) > w {
				rt.Fatalf("%q is wider than %d", l, w)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(strings.Join(lines, "")) != squeeze(in) {
			rt.Fatalf("%q became %q", in, lines)
		}
	})
}
