package openstack_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"lockstep/sim/bubble/lane"
	"lockstep/sim/clock"
	"lockstep/sim/openstack"
)

// bigCloud has hosts with 50 servers each.
func bigCloud(tb testing.TB, hosts int) *openstack.Cloud {
	tb.Helper()
	c, err := openstack.New(openstack.Options{Clock: clock.New(start, 1), Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := c.AddFlavor(openstack.FlavorSpec{Name: "small", VCPUs: 1, RAM: 1024, Disk: 10}); err != nil {
		tb.Fatal(err)
	}
	for i := range hosts {
		h := fmt.Sprintf("node-%04d", i)
		if err := c.AddHost(openstack.HostSpec{Name: h, VCPUs: 64, RAM: 1 << 18, Disk: 4000}); err != nil {
			tb.Fatal(err)
		}
		for j := range 50 {
			spec := openstack.ServerSpec{Name: fmt.Sprintf("vm-%d-%d", i, j), Host: h, Flavor: "small",
				Created: start.Add(-time.Duration(i*j) * time.Second)}
			if _, err := c.AddServer(spec); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := c.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

func TestEveryServerOfALargeCloudIsListedOnce(t *testing.T) {
	lane.OnlyAStory(t)
	const hosts = 45 // three pages
	w := &world{Cloud: bigCloud(t, hosts), t: t}
	seen := map[string]bool{}
	err := servers.List(w.compute("sim", "2.53"), servers.ListOpts{AllTenants: true}).EachPage(t.Context(),
		func(_ context.Context, p pagination.Page) (bool, error) {
			list, err := servers.ExtractServers(p)
			for _, s := range list {
				seen[s.ID] = true
			}
			return true, err
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != hosts*50 {
		t.Errorf("%d servers, want %d", len(seen), hosts*50)
	}
	if got := listNames(t, w.compute("sim", "2.53"), servers.ListOpts{AllTenants: true, Host: "node-0007"}); len(got) != 50 {
		t.Errorf("%d servers on node-0007, want 50", len(got))
	}
}

func BenchmarkServersOfOneHostAmong100000(b *testing.B) {
	c := bigCloud(b, 2000)
	b.ResetTimer()
	for i := range b.N {
		if got := len(c.ServersOn(fmt.Sprintf("node-%04d", i%2000))); got != 50 {
			b.Fatal(got)
		}
	}
}
