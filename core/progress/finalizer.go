package progress

import (
	"strings"

	"lockstep/core"
)

// Finalizer is Rockoon's finalizer, and how Lockstep knows it: from the configuration, else from Rockoon's objects, because releases
// differ, else the usual one.
func Finalizer(s *core.Snapshot) (name, source string) {
	if a, _ := ActAs(s, core.ControllerOpenStack); a.Finalizer != "" {
		return a.Finalizer, "as configured"
	}
	seen := map[string]int{}
	note := func(m core.Meta, own bool) {
		for _, f := range m.Finalizers {
			if strings.HasPrefix(f, core.FinalizersOfRockoon) ||
				own && strings.HasPrefix(f, "lcm.mirantis.com/") && strings.HasSuffix(f, "-finalizer") {
				seen[f]++
			}
		}
	}
	for _, list := range s.NodeRequests {
		for _, r := range list {
			note(r.Meta, false)
		}
	}
	for _, r := range s.ClusterRequests {
		note(r.Meta, false)
	}
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			note(l.Meta, l.Controller == core.ControllerOpenStack)
		}
	}
	for f, n := range seen {
		if n > seen[name] || n == seen[name] && f < name {
			name = f
		}
	}
	if name != "" {
		return name, "as its own objects bear it"
	}
	return core.UsualFinalizer, "the usual one: no object bears one"
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
