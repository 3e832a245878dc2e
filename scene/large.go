package scene

import (
	"fmt"

	"lockstep/core"
)

// Large is a cluster of 2,000 nodes with 3 locks and 50 instances each; one percent of the nodes is in maintenance.
func Large() Scene { return Fleet(2000, 50) }

// Sizes are the numbers of nodes at which benchmarks look at a Fleet.
var Sizes = []int{100, 1_000, 10_000}

// Maintained is the node of a Fleet that is always in maintenance.
const Maintained = "kaas-node-0000"

// Fleet is a cluster of so many computes with 3 locks and so many instances each; one percent of the nodes is in maintenance, and half of
// them are updated.
func Fleet(nodes, instances int) Scene {
	sc := NewScene()
	sc.Update(60 * 60e9)
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	for i := range nodes {
		name := fmt.Sprintf("kaas-node-%04d", i)
		n := sc.Node(name, core.RoleCompute)
		n.ShortName = fmt.Sprintf("cmp-%04d", i)
		if i >= nodes/2 {
			n.KubeletVersion = "v1.31.9"
		}
		sc.Lock(name, core.ControllerCeph, core.LockActive)
		sc.Lock(name, core.ControllerTungstenFabric, core.LockActive)
		if i%100 == 0 {
			sc.Maintained(name, "Waiting servers migration is completed: ['"+IDA+"']")
		}
		list := make([]*core.Instance, instances)
		for k := range list {
			in := &core.Instance{ID: fmt.Sprintf("%08d-0000-4000-8000-%012d", i, k), Name: fmt.Sprintf("vm-%d-%d", i, k), ProjectID: "p1",
				Host:   name,
				Status: "ACTIVE", VMState: "active", Power: core.PowerRunning, TagsKnown: true, Zone: "nova",
				SharedFlavor: &core.Flavor{Name: "m1.medium", VCPUs: 2, RAMMiB: 4 << 10, DiskGiB: 40}}
			if k%10 == 0 {
				in.Tags = []string{"backup=daily", core.TagMaintenanceAction + "notify"}
			}
			sc.Instances.Put(in)
			list[k] = in
		}
		sc.ByHost[name] = list
	}
	return sc
}
