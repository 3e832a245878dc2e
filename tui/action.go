package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// Scope is where an action works. An inner scope's key wins over an outer one's.
type Scope string

// The scopes, beside those of the panes, pages and boxes.
const (
	ScopeGlobal    Scope = "everywhere"
	ScopeDashboard Scope = "dashboard"
)

// Scopes are all scopes, in the order in which the help lists them.
func Scopes() []Scope {
	all := []Scope{ScopeGlobal, ScopeDashboard}
	for _, k := range paneKinds() {
		all = append(all, k.scope)
	}
	for _, k := range layerKinds() {
		all = append(all, k.scope)
	}
	return all
}

// chain is the scopes in which a key is looked for, innermost first. A scope with a text field has no outer scopes.
func (s Scope) chain() []Scope {
	if s == ScopeGlobal || s == ScopeDashboard {
		return []Scope{s}
	}
	for _, k := range layerKinds() {
		switch {
		case k.scope != s:
		case k.outer:
			return []Scope{s, ScopeGlobal}
		default:
			return []Scope{s}
		}
	}
	return []Scope{s, ScopeDashboard, ScopeGlobal} // a pane's
}

// Action is one thing that the operator can do, with everything that footer, help, palette, documents and key handling know about it.
type Action struct {
	ID     string // stable, for rebinding: "node.migrate"
	Title  string // a sentence's beginning: "Move all instances off the node"
	Short  string // a word for the footer
	Scope  Scope
	Keys   []string          // as Bubble Tea writes them; none: palette and menu only
	Intent []core.IntentKind // what it leads to; none: it changes nothing
	Footer int               // its place in the footer; 0: none

	demo    bool                // of use in a demo only
	replay  bool                // of use only where a recording is played
	live    bool                // of no use where a recording is played
	inside  bool                // of use in one cluster only, not in the list of clusters
	listed  bool                // of use only where the cluster was opened from a list
	now     func(*Model) string // the word for the footer, depending on what it would do now; nil: Short
	blocked func(*Model) string
	run     func(*Model) tea.Cmd
}

// Blocked is the reason why the action cannot be used now; empty when it can. A blocked action stays visible, with its
// reason.
func (a Action) Blocked(m *Model) string {
	if a.blocked == nil {
		return ""
	}
	return a.blocked(m)
}

// offered tells whether the action is of any use in this run; otherwise it is not shown.
func (a Action) offered(m *Model) bool {
	return (!a.demo || m.opts.Rehearsal != nil) && (!a.replay || m.opts.Replay != nil) && (!a.live || m.opts.Replay == nil) &&
		(!a.inside || m.opts.clusters == nil) && (!a.listed || m.opts.Back != nil) &&
		(a.Scope != ScopeClusters || m.opts.clusters != nil)
}

// Writes tells whether the action leads to a change of the cluster.
func (a Action) Writes() bool { return len(a.Intent) > 0 }

// Actions is the catalogue: every action, scope by scope.
func Actions() []Action {
	parts := [][]Action{globalActions(), replayActions(), dashboardActions(), afterActions(), {timelineKey()}, lookingActions()}
	for _, k := range paneKinds() {
		parts = append(parts, k.actions())
	}
	for _, k := range layerKinds() {
		parts = append(parts, k.actions())
	}
	return slices.Concat(parts...)
}
