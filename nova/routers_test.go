package nova

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// What L3 and DHCP agents serve is read for the named hosts only, also for hosts that are not in focus. It follows moves; and when
// Neutron does not tell this login, the agents are still known.
func TestSimWhatTheAgentsOfAGatewayServe(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1", ID: "web-1"})
		if err := errors.Join(cloud.AddGateway("gtw-1"), cloud.AddGateway("gtw-2"),
			cloud.AddRouter(openstack.RouterSpec{Name: "shop", Project: "demo", Hosts: []string{"gtw-1"}}),
			cloud.AddRouter(openstack.RouterSpec{Name: "pair", Project: "demo", HA: true, Hosts: []string{"gtw-1", "gtw-2"}})); err != nil {
			t.Fatal(err)
		}
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c)
		agent := func(host, kind string) *core.NetworkAgent {
			for _, o := range b.objects[core.SourceNetworkAgents] {
				if a, ok := o.(*core.NetworkAgent); ok && a.Host == host && a.Type == kind {
					return a
				}
			}
			return nil
		}
		b.await("the agents", func() bool { return agent("gtw-1", "L3 agent") != nil })
		if a := agent("gtw-1", "L3 agent"); a.Load != nil {
			t.Errorf("nobody asked, and it says %+v", a.Load)
		}
		p.SetRouterHosts([]string{"gtw-1"})
		routers := func() (names []string) {
			if a := agent("gtw-1", "L3 agent"); a != nil && a.Load != nil {
				for _, r := range a.Load.Routers {
					if r.ID == "" || r.HA != (r.Name == "pair") {
						t.Errorf("a router is %+v", r)
					}
					names = append(names, r.Name)
				}
			}
			return names
		}
		b.await("its routers", func() bool { return slices.Equal(routers(), []string{"pair", "shop"}) })
		b.await("its networks", func() bool {
			a := agent("gtw-1", "DHCP agent")
			return a != nil && a.Load != nil && len(a.Load.Networks) == 1 && a.Load.Networks[0].ID != "" && a.Load.Err == ""
		})
		if a := agent("gtw-2", "L3 agent"); a.Load != nil {
			t.Errorf("of another it says %+v", a.Load)
		}
		if a := agent("gtw-1", "Open vSwitch agent"); a.Load != nil {
			t.Errorf("of one that serves none it says %+v", a.Load)
		}
		at := agent("gtw-1", "L3 agent")
		i := slices.IndexFunc(at.Load.Routers, func(r core.Router) bool { return r.Name == "shop" })
		s, err := c.session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.send(t.Context(), s.network, http.MethodDelete, s.network.ServiceURL("agents", at.ID, "l3-routers", at.Load.Routers[i].ID),
			nil, http.StatusNoContent); err != nil {
			t.Fatal(err)
		}
		b.await("one less", func() bool { return slices.Equal(routers(), []string{"pair"}) })
		said := ""
		for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError, http.StatusGatewayTimeout} {
			clear := cloud.SetFault(openstack.Fault{Method: http.MethodGet, Path: regexp.MustCompile("/l3-routers$"), Status: status})
			b.await(fmt.Sprintf("that it is not told, by a %d", status), func() bool {
				a := agent("gtw-1", "L3 agent")
				return a != nil && a.Load != nil && a.Load.Err != said && b.state(core.SourceNetworkAgents) == core.SourceLive
			})
			said = agent("gtw-1", "L3 agent").Load.Err
			clear()
		}
	})
}
