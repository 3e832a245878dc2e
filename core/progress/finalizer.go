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
	if name := bornFinalizer(s); name != "" {
		return name, "as its own objects bear it"
	}
	return core.UsualFinalizer, "the usual one: no object bears one"
}

// bornFinalizer is the finalizer that most of Rockoon's objects bear; empty when none bears one.
func bornFinalizer(s *core.Snapshot) string {
	seen := maps.Clone(saidOf(s).finalizers)
	for _, r := range s.ClusterRequests {
		for _, f := range rockoons(r.Meta, false) {
			seen[f]++
		}
	}
	name := ""
	for f, n := range seen {
		if n > seen[name] || n == seen[name] && f < name {
			name = f
		}
	}
	return name
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

// HeldNode is Rockoon's finalizer that keeps the object of a node that was deleted; empty when it keeps none. Its container `node` takes it
// off once it has seen that (docs/mosk.md#while-it-is-away).
func HeldNode(s *core.Snapshot, n *core.Node) string {
	if n == nil || n.Deleting.IsZero() {
		return ""
	}
	return FinalizerOn(s, n.Meta)
}
