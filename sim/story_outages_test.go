//go:build !race

package sim_test

import (
	"testing"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
	"lockstep/sim/switchboard"
)

// fault returns the state of a fault of the scenario.
func (s *told) fault(server fault.Server, kind string) switchboard.State {
	s.t.Helper()
	for _, st := range s.Faults.States() {
		if st.Server == server && st.Kind == kind {
			return st
		}
	}
	s.t.Fatalf("there is no fault %s of %s", kind, server)
	return switchboard.State{}
}

// outage waits until a server's outage has begun.
func (s *told) outage(server fault.Server, kind string) {
	s.t.Helper()
	s.until(string(server)+" is away", func() bool { return s.fault(server, kind).On })
}

// over waits until the outage has ended and the node is nevertheless done.
func (s *told) over(server fault.Server, kind string) {
	s.t.Helper()
	s.until(string(server)+" is back", func() bool { return !s.fault(server, kind).On })
	s.until("cmp-01 is updated", func() bool { return s.updated("cmp-01") })
}

// on returns the instances on a machine, from Nova.
func (s *told) on(machine string) []openstack.ServerState {
	return s.OpenStack.ServersOn(s.name(machine))
}

func TestOutageOfKubernetes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		story, err := scenario.Load("outage-kubernetes")
		if err != nil {
			t.Fatal(err)
		}
		s := prepare(t, sim.Options{Scenario: story})
		if left := len(s.on("cmp-01")); left != 4 {
			t.Errorf("%d instances at the start", left)
		}
		s.Clock.Resume()
		s.outage(fault.Kubernetes, "refused")
		s.until("the API is back", func() bool { return !s.fault(fault.Kubernetes, "refused").On })
		version := s.node("cmp-01").Status.NodeInfo.KubeletVersion
		if left := len(s.on("cmp-01")); left == 0 || version != s.Scenario.Kubelet.From {
			t.Errorf("when the API is back, the node runs kubelet %s and has %d instances: somebody went on without it", version, left)
		}
		s.over(fault.Kubernetes, "refused")
		if left := len(s.on("cmp-01")); left != 0 {
			t.Errorf("%d instances are left", left)
		}
	})
}

func TestOutageOfNova(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "outage-nova")
		s.outage(fault.Compute, "503")
		s.until("the controller meets it", func() bool { return s.fault(fault.Compute, "503").Met > 0 })
		if len(s.on("cmp-01")) == 0 {
			t.Error("there was nothing left to move")
		}
		if lock := s.nodeLock("openstack", "cmp-01"); field(lock, "status", "state") != "active" {
			t.Error("the lock is released, and nobody knows what is on the host")
		}
		s.over(fault.Compute, "503")
	})
}

func TestOutageOfKeystone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "outage-keystone")
		s.outage(fault.Identity, "503")
		s.until("somebody cannot log in", func() bool { return s.fault(fault.Identity, "503").Met > 0 })
		s.over(fault.Identity, "503")
	})
}

func TestOutageOfTheManagementCluster(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "outage-management")
		s.outage(fault.Management, "refused")
		if s.Management == nil {
			t.Fatal("there is no management cluster")
		}
		// The cluster's own controllers continue.
		s.until("cmp-01 is empty, or through", func() bool { return len(s.on("cmp-01")) == 0 || s.updated("cmp-01") })
		if !s.fault(fault.Management, "refused").On {
			t.Error("cmp-01 was emptied only after the outage")
		}
		s.over(fault.Management, "refused")
	})
}
