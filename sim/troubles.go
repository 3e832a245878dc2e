package sim

import (
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// troubles returns a scenario's troubles, with machines by their Kubernetes names.
func troubles(s *scenario.Scenario) []controller.Trouble {
	var all []controller.Trouble
	for _, t := range s.Troubles {
		node, _ := s.Node(t.Node)
		all = append(all, controller.Trouble{Kind: t.Kind, Node: node.Name, Service: t.Service, Workload: t.Workload,
			At: t.At.Of(), OnReturn: t.OnReturn, AfterUpdate: t.AfterUpdate, For: t.For.Of(), Log: t.Log, Event: t.Event})
	}
	return all
}

// strangers returns the scenario's application controllers that do not belong to MOSK.
func strangers(s *scenario.Scenario) []controller.ThirdParty {
	var all []controller.ThirdParty
	for _, c := range s.Controllers {
		other := controller.ThirdParty{Name: c.Name, Nodes: s.NodesOf(c), Takes: c.Takes.Of(), Progress: c.Progress,
			Error: c.Error, Times: c.Times, Silent: c.Silent}
		if c.Cluster {
			other.Cluster = s.Cluster
		}
		for _, machine := range c.Failing {
			if n, ok := s.Node(machine); ok {
				other.Failing = append(other.Failing, n.Name)
			}
		}
		all = append(all, other)
	}
	return all
}
