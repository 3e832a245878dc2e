package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deleteOptions reads the options of a deletion from the body and the query.
func deleteOptions(c *call) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if err := decodeOptions(c, options); err != nil {
		return nil, err
	}
	query := c.query
	if raw := query.Get("gracePeriodSeconds"); raw != "" {
		seconds, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("gracePeriodSeconds: %v", err))
		}
		options.GracePeriodSeconds = &seconds
	}
	if values := query["dryRun"]; len(values) > 0 {
		options.DryRun = values
	}
	if problems := metav1validation.ValidateDeleteOptions(options); len(problems) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", problems)
	}
	return options, nil
}

// delete answers a DELETE of one object: with the object's last state while it waits for finalizers or its grace
// period, with a Success when it is gone.
func (s *Server) delete(c *call, r *resource) error {
	options, err := deleteOptions(c)
	if err != nil {
		return err
	}
	last, gone, err := s.deleteObject(r, c.objectKey(r), c.info.name, options)
	if err != nil {
		return err
	}
	if !gone || r.typed && (r.Resource == "pods" || r.Resource == "namespaces") {
		return s.writeObject(c, r, http.StatusOK, last)
	}
	writeJSON(c.w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: c.info.name, Group: r.Group, Kind: r.Resource, UID: uidOf(last.content)},
	})
	return nil
}

// deleteObject deletes one object or starts its deletion. It returns the object's last state, and whether it is gone.
func (s *Server) deleteObject(r *resource, at, name string, options *metav1.DeleteOptions) (last *object, gone bool, err error) {
	for {
		old := r.table.get(at)
		if old == nil {
			return nil, false, apierrors.NewNotFound(r.GroupResource(), name)
		}
		if err := checkPreconditions(r, old, options.Preconditions); err != nil {
			return nil, false, err
		}
		content, pending := s.terminate(r, old, options)
		switch {
		case pending && content == nil:
			return old, false, nil // it is being deleted already
		case len(options.DryRun) > 0:
			return &object{key: at, content: content}, !pending, nil
		case pending:
			if now := r.table.replace(old, content); now != nil {
				s.collect(r, now)
				return now, false, nil
			}
		default:
			if now := r.table.remove(old, content); now != nil {
				s.removed(r, old)
				return now, true, nil
			}
		}
	}
}

// checkPreconditions refuses a deletion if the object or its version is not the requested one.
func checkPreconditions(r *resource, old *object, want *metav1.Preconditions) error {
	if want == nil {
		return nil
	}
	object, kind := old.meta(), schema.GroupResource{Group: r.Group, Resource: r.kind}
	if want.UID != nil && *want.UID != object.GetUID() {
		return apierrors.NewConflict(kind, object.GetName(),
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
				"The object might have been deleted and then recreated", *want.UID, object.GetUID()))
	}
	if want.ResourceVersion != nil && *want.ResourceVersion != object.GetResourceVersion() {
		return apierrors.NewConflict(kind, object.GetName(), fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the "+
			"ResourceVersion in record (%s). The object might have been modified", *want.ResourceVersion, object.GetResourceVersion()))
	}
	return nil
}

// terminate returns the effect of a deletion on an object: pending with the content that marks it as being deleted,
// pending without content if it is already marked, or its last content.
func (s *Server) terminate(r *resource, old *object, options *metav1.DeleteOptions) (content map[string]any, pending bool) {
	content = old.copy()
	object, asked := accessor(content), options.GracePeriodSeconds
	grace := s.gracePeriod(r, old, asked)
	collected := collectorFinalizers(object, options)
	object.SetFinalizers(collected)
	if marked := object.GetDeletionTimestamp(); marked != nil {
		left := object.GetDeletionGracePeriodSeconds()
		switch {
		case (left == nil || *left == 0) && len(collected) > 0:
			if slices.Equal(collected, old.meta().GetFinalizers()) {
				return nil, true
			}
			return content, true
		case left == nil || *left == 0:
			return content, false // nothing is left to wait for
		case asked == nil || grace >= *left:
			return nil, true // a grace period can only be shortened
		}
		marked = &metav1.Time{Time: marked.Add(time.Duration(grace-*left) * time.Second)}
		if now := s.timestamp(); marked.Before(&now) {
			marked = &now
		}
		object.SetDeletionTimestamp(marked)
	} else {
		object.SetDeletionTimestamp(&metav1.Time{Time: s.timestamp().Add(time.Duration(grace) * time.Second)})
		if object.GetGeneration() > 0 {
			object.SetGeneration(object.GetGeneration() + 1)
		}
	}
	object.SetDeletionGracePeriodSeconds(&grace)
	if grace > 0 || len(collected) > 0 {
		return content, true
	}
	if graceful(r) {
		return content, false
	}
	return old.copy(), false
}

