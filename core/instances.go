package core

import (
	"iter"
	"maps"
)

// Instances are instances by ID. A cloud has 100,000 of them, and a handful change between two Snapshots: these share all the parts in
// which nothing has changed. The zero value is empty.
type Instances struct {
	parts []map[string]*Instance // by partOf; empty, or all
}

// instanceParts is how many parts there are: a change copies one of them, of a hundred instances in a large cloud.
const instanceParts = 1024

func partOf(id string) int {
	h := uint32(2166136261) // FNV-1a
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return int(h % instanceParts)
}

// At is the instance with the ID; nil when there is none.
func (m Instances) At(id string) *Instance {
	if len(m.parts) == 0 {
		return nil
	}
	return m.parts[partOf(id)][id]
}

// Len is how many there are.
func (m Instances) Len() int {
	n := 0
	for _, part := range m.parts {
		n += len(part)
	}
	return n
}

// All are all of them, in no order.
func (m Instances) All() iter.Seq2[string, *Instance] {
	return func(yield func(string, *Instance) bool) {
		for _, part := range m.parts {
			for id, in := range part {
				if !yield(id, in) {
					return
				}
			}
		}
	}
}

// With are the instances after some have changed, by ID; nil for one that is gone. Those before are left as they are.
func (m Instances) With(changed map[string]*Instance) Instances {
	out := Instances{parts: make([]map[string]*Instance, instanceParts)}
	copy(out.parts, m.parts)
	own := [instanceParts]bool{}
	for id, in := range changed {
		i := partOf(id)
		if !own[i] {
			own[i] = true
			if out.parts[i] = maps.Clone(out.parts[i]); out.parts[i] == nil {
				out.parts[i] = map[string]*Instance{}
			}
		}
		if in == nil {
			delete(out.parts[i], id)
		} else {
			out.parts[i][id] = in
		}
	}
	return out
}

// Put adds an instance, or replaces it, for those who make a Snapshot's facts: it changes the Instances themselves.
func (m *Instances) Put(in *Instance) {
	if len(m.parts) == 0 {
		m.parts = make([]map[string]*Instance, instanceParts)
	}
	i := partOf(in.ID)
	if m.parts[i] == nil {
		m.parts[i] = map[string]*Instance{}
	}
	m.parts[i][in.ID] = in
}

// Remove takes an instance out, as Put adds one.
func (m *Instances) Remove(id string) {
	if len(m.parts) > 0 {
		delete(m.parts[partOf(id)], id)
	}
}
