package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"lockstep/e2e/cluster"
)

// refusal is the server's answer to a request that it refuses.
func refusal(t *testing.T, err error) metav1.Status {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.Fatalf("want a refusal by the server, got %v", err)
	}
	return status.Status()
}

func TestTheServerIsARealOne(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(shared.Config(cluster.Nobody))
	if err != nil {
		t.Fatal(err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.36.3" || version.Major != "1" || version.Minor != "36" {
		t.Errorf("the server says that it is %+v", version)
	}
}

func TestALockTakesOnlyTheStatesThatTheDefinitionNames(t *testing.T) {
	locks := as(t, shared, cluster.Admin).Resource(nodeLocks)
	lock := create(t, shared, nodeLocks, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeWorkloadLock
metadata: {name: openstack-enum}
spec: {controllerName: openstack, nodeName: enum}
status: {state: inactive}
`)
	if _, has := lock.Object["status"]; has {
		t.Errorf("the status was created with the lock, not through its subresource: %v", lock.Object["status"])
	}

	for _, state := range []string{"active", "inactive", "failed"} {
		patch := fmt.Sprintf(`{"status":{"state":%q}}`, state)
		if _, err := locks.Patch(t.Context(), lock.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Errorf("set the state %s: %v", state, err)
		}
	}
	_, err := locks.Patch(t.Context(), lock.GetName(), types.MergePatchType, []byte(`{"status":{"state":"sleeping"}}`), metav1.PatchOptions{},
		"status")
	status := refusal(t, err)
	if status.Code != http.StatusUnprocessableEntity || status.Reason != metav1.StatusReasonInvalid {
		t.Errorf("the answer is %d %s", status.Code, status.Reason)
	}
	if want := `status.state: Unsupported value: "sleeping": supported values: "inactive", "active", "failed"`; !strings.Contains(
		status.Message, want) {
		t.Errorf("the message %q lacks %q", status.Message, want)
	}
}

func TestARequestTakesOnlyTheScopesThatTheDefinitionNames(t *testing.T) {
	_, err := as(t, shared, cluster.Admin).Resource(lcm("nodemaintenancerequests")).Create(t.Context(), object(t, `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeMaintenanceRequest
metadata: {name: scope}
spec: {nodeName: scope, scope: everything}
`), metav1.CreateOptions{})
	if status := refusal(t, err); status.Code != http.StatusUnprocessableEntity {
		t.Errorf("the answer is %d %s", status.Code, status.Message)
	}
}

// The program's writes are JSON patches that test their preconditions. This is how the server answers when a test fails.
func TestAPatchWhoseTestFailsChangesNothing(t *testing.T) {
	node := create(t, shared, nodes,
		`{apiVersion: v1, kind: Node, metadata: {name: patched, annotations: {openstack.lcm.mirantis.com/instance_migration_mode: manual}}}`)
	client := as(t, shared, cluster.Admin).Resource(nodes)
	const pointer = "/metadata/annotations/openstack.lcm.mirantis.com~1instance_migration_mode"

	tests := []struct {
		name    string
		patch   string
		code    int32
		message string
	}{
		{
			"the value is another",
			`[{"op":"test","path":"` + pointer + `","value":"live"},{"op":"replace","path":"` + pointer + `","value":"skip"}]`,
			http.StatusUnprocessableEntity,
			"the server rejected our request due to an error in our request",
		},
		{
			"the object is another",
			`[{"op":"test","path":"/metadata/uid","value":"00000000-0000-0000-0000-000000000000"},{"op":"replace","path":"` + pointer +
				`","value":"skip"}]`,
			http.StatusUnprocessableEntity,
			"the server rejected our request due to an error in our request",
		},
		{
			"there is no value",
			`[{"op":"test","path":"/metadata/annotations/nothing","value":"live"},{"op":"replace","path":"` + pointer + `","value":"skip"}]`,
			http.StatusUnprocessableEntity,
			"the server rejected our request due to an error in our request",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.Patch(t.Context(), node.GetName(), types.JSONPatchType, []byte(test.patch),
				metav1.PatchOptions{FieldManager: "lockstep"})
			status := refusal(t, err)
			t.Logf("%d %s %q %+v", status.Code, status.Reason, status.Message, status.Details)
			if status.Code != test.code || !strings.Contains(status.Message, test.message) {
				t.Errorf("the answer is %d %q, want %d %q", status.Code, status.Message, test.code, test.message)
			}
			now, err := client.Get(t.Context(), node.GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if now.GetResourceVersion() != node.GetResourceVersion() {
				t.Errorf("the node has changed: %v", now.GetAnnotations())
			}
		})
	}

	holds := `[{"op":"test","path":"/metadata/uid","value":"` + string(node.GetUID()) + `"},{"op":"test","path":"` + pointer +
		`","value":"manual"},{"op":"replace","path":"` + pointer + `","value":"skip"}]`
	dry, err := client.Patch(t.Context(), node.GetName(), types.JSONPatchType, []byte(holds),
		metav1.PatchOptions{FieldManager: "lockstep", DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	if got := dry.GetAnnotations()["openstack.lcm.mirantis.com/instance_migration_mode"]; got != "skip" {
		t.Errorf("a dry run answers with the mode %q", got)
	}
	if now, err := client.Get(t.Context(), node.GetName(), metav1.GetOptions{}); err != nil ||
		now.GetResourceVersion() != node.GetResourceVersion() {
		t.Errorf("a dry run has changed the node (%v)", err)
	}
	after, err := client.Patch(t.Context(), node.GetName(), types.JSONPatchType, []byte(holds), metav1.PatchOptions{FieldManager: "lockstep"})
	if err != nil {
		t.Fatal(err)
	}
	if got := after.GetAnnotations()["openstack.lcm.mirantis.com/instance_migration_mode"]; got != "skip" {
		t.Errorf("the mode is %q", got)
	}
}

func TestTwoOperatorsCannotHoldOneLease(t *testing.T) {
	lease := create(t, shared, leases, `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lockstep-conflict, namespace: default}
spec: {holderIdentity: anna, leaseDurationSeconds: 30}
`)
	client := as(t, shared, cluster.Admin).Resource(leases).Namespace("default")

	_, err := client.Create(t.Context(), object(t, `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: lockstep-conflict}}`),
		metav1.CreateOptions{})
	if status := refusal(t, err); status.Code != http.StatusConflict || status.Reason != metav1.StatusReasonAlreadyExists {
		t.Errorf("creating it again answers %d %s", status.Code, status.Reason)
	}

	take := func(holder string) error {
		mine := lease.DeepCopy()
		if err := unstructured.SetNestedField(mine.Object, holder, "spec", "holderIdentity"); err != nil {
			t.Fatal(err)
		}
		_, err := client.Update(t.Context(), mine, metav1.UpdateOptions{})
		return err
	}
	if err := take("bert"); err != nil {
		t.Fatal(err)
	}
	status := refusal(t, take("carl"))
	if status.Code != http.StatusConflict || status.Reason != metav1.StatusReasonConflict {
		t.Errorf("a stale update answers %d %s %q", status.Code, status.Reason, status.Message)
	}
}

func TestAnExpiredTokenIsRefused(t *testing.T) {
	_, err := as(t, shared, cluster.Expired).Resource(nodes).List(t.Context(), metav1.ListOptions{})
	if status := refusal(t, err); status.Code != http.StatusUnauthorized {
		t.Errorf("the answer is %d %s", status.Code, status.Message)
	}
}

func TestAKilledServerComesBackWithItsState(t *testing.T) {
	c := ownCluster(t)
	create(t, c, nodes, `{apiVersion: v1, kind: Node, metadata: {name: survivor, annotations: {kept: "yes"}}}`)
	client := as(t, c, cluster.Admin).Resource(nodes)
	// The server records a request after its answer: if it is killed in between, the record is missing.
	_, err := c.AwaitRequest(t.Context(), func(r cluster.Request) bool { return r.Name == "survivor" && r.Write() })
	if err != nil {
		t.Fatal(err)
	}

	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), "survivor", metav1.GetOptions{}); err == nil {
		t.Fatal("a killed server has answered")
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	node, err := client.Get(t.Context(), "survivor", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.GetAnnotations()["kept"] != "yes" {
		t.Errorf("the node came back as %v", node.Object)
	}
	writes, err := c.Writes(cluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range writes {
		names = append(names, w.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "survivor") {
		t.Errorf("the audit log has lost what was before the kill: %v", names)
	}
}

func TestTheAuditTellsWhatTheServerReceived(t *testing.T) {
	create(t, shared, nodes, `{apiVersion: v1, kind: Node, metadata: {name: audited}}`)
	patch := `[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]`
	client := as(t, shared, cluster.Controllers).Resource(nodes)
	if _, err := client.Patch(t.Context(), "audited", types.JSONPatchType, []byte(patch),
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Patch(t.Context(), "audited", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := as(t, shared, cluster.Nobody).Resource(nodes).Get(t.Context(), "audited", metav1.GetOptions{}); err == nil {
		t.Fatal("nobody may read nodes")
	}

	// Each request is recorded after its answer, so possibly after the next one.
	of := func(user cluster.User, tried bool) cluster.Request {
		t.Helper()
		found, err := shared.AwaitRequest(t.Context(), func(r cluster.Request) bool {
			return r.User == string(user) && r.Resource == "nodes" && r.Name == "audited" && r.DryRun == tried
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	of(cluster.Controllers, true)
	of(cluster.Controllers, false)
	refused := of(cluster.Nobody, false)
	if refused.Verb != "get" || refused.Code != http.StatusForbidden || refused.Write() {
		t.Errorf("the refused read is recorded as %v", refused)
	}

	writes, err := shared.Writes(cluster.Controllers)
	if err != nil {
		t.Fatal(err)
	}
	var got []cluster.Request
	for _, w := range writes {
		if w.Name == "audited" {
			got = append(got, w)
		}
	}
	if len(got) != 2 {
		t.Fatalf("%d writes are recorded: %v", len(got), got)
	}
	for i, w := range got {
		if w.Verb != "patch" || w.Resource != "nodes" || w.Group != "" || w.Subresource != "" || w.Code != http.StatusOK ||
			w.UserAgent != "lockstep-e2e" {
			t.Errorf("write %d is recorded as %v", i, w)
		}
		var body any
		if err := json.Unmarshal(w.Body, &body); err != nil || string(w.Body) != patch {
			t.Errorf("write %d has the body %s (%v)", i, w.Body, err)
		}
		if dry := i == 0; w.DryRun != dry {
			t.Errorf("write %d: dry run is %v", i, w.DryRun)
		}
	}
}
