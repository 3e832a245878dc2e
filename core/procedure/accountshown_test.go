package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// The operator of a played controller sees the bookkeeping of the controller itself, and waits for none of it.
func TestAccountBesideAPlayedController(t *testing.T) {
	for _, test := range []struct {
		name  string
		given func(sc scene.Scene)
		want  string
	}{
		{"it has failed", func(sc scene.Scene) { sc.Tried(scene.Failed(2, "'scope'")) },
			"the OpenStack controller itself failed twice: 'scope'; it was to try again at 12:00:40 and does not run (its request had no scope " +
				"then)"},
		{"it was at work", func(scene.Scene) {},
			"the OpenStack controller itself has not come to the end of a try on its request; its finalizer is on it"},
		{"it was through", func(sc scene.Scene) { sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Handled: true, Marked: true} },
			"the OpenStack controller itself was through with its request"},
		{"it never saw it", func(sc scene.Scene) { sc.NodeRequest("cmp-01").Finalizers = nil },
			"the OpenStack controller itself has never seen its request: it does not run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sc := scene.Bookkept()
			sc.Away()
			sc.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack, Roles: []core.Role{core.RoleCompute}}}
			test.given(sc)
			s := sc.Again().Snapshot
			p, _ := Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			if !slices.Contains(p.Summary, test.want) {
				t.Errorf("the page says %q", p.Summary)
			}
			if v, _ := progress.NodeView(s, "cmp-01"); strings.Contains(v.Reason, "controller itself") || strings.Contains(v.Reason, "tries again") {
				t.Errorf("its stage says %q", v.Reason)
			}
		})
	}
}
