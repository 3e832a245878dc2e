package cli

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

// silence is one way to accept a connection and never answer.
type silence struct {
	name  string
	serve func(t *testing.T, l net.Listener)
}

// afterTheRequest is the silence in which all of a cloud is read.
const afterTheRequest = "after the request"

var silences = []silence{
	{"after the connection", func(t *testing.T, l net.Listener) { // where TLS is spoken: before its handshake
		var open []net.Conn
		var mu sync.Mutex
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
			}
		}()
		t.Cleanup(func() {
			l.Close()
			mu.Lock()
			defer mu.Unlock()
			for _, c := range open {
				c.Close()
			}
		})
	}},
	{afterTheRequest, answering("")},
	{"in the middle of an answer", answering(`{"kind": "List", "items": [`)},
}

// answering serves the beginning of an answer, and then nothing.
func answering(beginning string) func(*testing.T, net.Listener) {
	return func(t *testing.T, l net.Listener) {
		leave := make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if beginning != "" {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "100000")
				if r.Method == http.MethodPost { // for a token
					w.WriteHeader(http.StatusCreated)
				}
				_, _ = w.Write([]byte(beginning))
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-r.Context().Done():
			case <-leave:
			}
		})}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { close(leave); _ = server.Close() })
	}
}

// mute are the servers that can be silent, and how the session's place comes to ask a silent one.
var mute = []struct {
	name   string
	server core.Server
	ask    func(t *testing.T, c *sim.Cloud, p *options, address string)
}{
	{"Kubernetes", core.ServerKubernetes, func(t *testing.T, c *sim.Cloud, p *options, address string) {
		readdress(t, p.Kubeconfig, c.Kube.URL(), address)
	}},
	{"the management cluster", core.ServerManagement, func(t *testing.T, c *sim.Cloud, p *options, address string) {
		readdress(t, p.Kubeconfig, c.Management.URL(), address)
	}},
	{"Keystone", core.ServerOpenStack, func(_ *testing.T, c *sim.Cloud, p *options, address string) {
		p.CloudsYAML = []byte(strings.ReplaceAll(string(p.CloudsYAML), c.OpenStack.AuthURL(), address+"/v3"))
	}},
	{"Nova", core.ServerOpenStack, func(t *testing.T, c *sim.Cloud, p *options, address string) {
		p.Line.Transport = diverted{p.Line.Transport, "/compute/", strings.TrimPrefix(address, "http://")}
	}},
}

// readdress makes a kubeconfig name another address.
func readdress(t *testing.T, path, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), from) {
		t.Fatalf("%s does not name %s", path, from)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// diverted sends the requests for a part of a server to another one.
type diverted struct {
	base http.RoundTripper
	part string
	to   string
}

func (d diverted) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, d.part) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", d.to
	}
	return d.base.RoundTrip(r)
}

func (d diverted) CloseIdleConnections() {}

// quiet is a cloud that nothing changes, so that one is enough for all silent servers beside it.
type quiet struct {
	t       *testing.T
	cloud   *sim.Cloud
	network *lan.Network
}

func newQuiet(t *testing.T) *quiet {
	t.Helper()
	network := lan.New(1)
	c, err := sim.Start(context.WithoutCancel(t.Context()),
		sim.Options{Scenario: told(t, "update-groups"), Network: network, Start: time.Now(), Dir: t.TempDir(),
			Paused: true, User: kubeapi.Operator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &quiet{t, c, network}
}

// silent is the address of a server that accepts connections and does not answer.
func (q *quiet) silent(how silence) string {
	q.t.Helper()
	l, err := q.network.Listen("silent:0")
	if err != nil {
		q.t.Fatal(err)
	}
	how.serve(q.t, l)
	return "http://" + l.Addr().String()
}

// at is a new place from which the cloud is watched, where ask puts the address in place of one of the cloud's own.
func (q *quiet) at(address string, ask func(*testing.T, *sim.Cloud, *options, string)) options {
	q.t.Helper()
	p := placeOn(q.t, q.cloud)
	configured(q.t, &p, q.cloud)
	p.Management = simManagement(q.cloud)
	kubeconfig := filepath.Join(q.t.TempDir(), "kubeconfig")
	raw, err := os.ReadFile(q.cloud.KubeconfigPath)
	if err != nil {
		q.t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfig, raw, 0o600); err != nil {
		q.t.Fatal(err)
	}
	p.Kubeconfig = kubeconfig
	ask(q.t, q.cloud, &p, address)
	return p
}

// A server that accepts connections and never answers holds nothing up, neither a command nor a session.
func TestASilentServerHoldsNothingUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		q := newQuiet(t)
		for i, m := range mute {
			for j, how := range silences {
				if !lane.Chosen(t, i+j, 3) {
					continue
				}
				pair, address := m.name+", silent "+how.name, q.silent(how)
				statusWaitsNoLongerThanItWasTold(t, pair, q.at(address, m.ask), m.server)
				if how.name == afterTheRequest {
					inventoryEnds(t, pair, q.at(address, m.ask))
				}
				sessionGoesOn(t, pair, q.at(address, m.ask), m.server)
			}
		}
	})
}

