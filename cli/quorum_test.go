package cli

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/step"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// LCM requests the second controller while the database pod on the first crashes. Lockstep in the OpenStack controller's place
// does not begin the node, as the controller itself would with two pods of three ready, and says why; when the pod serves again, the
// node is begun and let go.
func TestLockstepDoesNotTakeTheQuorumFromTheDatabase(t *testing.T) {
	bubble.Story(t, quorumOfTheDatabase)
}

func quorumOfTheDatabase(t *testing.T) {
	p := play(t, told(t, "database-short", func(s *scenario.Scenario) {
		s.Troubles = slices.DeleteFunc(s.Troubles, func(o scenario.Trouble) bool { return o.Node == "ctl-03" })
		s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
	}), "openstack")
	step := func(s *core.Snapshot, kind core.IntentKind) core.Step {
		nodes, err := evacuation.ResolveNodes(s, []string{"ctl-02"})
		if err != nil {
			t.Fatal(err)
		}
		i := core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: nodes[0]}
		if r := s.NodeRequest(nodes[0]); kind == core.IntentActHold && r != nil {
			i.Node, i.Object = "", r.Ref()
		}
		return step.Plan(s, i)
	}
	held := func(st core.Step) bool {
		i := slices.IndexFunc(st.Guards, func(g core.Guard) bool { return g.ID == "quorum" })
		return i >= 0 && !st.Guards[i].Holds && strings.Contains(st.Guards[i].Answer,
			"mariadb-server: 2 of 3 ready; mariadb-server-2 on ctl-01 is not (CrashLoopBackOff)")
	}
	p.until("LCM asks for ctl-02, and the database holds it", func(s *core.Snapshot) bool {
		st := step(s, core.IntentActBegin)
		return s.NodeRequest(st.Node) != nil && s.NodeRequest(st.Node).UID != "" && held(st) && st.State == core.StepBlocked
	})
	if st := step(p.last, core.IntentActRelease); !held(st) || st.Doable() {
		t.Errorf("its lock can be released: %s, blocked by %q", st.State, st.Blocker())
	}
	if err := kubernetesOf(t, p.Cloud).CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []core.IntentKind{core.IntentActHold, core.IntentActBegin, core.IntentActRelease} {
		var st core.Step
		p.until("it can be done: "+string(kind), func(s *core.Snapshot) bool {
			st = step(s, kind)
			return st.Doable() && st.State == core.StepReady
		})
		p.do(st)
	}
}

// With one of two members back, the OpenStack controller lets the third one's node go, and the set has one left: whoever watches reads
// that.
func TestAQuorumThatTheControllerLetsGoIsTold(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "database-short"))
		about := func(s *core.Snapshot) string {
			for _, a := range attention.Of(s) {
				if a.Rule == core.RuleQuorumGoes {
					return a.Severity.String() + ": " + a.Label + ": " + a.Reason + ". " + a.Detail
				}
			}
			return ""
		}
		deferred := func(s *core.Snapshot) bool {
			return slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
				return a.Rule == core.RuleNodeDeferred && a.Label == "ctl-02"
			})
		}
		p.until("ctl-02 is deferred", deferred)
		if text := about(p.last); text != "" {
			t.Errorf("the controller holds it, and yet: %s", text)
		}
		err := kubernetesOf(t, p.Cloud).CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-2", metav1.DeleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.until("it is told that the quorum goes", func(s *core.Snapshot) bool {
			return strings.HasPrefix(about(s), "urgent: ctl-02: with it mariadb-server loses its quorum: mariadb-server: 2 of 3 ready; ")
		})
		p.until("LCM takes it down", func(s *core.Snapshot) bool {
			return strings.Contains(about(s), "Its lock is released: LCM takes it down.")
		})
	})
}
