package controller

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"lockstep/sim/intern"
)

// Kubernetes' own resources that the view watches.
var (
	nodesResource     = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	podsResource      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	daemonsResource   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	statefulResource  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	statelessResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// view watches the resources that the controllers react to. It is for noticing changes and for cheap reads; before a
// write, a controller reads the object itself.
type view struct {
	texts   intern.Table // what the objects of all mirrors share
	mirrors map[schema.GroupVersionResource]*mirror

	mu          sync.Mutex
	subscribers map[chan struct{}][]schema.GroupVersionResource
	known       map[string]set // the last result of sets
	knownAt     int64          // the sum of its mirrors' versions at that time
}

// plainList makes a reflector list and then watch: a server that never ends a streamed list would hang it for ever
// (kubernetes#140890).
type plainList struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported tells client-go not to stream a list.
func (plainList) IsWatchListSemanticsUnSupported() bool { return true }

func newView(kube kubernetes.Interface, dyn dynamic.Interface) *view {
	v := &view{
		mirrors:     map[schema.GroupVersionResource]*mirror{},
		subscribers: map[chan struct{}][]schema.GroupVersionResource{},
	}
	v.add(nodesResource, &corev1.Node{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.CoreV1().Nodes().List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.CoreV1().Nodes().Watch(ctx, o)
		},
	})
	v.add(podsResource, &corev1.Pod{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.CoreV1().Pods(metav1.NamespaceAll).Watch(ctx, o)
		},
	})
	v.add(claimsResource, &corev1.PersistentVolumeClaim{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).Watch(ctx, o)
		},
	})
	v.add(daemonsResource, &appsv1.DaemonSet{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.AppsV1().DaemonSets(metav1.NamespaceAll).Watch(ctx, o)
		},
	})
	v.add(statefulResource, &appsv1.StatefulSet{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.AppsV1().StatefulSets(metav1.NamespaceAll).Watch(ctx, o)
		},
	})
	v.add(statelessResource, &appsv1.Deployment{}, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return kube.AppsV1().Deployments(metav1.NamespaceAll).Watch(ctx, o)
		},
	})
	for _, resource := range []schema.GroupVersionResource{
		clusterLocks, nodeLocks, clusterRequests, nodeRequests, nodeDeletions, nodeNotices, deployments, osdplResource,
	} {
		v.add(resource, &unstructured.Unstructured{}, &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return dyn.Resource(resource).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return dyn.Resource(resource).Watch(ctx, o)
			},
		})
	}
	return v
}

func (v *view) add(resource schema.GroupVersionResource, object runtime.Object, lw *cache.ListWatch) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(resource.String()))
	lasts := int64(300 + h.Sum64()%300)
	// Watches that reconnect at one moment, as after an outage, would otherwise take the idle connections in random
	// order.
	behind := time.Duration(h.Sum64()%5000) * time.Microsecond
	list, open := lw.ListWithContextFunc, lw.WatchFuncWithContext
	lw.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		time.Sleep(behind)
		return list(ctx, o)
	}
	lw.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.TimeoutSeconds = &lasts // derived from the resource, not random as in the reflector: a story can be replayed
		time.Sleep(behind)
		return open(ctx, o)
	}
	mirror := &mirror{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers(resource)), texts: &v.texts, list: list,
		changed: func() { v.changed(resource) }}
	mirror.reflector = cache.NewReflectorWithOptions(plainList{lw}, object, mirror, cache.ReflectorOptions{
		Name: resource.Resource, TypeDescription: resource.Resource,
		Backoff: &wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 6, Factor: 2}, // as in client-go, without jitter
	})
	v.mirrors[resource] = mirror
}

// mirror holds a resource as its watch reports it.
type mirror struct {
	cache.Indexer
	reflector *cache.Reflector
	list      func(context.Context, metav1.ListOptions) (runtime.Object, error)
	texts     *intern.Table // the view's
	changed   func()        // called when a field changes that a controller acts on
	listed    atomic.Bool
	version   atomic.Int64 // changes with every event
}

// share makes an object that has just been read share what repeats, with all others of the view.
func (m *mirror) share(object any) {
	if untyped, ok := object.(*unstructured.Unstructured); ok {
		m.texts.Content(untyped.Object)
		return
	}
	m.texts.Object(object)
}

func (m *mirror) Add(object any) error {
	m.share(object)
	defer m.changed()
	defer m.version.Add(1)
	return m.Indexer.Add(object)
}

func (m *mirror) Update(object any) error {
	m.share(object)
	before, there, _ := m.Get(object)
	if !there || !onlyHeartbeat(before, object) && !onlyWords(before, object) && !onlyCounts(before, object) && !onlyKept(before, object) {
		defer m.changed()
	}
	defer m.version.Add(1)
	return m.Indexer.Update(object)
}

