//go:build openstack

package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	contract "lockstep/e2e/contract/openstack"
)

// TestTheRealCloudKeepsTheContract checks the real servers against the same contract as the simulated ones
// (TestTheSimulatedCloudKeepsTheContract of package e2e/contract/openstack).
func TestTheRealCloudKeepsTheContract(t *testing.T) {
	t.Parallel()
	c := newPart(t, contractHosts)
	for _, host := range contractHosts {
		c.order(t, host, map[string]any{"live_seconds": 1})
	}
	raw, err := os.ReadFile(c.cloudsYAML())
	if err != nil {
		t.Fatal(err)
	}
	orders := c.orders(t)
	contract.Run(t, contract.Cloud{
		CloudsYAML: raw, Admin: cloudControllers, Member: cloudMember, Hosts: contractHosts, Flavor: "m1.tiny", Large: "m1.huge", Image: "tiny",
		Compute: func(host string, runs bool) error {
			do := "kill"
			if runs {
				do = "start"
			}
			return process(context.Background(), do, "nova-compute-"+host)
		},
		Steer: func(s contract.Server, b contract.Behaviour) error { return steer(orders, s, b) },
	})
}

// orders returns the folder of the servers' own orders.
func (c *cloud) orders(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(c.folder, "state", "orders")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// steer writes a server's own orders, which cloud/README.md explains.
func steer(folder string, s contract.Server, b contract.Behaviour) error {
	order := map[string]any{"live_seconds": 1}
	if b.Endless {
		order["live_seconds"] = 3600
	}
	for name, text := range map[string]string{"fail_prelive": b.FailBefore, "fail_live": b.FailLive, "fail_cold": b.FailCold,
		"fail_finish": b.FailFinish} {
		if text != "" {
			order[name] = text
		}
	}
	raw, err := json.Marshal(order)
	if err != nil {
		return err
	}
	// The drivers read it at any moment, so the file has to appear as a whole.
	path := filepath.Join(folder, s.Name+".json")
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("order of %s: %w", s.Name, err)
	}
	return os.Rename(path+".new", path)
}
