package themes

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Glyphs are the marks of the screen, each exactly one column wide.
type Glyphs struct {
	On       string `json:"on"`       // live, active
	Off      string `json:"off"`      // not live, inactive
	Done     string `json:"done"`     // done
	Needs    string `json:"needs"`    // it needs the operator
	Moves    string `json:"moves"`    // it is under way
	Queued   string `json:"queued"`   // waits for its turn
	Failed   string `json:"failed"`   // it failed
	Unknown  string `json:"unknown"`  // an undocumented value
	Paused   string `json:"paused"`   // held
	Note     string `json:"note"`     // somebody wrote a note about it
	Cursor   string `json:"cursor"`   // before the row under the cursor
	Mark     string `json:"mark"`     // before a marked row
	None     string `json:"none"`     // nothing to show
	Dot      string `json:"dot"`      // between parts of a line
	Arrow    string `json:"arrow"`    // from → to
	Up       string `json:"up"`       // sorted upwards, more above
	Down     string `json:"down"`     // sorted downwards, more below
	Ellipsis string `json:"ellipsis"` // something was cut
	Full     string `json:"full"`     // of a gauge
	Empty    string `json:"empty"`    // of a gauge
	Line     string `json:"line"`     // ─
	Bar      string `json:"bar"`      // │
	TeeDown  string `json:"teeDown"`  // ┬
	TeeUp    string `json:"teeUp"`    // ┴
	TeeRight string `json:"teeRight"` // ├
	TeeLeft  string `json:"teeLeft"`  // ┤
	Cross    string `json:"cross"`    // ┼
	CornerNW string `json:"cornerNW"` // ┌
	CornerNE string `json:"cornerNE"` // ┐
	CornerSW string `json:"cornerSW"` // └
	CornerSE string `json:"cornerSE"` // ┘

	// The bars of the timeline: all but their first column, which has a letter.
	BarPreparing  string `json:"barPreparing"`
	BarEvacuating string `json:"barEvacuating"`
	BarDraining   string `json:"barDraining"`
	BarUpdating   string `json:"barUpdating"`
	BarRebooting  string `json:"barRebooting"`
	BarReturning  string `json:"barReturning"`
	BarAhead      string `json:"barAhead"` // the forecast
	Now           string `json:"now"`      // the line of the present
	Aim           string `json:"aim"`      // the line of the time under the cursor
}

// LoadGlyphs reads the glyphs that every monospaced font has, or those of plain ASCII.
func LoadGlyphs(ascii bool) (Glyphs, error) {
	name := "data/glyphs-unicode.yaml"
	if ascii {
		name = "data/glyphs-ascii.yaml"
	}
	raw, err := files.ReadFile(name)
	if err != nil {
		return Glyphs{}, fmt.Errorf("glyphs: %w", err)
	}
	var g Glyphs
	if err := yaml.UnmarshalStrict(raw, &g); err != nil {
		return Glyphs{}, fmt.Errorf("glyphs %s: %w", name, err)
	}
	return g, nil
}

var asciiOf = map[rune]string{
	'─': "-", '│': "|", '┌': "+", '┐': "+", '└': "+", '┘': "+", '├': "+", '┤': "+", '┬': "+", '┴': "+", '┼': "+",
	'█': "#", '▓': "#", '▒': ":", '░': ".", '▌': "|", '●': "*", '○': "o", '→': ">", '←': "<", '↑': "^", '↓': "v",
	'…': "~", '·': "-", '–': "-", '—': "-", '±': "~", '×': "x", '≥': ">", '≤': "<", '“': "\"", '”': "\"", '’': "'",
}

// ASCII is the character that replaces r where only ASCII can be shown; "?" for a rune without one.
func ASCII(r rune) string {
	if r < 0x80 {
		return string(r)
	}
	if s, ok := asciiOf[r]; ok {
		return s
	}
	return "?"
}
