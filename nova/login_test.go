package nova

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// A password that has become wrong costs few refused logins, however many lists are polled and however long: Keystone locks a user
// out after five or six (docs/mosk.md#lock-out).
func TestAWrongPasswordDoesNotLockTheUserOut(t *testing.T) {
	for name, wrong := range map[string]func(*fakeCloud){
		"from the start": func(f *fakeCloud) { f.refuse = true },
		"later":          func(*fakeCloud) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				wrong(n.fakeCloud)
				_, b := poll(t, n.client())
				before := 0
				if name == "later" {
					b.await("live", func() bool { return b.state(core.SourceInstances) == core.SourceLive })
					before = 1
					n.set(func() { n.refuse, n.token = true, "revoked" }) // as when somebody changes the password
				}
				time.Sleep(3 * time.Hour)
				n.set(func() { before = n.logins - before })
				if before > usualTimes.tries {
					t.Errorf("Keystone has refused %d logins", before)
				}
				b.mu.Lock()
				src := b.states[core.SourceInstances]
				b.mu.Unlock()
				if src.Err == nil || src.Err.Kind != core.ErrUnauthorized || !strings.Contains(src.Err.Remedy, "not sent to Keystone again") {
					t.Errorf("it is told: %+v", src.Err)
				}
			})
		})
	}
}

// Several calls that find their token worthless at the same moment send the refused password once.
func TestCallsAtOneMomentAreRefusedOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		held := make(chan struct{})
		f.on("GET /compute/v2.1/servers/detail", noServers)
		c := f.client()
		if err := list(c); err != nil {
			t.Fatal(err)
		}
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, _ *http.Request) {
			<-held
			reply(w, 401, `{"error": {"message": "The request you have made requires authentication.", "code": 401}}`)
		})
		f.set(func() { f.refuse = true })
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if e := apiError(t, list(c)); e.Kind != core.ErrUnauthorized {
					t.Error(e)
				}
			})
		}
		time.Sleep(2 * time.Second)
		close(held)
		wg.Wait()
		if f.logins != 2 {
			t.Errorf("%d logins, want the first and one that was refused", f.logins)
		}
	})
}

// secretCloudsYAML is the clouds.yaml of the cluster's secret.
func secretCloudsYAML(f *fakeCloud, password string) string {
	return fmt.Sprintf("clouds: {admin: {auth: {auth_url: %s/identity, username: admin, password: %q, project_name: admin}, region_name: "+
		"RegionOne}}", f.URL, password)
}

// The cluster's secret is read when it is first needed, again when it could not be read, and again after a refused login. New
// credentials are used at once.
func TestTheClustersSecretIsReadAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		reads, away, password := 0, true, testPassword
		cfg, err := Load(Options{Transport: f.network.Transport("lockstep"), Jitter: halfway, Secret: func(context.Context) ([]byte, error) {
			if reads++; away {
				return nil, &core.APIError{Kind: core.ErrUnauthorized, Server: core.ServerKubernetes, Call: "get secret x", Message: "Unauthorized"}
			}
			return []byte(secretCloudsYAML(f, password)), nil
		}})
		if err != nil || reads != 0 {
			t.Fatalf("%d reads, %v", reads, err)
		}
		c := Connect(cfg)
		t.Cleanup(c.Close)
		for range 3 {
			if e := apiError(t, list(c)); e.Call != "get secret x" || e.Server != core.ServerOpenStack {
				t.Error(e)
			}
		}
		if again := time.Until(c.retryAt()); reads != 1 || again > usualTimes.loginPauseMax {
			t.Errorf("%d reads, again in %v", reads, again)
		}
		away = false
		time.Sleep(time.Until(c.retryAt()))
		if err := list(c); err != nil || reads != 2 || f.logins != 1 {
			t.Fatalf("%d reads, %d logins, %v", reads, f.logins, err)
		}

		// Somebody changes the password, and then the secret.
		f.set(func() { f.password, f.token = "another", "revoked" })
		e := apiError(t, list(c))
		if e.Kind != core.ErrUnauthorized {
			t.Error(e)
		}
		if e := apiError(t, list(c)); e.Kind != core.ErrUnauthorized || reads != 3 || f.logins != 2 {
			t.Errorf("%d reads, %d logins, %v", reads, f.logins, e)
		}
		password = "another"
		time.Sleep(time.Until(c.retryAt()))
		if err := list(c); err != nil || reads != 4 || f.logins != 3 {
			t.Errorf("%d reads, %d logins, %v", reads, f.logins, err)
		}
		// Both at the same moment: no call waits.
		f.set(func() { f.password, f.token = "a third", "revoked" })
		password = "a third"
		_ = list(c) // its token is worthless
		if err := list(c); err != nil {
			t.Errorf("after a rotation: %v", err)
		}
	})
}

