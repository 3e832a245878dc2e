package kubeapi_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

func TestLoadedObjectsKeepTheirPast(t *testing.T) {
	w := start(t, kubeapi.Options{})
	lock := nodeLock("lock", "node-1")
	lock.SetUID("f3a0ce31-8d3e-4c4e-a8ef-5d52ed39f4f0")
	lock.SetCreationTimestamp(metav1.NewTime(birth.Add(-240 * time.Hour)))
	lock.Object["status"] = map[string]any{"state": "active"}
	w.load(lock)
	got, err := w.dynamic(kubeapi.Readonly).Resource(nodeLocks).Get(w.ctx, "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if created := got.GetCreationTimestamp(); got.GetUID() != lock.GetUID() || birth.Sub(created.Time) != 240*time.Hour ||
		field(t, got, "status", "state") != "active" {
		t.Errorf("loaded %v", got.Object)
	}
	for name, wrong := range map[string]*unstructured.Unstructured{
		"already exists": lock,
		"Unsupported value": {Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeMaintenanceRequest",
			"metadata": map[string]any{"name": "n"}, "spec": map[string]any{"nodeName": "n", "scope": "everything"}}},
		"is not served":            {Object: map[string]any{"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{"name": "n"}}},
		`no namespace "elsewhere"`: configMap("elsewhere", "a"),
		`unknown field "spec.colour"`: {Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeDeletionRequest",
			"metadata": map[string]any{"name": "n"}, "spec": map[string]any{"nodeName": "n", "colour": "red"}}},
	} {
		if err := w.Load(wrong); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlainTextInASecretIsEncoded(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "s", "namespace": "default"}, "stringData": map[string]any{"clouds.yaml": "clouds: {}"}}})
	secret, err := w.typed(kubeapi.Admin).CoreV1().Secrets("default").Get(w.ctx, "s", metav1.GetOptions{})
	if err != nil || string(secret.Data["clouds.yaml"]) != "clouds: {}" {
		t.Errorf("%+v, %v", secret, err)
	}
}

// A large cluster: 2,000 nodes with three locks each, and 50 watchers.
func TestALargeClusterReachesEveryWatcher(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		for i := range 2000 {
			name := fmt.Sprintf("kaas-node-%04d", i)
			w.load(node(name))
			for _, controller := range []string{"openstack", "ceph", "tungstenfabric"} {
				w.load(nodeLock(controller+"-"+name, name))
			}
		}
		locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
		list, err := locks.List(w.ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 6000 {
			t.Fatalf("%d locks, %v", len(list.Items), err)
		}
		var watchers []watch.Interface
		for range 50 {
			events, err := locks.Watch(w.ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
			if err != nil {
				t.Fatal(err)
			}
			defer events.Stop()
			watchers = append(watchers, events)
		}
		const changes = 100
		go func() {
			for i := range changes {
				// A failure shows as an event that never comes.
				_ = w.Load(nodeLock(fmt.Sprintf("new-%d", i), "kaas-node-0000"))
			}
		}()
		for _, events := range watchers {
			for i := range changes {
				if kind, name, _ := nextObject(t, events); kind != watch.Added || name != fmt.Sprintf("new-%d", i) {
					t.Fatalf("%s %s, want the %dth", kind, name, i)
				}
			}
		}
	})
}

func BenchmarkListOf2000Nodes(b *testing.B) {
	server, err := kubeapi.New(kubeapi.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	for i := range 2000 {
		if err := server.Load(node(fmt.Sprintf("kaas-node-%04d", i))); err != nil {
			b.Fatal(err)
		}
	}
	client, err := rest.HTTPClientFor(server.RESTConfig(kubeapi.Readonly))
	if err != nil {
		b.Fatal(err)
	}
	defer client.CloseIdleConnections()
	for b.Loop() {
		answer, err := client.Get(server.URL() + "/api/v1/nodes")
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}
