package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// Preparation is how far a played OpenStack controller has prepared a node.
type Preparation struct {
	Next string // what comes next, as a clause: "begin to prepare it"
	what string // the same in two or three words, for a narrow column
}

// PrepareIt is the next action on a node that is asked for, without details.
const PrepareIt = "you play the OpenStack controller: prepare it"

// PreparationOf is what a played OpenStack controller has to do next on a node that is asked for, or what keeps it from acting.
func PreparationOf(s *core.Snapshot, a core.ActAs, node string) Preparation {
	l := s.NodeLock(node, a.Controller)
	begun := l != nil && l.InnerState == core.InnerActive
	m := MaintenanceOf(s, node)
	if g := GuardNobodyElse(s, a.Controller); !g.Holds {
		return Preparation{"the controller itself is not out of the way: " + g.Answer, "its controller runs"}
	}
	if LacksScope(s.NodeRequest(node)) {
		return Preparation{"its request has no scope: nothing says whether its host may reboot", "request without a scope"}
	}
	if short := QuorumShort(s, node); len(short) > 0 {
		return Preparation{short[0], "quorum too small"}
	}
	svc := s.Services[m.Host]
	if Serviceless(s, node) {
		return Preparation{"Nova shows no nova-compute of its host: whether instances run there is not known", "no compute service"}
	}
	if !begun {
		return Preparation{PrepareIt, "to be prepared"}
	}
	if m.Compute && svc == nil {
		return Preparation{"its nova-compute is not known: " + s.WhyUnknown(core.SourceComputeServices), "not known"}
	}
	if m.Compute && svc.Enabled {
		return Preparation{"its host has to leave scheduling", "to leave scheduling"}
	}
	if bad := VolumesThat(s.VolumeServicesOn(node), true); len(bad) > 0 {
		return Preparation{"its volumes have to leave scheduling: " + wording.OneLine(wording.Some(bad, 2), 120), "to leave scheduling"}
	}
	if AwaitsWord(s, node) {
		next := "it waits for your word: its migration mode is " + wording.OneLine(string(m.Mode), 40)
		if served := ServedShort(s, node); served != "" {
			next += "; " + served + " on it"
		}
		return Preparation{next, "waits for your word"}
	}
	if MovesInstances(s, a, node) {
		if !s.Known(core.SourceInstances) {
			return Preparation{"its instances are not known: " + s.WhyUnknown(core.SourceInstances), "not known"}
		}
		if n := countOn(s, m).blocking; n > 0 {
			return Preparation{wording.Count(n, "instance") + " must leave it or stop first", wording.Count(n, "instance") + " left"}
		}
	}
	return Preparation{"nothing is in the way any more: release its lock", "to be released"}
}
