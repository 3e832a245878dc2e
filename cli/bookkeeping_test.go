package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/procedure"
	"lockstep/core/progress"
)

// The OpenStack controller fails on a request without a scope and writes no text: Lockstep reports it from the controller's own
// notes. A request made while the controller is away is never seen, and Lockstep reports what it leaves behind.
func controllersNotes(t *testing.T, p *player) {
	t.Helper()
	nodes, err := evacuation.ResolveNodes(p.last, []string{"cmp-02"})
	if err != nil {
		t.Fatal(err)
	}
	name := nodes[0]
	admin, err := dynamic.NewForConfig(p.Cloud.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	lcm := func(plural string) dynamic.NamespaceableResourceInterface {
		return admin.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural})
	}
	requests, locks := lcm("nodemaintenancerequests"), lcm("nodeworkloadlocks")
	ask := func(scope string) {
		spec := map[string]any{"nodeName": name, "release": p.last.NodeLock(name, core.ControllerOpenStack).Release}
		if scope != "" {
			spec["scope"] = scope
		}
		request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeMaintenanceRequest",
			"metadata": map[string]any{"name": name}, "spec": spec}}
		if _, err := requests.Create(t.Context(), request, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	withdraw := func() {
		if err := requests.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	view := func(s *core.Snapshot) *core.NodeView { v, _ := progress.NodeView(s, name); return v }
	// said returns everything that the dashboard and the page say about the node.
	said := func(s *core.Snapshot) string {
		proc, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
		all := slices.Clone(proc.Summary)
		for _, st := range proc.Steps {
			all = append(all, st.Status, st.Why)
		}
		for _, a := range attention.Of(s) {
			all = append(all, a.Reason, a.Detail)
		}
		return strings.Join(all, "\n")
	}

	ask("")
	p.until("it has failed twice", func(s *core.Snapshot) bool {
		return progress.NodeAccount(s, name).Failed == 2 && progress.NodeAccount(s, name).State == progress.AccountRetries
	})
	account := progress.NodeAccount(p.last, name)
	again := "tries again at " + account.Next.Local().Format("15:04:05") + ", failed twice: 'scope'"
	if text := said(p.last); !strings.Contains(view(p.last).Reason, again) || strings.Count(text, again) < 3 ||
		strings.Contains(text, "within 60 s") {
		t.Errorf("its stage says %q, and its page\n%s", view(p.last).Reason, text)
	}
	if left := account.Next.Sub(p.last.Now); left <= 0 || left > time.Minute {
		t.Errorf("it tries again in %s", left)
	}
	_, out, _ := runOn(t, p.Cloud, "status", "-o", "json")
	if want := regexp.MustCompile(
		`"openstackController": \{\s*"state": "tries again",\s*"failed": \d+,\s*"words": "'scope'",\s*"next": "2`); !want.MatchString(out) {
		t.Errorf("status says %s", out)
	}
	if _, err := requests.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"scope":"drain"}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	lockIs := func(state core.LockState) func(*core.Snapshot) bool {
		return func(s *core.Snapshot) bool { return s.NodeLock(name, core.ControllerOpenStack).State() == state }
	}
	p.until("it has the node released", lockIs(core.LockInactive))
	p.until("nothing is noted any more", func(s *core.Snapshot) bool { return progress.NodeAccount(s, name).State == progress.AccountHandled })
	withdraw()
	p.until("the node is back", func(s *core.Snapshot) bool { return s.NodeRequest(name) == nil && lockIs(core.LockActive)(s) })

	// The controller goes, and a request comes.
	scale := func(replicas string) {
		if _, err := kubernetesOf(t, p.Cloud).AppsV1().Deployments("osh-system").Patch(t.Context(), "rockoon", types.MergePatchType,
			[]byte(`{"spec":{"replicas":`+replicas+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	scale("0")
	p.until("it is gone", func(s *core.Snapshot) bool { return s.Controller != nil && s.Controller.Existing == 0 })
	ask("drain")
	p.until("it is known that nobody has seen it",
		func(s *core.Snapshot) bool { return progress.NodeAccount(s, name).State == progress.AccountUnseen })
	for _, want := range []string{"the OpenStack controller has never seen its request: it does not run",
		"It has never seen the request of cmp-02"} {
		if text := said(p.last); !strings.Contains(text, want) {
			t.Errorf("it is not said that %s:\n%s", want, text)
		}
	}
	// Somebody releases the node's lock, and LCM's request goes again.
	lock := p.last.NodeLock(name, core.ControllerOpenStack)
	if _, err := locks.Patch(t.Context(), lock.Name, types.MergePatchType, []byte(`{"status":{"state":"inactive"}}`), metav1.PatchOptions{},
		"status"); err != nil {
		t.Fatal(err)
	}
	p.until("it is urgent", func(s *core.Snapshot) bool {
		return strings.Contains(said(s), "the OpenStack controller has never seen its request: it has prepared nothing for it")
	})
	withdraw()
	scale("1")
	p.until("what is left says why", func(s *core.Snapshot) bool {
		return s.Controller != nil && s.Controller.Ready > 0 &&
			strings.Contains(said(s), "the OpenStack controller had never seen it: it does not take the node back")
	})
}
