package kube

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/permittest"
	"lockstep/sim/alertmanager"
	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/kubeapi"
)

// alertWrites has one of each kind of change that is written to Alertmanager.
var alertWrites = []core.Change{
	core.MakeSilence{Matchers: []core.Matcher{{Name: "alertname", Value: "A", Equal: true}}, By: "ann", Comment: "c",
		Until: time.Now().Add(1000 * time.Hour)},
	core.ExpireSilence{Silence: core.Silence{ID: "00000000-0000-4000-8000-000000000000"}},
}

// kubeWrites has one of each kind of change that is written to Kubernetes.
var kubeWrites = []core.Change{
	core.SetNodeAnnotation{Node: nodeRef("n1"), Key: mode, New: ptr("skip")},
	core.SetLock{Lock: lockRef("l"), Was: core.LockActive, To: core.LockStatus{State: core.LockInactive}},
	core.SetInnerState{Lock: lockRef("l"), To: "active"},
	core.CreateLock{Lock: newLock},
	core.CreateRequest{Request: core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n2", Node: "n2", Scope: core.ScopeOS,
		Release: "1.0"}},
	core.AddFinalizer{Object: requestRef, Finalizer: "b.c/d"},
	core.RemoveFinalizer{Object: requestRef, Finalizer: "a.b/c"},
	core.DeleteObject{Object: lockRef("l")},
	core.DeletePod{Pod: core.Ref{Namespace: "openstack", Name: "p", UID: "uid-p"}},
	core.RestartPod{Pod: core.Ref{Namespace: "openstack", Name: "p", UID: "uid-p"}},
	core.DeleteClaim{Claim: core.Ref{Namespace: "openstack", Name: "c", UID: "uid-c"}},
	core.SetTempest{Deployment: core.Ref{Namespace: "openstack", Name: "osh", UID: "osdpl"}, Add: true},
}

var newLock = core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "openstack-n2", Node: "n2", Controller: "openstack", Release: "1.0"}

var requestRef = core.Ref{Kind: core.KindNodeMaintenanceRequest, Name: "n1", UID: "uid-r"}

// managementWrites has one of each kind of change that is written to a management cluster; the object is its Cluster.
func managementWrites(cluster core.Ref) []core.Change {
	return []core.Change{
		core.SetMaintenance{Object: cluster, Old: new(bool), On: true},
		core.RequestReboot{Cluster: cluster, Machines: []string{"cmp-1"}},
		core.SetAutoPause{Pause: pauseRef, Old: []string{"A"}, New: []string{"A", "B"}},
		core.SetRelease{Cluster: cluster, Old: "mosk-17-4-0-25-1", New: "mosk-21-0-0-25-2"},
		core.SetCommence{Plan: planRef, Index: 0, ID: "openstack", Name: "Update OpenStack", Status: "NotStarted", On: true},
		core.SetGroup{Group: core.Ref{Kind: core.KindUpdateGroup, Namespace: "prod", Name: "rack-a"}, Cluster: "mos",
			New: &core.GroupSettings{Index: 2, Concurrent: 1}},
		core.SetMachineGroup{Machine: machineRef, New: "rack-a"},
		core.SetUpgradeIndex{Machine: machineRef, New: new(1)},
	}
}

var machineRef = core.Ref{Kind: core.KindMachine, Namespace: "prod", Name: "cmp-1"}

var planRef = core.Ref{Kind: core.KindUpdatePlan, Namespace: "prod", Name: "mos-21.0.0", UID: "uid-plan"}

var pauseRef = core.Ref{Kind: core.KindAutoPause, Namespace: "prod", Name: "mos", UID: "uid-pause"}

// deletes tells whether a change is a deletion, whose answer nobody reads.
func deletes(c core.Change) bool {
	switch c.(type) {
	case core.DeleteObject, core.DeletePod, core.RestartPod, core.DeleteClaim, core.ExpireSilence:
		return true
	}
	return false
}

