package attention

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// lockOf is the lock that an entry is about: the lock itself, or the OpenStack controller's on its node.
func (f *facts) lockOf(a core.Attention) *core.WorkloadLock {
	if a.Subject.Kind == core.KindClusterWorkloadLock || a.Subject.Kind == core.KindNodeWorkloadLock {
		if l := step.LockByUID(f.s, a.Subject.UID); l != nil {
			return l
		}
	}
	if a.Node == "" {
		return nil
	}
	return f.s.NodeLock(a.Node, core.ControllerOpenStack)
}

// playedLock is the lock of the played controller that an entry is about.
func (f *facts) playedLock(a core.Attention) *core.WorkloadLock {
	if a.Node == "" {
		return f.s.ClusterLock(a.Controller)
	}
	return f.s.NodeLock(a.Node, a.Controller)
}

// machineOf is the machine that an entry is about; nil when none is known.
func (f *facts) machineOf(a core.Attention) *core.MachineView {
	if a.Subject.Kind == core.KindMachine || a.Subject.Kind == core.KindLCMMachine {
		if v := f.s.Management.MachineCalled(a.Subject.Name); v != nil {
			return v
		}
	}
	if a.Node == "" {
		return nil
	}
	return progress.MachineOf(f.s, a.Node)
}

// sourcesOf are the sources that an entry is about.
func (f *facts) sourcesOf(a core.Attention) []core.Source {
	var out []core.Source
	for id, src := range f.s.Sources {
		if string(id) == a.Subject.Name || string(id.Server()) == a.Subject.Name && src.State != core.SourceLive {
			out = append(out, src)
		}
	}
	slices.SortFunc(out, func(a, b core.Source) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// operationOf is the operation that an entry is about; nil when there is none any more.
func (f *facts) operationOf(a core.Attention) *core.Operation {
	for i := range f.s.Operations {
		if f.s.Operations[i].ID == a.Operation {
			return &f.s.Operations[i]
		}
	}
	return nil
}
