package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"lockstep/sim/scenario"
)

// Formats of the list of scenarios.
const (
	formatText = "text"
	formatJSON = "json"
)

// listScenarios prints the scenarios and what each teaches: by groups and wrapped on a terminal; elsewhere one line each, with
// tabs between name, group, title and text; or as JSON.
// scenariosDocument is what `lockstep demo --list -o json` prints.
type scenariosDocument struct {
	Format    int              `json:"format"` // of the document: 1
	Scenarios []scenario.Entry `json:"scenarios"`
}

func listScenarios(w io.Writer, format string) error {
	all, err := scenario.Catalogue()
	if err != nil {
		return err
	}
	switch format {
	case formatJSON:
		return printJSON(w, scenariosDocument{1, all})
	case formatText:
	default:
		return fmt.Errorf("--output is %q; it takes %s or %s", format, formatText, formatJSON)
	}
	if width := terminalWidth(w); width > 0 {
		_, err = io.WriteString(w, scenarioPages(all, width))
		return err
	}
	for _, e := range all {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, e.Group, e.Title, e.Teaches); err != nil {
			return err
		}
	}
	return nil
}

// terminalWidth is how many columns a terminal has; 0 for anything else.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

const (
	readable = 100 // columns: longer lines are hard to read
	cramped  = 60  // columns, below which the text stands under its title instead of beside the name
)

// scenarioPages is the list for a terminal of width columns: the names beside their titles, and the text below.
func scenarioPages(all []scenario.Entry, width int) string {
	width = min(width, readable)
	indent := 4
	if width >= cramped {
		longest := slices.MaxFunc(all, func(a, b scenario.Entry) int { return len(a.Name) - len(b.Name) })
		indent += len(longest.Name)
	}
	var b strings.Builder
	for _, g := range append(scenario.Groups(), scenario.Group{Title: "Others"}) {
		members := slices.DeleteFunc(slices.Clone(all), func(e scenario.Entry) bool { return e.Group != g.Name })
		if len(members) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n\n", g.Title)
		for _, e := range members {
			title := e.Title
			if e.Name == scenario.Default {
				title += " (the default)"
			}
			head := "  " + e.Name
			if width >= cramped {
				head += strings.Repeat(" ", indent-len(head))
			} else {
				head += "\n" + strings.Repeat(" ", indent)
			}
			b.WriteString(head + hanging(title, indent, width) + "\n")
			b.WriteString(strings.Repeat(" ", indent) + hanging(e.Teaches, indent, width) + "\n\n")
		}
	}
	b.WriteString("Open one with: lockstep demo NAME\n")
	return b.String()
}

// hanging wraps a text at its spaces and indents the following lines.
func hanging(text string, indent, width int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		switch n := ansi.StringWidth(word); {
		case i == 0:
			column += n
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}
