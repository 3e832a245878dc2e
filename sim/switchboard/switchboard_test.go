package switchboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/crds"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
	"lockstep/sim/switchboard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is two servers with a Switchboard, and clients. The cloud's clock is paused.
type world struct {
	*switchboard.Switchboard
	t     *testing.T
	clock *clock.Clock
	kube  *kubeapi.Server
	cloud *openstack.Cloud
	http  map[bool]*http.Client // by whether it is for Kubernetes
	token string                // Keystone's
}

// enough is how long a client waits for an answer that never comes.
const enough = time.Minute

// newWorld returns a world in a bubble.
func newWorld(t *testing.T) *world {
	t.Helper()
	network := lan.New(1)
	return newWorldOn(t, network, network.Transport("test"))
}

// newWorldOn returns a world on a network (nil: the machine's), with the transport that reaches its OpenStack.
func newWorldOn(t *testing.T, network *lan.Network, transport *http.Transport) *world {
	t.Helper()
	w := &world{t: t, clock: clock.New(time.Now(), 1)}
	w.clock.Pause()
	var err error
	if w.kube, err = kubeapi.New(kubeapi.Options{Clock: w.clock, Network: network, CRDs: crds.All()}); err != nil {
		t.Fatal(err)
	}
	if err := w.kube.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kube.Close)
	if w.cloud, err = openstack.New(openstack.Options{Clock: w.clock, Network: network}); err != nil {
		t.Fatal(err)
	}
	if err := w.cloud.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cloud.Close() })
	if _, err := w.cloud.AddUser(openstack.UserSpec{Name: "anna", Password: "secret", Project: "admin",
		Roles: []string{"admin"}}); err != nil {
		t.Fatal(err)
	}
	w.Switchboard = switchboard.New(switchboard.Cloud{Clock: w.clock, Kubernetes: w.kube, OpenStack: w.cloud, User: kubeapi.Operator, Seed: 7})
	t.Cleanup(w.Close)
	toKube, err := rest.HTTPClientFor(w.kube.RESTConfig(kubeapi.Operator))
	if err != nil {
		t.Fatal(err)
	}
	w.http = map[bool]*http.Client{true: toKube, false: {Transport: transport}}
	t.Cleanup(func() {
		for _, c := range w.http {
			c.CloseIdleConnections()
		}
	})
	w.login()
	return w
}

// answer is a client's answer.
type answer struct {
	code   int
	header http.Header
	body   string
	err    error
	took   time.Duration
}

func (a answer) String() string { return fmt.Sprintf("%d %q, error %v", a.code, a.body, a.err) }

func (w *world) ask(agent, method, url, body string, header ...string) answer {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	defer cancel()
	return w.askFor(ctx, agent, method, url, body, header...)
}

func (w *world) askFor(ctx context.Context, agent, method, url, body string, header ...string) (a answer) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	began := time.Now()
	resp, err := w.http[strings.HasPrefix(url, "https")].Do(req)
	if err != nil {
		return answer{err: err, took: time.Since(began)}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(raw), err, time.Since(began)}
}

func (w *world) login() answer {
	w.t.Helper()
	a := w.ask("test", "POST", w.cloud.AuthURL()+"/auth/tokens", `{"auth": {"identity": {"methods": ["password"], "password": {"user":
		{"name": "anna", "password": "secret", "domain": {"name": "Default"}}}},
		"scope": {"project": {"name": "admin", "domain": {"name": "Default"}}}}}`)
	if a.code == http.StatusCreated {
		w.token = a.header.Get("X-Subject-Token")
	}
	return a
}

// read is an ordinary request to the server, as agent.
func (w *world) read(s fault.Server, agent string) answer {
	w.t.Helper()
	switch s {
	case fault.Kubernetes:
		return w.ask(agent, "GET", w.kube.URL()+"/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks", "")
	case fault.Identity:
		return w.login()
	case fault.Network:
		return w.ask(agent, "GET", w.cloud.URL()+"/network/v2.0/agents", "", "X-Auth-Token", w.token)
	}
	return w.ask(agent, "GET", w.cloud.URL()+"/compute/v2.1/servers", "", "X-Auth-Token", w.token)
}

// fine tells whether an answer is that of a healthy server.
func fine(a answer) bool {
	return a.err == nil && (a.code == http.StatusOK || a.code == http.StatusCreated) && json.Valid([]byte(a.body))
}

