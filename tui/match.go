package tui

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// fit is how well a name fits what was typed, the best first.
type fit int

const (
	fitsExactly   fit = iota
	fitsBeginning     // the name begins with it
	fitsWord          // words of the name begin with its words
	fitsPart          // its words stand somewhere in the name, or in what explains it
	fitsLetters       // its letters are in the name in order, with others between them: a guess
	fitsNot
)

// label is a name that is matched against what was typed.
type label struct {
	text, low string
	proper    int // how many bytes of low are the name; what comes after them explains it
}

func newLabel(text string) label {
	text = sanitise.Text(text, 200)
	low := lowered(text)
	return label{text, low, len(low)}
}

// newTitle is the title of an action: what comes after a colon explains it.
func newTitle(text string) label {
	l := newLabel(text)
	if i := strings.Index(l.low, ": "); i > 0 {
		l.proper = i
	}
	return l
}

// lowered has as many runes as s.
func lowered(s string) string { return strings.Map(unicode.ToLower, s) }

// runes is a matched part of a label: from, and up to.
type runes [2]int

// query is what was typed.
type query struct {
	whole string
	terms []string
}

func newQuery(typed string) query {
	terms := strings.Fields(lowered(typed))
	return query{strings.Join(terms, " "), terms}
}

// place is where the term is in the label, preferably at the beginning of a word of the name.
func (l label) place(term string) (at runes, word, found bool) {
	for from := 0; ; {
		i := strings.Index(l.low[from:], term)
		if i < 0 {
			return at, false, found
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(l.low[:i])
		begins := i < l.proper && (i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before))
		if !found || begins {
			start := utf8.RuneCountInString(l.low[:i])
			at = runes{start, start + utf8.RuneCountInString(term)}
		}
		if found = true; begins {
			return at, true, true
		}
		_, size := utf8.DecodeRuneInString(l.low[i:])
		from = i + size
	}
}

// match is how well the label fits, and where. It does not look for scattered letters.
func (l label) match(q query) (fit, []runes) {
	switch {
	case l.low == "" || q.whole == "":
		return fitsNot, nil
	case l.low == q.whole:
		return fitsExactly, []runes{{0, utf8.RuneCountInString(l.low)}}
	case strings.HasPrefix(l.low, q.whole):
		return fitsBeginning, []runes{{0, utf8.RuneCountInString(q.whole)}}
	}
	best, where := fitsWord, make([]runes, 0, len(q.terms))
	for _, term := range q.terms {
		at, word, found := l.place(term)
		if !found {
			return fitsNot, nil
		}
		if !word {
			best = fitsPart
		}
		where = append(where, at)
	}
	return best, where
}

// hit is an entry that fits what was typed: by which of its names, and where in it.
type hit struct {
	*entry
	fit  fit
	also int     // by which of its other names, from 1; 0 by its name
	at   []runes // in that name
	on   []runes // in the object of an action
}

// match is how the entry fits. An object fits by its own names, an action by the words of its title; further words have to name
// the object that the action would be done on.
func (e *entry) match(q query) hit {
	best := hit{entry: e, fit: fitsNot}
	try := func(also int, l label, q query) {
		f, at := l.match(q)
		if f < best.fit && (also == 0 || f == fitsExactly || best.fit == fitsNot) { // its name is what is read
			best = hit{entry: e, fit: f, also: also, at: at}
		}
	}
	try(0, e.name, q)
	for i, l := range e.also {
		try(i+1, l, q)
	}
	if len(q.terms) > 1 && e.kind != "" && strings.TrimSuffix(q.terms[0], "s") == e.kind {
		rest := newQuery(strings.Join(q.terms[1:], " "))
		try(0, e.name, rest)
		for i, l := range e.also {
			try(i+1, l, rest)
		}
	}
	if best.fit == fitsNot && e.kind == "" && e.object.low != "" {
		return e.matchOn(q)
	}
	return best
}

// matchOn is how an action and its object fit together, each by words of its own.
func (e *entry) matchOn(q query) hit {
	out := hit{entry: e, fit: fitsWord}
	for _, term := range q.terms {
		at, word, found := e.name.place(term)
		if found {
			out.at = append(out.at, at)
		} else if at, word, found = e.object.place(term); found {
			out.on = append(out.on, at)
		}
		switch {
		case !found:
			return hit{entry: e, fit: fitsNot}
		case !word:
			out.fit = fitsPart
		}
	}
	switch {
	case len(out.at) == 0:
		return hit{entry: e, fit: fitsNot}
	case out.fit == fitsWord && out.at[0][0] == 0:
		out.fit = fitsBeginning
	}
	return out
}

// guessesAtMost is how many entries are listed that only have the letters somewhere.
const guessesAtMost = 12

// find is what fits, the best first: exact names, then visible names, then other names. Of equal fits objects come before
// actions, and what can be done before what cannot. Only when nothing fits are there guesses.
func find(all []*entry, typed string) []hit {
	q := newQuery(typed)
	var out []hit
	if q.whole == "" {
		for _, e := range all {
			out = append(out, hit{entry: e})
		}
		return out
	}
	for _, e := range all {
		if h := e.match(q); h.fit < fitsNot {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return guesses(all, q)
	}
	slices.SortStableFunc(out, func(a, b hit) int {
		return cmp.Or(cmp.Compare(min(a.fit, fitsBeginning), min(b.fit, fitsBeginning)), cmp.Compare(min(a.also, 1), min(b.also, 1)),
			cmp.Compare(a.fit, b.fit),
			cmp.Compare(min(len(b.kind), 1), min(len(a.kind), 1)), cmp.Compare(min(len(a.reason), 1), min(len(b.reason), 1)))
	})
	return out
}

// guesses are the entries that have the letters in order, with others between them.
func guesses(all []*entry, q query) []hit {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name.low
	}
	var out []hit
	for _, m := range fuzzy.Find(q.whole, names) {
		if len(out) == guessesAtMost {
			break
		}
		h := hit{entry: all[m.Index], fit: fitsLetters}
		for _, at := range m.MatchedIndexes {
			start := utf8.RuneCountInString(m.Str[:min(at, len(m.Str))])
			h.at = append(h.at, runes{start, start + 1})
		}
		out = append(out, h)
	}
	return out
}

// lit is a text in its tone, with the match standing out.
func lit(tone themes.Token, text string, at []runes) draw.Line {
	r := []rune(text)
	on := make([]bool, len(r))
	for _, span := range at {
		for i := max(span[0], 0); i < min(span[1], len(r)); i++ {
			on[i] = true
		}
	}
	var out draw.Line
	for from := 0; from < len(r); {
		to := from
		for to < len(r) && on[to] == on[from] {
			to++
		}
		t := tone
		if on[from] {
			t = themes.Match
		}
		out = append(out, draw.Text(t, string(r[from:to])))
		from = to
	}
	return out
}
