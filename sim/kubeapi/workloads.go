package kubeapi

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

// workloadKinds are the workload kinds that a MOSK update does not touch; tools list them all.
func workloadKinds() []*resource {
	apps := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: name}
	}
	batch := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: name}
	}
	all := []string{"all"}
	return []*resource{
		{GroupVersionResource: apps("replicasets"), kind: "ReplicaSet", shortNames: []string{"rs"}, categories: all, namespaced: true,
			status: true, scale: true, unconditional: true, generation: true, defaults: defaultReplicas, columns: replicaSetColumns},
		{GroupVersionResource: apps("controllerrevisions"), kind: "ControllerRevision", namespaced: true, unconditional: true,
			columns: []column{ownerColumn, count("Revision", "revision"), ageColumn}},
		{GroupVersionResource: batch("jobs"), kind: "Job", categories: all, namespaced: true, status: true, unconditional: true, generation: true,
			fields: []string{"status.successful"}, columns: jobColumns},
		{GroupVersionResource: batch("cronjobs"), kind: "CronJob", shortNames: []string{"cj"}, categories: all, namespaced: true, status: true,
			unconditional: true, generation: true, columns: cronJobColumns},
	}
}

var replicaSetColumns = append([]column{
	count("Desired", "spec", "replicas"), count("Current", "status", "replicas"), count("Ready", "status", "readyReplicas"), ageColumn,
}, templateColumns...)

// templateColumns are the wide columns of every kind with a pod template.
var templateColumns = []column{
	wide(text("Containers", func(_ *Server, content map[string]any) any { return containerField(content, "name") })),
	wide(text("Images", func(_ *Server, content map[string]any) any { return containerField(content, "image") })),
	wide(text("Selector", func(_ *Server, content map[string]any) any { return selectorText(content) })),
}

// containerField is one field of all containers of a template.
func containerField(content map[string]any, name string) string {
	var all []string
	for _, container := range entries(content, "spec", "template", "spec", "containers") {
		all = append(all, fmt.Sprint(container[name]))
	}
	return strings.Join(all, ",")
}

var ownerColumn = text("Controller", func(_ *Server, content map[string]any) any {
	for _, owner := range accessor(content).GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
			return strings.TrimSuffix(strings.ToLower(kind.Kind)+"."+kind.Group, ".") + "/" + owner.Name
		}
	}
	return "<none>"
})

var jobColumns = append([]column{
	text("Status", func(_ *Server, content map[string]any) any {
		for _, condition := range entries(content, "status", "conditions") {
			if kind, _ := condition["type"].(string); (kind == "Complete" || kind == "Failed") && condition["status"] == "True" {
				return kind
			}
		}
		return "Running"
	}),
	text("Completions", func(_ *Server, content map[string]any) any {
		want := int64(1)
		if _, found, _ := nested(content, "spec", "completions"); found {
			want = number(content, "spec", "completions")
		}
		return fmt.Sprintf("%d/%d", number(content, "status", "succeeded"), want)
	}),
	text("Duration", func(s *Server, content map[string]any) any {
		times := [2]string{"", s.now().Format(time.RFC3339)}
		for i, name := range []string{"startTime", "completionTime"} {
			if value, found, _ := nested(content, "status", name); found && value != nil {
				times[i] = fmt.Sprint(value)
			}
		}
		begun, err := time.Parse(time.RFC3339, times[0])
		if err != nil {
			return ""
		}
		ended, err := time.Parse(time.RFC3339, times[1])
		if err != nil {
			return ""
		}
		return duration.HumanDuration(ended.Sub(begun))
	}),
	ageColumn,
}, templateColumns...)

var cronJobColumns = []column{
	at("Schedule", "", "spec", "schedule"), at("Timezone", "<none>", "spec", "timeZone"), at("Suspend", "False", "spec", "suspend"),
	text("Active", func(_ *Server, content map[string]any) any { return len(entries(content, "status", "active")) }),
	text("Last Schedule", func(s *Server, content map[string]any) any {
		value, _, _ := nested(content, "status", "lastScheduleTime")
		last, _ := value.(string)
		if last == "" {
			return "<none>"
		}
		return s.age(last)
	}),
	ageColumn,
}
