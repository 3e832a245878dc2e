package kubeapi

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"lockstep/sim/intern"
)

// staleText is the real server's reason for a Conflict.
const staleText = "the object has been modified; please apply your changes to the latest version and try again"

// maxGenerated is the longest part of generateName that a generated name keeps.
const maxGenerated = 58

func invalidKind(got, want string) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("kind"), got, "must be "+want)}
}

// prepareNew turns content into the new object to store: with its namespace, its name and the fields that only the
// server sets, and without a status if that is a subresource.
func (s *Server) prepareNew(c *call, r *resource, content map[string]any) error {
	object := accessor(content)
	if !r.namespaced {
		object.SetNamespace("")
	}
	if err := matchNamespace(object, c.objectNamespace(r)); err != nil {
		return err
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		base := object.GetGenerateName()
		object.SetName(base[:min(len(base), maxGenerated)] + s.chance.suffix())
	}
	if object.GetResourceVersion() != "" {
		return fmt.Errorf("resourceVersion should not be set on objects to be created")
	}
	if r.status && !r.statusOnCreate {
		delete(content, "status")
		if r.typed {
			content["status"] = map[string]any{} // a Go type always has one
		}
	}
	object.SetUID(s.chance.uid())
	object.SetCreationTimestamp(s.timestamp())
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetSelfLink("")
	if r.custom() || r.generation {
		object.SetGeneration(1)
	} else {
		object.SetGeneration(0)
	}
	if r.defaults != nil {
		r.defaults(content)
	}
	if r.count != nil {
		r.count(content, nil)
	}
	if !c.applied {
		object.SetManagedFields(nil)
		if err := s.manage(c, r, content, nil); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	return s.validate(c, r, content, nil)
}

// matchNamespace sets the request's namespace on the object, unless the object names another one.
func matchNamespace(object metav1.Object, namespace string) error {
	switch object.GetNamespace() {
	case namespace:
	case "":
		object.SetNamespace(namespace)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// prepareChange turns content into the object to store in place of old: a write to the object keeps its status, a write
// to the status keeps the object, and no write changes the fields that only the server sets.
func (s *Server) prepareChange(c *call, r *resource, content map[string]any, old *object) error {
	object, before := accessor(content), old.meta()
	if err := checkVersion(c, r, object, before); err != nil {
		return err
	}
	switch {
	case c.info.sub == "status":
		status, found := content["status"]
		metadata := content["metadata"]
		for name := range content {
			delete(content, name)
		}
		for name, value := range old.copy() {
			content[name] = value
		}
		delete(content, "status")
		if found {
			content["status"] = status
		}
		if r.metadataOnStatus {
			content["metadata"] = metadata
		}
	case r.status:
		delete(content, "status")
		if status, found := old.content["status"]; found {
			content["status"] = runtime.DeepCopyJSONValue(status)
		}
	}
	if object.GetUID() == "" {
		object.SetUID(before.GetUID())
	}
	object.SetResourceVersion(before.GetResourceVersion())
	object.SetCreationTimestamp(before.GetCreationTimestamp())
	object.SetGeneration(before.GetGeneration())
	object.SetSelfLink("")
	if before.GetDeletionTimestamp() != nil {
		object.SetDeletionTimestamp(before.GetDeletionTimestamp())
	} else {
		object.SetDeletionTimestamp(nil)
	}
	object.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	if !c.applied {
		object.SetManagedFields(before.GetManagedFields())
	}
	if r.defaults != nil {
		r.defaults(content)
	}
	if c.info.sub != "status" && (r.custom() || r.generation) && desiredChanged(r, content, old.content) {
		object.SetGeneration(before.GetGeneration() + 1)
	}
	if r.count != nil {
		r.count(content, old.content)
	}
	if err := s.validate(c, r, content, old); err != nil {
		return err
	}
	if !c.applied && !intern.Equal(content, old.content) {
		if err := s.manage(c, r, content, old); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	return nil
}

// checkVersion is the optimistic lock: a write with a version applies only to that version of the object.
func checkVersion(c *call, r *resource, object, before metav1.Object) error {
	if uid := object.GetUID(); c.info.verb == "update" && uid != "" && uid != before.GetUID() {
		at := "/registry/" + strings.TrimPrefix(r.Group+"/"+r.Resource, "/") + "/" + key(before.GetNamespace(), before.GetName())
		return apierrors.NewConflict(r.GroupResource(), before.GetName(), fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, "+
			"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v", at, uid,
			before.GetUID()))
	}
	switch version := object.GetResourceVersion(); {
	case version == before.GetResourceVersion():
	case version == "" || version == "0":
		if !r.unconditional {
			kind := r.kindOf().GroupKind()
			kind.Kind = r.Resource
			return apierrors.NewInvalid(kind, before.GetName(), field.ErrorList{
				field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
		}
	default:
		return apierrors.NewConflict(r.GroupResource(), before.GetName(), fmt.Errorf("%s", staleText))
	}
	return nil
}

// desiredChanged tells whether the desired state changed: everything except the metadata, and except the status if that
// is a subresource.
func desiredChanged(r *resource, content, old map[string]any) bool {
	for _, one := range []map[string]any{content, old} {
		for name := range one {
			if name == "metadata" || r.status && name == "status" {
				continue
			}
			if !intern.Equal(content[name], old[name]) {
				return true
			}
		}
	}
	return false
}

// validate checks an object before it is stored; old is nil if it is new.
func (s *Server) validate(c *call, r *resource, content map[string]any, old *object) error {
	object, at := accessor(content), field.NewPath("metadata")
	checkName := apivalidation.NameIsDNSSubdomain
	switch {
	case r.Resource == "namespaces" && r.Group == "":
		checkName = apivalidation.NameIsDNSLabel
	case r.Group == rbacv1.GroupName:
		checkName = pathName
	}
	var problems field.ErrorList
	// What is stored is valid, and most writes change the status alone.
	changed := old == nil || !intern.Equal(content["metadata"], old.content["metadata"])
	if changed {
		problems = apivalidation.ValidateObjectMetaAccessor(object, r.namespaced, checkName, at)
	}
	if changed && old != nil {
		// The real server checks changed metadata once for every object and again for the kind, and reports both.
		for range 2 {
			problems = append(problems, apivalidation.ValidateObjectMetaAccessorUpdate(object, old.meta(), at)...)
		}
	}
	if r.schema != nil {
		problems = append(problems, r.schema.validate(content, c.info.sub == "status")...)
	}
	if len(problems) > 0 {
		return apierrors.NewInvalid(r.kindOf().GroupKind(), object.GetName(), problems)
	}
	return nil
}

// pathName accepts every name that is valid in a path, like those of roles (system:basic-user).
func pathName(name string, prefix bool) []string {
	switch {
	case !prefix && (name == "." || name == ".."):
		return []string{fmt.Sprintf("may not be '%s'", name)}
	case strings.ContainsAny(name, "/%"):
		return []string{"may not contain '/' or '%'"}
	}
	return nil
}

// uidOf is the UID of content.
func uidOf(content map[string]any) types.UID { return accessor(content).GetUID() }
