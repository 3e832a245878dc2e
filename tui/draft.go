package tui

import "lockstep/core"

// draft is what the operator typed into a form and left before its step began. Whoever looks something up and comes back finds it
// again, as long as it stands for the same proposal. A name that confirms is never kept: it is typed each time.
type draft struct {
	text string
	at   int       // the choice that goes with it
	step core.Step // what was proposed
}

// ask opens a form with its draft.
func (m *Model) ask(f *form) {
	if f.typed() {
		f.began = f.input.Value()
		m.recall(f)
	}
	m.open(f)
}

// recall gives the form its draft. What was typed on other facts, or about another object of the same name, is gone.
func (m *Model) recall(f *form) {
	d, ok := m.drafts[f.title]
	if !ok {
		return
	}
	delete(m.drafts, f.title)
	if d.at >= max(len(f.choices), 1) {
		return // there are fewer to choose from now
	}
	at := f.at
	f.fill(d.text)
	f.at = d.at
	if i, err := f.proposes(); err == nil && sameBasis(d.step, m.plan(m.snap, i)) {
		f.recalled = d.text
		return
	}
	f.fill(f.began)
	f.at = at
}

// fill puts a text into the form's field, and the cursor behind it: what is typed next is not typed into the middle.
func (f *form) fill(text string) {
	f.input.SetValue(text)
	f.input.CursorEnd()
}

// keep saves what was typed into a form on leaving it, unless it is unchanged or proposes nothing.
func (m *Model) keep(f *form) {
	if !f.typed() || f.input.Value() == f.began {
		return
	}
	i, err := f.proposes()
	if err != nil {
		return
	}
	if m.drafts == nil {
		m.drafts = make(map[string]draft)
	}
	m.drafts[f.title] = draft{f.input.Value(), f.at, m.plan(m.snap, i)}
}
