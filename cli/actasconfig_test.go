package cli

import (
	"path/filepath"
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
	o.Journal, o.Kubeconfig, o.NoCloud = t.TempDir(), filepath.Join(t.TempDir(), "none"), "not in this test"
	if _, err := o.open(t.Context(), ownLog(t)); err != nil {
		t.Fatal(err)
	}
	all, selectors := o.Settings.ActAs, o.Selectors
	if len(all) != 2 {
		t.Fatalf("%+v", all)
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
