//go:build openstack

package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/aggregates"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/instanceactions"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
)

const (
	// cloudFolder is the variable with the folder of the OpenStack that cloud/up.sh has started.
	cloudFolder = "LOCKSTEP_OPENSTACK"

	// The logins in its clouds.yaml, which are two administrators, and the operator's name in Keystone.
	cloudControllers = "controllers"
	cloudOperator    = "operator"
	// cloudSpare is the operator's login with its own Nova API, spareAPI.
	cloudSpare = "operator-spare"
	// cloudMember is the login of a user without an administrator's rights.
	cloudMember = "member"

	// computeVersion is the first with tags, a host for a new server, and the actions of a server with their events.
	computeVersion = "2.79"
)

// spareAPI is a process that only cloudSpare needs. It does not run until it is started.
const spareAPI = "nova-api-spare"

// patience is how long a test waits; only a failing test waits that long. On a busy machine, three tries of a migration that fails have
// taken more than two minutes.
const patience = 10 * time.Minute

// pauseAfter is the pause after a look that began then: the longer the cloud took to answer, the longer it is left alone.
func pauseAfter(began time.Time) time.Duration { return max(500*time.Millisecond, 5*time.Since(began)) }

// cloud is the real OpenStack, as its administrator sees it.
type cloud struct {
	folder   string
	compute  *gophercloud.ServiceClient
	operator string            // user ID of cloudOperator
	flavors  map[string]string // IDs by name
	image    string
	zone     string // in which boot makes servers; empty: the current zone of their host
}

// newCloud logs in and resets the cloud: no servers, the hosts of the manual node's story enabled and the others disabled, no
// orders. Nothing may run in parallel to a test that needs this.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := openCloud(t)
	for _, host := range c.hosts(t) {
		status := services.ServiceDisabled
		if slices.Contains(hosts, host) {
			status = services.ServiceEnabled
		}
		c.order(t, host, nil)
		c.set(t, host, status)
	}
	if err := c.clear(t.Context(), func(servers.Server) bool { return true }); err != nil {
		t.Fatal(err)
	}
	return c
}

// newPart logs in and resets some hosts of the cloud: enabled, without servers or orders. Other tests may use the other hosts at
// the same time.
func newPart(t *testing.T, part []string) *cloud {
	t.Helper()
	c := openCloud(t)
	for _, host := range part {
		c.order(t, host, nil)
		c.set(t, host, services.ServiceEnabled)
	}
	if err := c.clear(t.Context(), onHosts(part)); err != nil {
		t.Fatal(err)
	}
	return c
}

// openCloud logs in.
func openCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{folder: os.Getenv(cloudFolder), flavors: map[string]string{}}
	provider, endpoint := c.login(t, cloudControllers)
	var err error
	if c.compute, err = openstack.NewComputeV2(provider, endpoint); err != nil {
		t.Fatalf("find Nova: %v", err)
	}
	c.compute.Microversion = computeVersion
	c.operator = c.userOf(t, cloudOperator)

	pages, err := flavors.ListDetail(c.compute, nil).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the flavors: %v", err)
	}
	all, err := flavors.ExtractFlavors(pages)
	if err != nil {
		t.Fatalf("read the flavors: %v", err)
	}
	for _, f := range all {
		c.flavors[f.Name] = f.ID
	}
	glance, err := openstack.NewImageV2(provider, endpoint)
	if err != nil {
		t.Fatalf("find Glance: %v", err)
	}
	pages, err = images.List(glance, images.ListOpts{Name: "tiny"}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the images: %v", err)
	}
	found, err := images.ExtractImages(pages)
	if err != nil || len(found) != 1 {
		t.Fatalf("there are %d images called tiny (%v)", len(found), err)
	}
	c.image = found[0].ID
	return c
}

// cloudsYAML returns the path of the file with the logins.
func (c *cloud) cloudsYAML() string { return filepath.Join(c.folder, "clouds.yaml") }

func (c *cloud) login(t *testing.T, name string) (*gophercloud.ProviderClient, gophercloud.EndpointOpts) {
	t.Helper()
	auth, endpoint, _, err := clouds.Parse(clouds.WithLocations(c.cloudsYAML()), clouds.WithCloudName(name))
	if err != nil {
		t.Fatalf("read cloud %s: %v", name, err)
	}
	auth.AllowReauth = true
	provider, err := openstack.AuthenticatedClient(t.Context(), auth)
	if err != nil {
		t.Fatalf("log in as %s: %v", name, err)
	}
	return provider, endpoint
}

