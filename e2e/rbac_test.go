package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"lockstep/e2e/cluster"
)

// right is a verb on a resource, as an access review asks for it.
type right struct {
	verb, group, resource, subresource, namespace, name string
}

func (r right) String() string {
	resource := r.resource
	if r.subresource != "" {
		resource += "/" + r.subresource
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.verb, resource, strings.Trim(r.namespace+"/"+r.name, "/")))
}

// mayI asks the server whether the client has the right.
func mayI(t *testing.T, client dynamic.Interface, r right) bool {
	t.Helper()
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1",
		"kind":       "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": r.verb, "group": r.group, "resource": r.resource, "subresource": r.subresource, "namespace": r.namespace, "name": r.name,
		}},
	}}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	answer, err := client.Resource(reviews).Create(t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("ask for the right to %s: %v", r, err)
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	if err != nil {
		t.Fatal(err)
	}
	return allowed
}

func TestTheManifestsGiveWhatIsNeededAndNoMore(t *testing.T) {
	rights(t, shared)
	const lcmGroup = "lcm.mirantis.com"

	var reads, writes, never []right
	for _, verb := range []string{"list", "watch"} {
		reads = append(reads,
			right{verb, "", "nodes", "", "", ""},
			right{verb, lcmGroup, "clusterworkloadlocks", "", "", ""},
			right{verb, lcmGroup, "nodeworkloadlocks", "", "", ""},
			right{verb, lcmGroup, "clustermaintenancerequests", "", "", ""},
			right{verb, lcmGroup, "nodemaintenancerequests", "", "", ""},
			right{verb, lcmGroup, "nodedeletionrequests", "", "", ""},
			right{verb, lcmGroup, "nodedisablenotifications", "", "", ""},
			right{verb, lcmGroup, "openstackdeploymentstatus", "", "openstack", ""},
			right{verb, "apps", "deployments", "", "osh-system", "rockoon"},
			right{verb, "apps", "daemonsets", "", "", ""},
			right{verb, "apps", "controllerrevisions", "", "", ""},
			right{verb, "apps", "statefulsets", "", "", ""},
			right{verb, "batch", "jobs", "", "openstack", "openstack-tempest-run-tests"},
		)
	}
	for _, verb := range []string{"get", "list", "watch"} {
		never = append(never,
			right{verb, "", "secrets", "", "openstack", ""},
			right{verb, "", "secrets", "", "openstack-external", ""},
			right{verb, "", "configmaps", "", "osh-system", ""},
			right{verb, lcmGroup, "openstackdeploymentstatus", "", "default", ""},
			right{verb, lcmGroup, "openstackdeployments", "", "default", ""},
			right{verb, "batch", "jobs", "", "openstack", "another"},
			right{verb, "apps", "deployments", "", "osh-system", ""},
			right{verb, "apps", "deployments", "", "openstack", "rockoon"},
		)
	}
	reads = append(reads,
		right{"list", "", "pods", "", "", ""},
		right{"watch", "", "pods", "", "", ""},
		right{"get", "coordination.k8s.io", "leases", "", "default", "lockstep-operator"},
		right{"list", "coordination.k8s.io", "leases", "", "", "lockstep-operator"},
	)
	writes = append(writes,
		right{"get", "", "nodes", "", "", ""},
		right{"patch", "", "nodes", "", "", ""},
		right{"create", "coordination.k8s.io", "leases", "", "default", ""},
		right{"update", "coordination.k8s.io", "leases", "", "default", "lockstep-operator"},
		right{"get", "", "secrets", "", "openstack-external", "openstack-identity-credentials"},
		right{"delete", "", "pods", "", "openstack", ""},
		right{"delete", "", "pods", "", "tf", ""},
	)
	for _, verb := range []string{"get", "list", "watch", "patch"} {
		writes = append(writes, right{verb, lcmGroup, "openstackdeployments", "", "openstack", ""})
	}
	for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
		for _, resource := range []string{"clusterworkloadlocks", "nodeworkloadlocks"} {
			never = append(never, right{verb, lcmGroup, resource, "", "", ""}, right{verb, lcmGroup, resource, "status", "", ""})
		}
		never = append(never,
			right{verb, lcmGroup, "nodemaintenancerequests", "", "", ""},
			right{verb, lcmGroup, "openstackdeploymentstatus", "", "openstack", ""},
			right{verb, "", "pods", "", "kube-system", ""},
			right{verb, "", "nodes", "status", "", ""},
			right{verb, "apps", "daemonsets", "", "openstack", ""},
			right{verb, "apps", "daemonsets", "", "tf", ""},
			right{verb, "apps", "deployments", "", "osh-system", "rockoon"},
		)
	}
	for _, verb := range []string{"create", "update", "patch", "deletecollection"} {
		never = append(never, right{verb, "", "pods", "", "openstack", ""}, right{verb, "", "pods", "", "tf", ""})
	}
	for _, verb := range []string{"create", "update", "delete", "deletecollection"} {
		never = append(never, right{verb, lcmGroup, "openstackdeployments", "", "openstack", ""})
	}
	never = append(never,
		right{"update", "", "nodes", "", "", ""},
		right{"delete", "", "nodes", "", "", ""},
		right{"delete", "coordination.k8s.io", "leases", "", "default", "lockstep-operator"},
		right{"update", "coordination.k8s.io", "leases", "", "default", "another"},
		right{"update", "coordination.k8s.io", "leases", "", "kube-system", "kube-scheduler"},
		right{"get", "", "secrets", "", "openstack-external", "another"},
		right{"delete", "", "persistentvolumeclaims", "", "openstack", ""}, // needs rbac-maintenance.yaml
		right{"delete", "", "persistentvolumeclaims", "", "openstack-redis", ""},
		right{"create", "", "pods", "eviction", "openstack", ""},
		right{"create", "", "pods", "exec", "openstack", ""},
		right{"impersonate", "", "users", "", "", ""},
		right{"escalate", "rbac.authorization.k8s.io", "clusterroles", "", "", ""},
	)

	tests := []struct {
		user    cluster.User
		may     [][]right
		mayNot  [][]right
		comment string
	}{
		{cluster.ReadOnly, [][]right{reads}, [][]right{writes, never}, "rbac-readonly.yaml"},
		{cluster.Operator, [][]right{reads, writes}, [][]right{never}, "rbac-readonly.yaml and rbac-operator.yaml"},
		{cluster.Nobody, nil, [][]right{reads, writes, never}, "no manifest"},
	}
	for _, test := range tests {
		t.Run(string(test.user), func(t *testing.T) {
			client := as(t, shared, test.user)
			for want, sets := range map[bool][][]right{true: test.may, false: test.mayNot} {
				for _, set := range sets {
					for _, r := range set {
						if got := mayI(t, client, r); got != want {
							t.Errorf("with %s, may %s: %v, want %v", test.comment, r, got, want)
						}
					}
				}
			}
		})
	}
}

