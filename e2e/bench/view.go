package main

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/e2e/terminal"
)

// view is what a screen shows of a list: its rows by name, from the top, and the row under the cursor.
type view struct {
	names    []string
	rows     map[string]row
	selected string // empty while no row is
}

// row is one row of a list: its cells by the titles of their columns.
type row map[string]string

// program knows the screens of a dashboard.
type program struct {
	name string
	read func(terminal.Screen) view
	live func(terminal.Screen, bool) bool // everything that it reads is there; with OpenStack or without
}

var lockstepProgram = program{name: programLockstep, read: readNodes, live: func(s terminal.Screen, openStack bool) bool {
	return s.Contains("● kubernetes") && (!openStack || s.Contains("● openstack"))
}}

// cursorMark is what Lockstep draws before the row under the cursor.
const cursorMark = "▌"

// nodeColumns are the titles of the columns of Lockstep's nodes, and lockColumns of its locks.
var (
	nodeColumns = []string{"node", "stage", "for", "mode", "os", "ce", "tf", "inst", "what"}
	lockColumns = []string{"of", "controller", "state", "inner", "release", "for", "says"}
)

// readNodes reads the pane of nodes.
func readNodes(s terminal.Screen) view { return readPane(s, nodeColumns, 1) }

// readLocks reads the pane of locks; the rows' names are those of the nodes and the controllers.
func readLocks(s terminal.Screen) view { return readPane(s, lockColumns, 2) }

// readPane reads the pane of Lockstep that has these columns. The first keys columns make a row's name.
func readPane(s terminal.Screen, columns []string, keys int) view {
	v := view{rows: map[string]row{}}
	for y := range s.Rows {
		at := titles(s.Cells[y], columns)
		if at == nil {
			continue
		}
		for y++; y < s.Rows && !ends(s.Cells[y]); y++ {
			cells := row{}
			for i, column := range columns {
				end := s.Columns
				if i+1 < len(at) {
					end = at[i+1]
				}
				cells[column] = strings.TrimSpace(textOf(s.Cells[y][at[i]:end]))
			}
			var parts []string
			for _, column := range columns[:keys] {
				parts = append(parts, cells[column])
			}
			name := strings.TrimSpace(strings.Join(parts, " "))
			if cells[columns[0]] == "" {
				continue
			}
			v.names, v.rows[name] = append(v.names, name), cells
			if at[0] >= 2 && s.Cells[y][at[0]-2].Text == cursorMark {
				v.selected = name
			}
		}
		break
	}
	return v
}

// titles returns where each of the columns begins in a line of titles; nil if the line is none of these columns.
func titles(line []terminal.Cell, columns []string) []int {
	var words []string
	var at []int
	for x := 0; x < len(line); x++ {
		if line[x].Text == " " || line[x].Text == "" {
			continue
		}
		begin := x
		for x < len(line) && line[x].Text != " " && line[x].Text != "" {
			x++
		}
		words, at = append(words, textOf(line[begin:x])), append(at, begin)
	}
	for i := range words {
		if i+len(columns) <= len(words) && slices.Equal(words[i:i+len(columns)], columns) {
			return at[i : i+len(columns)]
		}
	}
	return nil
}

// ends tells whether the line is the border below a pane, or the empty one below all panes.
func ends(line []terminal.Cell) bool {
	return line[0].Text == "─" || strings.TrimSpace(textOf(line)) == ""
}

func textOf(cells []terminal.Cell) string {
	var text strings.Builder
	for _, c := range cells {
		text.WriteString(c.Text)
	}
	return text.String()
}

var k9sProgram = program{name: programK9s, read: readK9s, live: func(s terminal.Screen, _ bool) bool { return len(readK9s(s).names) > 0 }}

// readK9s reads k9s's list of locks. The cursor is a row with another background than the rest.
func readK9s(s terminal.Screen) view {
	v := view{rows: map[string]row{}}
	backgrounds, drawn := map[string]string{}, map[string]int{}
	for y := range s.Rows {
		fields := strings.Fields(s.Line(y))
		i := slices.IndexFunc(fields, isNodeLock)
		if i < 0 {
			continue
		}
		name := fields[i]
		v.names, v.rows[name] = append(v.names, name), row{"name": name}
		column, _, _ := s.Find(name)
		style := s.Cells[y][column].Style
		backgrounds[name] = fmt.Sprint(style.Background, style.Reverse)
		drawn[backgrounds[name]]++
	}
	for name, background := range backgrounds {
		if drawn[background] == 1 && len(v.names) > 2 {
			v.selected = name
		}
	}
	return v
}

func isNodeLock(word string) bool {
	return slices.ContainsFunc(controllers, func(c controllerNames) bool { return strings.HasPrefix(word, c.prefix+"kaas-node-") })
}
