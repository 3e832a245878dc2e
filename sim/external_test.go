package sim

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
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

	cloud := launch(t, Options{Kube: kube.RESTConfig(kubeapi.Admin), CloudsYAML: other.CloudsYAMLPath, ExternalCloud: CloudName, Speed: 300})
	if cloud.Kube != nil || cloud.OpenStack != nil || cloud.KubeconfigPath != "" || cloud.CloudsYAMLPath != other.CloudsYAMLPath {
		t.Errorf("servers of its own: %+v", cloud)
	}
	dyn, err := dynamic.NewForConfig(cloud.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	node, _ := cloud.Scenario.Node("cmp-03")
	eventually(t, time.Minute, "an instance of the other cloud leaves cmp-03", func() bool {
		for _, s := range other.OpenStack.ServersOn(node.Name) {
			if s.Status == "MIGRATING" {
				return true
			}
		}
		return false
	})
	eventually(t, time.Minute, "the lock says so", func() bool {
		lock, err := dyn.Resource(nodeLocks).Get(t.Context(), "openstack-"+node.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		message, _, _ := unstructured.NestedString(lock.Object, "status", "errorMessage")
		return strings.Contains(message, "migration")
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
