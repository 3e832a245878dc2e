package kubeapi_test

import (
	"context"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

// plainListWatch is a ListWatch that lists first, like the program's.
type plainListWatch struct{ *cache.ListWatch }

func (plainListWatch) IsWatchListSemanticsUnSupported() bool { return true }

func TestAnInformerFollows(t *testing.T) {
	for _, test := range []struct {
		name  string
		plain bool
	}{{"list and watch", true}, {"watch list", false}} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w := start(t, kubeapi.Options{Network: lan.New(1)})
				w.load(nodeLock("a", "node-1"), nodeLock("b", "node-2"))
				locks := w.dynamic(kubeapi.Admin).Resource(nodeLocks)
				list := &cache.ListWatch{
					ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return locks.List(ctx, o) },
					WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
						return locks.Watch(ctx, o)
					},
				}
				var source cache.ListerWatcher = list
				if test.plain {
					source = plainListWatch{list}
				}
				informer := cache.NewSharedIndexInformerWithOptions(source, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
				seen := make(chan string, 100)
				name := func(o any) string { return o.(metav1.Object).GetName() }
				if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: func(o any) { seen <- "add " + name(o) },
					UpdateFunc: func(old, o any) {
						// A new list repeats objects that have not changed.
						if old.(metav1.Object).GetResourceVersion() != o.(metav1.Object).GetResourceVersion() {
							seen <- "update " + name(o)
						}
					},
					DeleteFunc: func(o any) {
						if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
							o = gone.Obj
						}
						seen <- "delete " + name(o)
					},
				}); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(w.ctx)
				var done sync.WaitGroup
				done.Go(func() { informer.RunWithContext(ctx) })
				defer done.Wait()
				defer stop()
				expect := func(want ...string) {
					t.Helper()
					left := map[string]bool{}
					for _, one := range want {
						left[one] = true
					}
					for len(left) > 0 {
						select {
						case got := <-seen:
							if !left[got] {
								t.Fatalf("saw %s, waiting for %v", got, left)
							}
							delete(left, got)
						case <-w.ctx.Done():
							t.Fatalf("never saw %v", left)
						}
					}
				}
				expect("add a", "add b")
				label(t, w, locks, "a", `{"x":"1"}`)
				expect("update a")
				if err := locks.Delete(w.ctx, "b", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				expect("delete b")

				// While no watch is possible, the history is lost: the informer must list again.
				remove := w.AddFault(kubeapi.Fault{Verb: "watch", Resource: "nodeworkloadlocks", Code: 503})
				w.CutWatches("nodeworkloadlocks")
				w.load(nodeLock("c", "node-3"))
				if err := locks.Delete(w.ctx, "a", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				w.Compact()
				remove()
				expect("add c", "delete a")

				if err := w.Outage(true); err != nil {
					t.Fatal(err)
				}
				w.load(nodeLock("d", "node-4"))
				if err := w.Outage(false); err != nil {
					t.Fatal(err)
				}
				expect("add d")
			})
		})
	}
}

func TestTheMetadataClientGetsMetadataOnly(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(nodeLock("a", "node-1"), node("n"))
	client, err := metadata.NewForConfig(w.RESTConfig(kubeapi.Admin))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(nodeLocks).List(w.ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "a" {
		t.Fatalf("list: %v, %v", list, err)
	}
	one, err := client.Resource(nodes).Get(w.ctx, "n", metav1.GetOptions{})
	if err != nil || one.UID == "" {
		t.Fatalf("get: %v, %v", one, err)
	}
	events, err := client.Resource(nodeLocks).Watch(w.ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	patched, err := client.Resource(nodeLocks).Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
		metav1.PatchOptions{})
	if err != nil || patched.Labels["a"] != "b" {
		t.Fatalf("patch: %v, %v", patched, err)
	}
	event := next(t, events)
	if object, ok := event.Object.(*metav1.PartialObjectMetadata); !ok || event.Type != watch.Modified || object.Labels["a"] != "b" {
		t.Errorf("event %s: %T %v", event.Type, event.Object, event.Object)
	}
	if err := client.Resource(nodeLocks).Delete(w.ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestTheTypedClientSpeaksJSONAndProtobuf(t *testing.T) {
	w := start(t, kubeapi.Options{})
	for _, media := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		config := w.RESTConfig(kubeapi.Admin)
		config.ContentType, config.AcceptContentTypes = media, media+",application/json"
		client := w.typedBy(config).CoreV1().ConfigMaps("default")
		created, err := client.Create(w.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "settings-"},
			Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%s: %v", media, err)
		}
		created.Data["c"] = "d"
		changed, err := client.Update(w.ctx, created, metav1.UpdateOptions{})
		if err != nil || changed.Data["c"] != "d" {
			t.Errorf("%s: %v, %v", media, changed, err)
		}
		uid := created.UID
		if err := client.Delete(w.ctx, created.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); err != nil {
			t.Errorf("%s: %v", media, err)
		}
	}
}

func TestDiscoveryFindsWhatIsServed(t *testing.T) {
	w := start(t, kubeapi.Options{Version: "v1.30.4"})
	raw, err := w.Kubeconfig(kubeapi.Readonly)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if version, err := client.ServerVersion(); err != nil || version.GitVersion != "v1.30.4" || version.Minor != "30" {
		t.Errorf("version %v, %v", version, err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]metav1.APIResource{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion+" "+r.Name] = r
		}
	}
	for name, want := range map[string]struct {
		kind, short string
		namespaced  bool
	}{
		"v1 nodes":         {"Node", "no", false},
		"v1 nodes/status":  {"Node", "", false},
		"v1 pods/eviction": {"Eviction", "", true},
		"lcm.mirantis.com/v1alpha1 nodeworkloadlocks":          {"NodeWorkloadLock", "", false},
		"lcm.mirantis.com/v1alpha1 nodeworkloadlocks/status":   {"NodeWorkloadLock", "", false},
		"lcm.mirantis.com/v1alpha1 openstackdeploymentstatus":  {"OpenStackDeploymentStatus", "osdplst", true},
		"authorization.k8s.io/v1 selfsubjectaccessreviews":     {"SelfSubjectAccessReview", "", false},
		"apiextensions.k8s.io/v1 customresourcedefinitions":    {"CustomResourceDefinition", "crd", false},
		"coordination.k8s.io/v1 leases":                        {"Lease", "", true},
		"policy/v1 poddisruptionbudgets":                       {"PodDisruptionBudget", "pdb", true},
		"lcm.mirantis.com/v1alpha1 clustermaintenancerequests": {"ClusterMaintenanceRequest", "", false},
	} {
		r, ok := found[name]
		short := ""
		if len(r.ShortNames) > 0 {
			short = r.ShortNames[0]
		}
		if !ok || r.Kind != want.kind || short != want.short || r.Namespaced != want.namespaced {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, ok := found["lcm.mirantis.com/v1alpha1 nodemaintenancerequests/status"]; ok {
		t.Error("a NodeMaintenanceRequest has no status")
	}
}
