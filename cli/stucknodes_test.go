package cli

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// named returns the name of a machine's node.
func (p *player) named(machine string) string {
	p.t.Helper()
	for name, n := range p.last.Nodes {
		if n.Label() == machine {
			return name
		}
	}
	p.t.Fatalf("there is no %s", machine)
	return ""
}

// urgent tells whether an urgent entry says the text about the node.
func urgent(s *core.Snapshot, node, text string) bool {
	return slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
		return a.Node == node && a.Severity == core.SeverityUrgent && strings.Contains(a.Reason, text)
	})
}

// A node that lost its role label holds up the update, and nobody writes a text about it. Lockstep says why, and lets the lock go
// only when another one holds the node; the running controller does the rest.
func TestANodeThatLostItsRoleIsBroughtBack(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "role-taken"))
		name := p.named("cmp-02")
		p.until("LCM asks for it, and it is urgent", func(s *core.Snapshot) bool {
			return s.NodeRequest(name) != nil && urgent(s, name, "its role label was taken off")
		})
		old := p.last.NodeLock(name, core.ControllerOpenStack)
		free := core.Intent{Kind: core.IntentFreeLock, Object: old.Ref()}
		if st := step.Plan(p.last, free); st.Doable() || old.Original["openstack-compute-node"] != "enabled" {
			t.Fatalf("it can be let go into LCM's hands, or the lock remembers nothing: %v", old.Original)
		}
		admin, err := dynamic.NewForConfig(p.Cloud.AdminConfig())
		if err != nil {
			t.Fatal(err)
		}
		locks := admin.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodeworkloadlocks"})
		own := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeWorkloadLock",
			"metadata": map[string]any{"name": "operator-" + name}, "spec": map[string]any{"controllerName": "operator", "nodeName": name}}}
		if _, err := locks.Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		p.confirm(free)
		body := []byte(`{"metadata": {"labels": {"openstack-compute-node": "enabled"}}}`)
		if _, err := kubernetesOf(t, p.Cloud).CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, body,
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		p.until("it has a new lock", func(s *core.Snapshot) bool {
			l := s.NodeLock(name, core.ControllerOpenStack)
			return l != nil && l.UID != old.UID && l.Deleting.IsZero() && !urgent(s, name, "its role label was taken off")
		})
		requests := admin.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1",
			Resource: "nodemaintenancerequests"})
		again := []byte(`{"metadata": {"annotations": {"lockstep/look-again": "now"}}}`)
		if _, err := requests.Patch(t.Context(), p.last.NodeRequest(name).Name, types.MergePatchType, again, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		p.until("the controller releases it", func(s *core.Snapshot) bool {
			l := s.NodeLock(name, core.ControllerOpenStack)
			return l != nil && l.State() == core.LockInactive
		})
		if err := locks.Delete(t.Context(), "operator-"+name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		p.until("it is done", func(s *core.Snapshot) bool {
			v, _ := progress.NodeView(s, name)
			return v.Stage == core.StageDone
		})
	})
}

// A compute that Nova has forgotten fails silently. Lockstep says so, and restarts its nova-compute by a confirmed step.
func TestAComputeThatNovaHasForgottenIsBroughtBack(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "compute-forgotten"))
		name := p.named("cmp-01")
		p.until("it is urgent", func(s *core.Snapshot) bool { return urgent(s, name, "fails on its request without a word") })
		var st core.Step
		p.until("its nova-compute can be started anew", func(s *core.Snapshot) (ok bool) {
			st, ok = p.next(s, core.IntentRestartAgent)
			return ok && st.Node == name
		})
		p.do(st)
		p.until("it is done", func(s *core.Snapshot) bool {
			v, _ := progress.NodeView(s, name)
			return v.Stage == core.StageDone
		})
	})
}

// Nobody holds a gateway in manual mode until Lockstep plays the controller: then it waits until the operator declares it safe,
// and the entry shows what its agents serve according to Neutron.
func TestAGatewayWaitsForTheWordOfWhoPlaysTheController(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "gateway-manual", func(s *scenario.Scenario) {
			s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
			s.Update.Order = []string{"cmp-02", "ctl-02", "ctl-03", "cmp-01"}
			for i := range s.Nodes {
				s.Nodes[i].Began = 0
			}
		}), "openstack")
		name := p.named("ctl-02")
		for range 20 {
			var st core.Step
			found := false
			p.until("there is something to do, or it waits for the word", func(s *core.Snapshot) bool {
				if v, _ := progress.NodeView(s, name); v.What == "waits for your word" {
					return true
				}
				st, found = p.next(s, core.IntentActHold, core.IntentActBegin)
				return found
			})
			if !found {
				break
			}
			found = false
			p.do(st)
		}
		p.until("it says what is on it", func(s *core.Snapshot) bool {
			return urgent(s, name, "DHCP: 1 network; L3: 2 routers, 1 of them with HA on it")
		})
		if st := step.Plan(p.last, core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: name}); st.Doable() {
			t.Fatal("its lock can be released without the word")
		}
		p.confirm(core.Intent{Kind: core.IntentDeclareSafe, Node: name})
		p.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: name})
		p.until("LCM has it", func(s *core.Snapshot) bool { return s.Nodes[name].Cordoned })
	})
}
