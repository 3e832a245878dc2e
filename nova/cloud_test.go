package nova

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"go.uber.org/goleak"

	"lockstep/core"
	"lockstep/sim/lan"
)

// The tests ignore a cloud that is configured on the machine.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OS_") {
			os.Unsetenv(name)
		}
	}
	debug.SetGCPercent(400) // simulated servers make much garbage and keep little
	goleak.VerifyTestMain(m)
}

const (
	testPassword = "Tr0ub4dor&3-never-print-me"
	tokenPrefix  = "gAAAAAB-token-never-print-me-"
)

// fakeCloud is Keystone, Nova and Neutron with answers written by hand, in the shapes of the real ones. It lives on a network of
// its own, in the bubble of its test.
type fakeCloud struct {
	URL string

	t       testing.TB
	network *lan.Network
	server  http.Server
	max     string // Nova's newest microversion

	cinder    string // what its catalog calls Cinder; empty: there is none
	placement bool   // it is in its catalog

	mu        sync.Mutex
	routes    map[string]http.HandlerFunc // by "METHOD path" below the service
	requests  []seenRequest
	logins    int
	token     string              // the only good one
	password  string              // the only good one
	refuse    bool                // logins
	elsewhere map[string][]string // further regions in its catalog, by the service; their endpoints come first
	away      bool                // Keystone
	mute      bool                // Keystone takes the request and never answers
}

type seenRequest struct {
	method, path, query, microversion, body string
}

func newFakeCloud(t testing.TB) *fakeCloud {
	f := &fakeCloud{t: t, network: lan.New(1), max: "2.93", password: testPassword, routes: map[string]http.HandlerFunc{}}
	listener, err := f.network.Listen("cloud:0")
	if err != nil {
		t.Fatal(err)
	}
	f.URL = "http://" + listener.Addr().String()
	f.server.Handler, f.server.ErrorLog = f, log.New(io.Discard, "", 0) // of handlers that hang
	go func() { _ = f.server.Serve(listener) }()
	t.Cleanup(f.Close)
	return f
}

// Close ends the cloud and every connection to it.
func (f *fakeCloud) Close() { _ = f.server.Close() }

// on sets the answer to "GET /compute/…", "POST /compute/…", "GET /network/…".
func (f *fakeCloud) on(route string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.routes[route] = h
}

func (f *fakeCloud) answer(route string, status int, body string) {
	f.on(route, func(w http.ResponseWriter, _ *http.Request) { reply(w, status, body) })
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func (f *fakeCloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, seenRequest{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("X-OpenStack-Nova-API-Version"),
		string(body)})
	token, away, mute, h := f.token, f.away, f.mute, f.routes[r.Method+" "+r.URL.Path]
	f.mu.Unlock()
	switch {
	case r.URL.Path == "/identity/v3/auth/tokens" && r.Method == http.MethodPost:
		if mute {
			<-r.Context().Done()
			return
		}
		if away {
			reply(w, 503, "<html><body>503 Service Temporarily Unavailable</body></html>")
			return
		}
		f.login(w, body)
	case r.Header.Get("X-Auth-Token") != token:
		reply(w, 401, `{"error": {"message": "The request you have made requires authentication.", "code": 401, "title": "Unauthorized"}}`)
	case r.URL.Path == "/compute/v2.1/" && h == nil:
		reply(w, 200, fmt.Sprintf(`{"version": {"id": "v2.1", "status": "CURRENT", "version": %q, "min_version": "2.1", "links": []}}`, f.max))
	case h != nil:
		h(w, r)
	default:
		reply(w, 404, `{"itemNotFound": {"code": 404, "message": "The resource could not be found."}}`)
	}
}

func (f *fakeCloud) login(w http.ResponseWriter, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logins++
	var asked struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct {
						Password string `json:"password"`
					} `json:"user"`
				} `json:"password"`
				Credential struct {
					Secret string `json:"secret"`
				} `json:"application_credential"`
				Token struct {
					ID string `json:"id"`
				} `json:"token"`
			} `json:"identity"`
		} `json:"auth"`
	}
	json.Unmarshal(body, &asked)
	secret := asked.Auth.Identity.Password.User.Password + asked.Auth.Identity.Credential.Secret + asked.Auth.Identity.Token.ID
	if f.refuse || secret != f.password {
		// A Keystone that repeats what it was sent.
		reply(w, 401, fmt.Sprintf(`{"error": {"message": "Could not authenticate admin with %s", "code": 401, "title": "Unauthorized"}}`, secret))
		return
	}
	f.token = fmt.Sprintf("%s%d", tokenPrefix, f.logins)
	endpoint := func(kind, path string) string {
		var all []string
		for _, region := range append(slices.Clone(f.elsewhere[kind]), "RegionOne") {
			url := f.URL + path
			if region != "RegionOne" {
				url = "http://" + strings.ToLower(region) + ".example" + path
			}
			all = append(all, fmt.Sprintf(`{"id": "2", "interface": "public", "region": %q, "region_id": %q, "url": %q}`, region, region, url))
		}
		return fmt.Sprintf(`{"type": %q, "name": "x", "id": "1", "endpoints": [%s]}`, kind, strings.Join(all, ", "))
	}
	cinder := ""
	if f.cinder != "" {
		cinder = ", " + endpoint(f.cinder, "/volume/v3")
	}
	if f.placement {
		cinder += ", " + endpoint("placement", "/placement")
	}
	w.Header().Set("X-Subject-Token", f.token)
	reply(w, 201, fmt.Sprintf(`{"token": {"expires_at": %q, "issued_at": "2026-01-01T00:00:00.000000Z", "catalog": [%s, %s, %s%s]}}`,
		"2096-01-01T00:00:00.000000Z", endpoint("compute", "/compute/v2.1"), endpoint("network", "/network"), endpoint("identity", "/identity"),
		cinder))
}

// expireToken makes the issued token worthless.
func (f *fakeCloud) expireToken() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = "expired"
}

func (f *fakeCloud) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// seen are the requests so far whose "METHOD path?query" contains the text.
func (f *fakeCloud) seen(text string) []seenRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []seenRequest
	for _, r := range f.requests {
		if strings.Contains(r.method+" "+r.path+"?"+r.query, text) {
			found = append(found, r)
		}
	}
	return found
}

// halfway is a Jitter without chance.
func halfway(_ string, most time.Duration) time.Duration { return most / 2 }

// client is a Client of the cloud.
func (f *fakeCloud) client() *Client { return f.clientAt(0) }

// clientAt is a client of a cloud whose clock has that speed.
func (f *fakeCloud) clientAt(speed float64) *Client {
	c := Connect(&Config{
		cloud: "test", origin: "/etc/openstack/clouds.yaml",
		auth: gophercloud.AuthOptions{IdentityEndpoint: f.URL + "/identity", Username: "admin", Password: testPassword, DomainID: "default",
			Scope: &gophercloud.AuthScope{ProjectName: "admin", DomainID: "default"}, AllowReauth: true},
		endpoint: gophercloud.EndpointOpts{Region: "RegionOne"}, userAgent: "lockstep/test", transport: f.network.Transport("lockstep"),
		jitter: halfway, speed: speed,
	})
	f.t.Cleanup(c.Close)
	return c
}

// apiError is the *core.APIError that every failure must be.
func apiError(t testing.TB, err error) *core.APIError {
	t.Helper()
	e, ok := err.(*core.APIError)
	if !ok {
		t.Fatalf("got %T %v, want a *core.APIError", err, err)
	}
	return e
}
