package openstack_test

import (
	"testing"
	"time"

	"lockstep/sim/openstack"
)

func TestAHostThatComesBackSilent(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	for _, do := range []func(string) error{w.HoldAgents, w.HoldCompute, w.PowerOffHost} {
		if err := do("n1"); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(3 * time.Minute)
	if err := w.PowerOnHost("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(3 * time.Minute)
	up := func() bool { return w.computeServices(w.compute("sim", "2.53"))["n1"].State == "up" }
	alive := func() bool { return w.agents("n1")["neutron-openvswitch-agent"] }
	if up() || alive() {
		t.Errorf("nova-compute is up: %v, the agent is alive: %v", up(), alive())
	}
	for _, do := range []func(string) error{w.StartAgents, w.StartCompute} {
		if err := do("n1"); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(time.Minute)
	if !up() || !alive() {
		t.Errorf("nova-compute is up: %v, the agent is alive: %v", up(), alive())
	}
	if err := w.StopAgents("n1"); err != nil || alive() {
		t.Errorf("agents that were stopped are alive (%v)", err)
	}
}
