package core

// preparation is how far the preparation of a node is by the OpenStack controller that Lockstep plays.
type preparation struct {
	next string // what comes next, as a clause: "begin to prepare it"
	what string // the same in two or three words, for a narrow column
}

// prepareIt is what comes next on a node that is asked for, and nothing more.
const prepareIt = "you play the OpenStack controller: prepare it"

// preparationOf is what the played OpenStack controller has to do next on a node that is asked for, or what keeps it from doing
// anything.
func (s *Snapshot) preparationOf(a ActAs, node string) preparation {
	l := s.NodeLock(node, a.Controller)
	begun := l != nil && l.InnerState == InnerActive
	m := s.maintenanceOf(node)
	if g := s.guardNobodyElse(a); !g.Holds {
		return preparation{"the controller itself is not out of the way: " + g.Answer, "its controller runs"}
	}
	if lacksScope(s.NodeRequest(node)) {
		return preparation{"its request has no scope: nothing says whether its host may reboot", "request without a scope"}
	}
	if short := s.quorumShort(node); len(short) > 0 {
		return preparation{short[0], "quorum too small"}
	}
	svc := s.Services[m.host]
	if s.serviceless(node) {
		return preparation{"Nova shows no nova-compute of its host: whether instances run there is not known", "no compute service"}
	}
	if !begun {
		return preparation{prepareIt, "to be prepared"}
	}
	if m.compute && svc == nil {
		return preparation{"its nova-compute is not known: " + s.whyUnknown(SourceComputeServices), "not known"}
	}
	if m.compute && svc.Enabled {
		return preparation{"its host has to leave scheduling", "to leave scheduling"}
	}
	if bad := volumesThat(s.VolumeServicesOn(node), true); len(bad) > 0 {
		return preparation{"its volumes have to leave scheduling: " + oneLine(some(bad, 2), 120), "to leave scheduling"}
	}
	if s.awaitsWord(node) {
		next := "it waits for your word: its migration mode is " + oneLine(string(m.mode), 40)
		if served := s.servedShort(node); served != "" {
			next += "; " + served + " on it"
		}
		return preparation{next, "waits for your word"}
	}
	if s.movesInstances(a, node) {
		if !s.known(SourceInstances) {
			return preparation{"its instances are not known: " + s.whyUnknown(SourceInstances), "not known"}
		}
		if n := s.countOn(m).blocking; n > 0 {
			return preparation{count(n, "instance") + " must leave it or stop first", count(n, "instance") + " left"}
		}
	}
	return preparation{"nothing is in the way any more: release its lock", "to be released"}
}
