//go:build openstack

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"lockstep/e2e/cluster"
	"lockstep/sim"
	"lockstep/sim/scenario"
)

// realCloud is the administrator's cloud of e2e/openstack/cloud.
const realCloud = "realcloud"

// realNova is the Nova of e2e/openstack/cloud, asked by a client of its own.
type realNova struct {
	dir     string // REALCLOUD_DIR
	compute *gophercloud.ServiceClient
}

func newRealNova(t *testing.T) *realNova {
	t.Helper()
	dir := os.Getenv("REALCLOUD_DIR")
	if dir == "" {
		t.Fatal("REALCLOUD_DIR names no running cloud: these tests are run by make e2e-openstack")
	}
	auth, endpoint, tls, err := clouds.Parse(clouds.WithLocations(filepath.Join(dir, "clouds.yaml")), clouds.WithCloudName(realCloud))
	if err != nil {
		t.Fatal(err)
	}
	provider, err := config.NewProviderClient(t.Context(), auth, config.WithTLSConfig(tls))
	if err != nil {
		t.Fatal(err)
	}
	compute, err := openstack.NewComputeV2(provider, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	compute.Microversion = "2.53"
	return &realNova{dir: dir, compute: compute}
}

// orders tells a host's virt driver what to do from now on.
func (n *realNova) orders(t *testing.T, host string, orders map[string]any) {
	t.Helper()
	raw, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(n.dir, "state", "nova-"+host, "ctl.json")
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil { // the driver never reads half of it
		t.Fatal(err)
	}
}

// server is where and how an instance is, by its name.
func (n *realNova) server(t *testing.T, name string) (host, status string) {
	t.Helper()
	pages, err := servers.List(n.compute, servers.ListOpts{AllTenants: true, Name: "^" + name + "$"}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []struct {
		Status string `json:"status"`
		Host   string `json:"OS-EXT-SRV-ATTR:host"`
	}
	if err := servers.ExtractServersInto(pages, &found); err != nil || len(found) != 1 {
		t.Fatalf("%d servers are called %s (%v)", len(found), name, err)
	}
	return found[0].Host, found[0].Status
}

// service is whether a host's nova-compute is enabled, and why not.
func (n *realNova) service(t *testing.T, host string) (status, reason string) {
	t.Helper()
	pages, err := services.List(n.compute, services.ListOpts{Binary: "nova-compute", Host: host}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := services.ExtractServices(pages)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d nova-compute services on %s (%v)", len(found), host, err)
	}
	return found[0].Status, found[0].DisabledReason
}

// newRealWorld is a real kube-apiserver, the real Nova, and the controllers that move both.
func newRealWorld(t *testing.T, nova *realNova) *world {
	t.Helper()
	story, err := scenario.Load(filepath.Join("testdata", "real-openstack.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Cluster: ownCluster(t), cloudsYAML: filepath.Join(nova.dir, "clouds.yaml")}
	grantRights(t, w.Cluster)
	log, err := os.Create(filepath.Join(t.TempDir(), "controllers.log"))
	if err != nil {
		t.Fatal(err)
	}
	w.sim, err = sim.Start(context.WithoutCancel(t.Context()), sim.Options{Scenario: story, Dir: t.TempDir(), Timing: fast,
		Kube: w.Config(cluster.Controllers), CloudsYAML: w.cloudsYAML, ExternalCloud: realCloud, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.sim.Close(); err != nil {
			t.Errorf("stop the controllers: %v", err)
		}
		log.Close()
		if t.Failed() {
			t.Logf("the end of the controllers' log:\n%s", tail(t, log.Name(), 2000))
		}
	})
	return w
}

// The manual node with a Nova that nobody simulates: a live migration with its progress, one that fails and stays in Nova's
// own words, a cold migration with its confirmation, and a compute service taken out of scheduling and put back.
func TestManualNodeOnARealNova(t *testing.T) {
	nova := newRealNova(t)
	for _, host := range []string{"kaas-node-001", "kaas-node-002", "kaas-node-003"} {
		nova.orders(t, host, map[string]any{"live_seconds": 6, "cold_seconds": 1})
	}
	w := newRealWorld(t, nova)
	p := w.launch(t, start{cloud: realCloud})
	p.wantsRow("cmp-01", "waiting for you")
	p.arm()

	// A service is taken out of scheduling with a reason, and put back.
	p.find("3", "cmp-03")
	p.press("enter")
	p.openStep("disable nova-compute of cmp-03")
	p.confirm()
	p.wants("enable nova-compute of cmp-03")
	if status, reason := nova.service(t, "kaas-node-003"); status != "disabled" || reason == "" {
		t.Errorf("after its step nova-compute of cmp-03 is %s: %q", status, reason)
	}
	p.openStep("enable nova-compute of cmp-03")
	p.confirm()
	p.wants("disable nova-compute of cmp-03")
	if status, reason := nova.service(t, "kaas-node-003"); status != "enabled" {
		t.Errorf("after its step nova-compute of cmp-03 is %s: %q", status, reason)
	}
	p.press("esc")

	// The controller moves what is tagged live_migrate, even off a manual node; the rest waits for the operator.
	p.wantsRow("cmp-01", "manual mode: 2 instances")
	await(t, "the tagged instances have left", func() bool {
		one, _ := nova.server(t, "vm-live-1")
		two, _ := nova.server(t, "vm-live-2")
		return one != "kaas-node-001" && two != "kaas-node-001"
	})
	p.find("3", "cmp-01")
	p.press("enter")
	p.wants("Take cmp-01 through its maintenance")

	// A live migration is seen on its way, and judged by where the instance is.
	p.openStep("live-migrate vm-plain")
	p.confirm()
	p.wantsRow("running", "live-migrate vm-plain", "running, to")
	p.wantsGone("live-migrate vm-plain")
	if host, status := nova.server(t, "vm-plain"); host == "kaas-node-001" || status != "ACTIVE" {
		t.Errorf("vm-plain is %s on %s", status, host)
	}

	// One that fails stays on the screen, in Nova's own words.
	const text = "the destination has no such disk"
	for _, host := range []string{"kaas-node-002", "kaas-node-003"} {
		nova.orders(t, host, map[string]any{"fail_prelive": text})
	}
	p.openStep("live-migrate vm-notify")
	p.confirm()
	p.wantsRow("failed", "live-migrate vm-notify")
	p.wants(text)
	if host, status := nova.server(t, "vm-notify"); host != "kaas-node-001" || status != "ACTIVE" {
		t.Errorf("vm-notify is %s on %s", status, host)
	}

	// The cold migration takes it off, and is confirmed.
	for _, host := range []string{"kaas-node-002", "kaas-node-003"} {
		nova.orders(t, host, map[string]any{})
	}
	p.openStep("live-migrate vm-notify", "cold-migrate vm-notify")
	p.confirm()
	p.wantsRow("ready", "confirm the migration of vm-notify")
	if _, status := nova.server(t, "vm-notify"); status != "VERIFY_RESIZE" {
		t.Errorf("vm-notify is %s", status)
	}
	p.openStep("confirm the migration of vm-notify")
	p.confirm()
	p.wantsGone("confirm the migration of vm-notify")
	if host, status := nova.server(t, "vm-notify"); host == "kaas-node-001" || status != "ACTIVE" {
		t.Errorf("vm-notify is %s on %s", status, host)
	}

	// The host is empty: the controller releases its lock, LCM carries on, and the node comes back.
	p.wantsRow("done", "the OpenStack controller releases its lock")
	p.press("esc")
	p.wantsRow("cmp-01", "done")
	if status, reason := nova.service(t, "kaas-node-001"); status != "enabled" {
		t.Errorf("nova-compute of cmp-01 is %s after its maintenance: %q", status, reason)
	}
	p.press("q")
	if code := p.ExitCode(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if got := fmt.Sprint(w.written(t)); got != "[]" {
		t.Errorf("Kubernetes received %s", got)
	}
	p.keepsNoSecret([]string{w.Config(cluster.Operator).BearerToken})
}
