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

// ScopeLook is the list of what can be looked at.
const ScopeLook Scope = "look further"

// lookPage lists what can be looked at of an object: logs, events, its description and its YAML.
type lookPage struct {
	label string
	looks *table.Table[core.Look]
}

// looksHere are what can be looked at where the operator is, and what it is of; none when nothing is selected.
func (m *Model) looksHere() (label string, looks []core.Look) {
	if m.snap == nil {
		return "", nil
	}
	switch p := m.top().(type) {
	case nil:
	case *entryPage:
		return p.a.Label, progress.LooksAtEntry(m.snap, p.a)
	case *procedurePage:
		return m.looksOfProcedure(p.key)
	default:
		return "", nil
	}
	p := m.focused()
	s := p.subject()
	switch {
	case s.attention != nil:
		return s.attention.Label, progress.LooksAtEntry(m.snap, *s.attention)
	case s.update:
		return "the update", progress.LooksAtUpdate(m.snap)
	case s.lock != nil:
		return lockName(m.snap, s.lock), progress.LooksAtLock(m.snap, s.lock)
	case s.instance != "":
		return p.selectedName(), progress.LooksAtInstance(m.snap, s.instance)
	case s.node != "":
		return m.snap.Label(s.node), progress.LooksAtNode(m.snap, s.node)
	case s.operation != nil && s.operation.Instance != "":
		return s.operation.Label, progress.LooksAtInstance(m.snap, s.operation.Instance)
	case s.operation != nil && s.operation.Node != "":
		return m.snap.Label(s.operation.Node), progress.LooksAtNode(m.snap, s.operation.Node)
	}
	return "the update", progress.LooksAtUpdate(m.snap)
}

func (m *Model) looksOfProcedure(key core.ProcedureKey) (string, []core.Look) {
	if in := m.snap.Instances.At(key.Subject); in != nil {
		return instanceName(in), progress.LooksAtInstance(m.snap, key.Subject)
	}
	if m.snap.Nodes[key.Subject] != nil {
		return m.snap.Label(key.Subject), progress.LooksAtNode(m.snap, key.Subject)
	}
	return "the update", progress.LooksAtUpdate(m.snap)
}

// openLook opens the page of one look.
func (m *Model) openLook(look core.Look) tea.Cmd {
	if look.Kind == core.LookLog {
		if m.opts.Looker == nil {
			return m.say(toneWarn, "logs cannot be read from here")
		}
		p := &logPage{target: look.Log, previous: look.Before}
		p.find.text, _ = sought("", look.Find)
		m.open(p)
		return p.ask(m)
	}
	if look.Kind == core.LookPods {
		if m.opts.Looker == nil {
			return m.say(toneWarn, "pods cannot be listed from here")
		}
		return m.openPods(look.Pods)
	}
	return m.openLookText(look)
}

// openFirstLook opens the first look of a kind.
func (m *Model) openFirstLook(kind core.LookKind) tea.Cmd {
	label, looks := m.looksHere()
	i := slices.IndexFunc(looks, func(l core.Look) bool { return l.Kind == kind })
	if i < 0 {
		return m.say(toneWarn, strings.TrimSpace("there is no such thing to show of "+label))
	}
	return m.openLook(looks[i])
}

// openLooks opens the list of what can be looked at.
func (m *Model) openLooks() tea.Cmd {
	m.openLooksOf(m.looksHere())
	return nil
}

// openLooksOf opens a list of what can be looked at.
func (m *Model) openLooksOf(label string, looks []core.Look) {
	p := &lookPage{label: label}
	p.looks = &table.Table[core.Look]{
		ID: func(l core.Look) string {
			return strings.Join([]string{string(l.Kind), l.What, l.Object.Kind, l.Object.Name, l.Log.Container, l.Log.Pod, l.Pods.Node}, "/")
		},
		Name: func(l core.Look) string { return l.What },
		Columns: []table.Column[core.Look]{
			{Width: 8, Cell: func(l core.Look) draw.Line { return draw.One(lookTone(l.Kind), string(l.Kind)) }},
			{Width: 20, Most: 70, Share: 55, Measure: func(l core.Look) int { return draw.Width(l.What) },
				Cell: func(l core.Look) draw.Line { return draw.One(themes.Strong, l.What) }},
			{Width: 12, Grow: true, Cell: func(l core.Look) draw.Line { return draw.One(themes.Dim, lookPlace(l)) }},
		},
	}
	p.looks.Set(looks, m.snap.Revision)
	m.open(p)
}

func lookTone(k core.LookKind) themes.Token {
	if k == core.LookLog || k == core.LookPods || k == core.LookEvents {
		return themes.Key
	}
	return themes.Dim
}

