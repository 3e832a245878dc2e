package kubeapi

import (
	"sort"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one served kind: where it lives, what it allows, how it is shown, and its objects.
type resource struct {
	schema.GroupVersionResource
	kind, listKind, singular string
	shortNames, categories   []string
	namespaced               bool
	status                   bool // has a status subresource
	scale                    bool // has a scale subresource
	oneByOne                 bool // its objects cannot be deleted as a collection

	// Built-in kinds only.
	typed bool // decoded by the Go type of the kind
	// generation makes metadata.generation count the changes of the desired state.
	generation bool
	// createOnUpdate allows a PUT to create the object; unconditional allows it without a resourceVersion.
	createOnUpdate, unconditional bool
	// statusOnCreate keeps the status of a new object.
	statusOnCreate bool
	// metadataOnStatus allows a write to the status subresource to change labels and annotations.
	metadataOnStatus bool
	// fields are the field selectors in addition to metadata.name and metadata.namespace.
	fields []string
	// defaults fills in the same fields as the real server's defaulting and strategies.
	defaults func(content map[string]any)
	// count keeps what only the server counts; before is nil for a new object.
	count func(content, before map[string]any)
	// columns are the columns of kubectl get after the name; nil for name and age only.
	columns []column

	// view converts the stored content to what clients see; nil if they are the same.
	view func(content map[string]any) map[string]any
	// readonly allows clients only to read and delete the objects.
	readonly bool

	// Custom resources only.
	schema *structural

	table    *table
	managers *managers
}

// kindOf is the kind with its group and version.
func (r *resource) kindOf() schema.GroupVersionKind { return r.GroupVersion().WithKind(r.kind) }

// custom tells whether a CustomResourceDefinition defines the resource.
func (r *resource) custom() bool { return r.schema != nil }

// apiResource is the entry of the discovery document.
func (r *resource) apiResource() metav1.APIResource {
	verbs := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	switch {
	case r.readonly:
		verbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"}
	case r.oneByOne:
		verbs = metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}
	}
	return metav1.APIResource{
		Name: r.Resource, SingularName: r.singular, Namespaced: r.namespaced, Kind: r.kind,
		Verbs:      verbs,
		ShortNames: r.shortNames, Categories: r.categories,
		// Only kube-controller-manager reads this, but kubectl prints an empty hash differently from a missing one.
		StorageVersionHash: storageVersionHash(r.kindOf()),
	}
}

// catalogue is the set of served resources. It changes when CustomResourceDefinitions are added or removed.
type catalogue struct {
	mu        sync.RWMutex
	resources map[schema.GroupVersionResource]*resource
}

func (c *catalogue) add(r *resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resources[r.GroupVersionResource] = r
}

func (c *catalogue) remove(gvr schema.GroupVersionResource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.resources, gvr)
}

func (c *catalogue) find(gvr schema.GroupVersionResource) *resource {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.resources[gvr]
}

// byKind finds the resource of a kind, or nil.
func (c *catalogue) byKind(gvk schema.GroupVersionKind) *resource {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, r := range c.resources {
		if r.kindOf() == gvk && !r.readonly {
			return r
		}
	}
	return nil
}

// byTable finds the resource whose objects are in a table, or nil.
func (c *catalogue) byTable(t *table) *resource {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, r := range c.resources {
		if r.table == t && !r.readonly {
			return r
		}
	}
	return nil
}

// all returns the resources sorted by group, version and name.
func (c *catalogue) all() []*resource {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*resource, 0, len(c.resources))
	for _, r := range c.resources {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.Group != b.Group {
			return a.Group < b.Group
		}
		if a.Version != b.Version {
			return a.Version < b.Version
		}
		return strings.Compare(a.Resource, b.Resource) < 0
	})
	return all
}
