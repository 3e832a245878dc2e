package sim

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // simulated clouds make much garbage and keep little
	goleak.VerifyTestMain(m)
}

// launch starts a cloud that ends with the test; a failed test prints the chronicle.
func launch(t *testing.T, opts Options) *Cloud {
	t.Helper()
	cloud, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	chronicle := cloud.Follow()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(chronicle)
		}
	})
	return cloud
}

func TestDemoStandsWhereItsScenarioSays(t *testing.T) {
	start := time.Date(2026, 3, 4, 17, 26, 0, 0, time.UTC)
	cloud := launch(t, Options{Start: start, Paused: true, User: "admin"})
	if got := cloud.Clock.Now(); !got.Equal(start) {
		t.Errorf("the clock shows %s", got)
	}
	for _, path := range []string{cloud.KubeconfigPath, cloud.CloudsYAMLPath} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", cloud.KubeconfigPath)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	updated := map[string]bool{}
	for _, node := range nodes.Items {
		machine := node.Labels["kaas.mirantis.com/machine-name"]
		updated[machine] = node.Status.NodeInfo.KubeletVersion == cloud.Scenario.Kubelet.To
		if want := start.Add(-90 * 24 * time.Hour); !node.CreationTimestamp.Time.Equal(want) {
			t.Errorf("%s was created at %s, want %s", machine, node.CreationTimestamp, want)
		}
	}
	for _, n := range cloud.Scenario.Nodes {
		if updated[n.Machine] != (n.Done > 0) {
			t.Errorf("%s: updated %v, done %v", n.Machine, updated[n.Machine], n.Done)
		}
	}
	request, err := dyn.Resource(clusterRequests).Get(t.Context(), "mos", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := start.Add(-cloud.Scenario.History.Begun.Of()); !request.GetCreationTimestamp().Time.Equal(want) {
		t.Errorf("the update was requested at %s, want %s", request.GetCreationTimestamp(), want)
	}
	locks, err := dyn.Resource(nodeLocks).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, lock := range locks.Items {
		controllerName, _, _ := unstructured.NestedString(lock.Object, "spec", "controllerName")
		state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
		count[controllerName+" "+state]++
	}
	if count["openstack active"] != 13 || count["ceph active"] != 2 || count["ceph inactive"] != 1 {
		t.Errorf("locks: %v", count)
	}
	pods, err := kube.CoreV1().Pods("openstack").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if len(pod.Status.ContainerStatuses) == 0 || !pod.Status.ContainerStatuses[0].Ready {
			t.Errorf("pod %s is not ready", pod.Name)
		}
	}
	secret, err := kube.CoreV1().Secrets("openstack-external").Get(t.Context(), "openstack-identity-credentials", metav1.GetOptions{})
	if err != nil || !strings.Contains(string(secret.Data["clouds.yaml"]), cloud.OpenStack.AuthURL()) {
		t.Errorf("the secret with the credentials: %v", err)
	}
}

func TestSameScenarioIsTheSameCloud(t *testing.T) {
	start := time.Date(2026, 3, 4, 17, 26, 0, 0, time.UTC)
	var first []string
	for range 2 {
		cloud := launch(t, Options{Start: start, Paused: true})
		var ids []string
		for _, n := range cloud.Scenario.Nodes {
			for _, s := range cloud.OpenStack.ServersOn(n.Name) {
				ids = append(ids, n.Name+" "+s.ID+" "+s.Name)
			}
		}
		if first == nil {
			first = ids
			continue
		}
		if strings.Join(first, "\n") != strings.Join(ids, "\n") {
			t.Errorf("first:\n%v\nsecond:\n%v", first, ids)
		}
	}
}

func TestAFolderOfItsOwnIsRemoved(t *testing.T) {
	cloud, err := Start(t.Context(), Options{Paused: true, ControllersOff: true})
	if err != nil {
		t.Fatal(err)
	}
	path := cloud.KubeconfigPath
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", path, err)
	}
	if err := cloud.Close(); err != nil {
		t.Errorf("the second close: %v", err)
	}
}

func TestEndOfTheContextEndsTheCloud(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cloud, err := Start(ctx, Options{Dir: t.TempDir(), Speed: 100})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cloud.Wait(); err != nil {
		t.Error(err)
	}
	if err := cloud.Close(); err != nil {
		t.Error(err)
	}
}
