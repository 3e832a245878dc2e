package scene

import (
	"lockstep/core"
)

// HeldBy are the finalizers of a request that an OpenStack controller has seen.
var HeldBy = []string{core.UsualFinalizer}

// PlaysOpenStack are settings with which Lockstep plays the OpenStack controller, one compute at a time.
func PlaysOpenStack() core.Settings {
	s := core.DefaultSettings()
	s.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack, Roles: []core.Role{core.RoleController, core.RoleCompute, core.RoleGateway},
		Namespace: "openstack"}}
	s.MaxParallelNodes[core.RoleCompute] = 1
	return s
}
