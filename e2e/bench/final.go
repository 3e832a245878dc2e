package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// wrongNodes tells what the rows of nodes show otherwise than it is. Without hosts, the numbers of instances are not looked at.
func (f final) wrongNodes(machines []machine, rows map[string]row, hosts map[string]int) []string {
	var wrong []string
	for _, m := range machines {
		shown, found := rows[m.Short]
		if !found {
			wrong = append(wrong, m.Short+" has no row")
			continue
		}
		mode, changed := f.modes[m.Short]
		if changed && shown["mode"] != mode {
			wrong = append(wrong, fmt.Sprintf("%s has the mode %s, its row shows %q", m.Short, mode, shown["mode"]))
		}
		for i, column := range []string{"ce", "tf"} {
			state, changed := f.states[m.Short+" "+controllers[1+i].name]
			if changed && shown[column] != glyphs[state] {
				wrong = append(wrong, fmt.Sprintf("%s is %s for %s, its row shows %q", m.Short, state, controllers[1+i].name, shown[column]))
			}
		}
		if count := strconv.Itoa(hosts[m.Node]); hosts != nil && !m.Master && shown["inst"] != count {
			wrong = append(wrong, fmt.Sprintf("%s has %s instances, its row shows %q", m.Short, count, shown["inst"]))
		}
	}
	return wrong
}

// wrongTexts tells what the rows of locks show otherwise than the locks say.
func (f final) wrongTexts(rows map[string]row) []string {
	var wrong []string
	for _, node := range slices.Sorted(maps.Keys(f.texts)) {
		text, shown := f.texts[node], rows[node+" "+controllers[0].name]["says"]
		begin := strings.TrimSuffix(strings.TrimPrefix(shown, "works: "), "…")
		if begin == "" || !strings.HasPrefix(text.plain, begin) && !strings.HasPrefix(text.named, begin) {
			wrong = append(wrong, fmt.Sprintf("the lock of %s says %q, its row shows %q", node, text.plain, shown))
		}
	}
	return wrong
}