// What happens to a request while a fault is on. Kinds that do not affect reads have their own tests.
var met = map[string]func(w *world, s fault.Server) bool{
	"latency": func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		return fine(a) && a.took >= 100*time.Millisecond
	},
	"401": answers(401, ""), "403": answers(403, ""), "404": answers(404, ""), "500": answers(500, ""), "503": answers(503, ""),
	"429": func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		return a.code == 429 && a.header.Get("Retry-After") == "5"
	},
	"page-502": answers(502, "<title>502 Bad Gateway</title>"), "page-200": answers(200, "<title>Sign in</title>"),
	"refused": func(w *world, s fault.Server) bool {
		first := w.read(s, "test") // a connection that was open may break in another way
		return first.err != nil && errors.Is(w.read(s, "test").err, syscall.ECONNREFUSED)
	},
	"hang": func(w *world, s fault.Server) bool {
		done := make(chan answer, 1)
		go func() { done <- w.read(s, "test") }()
		select {
		case a := <-done:
			w.t.Logf("it answered %s", a)
			return false
		case <-time.After(enough):
		}
		w.Clear()
		return fine(<-done) // a request that hangs is answered when the fault is over
	},
	"reset": func(w *world, s fault.Server) bool { return w.read(s, "test").err != nil },
	"truncated": func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		return a.code < 300 && a.err != nil && a.body != "" && !json.Valid([]byte(a.body))
	},
	"short":     func(w *world, s fault.Server) bool { return spoiled(w.read(s, "test"), `{"`) },
	"malformed": func(w *world, s fault.Server) bool { return spoiled(w.read(s, "test"), `{'`) },
	"slow": func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		return fine(a) && a.took >= 100*time.Millisecond
	},
	"clock-skew": func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		date, err := http.ParseTime(a.header.Get("Date"))
		return fine(a) && err == nil && time.Until(date) > 4*time.Minute
	},
}

func spoiled(a answer, begin string) bool {
	return a.err == nil && a.code < 300 && strings.HasPrefix(a.body, begin) && !json.Valid([]byte(a.body))
}

func answers(code int, text string) func(*world, fault.Server) bool {
	return func(w *world, s fault.Server) bool {
		a := w.read(s, "test")
		return a.code == code && strings.Contains(a.body, text) && a.err == nil
	}
}

// Each fault of each server that affects reads: while it is on, it affects everybody except the cloud's own
// controllers, is counted, affects no other server, and is over when it is off.
func TestEachFaultHappensWhileItIsOn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		others := map[fault.Server]fault.Server{fault.Kubernetes: fault.Compute, fault.OpenStack: fault.Kubernetes,
			fault.Compute: fault.Network, fault.Network: fault.Compute, fault.Identity: fault.Kubernetes}
		tested := 0
		for _, st := range w.States() {
			happens := met[st.Kind]
			if happens == nil {
				continue
			}
			tested++
			switch st.Kind {
			case "latency":
				st.Latency = 100 * time.Millisecond
			case "slow":
				st.Bytes = 2000
			}
			if err := w.On(st.Setting); err != nil {
				t.Fatal(err)
			}
			if st.Server == fault.Identity && st.Kind != "clock-skew" {
				if a := w.read(fault.Compute, "test"); a.code != 401 {
					t.Errorf("%s: the token that was in use is still good: %s", st, a)
				}
			}
			if !happens(w, st.Server) {
				t.Errorf("%s: it does not happen: %s", st, w.read(st.Server, "test"))
			}
			if st.Server != fault.Identity && st.Kind != "refused" && st.Kind != "hang" {
				if a := w.read(st.Server, "lockstep-sim-controllers/1"); !fine(a) || a.took > 10*time.Second {
					t.Errorf("%s: the cloud's own controllers meet it: %s", st, a)
				}
				if n := w.state(st.Setting).Met; n < 1 || n > 3 {
					t.Errorf("%s: %d requests met it", st, n)
				}
			}
			if st.Server != fault.Identity {
				if a := w.read(others[st.Server], "test"); !fine(a) {
					t.Errorf("%s: %s is concerned: %s", st, others[st.Server], a)
				}
			}
			if err := w.Off(st.Server, st.Kind); err != nil {
				t.Fatal(err)
			}
			w.login()
			if a := w.read(st.Server, "test"); !fine(a) || a.header.Get("Date") != "" && skewed(a) {
				t.Errorf("%s: it is not over: %s", st, a)
			}
		}
		if tested < 60 {
			t.Errorf("%d faults were tested", tested)
		}
	})
}

func skewed(a answer) bool {
	date, err := http.ParseTime(a.header.Get("Date"))
	return err != nil || time.Until(date).Abs() > time.Minute
}

func (w *world) state(s fault.Setting) switchboard.State {
	w.t.Helper()
	for _, st := range w.States() {
		if st.Server == s.Server && st.Kind == s.Kind {
			return st
		}
	}
	w.t.Fatalf("there is no %s", s)
	return switchboard.State{}
}

