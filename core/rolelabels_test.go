package core

import (
	"maps"
	"strings"
	"testing"
)

// Shows what the controller's setting OSCTL_OPENSTACK_NODE_LABELS can contain, and what keeps the controller from starting
// (docs/mosk.md#roles).
func TestTheSettingOfTheRoleLabels(t *testing.T) {
	own := RoleLabels{RoleController: {"ctl", "yes"}, RoleCompute: {"openstack-compute-node", "enabled"}, RoleGateway: {"net", ""}}
	for name, tt := range map[string]struct {
		setting string
		want    RoleLabels
		fails   string
	}{
		"one for each": {`{"controller": {"ctl": "yes"}, "compute": {"openstack-compute-node": "enabled"}, "gateway": {"net": ""}}`, own,
			""},
		"two for one": {`{"controller": {"a": "b", "c": "d"}, "compute": {"x": "y"}, "gateway": {"z": "z"}}`, nil,
			"2 labels for the role controller"},
		"a role is missing":   {`{"controller": {"a": "b"}, "compute": {"x": "y"}}`, nil, "no label for the role gateway"},
		"another role":        {`{"storage": {"a": "b"}}`, nil, `does not know: "storage"`},
		"the form of old":     {`{"openstack-compute-node": "enabled"}`, nil, "not JSON"},
		"no JSON":             {`controller: x`, nil, "not JSON"},
		"nothing to speak of": {`{}`, nil, "no label for the role controller"},
	} {
		got, err := ReadRoleLabels(tt.setting)
		if !maps.Equal(got, tt.want) || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
