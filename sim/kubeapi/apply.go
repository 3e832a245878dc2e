package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// apply answers a PATCH that applies a manifest. The fields in the manifest become the manager's, unless another
// manager owns them with other values; fields that it no longer contains are removed. A missing object is created.
func (s *Server) apply(c *call, r *resource) error {
	if s.options.NoManagers {
		return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, c.info.verb, r.GroupResource(), c.info.name,
			"this server knows no managers of fields: nothing can be applied", 0, false)
	}
	options, err := readWriteOptions(c)
	if err != nil {
		return err
	}
	query := c.query
	if query.Get("fieldManager") == "" {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", field.ErrorList{
			field.Required(field.NewPath("fieldManager"), "is required for apply patch")})
	}
	var manifest map[string]any
	raw, err := yaml.YAMLToJSON(c.body)
	if err == nil {
		err = decodeJSON(raw, &manifest)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: error converting YAML to JSON: %v", err))
	}
	force := query.Get("force") == "true" || query.Get("force") == "1"
	c.applied = true
	for {
		old := r.table.get(c.objectKey(r))
		if old == nil && c.info.sub != "" {
			return apierrors.NewNotFound(r.GroupResource(), c.info.name)
		}
		if old == nil {
			content, err := s.merge(c, r, nil, manifest, force)
			if err != nil {
				return err
			}
			created, err := s.add(c, r, content, options.dry)
			if apierrors.IsAlreadyExists(err) {
				continue
			}
			if err != nil {
				return err
			}
			return s.writeObject(c, r, http.StatusCreated, created)
		}
		changed, err := s.change(c, r, options.dry, func(old *object) (map[string]any, error) {
			return s.merge(c, r, old, manifest, force)
		})
		if apierrors.IsNotFound(err) && c.info.sub == "" {
			continue // it was deleted meanwhile: create it
		}
		if err != nil {
			return err
		}
		return s.writeObject(c, r, http.StatusOK, changed)
	}
}

// merge returns the object after a manifest was applied to it; old is nil if there is none.
func (s *Server) merge(c *call, r *resource, old *object, manifest map[string]any, force bool) (map[string]any, error) {
	manager, err := r.managers.of(c.info.sub)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	live := r.managers.empty()
	if old != nil {
		live = &unstructured.Unstructured{Object: old.copy()}
	}
	wanted := accessor(manifest).DeepCopy()
	switch {
	case c.info.sub == "status":
		for name := range wanted.Object {
			if name != "apiVersion" && name != "kind" && name != "metadata" && name != "status" {
				delete(wanted.Object, name)
			}
		}
	case r.status:
		delete(wanted.Object, "status") // this request may not set it
	}
	merged, err := manager.Apply(live, wanted, c.manager(), force)
	if err != nil {
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return nil, err
		}
		return nil, fmt.Errorf("%w", err)
	}
	result, ok := merged.(*unstructured.Unstructured)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("apply to %s %s: got a %T", r.Resource, c.info.name, merged))
	}
	result.SetManagedFields(s.retimed(result.GetManagedFields(), live.GetManagedFields()))
	raw, err := json.Marshal(result.Object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	content, _, err := decodeContent(r, raw)
	if err != nil {
		return nil, err
	}
	if name := accessor(content).GetName(); name != c.info.name {
		return nil, nameMismatch(name, c.info.name)
	}
	return content, nil
}

// applies tells whether a request applies a manifest.
func (c *call) applies() bool { return types.PatchType(c.contentType) == types.ApplyYAMLPatchType }