// A clouds.yaml that was corrected counts without a restart.
func TestAMendedFileIsReadAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		path := filepath.Join(t.TempDir(), "clouds.yaml")
		write := func(password string) {
			if err := os.WriteFile(path, []byte(secretCloudsYAML(f, password)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("wrong")
		o := Options{Cloud: "admin", Transport: f.network.Transport("lockstep"), Jitter: halfway}
		read := func(context.Context) (*Config, error) {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			own := o
			own.CloudsYAML = content
			return load(own)
		}
		cfg, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cfg.read = read
		c := Connect(cfg)
		t.Cleanup(c.Close)
		if e := apiError(t, list(c)); e.Kind != core.ErrUnauthorized || strings.Contains(fmt.Sprintf("%v %+v", e, *e), "wrong,") {
			t.Error(e)
		}
		write(testPassword)
		time.Sleep(time.Until(c.retryAt()))
		if err := list(c); err != nil || f.logins != 2 {
			t.Errorf("%d logins, %v", f.logins, err)
		}
	})
}

// Nothing renews a token that was given ready-made, as after a federated login. When it has expired, the one that the file has by then
// counts without a restart.
func TestAReadyMadeTokenThatHasExpiredIsReadAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		given := "first"
		read := func(context.Context) (*Config, error) {
			return load(Options{Cloud: "admin", Transport: f.network.Transport("lockstep"), Jitter: halfway,
				CloudsYAML: fmt.Appendf(nil, "clouds: {admin: {auth_type: token, auth: {auth_url: %s/identity, token: %s, project_id: p}, "+
					"region_name: RegionOne}}", f.URL, given)})
		}
		cfg, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cfg.read = read
		c := Connect(cfg)
		t.Cleanup(c.Close)
		f.set(func() { f.password = "first" })
		if err := list(c); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.password, f.token = "second", "expired" })
		if e := apiError(t, list(c)); e.Kind != core.ErrUnauthorized {
			t.Error(e)
		}
		given = "second"
		time.Sleep(time.Until(c.retryAt()))
		if err := list(c); err != nil {
			t.Error(err)
		}
	})
}

func TestLoadReadsAgainWhatCanChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clouds.yaml")
	t.Setenv("OS_CLIENT_CONFIG_FILE", path)
	write := func(password string) {
		if err := os.WriteFile(path, []byte("clouds: {a: {auth: {auth_url: http://k/v3, username: u, password: "+password+"}}}"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one-word")
	cfg, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"another", "a-third"} {
		write(password)
		if cfg, err = cfg.read(t.Context()); err != nil || cfg.auth.Password != password {
			t.Fatalf("it reads %v, %v", cfg, err)
		}
	}
}

// When the catalog has Nova in several regions and none was named, none is guessed. Other services with several regions are taken
// from Nova's.
func TestARegionIsNotGuessed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.elsewhere = map[string][]string{"compute": {"Another"}, "network": {"Another"}}
		c := f.client()
		c.Config().endpoint.Region = ""
		e := apiError(t, list(c))
		if e.Kind != core.ErrConfiguration || e.Message != "it is in the regions Another, RegionOne, and none was named" ||
			!strings.Contains(e.Remedy, "region_name") {
			t.Errorf("%s, remedy %q", e, e.Remedy)
		}
		f.on("GET /compute/v2.1/servers/detail", noServers)
		if err := list(f.client()); err != nil {
			t.Errorf("with a name: %v", err)
		}
		f.set(func() { f.elsewhere = map[string][]string{"network": {"Another"}} })
		c = f.client()
		c.Config().endpoint.Region = ""
		if err := list(c); err != nil {
			t.Fatal(err)
		}
		if s := c.current.Load(); !strings.HasPrefix(s.network.Endpoint, f.URL) {
			t.Errorf("Neutron is %s", s.network.Endpoint)
		}
	})
}
