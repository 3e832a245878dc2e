//go:build openstack

package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/instanceactions"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
)

const (
	// cloudFolder is the variable with the folder of the OpenStack that cloud/up.sh has brought up.
	cloudFolder = "LOCKSTEP_OPENSTACK"

	// The logins in its clouds.yaml, which are two administrators, and the operator's name in Keystone.
	cloudControllers = "controllers"
	cloudOperator    = "operator"
	// cloudMember is the login of a user without an administrator's rights.
	cloudMember = "member"

	// computeVersion knows tags, a host for a new server, and the actions of a server with their events.
	computeVersion = "2.79"
)

// patience is how long a test waits for what must come; it is spent only by one that fails.
const patience = 2 * time.Minute

// cloud is the real OpenStack, as its administrator sees it.
type cloud struct {
	folder   string
	compute  *gophercloud.ServiceClient
	operator string            // user ID of cloudOperator
	flavors  map[string]string // IDs by name
	image    string
}

// newCloud logs in and puts the cloud into its first state: no servers, the hosts of the story enabled and the others disabled, no
// orders.
func newCloud(t *testing.T) *cloud {
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
	c.reset(t)
	return c
}

// cloudsYAML is the path of the file with the logins.
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

// userOf is the ID of a login's user.
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

func (c *cloud) reset(t *testing.T) {
	t.Helper()
	for _, host := range c.hosts(t) {
		c.order(t, host, nil)
		status := services.ServiceDisabled
		if slices.Contains(hosts, host) {
			status = services.ServiceEnabled
		}
		c.set(t, host, status)
	}
	for _, s := range c.servers(t) {
		if err := servers.ForceDelete(t.Context(), c.compute, s.ID).ExtractErr(); err != nil {
			t.Fatalf("delete server %s: %v", s.Name, err)
		}
	}
	await(t, "all servers are gone", func() bool { return len(c.servers(t)) == 0 })
}

// order tells a host's driver what to do from now on; nil takes back what it was told. README.md of cloud/ has the orders.
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
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// boot makes a server on the host; its tags are maintenance actions.
func (c *cloud) boot(t *testing.T, name, host, flavor string, actions ...string) {
	t.Helper()
	options := servers.CreateOpts{Name: name, ImageRef: c.image, FlavorRef: c.flavors[flavor], HypervisorHostname: host, Networks: "none"}
	for _, action := range actions {
		options.Tags = append(options.Tags, "openstack.lcm.mirantis.com:maintenance_action="+action)
	}
	if _, err := servers.Create(t.Context(), c.compute, options, nil).Extract(); err != nil {
		t.Fatalf("make server %s: %v", name, err)
	}
}

// awaitRunning waits until all servers run.
func (c *cloud) awaitRunning(t *testing.T) {
	t.Helper()
	await(t, "all servers run", func() bool {
		return !slices.ContainsFunc(c.servers(t), func(s servers.Server) bool {
			if s.Status == "ERROR" {
				t.Fatalf("server %s: %s", s.Name, s.Fault.Message)
			}
			return s.Status != "ACTIVE"
		})
	})
}

func (c *cloud) servers(t *testing.T) []servers.Server {
	t.Helper()
	pages, err := servers.List(c.compute, servers.ListOpts{AllTenants: true}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the servers: %v", err)
	}
	all, err := servers.ExtractServers(pages)
	if err != nil {
		t.Fatalf("read the servers: %v", err)
	}
	return all
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

// service is the nova-compute of a host.
func (c *cloud) service(t *testing.T, host string) services.Service {
	t.Helper()
	pages, err := services.List(c.compute, services.ListOpts{Binary: "nova-compute", Host: host}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list the compute services: %v", err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil || len(all) != 1 {
		t.Fatalf("host %s has %d compute services (%v)", host, len(all), err)
	}
	return all[0]
}

// hosts are the names of all compute hosts, in alphabetical order.
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

// done is what the operator asked Nova to do with the server, the oldest first, each with the way it ended: "live-migration
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

// migrations are Nova's records of a server, the oldest first, as "live-migration kaas-node-001 kaas-node-002 completed".
func (c *cloud) migrations(t *testing.T, name string) []string {
	t.Helper()
	var answer struct {
		Migrations []migration `json:"migrations"`
	}
	url := c.compute.ServiceURL("os-migrations") + "?instance_uuid=" + c.server(t, name).ID
	_, err := c.compute.Get(t.Context(), url, &answer, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	if err != nil {
		t.Fatalf("list the migrations of %s: %v", name, err)
	}
	var all []string
	for _, m := range slices.Backward(answer.Migrations) {
		all = append(all, strings.Join([]string{m.Type, m.Source, cmp.Or(m.Target, "nowhere"), m.Status}, " "))
	}
	return all
}

// await waits until what holds is so, asking again every moment.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("it did not come to be that %s", what)
		case <-ticker.C:
		}
	}
}
