package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/core/wording"
)

// RoleLabel is the label that gives a node a role. Key and value must match.
type RoleLabel struct{ Key, Value string }

// String is the label as kubectl takes it.
func (l RoleLabel) String() string { return l.Key + "=" + l.Value }

// RoleLabels are the labels of the roles that the OpenStack controller knows. They are its setting OSCTL_OPENSTACK_NODE_LABELS
// (docs/mosk.md#roles).
type RoleLabels map[Role]RoleLabel

// OpenStackRoles are the roles of nodes that the OpenStack controller knows.
func OpenStackRoles() []Role { return []Role{RoleController, RoleCompute, RoleGateway} }

// DefaultRoleLabels are the controller's own defaults.
func DefaultRoleLabels() RoleLabels {
	return RoleLabels{
		RoleController: {"openstack-control-plane", "enabled"},
		RoleCompute:    {"openstack-compute-node", "enabled"},
		RoleGateway:    {"openstack-gateway", "enabled"},
	}
}

// ParseRoleLabel reads a label as kubectl takes it, for example openstack-gateway=enabled.
func ParseRoleLabel(text string) (RoleLabel, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" || strings.ContainsAny(text, " \t\n,'\"") || strings.Contains(value, "=") {
		return RoleLabel{}, fmt.Errorf("%q is not a label: want KEY=VALUE", text)
	}
	return RoleLabel{key, value}, nil
}

// ReadRoleLabels reads the controller's setting: JSON with one label for each of its roles. The controller does not start with anything
// else.
func ReadRoleLabels(setting string) (RoleLabels, error) {
	var byRole map[Role]map[string]string
	if err := json.Unmarshal([]byte(setting), &byRole); err != nil {
		return nil, fmt.Errorf("it is not JSON with a label for each role: %w", err)
	}
	labels := RoleLabels{}
	for role, label := range byRole {
		if !slices.Contains(OpenStackRoles(), role) {
			return nil, fmt.Errorf("it names a role that the controller does not know: %q", wording.OneLine(string(role), 40))
		}
		if len(label) != 1 {
			return nil, fmt.Errorf("it has %s for the role %s: want one", wording.Count(len(label), "label"), role)
		}
		for key, value := range label {
			labels[role] = RoleLabel{key, value}
		}
	}
	for _, role := range OpenStackRoles() {
		if _, ok := labels[role]; !ok {
			return nil, fmt.Errorf("it has no label for the role %s", role)
		}
	}
	return labels, nil
}

// IsDefault tells whether the labels are the controller's own defaults.
func (r RoleLabels) IsDefault() bool { return maps.Equal(r, DefaultRoleLabels()) }

// Text is the labels in one line, in the order of the roles.
func (r RoleLabels) Text() string {
	var parts []string
	for _, role := range OpenStackRoles() {
		if l, ok := r[role]; ok {
			parts = append(parts, string(role)+": "+wording.OneLine(l.String(), 80))
		}
	}
	return strings.Join(parts, ", ")
}

// WithRoles is the node with the roles that the labels give it. Roles that the OpenStack controller does not know stay.
func (n *Node) WithRoles(r RoleLabels) *Node {
	roles := slices.DeleteFunc(slices.Clone(n.Roles), func(role Role) bool { return slices.Contains(OpenStackRoles(), role) })
	roles = append(roles, r.Of(n.Labels)...)
	slices.Sort(roles)
	other := *n
	other.Roles = roles
	return &other
}

// Of are the roles that a node with these labels has.
func (r RoleLabels) Of(labels map[string]string) []Role {
	var roles []Role
	for _, role := range OpenStackRoles() {
		if l, ok := r[role]; ok {
			if value, has := labels[l.Key]; has && value == l.Value {
				roles = append(roles, role)
			}
		}
	}
	return roles
}

// RoleLabelsIn are the labels in force and where they come from: the setting of the controller's Deployment if it can be read, else the
// configuration, else the defaults, for which from is empty.
func RoleLabelsIn(c *Deployment, configured RoleLabels) (labels RoleLabels, from string) {
	if c != nil && c.RoleLabels != "" {
		if read, err := ReadRoleLabels(c.RoleLabels); err == nil {
			return read, "as the Deployment " + wording.OneLine(c.Name, 40) + " says"
		}
	}
	if configured != nil {
		return configured, "as configured"
	}
	return DefaultRoleLabels(), ""
}

// ApplyRoleLabels gives the nodes of an inventory their roles by the labels in force in its cluster.
func (inv *ClusterInventory) ApplyRoleLabels(configured RoleLabels) {
	if inv.RoleLabels, _ = RoleLabelsIn(inv.Controller, configured); inv.RoleLabels.IsDefault() {
		return
	}
	for i, n := range inv.Nodes {
		inv.Nodes[i].Node = n.WithRoles(inv.RoleLabels)
	}
}

// RoleLabelsText is the labels of the roles and where they come from; empty for the controller's defaults.
func (s *Snapshot) RoleLabelsText() string {
	if len(s.RoleLabels) == 0 || s.RoleLabels.IsDefault() {
		return ""
	}
	return s.RoleLabels.Text() + wording.InBrackets(s.RoleLabelsFrom)
}

// LabelOf is the label that gives a node the role.
func (s *Snapshot) LabelOf(role Role) RoleLabel {
	if l, ok := s.RoleLabels[role]; ok {
		return l
	}
	return DefaultRoleLabels()[role]
}

// RoleLabelText is the role, with its label if that is not the controller's default.
func (s *Snapshot) RoleLabelText(role Role) string {
	if l, ok := s.RoleLabels[role]; ok && l != DefaultRoleLabels()[role] {
		return string(role) + wording.InBrackets(wording.OneLine(l.String(), 80))
	}
	return string(role)
}
