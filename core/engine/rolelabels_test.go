package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
)

// A node's roles follow the labels that are in force: those of the controller's Deployment, whenever it comes and changes, else
// the configured ones, else the defaults. Roles that are not the controller's stay.
func TestRolesFollowTheLabelsThatHold(t *testing.T) {
	const setting = `{"controller": {"openstack-control-plane": "enabled"}, "compute": {"nova": "yes"}, "gateway": {"openstack-gateway": ` +
		`"enabled"}}`
	node := &core.Node{Meta: core.Meta{Name: "cmp-1"}, Roles: []core.Role{core.RoleGateway, core.RoleStorage},
		Labels: map[string]string{"nova": "yes", "edge": "on", "openstack-gateway": "enabled"}}
	configured := core.DefaultRoleLabels()
	configured[core.RoleController] = core.RoleLabel{Key: "edge", Value: "on"}
	w := newWorld(nil, worldTime)
	tell := func(src core.SourceID, o core.Object) {
		w.apply(core.Delta{Source: src, At: worldTime.Add(time.Second), State: core.SourceLive, Upserts: []core.Object{o}})
	}
	var prev *core.Snapshot
	look := func(settings core.Settings, want ...core.Role) *core.Snapshot {
		t.Helper()
		s := &core.Snapshot{Facts: core.Facts{Settings: settings}}
		w.project(s, prev)
		prev = s
		if got := s.Nodes["cmp-1"].Roles; !slices.Equal(got, want) {
			t.Errorf("its roles are %v, want %v", got, want)
		}
		return s
	}
	tell(core.SourceNodes, node)
	if s := look(core.Settings{}, core.RoleGateway, core.RoleStorage); s.RoleLabelsText() != "" {
		t.Errorf("of the defaults it says %q", s.RoleLabelsText())
	}
	mine := core.Settings{RoleLabels: configured}
	if s := look(mine, core.RoleController, core.RoleGateway,
		core.RoleStorage); s.RoleLabelText(core.RoleController) != "controller (edge=on)" ||
		!strings.Contains(s.RoleLabelsText(), "(as configured)") {
		t.Errorf("it says %q, %q", s.RoleLabelText(core.RoleController), s.RoleLabelsText())
	}
	tell(core.SourceOpenStackController, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, RoleLabels: setting})
	s := look(mine, core.RoleCompute, core.RoleGateway, core.RoleStorage)
	if text := s.RoleLabelsText(); text != "controller: openstack-control-plane=enabled, compute: nova=yes, gateway: "+
		"openstack-gateway=enabled (as the Deployment rockoon says)" {
		t.Errorf("it says %q", text)
	}
	if s.RoleLabelText(core.RoleGateway) != "gateway" || !slices.Equal(node.Roles, []core.Role{core.RoleGateway, core.RoleStorage}) {
		t.Errorf("it says %q; what the adapter told is %v now", s.RoleLabelText(core.RoleGateway), node.Roles)
	}
	tell(core.SourceOpenStackController, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"})
	s = look(mine, core.RoleController, core.RoleGateway, core.RoleStorage)
	if !slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
		return a.ID == "role-labels" && a.Severity == core.SeverityWarning && strings.Contains(a.Reason, "cannot be read")
	}) {
		t.Errorf("nobody is told: %+v", attention.Of(s))
	}
	if inv := (core.ClusterInventory{Nodes: []core.InventoryNode{{Node: node}}, Controller: &core.Deployment{RoleLabels: setting}}); true {
		inv.ApplyRoleLabels(nil)
		if got := inv.Nodes[0].Roles; !slices.Equal(got, []core.Role{core.RoleCompute, core.RoleGateway, core.RoleStorage}) {
			t.Errorf("in an inventory its roles are %v", got)
		}
	}
}