// collectorFinalizers returns the finalizers of an object whose deletion is requested: with the garbage collector's
// finalizer for foreground deletion or orphaning, if requested.
func collectorFinalizers(object metav1.Object, options *metav1.DeleteOptions) []string {
	wanted := ""
	switch policy := options.PropagationPolicy; {
	case policy != nil && *policy == metav1.DeletePropagationForeground:
		wanted = metav1.FinalizerDeleteDependents
	case policy != nil && *policy == metav1.DeletePropagationOrphan:
		wanted = metav1.FinalizerOrphanDependents
	case policy == nil:
		return object.GetFinalizers()
	}
	kept := slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(name string) bool {
		return name == metav1.FinalizerDeleteDependents || name == metav1.FinalizerOrphanDependents
	})
	if wanted != "" {
		kept = append(kept, wanted)
	}
	return kept
}

// graceful tells whether a kubelet must stop the object's workload before the object is removed.
func graceful(r *resource) bool { return r.Group == "" && r.Resource == "pods" }

// gracePeriod is how many seconds an object has left to stop: zero except for a pod on a node.
func (s *Server) gracePeriod(r *resource, old *object, asked *int64) int64 {
	if !graceful(r) || s.options.InstantPodDeletion {
		return 0
	}
	pod := accessor(old.content)
	text := func(path ...string) string {
		value, _, _ := nested(pod.Object, path...)
		found, _ := value.(string)
		return found
	}
	if phase := text("status", "phase"); text("spec", "nodeName") == "" || phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if asked != nil {
		return max(*asked, 0)
	}
	if value, found, _ := nested(pod.Object, "spec", "terminationGracePeriodSeconds"); found {
		if seconds, ok := value.(int64); ok {
			return max(seconds, 0)
		}
	}
	return 30
}

// deleteCollection answers a DELETE of all objects that a selector matches, with their list.
func (s *Server) deleteCollection(c *call, r *resource) error {
	options, err := deleteOptions(c)
	if err != nil {
		return err
	}
	query, err := readListQuery(c, r)
	if err != nil {
		return err
	}
	snap := r.table.list()
	var deleted []*object
	for _, o := range snap.objects {
		if !query.matches(o) {
			continue
		}
		last, _, err := s.deleteObject(r, o.key, o.meta().GetName(), options)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		deleted = append(deleted, last)
	}
	return s.writeList(c, r, deleted, metav1.ListMeta{ResourceVersion: strconv.FormatUint(s.store.current(), 10)})
}

// evictionContent is the pod with the condition that shows its controllers why it is deleted.
func (s *Server) evictionContent(old *object) map[string]any {
	content := old.copy()
	condition := map[string]any{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
		"message": "Eviction API: evicting", "lastTransitionTime": s.timestamp().Format(time.RFC3339), "lastProbeTime": nil}
	status, _ := content["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
		content["status"] = status
	}
	kept := []any{}
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		if known, ok := one.(map[string]any); !ok || known["type"] != condition["type"] {
			kept = append(kept, one)
		}
	}
	status["conditions"] = append(kept, runtime.DeepCopyJSONValue(condition))
	return content
}