func (m *mirror) Delete(object any) error {
	defer m.changed()
	defer m.version.Add(1)
	return m.Indexer.Delete(object)
}

func (m *mirror) Replace(objects []any, version string) error {
	for _, object := range objects {
		m.share(object)
	}
	defer m.changed()
	defer m.listed.Store(true)
	defer m.version.Add(1)
	return m.Indexer.Replace(objects, version)
}

// byNode is the index of NodeWorkloadLocks by node.
const byNode = "node"

func indexers(resource schema.GroupVersionResource) cache.Indexers {
	if resource != nodeLocks {
		return cache.Indexers{}
	}
	return cache.Indexers{byNode: func(object any) ([]string, error) {
		if lock, ok := object.(*unstructured.Unstructured); ok {
			return []string{lockNode(lock)}, nil
		}
		return nil, nil
	}}
}

// locksOn returns the watched NodeWorkloadLocks of a node as last seen. They are shared: read only.
func (v *view) locksOn(node string) []*unstructured.Unstructured {
	found, err := v.mirrors[nodeLocks].ByIndex(byNode, node)
	if err != nil {
		return nil // the index exists from the start
	}
	var locks []*unstructured.Unstructured
	for _, object := range found {
		if lock, ok := object.(*unstructured.Unstructured); ok {
			locks = append(locks, lock)
		}
	}
	return locks
}

