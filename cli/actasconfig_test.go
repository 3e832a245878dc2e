package cli

import (
	"slices"
	"testing"

	"lockstep/core"
)

// The configuration of a played controller determines how it is played. The OpenStack controller needs only its name.
func TestAPlayedControllerIsAsTheConfigurationSays(t *testing.T) {
	withConfig(t, `
actAs: [openstack, stacklight]
controllers:
  openstack: {oneByOne: true, absent: true}
  stacklight: {nodes: "stacklight=enabled", namespace: stacklight}
`)
	o := options{}
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
	all, selectors, err := o.played()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if a := all[0]; a.Controller != core.ControllerOpenStack || !a.OneByOne || !a.Absent || a.Namespace != "openstack" ||
		!slices.Equal(a.Roles, []core.Role{core.RoleController, core.RoleCompute, core.RoleGateway}) {
		t.Errorf("%+v", a)
	}
	if a := all[1]; a.OneByOne || a.Absent || a.Namespace != "stacklight" || len(a.Roles) > 0 ||
		selectors["stacklight"].String() != "stacklight=enabled" {
		t.Errorf("%+v, %v", a, selectors)
	}
}