// userOf returns the ID of a login's user.
func (c *cloud) userOf(t *testing.T, name string) string {
	t.Helper()
	provider, _ := c.login(t, name)
	result, ok := provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		t.Fatalf("the login of %s tells nothing of itself", name)
	}
	user, err := result.ExtractUser()
	if err != nil {
		t.Fatalf("read who %s is: %v", name, err)
	}
	return user.ID
}

// clear deletes the servers that match, and waits until they are gone.
func (c *cloud) clear(ctx context.Context, meant func(servers.Server) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	deleted := map[string]bool{}
	for {
		began := time.Now()
		all, err := c.list(ctx)
		if err != nil {
			return err
		}
		left := 0
		for _, s := range all {
			if !meant(s) && !deleted[s.ID] {
				continue
			}
			left++
			if deleted[s.ID] {
				continue
			}
			deleted[s.ID] = true
			if err := servers.ForceDelete(ctx, c.compute, s.ID).ExtractErr(); err != nil {
				return fmt.Errorf("delete server %s: %w", s.Name, err)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d servers do not go: %w", left, ctx.Err())
		case <-time.After(pauseAfter(began)):
		}
	}
}

// onHosts matches the servers on some hosts.
func onHosts(hosts []string) func(servers.Server) bool {
	return func(s servers.Server) bool { return slices.Contains(hosts, s.Host) }
}

// ownZone makes an availability zone of the hosts for as long as the test runs. From now on boot makes servers in it, so that no
// other test's servers come there, and none of these leaves.
func (c *cloud) ownZone(t *testing.T, name string, part []string) {
	t.Helper()
	leave := func(ctx context.Context) error {
		if err := c.clear(ctx, onHosts(part)); err != nil {
			return err
		}
		pages, err := aggregates.List(c.compute).AllPages(ctx)
		if err != nil {
			return err
		}
		all, err := aggregates.ExtractAggregates(pages)
		if err != nil {
			return err
		}
		for _, a := range all {
			if a.Name != name {
				continue
			}
			for _, host := range a.Hosts {
				if err := aggregates.RemoveHost(ctx, c.compute, a.ID, aggregates.RemoveHostOpts{Host: host}).Err; err != nil {
					return err
				}
			}
			if err := aggregates.Delete(ctx, c.compute, a.ID).ExtractErr(); err != nil {
				return err
			}
		}
		return nil
	}
	err := leave(t.Context()) // what a killed run has left
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := leave(context.Background()); err != nil {
			t.Errorf("take zone %s apart: %v", name, err)
		}
	})
	made, err := aggregates.Create(t.Context(), c.compute, aggregates.CreateOpts{Name: name, AvailabilityZone: name}).Extract()
	if err != nil {
		t.Fatalf("make zone %s: %v", name, err)
	}
	for _, host := range part {
		if err := aggregates.AddHost(t.Context(), c.compute, made.ID, aggregates.AddHostOpts{Host: host}).Err; err != nil {
			t.Fatalf("put host %s into zone %s: %v", host, name, err)
		}
	}
	c.zone = name
}

// process kills a process of the cloud ("kill"), starts it, or stops it, as cloud/process.sh says.
func process(ctx context.Context, do, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, filepath.Join("cloud", "process.sh"), do, name).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", do, name, err, out)
	}
	return nil
}

// order tells a host's driver what to do from now on; nil withdraws the order. README.md of cloud/ has the orders.
func (c *cloud) order(t *testing.T, host string, orders map[string]any) {
	t.Helper()
	path := filepath.Join(c.folder, "state", "nova-"+host, "orders.json")
	if orders == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return
	}
	raw, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	// The driver reads at any time: it sees the old orders or the new ones, never a part.
	next := path + ".next"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// boot makes a server on the host; its tags are maintenance actions.
func (c *cloud) boot(t *testing.T, name, host, flavor string, actions ...string) {
	t.Helper()
	options := servers.CreateOpts{Name: name, ImageRef: c.image, FlavorRef: c.flavors[flavor], HypervisorHostname: host, Networks: "none",
		AvailabilityZone: c.zone}
	for _, action := range actions {
		options.Tags = append(options.Tags, "openstack.lcm.mirantis.com:maintenance_action="+action)
	}
	if _, err := servers.Create(t.Context(), c.compute, options, nil).Extract(); err != nil {
		t.Fatalf("make server %s: %v", name, err)
	}
}

// awaitRunning waits until the servers with the names run.
func (c *cloud) awaitRunning(t *testing.T, names ...string) {
	t.Helper()
	await(t, "all servers run", func() bool {
		running := 0
		for _, s := range c.servers(t) {
			if !slices.Contains(names, s.Name) {
				continue
			}
			if s.Status == "ERROR" {
				t.Fatalf("server %s: %s", s.Name, s.Fault.Message)
			}
			if s.Status == "ACTIVE" {
				running++
			}
		}
		return running == len(names)
	})
}