// lookPlace says where a look comes from.
func lookPlace(l core.Look) string {
	place := func(server core.Server, rest ...string) string {
		if server == core.ServerManagement {
			rest = append([]string{"management cluster"}, rest...)
		}
		return strings.Join(slices.DeleteFunc(rest, func(s string) bool { return s == "" }), ", ")
	}
	in := func(namespace string) string {
		if namespace == "" {
			return ""
		}
		return "namespace " + namespace
	}
	switch l.Kind {
	case core.LookLog:
		return place(l.Log.Server, in(l.Log.Namespace))
	case core.LookPods:
		return place(l.Pods.Server, "choose one")
	case core.LookEvents:
		return counted(len(l.Events), "object")
	}
	return place(l.Object.Server, in(l.Object.Namespace))
}

func (*lookPage) scope() Scope                                   { return ScopeLook }
func (*lookPage) page() bool                                     { return true }
func (*lookPage) refresh(*Model) tea.Cmd                         { return nil }
func (*lookPage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

func (p *lookPage) point(_ *Model, at tea.Mouse) tea.Cmd {
	p.looks.MoveBy(wheel(at.Button))
	return nil
}

func (p *lookPage) draw(m *Model, w, h int) []string {
	rows := p.looks.Draw(m.look, w, h-1, true, false) // before More, which counts what had no room
	note := draw.One(themes.Dim, "esc back")
	if text := m.moreText(p.looks.More()); text != "" {
		note = draw.One(themes.Dim, text+"   esc back")
	}
	return append([]string{m.look.Rule(w, draw.One(themes.RuleFocus, "Look further at "+p.label), note, true, nil)}, rows...)
}

// lookActions work on the list of what can be looked at.
func lookActions() []Action {
	with := func(f func(m *Model, p *lookPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*lookPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	all := []Action{
		{ID: "look.open", Title: "Show it", Short: "show", Keys: []string{"enter"}, Footer: 1, run: with(func(m *Model, p *lookPage) tea.Cmd {
			if l, ok := p.looks.Current(); ok {
				return m.openLook(*l)
			}
			return nil
		})},
		{ID: "look.close", Title: "Go back", Short: "back", Keys: []string{"esc", "backspace"}, Footer: 2,
			run: with(func(m *Model, p *lookPage) tea.Cmd { m.close(p); return nil })},
	}
	all = append(all, rowMoves("look", func(move func(l table.List)) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *lookPage) tea.Cmd { move(p.looks); return nil })
	})...)
	for i := range all {
		all[i].Scope = ScopeLook
	}
	return all
}

// lookingActions lead to what can be looked at, from the panes and from the pages of entries and steps.
func lookingActions() []Action {
	var all []Action
	for _, place := range []struct {
		scope  Scope
		id     string
		footer int
	}{{ScopeDashboard, "looks", 0}, {ScopeEntry, "entry.looks", 7}, {ScopeProcedure, "steps.looks", 0}} {
		anywhere := func(m *Model) string {
			if reason := needSnapshot(m); reason != "" {
				return reason
			}
			if m.opts.Looker == nil {
				return "logs and events cannot be read from here"
			}
			return ""
		}
		blocked := func(m *Model) string {
			if reason := anywhere(m); reason != "" {
				return reason
			}
			if place.scope == ScopeDashboard {
				if gone := m.focused().Gone(); gone != "" {
					return goneText(gone)
				}
			}
			return ""
		}
		first := func(kind core.LookKind) func(*Model) tea.Cmd {
			return func(m *Model) tea.Cmd { return m.openFirstLook(kind) }
		}
		all = append(all,
			Action{ID: place.id, Title: "Look further at what is selected: logs, events, YAML", Short: "look further", Keys: []string{"I"},
				Footer: place.footer, run: (*Model).openLooks, Scope: place.scope, blocked: blocked},
			Action{ID: place.id + ".log", Title: "Show the log of the pods that it is about", Short: "pod log", Keys: []string{"P"},
				run: first(core.LookLog), Scope: place.scope, blocked: blocked},
			Action{ID: place.id + ".events", Title: "Show its events, with those of what belongs to it", Short: "events", Keys: []string{"K"},
				run: first(core.LookEvents), Scope: place.scope, blocked: blocked},
			Action{ID: place.id + ".describe", Title: "Describe its object in Kubernetes", Short: "describe", Keys: []string{"D"},
				run: first(core.LookDescribe), Scope: place.scope, blocked: blocked},
			Action{ID: place.id + ".yaml", Title: "Show its object in Kubernetes as YAML", Short: "YAML", Keys: []string{"Y"},
				run: first(core.LookYAML), Scope: place.scope, blocked: blocked},
			Action{ID: place.id + ".pods", Title: "Choose any pod of the cluster, and show its log", Short: "any pod", Keys: []string{"A"},
				run: (*Model).openAnyPod, Scope: place.scope, blocked: anywhere},
			Action{ID: place.id + ".pods.node", Title: "Choose a pod of the selected node, and show its log", Short: "pods of the node",
				run: (*Model).openNodePods, Scope: place.scope, blocked: blocked})
	}
	return all
}
