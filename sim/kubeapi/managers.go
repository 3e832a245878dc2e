package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// managers knows which client owns which fields of a resource's objects, from metadata.managedFields, and merges
// applied manifests. It uses the real server's own code, with untyped objects.
type managers struct {
	kind      schema.GroupVersionKind
	converter managedfields.TypeConverter

	mu  sync.Mutex
	sub map[string]*managedfields.FieldManager // by subresource
}

// typedConverter knows the shapes of the built-in kinds.
var typedConverter = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// newManagers returns the managers of a resource.
func newManagers(r *resource) (*managers, error) {
	m := &managers{kind: r.kindOf(), sub: map[string]*managedfields.FieldManager{}}
	switch {
	case r.typed:
		m.converter = typedConverter()
	case r.schema != nil:
		var err error
		if m.converter, err = r.schema.converter(r.kindOf()); err != nil {
			return nil, err
		}
	default:
		m.converter = managedfields.NewDeducedTypeConverter()
	}
	return m, nil
}

// of returns the manager of the object itself ("") or of one of its subresources.
func (m *managers) of(sub string) (*managedfields.FieldManager, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.sub[sub]; known != nil {
		return known, nil
	}
	made, err := managedfields.NewDefaultCRDFieldManager(m.converter, oneVersion{}, oneVersion{}, oneVersion{}, m.kind, m.kind.GroupVersion(),
		sub, nil)
	if err != nil {
		return nil, err
	}
	m.sub[sub] = made
	return made, nil
}

// empty returns an empty object of the kind.
func (m *managers) empty() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(m.kind)
	return o
}

// oneVersion is the converter and defaulter when every kind has only one version.
type oneVersion struct{}

func (oneVersion) Default(runtime.Object) {}

func (oneVersion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o, nil
}

func (oneVersion) Convert(in, out, context any) error {
	return errors.New("every kind has one version: there is nothing to convert")
}

func (oneVersion) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (oneVersion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// manage records in content who changed which fields, and when; old is nil if the object is new.
func (s *Server) manage(c *call, r *resource, content map[string]any, old *object) error {
	if s.options.NoManagers {
		accessor(content).SetManagedFields(nil)
		return nil
	}
	manager, err := r.managers.of(c.info.sub)
	if err != nil {
		return fmt.Errorf("note the managers of %s %s: %w", r.Resource, accessor(content).GetName(), err)
	}
	live := r.managers.empty()
	if old != nil {
		live = accessor(r.owned(c.info.sub, old.content))
	}
	noted := manager.UpdateNoErrors(live, accessor(r.owned(c.info.sub, content)), c.manager())
	object, ok := noted.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("note the managers of %s %s: got a %T", r.Resource, accessor(content).GetName(), noted)
	}
	accessor(content).SetManagedFields(s.retimed(object.GetManagedFields(), live.GetManagedFields()))
	return nil
}

// owned returns the part of content that a request's client can own: without the status if another request writes that,
// and without a spec that is empty but present because of its Go type.
func (r *resource) owned(sub string, content map[string]any) map[string]any {
	shown := maps.Clone(content)
	if r.status && sub == "" {
		delete(shown, "status")
	}
	if empty, isMap := shown["spec"].(map[string]any); r.typed && isMap && len(empty) == 0 {
		delete(shown, "spec")
	}
	return shown
}

// retimed gives entries that are not in before the simulated time; the server's code uses real time.
func (s *Server) retimed(entries, before []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	now := s.timestamp()
	for i, one := range entries {
		known := false
		for _, old := range before {
			known = known || old.Manager == one.Manager && old.Operation == one.Operation && old.Subresource == one.Subresource &&
				old.APIVersion == one.APIVersion && old.Time.Equal(one.Time)
		}
		if !known && one.Time != nil {
			entries[i].Time = &now
		}
	}
	return entries
}

// manager is the client's field manager: the name it gives, or the beginning of its User-Agent.
func (c *call) manager() string {
	if given := c.query.Get("fieldManager"); given != "" {
		return given
	}
	if name, _, _ := strings.Cut(c.UserAgent(), "/"); name != "" {
		return name
	}
	return "unknown"
}

// sameButTimes tells whether two contents differ only in the times of their managers' entries.
func sameButTimes(a, b map[string]any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	return reflect.DeepEqual(withoutTimes(a), withoutTimes(b))
}

func withoutTimes(content map[string]any) map[string]any {
	o := accessor(content).DeepCopy()
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	o.SetManagedFields(entries)
	return o.Object
}

// converter knows the shape of a custom resource: its schema, and the metadata that every object has.
func (s *structural) converter(kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	if s.openapi == nil {
		return managedfields.NewDeducedTypeConverter(), nil
	}
	document := runtime.DeepCopyJSON(s.document)
	properties, _ := document["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		document["properties"] = properties
	}
	text := map[string]any{"type": "string"}
	properties["apiVersion"], properties["kind"], properties["metadata"] = text, text, metadataShape()
	document["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}}
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	shape := &spec.Schema{}
	if err := json.Unmarshal(raw, shape); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return managedfields.NewTypeConverter(map[string]*spec.Schema{kind.Kind: shape}, true)
}

// metadataShape describes the fields of ObjectMeta that clients write, and how its lists and maps merge.
func metadataShape() map[string]any {
	text := map[string]any{"type": "string"}
	texts := map[string]any{"type": "object", "additionalProperties": text}
	return map[string]any{"type": "object", "properties": map[string]any{
		"name": text, "namespace": text, "generateName": text, "labels": texts, "annotations": texts,
		"finalizers": map[string]any{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
		"ownerReferences": map[string]any{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"uid"},
			"items": map[string]any{"type": "object", "x-kubernetes-map-type": "atomic", "properties": map[string]any{
				"apiVersion": text, "kind": text, "name": text, "uid": text,
				"controller": map[string]any{"type": "boolean"}, "blockOwnerDeletion": map[string]any{"type": "boolean"},
			}}},
	}}
}