// strange replaces a server's answers to writes.
type strange struct {
	next   http.RoundTripper
	answer func(*http.Response) (*http.Response, error)
	reads  bool // those, too
	sent   atomic.Int64
}

func (s *strange) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil || r.Method == http.MethodGet && !s.reads || strings.Contains(r.URL.Path, "selfsubjectaccessreviews") {
		return resp, err
	}
	s.sent.Add(1)
	return s.answer(resp)
}

func with(status int, kind, body string) func(*http.Response) (*http.Response, error) {
	return func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		resp.StatusCode, resp.Status, resp.ContentLength = status, http.StatusText(status), int64(len(body))
		resp.Header = http.Header{"Content-Type": {kind}, "Location": {"/api"}}
		if kind == "" {
			resp.Header.Del("Content-Type")
		}
		resp.Body = io.NopCloser(strings.NewReader(body))
		return resp, nil
	}
}

// cutBody is a body that breaks off.
type cutBody struct{ io.Reader }

func (cutBody) Close() error { return nil }

// failing is the end of a body that breaks off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// strangeAnswers are answers that an API server does not give.
var strangeAnswers = map[string]func(*http.Response) (*http.Response, error){
	"a page":                       with(200, "text/html", "<html>Log in to the network</html>"),
	"a page that was made":         with(201, "text/html", "<html>Log in to the network</html>"),
	"a redirection":                with(302, "text/html", "<a href=/api>Found</a>"),
	"a redirection of the request": with(307, "text/html", "<a href=/api>Found</a>"),
	"no content":                   with(204, "", ""),
	"text":                         with(200, "text/plain", "OK"),
	"502":                          with(502, "text/html", "<html>Bad Gateway</html>"),
	"503":                          with(503, "text/plain", "no backend"),
	"504":                          with(504, "text/html", "<html>Gateway Timeout</html>"),
	"408":                          with(408, "text/html", "<html>Request Timeout</html>"),
	"a connection that breaks off": func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		return nil, io.EOF
	},
	"something that is no HTTP": func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		return nil, errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0"`)
	},
	"no answer": func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		<-resp.Request.Context().Done()
		return nil, resp.Request.Context().Err()
	},
}

// unreadable are answers that may be the API server's but cannot be read: a deletion ignores their body, and may count as accepted.
var unreadable = map[string]func(*http.Response) (*http.Response, error){
	"not JSON":             with(200, "application/json", "{{{"),
	"JSON that is cut":     with(200, "application/json", `{"apiVersion": "v1", "kind": "No`),
	"another kind of JSON": with(200, "application/json", `["x"]`),
	"no object":            with(200, "application/json", `{"message": "OK"}`),
	"nothing":              with(200, "application/json", ""),
	"a body that breaks off": func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		resp.Body = cutBody{io.MultiReader(strings.NewReader(`{"apiVersion"`), failing{io.ErrUnexpectedEOF})}
		return resp, nil
	},
	"a body that is reset": func(resp *http.Response) (*http.Response, error) {
		resp.Body.Close()
		resp.Body = cutBody{failing{errors.New("stream error: stream ID 7; INTERNAL_ERROR")}}
		return resp, nil
	},
}

