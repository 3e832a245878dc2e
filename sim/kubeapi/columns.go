package kubeapi

import (
	"fmt"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The columns of the built-in kinds, as kubectl users know them. A wide column shows with -o wide.

func text(name string, cell func(s *Server, content map[string]any) any) column {
	return column{TableColumnDefinition: metav1.TableColumnDefinition{Name: name, Type: "string"}, cell: cell}
}

func wide(c column) column {
	c.Priority = 1
	return c
}

// at shows the field at a path, or missing if there is none.
func at(name string, missing any, path ...string) column {
	return text(name, func(_ *Server, content map[string]any) any {
		if value, found, err := nested(content, path...); err == nil && found && value != nil {
			return fmt.Sprint(value)
		}
		return missing
	})
}

var ageColumn = text("Age", func(s *Server, content map[string]any) any {
	value, _, _ := nested(content, "metadata", "creationTimestamp")
	timestamp, _ := value.(string)
	return s.age(timestamp)
})

// createdColumn is the only column of a custom resource whose definition has none.
var createdColumn = column{TableColumnDefinition: metav1.TableColumnDefinition{Name: "Age", Type: "date"}, cell: ageColumn.cell}

var namespaceColumns = []column{at("Status", "", "status", "phase"), ageColumn}

var nodeColumns = []column{
	text("Status", func(_ *Server, content map[string]any) any { return nodeStatus(content) }),
	text("Roles", func(_ *Server, content map[string]any) any { return nodeRoles(content) }),
	ageColumn,
	at("Version", "", "status", "nodeInfo", "kubeletVersion"),
	wide(text("Internal-IP", func(_ *Server, content map[string]any) any { return nodeAddress(content, "InternalIP") })),
	wide(text("External-IP", func(_ *Server, content map[string]any) any { return nodeAddress(content, "ExternalIP") })),
	wide(at("OS-Image", "<unknown>", "status", "nodeInfo", "osImage")),
	wide(at("Kernel-Version", "<unknown>", "status", "nodeInfo", "kernelVersion")),
	wide(at("Container-Runtime", "<unknown>", "status", "nodeInfo", "containerRuntimeVersion")),
}

// entries returns the objects of a list field.
func entries(content map[string]any, path ...string) []map[string]any {
	value, _, _ := nested(content, path...)
	list, _ := value.([]any)
	var found []map[string]any
	for _, one := range list {
		if entry, ok := one.(map[string]any); ok {
			found = append(found, entry)
		}
	}
	return found
}

func nodeStatus(content map[string]any) string {
	status := "Unknown"
	for _, condition := range entries(content, "status", "conditions") {
		if condition["type"] != "Ready" {
			continue
		}
		if status = "NotReady"; condition["status"] == "True" {
			status = "Ready"
		}
	}
	if cordoned, _, _ := nested(content, "spec", "unschedulable"); cordoned == true {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(content map[string]any) string {
	var roles []string
	for label, value := range accessor(content).GetLabels() {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	if len(roles) == 0 {
		return "<none>"
	}
	sort.Strings(roles)
	return strings.Join(roles, ",")
}

func nodeAddress(content map[string]any, kind string) string {
	for _, address := range entries(content, "status", "addresses") {
		if text, ok := address["address"].(string); ok && address["type"] == kind {
			return text
		}
	}
	return "<none>"
}

var podColumns = []column{
	text("Ready", func(_ *Server, content map[string]any) any {
		ready := 0
		for _, container := range entries(content, "status", "containerStatuses") {
			if container["ready"] == true {
				ready++
			}
		}
		return fmt.Sprintf("%d/%d", ready, len(entries(content, "spec", "containers")))
	}),
	text("Status", func(_ *Server, content map[string]any) any { return podStatus(content) }),
	text("Restarts", func(_ *Server, content map[string]any) any {
		restarts := int64(0)
		for _, container := range entries(content, "status", "containerStatuses") {
			count, _ := container["restartCount"].(int64)
			restarts += count
		}
		return fmt.Sprint(restarts)
	}),
	ageColumn,
	wide(at("IP", "<none>", "status", "podIP")),
	wide(at("Node", "<none>", "spec", "nodeName")),
	wide(at("Nominated Node", "<none>", "status", "nominatedNodeName")),
	wide(text("Readiness Gates", func(*Server, map[string]any) any { return "<none>" })),
}

func podStatus(content map[string]any) string {
	if accessor(content).GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	for _, container := range entries(content, "status", "containerStatuses") {
		for _, state := range []string{"waiting", "terminated"} {
			if reason, found, _ := nested(container, "state", state, "reason"); found {
				return fmt.Sprint(reason)
			}
		}
	}
	for _, path := range [][]string{{"status", "reason"}, {"status", "phase"}} {
		if value, found, _ := nested(content, path...); found {
			return fmt.Sprint(value)
		}
	}
	return "Unknown"
}

var secretColumns = []column{
	at("Type", "", "type"),
	text("Data", func(_ *Server, content map[string]any) any { return size(content, "data") }),
	ageColumn,
}

var configMapColumns = []column{
	text("Data", func(_ *Server, content map[string]any) any {
		return size(content, "data") + size(content, "binaryData")
	}),
	ageColumn,
}

func size(content map[string]any, name string) int {
	fields, _ := content[name].(map[string]any)
	return len(fields)
}

var eventColumns = []column{
	text("Last Seen", func(s *Server, content map[string]any) any {
		for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"}, {"firstTimestamp"}} {
			if value, found, _ := nested(content, path...); found && value != nil {
				return s.age(fmt.Sprint(value))
			}
		}
		return "<unknown>"
	}),
	at("Type", "", "type"),
	at("Reason", "", "reason"),
	text("Object", func(_ *Server, content map[string]any) any {
		kind, _, _ := nested(content, "involvedObject", "kind")
		name, _, _ := nested(content, "involvedObject", "name")
		return strings.ToLower(fmt.Sprint(kind)) + "/" + fmt.Sprint(name)
	}),
	wide(at("Subobject", "", "involvedObject", "fieldPath")),
	wide(at("Source", "", "source", "component")),
	at("Message", "", "message"),
	wide(text("First Seen", func(s *Server, content map[string]any) any {
		for _, path := range [][]string{{"firstTimestamp"}, {"eventTime"}} {
			if value, found, _ := nested(content, path...); found && value != nil {
				return s.age(fmt.Sprint(value))
			}
		}
		return "<unknown>"
	})),
	wide(texted(count("Count", "count"))),
	wide(column{TableColumnDefinition: metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name"},
		cell: func(_ *Server, content map[string]any) any { return accessor(content).GetName() }}),
}

// outOf shows a figure of the status and one of the spec, as 2/3.
func outOf(name string, have, want []string) column {
	return text(name, func(_ *Server, content map[string]any) any {
		return fmt.Sprintf("%d/%d", number(content, have...), number(content, want...))
	})
}

func count(name string, path ...string) column {
	c := text(name, func(_ *Server, content map[string]any) any { return number(content, path...) })
	c.Type = "integer"
	return c
}

// texted is a column of numbers declared as strings, as the real server does in some places.
func texted(c column) column {
	c.Type = "string"
	return c
}

func number(content map[string]any, path ...string) int64 {
	value, _, _ := nested(content, path...)
	found, _ := value.(int64)
	return found
}

var deploymentColumns = append([]column{
	outOf("Ready", []string{"status", "readyReplicas"}, []string{"spec", "replicas"}),
	texted(count("Up-to-date", "status", "updatedReplicas")),
	texted(count("Available", "status", "availableReplicas")),
	ageColumn,
}, templateColumns...)

var daemonSetColumns = append([]column{
	count("Desired", "status", "desiredNumberScheduled"),
	count("Current", "status", "currentNumberScheduled"),
	count("Ready", "status", "numberReady"),
	count("Up-to-date", "status", "updatedNumberScheduled"),
	count("Available", "status", "numberAvailable"),
	text("Node Selector", func(_ *Server, content map[string]any) any {
		value, _, _ := nested(content, "spec", "template", "spec", "nodeSelector")
		selector, _ := value.(map[string]any)
		return pairs(selector)
	}),
	ageColumn,
}, templateColumns...)

var statefulSetColumns = []column{
	outOf("Ready", []string{"status", "readyReplicas"}, []string{"spec", "replicas"}),
	ageColumn,
	templateColumns[0], templateColumns[1],
}

var budgetColumns = []column{
	at("Min Available", "N/A", "spec", "minAvailable"),
	at("Max Unavailable", "N/A", "spec", "maxUnavailable"),
	count("Allowed Disruptions", "status", "disruptionsAllowed"),
	ageColumn,
}

var leaseColumns = []column{at("Holder", "", "spec", "holderIdentity"), ageColumn}

var definitionColumns = []column{createdAtColumn}

// createdAtColumn is the creation time as a timestamp.
var createdAtColumn = dated(at("Created At", "", "metadata", "creationTimestamp"))

func dated(c column) column {
	c.Type = "date"
	return c
}
