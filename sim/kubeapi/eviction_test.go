package kubeapi_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/kubeapi"
)

func TestAnEvictionKeepsToTheBudget(t *testing.T) {
	running := func(name string, ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "mariadb"}},
			Spec:       corev1.PodSpec{NodeName: "node-1"},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}}
	}
	budget := func(name string, allowed int32) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "mariadb"}}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: 2 + allowed, DesiredHealthy: 2, ExpectedPods: 3,
				ObservedGeneration: 1}}
	}
	w := start(t, kubeapi.Options{})
	if err := w.Load(running("a", "True"), running("b", "True"), running("c", "False"), budget("mariadb-server", 1)); err != nil {
		t.Fatal(err)
	}
	client := w.typed(kubeapi.Operator).CoreV1().Pods("default")
	evict := func(name string, options *metav1.DeleteOptions) error {
		return client.EvictV1(w.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, DeleteOptions: options})
	}

	if err := evict("a", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	if err := evict("a", nil); err != nil {
		t.Fatalf("within the budget: %v", err)
	}
	gone, err := client.Get(w.ctx, "a", metav1.GetOptions{})
	if err != nil || gone.DeletionTimestamp == nil {
		t.Fatalf("the evicted pod: %+v, %v", gone, err)
	}
	if last := gone.Status.Conditions[len(gone.Status.Conditions)-1]; last.Type != corev1.DisruptionTarget ||
		last.Reason != "EvictionByEvictionAPI" {
		t.Errorf("conditions %+v", gone.Status.Conditions)
	}
	left, err := w.typed(kubeapi.Admin).PolicyV1().PodDisruptionBudgets("default").Get(w.ctx, "mariadb-server", metav1.GetOptions{})
	if err != nil || left.Status.DisruptionsAllowed != 0 || len(left.Status.DisruptedPods) != 1 {
		t.Errorf("the budget %+v, %v", left, err)
	}

	if _, err := w.typed(kubeapi.Admin).PolicyV1().PodDisruptionBudgets("default").Patch(w.ctx, "mariadb-server", types.MergePatchType,
		[]byte(`{"status":{"currentHealthy":2}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	err = evict("b", nil)
	if !apierrors.IsTooManyRequests(err) || err.Error() != "Cannot evict pod as it would violate the pod's disruption budget." {
		t.Fatalf("beyond the budget: %v", err)
	}
	causes := err.(apierrors.APIStatus).Status().Details.Causes
	if len(causes) != 1 || causes[0].Type != policyv1.DisruptionBudgetCause ||
		causes[0].Message != "The disruption budget mariadb-server needs 2 healthy pods and has 2 currently" {
		t.Errorf("causes %+v", causes)
	}
	other := types.UID("other")
	if err := evict("c", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		t.Errorf("another pod of that name: %v", err)
	}
	if err := evict("c", nil); err != nil {
		t.Errorf("a pod that is not ready, and so does not count: %v", err)
	}
	if err := evict("missing", nil); !apierrors.IsNotFound(err) {
		t.Errorf("no pod: %v", err)
	}
	if err := w.Load(budget("second", 1)); err != nil {
		t.Fatal(err)
	}
	if err := evict("b", nil); !apierrors.IsInternalError(err) &&
		(err == nil || err.Error() != "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.") {
		t.Errorf("two budgets: %v", err)
	}
}
