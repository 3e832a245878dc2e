package sim

import (
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// foundSilent returns the Kubernetes names of running nodes whose network agents were found silent.
func foundSilent(s *scenario.Scenario) []string {
	var names []string
	for _, n := range s.Nodes {
		if len(n.AgentsDown) > 0 && n.Ready == "" { // the agents of a node that is away return with it
			names = append(names, n.Name)
		}
	}
	return names
}

// foundSets returns the StatefulSets that were found, with machines by their Kubernetes names.
func foundSets(s *scenario.Scenario) []controller.FoundSet {
	if s.Found == nil {
		return nil
	}
	var all []controller.FoundSet
	for _, set := range s.Found.StatefulSets {
		found := controller.FoundSet{Namespace: set.Namespace, Name: set.Name, Replicas: set.Replicas}
		for _, pod := range set.Pods {
			node, _ := s.Node(pod.Node)
			found.Members = append(found.Members, controller.FoundMember{Name: pod.Name, Node: node.Name, Down: pod.Down, Waits: pod.Waits})
		}
		all = append(all, found)
	}
	return all
}

// foundDaemons returns the pods of DaemonSets that were found old or down.
func foundDaemons(s *scenario.Scenario) []controller.FoundDaemon {
	if s.Found == nil {
		return nil
	}
	var all []controller.FoundDaemon
	for _, set := range s.Found.DaemonSets {
		for _, pod := range set.Pods {
			node, _ := s.Node(pod.Node)
			all = append(all, controller.FoundDaemon{Namespace: set.Namespace, Set: set.Name, Node: node.Name, Old: pod.Old, Down: pod.Down,
				Waits: pod.Waits})
		}
	}
	return all
}
