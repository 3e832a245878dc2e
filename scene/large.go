package scene

import (
	"fmt"

	"lockstep/core"
)

// Large is a cluster of 2,000 nodes with 3 locks and 50 instances each; one percent of the nodes is in maintenance.
func Large() Scene {
	sc := NewScene()
	sc.Update(60 * 60e9)
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	for i := range 2000 {
		name := fmt.Sprintf("kaas-node-%04d", i)
		n := sc.Node(name, core.RoleCompute)
		n.ShortName = fmt.Sprintf("cmp-%04d", i)
		if i >= 1000 {
			n.KubeletVersion = "v1.31.9"
		}
		sc.Lock(name, core.ControllerCeph, core.LockActive)
		sc.Lock(name, core.ControllerTungstenFabric, core.LockActive)
		if i%100 == 0 {
			sc.Maintained(name, "Waiting servers migration is completed: ['"+IDA+"']")
		}
		list := make([]*core.Instance, 50)
		for k := range list {
			in := &core.Instance{ID: fmt.Sprintf("%08d-0000-4000-8000-%012d", i, k), Name: fmt.Sprintf("vm-%d-%d", i, k), ProjectID: "p1",
				Host:   name,
				Status: "ACTIVE", VMState: "active", Power: core.PowerRunning, TagsKnown: true, Zone: "nova"}
			if k%10 == 0 {
				in.Tags = []string{"backup=daily", core.TagMaintenanceAction + "notify"}
			}
			sc.Instances[in.ID], list[k] = in, in
		}
		sc.ByHost[name] = list
	}
	return sc
}
