package tui

import (
	"slices"
	"strings"
	"testing"
)

// The help lists every key with what it does: first the keys of the place where the operator is, and the marks; last the actions
// without a key.
func TestTheHelpHasEveryKey(t *testing.T) {
	d := drive(world(), 120, 40)
	var text strings.Builder
	for _, l := range helpLines(d.Model, ScopeNodes, 200) {
		text.WriteString(l.Text() + "\n")
	}
	help := text.String()
	keyed, named, ok := strings.Cut(help, "without a key")
	if !ok {
		t.Fatal("it does not tell of what has no key")
	}
	for _, a := range Actions() {
		want, where := keysText(a.Keys), keyed
		if len(a.Keys) == 0 {
			want, where = string(a.Scope), named
		}
		if a.offered(d.Model) && !slices.ContainsFunc(strings.Split(where, "\n"), func(l string) bool {
			return strings.HasPrefix(l, " "+want) && strings.Contains(l, a.Title)
		}) {
			t.Errorf("%s is not there beside %q", a.ID, want)
		}
	}
	here, marks, elsewhere := strings.Index(help, "nodes\n"), strings.Index(help, "marks\n"), strings.Index(help, "locks, elsewhere\n")
	if here != 0 || marks < here || elsewhere < marks {
		t.Errorf("where one is stands at %d, the marks at %d, another pane at %d", here, marks, elsewhere)
	}
}
