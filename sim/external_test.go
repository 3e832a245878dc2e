package sim

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

func TestControllersMoveServersOfSomebodyElse(t *testing.T) {
	kube, err := kubeapi.New(kubeapi.Options{CRDs: crds.All()})
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kube.Close)
	other := launch(t, Options{ControllersOff: true, Speed: 300})

	cloud := launch(t, Options{Kube: kube.RESTConfig(kubeapi.Admin), CloudsYAML: other.CloudsYAMLPath, ExternalCloud: CloudName, Speed: 300, Paused: true})
	if cloud.Kube != nil || cloud.OpenStack != nil || cloud.KubeconfigPath != "" || cloud.CloudsYAMLPath != other.CloudsYAMLPath {
		t.Errorf("servers of its own: %+v", cloud)
	}
	dyn, err := dynamic.NewForConfig(cloud.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	node, _ := cloud.Scenario.Node("cmp-03")
	before := len(other.OpenStack.ServersOn(node.Name))
	// By a watch: the texts of an evacuation stand for seconds only.
	events, err := dyn.Resource(nodeLocks).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=openstack-" + node.Name})
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan struct{})
	go func() {
		tell := sync.OnceFunc(func() { close(said) })
		for event := range events.ResultChan() {
			if lock, ok := event.Object.(*unstructured.Unstructured); ok {
				if message, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage"); strings.Contains(message, "migration") {
					tell()
				}
			}
		}
	}()
	t.Cleanup(events.Stop)
	cloud.Clock.Resume()
	eventually(t, time.Minute, "an instance of the other cloud leaves cmp-03", func() bool {
		servers := other.OpenStack.ServersOn(node.Name)
		return len(servers) < before || slices.ContainsFunc(servers, func(s openstack.ServerState) bool { return s.Status == "MIGRATING" })
	})
	select {
	case <-said:
	case <-time.After(time.Minute):
		t.Fatal("the lock does not say so")
	}
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
