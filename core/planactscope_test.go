package core

import (
	"slices"
	"strings"
	"testing"
)

// A node's request without a scope is begun and released by nobody, whatever the node's role, and whatever the cluster's request says:
// the stage, the entry and the steps say what is missing (docs/mosk.md#requests-without-a-scope).
func TestAPlayedControllerBeginsNoRequestWithoutAScope(t *testing.T) {
	all := []string{"ctl-01", "ctl-02", "ctl-03"}
	for _, node := range []string{"cmp-01", "ctl-01"} {
		for _, begun := range []bool{false, true} {
			sc := quorate(all...)
			sc.ClusterRequest().Scope = ScopeOS
			sc.NodeRequest(node).Scope = ""
			if begun {
				sc.NodeLock(node, ControllerOpenStack).InnerState = InnerActive
			}
			kinds := []IntentKind{IntentActBegin, IntentActRelease}
			if begun {
				kinds = kinds[1:]
			}
			s := sc.again().Snapshot
			for _, kind := range kinds {
				st := Plan(s, Intent{Kind: kind, Controller: ControllerOpenStack, Node: node})
				i := slices.IndexFunc(st.Guards, func(g Guard) bool { return g.ID == "scope" })
				if i < 0 || st.Guards[i].Holds || !strings.Contains(st.Guards[i].Answer, "fails on it without a word") || st.Doable() {
					t.Errorf("%s of %s, begun %v: %s, guards %+v", kind, node, begun, st.State, st.Guards)
				}
			}
			if v, _ := s.NodeView(node); v.Stage != StageWaiting || v.What != "request without a scope" {
				t.Errorf("%s is %s: %s", node, v.Stage, v.What)
			}
			if !slices.ContainsFunc(s.Attention(), func(a Attention) bool {
				return a.ID == "act/openstack/"+node+"/prepare" && strings.Contains(a.Reason, "its request has no scope")
			}) {
				t.Errorf("nobody is told of %s: %+v", node, s.Attention())
			}
			sc.NodeRequest(node).Scope = ScopeDrain
			if st := Plan(sc.again().Snapshot, Intent{Kind: kinds[0], Controller: ControllerOpenStack, Node: node}); strings.Contains(st.Blocker(), "scope") {
				t.Errorf("with a scope %s of %s says %s", kinds[0], node, st.Blocker())
			}
		}
	}
}
