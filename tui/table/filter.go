package table

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Key is a word that a filter can use before a colon: "zone:az-1". Titles of columns work, too.
type Key[T any] struct {
	Name   string
	Values func(T) []string
}

// filterTerm is a word of a filter: a text anywhere in the row, or one of several values of a key. A value is looked for in what the row
// has; with wholeValue before it, it is all that the row has: "node:=cmp-1" is not cmp-10.
type filterTerm struct {
	key  string   // empty: anywhere
	any  []string // in small letters
	deny bool     // "-stage:done": the rows without it
}

// wholeValue stands before a value that must be whole.
const wholeValue = "="

// finds tells whether a value of a row is what the filter wants. Both are in small letters.
func finds(value, want string) bool {
	if whole, ok := strings.CutPrefix(want, wholeValue); ok {
		return value == whole
	}
	return strings.Contains(value, want)
}

// filterWords splits a filter at its spaces; a quoted text is one word.
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

// filterTerms reads a filter. A word before a colon that is not a key is ordinary text.
func (t *Table[T]) filterTerms() []filterTerm {
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
			if v != "" && v != wholeValue {
				term.any = append(term.any, v)
			}
		}
		if len(term.any) > 0 { // nothing is asked for yet
			out = append(out, term)
		}
	}
	return out
}

// keyNames are the words that a filter can use, in order.
func (t *Table[T]) keyNames() []string {
	var out []string
	for _, title := range t.Titles() {
		if name := strings.ToLower(title); !strings.Contains(name, " ") {
			out = append(out, name)
		}
	}
	for _, k := range t.Keys {
		if !slices.Contains(out, k.Name) {
			out = append(out, k.Name)
		}
	}
	return out
}

// keyValues are what a row has for a key.
func (t *Table[T]) keyValues(r T, key string) []string {
	for _, k := range t.Keys {
		if k.Name == key {
			return k.Values(r)
		}
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; strings.ToLower(c.Title) == key {
			return []string{strings.TrimSpace(c.Cell(r).Text())}
		}
	}
	return nil
}

// passes tells whether the filter lets a row through: all of its terms hold.
func (t *Table[T]) passes(r T, terms []filterTerm) bool {
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
				return slices.ContainsFunc(term.any, func(want string) bool { return finds(v, want) })
			})
		}
		if holds == term.deny {
			return false
		}
	}
	return true
}

// rowText is all that a row says, in small letters.
func (t *Table[T]) rowText(r T) string {
	if t.Search != nil {
		return t.Search(r)
	}
	var text strings.Builder
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.hidden() {
			text.WriteString(strings.ToLower(c.Cell(r).Text()))
			text.WriteByte(' ')
		}
	}
	text.WriteString(strings.ToLower(t.ID(r)))
	return text.String()
}

// Offers are the completions of the last word of the filter: keys, or the rows' values for a key. done is how many bytes of the
// filter stay.
func (t *Table[T]) Offers() (done string, words []string) {
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
	last := strings.TrimPrefix(value[strings.LastIndexByte(value, ',')+1:], wholeValue)
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

// Complete extends the filter as far as its completion is unambiguous; it tells whether it changed anything.
func (t *Table[T]) Complete() bool {
	done, words := t.Offers()
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
	t.SetFilter(next)
	return true
}

// HiddenMarks is how many marked rows the filter hides: an action on the marked rows includes them.
func (t *Table[T]) HiddenMarks() int {
	n := len(t.marked)
	for _, id := range t.order {
		if t.marked[id] {
			n--
		}
	}
	return n
}

// Known are the words that a filter can use, to suggest when it finds nothing.
func (t *Table[T]) Known() []string { return t.keyNames() }
