package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// maxOperations is how many operations a JSON patch may have.
const maxOperations = 10000

// patch answers a PATCH.
func (s *Server) patch(c *call, r *resource) error {
	apply, err := patcher(types.PatchType(c.contentType), r, c.body)
	if err != nil {
		return err
	}
	options, err := readWriteOptions(c)
	if err != nil {
		return err
	}
	merge := plainMerge(types.PatchType(c.contentType), r, c.body)
	reported := false
	changed, err := s.change(c, r, options.dry, func(old *object) (map[string]any, error) {
		if merge != nil {
			content := old.copy()
			mergeInto(content, merge)
			if unknown, err := clean(r, content); err == nil && len(unknown) == 0 && accessor(content).GetName() == c.info.name {
				return content, nil
			} // the answer quotes the JSON
		}
		patched, err := apply(old.json())
		if err != nil {
			return nil, err
		}
		refuse := func(problem error) error {
			return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
				field.Invalid(field.NewPath("patch"), string(patched), problem.Error())})
		}
		content, unknown, err := decodeContent(r, patched)
		if err != nil {
			if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Reason == metav1.StatusReasonInvalid {
				return nil, err
			}
			return nil, refuse(err)
		}
		if !reported {
			reported = true
			if err := report(c, r, options.fields, unknown, refuse); err != nil {
				return nil, err
			}
		}
		if name := accessor(content).GetName(); name != c.info.name {
			return nil, nameMismatch(name, c.info.name)
		}
		return content, nil
	})
	if err != nil {
		return err
	}
	return s.writeObject(c, r, http.StatusOK, changed)
}

// patcher reads a patch of one of the types that the resource supports, and returns a function that applies it to an
// object's JSON.
func patcher(kind types.PatchType, r *resource, patch []byte) (func([]byte) ([]byte, error), error) {
	switch {
	case kind == types.JSONPatchType:
		return jsonPatcher(patch)
	case kind == types.MergePatchType:
		return mergePatcher(patch)
	case kind == types.StrategicMergePatchType && r.typed:
		return strategicPatcher(r, patch)
	case r.typed:
		unknown := unsupportedMedia()
		unknown.ErrStatus.Message = "415: Unsupported Media Type"
		return nil, unknown
	}
	return nil, unsupportedMedia(string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType))
}

func jsonPatcher(patch []byte) (func([]byte) ([]byte, error), error) {
	var list []json.RawMessage
	if err := json.Unmarshal(patch, &list); err != nil {
		return nil, apierrors.NewBadRequest("error decoding patch: " +
			strings.ReplaceAll(err.Error(), "[]json.RawMessage", "[]handlers.jsonPatchOp"))
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	return func(old []byte) ([]byte, error) {
		patched, err := operations.Apply(old)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return patched, nil
	}, nil
}

// plainMerge is the content of a merge patch that can be applied without JSON; nil if it cannot.
func plainMerge(kind types.PatchType, r *resource, patch []byte) map[string]any {
	if kind != types.MergePatchType || r.typed {
		return nil
	}
	var content map[string]any
	if err := decodeJSON(patch, &content); err != nil {
		return nil
	}
	return content
}

// mergeInto applies a merge patch to content as jsonpatch.MergePatch applies it to JSON. The patch stays as it is.
func mergeInto(content, patch map[string]any) {
	for name, value := range patch {
		if value == nil {
			delete(content, name)
			continue
		}
		value = runtime.DeepCopyJSONValue(value)
		current, isObject := content[name].(map[string]any)
		given, givesObject := value.(map[string]any)
		switch {
		case isObject && givesObject:
			mergeInto(current, given)
		case isObject:
			content[name] = value
		default:
			content[name] = withoutNulls(value)
		}
	}
}

// withoutNulls removes the fields that are null, in place.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, one := range value {
			if one == nil {
				delete(value, name)
			} else {
				withoutNulls(one)
			}
		}
	case []any:
		for _, one := range value {
			withoutNulls(one)
		}
	}
	return value
}

func mergePatcher(patch []byte) (func([]byte) ([]byte, error), error) {
	var check map[string]any
	if err := json.Unmarshal(patch, &check); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return func(old []byte) ([]byte, error) {
		patched, err := jsonpatch.MergePatch(old, patch)
		if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		return patched, nil
	}, nil
}

func strategicPatcher(r *resource, patch []byte) (func([]byte) ([]byte, error), error) {
	shape, err := scheme.Scheme.New(r.kindOf())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var check map[string]any
	if err := json.Unmarshal(patch, &check); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(old []byte) ([]byte, error) {
		patched, err := strategicpatch.StrategicMergePatch(old, patch, shape)
		if errors.Is(err, mergepatch.ErrBadJSONDoc) || errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList) ||
			errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys) || errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat) {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return patched, nil
	}, nil
}
