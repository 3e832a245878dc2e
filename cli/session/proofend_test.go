package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"lockstep/cli/sessiontest"
	"lockstep/core"
)

// through lets the controller itself finish the update of a history in which Lockstep played it, once nothing is in its way.
// However the two took turns, every lock, inner_state, service, finalizer and claim must then be as if one of them had done
// everything, except what somebody said about a lock or a service in their own name.
func (p *proof) through() {
	if !p.act {
		return
	}
	p.tell("the update goes through")
	p.first.stop() // it only watches
	for _, id := range p.instances() {
		p.watch.touch(id)
		_ = p.cloud.OpenStack.DeleteServer(id) // some are deleted already
	}
	for _, node := range p.nodes {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, core.AnnotationMigrationMode)
		if _, err := p.admin.Resource(nodeResource).Patch(p.ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			p.rt.Fatal(err)
		}
	}
	p.scaleRockoon(true)
	// LCM withdraws its own requests; these are Lockstep's, which the operator withdraws
	for _, resource := range []schema.GroupVersionResource{sessiontest.NodeRequests, sessiontest.ClusterRequests} {
		ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=lockstep"}
		if err := p.admin.Resource(resource).DeleteCollection(p.ctx, metav1.DeleteOptions{}, ours); err != nil {
			p.rt.Fatal(err)
		}
	}
	requests := func() []*unstructured.Unstructured {
		return slices.Concat(p.cloud.Kube.Objects(sessiontest.NodeRequests.Resource), p.cloud.Kube.Objects(sessiontest.ClusterRequests.Resource))
	}
	locks := func() []*unstructured.Unstructured {
		return slices.Concat(p.cloud.Kube.Objects(sessiontest.NodeLocks.Resource), p.cloud.Kube.Objects(sessiontest.ClusterLocks.Resource))
	}
	for began := time.Now(); len(requests()) > 0; p.sleep(10 * time.Second) {
		if time.Since(began) > mostWait {
			p.rt.Fatalf("the update does not come to its end: %s", asYAML(slices.Concat(requests(), locks())))
		}
	}
	p.sleep(time.Minute) // what follows the last request
	var left []string
	overridden, nodes := p.overridden(), p.overriddenNodes()
	held := map[string]bool{} // which finalizers hold OpenStack's locks of nodes: the controller adds its own to all
	for _, lock := range locks() {
		node, _, _ := unstructured.NestedString(lock.Object, "spec", "nodeName")
		if overridden[lock.GetName()] || nodes[node] {
			continue
		}
		state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
		release, _, _ := unstructured.NestedString(lock.Object, "status", "release")
		text, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage")
		inner := lock.GetAnnotations()["inner_state"]
		if controller, _, _ := unstructured.NestedString(lock.Object, "spec", "controllerName"); controller == core.ControllerOpenStack &&
			node != "" {
			held[strings.Join(lock.GetFinalizers(), " ")] = true
		}
		if state != "active" || release != p.cloud.Scenario.Release.To || text != "" || inner == "active" || lock.GetDeletionTimestamp() != nil {
			left = append(left, fmt.Sprintf("the lock %s is %s of %s, inner_state %q, text %q", lock.GetName(), state, release, inner, text))
		}
	}
	services, err := sessiontest.Services(p.ctx, p.cloud)
	if err != nil {
		p.rt.Fatal(err)
	}
	for _, svc := range services {
		if svc.Status != "enabled" && !theirs(svc.Reason) && !nodes[strings.Split(svc.Host, "@")[0]] {
			left = append(left, fmt.Sprintf("%s of %s is %s: %s", svc.Binary, svc.Host, svc.Status, svc.Reason))
		}
	}
	for _, claim := range p.cloud.Kube.Objects("persistentvolumeclaims") {
		if phase, _, _ := unstructured.NestedString(claim.Object, "status", "phase"); phase != "Bound" || claim.GetDeletionTimestamp() != nil {
			left = append(left, fmt.Sprintf("the claim %s is %s", claim.GetName(), phase))
		}
	}
	if len(held) != 1 || strings.Contains(slices.Collect(maps.Keys(held))[0], " ") {
		left = append(left, fmt.Sprintf("the locks of nodes are held by %v", held))
	}
	if len(left) > 0 {
		p.rt.Fatalf("when all was over there was left:\n%s", strings.Join(left, "\n"))
	}
	p.tell("nothing is left behind")
}

// theirs tells whether somebody took a service out of scheduling for a reason of their own: they have to put it back.
func theirs(reason string) bool {
	return reason == "broken fan, do not touch" || reason == "a dead disk" ||
		strings.HasPrefix(reason, "taken out of scheduling with Lockstep")
}

// asYAML returns objects in a readable form.
func asYAML(objects []*unstructured.Unstructured) string {
	var b strings.Builder
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return err.Error()
		}
		b.WriteString("\n---\n" + string(text))
	}
	return b.String()
}
