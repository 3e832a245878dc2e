package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// rolesVariable is the variable that says by which labels nodes have the roles that the OpenStack controller knows.
const rolesVariable = "OSCTL_OPENSTACK_NODE_LABELS"

// Roles of a node, in the order in which the controller knows them.
const (
	roleController = "controller"
	roleCompute    = "compute"
	roleGateway    = "gateway"
)

// roleLabel is a role and the label by which a node has it.
type roleLabel struct{ role, key, value string }

// roleLabels are the labels of all roles, in the order of the roles.
type roleLabels []roleLabel

// defaultRoles are the labels where the variable says nothing.
var defaultRoles = roleLabels{
	{roleController, labelController, enabled}, {roleCompute, labelCompute, enabled}, {roleGateway, labelGateway, enabled},
}

// rolesWith are the default labels with others for some roles, each as KEY=VALUE.
func rolesWith(others map[string]string) roleLabels {
	all := slices.Clone(defaultRoles)
	for i, r := range all {
		if key, value, ok := strings.Cut(others[r.role], "="); ok {
			all[i].key, all[i].value = key, value
		}
	}
	return all
}

// NodeLabelsVariable is the variable with which the controller's Deployment has these labels, each as KEY=VALUE by its role.
func NodeLabelsVariable(others map[string]string) corev1.EnvVar {
	byRole := map[string]map[string]string{}
	for _, r := range rolesWith(others) {
		byRole[r.role] = map[string]string{r.key: r.value}
	}
	raw, _ := json.Marshal(byRole) // texts can be encoded
	return corev1.EnvVar{Name: rolesVariable, Value: string(raw)}
}

// readRoles reads the variable; empty is not set. With what is no JSON of one label for each role the controller does not start.
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

// of are the roles that a node with these labels has.
func (l roleLabels) of(labels map[string]string) []string {
	var roles []string
	for _, r := range l {
		if value, has := labels[r.key]; has && value == r.value {
			roles = append(roles, r.role)
		}
	}
	return roles
}

// has tells whether the labels are those of a node with the role.
func (l roleLabels) has(labels map[string]string, role string) bool {
	return slices.Contains(l.of(labels), role)
}

// selected are the workloads with node selectors by these labels instead of the usual ones, as MOSK's charts have them.
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

// variableOf is the value of a variable that a Deployment's containers have; empty when none has it.
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
