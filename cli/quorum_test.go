package cli

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// LCM asks for the second controller while the database pod on the first crashes: Lockstep in the OpenStack controller's place
// does not begin it, and says why; when the pod serves again the node is begun and let go.
func TestLockstepDoesNotTakeTheQuorumFromTheDatabase(t *testing.T) {
	told, err := scenario.Load("database-short")
	if err != nil {
		t.Fatal(err)
	}
	told.Troubles = append(told.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
	p := newPlayerIn(t, told, 200, "openstack")
	step := func(s *core.Snapshot, kind core.IntentKind) core.Step {
		nodes, err := s.ResolveNodes([]string{"ctl-02"})
		if err != nil {
			t.Fatal(err)
		}
		return core.Plan(s, core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: nodes[0]})
	}
	held := func(st core.Step) bool {
		i := slices.IndexFunc(st.Guards, func(g core.Guard) bool { return g.ID == "quorum" })
		return i >= 0 && !st.Guards[i].Holds && strings.Contains(st.Guards[i].Answer, "mariadb-server: 2 of 3 ready; mariadb-server-2 on ctl-01 is not (CrashLoopBackOff)")
	}
	p.until("LCM asks for ctl-02, and the database holds it", func(s *core.Snapshot) bool {
		st := step(s, core.IntentActBegin)
		return s.NodeRequest(st.Node) != nil && held(st) && st.State == core.StepBlocked
	})
	if st := step(p.last, core.IntentActRelease); !held(st) || st.Doable() {
		t.Errorf("its lock can be released: %s, blocked by %q", st.State, st.Blocker())
	}
	kube, err := kubernetes.NewForConfig(p.cloud.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []core.IntentKind{core.IntentActBegin, core.IntentActRelease} {
		for begun := false; !begun; {
			var st core.Step
			p.until("it can be done: "+string(kind), func(s *core.Snapshot) bool { st = step(s, kind); return st.Doable() && st.State == core.StepReady })
			begun = p.do(st)
		}
	}
	if len(p.did) != 2 || p.failed > 0 {
		t.Errorf("done are %q, %d failed", p.did, p.failed)
	}
}
