package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RoleLabel is the label by which a node has a role: both its key and its value count.
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
		return RoleLabel{}, fmt.Errorf("%q is no label: want KEY=VALUE", text)
	}
	return RoleLabel{key, value}, nil
}

// ReadRoleLabels reads the controller's setting: JSON that has one label for each of its roles. With anything else the controller does
// not start.
func ReadRoleLabels(setting string) (RoleLabels, error) {
	var byRole map[Role]map[string]string
	if err := json.Unmarshal([]byte(setting), &byRole); err != nil {
		return nil, fmt.Errorf("it is no JSON of a label for each role: %w", err)
	}
	labels := RoleLabels{}
	for role, label := range byRole {
		if !slices.Contains(OpenStackRoles(), role) {
			return nil, fmt.Errorf("it names a role that the controller does not know: %q", oneLine(string(role), 40))
		}
		if len(label) != 1 {
			return nil, fmt.Errorf("it has %s for the role %s: want one", count(len(label), "label"), role)
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
			parts = append(parts, string(role)+": "+oneLine(l.String(), 80))
		}
	}
	return strings.Join(parts, ", ")
}

// WithRoles is the node with the roles that the labels give it. Those that are none of the OpenStack controller's stay.
func (n *Node) WithRoles(r RoleLabels) *Node {
	roles := slices.DeleteFunc(slices.Clone(n.Roles), func(role Role) bool { return slices.Contains(OpenStackRoles(), role) })
	roles = append(roles, r.of(n.Labels)...)
	slices.Sort(roles)
	other := *n
	other.Roles = roles
	return &other
}

// of are the roles that a node with these labels has.
func (r RoleLabels) of(labels map[string]string) []Role {
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

// RoleLabelsIn are the labels that hold, and where they are from: the setting of the controller's Deployment where it has one that can be
// read, else what is configured, else the defaults, of which nothing is said.
func RoleLabelsIn(c *Deployment, configured RoleLabels) (labels RoleLabels, from string) {
	if c != nil && c.RoleLabels != "" {
		if read, err := ReadRoleLabels(c.RoleLabels); err == nil {
			return read, "as the Deployment " + oneLine(c.Name, 40) + " says"
		}
	}
	if configured != nil {
		return configured, "as configured"
	}
	return DefaultRoleLabels(), ""
}

// ApplyRoleLabels gives the nodes of an inventory their roles by the labels that hold in its cluster.
func (inv *ClusterInventory) ApplyRoleLabels(configured RoleLabels) {
	if inv.RoleLabels, _ = RoleLabelsIn(inv.Controller, configured); inv.RoleLabels.IsDefault() {
		return
	}
	for i, n := range inv.Nodes {
		inv.Nodes[i].Node = n.WithRoles(inv.RoleLabels)
	}
}

// projectNodes fills in the nodes, with the roles that the labels which hold now give them.
func (w *world) projectNodes(s, prev *Snapshot) {
	s.RoleLabels, s.RoleLabelsFrom = RoleLabelsIn(s.Controller, s.Settings.RoleLabels)
	if prev != nil && !w.dirty[SourceNodes] && maps.Equal(s.RoleLabels, prev.RoleLabels) {
		s.Nodes = prev.Nodes
		return
	}
	s.Nodes = collect(w, SourceNodes, func(n *Node) string { return n.Name })
	if s.RoleLabels.IsDefault() {
		return // by which the adapter has read them
	}
	for name, n := range s.Nodes {
		s.Nodes[name] = n.WithRoles(s.RoleLabels)
	}
}

// RoleLabelsText is the labels of the roles and where they are from; empty where they are the controller's defaults.
func (s *Snapshot) RoleLabelsText() string {
	if len(s.RoleLabels) == 0 || s.RoleLabels.IsDefault() {
		return ""
	}
	return s.RoleLabels.Text() + inBrackets(s.RoleLabelsFrom)
}

// labelOf is the label that gives a node the role.
func (s *Snapshot) labelOf(role Role) RoleLabel {
	if l, ok := s.RoleLabels[role]; ok {
		return l
	}
	return DefaultRoleLabels()[role]
}

// RoleLabelText is the role, with its label where that is not the controller's default.
func (s *Snapshot) RoleLabelText(role Role) string {
	if l, ok := s.RoleLabels[role]; ok && l != DefaultRoleLabels()[role] {
		return string(role) + inBrackets(oneLine(l.String(), 80))
	}
	return string(role)
}

// roleLabels is a setting of the controller's that cannot be read: with it the controller does not start.
func (f *attentionFacts) roleLabels() {
	c := f.s.Controller
	if c == nil || c.RoleLabels == "" || !f.s.known(SourceOpenStackController) {
		return
	}
	_, err := ReadRoleLabels(c.RoleLabels)
	if err == nil {
		return
	}
	f.add(Attention{Rule: RuleRoleLabels, Severity: SeverityWarning, Label: oneLine(c.Name, 40), Resolve: clusterProcedure(),
		Subject: Ref{Kind: KindDeployment, Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		Reason:  "its OSCTL_OPENSTACK_NODE_LABELS cannot be read: " + err.Error(),
		Detail:  "With it the OpenStack controller does not start. Until it is mended Lockstep goes by " + f.s.RoleLabels.Text() + "."})
}
