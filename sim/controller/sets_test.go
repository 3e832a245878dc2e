package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A Deployment says since when it is available or unavailable: its condition's time stays until the condition changes.
func TestDeploymentSaysSinceWhenItIsAway(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var conditions []appsv1.DeploymentCondition
	for i, at := range []struct {
		desired, ready int32
		want           corev1.ConditionStatus
		since          int // the minute
	}{
		{1, 1, corev1.ConditionTrue, 0},
		{1, 1, corev1.ConditionTrue, 0},
		{1, 0, corev1.ConditionFalse, 2},
		{1, 0, corev1.ConditionFalse, 2},
		{0, 0, corev1.ConditionTrue, 4}, // nothing is wanted, nothing is missing
		{1, 0, corev1.ConditionFalse, 5},
		{4, 3, corev1.ConditionTrue, 6},
		{4, 2, corev1.ConditionFalse, 7},
		{3, 2, corev1.ConditionFalse, 7},
	} {
		conditions = availability(conditions, count{desired: at.desired, ready: at.ready}, noon.Add(time.Duration(i)*time.Minute))
		if len(conditions) != 1 {
			t.Fatalf("minute %d: %d conditions", i, len(conditions))
		}
		if c := conditions[0]; c.Status != at.want || !c.LastTransitionTime.Time.Equal(noon.Add(time.Duration(at.since)*time.Minute)) {
			t.Errorf("minute %d: %d of %d ready is available %s since %s, want %s since minute %d", i, at.ready, at.desired, c.Status,
				c.LastTransitionTime, at.want, at.since)
		}
	}
}
