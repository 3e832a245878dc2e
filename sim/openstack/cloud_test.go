package openstack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/migrations"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"go.uber.org/goleak"

	"lockstep/sim/clock"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// world is a started cloud whose clock is paused until advance.
type world struct {
	*openstack.Cloud
	t       *testing.T
	clock   *clock.Clock
	network *lan.Network // nil: the machine's own
}

// newWorld has the hosts n1 to n4 with 8 GiB each, the gateway gw1, the controller ctl1, the flavors small (1 GiB) and
// medium (4 GiB), and no servers.
func newWorld(t *testing.T, opts openstack.Options) *world {
	t.Helper()
	c := clock.New(start, 1)
	c.Pause()
	opts.Clock, opts.Seed = c, 42
	cloud, err := openstack.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Cloud: cloud, t: t, clock: c, network: opts.Network}
	for _, f := range []openstack.FlavorSpec{{Name: "small", VCPUs: 1, RAM: 1024, Disk: 10}, {Name: "medium", VCPUs: 2, RAM: 4096, Disk: 40}} {
		if _, err := cloud.AddFlavor(f); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i <= 4; i++ {
		if err := cloud.AddHost(openstack.HostSpec{Name: fmt.Sprintf("n%d", i), VCPUs: 8, RAM: 8192, Disk: 400}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(cloud.AddGateway("gw1"), cloud.AddController("ctl1")); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) advance(d time.Duration) { w.clock.Advance(d) }

// server adds an instance of the flavor small on n1, unless the spec says otherwise.
func (w *world) server(name string, spec openstack.ServerSpec) string {
	w.t.Helper()
	spec.Name = name
	if spec.Host == "" {
		spec.Host = "n1"
	}
	if spec.Flavor == "" {
		spec.Flavor = "small"
	}
	id, err := w.AddServer(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// state is a server's state as "STATUS host task"; without a task it is left out.
func (w *world) state(id string) string {
	w.t.Helper()
	s, ok := w.Server(id)
	if !ok {
		return "gone"
	}
	return strings.TrimSpace(s.Status + " " + s.Host + " " + s.Task)
}

func (w *world) wantState(id, want string) {
	w.t.Helper()
	if got := w.state(id); got != want {
		w.t.Fatalf("server is %q, want %q", got, want)
	}
}

// provider logs in to one of the clouds of the cloud's own clouds.yaml.
func (w *world) provider(cloudName string) (*gophercloud.ProviderClient, gophercloud.EndpointOpts, error) {
	w.t.Helper()
	y, err := w.CloudsYAML()
	if err != nil {
		w.t.Fatal(err)
	}
	auth, endpoint, _, err := clouds.Parse(clouds.WithCloudsYAML(bytes.NewReader(y)), clouds.WithCloudName(cloudName))
	if err != nil {
		w.t.Fatal(err)
	}
	auth.AllowReauth = true
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if w.network != nil {
		transport = w.network.Transport(cloudName)
	}
	w.t.Cleanup(transport.CloseIdleConnections)
	p, err := config.NewProviderClient(w.t.Context(), auth, config.WithHTTPClient(http.Client{Transport: transport}))
	return p, endpoint, err
}

// compute is a compute client of a cloud at a microversion.
func (w *world) compute(cloudName, microversion string) *gophercloud.ServiceClient {
	w.t.Helper()
	p, endpoint, err := w.provider(cloudName)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := client.NewComputeV2(p, endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	c.Microversion = microversion
	return c
}

// do sends a raw request to the compute API and returns the status and the body.
func do(ctx context.Context, c *gophercloud.ServiceClient, method, path string, body any) (int, string) {
	var raw []byte
	opts := &gophercloud.RequestOpts{KeepResponseBody: true, OkCodes: []int{200, 201, 202, 204}}
	if body != nil {
		opts.JSONBody = body
	}
	resp, err := c.Request(ctx, method, c.ServiceURL(strings.Split(path, "/")...), opts)
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &unexpected) {
		return unexpected.Actual, string(unexpected.Body)
	}
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(resp.Body)
	raw = buf.Bytes()
	return resp.StatusCode, string(raw)
}

// act sends a server action and expects a status and, in the body, a text.
func (w *world) act(c *gophercloud.ServiceClient, id, action string, args any, status int, text string) {
	w.t.Helper()
	got, body := do(w.t.Context(), c, http.MethodPost, "servers/"+id+"/action", map[string]any{action: args})
	if got != status || !strings.Contains(body, text) {
		w.t.Fatalf("%s: %d %s, want %d with %q", action, got, body, status, text)
	}
}

// live is the body of os-migrateLive from 2.25 on.
var live = map[string]any{"host": nil, "block_migration": "auto"}

func liveTo(host string) map[string]any {
	return map[string]any{"host": host, "block_migration": "auto"}
}

// records returns the migrations of the cloud, newest first.
func (w *world) records(opts migrations.ListOpts) []migrations.Migration {
	w.t.Helper()
	pages, err := migrations.List(w.compute("sim", "2.59"), opts).AllPages(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := migrations.ExtractMigrations(pages)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// record is "status source→dest" of the newest migration of a server.
func (w *world) record(id string) string {
	w.t.Helper()
	list := w.records(migrations.ListOpts{InstanceID: &id})
	if len(list) == 0 {
		return "none"
	}
	return list[0].Status + " " + list[0].SourceCompute + "→" + list[0].DestCompute
}

func listNames(t *testing.T, c *gophercloud.ServiceClient, opts servers.ListOpts) []string {
	t.Helper()
	pages, err := servers.List(c, opts).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := servers.ExtractServers(pages)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

func statusOf(err error) int {
	var e gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &e) {
		return e.Actual
	}
	return 0
}