// look lists resources once, without any all of them, for who does not have to see what changes. A resource that was just defined may not
// be served at once, so it is asked for again for a while.
func (v *view) look(ctx context.Context, resources ...schema.GroupVersionResource) error {
	if len(resources) == 0 {
		resources = slices.SortedFunc(maps.Keys(v.mirrors), func(a, b schema.GroupVersionResource) int {
			return strings.Compare(a.String(), b.String())
		})
	}
	for _, resource := range resources {
		mirror := v.mirrors[resource]
		var err error
		for range 30 {
			var list runtime.Object
			if list, err = mirror.list(ctx, metav1.ListOptions{}); err == nil {
				err = mirror.take(list)
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", resource.Resource, err)
		}
	}
	return nil
}

// take takes over a list.
func (m *mirror) take(list runtime.Object) error {
	found, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	objects := make([]any, len(found))
	for i, object := range found {
		objects[i] = object
	}
	return m.Replace(objects, "")
}

// run watches until ctx is done and all watches have ended.
func (v *view) run(ctx context.Context) {
	ctx = klog.NewContext(ctx, klog.Logger{}) // an unavailable server is expected here
	var group sync.WaitGroup
	for _, mirror := range v.mirrors {
		group.Go(func() { mirror.reflector.RunWithContext(ctx) })
	}
	group.Wait()
}

// synced waits for the first list of every resource; false if ctx is done first.
func (v *view) synced(ctx context.Context) bool {
	for {
		missing := false
		for _, mirror := range v.mirrors {
			missing = missing || !mirror.listed.Load()
		}
		if !missing {
			return true
		}
		timer := time.NewTimer(5 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}

// changed notifies the subscribers of a resource; they coalesce notifications.
func (v *view) changed(resource schema.GroupVersionResource) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for ch, resources := range v.subscribers {
		for _, wanted := range resources {
			if wanted == resource {
				select {
				case ch <- struct{}{}:
				default:
				}
			}
		}
	}
}

// subscribe returns a channel that gets a value after any change of the resources, and a function that ends the
// subscription.
func (v *view) subscribe(resources ...schema.GroupVersionResource) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	v.mu.Lock()
	v.subscribers[ch] = resources
	v.mu.Unlock()
	return ch, func() {
		v.mu.Lock()
		delete(v.subscribers, ch)
		v.mu.Unlock()
	}
}

// objects returns the watched objects of a custom resource as last seen, sorted by name. They are shared: read only.
func (v *view) objects(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, object := range v.mirrors[resource].List() {
		if u, ok := object.(*unstructured.Unstructured); ok {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// nodes returns the cluster's nodes by name as last seen. They are shared: read only.
func (v *view) nodes() map[string]*corev1.Node {
	all := map[string]*corev1.Node{}
	for _, object := range v.mirrors[nodesResource].List() {
		if node, ok := object.(*corev1.Node); ok {
			all[node.Name] = node
		}
	}
	return all
}

// onlyHeartbeat tells whether two states of a node are equal in everything that a controller acts on.
func onlyHeartbeat(before, after any) bool {
	a, ok := before.(*corev1.Node)
	if !ok {
		return false
	}
	b, ok := after.(*corev1.Node)
	return ok && nodeReady(a).Status == nodeReady(b).Status && a.Status.NodeInfo == b.Status.NodeInfo &&
		reflect.DeepEqual(a.Spec, b.Spec) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// onlyCounts tells whether two states of a workload differ only in the status, which only the kubelet uses.
func onlyCounts(before, after any) bool {
	switch after.(type) {
	case *appsv1.DaemonSet, *appsv1.StatefulSet, *appsv1.Deployment:
	default:
		return false
	}
	a, b := before.(metav1.Object), after.(metav1.Object)
	return a.GetUID() == b.GetUID() && a.GetGeneration() == b.GetGeneration() &&
		(a.GetDeletionTimestamp() == nil) == (b.GetDeletionTimestamp() == nil)
}

// onlyWords tells whether two states of a lock differ only in the text of errorMessage. The OpenStack controller
// changes it with every instance, for people to read: no controller acts on another's text.
func onlyWords(before, after any) bool {
	a, ok := before.(*unstructured.Unstructured)
	if !ok || a.GetKind() != "NodeWorkloadLock" {
		return false
	}
	b, ok := after.(*unstructured.Unstructured)
	return ok && lockMessage(a) != lockMessage(b) && reflect.DeepEqual(actedOn(a), actedOn(b))
}

// onlyKept tells whether two states of an object differ only in what kopf stores on it: only kopf acts on that.
func onlyKept(before, after any) bool {
	a, ok := before.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	b, ok := after.(*unstructured.Unstructured)
	if !ok || maps.Equal(a.GetAnnotations(), b.GetAnnotations()) || !maps.Equal(foreign(a.GetAnnotations()), foreign(b.GetAnnotations())) {
		return false
	}
	return sameBut(a.Object, b.Object, "metadata") &&
		sameBut(metadataOf(a), metadataOf(b), "annotations", "resourceVersion", "managedFields")
}

func metadataOf(object *unstructured.Unstructured) map[string]any {
	metadata, _ := object.Object["metadata"].(map[string]any)
	return metadata
}

// sameBut tells whether two objects are equal except for some fields.
func sameBut(a, b map[string]any, but ...string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, name := range but {
		delete(a, name)
		delete(b, name)
	}
	return reflect.DeepEqual(a, b)
}

// actedOn holds the fields of a lock that controllers act on.
func actedOn(lock *unstructured.Unstructured) []any {
	progress, _, _ := unstructured.NestedMap(lock.Object, "status", "inactivationProgress")
	return []any{lock.Object["spec"], lockState(lock), lockRelease(lock), progress, lock.GetAnnotations(), lock.GetLabels(),
		lock.GetFinalizers(), deleting(lock)}
}

// requestFor returns the NodeMaintenanceRequest of a node as last seen, or nil. It is shared: read only.
func (v *view) requestFor(node string) *unstructured.Unstructured {
	for _, request := range v.objects(nodeRequests) {
		if requestNode(request) == node {
			return request
		}
	}
	return nil
}

// object returns one watched object of a custom resource by name as last seen, or nil. It is shared: read only.
func (v *view) object(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	object, _, _ := v.mirrors[resource].GetByKey(name)
	u, _ := object.(*unstructured.Unstructured)
	return u
}

// deployment returns a watched Deployment as last seen, or nil. It is shared: read only.
func (v *view) deployment(namespace, name string) *appsv1.Deployment {
	object, _, _ := v.mirrors[statelessResource].GetByKey(namespace + "/" + name)
	d, _ := object.(*appsv1.Deployment)
	return d
}

// sets returns the objects of all workloads as last seen, by workload.key. They are shared: read only.
func (v *view) sets() map[string]set {
	resources := []schema.GroupVersionResource{daemonsResource, statefulResource, statelessResource}
	version := int64(0)
	for _, resource := range resources {
		version += v.mirrors[resource].version.Load()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known != nil && v.knownAt == version {
		return v.known
	}
	all := make(map[string]set, len(v.known))
	for _, resource := range resources {
		for _, object := range v.mirrors[resource].List() {
			switch o := object.(type) {
			case *appsv1.DaemonSet:
				all[workload{kind: daemonSet, namespace: o.Namespace, name: o.Name}.key()] = set{daemon: o}
			case *appsv1.StatefulSet:
				all[workload{kind: statefulSet, namespace: o.Namespace, name: o.Name}.key()] = set{stateful: o}
			case *appsv1.Deployment:
				all[workload{kind: deployment, namespace: o.Namespace, name: o.Name}.key()] = set{stateless: o}
			}
		}
	}
	v.known, v.knownAt = all, version
	return all
}
