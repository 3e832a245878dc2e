package themes

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestEveryEmbeddedThemeLoads(t *testing.T) {
	names := Names()
	if got := strings.Join(names, " "); got != "dark light mono" {
		t.Fatalf("themes are %q", got)
	}
	for _, name := range names {
		theme, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if theme.Name != name {
			t.Errorf("theme in %s.yaml calls itself %q", name, theme.Name)
		}
	}
	if auto, err := Load(Auto); err != nil || auto.Name != "dark" {
		t.Errorf("auto starts with %q, %v", auto.Name, err)
	}
}

func TestThemesAreDecodedStrictly(t *testing.T) {
	raw, err := files.ReadFile("data/dark.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for _, c := range []struct{ what, from, to, want string }{
		{"a missing token", "  moves: ", "  movez: ", "moves"},
		{"an unknown field", `{bold: true}`, `{bolt: true}`, "bolt"},
		{"a colour out of range", `"203"`, `"300"`, "300"},
		{"a broken hex colour", `"203"`, `"#12345"`, "#12345"},
		{"a 16-colour value that is none", `fg16: "9"`, `fg16: "99"`, "99"},
	} {
		changed := strings.Replace(good, c.from, c.to, 1)
		if changed == good {
			t.Fatalf("%s: the case does not change the theme", c.what)
		}
		if _, err := Parse("x", []byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one that names %q", c.what, err, c.want)
		}
	}
	if _, err := Load("glyphs-ascii"); err == nil {
		t.Error("a glyph set loads as a theme")
	}
	if _, err := Load("nope"); err == nil || !strings.Contains(err.Error(), "light") {
		t.Errorf("the error for an unknown theme does not list the known ones: %v", err)
	}
}

func TestGlyphsAreOneColumnWide(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		g, err := LoadGlyphs(ascii)
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			s := v.Field(i).String()
			if ansi.StringWidth(s) != 1 || ansi.StringWidthWc(s) != 1 {
				t.Errorf("ascii=%v: glyph %s is %q, not one column wide", ascii, v.Type().Field(i).Name, s)
			}
			if ascii && s[0] >= 0x80 {
				t.Errorf("glyph %s is not ASCII: %q", v.Type().Field(i).Name, s)
			}
		}
	}
	for r, s := range asciiOf {
		if len(s) != 1 || s[0] >= 0x80 {
			t.Errorf("ASCII stand-in for %q is %q", r, s)
		}
	}
}

// The entries that need the operator, failures and the selection must be told apart without any colour.
func TestMonoTellsStatesApartWithoutColour(t *testing.T) {
	theme, err := Load("mono")
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range Tokens() {
		look := theme.Looks[token]
		if look.Foreground+look.Background+look.Foreground16+look.Background16 != "" {
			t.Errorf("mono has a colour for %s", token)
		}
	}
	for _, token := range []Token{Needs, Bad, Selected, ButtonFocus, Armed} {
		if theme.Looks[token].SGR(DepthNone) == "" {
			t.Errorf("mono draws %s like plain text", token)
		}
	}
}

// With 16 colours the selection's background would be lost: there the row under the cursor is reversed.
func TestSelectionIsSeenInSixteenColours(t *testing.T) {
	for _, name := range Names() {
		theme, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, depth := range []Depth{DepthNone, Depth16} {
			if sgr := theme.Looks[Selected].SGR(depth); sgr != "7" {
				t.Errorf("%s at depth %d: selection is %q", name, depth, sgr)
			}
		}
	}
}
