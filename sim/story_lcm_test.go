package sim_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

func kaas(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: plural}
}

var clusterMachines = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "machines"}

// project is a client of the scenario's project on the management cluster.
func (s *told) project(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	s.t.Helper()
	client, err := dynamic.NewForConfig(s.ManagementConfig())
	if err != nil {
		s.t.Fatal(err)
	}
	return client.Resource(resource).Namespace(s.Scenario.Management.Project)
}

// managed is an object of the management cluster, nil when it is not there.
func (s *told) managed(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	s.t.Helper()
	list, err := s.project(resource).List(s.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	return &list.Items[0]
}

// plan is the scenario's ClusterUpdatePlan.
func (s *told) plan() *unstructured.Unstructured {
	s.t.Helper()
	list, err := s.project(kaas("clusterupdateplans")).List(s.t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		s.t.Fatalf("the update plans: %v, %d", err, len(list.Items))
	}
	return &list.Items[0]
}

// stepStatus is what the plan says of a step.
func stepStatus(plan *unstructured.Unstructured, id string) (state, message string) {
	steps, _, _ := unstructured.NestedSlice(plan.Object, "status", "steps")
	for _, step := range steps {
		if fields, _ := step.(map[string]any); fields["id"] == id {
			state, _ = fields["status"].(string)
			message, _ = fields["message"].(string)
		}
	}
	return state, message
}

// stages are the names of the stages in an object.
func stages(object *unstructured.Unstructured) []string {
	if object == nil {
		return nil
	}
	var names []string
	list, _, _ := unstructured.NestedSlice(object.Object, "stages")
	for _, one := range list {
		fields, _ := one.(map[string]any)
		name, _ := fields["name"].(string)
		names = append(names, name)
	}
	return names
}

func TestSmoothGoesThroughAllStepsOfThePlan(t *testing.T) {
	t.Parallel()
	s := tell(t, "smooth")
	s.until("the plan is complete", func() bool { return field(s.plan(), "status", "status") == "Completed" })
	t.Log(s.Clock.Now())
}
