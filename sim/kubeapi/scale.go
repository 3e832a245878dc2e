package kubeapi

import (
	"encoding/json"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scaled is the resource of the scales of workloads. It has no table: its data comes from the workload.
var scaled = &resource{GroupVersionResource: autoscalingv1.SchemeGroupVersion.WithResource("scales"), kind: "Scale", typed: true,
	namespaced: true}

// serveScale answers a request for a workload's scale.
func (s *Server) serveScale(c *call, r *resource) error {
	if c.info.verb != "get" && c.info.verb != "update" && c.info.verb != "patch" {
		return errNoSuchMethod()
	}
	var err error
	if c.form, err = negotiate(c.Request); err != nil {
		return err
	}
	old := r.table.get(c.objectKey(r))
	if old == nil {
		return apierrors.NewNotFound(r.GroupResource(), c.info.name)
	}
	if c.info.verb == "get" {
		return s.writeScale(c, old)
	}
	options, err := readWriteOptions(c)
	if err != nil {
		return err
	}
	changed, err := s.change(c, r, options.dry, func(old *object) (map[string]any, error) {
		wanted, err := s.wantedScale(c, old, options.fields)
		if err != nil {
			return nil, err
		}
		content := old.copy()
		if version := wanted.ResourceVersion; version != "" {
			accessor(content).SetResourceVersion(version)
		}
		return content, unstructured.SetNestedField(content, int64(wanted.Spec.Replicas), "spec", "replicas")
	})
	if err != nil {
		return err
	}
	return s.writeScale(c, changed)
}

// wantedScale is the scale in a request.
func (s *Server) wantedScale(c *call, old *object, policy string) (*autoscalingv1.Scale, error) {
	var content map[string]any
	var err error
	if c.info.verb == "update" {
		content, err = s.body(c, scaled, policy)
	} else {
		content, err = patchedScale(c, old)
	}
	if err != nil {
		return nil, err
	}
	var wanted autoscalingv1.Scale
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &wanted); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if wanted.Name != c.info.name {
		return nil, nameMismatch(wanted.Name, c.info.name)
	}
	if wanted.Spec.Replicas < 0 {
		return nil, apierrors.NewInvalid(scaled.kindOf().GroupKind(), c.info.name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), int64(wanted.Spec.Replicas), "must be greater than or equal to 0")})
	}
	return &wanted, nil
}

func patchedScale(c *call, old *object) (map[string]any, error) {
	apply, err := patcher(types.PatchType(c.contentType), scaled, c.body)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(newScale(old))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	patched, err := apply(raw)
	if err != nil {
		return nil, err
	}
	content, _, err := decodeContent(scaled, patched)
	return content, err
}

// newScale is a workload's scale.
func newScale(o *object) *autoscalingv1.Scale {
	object := o.meta()
	scale := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scaled.kind, APIVersion: scaled.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace(), UID: object.GetUID(),
			ResourceVersion: object.GetResourceVersion(), CreationTimestamp: object.GetCreationTimestamp()},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(number(o.content, "spec", "replicas"))},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(number(o.content, "status", "replicas"))},
	}
	var selector metav1.LabelSelector
	if value, _, _ := nested(o.content, "spec", "selector"); value != nil {
		if known, ok := value.(map[string]any); ok && runtime.DefaultUnstructuredConverter.FromUnstructured(known, &selector) == nil {
			scale.Status.Selector = metav1.FormatLabelSelector(&selector)
		}
	}
	return scale
}

func (s *Server) writeScale(c *call, o *object) error {
	if c.form != formObject {
		return errNotAcceptable
	}
	writeJSON(c.w, http.StatusOK, newScale(o))
	return nil
}
