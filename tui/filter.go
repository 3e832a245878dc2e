package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
)

// filterKey is a word that a filter can ask for before a colon: "zone:az-1". The titles of columns are such words as well.
type filterKey[T any] struct {
	name   string
	values func(T) []string
}

// filterTerm is a word of a filter: a text that is anywhere in the row, or one of some texts that a key has.
type filterTerm struct {
	key  string   // empty: anywhere
	any  []string // in small letters
	deny bool     // "-stage:done": the rows without it
}

// filterWords parts a filter at its spaces; what stands in quotation marks is one word.
func filterWords(filter string) []string {
	var out []string
	var word strings.Builder
	quoted := false
	for _, r := range filter {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			if word.Len() > 0 {
				out = append(out, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		out = append(out, word.String())
	}
	return out
}

// filterTerms reads a filter. A word before a colon that is no key is text like any other.
func (t *table[T]) filterTerms() []filterTerm {
	var out []filterTerm
	names := t.keyNames()
	for _, w := range filterWords(t.filter) {
		w = strings.ToLower(w)
		key, value, keyed := strings.Cut(w, ":")
		bare := strings.TrimPrefix(key, "-")
		if !keyed || !slices.Contains(names, bare) {
			out = append(out, filterTerm{any: []string{w}})
			continue
		}
		term := filterTerm{key: bare, deny: bare != key}
		for v := range strings.SplitSeq(value, ",") {
			if v != "" {
				term.any = append(term.any, v)
			}
		}
		if len(term.any) > 0 { // nothing is asked for yet
			out = append(out, term)
		}
	}
	return out
}

// keyNames are the words that a filter can ask for, in their order.
func (t *table[T]) keyNames() []string {
	var out []string
	for i := range t.columns {
		if name := strings.ToLower(t.columns[i].title); name != "" && !strings.Contains(name, " ") {
			out = append(out, name)
		}
	}
	for _, k := range t.keys {
		if !slices.Contains(out, k.name) {
			out = append(out, k.name)
		}
	}
	return out
}

// keyValues are what a row has for a key.
func (t *table[T]) keyValues(r T, key string) []string {
	for _, k := range t.keys {
		if k.name == key {
			return k.values(r)
		}
	}
	for i := range t.columns {
		if c := &t.columns[i]; strings.ToLower(c.title) == key {
			return []string{strings.TrimSpace(c.cell(r).text())}
		}
	}
	return nil
}

// passes tells whether the filter lets a row through: all of its terms hold.
func (t *table[T]) passes(r T, terms []filterTerm) bool {
	text := ""
	for _, term := range terms {
		holds := false
		if term.key == "" {
			if text == "" {
				text = t.rowText(r)
			}
			holds = strings.Contains(text, term.any[0])
		} else {
			holds = slices.ContainsFunc(t.keyValues(r, term.key), func(v string) bool {
				v = strings.ToLower(v)
				return slices.ContainsFunc(term.any, func(want string) bool { return strings.Contains(v, want) })
			})
		}
		if holds == term.deny {
			return false
		}
	}
	return true
}

// rowText is all that a row says, in small letters.
func (t *table[T]) rowText(r T) string {
	var text strings.Builder
	for i := range t.columns {
		if c := &t.columns[i]; !c.hidden() {
			text.WriteString(strings.ToLower(c.cell(r).text()))
			text.WriteByte(' ')
		}
	}
	text.WriteString(strings.ToLower(t.id(r)))
	return text.String()
}

// offers are what the last word of the filter can go on with: keys, or what the rows have for the key. done is how much of the filter
// stays as it is.
func (t *table[T]) offers() (done string, words []string) {
	text := t.filter
	at := strings.LastIndexByte(text, ' ') + 1
	if q := strings.LastIndexByte(text, '"'); strings.Count(text, `"`)%2 == 1 { // the word is in quotation marks that are still open
		at = strings.LastIndexByte(text[:q], ' ') + 1
	}
	word := text[at:]
	names := t.keyNames()
	key, value, keyed := strings.Cut(word, ":")
	if !keyed {
		bare := strings.TrimPrefix(word, "-")
		for _, n := range names {
			if strings.HasPrefix(n, strings.ToLower(bare)) {
				words = append(words, n+":")
			}
		}
		return text[:len(text)-len(bare)], words
	}
	key = strings.ToLower(strings.TrimPrefix(key, "-"))
	if !slices.Contains(names, key) {
		return text, nil
	}
	last := value[strings.LastIndexByte(value, ',')+1:]
	want := strings.ToLower(strings.Trim(last, `"`))
	const most = 200
	for _, r := range t.all {
		for _, v := range t.keyValues(r, key) {
			if v != "" && strings.HasPrefix(strings.ToLower(v), want) && !slices.Contains(words, v) && len(words) < most {
				words = append(words, v)
			}
		}
	}
	slices.Sort(words)
	return text[:len(text)-len(last)], words
}

// complete goes on with the filter as far as there is one way only; it tells whether there was any.
func (t *table[T]) complete() bool {
	done, words := t.offers()
	if len(words) == 0 {
		return false
	}
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(strings.ToLower(w), strings.ToLower(common)) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	end := ""
	if len(words) == 1 && !strings.HasSuffix(common, ":") {
		end = " "
	}
	if strings.Contains(common, " ") {
		common = `"` + common
		if end != "" {
			common += `"`
		}
	}
	next := done + common + end
	if len(next) <= len(t.filter) && strings.TrimRight(next, " ") != strings.TrimRight(t.filter, " ") || next == t.filter {
		return false
	}
	t.setFilter(next)
	return true
}

// known are the words that the filter could ask for, for whom it finds nothing.
func (t *table[T]) known() []string { return t.keyNames() }

// offersLine is what the filter can go on with, in at most w columns.
func offersLine(words []string, w int) line {
	var out line
	for i, word := range words {
		more := line{blank(2), txt(themes.Hint, word)}
		left := len(words) - i - 1
		rest := 0
		if left > 0 {
			rest = len("  +") + len(itoa(left))
		}
		if out.width()+more.width()+rest > w {
			if over := "  +" + itoa(left+1); out.width()+len(over) <= w && len(out) > 0 {
				out = out.and(themes.Dim, over)
			}
			return out
		}
		out = append(out, more...)
	}
	return out
}

// filterLine is the filter while it is typed: how much it lets through, and what it can go on with.
func (m *Model) filterLine(w int) line {
	p := m.panes[m.focus]
	shown, all := p.count()
	out := line{txt(themes.Key, " /"), txt(themes.Input, p.filterText()+" "), txt(themes.Dim, "  "+itoa(shown)+" of "+itoa(all))}
	keys := one(themes.Dim, "   enter keeps it   esc clears it")
	_, words := p.offers()
	if len(words) > 0 {
		keys = one(themes.Dim, "   tab completes   enter keeps it   esc clears it")
		if w < 110 {
			keys = one(themes.Dim, "   tab  enter keeps it  esc clears")
		}
	}
	return append(append(out, offersLine(words, w-out.width()-keys.width())...), keys...)
}

// nodeKeys are what rows that are about a node can be filtered by; node names a row's.
func nodeKeys[T any](m *Model, node func(T) string) []filterKey[T] {
	of := func(f func(v core.NodeView) []string) func(T) []string {
		return func(r T) []string {
			if m.snap == nil {
				return nil
			}
			v, ok := m.snap.NodeView(node(r))
			if !ok {
				return nil
			}
			return f(v)
		}
	}
	return []filterKey[T]{
		{"role", of(func(v core.NodeView) []string { return roleNames(v.Node) })},
		{"zone", of(func(v core.NodeView) []string { return []string{zoneOf(v)} })},
		{"rack", of(func(v core.NodeView) []string { return []string{rackOf(v)} })},
		{"group", of(func(v core.NodeView) []string { return []string{groupOf(m, v)} })},
		{"label", of(labelsOf)},
		{"project", of(func(v core.NodeView) []string { return projectsOn(m.snap, v.Name) })},
	}
}

// roleNames are a node's roles, as the column calls them and by their names.
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
func zoneOf(v core.NodeView) string {
	if v.Service == nil {
		return ""
	}
	return v.Service.Zone
}

// rackOf is what a node's own label says of its rack: the first one whose key's last part has the word, as "rack", "rack-id" or
// "topology.rook.io/rack". MOSK has no label of its own for it.
func rackOf(v core.NodeView) string {
	if v.Node == nil {
		return ""
	}
	found := ""
	for key := range v.Node.Labels {
		if !strings.Contains(key, "ack") && !strings.Contains(key, "ACK") { // most labels, at once
			continue
		}
		name := strings.ToLower(key[strings.LastIndexByte(key, '/')+1:])
		words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		if slices.Contains(words, "rack") && (found == "" || key < found) {
			found = key
		}
	}
	return v.Node.Labels[found]
}

// groupOf is the update group of a node's machine; empty when it is not known.
func groupOf(m *Model, v core.NodeView) string {
	if mv := m.snap.MachineOf(v.Name); mv != nil && mv.Machine != nil {
		return mv.Machine.Group
	}
	return ""
}

// labelsOf are a node's own labels, without Kubernetes' and Container Cloud's.
func labelsOf(v core.NodeView) []string {
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

// differ tells whether rows have more than one value: a column in which all say the same says nothing.
func differ[T any](rows []T, value func(T) string) bool {
	first := ""
	for _, r := range rows {
		switch v := value(r); {
		case v == "":
		case first == "":
			first = v
		case v != first:
			return true
		}
	}
	return false
}

// completeFilter is the key tab while a filter is typed.
func (m *Model) completeFilter() tea.Cmd {
	if m.panes[m.focus].complete() {
		return m.selectionMoved()
	}
	return nil
}

// hiddenMarks are how many marked rows the filter hides: what is done with the marked ones is done with them as well.
func (t *table[T]) hiddenMarks() int {
	n := len(t.marked)
	for _, id := range t.order {
		if t.marked[id] {
			n--
		}
	}
	return n
}