func (c *cloud) servers(t *testing.T) []servers.Server {
	t.Helper()
	all, err := c.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// list returns servers without a test.
func (c *cloud) list(ctx context.Context) ([]servers.Server, error) {
	pages, err := servers.List(c.compute, servers.ListOpts{AllTenants: true}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the servers: %w", err)
	}
	all, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}
	return all, nil
}

func (c *cloud) server(t *testing.T, name string) servers.Server {
	t.Helper()
	for _, s := range c.servers(t) {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("Nova has no server %s", name)
	return servers.Server{}
}

// service returns the nova-compute of a host.
func (c *cloud) service(t *testing.T, host string) services.Service {
	t.Helper()
	s, err := c.computeOf(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// computeOf is service without a test.
func (c *cloud) computeOf(ctx context.Context, host string) (services.Service, error) {
	pages, err := services.List(c.compute, services.ListOpts{Binary: "nova-compute", Host: host}).AllPages(ctx)
	if err != nil {
		return services.Service{}, fmt.Errorf("list the compute services: %w", err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil || len(all) != 1 {
		return services.Service{}, fmt.Errorf("host %s has %d compute services (%w)", host, len(all), err)
	}
	return all[0], nil
}

// hosts returns the names of all compute hosts, in alphabetical order.
func (c *cloud) hosts(t *testing.T) []string {
	t.Helper()
	pages, err := services.List(c.compute, services.ListOpts{Binary: "nova-compute"}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the compute services: %v", err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil {
		t.Fatalf("read the compute services: %v", err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Host)
	}
	slices.Sort(names)
	return names
}

// set enables or disables the nova-compute of a host.
func (c *cloud) set(t *testing.T, host string, status services.ServiceStatus) {
	t.Helper()
	if err := services.Update(t.Context(), c.compute, c.service(t, host).ID, services.UpdateOpts{Status: status}).Err; err != nil {
		t.Fatalf("set nova-compute of %s to %s: %v", host, status, err)
	}
}

// done returns what the operator asked Nova to do with the server, the oldest first, each with how it ended: "live-migration
// failed".
func (c *cloud) done(t *testing.T, name string) []string {
	t.Helper()
	id := c.server(t, name).ID
	pages, err := instanceactions.List(c.compute, id, nil).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the actions of %s: %v", name, err)
	}
	all, err := instanceactions.ExtractInstanceActions(pages)
	if err != nil {
		t.Fatalf("read the actions of %s: %v", name, err)
	}
	slices.SortFunc(all, func(a, b instanceactions.InstanceAction) int { return a.StartTime.Compare(b.StartTime) })
	var done []string
	for _, a := range all {
		if a.UserID != c.operator {
			continue
		}
		text := a.Action
		if c.failed(t, id, a.RequestID) {
			text += " failed"
		}
		done = append(done, text)
	}
	return done
}

// failed tells whether an event of the action did not succeed.
func (c *cloud) failed(t *testing.T, server, request string) bool {
	t.Helper()
	detail, err := instanceactions.Get(t.Context(), c.compute, server, request).Extract()
	if err != nil {
		t.Fatalf("read action %s of server %s: %v", request, server, err)
	}
	return detail.Events != nil && slices.ContainsFunc(*detail.Events, func(e instanceactions.Event) bool { return e.Result == "Error" })
}

// migration is one of Nova's records.
type migration struct {
	Type   string `json:"migration_type"`
	Status string `json:"status"`
	Source string `json:"source_compute"`
	Target string `json:"dest_compute"`
}

// migrations returns Nova's records of a server, the oldest first, as "live-migration kaas-node-001 kaas-node-002 completed".
func (c *cloud) migrations(t *testing.T, name string) []string {
	t.Helper()
	records, err := c.records(t.Context(), "instance_uuid="+c.server(t, name).ID)
	if err != nil {
		t.Fatalf("list the migrations of %s: %v", name, err)
	}
	var all []string
	for _, m := range slices.Backward(records) {
		all = append(all, strings.Join([]string{m.Type, m.Source, cmp.Or(m.Target, "nowhere"), m.Status}, " "))
	}
	return all
}

// records returns the migrations of Nova that match a query, the newest first.
func (c *cloud) records(ctx context.Context, query string) ([]migration, error) {
	var answer struct {
		Migrations []migration `json:"migrations"`
	}
	_, err := c.compute.Get(ctx, c.compute.ServiceURL("os-migrations")+"?"+query, &answer,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return answer.Migrations, err
}

// await looks again and again until the condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		began := time.Now()
		if holds() {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it did not come to be that %s", what)
		case <-time.After(pauseAfter(began)):
		}
	}
}
