package kubeapi

import (
	"encoding/json"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Load puts objects into the store as they are, with their status, creation timestamp and UID, like a restored backup;
// a missing timestamp or UID is generated. They are validated like requests. Watches see the objects as added.
func (s *Server) Load(objects ...runtime.Object) error {
	for _, one := range objects {
		if err := s.load(one); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	return nil
}

// LoadYAML loads one object from a manifest; for a CustomResourceDefinition, its resource is served from then on.
func (s *Server) LoadYAML(manifest []byte) error {
	content, err := parseManifest(manifest)
	if err != nil {
		return err
	}
	return s.Load(&unstructured.Unstructured{Object: content})
}

func parseManifest(manifest []byte) (map[string]any, error) {
	var content map[string]any
	raw, err := yaml.YAMLToJSON(manifest)
	if err == nil {
		err = decodeJSON(raw, &content)
	}
	if err != nil {
		return nil, fmt.Errorf("load: decode a manifest: %w", err)
	}
	return content, nil
}

// manifests caches the content of the definitions of this process: most servers start with the same ones. The cached
// values never change.
var manifests sync.Map // string → map[string]any

// loadDefinition is LoadYAML for a definition at a server's start.
func (s *Server) loadDefinition(manifest []byte) error {
	known, ok := manifests.Load(string(manifest))
	if !ok {
		parsed, err := parseManifest(manifest)
		if err != nil {
			return err
		}
		_, content, err := s.read(&unstructured.Unstructured{Object: parsed})
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		known, _ = manifests.LoadOrStore(string(manifest), content)
	}
	if err := s.put(s.catalogue.find(crdResource), runtime.DeepCopyJSON(known.(map[string]any))); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// contentOf turns an object into content of its own. One of a Go type needs no way through JSON: it has no unknown fields.
func contentOf(r *resource, one runtime.Object) (content map[string]any, unknown []error, err error) {
	if _, untyped := one.(runtime.Unstructured); r.typed && !untyped {
		content, err = encodeTyped(r, one)
		return content, nil, err
	}
	if untyped, ok := one.(*unstructured.Unstructured); ok && !r.typed {
		if copied, plain := decoded(untyped.Object); plain {
			content := copied.(map[string]any)
			unknown, err = clean(r, content)
			return content, unknown, err
		}
	}
	raw, err := json.Marshal(one)
	if err != nil {
		return nil, nil, fmt.Errorf("encode: %w", err)
	}
	return decodeContent(r, raw)
}

// decoded returns a copy of a value as it comes back from JSON; false if only JSON can tell.
func decoded(value any) (any, bool) {
	switch value := value.(type) {
	case nil, bool, string, int64:
		return value, true
	case int:
		return int64(value), true
	case map[string]any:
		if value == nil {
			return nil, false
		}
		fields := make(map[string]any, len(value))
		for name, field := range value {
			one, plain := decoded(field)
			if !plain {
				return nil, false
			}
			fields[name] = one
		}
		return fields, true
	case []any:
		if value == nil {
			return nil, false
		}
		list := make([]any, len(value))
		for i, one := range value {
			var plain bool
			if list[i], plain = decoded(one); !plain {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

func (s *Server) load(one runtime.Object) error {
	r, content, err := s.read(one)
	if err != nil {
		return err
	}
	return s.put(r, content)
}

// read returns an object's resource and its content.
func (s *Server) read(one runtime.Object) (*resource, map[string]any, error) {
	gvk := one.GetObjectKind().GroupVersionKind()
	r := s.catalogue.byKind(gvk)
	if r == nil {
		return nil, nil, fmt.Errorf("the kind %s is not served", gvk)
	}
	content, unknown, err := contentOf(r, one)
	if err != nil {
		return nil, nil, fmt.Errorf("a %s: %w", gvk.Kind, err)
	}
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("%s: %w", nameOf(r, content), unknown[0])
	}
	return r, content, nil
}

// nameOf names an object in errors.
func nameOf(r *resource, content map[string]any) string {
	object := accessor(content)
	return fmt.Sprintf("%s %s", r.Resource, key(object.GetNamespace(), object.GetName()))
}

// put stores content, which belongs to the store from now on.
func (s *Server) put(r *resource, content map[string]any) error {
	object, name := accessor(content), nameOf(r, content)
	if r.namespaced && s.namespace(object.GetNamespace()) == nil {
		return fmt.Errorf("%s: there is no namespace %q", name, object.GetNamespace())
	}
	if object.GetUID() == "" {
		object.SetUID(s.chance.uid())
	}
	if created := object.GetCreationTimestamp(); created.IsZero() {
		object.SetCreationTimestamp(s.timestamp())
	}
	if object.GetGeneration() == 0 && (r.custom() || r.generation) {
		object.SetGeneration(1)
	}
	object.SetResourceVersion("")
	if r.defaults != nil {
		r.defaults(content)
	}
	if r.count != nil {
		r.count(content, nil)
	}
	if err := s.validate(&call{}, r, content, nil); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if r.GroupVersionResource == crdResource {
		if err := s.serveDefinition(content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.establish(content)
	}
	if r.table.create(key(object.GetNamespace(), object.GetName()), content) == nil {
		return fmt.Errorf("%s: %w", name, apierrors.NewAlreadyExists(r.GroupResource(), object.GetName()))
	}
	return nil
}
