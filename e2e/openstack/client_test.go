//go:build openstack

package openstack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"lockstep/sim/clock"
	simulated "lockstep/sim/openstack"
)

// python is Debian's, which has the openstack client's package.
const python = "/usr/bin/python3"

// client runs python-openstackclient against a cloud.
type client struct {
	name    string
	env     []string
	login   map[string]string // the names of the clouds in clouds.yaml, by role in the session
	compute *gophercloud.ServiceClient
	stdin   io.WriteCloser
	answers *bufio.Reader
}

// printed is what a command printed.
type printed struct {
	Code int    `json:"code"`
	Out  string `json:"out"`
	Err  string `json:"err"`
}

// sitDownWithClient starts the client for a cloud.
func sitDownWithClient(t *testing.T, name, cloudsYAML string, login map[string]string) *client {
	t.Helper()
	auth, endpoint, _, err := clouds.Parse(clouds.WithLocations(cloudsYAML), clouds.WithCloudName(login["admin"]))
	if err != nil {
		t.Fatal(err)
	}
	provider, err := openstack.AuthenticatedClient(t.Context(), auth)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{name: name, login: login, env: append(bareEnvironment(), "OS_CLIENT_CONFIG_FILE="+cloudsYAML)}
	if c.compute, err = openstack.NewComputeV2(provider, endpoint); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, filepath.Join("client", "session.py"))
	command.Env = c.env
	var complaints bytes.Buffer
	command.Stderr = &complaints
	stdout, err := command.StdoutPipe()
	if err == nil {
		c.stdin, err = command.StdinPipe()
	}
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.answers = bufio.NewReader(stdout)
	t.Cleanup(func() {
		if err := errors.Join(c.stdin.Close(), command.Wait()); err != nil {
			t.Errorf("the openstack client: %v\n%s", err, complaints.String())
		}
	})
	return c
}

// bareEnvironment is this process's environment without the variables that would lead the client elsewhere.
func bareEnvironment() []string {
	var kept []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, set := os.LookupEnv(name); set {
			kept = append(kept, name+"="+value)
		}
	}
	compiled := filepath.Join(os.Getenv(cloudFolder), "compiled") // as in cloud/settings.sh
	return append(kept, "LC_ALL=C.UTF-8", "PYTHONPYCACHEPREFIX="+compiled, "PYTHONWARNINGS=ignore")
}

// do runs a command.
func (c *client) do(as string, args ...string) (printed, error) {
	var p printed
	line, err := json.Marshal(append([]string{"--os-cloud", c.login[as]}, args...))
	if err == nil {
		_, err = c.stdin.Write(append(line, '\n'))
	}
	var answer []byte
	if err == nil {
		answer, err = c.answers.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(answer, &p)
	}
	if err != nil {
		return p, fmt.Errorf("the client of the %s cloud, at %q: %w", c.name, args, err)
	}
	return p, nil
}

// settled waits until a server has the status and no task; "" waits until it is gone.
func (c *client) settled(t *testing.T, name, status string) {
	t.Helper()
	await(t, fmt.Sprintf("%s is %q in the %s cloud", name, status, c.name), func() bool {
		pages, err := servers.List(c.compute, servers.ListOpts{Name: "^" + name + "$"}).AllPages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := servers.ExtractServers(pages)
		if err != nil {
			t.Fatal(err)
		}
		if status == "" || len(all) == 0 {
			return status == "" && len(all) == 0
		}
		return all[0].Status == status && all[0].TaskState == ""
	})
}

// migrationID waits for a server's newest migration to have the status, and returns its ID.
func (c *client) migrationID(t *testing.T, name, status string) string {
	t.Helper()
	pages, err := servers.List(c.compute, servers.ListOpts{Name: "^" + name + "$"}).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := servers.ExtractServers(pages)
	if err != nil || len(all) != 1 {
		t.Fatalf("there are %d servers %s (%v)", len(all), name, err)
	}
	newest := *c.compute
	newest.Microversion = "2.59"
	var id string
	await(t, name+"'s migration is "+status, func() bool {
		var answer struct {
			Migrations []struct {
				ID     int    `json:"id"`
				Status string `json:"status"`
			} `json:"migrations"`
		}
		if _, err := newest.Get(t.Context(), newest.ServiceURL("os-migrations")+"?instance_uuid="+all[0].ID, &answer, nil); err != nil {
			t.Fatal(err)
		}
		if len(answer.Migrations) == 0 || answer.Migrations[0].Status != status {
			return false
		}
		id = fmt.Sprint(answer.Migrations[0].ID)
		return true
	})
	return id
}

// simulatedCloud starts a simulated cloud with the same contents as the real one and all its hosts, of which only those of the
// story are enabled, and writes its clouds.yaml.
func simulatedCloud(t *testing.T, all []string) (c *simulated.Cloud, cloudsYAML string) {
	t.Helper()
	c, err := simulated.New(simulated.Options{Clock: clock.New(time.Now(), 20)})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range all {
		err = errors.Join(err, c.AddHost(simulated.HostSpec{Name: host, VCPUs: 1000, RAM: 1200000, Disk: 600000}),
			c.SetService(host, simulated.ServiceState{Disabled: !slices.Contains(hosts, host)}))
	}
	_, tiny := c.AddFlavor(simulated.FlavorSpec{Name: "m1.tiny", VCPUs: 1, RAM: 1024, Disk: 1})
	_, huge := c.AddFlavor(simulated.FlavorSpec{Name: "m1.huge", VCPUs: 1, RAM: 700 << 10, Disk: 1})
	_, image := c.AddImage(simulated.ImageSpec{Name: "tiny", Size: 4096})
	if err := errors.Join(err, c.AddController("ctl-01"), tiny, huge, image, c.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	cloudsYAML = filepath.Join(t.TempDir(), "clouds.yaml")
	if err := c.WriteCloudsYAML(cloudsYAML); err != nil {
		t.Fatal(err)
	}
	return c, cloudsYAML
}

// peculiar matches what always differs between two clouds.
var peculiar = regexp.MustCompile(
	`req-[0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|http://[0-9.:]+[a-z/]*|\(Request-ID: [^)]*\)`)

// alike returns a text without the parts that always differ between two clouds.
func alike(text string) string { return peculiar.ReplaceAllString(text, "…") }
