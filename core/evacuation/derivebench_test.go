package evacuation_test

import (
	"testing"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/scene/live"
)

// The forecast of the nodes in maintenance. A forecast of all nodes is BenchmarkForecastEvacuation.
func BenchmarkDeriveForecast(b *testing.B) {
	facts := map[int]core.EvacuationFacts{} // by the number of nodes
	live.Derive(b, 10, func(b *testing.B, s *core.Snapshot) {
		if _, known := facts[len(s.Nodes)]; !known {
			facts[len(s.Nodes)] = placement(s)
		}
		var nodes []string
		for name := range s.NodeRequests {
			nodes = append(nodes, name)
		}
		p, err := evacuation.NewForecast(s, facts[len(s.Nodes)], evacuation.Request{Nodes: nodes})
		if err != nil || p.Counts.Instances == 0 {
			b.Fatal(p.Counts, err)
		}
	})
}

// placement is what Placement knows of the Snapshot's hosts: each has room for three times its instances.
func placement(s *core.Snapshot) core.EvacuationFacts {
	facts := core.EvacuationFacts{Microversion: 93, Traits: map[string][]string{}}
	for host, instances := range s.ByHost {
		inv := core.HostInventory{Host: host, Allocations: map[string]map[string]int{}, Classes: map[string]core.ClassInventory{
			"VCPU": {Total: 64, MaxUnit: 64, Ratio: 4}, "MEMORY_MB": {Total: 120 << 10, MaxUnit: 120 << 10, Ratio: 1},
			"DISK_GB": {Total: 4000, MaxUnit: 4000, Ratio: 1},
		}}
		for _, in := range instances {
			f := in.Flavor()
			inv.Allocations[in.ID] = map[string]int{"VCPU": f.VCPUs, "MEMORY_MB": f.RAMMiB, "DISK_GB": f.DiskGiB}
		}
		facts.Inventories = append(facts.Inventories, inv)
	}
	return facts
}