func (w *world) on(text string) fault.Setting {
	w.t.Helper()
	s, err := fault.Parse(text)
	if err == nil {
		err = w.On(s)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) patch() answer {
	return w.ask("test", "PATCH", w.kube.URL()+"/api/v1/namespaces/default", `{"metadata": {"labels": {"a": "b"}}}`, "Content-Type",
		"application/merge-patch+json")
}

func (w *world) allowAll() {
	w.t.Helper()
	if err := w.kube.SetRules(kubeapi.Operator, kubeapi.AdminRules()); err != nil {
		w.t.Fatal(err)
	}
}

func TestConflictsConcernWrites(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.allowAll()
		w.on("kubernetes:409")
		w.on("compute:409")
		if a := w.patch(); a.code != 409 || !strings.Contains(a.body, "the object has been modified") {
			t.Errorf("a patch: %s", a)
		}
		if a := w.read(fault.Kubernetes, "test"); !fine(a) {
			t.Errorf("a list: %s", a)
		}
		review := w.ask("test", "POST", w.kube.URL()+"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", `+
				`"resource": "nodes"}}}`, "Content-Type", "application/json")
		if review.code != http.StatusCreated {
			t.Errorf("a question about rights: %s", review)
		}
		if a := w.ask("test", "PUT", w.cloud.URL()+"/compute/v2.1/os-services/disable", `{"host": "h", "binary": "nova-compute"}`, "X-Auth-Token",
			w.token); a.code != 409 {
			t.Errorf("Nova: %s", a)
		}
		if a := w.read(fault.Compute, "test"); !fine(a) {
			t.Errorf("a list of servers: %s", a)
		}
		w.Clear()
		if a := w.patch(); a.code != 200 {
			t.Errorf("a patch when it is over: %s", a)
		}
	})
}

// watch opens a watch on namespaces, and returns a function that reads its next line; an empty line is the end.
func (w *world) watch(t *testing.T) (next func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Hour)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", w.kube.URL()+"/api/v1/namespaces?watch=1&allowWatchBookmarks=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test")
	resp, err := w.http[true].Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	events := json.NewDecoder(resp.Body)
	return func() string {
		var event struct {
			Type   string
			Object struct {
				Code    int
				Message string
			}
		}
		if err := events.Decode(&event); err != nil {
			if errors.Is(err, io.EOF) {
				return "end"
			}
			return "broken"
		}
		return strings.TrimSpace(fmt.Sprint(event.Type, " ", event.Object.Message))
	}
}

// after skips the events that a watch begins with, and bookmarks.
func after(next func() string) string {
	for {
		if line := next(); line != "ADDED" && line != "BOOKMARK" {
			return line
		}
	}
}

func TestWhatHappensToWatches(t *testing.T) {
	for text, want := range map[string]string{
		"kubernetes:watches-end=10h": "end",
		"kubernetes:watches-cut":     "broken",
		"kubernetes:503":             "end",
	} {
		t.Run(text, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w := newWorld(t)
				next := w.watch(t)
				next()
				began := time.Now()
				s := w.on(text)
				if got := after(next); got != want {
					t.Errorf("a running watch: %s", got)
				}
				if took := time.Since(began); took > 2*time.Minute { // a bookmark comes each minute, the end by itself after thirty
					t.Errorf("a running watch went on for %s", took)
				}
				if n := w.state(s).Met; s.Kind != "503" && n == 0 { // of 503, only requests count
					t.Error("it was not counted")
				}
				w.Clear()
				if got := w.watch(t)(); got != "ADDED" {
					t.Errorf("a watch when it is over: %s", got)
				}
			})
		})
	}
}

func TestAWatchOnHistoryThatIsGone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.on("kubernetes:410")
		if got := w.watch(t)(); !strings.HasPrefix(got, "ERROR too old resource version") {
			t.Errorf("a watch: %s", got)
		}
		if a := w.read(fault.Kubernetes, "test"); !fine(a) {
			t.Errorf("a list: %s", a)
		}
	})
}

func TestASilentWatchGoesOnWhenItIsOver(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.allowAll()
		next := w.watch(t)
		for next() != "BOOKMARK" {
		}
		w.on("kubernetes:watches-silent")
		heard := make(chan string, 1)
		go func() { heard <- after(next) }()
		if a := w.patch(); a.code != http.StatusOK {
			t.Fatalf("a change: %s", a)
		}
		if a := w.read(fault.Kubernetes, "test"); !fine(a) {
			t.Errorf("a list: %s", a)
		}
		bubble.Until(t, "the event meets it", func() bool { return w.metBy("watches-silent") > 0 })
		w.Clear()
		if got := <-heard; got != "MODIFIED" && got != "broken" {
			t.Errorf("when it is over: %s", got)
		}
	})
}

func (w *world) metBy(kind string) int {
	return w.state(fault.Setting{Server: fault.Kubernetes, Kind: kind}).Met
}

func TestLoginsThatExpire(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.on("kubernetes:token-expires")
		if a := w.read(fault.Kubernetes, "test"); a.code != 401 {
			t.Errorf("Kubernetes: %s", a)
		}
		w.Clear()
		if a := w.read(fault.Kubernetes, "test"); !fine(a) {
			t.Errorf("Kubernetes, when it is over: %s", a)
		}
		w.on("identity:token-expires=100ms")
		if a := w.read(fault.Compute, "test"); a.code != 401 {
			t.Errorf("Nova with the old token: %s", a)
		}
		if a := w.login(); a.code != http.StatusCreated {
			t.Fatalf("a new login: %s", a)
		}
		bubble.Until(t, "the new token has expired", func() bool { return w.read(fault.Compute, "test").code == 401 })
	})
}

func TestARateIsTheSameWithTheSameSeed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		var first string
		for range 2 {
			w := newWorld(t)
			w.on("compute:503,rate=0.5")
			var seen strings.Builder
			for range 20 {
				fmt.Fprint(&seen, w.read(fault.Compute, "test").code, " ")
			}
			if first == "" {
				first = seen.String()
			}
			if n := strings.Count(first, "503"); seen.String() != first || n < 4 || n > 16 {
				t.Errorf("%s, and before %s", seen.String(), first)
			}
		}
	})
}

func TestAFaultIsOverAfterSomeRequestsOrSomeTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.on("compute:503,count=2")
		for i, want := range []int{503, 503, 200} {
			if a := w.read(fault.Compute, "test"); a.code != want {
				t.Errorf("request %d: %s", i+1, a)
			}
		}
		if st := w.state(s); st.On || st.Met != 2 {
			t.Errorf("after two requests: %+v", st)
		}
		s = w.on("network:503,for=10m")
		w.clock.Advance(9 * time.Minute)
		if a := w.read(fault.Network, "test"); a.code != 503 {
			t.Errorf("after nine minutes: %s", a)
		}
		w.clock.Advance(time.Minute)
		bubble.Until(t, "the time on the cloud's clock is over", func() bool { return !w.state(s).On })
		s = w.on("network:503,for-real=1ms")
		bubble.Until(t, "the time on the wall's clock is over", func() bool { return !w.state(s).On })
		if a := w.read(fault.Network, "test"); !fine(a) {
			t.Errorf("when it is over: %s", a)
		}
	})
}

func TestASwitch(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.on("compute:429,retry-after=30")
		for _, want := range []bool{false, true} {
			if err := w.Toggle(fault.Compute, "429"); err != nil {
				t.Fatal(err)
			}
			if st := w.state(s); st.On != want || st.RetryAfter != 30*time.Second {
				t.Errorf("toggled: %+v", st)
			}
		}
		for _, wrong := range []fault.Setting{{Server: fault.Management, Kind: "503"}, {Server: fault.Compute, Kind: "410"},
			{Server: "moon", Kind: "503"}} {
			if err := w.On(wrong); err == nil {
				t.Errorf("%s was switched on", wrong)
			}
		}
		if err := w.Toggle(fault.Compute, "nothing"); err == nil {
			t.Error("a fault that there is not was switched on")
		}
		w.Close()
		if err := w.On(s); err == nil || w.state(s).On {
			t.Error("it was switched on after the end")
		}
	})
}

func TestAPlanOfFaults(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		s := fault.Setting{Server: fault.Compute, Kind: "503"}
		var log bytes.Buffer
		w.Play(w.clock.Now(), []fault.Planned{
			{Setting: s, From: 10 * time.Minute, Until: 20 * time.Minute},
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if w.state(s).On {
			t.Error("it is on before its time")
		}
		w.clock.Advance(10 * time.Minute)
		bubble.Until(t, "it is on", func() bool { return w.state(s).On })
		w.clock.Advance(10 * time.Minute)
		bubble.Until(t, "it is off", func() bool { return !w.state(s).On })
		w.Close()
		if log.Len() > 0 {
			t.Error(log.String())
		}
	})
}

// Everything at once, from several sides: for the race detector and the leak detector. In a bubble it would happen one
// after another.
func TestManyHands(t *testing.T) {
	w := newWorldOn(t, nil, &http.Transport{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			for _, st := range w.States() {
				if st.Kind != "hang" && st.Kind != "refused" {
					_ = w.Toggle(st.Server, st.Kind)
				}
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		select {
		case <-done:
			w.Clear()
			w.login()
			if a := w.read(fault.Compute, "test"); !fine(a) {
				t.Errorf("in the end: %s", a)
			}
			return
		default:
			short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
			w.askFor(short, "test", "GET", w.kube.URL()+"/api/v1/nodes", "")
			stop()
		}
	}
}
