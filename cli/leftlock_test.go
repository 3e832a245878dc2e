package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// A removal that is requested and withdrawn leaves the OpenStack controller's lock inactive for good, and the host out of
// scheduling: the controller does nothing when the request is withdrawn. Lockstep, beside the running controller, says what that
// means, and corrects it.
func removalWithdrawn(t *testing.T, p *player) {
	t.Helper()
	name := ""
	for _, n := range p.last.Nodes {
		if n.Label() == "cmp-02" {
			name = n.Name
		}
	}
	if name == "" || len(p.last.InstancesOn(name)) > 0 {
		t.Fatal("there is no cmp-02 without instances")
	}
	admin, err := dynamic.NewForConfig(p.Cloud.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	removals := admin.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodedeletionrequests"})
	removal := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeDeletionRequest",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"nodeName": name}}}
	if _, err := removals.Create(t.Context(), removal, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	lock := func(s *core.Snapshot) *core.WorkloadLock { return s.NodeLock(name, core.ControllerOpenStack) }
	p.until("the lock lets the node go", func(s *core.Snapshot) bool { return lock(s) != nil && lock(s).State() == core.LockInactive })
	if err := removals.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	said := func(s *core.Snapshot) bool {
		for _, a := range attention.Of(s) {
			if a.Node == name && a.Severity == core.SeverityUrgent &&
				strings.Contains(a.Reason, "will drain and reboot it without moving anything") {
				return true
			}
		}
		return false
	}
	p.until("it is urgent", said)
	for _, i := range []core.Intent{{Kind: core.IntentRearmLock, Object: lock(p.last).Ref()}, {Kind: core.IntentEnableCompute, Node: name}} {
		var st core.Step
		p.until(string(i.Kind)+" can be confirmed", func(s *core.Snapshot) bool {
			st = step.Plan(s, i)
			return st.Doable()
		})
		p.do(st)
	}
	p.until("nothing is left over", func(s *core.Snapshot) bool {
		svc := s.Services[s.HostOf(name)]
		v, _ := progress.NodeView(s, name)
		return !said(s) && lock(s).State() == core.LockActive && svc != nil && svc.Enabled && v.Stage == core.StageIdle
	})
}
