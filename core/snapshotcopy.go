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
	return &Snapshot{Facts: s.Facts}
}
