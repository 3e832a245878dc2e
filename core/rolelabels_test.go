package core

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the controller's setting OSCTL_OPENSTACK_NODE_LABELS can say, and what keeps the controller from starting
// (docs/mosk.md#roles).
func TestTheSettingOfTheRoleLabels(t *testing.T) {
	own := RoleLabels{RoleController: {"ctl", "yes"}, RoleCompute: {"openstack-compute-node", "enabled"}, RoleGateway: {"net", ""}}
	for name, tt := range map[string]struct {
		setting string
		want    RoleLabels
		fails   string
	}{
		"one for each":        {`{"controller": {"ctl": "yes"}, "compute": {"openstack-compute-node": "enabled"}, "gateway": {"net": ""}}`, own, ""},
		"two for one":         {`{"controller": {"a": "b", "c": "d"}, "compute": {"x": "y"}, "gateway": {"z": "z"}}`, nil, "2 labels for the role controller"},
		"a role is missing":   {`{"controller": {"a": "b"}, "compute": {"x": "y"}}`, nil, "no label for the role gateway"},
		"another role":        {`{"storage": {"a": "b"}}`, nil, `does not know: "storage"`},
		"the form of old":     {`{"openstack-compute-node": "enabled"}`, nil, "no JSON"},
		"no JSON":             {`controller: x`, nil, "no JSON"},
		"nothing to speak of": {`{}`, nil, "no label for the role controller"},
	} {
		got, err := ReadRoleLabels(tt.setting)
		if !maps.Equal(got, tt.want) || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A node's roles follow the labels that hold: those of the controller's Deployment, whenever it comes and changes, else the
// configured ones, else the defaults. What is none of the controller's roles stays.
func TestRolesFollowTheLabelsThatHold(t *testing.T) {
	const setting = `{"controller": {"openstack-control-plane": "enabled"}, "compute": {"nova": "yes"}, "gateway": {"openstack-gateway": "enabled"}}`
	node := &Node{Meta: Meta{Name: "cmp-1"}, Roles: []Role{RoleGateway, RoleStorage}, Labels: map[string]string{"nova": "yes", "edge": "on", "openstack-gateway": "enabled"}}
	configured := DefaultRoleLabels()
	configured[RoleController] = RoleLabel{"edge", "on"}
	w := newWorld(nil, worldTime)
	tell := func(src SourceID, o Object) {
		w.apply(Delta{Source: src, At: worldTime.Add(time.Second), State: SourceLive, Upserts: []Object{o}})
	}
	var prev *Snapshot
	look := func(settings Settings, want ...Role) *Snapshot {
		t.Helper()
		s := &Snapshot{Facts: Facts{Settings: settings}}
		w.project(s, prev)
		prev = s
		if got := s.Nodes["cmp-1"].Roles; !slices.Equal(got, want) {
			t.Errorf("its roles are %v, want %v", got, want)
		}
		return s
	}
	tell(SourceNodes, node)
	if s := look(Settings{}, RoleGateway, RoleStorage); s.RoleLabelsText() != "" {
		t.Errorf("of the defaults it says %q", s.RoleLabelsText())
	}
	mine := Settings{RoleLabels: configured}
	if s := look(mine, RoleController, RoleGateway, RoleStorage); s.RoleLabelText(RoleController) != "controller (edge=on)" || !strings.Contains(s.RoleLabelsText(), "(as configured)") {
		t.Errorf("it says %q, %q", s.RoleLabelText(RoleController), s.RoleLabelsText())
	}
	tell(SourceOpenStackController, &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: 1, RoleLabels: setting})
	s := look(mine, RoleCompute, RoleGateway, RoleStorage)
	if text := s.RoleLabelsText(); text != "controller: openstack-control-plane=enabled, compute: nova=yes, gateway: openstack-gateway=enabled (as the Deployment rockoon says)" {
		t.Errorf("it says %q", text)
	}
	if s.RoleLabelText(RoleGateway) != "gateway" || !slices.Equal(node.Roles, []Role{RoleGateway, RoleStorage}) {
		t.Errorf("it says %q; what the adapter told is %v now", s.RoleLabelText(RoleGateway), node.Roles)
	}
	tell(SourceOpenStackController, &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"})
	s = look(mine, RoleController, RoleGateway, RoleStorage)
	if !slices.ContainsFunc(s.Attention(), func(a Attention) bool {
		return a.ID == "role-labels" && a.Severity == SeverityWarning && strings.Contains(a.Reason, "cannot be read")
	}) {
		t.Errorf("nobody is told: %+v", s.Attention())
	}
	if inv := (ClusterInventory{Nodes: []InventoryNode{{Node: node}}, Controller: &Deployment{RoleLabels: setting}}); true {
		inv.ApplyRoleLabels(nil)
		if got := inv.Nodes[0].Roles; !slices.Equal(got, []Role{RoleCompute, RoleGateway, RoleStorage}) {
			t.Errorf("in an inventory its roles are %v", got)
		}
	}
}
