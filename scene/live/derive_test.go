// Package live_test derives what an engine makes of a scene. The packages that derive it cannot have these tests: a test of a package that
// imports live compiles the engine once more, as all that imports the package is compiled anew with its tests.
package live_test

import (
	"testing"
	"testing/synctest"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/scene/live"
)

// perNode is how many instances each node has.
const perNode = 10

func BenchmarkDeriveNodeViews(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		if len(progress.NodeViews(s)) < len(s.Nodes) {
			b.Fatal("nodes are missing")
		}
	})
}

func BenchmarkDerivePhases(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		if len(progress.Phases(s)) == 0 {
			b.Fatal("there are no phases")
		}
	})
}

// A changed lock costs its node's view, however many nodes there are: the views of all others are the ones from before.
func TestOneChangeIsDerivedOfOneNode(t *testing.T) {
	for _, nodes := range []int{50, 500} {
		synctest.Test(t, func(t *testing.T) {
			c := live.Start(t, scene.Fleet(nodes, 1))
			was, now := c.Change(0), c.Change(1)
			for _, v := range progress.NodeViews(now) {
				anew := progress.ViewOf(was, v.Name) != v
				if changed := v.Name == scene.Maintained; anew != changed {
					t.Errorf("of %d nodes, %s in %s is derived anew: %v, want %v", nodes, v.Name, v.Stage, anew, changed)
				}
			}
		})
	}
}

// The plan of one step with a batch: all instances of a node in maintenance are migrated.
func BenchmarkDerivePlan(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		st := step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: scene.Maintained})
		if st.Title == "" || st.Change == nil {
			b.Fatalf("there is no plan: %+v", st)
		}
	})
}

// The steps of a node in maintenance, each of them planned, as its page shows them.
func BenchmarkDeriveProcedure(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		p, ok := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: scene.Maintained})
		if !ok || len(p.Steps) == 0 {
			b.Fatal("there are no steps")
		}
	})
}

func BenchmarkDeriveAttention(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		if len(attention.Of(s)) == 0 {
			b.Fatal("nobody is needed")
		}
	})
}

// The forecast of the nodes in maintenance. A forecast of all nodes is BenchmarkForecastEvacuation.
func BenchmarkDeriveForecast(b *testing.B) {
	facts := map[int]core.EvacuationFacts{} // by the number of nodes
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
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
