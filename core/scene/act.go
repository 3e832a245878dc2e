package scene

import (
	"lockstep/core"
)

// HeldBy is how requests bear the finalizer of an OpenStack controller that has seen them.
var HeldBy = []string{core.UsualFinalizer}

// PlaysOpenStack are settings with which Lockstep plays the OpenStack controller, one compute at a time.
func PlaysOpenStack() core.Settings {
	s := core.DefaultSettings()
	s.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack, Roles: []core.Role{core.RoleController, core.RoleCompute, core.RoleGateway},
		Namespace: "openstack"}}
	s.MaxParallelNodes[core.RoleCompute] = 1
	return s
}
