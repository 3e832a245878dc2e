package core

import (
	"fmt"
	"testing"
)

// large is 2,000 nodes with 3 locks each, and 50 instances on every one; one percent of the nodes is in maintenance.
func large() scene {
	sc := newScene()
	sc.update(60 * 60e9)
	sc.lock("", ControllerOpenStack, LockInactive)
	for i := range 2000 {
		name := fmt.Sprintf("kaas-node-%04d", i)
		n := sc.node(name, RoleCompute)
		n.ShortName = fmt.Sprintf("cmp-%04d", i)
		if i >= 1000 {
			n.KubeletVersion = "v1.31.9"
		}
		sc.lock(name, ControllerCeph, LockActive)
		sc.lock(name, ControllerTungstenFabric, LockActive)
		if i%100 == 0 {
			sc.maintained(name, "Waiting servers migration is completed: ['"+idA+"']")
		}
		list := make([]*Instance, 50)
		for k := range list {
			in := &Instance{ID: fmt.Sprintf("%08d-0000-4000-8000-%012d", i, k), Name: fmt.Sprintf("vm-%d-%d", i, k), ProjectID: "p1", Host: name,
				Status: "ACTIVE", VMState: "active", Power: PowerRunning, TagsKnown: true, Zone: "nova"}
			if k%10 == 0 {
				in.Tags = []string{"backup=daily", TagMaintenanceAction + "notify"}
			}
			sc.Instances[in.ID], list[k] = in, in
		}
		sc.ByHost[name] = list
	}
	return sc
}

func BenchmarkNodeViews(b *testing.B) {
	sc := large()
	b.ReportAllocs()
	for b.Loop() {
		nodeViewsOf(sc.Snapshot)
	}
}

func BenchmarkAttention(b *testing.B) {
	sc := large()
	b.ReportAllocs()
	for b.Loop() {
		sc.again().Attention()
	}
}

func BenchmarkUpdate(b *testing.B) {
	sc := large()
	b.ReportAllocs()
	for b.Loop() {
		sc.again().Update()
	}
}

func BenchmarkPhases(b *testing.B) {
	sc := large()
	b.ReportAllocs()
	for b.Loop() {
		sc.again().Phases()
	}
}
