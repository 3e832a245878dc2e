package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// evict answers a POST to a pod's eviction: a deletion that the pod's disruption budget allows, or 429.
func (s *Server) evict(c *call, pods *resource) error {
	var eviction policyv1.Eviction
	if err := s.readEviction(c, &eviction); err != nil {
		return err
	}
	if eviction.Name != c.info.name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	options := eviction.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	if values := c.query["dryRun"]; len(values) > 0 {
		options.DryRun = values
	}
	if problems := metav1validation.ValidateDeleteOptions(options); len(problems) > 0 {
		return apierrors.NewInvalid(groupKind(metav1.GroupName, "DeleteOptions"), "", problems)
	}
	dry := len(options.DryRun) > 0
	old := pods.table.get(c.objectKey(pods))
	if old == nil {
		return apierrors.NewNotFound(pods.GroupResource(), c.info.name)
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(old.content, &pod); err != nil {
		return apierrors.NewInternalError(err)
	}
	// The end of a finished or not yet running pod is no disruption.
	over := pod.DeletionTimestamp != nil || slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending},
		pod.Status.Phase)
	if !over {
		if err := s.spendBudget(&pod, dry); err != nil {
			return err
		}
	}
	// As in the real server, a disruption is spent even if the preconditions then fail.
	if err := checkPreconditions(pods, old, options.Preconditions); err != nil {
		return err
	}
	if !dry {
		if now := pods.table.replace(old, s.evictionContent(old)); now != nil && options.Preconditions != nil &&
			options.Preconditions.ResourceVersion != nil {
			version := now.meta().GetResourceVersion()
			options.Preconditions.ResourceVersion = &version
		}
	}
	if _, _, err := s.deleteObject(pods, c.objectKey(pods), c.info.name, options); err != nil {
		return err
	}
	writeJSON(c.w, http.StatusCreated, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
	return nil
}

func (s *Server) readEviction(c *call, into *policyv1.Eviction) error {
	kind := policyv1.SchemeGroupVersion.WithKind("Eviction")
	decoded, _, err := strictCodecs.UniversalDeserializer().Decode(c.body, &kind, nil)
	if _, strict := runtime.AsStrictDecodingError(err); err != nil && !(strict && decoded != nil) {
		return apierrors.NewBadRequest(fmt.Sprintf("decode the Eviction: %v", err))
	}
	eviction, ok := decoded.(*policyv1.Eviction)
	if !ok {
		raw, _ := json.Marshal(decoded) // only for the message
		return apierrors.NewBadRequest(fmt.Sprintf("not a Eviction object: %.80s", raw))
	}
	*into = *eviction
	return nil
}

// spendBudget takes one disruption from the budget that selects the pod; the error says why the budget refuses.
func (s *Server) spendBudget(pod *corev1.Pod, dry bool) error {
	budgets := s.catalogue.find(schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"})
	for {
		old, budget, err := findBudget(budgets, pod)
		if err != nil || old == nil {
			return err
		}
		if !ready(pod) {
			always := budget.Spec.UnhealthyPodEvictionPolicy != nil && *budget.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
			healthy := budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0
			if always || healthy {
				return nil // the pod does not count, so its end does not either
			}
		}
		if err := budgetAllows(budget); err != nil {
			return err
		}
		if dry {
			return nil
		}
		budget.Status.DisruptionsAllowed--
		if budget.Status.DisruptedPods == nil {
			budget.Status.DisruptedPods = map[string]metav1.Time{}
		}
		budget.Status.DisruptedPods[pod.Name] = s.timestamp()
		if budget.Status.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&budget.Status.Conditions, metav1.Condition{
				Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
				ObservedGeneration: budget.Status.ObservedGeneration, LastTransitionTime: s.timestamp()})
		}
		content, err := encodeTyped(budgets, budget)
		if err != nil {
			return err
		}
		if budgets.table.replace(old, content) != nil {
			return nil
		}
	}
}

// findBudget returns the only budget that selects the pod, or nil.
func findBudget(budgets *resource, pod *corev1.Pod) (*object, *policyv1.PodDisruptionBudget, error) {
	var found *object
	var budget *policyv1.PodDisruptionBudget
	for _, o := range budgets.table.list().objects {
		if o.meta().GetNamespace() != pod.Namespace {
			continue
		}
		one := &policyv1.PodDisruptionBudget{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, one); err != nil {
			return nil, nil, apierrors.NewInternalError(err)
		}
		selector, err := metav1.LabelSelectorAsSelector(one.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue // as the real server does, a budget whose selector is broken selects nothing
		}
		if found != nil {
			return nil, nil, &apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
				Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
			}}
		}
		found, budget = o, one
	}
	return found, budget, nil
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// budgetAllows refuses with 429, the budget's name and its figures if the budget has no disruption left.
func budgetAllows(budget *policyv1.PodDisruptionBudget) error {
	tooMany := func(retryAfter int, text string) error {
		err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: text})
		return err
	}
	status := budget.Status
	switch {
	case status.ObservedGeneration < budget.Generation:
		return tooMany(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget.Name))
	case status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(groupResource("policy", "poddisruptionbudget"), budget.Name,
			fmt.Errorf("pdb disruptions allowed is negative"))
	case status.DisruptionsAllowed > 0:
		return nil
	}
	condition := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	refused := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case refused && condition.Reason == policyv1.SyncFailedReason:
		return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", budget.Name,
			condition.Message))
	case status.CurrentHealthy <= status.DesiredHealthy:
		return tooMany(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy,
			status.CurrentHealthy))
	case refused:
		return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", budget.Name, condition.Reason,
			condition.Message))
	}
	return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", budget.Name))
}
