package bubble

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Lookout holds the current objects of an API server, for the resources it was asked about. Only one goroutine may use
// it.
type Lookout struct {
	t      *testing.T
	client dynamic.Interface
	seen   map[place]*Seen
	nodes  map[string]*corev1.Node // as last decoded
}

type place struct {
	resource  schema.GroupVersionResource
	namespace string
}

// NewLookout returns a Lookout that lasts as long as the test.
func NewLookout(t *testing.T, client dynamic.Interface) *Lookout {
	return &Lookout{t: t, client: client, seen: map[place]*Seen{}, nodes: map[string]*corev1.Node{}}
}

// At returns the objects of a resource in a namespace; an empty namespace means all, or a cluster-wide resource.
func (l *Lookout) At(resource schema.GroupVersionResource, namespace string) *Seen {
	l.t.Helper()
	at := place{resource, namespace}
	if l.seen[at] == nil {
		l.seen[at] = See(l.t, l.client.Resource(resource).Namespace(namespace))
	}
	return l.seen[at]
}

// All returns the objects of a resource sorted by name. They are shared: read only.
func (l *Lookout) All(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	l.t.Helper()
	return l.At(resource, "").All()
}

// Node returns a node by name and fails the test if it is missing. It is shared: read only.
func (l *Lookout) Node(name string) *corev1.Node {
	l.t.Helper()
	seen := l.At(corev1.SchemeGroupVersion.WithResource("nodes"), "").Named(name)
	if seen == nil {
		l.t.Fatalf("there is no node %s", name)
	}
	if known := l.nodes[name]; known != nil && known.ResourceVersion == seen.GetResourceVersion() {
		return known
	}
	node := &corev1.Node{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(seen.Object, node); err != nil {
		l.t.Fatal(err)
	}
	l.nodes[name] = node
	return node
}
