package procedure

import (
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"lockstep/core"
	"pgregory.net/rapid"
)

// formulaStarts are the characters that make a cell a formula.
const formulaStarts = "=+-@＝＋－＠"

// For any names of instances, a spreadsheet takes no cell as a formula, and there is one line per instance.
func TestCSVIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := namedByUsers(func(what string) string { return hostileName.Draw(t, what) })
		rows, err := csv.NewReader(strings.NewReader(OwnersCSV(notes))).ReadAll()
		if err != nil || len(rows) != 3 || len(rows[0]) != len(ownersHeader) {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				noFormula(t, cell)
				if strings.ContainsFunc(cell, unicode.IsControl) {
					t.Fatalf("the cell %q is not one line", cell)
				}
			}
		}
	})
}

// A spreadsheet splits cells by its user's locale and has its own rules for quotes: still no cell is a formula.
func TestCSVIsSafeWhateverTheSeparator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := OwnersCSV(namedByUsers(func(what string) string { return hostileName.Draw(t, what) }))
		for _, separator := range ",;\t|:" {
			for how, read := range map[string]func(string, rune) []string{
				"quotes at a cell's beginning only": quotedAtTheBeginning, "quotes anywhere": quotedAnywhere, "no quotes at all": quotedNowhere,
			} {
				for line := range strings.Lines(text) {
					for _, cell := range read(strings.TrimSuffix(line, "\n"), separator) {
						if strings.TrimSpace(cell) != "" {
							noFormula(t, cell)
						}
						if t.Failed() {
							t.Fatalf("parted at %q, %s: %s", separator, how, line)
						}
					}
				}
			}
		}
	})
}

// Every field is quoted, so that a locale's own separator within a field does not count.
func TestCSVQuotesEveryField(t *testing.T) {
	text := OwnersCSV(namedByUsers(func(string) string { return `b;=cmd|' /C calc'!A0` }))
	line := regexp.MustCompile(`^"(?:[^"]|"")*"(?:,"(?:[^"]|"")*"){14}$`)
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("not quoted: %s", l)
		}
	}
	if !strings.Contains(text, `"b;'=cmd|' /C calc'!A0"`) {
		t.Errorf("got %s", text)
	}
}

// hostileName is what a user may have called something.
var hostileName = rapid.OneOf(
	rapid.SampledFrom([]string{`=cmd|' /C calc'!A0`, `b;=cmd|' /C calc'!A0`, "+1", "-1", "@SUM(A1)", "\t=1", " =1", "a,b", "a\"b", "a\nb",
		"\r=1", "a;\"=1", "\u00a0=1", "\ufeff=1", "x\u2028=1"}),
	rapid.StringOf(rapid.SampledFrom([]rune("=+-@＝,;|:\t\n\r\"' \u00a0\u200b\ufeff\u2028ab"))),
	rapid.String(),
)

func namedByUsers(name func(what string) string) []OwnerNote {
	sc := withOwners()
	for _, in := range sc.Instances.All() {
		in.Name = name("name")
	}
	sc.Projects["p2"] = name("project")
	c := core.Contacts{People: map[string]core.Person{"u-jd": {ID: "u-jd", Name: name("user"), Email: name("mail")}}}
	return OwnerNotes(sc.Snapshot, []string{"cmp-01"}, c, false)
}

func noFormula(t *rapid.T, cell string) {
	first := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	if first != "" && strings.ContainsRune(formulaStarts, []rune(first)[0]) {
		t.Errorf("the cell %q begins a formula", cell)
	}
}

// quotedAtTheBeginning reads a cell that begins with a quote up to the closing quote, and then on to the separator.
func quotedAtTheBeginning(line string, separator rune) []string {
	var cells []string
	var cell strings.Builder
	quoted, begins := false, true
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case begins && r == '"':
			quoted = true
		case quoted && r == '"' && i+1 < len(runes) && runes[i+1] == '"':
			cell.WriteRune('"')
			i++
		case quoted && r == '"':
			quoted = false
		case !quoted && r == separator:
			cells = append(cells, cell.String())
			cell.Reset()
			begins = true
			continue
		default:
			cell.WriteRune(r)
		}
		begins = false
	}
	return append(cells, cell.String())
}

// quotedAnywhere takes each quote as the beginning or the end of a quotation.
func quotedAnywhere(line string, separator rune) []string {
	cells := []string{""}
	quoted := false
	for _, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case r == separator && !quoted:
			cells = append(cells, "")
		default:
			cells[len(cells)-1] += string(r)
		}
	}
	return cells
}

// quotedNowhere takes quotes as ordinary characters, and drops them.
func quotedNowhere(line string, separator rune) []string {
	var cells []string
	for _, cell := range strings.Split(line, string(separator)) {
		cells = append(cells, strings.ReplaceAll(cell, `"`, ""))
	}
	return cells
}
