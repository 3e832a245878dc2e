package sim

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
)

func TestControllersMoveServersOfSomebodyElse(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		kube, err := kubeapi.New(kubeapi.Options{CRDs: crds.All(), Network: network})
		if err != nil {
			t.Fatal(err)
		}
		if err := kube.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(kube.Close)
		other := launch(t, Options{ControllersOff: true, Network: network})

		cloud := launch(t, Options{Kube: kube.RESTConfig(kubeapi.Admin), CloudsYAML: other.CloudsYAMLPath, ExternalCloud: CloudName,
			Network: network, Paused: true})
		if cloud.Kube != nil || cloud.OpenStack != nil || cloud.KubeconfigPath != "" || cloud.CloudsYAMLPath != other.CloudsYAMLPath {
			t.Errorf("servers of its own: %+v", cloud)
		}
		dyn, err := dynamic.NewForConfig(cloud.AdminConfig())
		if err != nil {
			t.Fatal(err)
		}
		node, _ := cloud.Scenario.Node("cmp-03")
		before := len(other.OpenStack.ServersOn(node.Name))
		var said atomic.Bool // the texts of an evacuation last only seconds
		bubble.Follow(t, dyn.Resource(nodeLocks), func(_ watch.EventType, lock *unstructured.Unstructured) {
			message, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage")
			if lock.GetName() == "openstack-"+node.Name && strings.Contains(message, "migration") {
				said.Store(true)
			}
		})
		cloud.Clock.Resume()
		bubble.Until(t, "an instance of the other cloud leaves cmp-03", func() bool {
			servers := other.OpenStack.ServersOn(node.Name)
			return len(servers) < before || slices.ContainsFunc(servers, func(s openstack.ServerState) bool { return s.Status == "MIGRATING" })
		})
		bubble.Until(t, "the lock has said so", said.Load)
	})
}

func TestAServerThatIsAwayIsAnErrorOfStart(t *testing.T) {
	kube, err := kubeapi.New(kubeapi.Options{CRDs: crds.All()})
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := kube.RESTConfig(kubeapi.Admin)
	kube.Close()
	if _, err := Start(t.Context(), Options{Kube: config}); err == nil || !strings.Contains(err.Error(), "seed the cluster") {
		t.Errorf("error %v, want one that says what could not be done", err)
	}
}
