package openstack_test

import (
	"slices"
	"testing"

	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/agents"

	"lockstep/sim/openstack"
)

// The routers and networks of L3 and DHCP agents, and their moves, as an administrator's client sees them.
func TestWhatTheAgentsServeIsMoved(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	w.server("web", openstack.ServerSpec{})
	if err := w.AddGateway("gw2"); err != nil {
		t.Fatal(err)
	}
	if err := w.AddRouter(openstack.RouterSpec{Name: "shop", Project: "demo", Hosts: []string{"gw1"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.AddRouter(openstack.RouterSpec{Name: "lost", Project: "demo", Hosts: []string{"n1"}}); err == nil {
		t.Error("a host without an L3 agent serves a router")
	}
	p, endpoint, err := w.provider("sim")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewNetworkV2(p, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	agent := func(host, kind string) string {
		t.Helper()
		pages, err := agents.List(c, agents.ListOpts{Host: host, AgentType: kind}).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list, err := agents.ExtractAgents(pages)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d agents: %v", len(list), err)
		}
		return list[0].ID
	}
	routers := func(id string) (names []string) {
		t.Helper()
		list, err := agents.ListL3Routers(t.Context(), c, id).Extract()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			names = append(names, r.Name)
		}
		return names
	}
	first, second := agent("gw1", "L3 agent"), agent("gw2", "L3 agent")
	all, err := agents.ListL3Routers(t.Context(), c, first).Extract()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if err := agents.ScheduleL3Router(t.Context(), c, second, agents.ScheduleL3RouterOpts{RouterID: all[0].ID}).ExtractErr(); err == nil {
		t.Error("a router without HA is on two agents")
	}
	if err := agents.RemoveL3Router(t.Context(), c, first, all[0].ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if err := agents.ScheduleL3Router(t.Context(), c, second, agents.ScheduleL3RouterOpts{RouterID: all[0].ID}).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if len(routers(first)) != 0 || !slices.Equal(routers(second), []string{"shop"}) {
		t.Errorf("the routers are on %q and %q", routers(first), routers(second))
	}
	dhcp := agent("gw1", "DHCP agent")
	networks, err := agents.ListDHCPNetworks(t.Context(), c, dhcp).Extract()
	if err != nil || len(networks) != 1 {
		t.Fatalf("%v, %v", networks, err)
	}
	if err := agents.RemoveDHCPNetwork(t.Context(), c, dhcp, networks[0].ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if networks, err = agents.ListDHCPNetworks(t.Context(), c, dhcp).Extract(); err != nil || len(networks) != 0 {
		t.Errorf("after it %v, %v", networks, err)
	}
}