// An answer that an API server does not give, or that cannot be read, says nothing about the write: it may have been made, and does
// not count as refused.
func TestAStrangeAnswerToAWriteIsNoRefusal(t *testing.T) {
	for server, has := range map[core.Server][]core.Change{core.ServerKubernetes: kubeWrites,
		core.ServerManagement: managementWrites(core.Ref{}), core.ServerAlertmanager: alertWrites} {
		if got, want := kindsOf(has), kindsOf(engine.ChangesAt(server)); !slices.Equal(got, want) {
			t.Errorf("this test writes %v to %s; there are %v", got, server, want)
		}
	}
	check := func(change core.Change, what string, answer func(*http.Response) (*http.Response, error),
		write func(*testing.T, *strange) error) {
		t.Run(fmt.Sprintf("%T/%s", change, what), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				s := &strange{answer: answer}
				began := time.Now()
				err := write(t, s)
				_, unread := unreadable[what]
				taken := unread && deletes(change)
				var e *core.APIError
				if errors.As(err, &e) && !e.Uncertain() || err == nil && !taken || err != nil && e == nil {
					t.Errorf("got %v", err)
				}
				if sent := s.sent.Load(); sent != 1 {
					t.Errorf("it was sent %d times", sent)
				}
				if took := time.Since(began); took > callTimeout+time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	for _, answers := range []map[string]func(*http.Response) (*http.Response, error){strangeAnswers, unreadable} {
		for what, answer := range answers {
			for _, change := range kubeWrites {
				check(change, what, answer, func(t *testing.T, s *strange) error {
					c := newCluster(t, kubeapi.Options{})
					c.create(node("n1"))
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l},
					  spec: {controllerName: openstack, nodeName: n1},
					  status: {state: active}}`)
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeMaintenanceRequest, metadata: {name: n1, uid: uid-r, finalizers: [a.b/c]},
					  spec: {nodeName: n1, scope: os}}`)
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeployment, metadata: {name: osh, namespace: openstack, uid: osdpl},
					  spec: {openstack_version: antelope}}`)
					c.create(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: openstack, uid: uid-p},
					  spec: {nodeName: n1, containers: [{name: c, image: i}]}}`)
					c.create(volumeClaim("openstack", "c", "v"))
					return writes(t, c.through(s)).write(change)
				})
			}
			for _, change := range alertWrites {
				check(change, what, answer, func(t *testing.T, s *strange) error {
					c := withAlertmanager(t, alertmanager.New(clock.New(time.Now(), 1), nil))
					return NewAlertWriter(c.through(s), alertPlace).Write(t.Context(), permittest.For(t, change), change)
				})
			}
			for i, change := range managementWrites(core.Ref{}) {
				check(change, what, answer, func(t *testing.T, s *strange) error {
					c := planned(t)
					err := writesManagement(t, c.through(s)).write(managementWrites(c.refOf(core.KindCluster, "mos"))[i])
					if e := Describe(err, ""); e != nil && e.Server != core.ServerManagement {
						t.Errorf("it is of the server %q", e.Server)
					}
					return err
				})
			}
		}
	}
}

// A lock that was made without its release was made: a refused release is not a refusal of the lock.
func TestALockThatIsHalfMadeIsNoRefusal(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n2"))
		c.AddFault(kubeapi.Fault{Verb: "patch", Match: ours, Code: http.StatusForbidden})
		err := writes(t, c.client(kubeapi.Admin)).write(core.CreateLock{Lock: newLock})
		if e := Describe(err, ""); e == nil || !e.Uncertain() || !strings.Contains(e.Message, "only the lock was made") {
			t.Errorf("got %v", err)
		}
	})
}

// kindsOf are the kinds of changes, sorted.
func kindsOf(changes []core.Change) []string {
	var kinds []string
	for _, c := range changes {
		kinds = append(kinds, fmt.Sprintf("%T", c))
	}
	slices.Sort(kinds)
	return kinds
}

