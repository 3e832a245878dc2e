package core

import "maps"

// without is the Snapshot as it would be without one operation: a batch must not be in its own way.
func (s *Snapshot) without(operation string) *Snapshot {
	c := s.copyFacts()
	c.Operations = nil
	for _, op := range s.Operations {
		if op.ID != operation {
			c.Operations = append(c.Operations, op)
		}
	}
	return c
}

// withInstances is the Snapshot as it would be if exactly these instances were on the host.
func (s *Snapshot) withInstances(host string, found []*Instance) *Snapshot {
	c := s.copyFacts()
	c.Instances, c.ByHost = maps.Clone(s.Instances), maps.Clone(s.ByHost)
	if c.Instances == nil {
		c.Instances = map[string]*Instance{}
	}
	if c.ByHost == nil {
		c.ByHost = map[string][]*Instance{}
	}
	c.ByHost[host] = found
	for _, in := range found {
		c.Instances[in.ID] = in
	}
	return c
}

// copyFacts is a Snapshot of the same facts, with nothing derived from them yet.
func (s *Snapshot) copyFacts() *Snapshot {
	return &Snapshot{
		Revision: s.Revision, Now: s.Now, Wall: s.Wall, Cluster: s.Cluster, Place: s.Place, Operator: s.Operator, Sources: s.Sources,
		Nodes: s.Nodes, ClusterLocks: s.ClusterLocks, NodeLocks: s.NodeLocks, ClusterRequests: s.ClusterRequests,
		NodeRequests: s.NodeRequests, Deletions: s.Deletions, Disablings: s.Disablings, OpenStack: s.OpenStack,
		Controller: s.Controller, RoleLabels: s.RoleLabels, RoleLabelsFrom: s.RoleLabelsFrom, Pods: s.Pods, Services: s.Services, Instances: s.Instances, ByHost: s.ByHost,
		Migrations: s.Migrations, Agents: s.Agents, Projects: s.Projects, VolumeServices: s.VolumeServices, Volumes: s.Volumes, Management: s.Management, History: s.History, Operations: s.Operations,
		Write: s.Write, Settings: s.Settings,
		DaemonSets: s.DaemonSets, DaemonRevisions: s.DaemonRevisions, DaemonPods: s.DaemonPods, StatefulSets: s.StatefulSets,
		Claims: s.Claims, LocalVolumes: s.LocalVolumes, Deployments: s.Deployments, TempestJob: s.TempestJob,
	}
}
