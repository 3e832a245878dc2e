package progress

import (
	"maps"
	"strings"

	"lockstep/core"
)

// Finalizer is Rockoon's finalizer, and how Lockstep knows it: from the configuration, else from Rockoon's objects, because releases
// differ, else the usual one.
func Finalizer(s *core.Snapshot) (name, source string) {
	if a, _ := ActAs(s, core.ControllerOpenStack); a.Finalizer != "" {
		return a.Finalizer, "as configured"
	}
	if name := finalizers.After(s, finalizersOf).name; name != "" {
		return name, "as its own objects bear it"
	}
	return core.UsualFinalizer, "the usual one: no object bears one"
}

// bornFinalizers is the finalizer that most of Rockoon's objects bear, and what it was made of.
type bornFinalizers struct {
	name string // empty when none bears one
	of   core.Digest[string]
	seen map[string]int // how many objects of nodes bear each
}

var finalizers core.Derivation[bornFinalizers]

// finalizersOf is made from the nodes of which something has changed: there are thousands of others.
func finalizersOf(s *core.Snapshot, earlier bornFinalizers) bornFinalizers {
	each := core.DeriveByNode(s, earlier.of.ByNode, nil, NodeNames(s), nil, func(s *core.Snapshot, name string) (string, bool) {
		var own []string
		for _, r := range s.NodeRequests[name] {
			own = append(own, rockoons(r.Meta, false)...)
		}
		for _, l := range s.NodeLocks[name] {
			own = append(own, rockoons(l.Meta, l.Controller == core.ControllerOpenStack)...)
		}
		return strings.Join(own, "\n"), false
	})
	b := bornFinalizers{of: core.DigestOf(s, earlier.of, each, func(own string) string { return own }), seen: earlier.seen}
	if !b.of.SameAs(earlier.of) {
		b.seen = map[string]int{}
		for own := range each.All() {
			for f := range strings.SplitSeq(own, "\n") {
				b.seen[f]++
			}
		}
		delete(b.seen, "") // of nodes without any
	}
	seen := maps.Clone(b.seen)
	for _, r := range s.ClusterRequests {
		for _, f := range rockoons(r.Meta, false) {
			seen[f]++
		}
	}
	for f, n := range seen {
		if n > seen[b.name] || n == seen[b.name] && f < b.name {
			b.name = f
		}
	}
	return b
}

// rockoons are the finalizers of an object that are Rockoon's; own tells whether the object can only be Rockoon's.
func rockoons(m core.Meta, own bool) []string {
	var out []string
	for _, f := range m.Finalizers {
		if strings.HasPrefix(f, core.FinalizersOfRockoon) ||
			own && strings.HasPrefix(f, "lcm.mirantis.com/") && strings.HasSuffix(f, "-finalizer") {
			out = append(out, f)
		}
	}
	return out
}

// FinalizerOn is Rockoon's finalizer on an object; empty when there is none.
func FinalizerOn(s *core.Snapshot, m core.Meta) string {
	own, _ := Finalizer(s)
	for _, f := range m.Finalizers {
		if f == own || strings.HasPrefix(f, core.FinalizersOfRockoon) {
			return f
		}
	}
	return ""
}
