package controller

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// firing are the alerts that fire now.
func (m *management) firing(now time.Time) []string {
	var names []string
	for _, a := range m.Alerts {
		if !now.Before(a.From) && (a.Until.IsZero() || now.Before(a.Until)) {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// autoPause lists the firing alerts in the cluster's UpdateAutoPause. While any alert fires, it clears commence on
// steps that have not started and on worker steps that have (docs/mosk.md#automatic-pause), and changes the plan
// accordingly.
func (m *management) autoPause(ctx context.Context, plan *unstructured.Unstructured) ([]string, error) {
	pause := m.last(pausesResource, m.cluster)
	if pause == nil {
		return nil, nil
	}
	watched, _, _ := unstructured.NestedStringSlice(pause.Object, "spec", "alerts")
	told := []any{}
	var firing []string
	for _, name := range m.firing(m.clock.Now()) {
		if slices.Contains(watched, name) {
			firing, told = append(firing, name), append(told, name)
		}
	}
	if err := m.tellStatus(ctx, pausesResource, m.cluster, map[string]any{"firingAlerts": told, "error": ""}); err != nil {
		return nil, err
	}
	if len(firing) == 0 || text(plan, "status", "status") == planCompleted {
		return firing, nil
	}
	steps, statuses := stepsOf(plan), m.stepStatuses(plan)
	changed := false
	for i, step := range steps {
		begun := field(statuses[i].(map[string]any), "startedAt") != ""
		worker := strings.HasPrefix(field(step, "id"), stepWorkers)
		if _, there := step["commence"]; there && (!begun || worker && field(statuses[i].(map[string]any), "status") != planCompleted) {
			delete(step, "commence")
			changed = true
		}
	}
	if !changed {
		return firing, nil
	}
	return firing, m.writeSteps(ctx, plan, steps)
}
