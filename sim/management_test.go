package sim

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

var updatePlans = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "clusterupdateplans"}

func TestTheKubeconfigHasBothClusters(t *testing.T) {
	cloud := launch(t, Options{Paused: true, ControllersOff: true, Dir: t.TempDir()})
	config, err := clientcmd.LoadFromFile(cloud.KubeconfigPath)
	if err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != cloud.Scenario.Cluster || len(config.Contexts) != 2 {
		t.Errorf("current context %q of %d", config.CurrentContext, len(config.Contexts))
	}
	rules := clientcmd.NewNonInteractiveClientConfig(*config, ManagementContext, &clientcmd.ConfigOverrides{}, nil)
	rest, err := rules.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(rest)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := dyn.Resource(updatePlans).Namespace("mosk").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(plans.Items) != 1 || plans.Items[0].GetName() != "mos-21.0.0" {
		t.Fatalf("the operator sees the plans %v: %v", plans, err)
	}
	steps, _, _ := unstructured.NestedSlice(plans.Items[0].Object, "status", "steps")
	var states []string
	for _, step := range steps {
		state, _ := step.(map[string]any)["status"].(string)
		states = append(states, state)
	}
	want := []string{"Completed", "Completed", "Completed", "InProgress", "NotStarted"}
	for i := range want {
		if i >= len(states) || states[i] != want[i] {
			t.Fatalf("the steps are %v, want %v", states, want)
		}
	}
}

func TestLCMFollowsAManagementClusterOfSomebodyElse(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		other, err := kubeapi.New(kubeapi.Options{CRDs: crds.Management(), Network: network})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Close)
		cloud := launch(t, Options{Management: other.RESTConfig(kubeapi.Admin), Network: network})
		if cloud.Management != nil {
			t.Error("there is a management cluster of its own")
		}
		dyn, err := dynamic.NewForConfig(cloud.ManagementConfig())
		if err != nil {
			t.Fatal(err)
		}
		stages := bubble.See(t, dyn.Resource(maintenance("lcmmachineupgradedrainstatuses")).Namespace("mosk"))
		bubble.Until(t, "LCM works on cmp-03 and says so", func() bool {
			all := stages.All()
			return len(all) > 0 && all[0].GetName() == "cmp-03"
		})
	})
}
