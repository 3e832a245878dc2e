package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// rolesVariable is the variable that sets the labels for the roles of the OpenStack controller.
const rolesVariable = "OSCTL_OPENSTACK_NODE_LABELS"

// Roles of a node, in the controller's order.
const (
	roleController = "controller"
	roleCompute    = "compute"
	roleGateway    = "gateway"
)

// roleLabel is a role and the label that gives it to a node.
type roleLabel struct{ role, key, value string }

// roleLabels are the labels of all roles, in the order of the roles.
type roleLabels []roleLabel

// defaultRoles are the labels if the variable is not set.
var defaultRoles = roleLabels{
	{roleController, labelController, enabled}, {roleCompute, labelCompute, enabled}, {roleGateway, labelGateway, enabled},
}

// rolesWith returns the default labels with some replaced, each as KEY=VALUE.
func rolesWith(others map[string]string) roleLabels {
	all := slices.Clone(defaultRoles)
	for i, r := range all {
		if key, value, ok := strings.Cut(others[r.role], "="); ok {
			all[i].key, all[i].value = key, value
		}
	}
	return all
}

// NodeLabelsVariable returns the variable that sets these labels in the controller's Deployment, given as KEY=VALUE by
// role.
func NodeLabelsVariable(others map[string]string) corev1.EnvVar {
	byRole := map[string]map[string]string{}
	for _, r := range rolesWith(others) {
		byRole[r.role] = map[string]string{r.key: r.value}
	}
	raw, _ := json.Marshal(byRole) // strings can always be encoded
	return corev1.EnvVar{Name: rolesVariable, Value: string(raw)}
}

// readRoles reads the variable; empty means not set. The controller does not start unless the value is JSON with one
// label for each role.
func readRoles(setting string) (roleLabels, error) {
	if setting == "" {
		return defaultRoles, nil
	}
	var byRole map[string]map[string]string
	if err := json.Unmarshal([]byte(setting), &byRole); err != nil {
		return nil, fmt.Errorf("%s invalid format - %w", rolesVariable, err)
	}
	var all roleLabels
	for _, r := range defaultRoles {
		label := byRole[r.role]
		if len(label) != 1 || len(byRole) != len(defaultRoles) {
			return nil, fmt.Errorf("%s expect 1 label key", rolesVariable)
		}
		for key, value := range label {
			all = append(all, roleLabel{r.role, key, value})
		}
	}
	return all, nil
}

// of returns the roles of a node with these labels.
func (l roleLabels) of(labels map[string]string) []string {
	var roles []string
	for _, r := range l {
		if value, has := labels[r.key]; has && value == r.value {
			roles = append(roles, r.role)
		}
	}
	return roles
}

// has tells whether a node with these labels has the role.
func (l roleLabels) has(labels map[string]string, role string) bool {
	return slices.Contains(l.of(labels), role)
}

// selected returns the workloads with these labels as node selectors instead of the usual ones, as in MOSK's charts.
func (l roleLabels) selected(all []workload) []workload {
	all = slices.Clone(all)
	for i, w := range all {
		for j, usual := range defaultRoles {
			if w.nodes[usual.key] == enabled && len(w.nodes) == 1 && (l[j].key != usual.key || l[j].value != usual.value) {
				all[i].nodes = map[string]string{l[j].key: l[j].value}
			}
		}
	}
	return all
}

// variableOf is the value of a variable in a Deployment's containers; empty if no container has it.
func variableOf(containers []corev1.Container, name string) string {
	for _, container := range containers {
		for _, variable := range container.Env {
			if variable.Name == name {
				return variable.Value
			}
		}
	}
	return ""
}
