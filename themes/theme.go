// Package themes holds how the screen looks: the colour and weight of each token of meaning, and the glyph of each state. Themes
// are embedded YAML files, decoded strictly: a theme with a missing or an unknown token does not load.
package themes

import (
	"embed"
	"fmt"
	"path"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed data/*.yaml
var files embed.FS

// Token is one meaning that has a look. Every state on the screen is a glyph, a word and a token, never a token alone.
type Token string

// The tokens.
const (
	Text        Token = "text"        // ordinary text
	Dim         Token = "dim"         // unimportant: nothing happens there
	Strong      Token = "strong"      // names, titles
	Rule        Token = "rule"        // the lines between panes
	RuleFocus   Token = "ruleFocus"   // the line above the pane that has the keys
	Needs       Token = "needs"       // what needs the operator
	Moves       Token = "moves"       // what is under way
	Good        Token = "good"        // what is done, live, safe
	Warn        Token = "warn"        // what may hold things up
	Bad         Token = "bad"         // what failed
	Stale       Token = "stale"       // facts that are not fresh
	Key         Token = "key"         // keys in footer and help
	Hint        Token = "hint"        // what keys do, in the footer
	Off         Token = "off"         // what cannot be done now
	Match       Token = "match"       // filter text, marks
	Input       Token = "input"       // text being typed
	Selected    Token = "selected"    // laid over the row under the cursor
	Panel       Token = "panel"       // laid under a box over the dashboard; without a background boxes get borders
	Button      Token = "button"      // a button without focus
	ButtonFocus Token = "buttonFocus" // the button that enter presses
	Armed       Token = "armed"       // the word ARMED
	ReadOnly    Token = "readOnly"    // the words READ-ONLY
	Tab         Token = "tab"         // the name of a pane that is not shown
	TabFocus    Token = "tabFocus"    // the name of the pane that is shown
)

// Tokens are all tokens, in the order in which a theme file lists them.
func Tokens() []Token {
	return []Token{Text, Dim, Strong, Rule, RuleFocus, Needs, Moves, Good, Warn, Bad, Stale, Key, Hint, Off, Match, Input,
		Selected, Panel, Button, ButtonFocus, Armed, ReadOnly, Tab, TabFocus}
}

// Look is how one token is drawn. A colour is "#rrggbb", a number of the 256-colour palette, or empty for the terminal's own.
// Foreground16 and Background16 (0 to 15, as text) replace the colours on terminals with 16 colours only; where both are empty,
// the terminal's own colours are used and the attributes carry the meaning.
type Look struct {
	Foreground   string `json:"fg,omitempty"`
	Background   string `json:"bg,omitempty"`
	Foreground16 string `json:"fg16,omitempty"`
	Background16 string `json:"bg16,omitempty"`
	Bold         bool   `json:"bold,omitempty"`
	Faint        bool   `json:"faint,omitempty"`
	Italic       bool   `json:"italic,omitempty"`
	Underline    bool   `json:"underline,omitempty"`
	Reverse      bool   `json:"reverse,omitempty"`
	// Reverse16 reverses on terminals with 16 colours or none, where a background would not be seen.
	Reverse16 bool `json:"reverse16,omitempty"`
}

// Theme is a complete look.
type Theme struct {
	Name  string         `json:"name"`
	Dark  bool           `json:"dark"` // made for a dark background
	Looks map[Token]Look `json:"looks"`
}

// Auto is the theme name for "dark, or light when the terminal says that its background is light".
const Auto = "auto"

// Load reads the embedded theme of that name; Auto is the dark one. An unknown name is an error that lists the known ones.
func Load(name string) (Theme, error) {
	if name == "" || name == Auto {
		name = "dark"
	}
	raw, err := files.ReadFile(path.Join("data", name+".yaml"))
	if err != nil || strings.HasPrefix(name, "glyphs-") {
		return Theme{}, fmt.Errorf("theme %q: there is no such theme; there are %s", name, strings.Join(Names(), ", "))
	}
	return Parse(name, raw)
}

// Parse reads a theme from YAML, strictly: every token once, no unknown field, colours well formed. The name is for
// errors.
func Parse(name string, raw []byte) (Theme, error) {
	var t Theme
	if err := yaml.UnmarshalStrict(raw, &t); err != nil {
		return Theme{}, fmt.Errorf("theme %q: %w", name, err)
	}
	known := make(map[Token]bool)
	for _, token := range Tokens() {
		known[token] = true
		look, ok := t.Looks[token]
		if !ok {
			return Theme{}, fmt.Errorf("theme %q: token %q is missing", name, token)
		}
		if err := look.check(); err != nil {
			return Theme{}, fmt.Errorf("theme %q: token %q: %w", name, token, err)
		}
	}
	for token := range t.Looks {
		if !known[token] {
			return Theme{}, fmt.Errorf("theme %q: there is no token %q", name, token)
		}
	}
	return t, nil
}

// Names are the names of the embedded themes, sorted.
func Names() []string {
	entries, err := files.ReadDir("data")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		if !strings.HasPrefix(name, "glyphs-") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func (l Look) check() error {
	for _, c := range []string{l.Foreground, l.Background} {
		if _, err := parseColor(c); err != nil {
			return err
		}
	}
	for _, c := range []string{l.Foreground16, l.Background16} {
		v, err := parseColor(c)
		if err != nil {
			return err
		}
		if v != nil && v.index > 15 || v != nil && v.rgb {
			return fmt.Errorf("%q is not one of the 16 colours, 0 to 15", c)
		}
	}
	return nil
}
