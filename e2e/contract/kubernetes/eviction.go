package kubernetes

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// evict sends what a drain sends.
func (s *suite) evict(t *testing.T, pods, name, query string) answer {
	t.Helper()
	return s.post(t, pods+"/"+name+"/eviction"+query, fmt.Sprintf(`{apiVersion: policy/v1, kind: Eviction, metadata: {name: %s}}`, name))
}

// runs creates a pod that runs and is ready.
func (s *suite) runs(t *testing.T, pods, name, app, node string) {
	t.Helper()
	s.make(t, pods, pod(name, app, node))
	s.patch(t, pods+"/"+name+"/status", mergePatch, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`).object(t,
		http.StatusOK)
}

// budget creates a disruption budget with the status that its controller would write.
func (s *suite) budget(t *testing.T, namespace, name, app, status string) string {
	t.Helper()
	path := of("policy/v1", namespace, "poddisruptionbudgets")
	s.make(t, path,
		fmt.Sprintf(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s}, spec: {minAvailable: 2, selector: {matchLabels: `+
			`{app: %s}}}}`, name, app))
	if status != "" {
		s.patch(t, path+"/"+name+"/status", mergePatch, `{"status":`+status+`}`).object(t, http.StatusOK)
	}
	return path + "/" + name
}

func evictions(t *testing.T, s *suite) {
	s.namespace(t, "evictions")
	pods := of("v1", "evictions", "pods")
	tooMany := func(cause string, after int32) refusal {
		return refusal{code: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests,
			message: "Cannot evict pod as it would violate the pod's disruption budget.",
			details: &metav1.StatusDetails{RetryAfterSeconds: after, Causes: []metav1.StatusCause{{Type: "DisruptionBudget", Message: cause}}}}
	}
	t.Run("without a budget is a deletion", func(t *testing.T) {
		s.runs(t, pods, "free", "free", "n1")
		var status metav1.Status
		s.evict(t, pods, "free", "").decode(t, &status)
		if status.Status != metav1.StatusSuccess || status.Code != http.StatusCreated {
			t.Errorf("the answer is %+v", status)
		}
		now := s.get(t, pods+"/free").object(t, http.StatusOK)
		conditions, _ := field(now, "status", "conditions").([]any)
		if now.GetDeletionTimestamp() == nil || len(conditions) != 2 {
			t.Errorf("the pod is %s", asText(t, now))
		} else if last, _ := conditions[1].(map[string]any); last["type"] != "DisruptionTarget" || last["reason"] != "EvictionByEvictionAPI" ||
			last["message"] != "Eviction API: evicting" {
			t.Errorf("the condition is %s", asText(t, last))
		}
	})
	t.Run("against a budget is refused with its figures", func(t *testing.T) {
		s.runs(t, pods, "held", "held", "n1")
		s.budget(t, "evictions", "held", "held",
			`{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":2,"desiredHealthy":2,"expectedPods":2}`)
		s.evict(t, pods, "held", "").refuses(t, tooMany("The disruption budget held needs 2 healthy pods and has 2 currently", 0))
		if now := s.get(t, pods+"/held").object(t, http.StatusOK); now.GetDeletionTimestamp() != nil {
			t.Errorf("the pod is being deleted: %s", asText(t, now))
		}
	})
	t.Run("against a budget that nobody has looked at yet is refused for a while", func(t *testing.T) {
		s.runs(t, pods, "early", "early", "n1")
		s.budget(t, "evictions", "early", "early", "")
		a := s.evict(t, pods, "early", "")
		a.refuses(t, tooMany("The disruption budget early is still being processed by the server.", 10))
		if after := a.header.Get("Retry-After"); after != "10" {
			t.Errorf("it says to try again after %q", after)
		}
	})
	t.Run("within a budget spends it", func(t *testing.T) {
		s.runs(t, pods, "spent1", "spent", "n1")
		s.runs(t, pods, "spent2", "spent", "n1")
		budget := s.budget(t, "evictions", "spent", "spent",
			`{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3}`)
		if a := s.evict(t, pods, "spent1", "?dryRun=All"); a.code != http.StatusCreated {
			t.Errorf("tried only, it is answered %s", a.body)
		}
		if now := s.get(t, budget).object(t, http.StatusOK); fmt.Sprint(field(now, "status", "disruptionsAllowed")) != "1" {
			t.Errorf("tried only, it was spent: %s", asText(t, now.Object["status"]))
		}
		if a := s.evict(t, pods, "spent1", ""); a.code != http.StatusCreated {
			t.Errorf("the first is answered %s", a.body)
		}
		now := s.get(t, budget).object(t, http.StatusOK)
		disrupted, _ := field(now, "status", "disruptedPods").(map[string]any)
		if fmt.Sprint(field(now, "status", "disruptionsAllowed")) != "0" || disrupted["spent1"] == nil {
			t.Errorf("the budget is %s", asText(t, now.Object["status"]))
		}
		if a := s.evict(t, pods, "spent2", ""); a.code != http.StatusTooManyRequests {
			t.Errorf("the second is answered %s", a.body)
		}
	})
	t.Run("of a pod of two budgets is an error", func(t *testing.T) {
		s.runs(t, pods, "double", "double", "n1")
		s.budget(t, "evictions", "double1", "double", "")
		s.budget(t, "evictions", "double2", "double", "")
		s.evict(t, pods, "double", "").refuses(t, refusal{code: http.StatusInternalServerError,
			message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})
	})
	t.Run("of what is not there is refused", func(t *testing.T) {
		s.evict(t, pods, "nothing", "").refuses(t, refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
			message: `pods "nothing" not found`, details: &metav1.StatusDetails{Name: "nothing", Kind: "pods"}})
	})
}
