package progress

import (
	"time"

	"lockstep/core"
)

// Estimates are the documents' times for the parts of an update (docs/mosk.md#maintenance-window): D instances per compute, NC
// computes, NG gateways, NKC masters, NKM workers. Times that depend on the number of nodes are 0 while the nodes are not known.
type Estimates struct {
	d, nc, ng, nkc, nkm int
	unknown             bool // the nodes are not known
}

// EstimatesOf returns the documents' estimates for the cluster.
func EstimatesOf(s *core.Snapshot) Estimates {
	return estimates.Of(s, estimatesOf)
}

var (
	estimates core.Derivation[Estimates]
	counts    core.Derivation[Estimates] // without instances
)

func estimatesOf(s *core.Snapshot) Estimates {
	e := counts.OfFew(s, countsOf)
	if e.nc > 0 && s.Known(core.SourceInstances) {
		e.d = s.Instances.Len() / e.nc
	}
	return e
}

func countsOf(s *core.Snapshot) Estimates {
	e := Estimates{unknown: !s.Known(core.SourceNodes)}
	for _, n := range s.Nodes {
		if n.Is(core.RoleCompute) {
			e.nc++
		}
		if n.Is(core.RoleGateway) {
			e.ng++
		}
		if n.Is(core.RoleMaster) {
			e.nkc++
		} else {
			e.nkm++
		}
	}
	return e
}

func minutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }

// counted returns n minutes for a number that was made of numbers of nodes; 0 while the nodes are not known.
func (e Estimates) counted(n float64) time.Duration {
	if e.unknown {
		return 0
	}
	return minutes(n)
}

// OpenStack is the time of the life-cycle management modules (45) and of the OpenStack components: (0.78 D + 359)(NC + NG)/60.
func (e Estimates) OpenStack() time.Duration {
	return e.counted(45 + (0.78*float64(e.d)+359)*float64(e.nc+e.ng)/60)
}

// Ceph is the time of a minor version (35 + 15); a major one takes 50 as well.
func (e Estimates) Ceph() time.Duration { return minutes(50) }

// Modules is the time of the life-cycle management modules alone.
func (e Estimates) Modules() time.Duration { return minutes(45) }

// Services is the time of the second phase, OpenStack and Ceph; 0 while the nodes are not known.
func (e Estimates) Services() time.Duration {
	if e.unknown {
		return 0
	}
	return e.OpenStack() + e.Ceph()
}

// Masters is the time of the host OS, one master after the other (15 NKC), and of Kubernetes (40).
func (e Estimates) Masters() time.Duration { return e.counted(15*float64(e.nkc) + 40) }

// Workers is the time of the instances' migration (20 NC) and of each worker's update and restart (40 NKM), one after the other.
func (e Estimates) Workers() time.Duration { return e.counted(20*float64(e.nc) + 40*float64(e.nkm)) }

// Worker is the time of one worker: 20 for its instances, 40 for its update and restart.
func (e Estimates) Worker() time.Duration { return minutes(20 + 40) }

// Finish is the time of the auxiliary components (docs/mosk.md#maintenance-window).
func (e Estimates) Finish() time.Duration { return minutes(60) }

// Whole is the time of the whole update, one node after the other; 0 while the nodes are not known.
func (e Estimates) Whole() time.Duration {
	if e.unknown {
		return 0
	}
	return e.Services() + e.Masters() + e.Workers() + e.Finish()
}

// Phase is the time of a phase; 0 for one that the documents give none, or while the nodes are not known.
func (e Estimates) Phase(id core.PhaseID) time.Duration {
	switch {
	case e.unknown:
	case id == core.PhaseServices:
		return e.Services()
	case id == core.PhaseMasters:
		return e.Masters()
	case id == core.PhaseWorkers:
		return e.Workers()
	case id == core.PhaseFinish:
		return e.Finish()
	}
	return 0
}

// of is the estimate for one controller's cluster lock; 0 when the documents give none.
func (e Estimates) of(controller string) time.Duration {
	switch controller {
	case core.ControllerOpenStack:
		return e.OpenStack()
	case core.ControllerCeph:
		return e.Ceph()
	}
	return 0
}

// Inputs are the numbers that the documents' formula is made of (docs/mosk.md#maintenance-window).
type Inputs struct {
	Density  int // D: instances per compute; 0 when the instances are not known
	Computes int // NC
	Gateways int // NG
	Masters  int // NKC
	Workers  int // NKM: nodes of all roles that are no masters
	Known    bool
}

// Inputs are the formula's numbers for this cluster.
func (e Estimates) Inputs() Inputs {
	return Inputs{Density: e.d, Computes: e.nc, Gateways: e.ng, Masters: e.nkc, Workers: e.nkm, Known: !e.unknown}
}

// Master is the time of one master's host OS; Kubernetes on all of them comes after it (MastersKubernetes).
func (e Estimates) Master() time.Duration { return minutes(15) }

// MastersKubernetes is the time of Kubernetes on the masters, all at once.
func (e Estimates) MastersKubernetes() time.Duration { return minutes(40) }

// WorkerOf is the time of one worker: 40 for its update and restart, and 20 for the instances of a compute.
func (e Estimates) WorkerOf(compute bool) time.Duration {
	if compute {
		return e.Worker()
	}
	return minutes(40)
}