// watches is the call that watches a resource in a namespace.
func watches(resource schema.GroupVersionResource, namespace string, options metav1.ListOptions) func(*testing.T, dynamic.Interface) error {
	return func(t *testing.T, client dynamic.Interface) error {
		events, err := client.Resource(resource).Namespace(namespace).Watch(t.Context(), options)
		if err == nil {
			events.Stop()
		}
		return err
	}
}

// An access review does not show rules with resource names completely: these are the calls as the program makes them.
func TestTheCallsOfTheProgramPass(t *testing.T) {
	rights(t, shared)
	create(t, shared, nodes, `{apiVersion: v1, kind: Node, metadata: {name: rbac-1}}`)
	create(t, shared, pods, `
apiVersion: v1
kind: Pod
metadata: {name: rbac-1, namespace: openstack}
spec: {nodeName: rbac-1, containers: [{name: c, image: none}]}
`)
	create(t, shared, secrets,
		`{apiVersion: v1, kind: Secret, metadata: {name: openstack-identity-credentials, namespace: openstack-external}}`)
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

	annotate := `[{"op":"add","path":"/metadata/annotations","value":{"openstack.lcm.mirantis.com/instance_migration_mode":"skip"}}]`

	readers := []cluster.User{cluster.ReadOnly, cluster.Operator}
	operators := []cluster.User{cluster.Operator}
	calls := []struct {
		name string
		may  []cluster.User
		call func(t *testing.T, client dynamic.Interface) error
	}{
		{"list the pods of a node", readers, func(t *testing.T, client dynamic.Interface) error {
			list, err := client.Resource(pods).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=rbac-1"})
			if err == nil && len(list.Items) != 1 {
				t.Errorf("%d pods are on the node, want 1", len(list.Items))
			}
			return err
		}},
		{"watch the pods of a node", readers, watches(pods, "", metav1.ListOptions{FieldSelector: "spec.nodeName=rbac-1"})},
		{"list the OpenStack controller's deployment by its name", readers, func(t *testing.T, client dynamic.Interface) error {
			_, err := client.Resource(deployments).Namespace("osh-system").List(t.Context(),
				metav1.ListOptions{FieldSelector: "metadata.name=rockoon"})
			return err
		}},
		{"watch the OpenStack controller's deployment by its name", readers,
			watches(deployments, "osh-system", metav1.ListOptions{FieldSelector: "metadata.name=rockoon"})},
		{"list every deployment of the namespace", nil, func(t *testing.T, client dynamic.Interface) error {
			_, err := client.Resource(deployments).Namespace("osh-system").List(t.Context(), metav1.ListOptions{})
			return err
		}},
		{"try the annotation of a node", operators, func(t *testing.T, client dynamic.Interface) error {
			_, err := client.Resource(nodes).Patch(t.Context(), "rbac-1", types.JSONPatchType, []byte(annotate),
				metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}},
		{"watch the run of Tempest by its name", readers,
			watches(jobs, "openstack", metav1.ListOptions{FieldSelector: "metadata.name=openstack-tempest-run-tests"})},
		{"watch the pods of DaemonSets", readers, watches(pods, "tf", metav1.ListOptions{LabelSelector: "controller-revision-hash"})},
		{"try to delete a pod of OpenStack's", operators, func(t *testing.T, client dynamic.Interface) error {
			return client.Resource(pods).Namespace("openstack").Delete(t.Context(), "rbac-1",
				metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		}},
		{"annotate a node", operators, func(t *testing.T, client dynamic.Interface) error {
			_, err := client.Resource(nodes).Patch(t.Context(), "rbac-1", types.JSONPatchType, []byte(annotate), metav1.PatchOptions{})
			return err
		}},
		{"read the OpenStack credentials", operators, func(t *testing.T, client dynamic.Interface) error {
			_, err := client.Resource(secrets).Namespace("openstack-external").Get(t.Context(), "openstack-identity-credentials",
				metav1.GetOptions{})
			return err
		}},
	}
	for _, test := range calls {
		t.Run(test.name, func(t *testing.T) {
			for _, user := range []cluster.User{cluster.ReadOnly, cluster.Operator, cluster.Nobody} {
				err := test.call(t, as(t, shared, user))
				if slices.Contains(test.may, user) {
					if err != nil {
						t.Errorf("%s: %v", user, err)
					}
				} else if err == nil {
					t.Errorf("%s may do it", user)
				} else if status := refusal(t, err); status.Code != http.StatusForbidden {
					t.Errorf("%s: %v", user, err)
				}
			}
		})
	}
}
