package core

import (
	"maps"
)

// Without is the Snapshot without one operation, so that a batch does not block its own items.
func (s *Snapshot) Without(operation string) *Snapshot {
	c := s.CopyFacts()
	c.Operations = nil
	for _, op := range s.Operations {
		if op.ID != operation {
			c.Operations = append(c.Operations, op)
		}
	}
	return c
}

// WithInstances is the Snapshot as it would be if exactly these instances were on the host.
func (s *Snapshot) WithInstances(host string, found []*Instance) *Snapshot {
	c := s.CopyFacts()
	c.ByHost = maps.Clone(s.ByHost)
	if c.ByHost == nil {
		c.ByHost = map[string][]*Instance{}
	}
	c.ByHost[host] = found
	c.Instances = s.Instances.With(found, nil)
	return c
}

// CopyFacts is a Snapshot of the same facts, with nothing derived from them yet.
func (s *Snapshot) CopyFacts() *Snapshot {
	return &Snapshot{Facts: s.Facts}
}