// through is a client of the cluster's administrator whose answers go through s.
func (c *cluster) through(s *strange) *Client {
	c.t.Helper()
	client := c.client(kubeapi.Admin)
	s.next = c.network.Transport("lockstep")
	config := *client.session.Load().config
	config.Transport, config.WrapTransport = s, nil
	session, err := newSession(&config, client.secrets, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	client.session.Store(session)
	return client
}

// Only the API itself says that an object is gone: a 404 of a proxy, or of an API server that does not know the kind yet, does not.
func TestOnlyTheAPISaysThatAnObjectIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, body string
		want       core.ErrorKind
	}{
		"the API": {"application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,` +
			`"message":"nodeworkloadlocks.lcm.mirantis.com \"l\" not found","details":{"name":"l"}}`, core.ErrNotFound},
		"no such path":         {"text/plain", "404 page not found\n", core.ErrOther},
		"a load balancer":      {"text/plain", "default backend - 404", core.ErrOther},
		"a page":               {"text/html", "<html>Not Found</html>", core.ErrOther},
		"another one's answer": {"application/json", `{"message":"no Route matched with those values"}`, core.ErrOther},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				client := c.client(kubeapi.Operator)
				session := client.session.Load()
				session.http.Transport = &strange{next: session.http.Transport, answer: with(404, tt.kind, tt.body), reads: true}
				checker := NewChecker(client)
				_, lock := checker.Lock(t.Context(), core.Ref{Kind: core.KindNodeWorkloadLock, Name: "l", UID: "u"})
				_, node := checker.Node(t.Context(), core.Ref{Kind: core.KindNode, Name: "n", UID: "u"})
				management := NewManagementChecker(client)
				_, plan := management.Object(t.Context(), planRef)
				for _, err := range []error{lock, node, plan} {
					if e := Describe(err, ""); e == nil || e.Kind != tt.want || e.Status != 404 {
						t.Errorf("%v, want %s", err, tt.want)
					}
				}
				// An older release does not know this kind: then there is none.
				if _, err := management.Object(t.Context(), pauseRef); Describe(err, "").Kind != core.ErrNotFound {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// An answer that is no list does not say that there is nothing.
func TestAnAnswerThatIsNoListSaysNothing(t *testing.T) {
	for name, body := range map[string]string{
		"a Status":   `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"who are you"}`,
		"an object":  `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`,
		"odd items":  `{"kind":"PodList","apiVersion":"v1","items":{}}`,
		"no items":   `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`,
		"not a kind": `{"items":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(node("n1"))
				client := c.client(kubeapi.Operator)
				session := client.session.Load()
				session.http.Transport = &strange{next: session.http.Transport, answer: with(200, "application/json", body), reads: true}
				checker := NewChecker(client)
				_, ready := checker.NotReadyPods(t.Context(), "openstack", "n1")
				_, pod := checker.Pod(t.Context(), "openstack", "p")
				for _, err := range []error{ready, pod} {
					if e := Describe(err, ""); e == nil || e.Kind == core.ErrNotFound {
						t.Errorf("%v", err)
					}
				}
				_, o := watchCluster(t, client, WatchOptions{})
				o.wait("no nodes, and why", func(v *view) bool {
					return v.state[core.SourceNodes] == core.SourceFailed && v.err[core.SourceNodes] != nil
				})
			})
		})
	}
}

// A redirection to another server is not followed: the login would go with it.
func TestALoginStaysWithItsServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		client := c.client(kubeapi.Operator)
		session := client.session.Load()
		elsewhere := func(resp *http.Response) (*http.Response, error) {
			resp, err := with(302, "text/html", "<a>Found</a>")(resp)
			resp.Header.Set("Location", "http://elsewhere.example/api")
			return resp, err
		}
		s := &strange{next: session.http.Transport, answer: elsewhere, reads: true}
		session.http.Transport = s
		_, err := NewChecker(client).Node(t.Context(), core.Ref{Kind: core.KindNode, Name: "n", UID: "u"})
		if e := Describe(err, ""); e == nil || e.Kind == core.ErrNotFound || s.sent.Load() != 1 {
			t.Errorf("%v, after %d requests", err, s.sent.Load())
		}
		_, err = (&alertAPI{client: client}).call(t.Context(), alertPlace, http.MethodGet, "alerts", nil, nil)
		if err == nil || s.sent.Load() != 2 {
			t.Errorf("%v, after %d requests", err, s.sent.Load())
		}
	})
}
