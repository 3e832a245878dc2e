package core

import ()

// NodeName is the name of the node that the instance is on; empty when there is none.
func (v InstanceView) NodeName(s *Snapshot) string {
	if n := s.NodeOfHost(v.Instance.Host); n != nil {
		return n.Name
	}
	return ""
}
