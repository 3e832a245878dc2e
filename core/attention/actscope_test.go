package attention

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

// Nobody begins or releases a node whose request has no scope, whatever the node's role and the cluster's request are: the stage,
// the entry and the steps say what is missing (docs/mosk.md#requests-without-a-scope).
func TestAPlayedControllerBeginsNoRequestWithoutAScope(t *testing.T) {
	all := []string{"ctl-01", "ctl-02", "ctl-03"}
	for _, node := range []string{"cmp-01", "ctl-01"} {
		for _, begun := range []bool{false, true} {
			sc := scene.Quorate(all...)
			sc.ClusterRequest().Scope = core.ScopeOS
			sc.NodeRequest(node).Scope = ""
			if begun {
				sc.NodeLock(node, core.ControllerOpenStack).InnerState = core.InnerActive
			}
			kinds := []core.IntentKind{core.IntentActBegin, core.IntentActRelease}
			if begun {
				kinds = kinds[1:]
			}
			s := sc.Again().Snapshot
			for _, kind := range kinds {
				st := step.Plan(s, core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: node})
				i := slices.IndexFunc(st.Guards, func(g core.Guard) bool { return g.ID == "scope" })
				if i < 0 || st.Guards[i].Holds || !strings.Contains(st.Guards[i].Answer, "fails on it without a word") || st.Doable() {
					t.Errorf("%s of %s, begun %v: %s, guards %+v", kind, node, begun, st.State, st.Guards)
				}
			}
			if v, _ := progress.NodeView(s, node); v.Stage != core.StageWaiting || v.What != "request without a scope" {
				t.Errorf("%s is %s: %s", node, v.Stage, v.What)
			}
			if !slices.ContainsFunc(Of(s), func(a core.Attention) bool {
				return a.ID == "act/openstack/"+node+"/prepare" && strings.Contains(a.Reason, "its request has no scope")
			}) {
				t.Errorf("nobody is told of %s: %+v", node, Of(s))
			}
			sc.NodeRequest(node).Scope = core.ScopeDrain
			if st := step.Plan(sc.Again().Snapshot, core.Intent{Kind: kinds[0], Controller: core.ControllerOpenStack,
				Node: node}); strings.Contains(st.Blocker(), "scope") {
				t.Errorf("with a scope %s of %s says %s", kinds[0], node, st.Blocker())
			}
		}
	}
}