// --wait covers everything that status does: what has not answered by then is reported as such.
func statusWaitsNoLongerThanItWasTold(t *testing.T, pair string, p options, server core.Server) {
	t.Helper()
	began := time.Now()
	code, out, errs := runIn(t, p, "status", "--wait", "7s", "-o", "json", "--kubeconfig", p.Kubeconfig, "--os-cloud", p.OSCloud,
		"--management-context", p.Management.Context, "--management-namespace", p.Management.Namespace)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("%s: it took %s", pair, took)
	}
	if server == core.ServerKubernetes {
		if code != exitError || !strings.Contains(errs, "has not answered in time") {
			t.Errorf("%s: exit %d: %s%s", pair, code, out, errs)
		}
		return
	}
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Nodes) == 0 || code != exitAttention {
		t.Errorf("%s: exit %d, %v: %s%s", pair, code, err, out, errs)
	}
	for _, src := range s.Sources {
		if src.State == string(core.SourceConnecting) {
			t.Errorf("%s: %s is said to be connecting", pair, src.ID)
		}
	}
	if !slices.ContainsFunc(s.NeedsYou, func(a StatusAttention) bool { return strings.Contains(a.Reason, "no answer") }) {
		t.Errorf("%s: nothing needs anybody for it: %+v", pair, s.NeedsYou)
	}
}

// A command that reads all of a cloud ends as well, and says what it could not read.
func inventoryEnds(t *testing.T, pair string, p options) {
	t.Helper()
	began := time.Now()
	code, out, errs := runIn(t, p, "snapshot", "-o", filepath.Join(t.TempDir(), "inventory.yaml"), "--kubeconfig", p.Kubeconfig,
		"--os-cloud", p.OSCloud,
		"--management-context", p.Management.Context, "--management-namespace", p.Management.Namespace)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%s: it took %s", pair, took)
	}
	if code != exitAttention || !strings.Contains(errs, "COULD NOT BE READ") {
		t.Errorf("%s: exit %d: %s%s", pair, code, out, errs)
	}
}

// A session starts at once, its sources say what is wrong, the other servers are seen, and the session ends when it is told to.
func sessionGoesOn(t *testing.T, pair string, p options, server core.Server) {
	t.Helper()
	st := &story{t: t, place: p}
	began := time.Now()
	st.begin()
	if took := time.Since(began); took != 0 {
		t.Errorf("%s: it was there after %s", pair, took)
	}
	st.until(pair+": its sources say so", func(s *core.Snapshot) bool {
		src := troubled(s, server, func(src core.Source) bool { return src.Err != nil && src.Err.Kind == core.ErrTimeout })
		return src != nil && s.Wall.Sub(began) < 2*time.Minute
	})
	st.until(pair+": the others are seen", func(s *core.Snapshot) bool {
		return (server == core.ServerKubernetes || s.Sources[core.SourceNodes].State == core.SourceLive) &&
			(server == core.ServerManagement || s.Sources[core.SourceMachines].State == core.SourceLive) &&
			(server == core.ServerOpenStack || s.Sources[core.SourceInstances].State == core.SourceLive)
	})
	began = time.Now()
	st.stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%s: it ended after %s", pair, took)
	}
}

// The same where TLS is spoken: a server that never does its part of the handshake, for both Kubernetes and Keystone. What the command was
// told comes first, and not the limit of a handshake.
func TestNobodyWaitsForATLSHandshake(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		l, err := network.Listen("silent:6443")
		if err != nil {
			t.Fatal(err)
		}
		silences[0].serve(t, l)
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		config := `{apiVersion: v1, kind: Config, current-context: mos,
  clusters: [{name: mos, cluster: {server: "https://silent:6443"}}],
  contexts: [{name: mos, context: {cluster: mos, user: anna}}, {name: management, context: {cluster: mos, user: anna}}],
  users: [{name: anna, user: {token: x}}]}`
		if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		const clouds = `clouds: {a: {auth: {auth_url: "https://silent:6443/v3", username: u, password: p, project_name: p}}}`
		for _, args := range [][]string{nil, {"--os-from-cluster"}} {
			// The network's own transport speaks no TLS, and this one does, as on sockets.
			p := options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), CloudsYAML: []byte(clouds),
				Line: session.Line{Transport: &http.Transport{
					DialContext: network.Dialer("lockstep"), TLSHandshakeTimeout: 10 * time.Second}}}}
			began := time.Now()
			code, out, errs := runIn(t, p, append([]string{"status", "--wait", "200ms", "--kubeconfig", kubeconfig, "--management-context",
				"management"}, args...)...)
			// The Snapshot that says so is made at the next beat.
			if late := time.Since(began) - 200*time.Millisecond; late < 0 || late > core.Beat+core.AfterBeat || code != exitError ||
				!strings.Contains(errs, "has not answered in time") {
				t.Errorf("status %q: exit %d, %s after it was to end: %s%s", args, code, late, out, errs)
			}
		}
	})
}
