package kubeapi

import (
	"cmp"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/sim/intern"
)

// writeOptions are the parameters of a create, update or patch.
type writeOptions struct {
	dry    bool
	fields string // fieldValidation: Ignore, Warn or Strict
}

func readWriteOptions(c *call) (writeOptions, error) {
	query := c.query
	given := metav1.CreateOptions{DryRun: query["dryRun"], FieldManager: query.Get("fieldManager"),
		FieldValidation: query.Get("fieldValidation")}
	kind := "CreateOptions"
	switch c.info.verb {
	case "update":
		kind = "UpdateOptions"
	case "patch":
		kind = "PatchOptions"
	}
	if problems := metav1validation.ValidateCreateOptions(&given); len(problems) > 0 {
		return writeOptions{}, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", problems)
	}
	return writeOptions{dry: len(given.DryRun) > 0, fields: cmp.Or(given.FieldValidation, metav1.FieldValidationWarn)}, nil
}

// create answers a POST of an object.
func (s *Server) create(c *call, r *resource) error {
	options, err := readWriteOptions(c)
	if err != nil {
		return err
	}
	content, err := s.body(c, r, options.fields)
	if err != nil {
		return err
	}
	created, err := s.add(c, r, content, options.dry)
	if err != nil {
		return err
	}
	return s.writeObject(c, r, http.StatusCreated, created)
}

// add stores one new object, or shows what a dry run would store.
func (s *Server) add(c *call, r *resource, content map[string]any, dry bool) (*object, error) {
	if err := s.prepareNew(c, r, content); err != nil {
		return nil, err
	}
	given := accessor(content)
	if r.namespaced && s.namespace(given.GetNamespace()) == nil {
		return nil, apierrors.NewNotFound(groupResource("", "namespaces"), given.GetNamespace())
	}
	at := key(given.GetNamespace(), given.GetName())
	if dry {
		if r.GroupVersionResource == crdResource {
			if _, err := readDefinition(content); err != nil {
				return nil, err
			}
		}
		if r.table.get(at) != nil {
			return nil, apierrors.NewAlreadyExists(r.GroupResource(), given.GetName())
		}
		return &object{key: at, content: content}, nil
	}
	if r.GroupVersionResource == crdResource {
		if r.table.get(at) != nil {
			return nil, apierrors.NewAlreadyExists(r.GroupResource(), given.GetName())
		}
		if err := s.serveDefinition(content); err != nil {
			return nil, err
		}
		s.establish(content)
	}
	created := r.table.create(at, content)
	if created == nil {
		return nil, apierrors.NewAlreadyExists(r.GroupResource(), given.GetName())
	}
	return created, nil
}

// namespace finds a namespace.
func (s *Server) namespace(name string) *object {
	return s.catalogue.find(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).table.get(name)
}

// update answers a PUT.
func (s *Server) update(c *call, r *resource) error {
	options, err := readWriteOptions(c)
	if err != nil {
		return err
	}
	content, err := s.body(c, r, options.fields)
	if err != nil {
		return err
	}
	given := accessor(content)
	if given.GetName() != c.info.name {
		if given.GetName() == "" {
			return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided",
				c.info.name))
		}
		return nameMismatch(given.GetName(), c.info.name)
	}
	if r.namespaced {
		if err := matchNamespace(given, c.objectNamespace(r)); err != nil {
			return err
		}
	}
	given.SetNamespace(c.objectNamespace(r))
	if r.createOnUpdate && c.info.sub == "" && r.table.get(c.objectKey(r)) == nil && given.GetResourceVersion() == "" {
		created, err := s.add(c, r, content, options.dry)
		if err != nil {
			return err
		}
		return s.writeObject(c, r, http.StatusCreated, created)
	}
	changed, err := s.change(c, r, options.dry, func(*object) (map[string]any, error) {
		return runtime.DeepCopyJSON(content), nil
	})
	if err != nil {
		return err
	}
	return s.writeObject(c, r, http.StatusOK, changed)
}

func nameMismatch(name, want string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, want))
}

// change replaces the object that the request names by the result of edit, and retries after a conflict. edit gets the
// stored object and returns new content.
func (s *Server) change(c *call, r *resource, dry bool, edit func(old *object) (map[string]any, error)) (*object, error) {
	for {
		old := r.table.get(c.objectKey(r))
		if old == nil {
			return nil, apierrors.NewNotFound(r.GroupResource(), c.info.name)
		}
		content, err := edit(old)
		if err != nil {
			return nil, err
		}
		if err := s.prepareChange(c, r, content, old); err != nil {
			return nil, err
		}
		if r.GroupVersionResource == crdResource {
			if _, err := readDefinition(content); err != nil {
				return nil, err
			}
		}
		if intern.Equal(content, old.content) || c.applied && sameButTimes(content, old.content) {
			return old, nil // no change, no event
		}
		if dry {
			return &object{key: old.key, content: content}, nil
		}
		if finished(content) {
			if last := r.table.remove(old, runtime.DeepCopyJSON(content)); last != nil {
				s.removed(r, old)
				return &object{key: old.key, content: content}, nil
			}
			continue
		}
		if now := r.table.replace(old, content); now != nil {
			if r.GroupVersionResource == crdResource {
				if err := s.serveDefinition(content); err != nil {
					return nil, err
				}
			}
			return now, nil
		}
	}
}

// finished tells whether an object that is being deleted has nothing left to wait for.
func finished(content map[string]any) bool {
	object := accessor(content)
	grace := object.GetDeletionGracePeriodSeconds()
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// removed handles the consequences of a deletion: dependents are collected, a namespace's content is removed, a
// definition's resource is no longer served.
func (s *Server) removed(r *resource, o *object) {
	s.collectOwned(o.meta().GetUID(), metav1.DeletePropagationBackground)
	s.released(o)
	switch {
	case r.GroupVersionResource == crdResource:
		s.unserve(o.meta().GetName(), nil)
	case r.Group == "" && r.Resource == "pods":
		s.logs.forget(o.key)
	case r.Group == "" && r.Resource == "namespaces":
		name := o.meta().GetName()
		for _, other := range s.catalogue.all() {
			if !other.namespaced {
				continue
			}
			for _, inside := range other.table.list().objects {
				if inside.meta().GetNamespace() == name {
					other.table.remove(inside, nil)
				}
			}
		}
	}
}
