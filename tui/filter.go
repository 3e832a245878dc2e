package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// offersLine is how the filter can be completed, in at most w columns.
func offersLine(words []string, w int) draw.Line {
	var out draw.Line
	for i, word := range words {
		more := draw.Line{draw.Blank(2), draw.Text(themes.Hint, word)}
		left := len(words) - i - 1
		rest := 0
		if left > 0 {
			rest = len("  +") + len(itoa(left))
		}
		if out.Width()+more.Width()+rest > w {
			if over := "  +" + itoa(left+1); out.Width()+len(over) <= w && len(out) > 0 {
				out = out.And(themes.Dim, over)
			}
			return out
		}
		out = append(out, more...)
	}
	return out
}

// filterLine is the filter while it is typed: how many rows it lets through, and how it can be completed.
func (m *Model) filterLine(w int) draw.Line {
	p := m.focused()
	shown, all := p.Count()
	out := typedLine(p.Filter(), draw.One(themes.Dim, "  "+itoa(shown)+" of "+itoa(all)), w)
	keys := draw.One(themes.Dim, "   enter keeps it   esc clears it")
	_, words := p.Offers()
	if len(words) > 0 {
		keys = draw.One(themes.Dim, "   tab completes   enter keeps it   esc clears it")
		if w < 110 {
			keys = draw.One(themes.Dim, "   tab  enter keeps it  esc clears")
		}
	}
	return append(append(out, offersLine(words, w-out.Width()-keys.Width())...), keys...)
}

// nodeKeys are the filter keys of rows that are about a node; node returns a row's node.
func nodeKeys[T any](s *scene, node func(T) string) []table.Key[T] {
	of := func(f func(v *core.NodeView) []string) func(T) []string {
		return func(r T) []string {
			if s.snap == nil {
				return nil
			}
			v, ok := progress.NodeView(s.snap, node(r))
			if !ok {
				return nil
			}
			return f(v)
		}
	}
	return []table.Key[T]{
		{Name: "role", Values: of(func(v *core.NodeView) []string { return roleNames(v.Node) })},
		{Name: "zone", Values: of(func(v *core.NodeView) []string { return []string{zoneOf(v)} })},
		{Name: "rack", Values: of(func(v *core.NodeView) []string { return []string{rackOf(v)} })},
		{Name: "group", Values: of(func(v *core.NodeView) []string { return []string{groupOf(s, v)} })},
		{Name: "label", Values: of(labelsOf)},
		{Name: "project", Values: of(func(v *core.NodeView) []string { return projectsOn(s.snap, v.Name) })},
	}
}

// roleNames are a node's roles, both in the column's abbreviations and by their names.
func roleNames(n *core.Node) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, r := range roleWords {
		if n.Is(r.role) {
			out = append(out, r.short, string(r.role))
		}
	}
	return out
}

// zoneOf is the availability zone of a node's nova-compute; empty when it has none.
func zoneOf(v *core.NodeView) string {
	if v.Service == nil {
		return ""
	}
	return v.Service.Zone
}

func betweenWords(r rune) bool { return r == '-' || r == '_' || r == '.' }

// rackOf is the node's rack, from the first label whose key has the word rack in its last part: "rack", "rack-id",
// "topology.rook.io/rack". MOSK has no label of its own for it.
func rackOf(v *core.NodeView) string {
	if v.Node == nil {
		return ""
	}
	found := ""
	for key := range v.Node.Labels {
		if !strings.Contains(key, "ack") && !strings.Contains(key, "ACK") { // most labels, at once
			continue
		}
		for word := range strings.FieldsFuncSeq(key[strings.LastIndexByte(key, '/')+1:], betweenWords) {
			if strings.EqualFold(word, "rack") && (found == "" || key < found) {
				found = key
			}
		}
	}
	return v.Node.Labels[found]
}

// groupOf is the update group of a node's machine; empty when it is not known.
func groupOf(s *scene, v *core.NodeView) string {
	if mv := progress.MachineOf(s.snap, v.Name); mv != nil && mv.Machine != nil {
		return mv.Machine.Group
	}
	return ""
}

// labelsOf are a node's own labels, without Kubernetes' and Container Cloud's.
func labelsOf(v *core.NodeView) []string {
	if v.Node == nil {
		return nil
	}
	out := make([]string, 0, len(v.Node.Labels))
	for key, value := range v.Node.Labels {
		out = append(out, key+"="+value)
	}
	slices.Sort(out)
	return out
}

// projectsOn are the projects that have instances on a node.
func projectsOn(s *core.Snapshot, node string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, in := range s.ByHost[s.HostOf(node)] {
		if !seen[in.ProjectID] {
			seen[in.ProjectID] = true
			out = append(out, s.Project(in.ProjectID))
		}
	}
	slices.Sort(out)
	return out
}

// completeFilter handles tab while a filter is typed.
func (m *Model) completeFilter() tea.Cmd {
	if m.focused().Complete() {
		return m.selectionMoved()
	}
	return nil
}
