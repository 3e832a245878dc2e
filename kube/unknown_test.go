package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// kubeWrites are all calls of core.KubernetesWriter that change something.
var kubeWrites = map[string]func(context.Context, *Writer) error{
	"SetNodeAnnotation": func(ctx context.Context, w *Writer) error {
		return w.SetNodeAnnotation(ctx, nodeRef("n1"), mode, nil, ptr("skip"), false)
	},
	"SetLock": func(ctx context.Context, w *Writer) error {
		return w.SetLock(ctx, lockRef("l"), core.LockActive, core.LockStatus{State: core.LockInactive}, false)
	},
	"SetInnerState": func(ctx context.Context, w *Writer) error {
		return w.SetInnerState(ctx, lockRef("l"), "", "active", false)
	},
	"CreateLock": func(ctx context.Context, w *Writer) error {
		return w.CreateLock(ctx, newLock, false)
	},
	"CreateRequest": func(ctx context.Context, w *Writer) error {
		r := core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n2", Node: "n2", Scope: core.ScopeOS, Release: "1.0"}
		return w.CreateRequest(ctx, r, false)
	},
	"AddFinalizer": func(ctx context.Context, w *Writer) error { return w.AddFinalizer(ctx, requestRef, "b.c/d", false) },
	"RemoveFinalizer": func(ctx context.Context, w *Writer) error {
		return w.RemoveFinalizer(ctx, requestRef, "a.b/c", false)
	},
	"Delete": func(ctx context.Context, w *Writer) error { return w.Delete(ctx, lockRef("l"), false) },
	"DeletePod": func(ctx context.Context, w *Writer) error {
		return w.DeletePod(ctx, core.Ref{Namespace: "openstack", Name: "p", UID: "uid-p"}, false)
	},
	"DeleteClaim": func(ctx context.Context, w *Writer) error {
		return w.DeleteClaim(ctx, core.Ref{Namespace: "openstack", Name: "c", UID: "uid-c"}, false)
	},
	"SetOpenStackService": func(ctx context.Context, w *Writer) error {
		return w.SetOpenStackService(ctx, core.Ref{Namespace: "openstack", Name: "osh", UID: "osdpl"}, "tempest", true, nil, false)
	},
}

var kubeReads = []string{"NodeAnnotation", "Lock", "NodeLocks", "Request", "DeletionRequest", "ControllerDeployment", "NotReadyPods",
	"DaemonPods", "Pod", "OpenStackServices", "StatefulSet", "VolumeClaims", "PersistentVolume"}

var newLock = core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "openstack-n2", Node: "n2", Controller: "openstack", Release: "1.0"}

var requestRef = core.Ref{Kind: core.KindNodeMaintenanceRequest, Name: "n1", UID: "uid-r"}

// managementWrites are those of core.ManagementWriter.
var managementWrites = map[string]func(context.Context, *cluster, *ManagementWriter) error{
	"SetMaintenance": func(ctx context.Context, c *cluster, w *ManagementWriter) error {
		return w.SetMaintenance(ctx, c.refOf(core.KindCluster, "mos"), new(bool), true, false)
	},
	"RequestReboot": func(ctx context.Context, c *cluster, w *ManagementWriter) error {
		return w.RequestReboot(ctx, c.refOf(core.KindCluster, "mos"), []string{"cmp-1"}, false)
	},
}

var managementReads = []string{"Maintenance", "MachinesInMaintenance", "RebootRequest"}

// strange answers writes in a server's place, after that has answered.
type strange struct {
	next   http.RoundTripper
	answer func(*http.Response) (*http.Response, error)
	sent   int
}

func (s *strange) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil || r.Method == http.MethodGet || strings.Contains(r.URL.Path, "selfsubjectaccessreviews") {
		return resp, err
	}
	s.sent++
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

// unreadable are answers that may be the API server's, and cannot be read: a deletion does not look at them, and may count as taken.
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

// An answer that an API server does not give, or that cannot be read, says nothing of the write: it may have been made, and counts as
// refused by no means.
func TestAStrangeAnswerToAWriteIsNoRefusal(t *testing.T) {
	for _, methods := range []struct {
		of            reflect.Type
		reads, writes []string
	}{
		{reflect.TypeFor[core.KubernetesWriter](), kubeReads, keysOf(kubeWrites)},
		{reflect.TypeFor[core.ManagementWriter](), managementReads, keysOf(managementWrites)},
	} {
		for i := range methods.of.NumMethod() {
			if name := methods.of.Method(i).Name; slices.Contains(methods.writes, name) == slices.Contains(methods.reads, name) {
				t.Errorf("%s of %s is neither a read nor a write of this test, or both", name, methods.of)
			}
		}
	}
	check := func(name, what string, answer func(*http.Response) (*http.Response, error), write func(*testing.T, *strange) error) {
		t.Run(name+"/"+what, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				s := &strange{answer: answer}
				began := time.Now()
				err := write(t, s)
				_, deletes := unreadable[what]
				deletes = deletes && strings.HasPrefix(name, "Delete")
				var e *core.APIError
				if errors.As(err, &e) && !e.Uncertain() || err == nil && !deletes || err != nil && e == nil {
					t.Errorf("got %v", err)
				}
				if s.sent != 1 {
					t.Errorf("it was sent %d times", s.sent)
				}
				if took := time.Since(began); took > callTimeout+time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	for _, answers := range []map[string]func(*http.Response) (*http.Response, error){strangeAnswers, unreadable} {
		for what, answer := range answers {
			for name, write := range kubeWrites {
				check(name, what, answer, func(t *testing.T, s *strange) error {
					c := newCluster(t, kubeapi.Options{})
					c.create(node("n1"))
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l}, spec: {controllerName: openstack, nodeName: n1},
					  status: {state: active}}`)
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeMaintenanceRequest, metadata: {name: n1, uid: uid-r, finalizers: [a.b/c]},
					  spec: {nodeName: n1, scope: os}}`)
					c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeployment, metadata: {name: osh, namespace: openstack, uid: osdpl},
					  spec: {openstack_version: antelope}}`)
					c.create(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: openstack, uid: uid-p},
					  spec: {nodeName: n1, containers: [{name: c, image: i}]}}`)
					c.create(volumeClaim("openstack", "c", "v"))
					return write(t.Context(), NewWriter(c.through(s)))
				})
			}
			for name, write := range managementWrites {
				check(name, what, answer, func(t *testing.T, s *strange) error {
					c := managed(t, kubeapi.Options{})
					err := write(t.Context(), c, NewManagementWriter(c.through(s)))
					if e := Describe(err, ""); e != nil && e.Server != core.ServerManagement {
						t.Errorf("it is of the server %q", e.Server)
					}
					return err
				})
			}
		}
	}
}

// A lock that was made without its release was made: that its release is refused is no refusal of the lock.
func TestALockThatIsHalfMadeIsNoRefusal(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n2"))
		c.AddFault(kubeapi.Fault{Verb: "patch", Match: ours, Code: http.StatusForbidden})
		err := NewWriter(c.client(kubeapi.Admin)).CreateLock(t.Context(), newLock, false)
		if e := Describe(err, ""); e == nil || !e.Uncertain() || !strings.Contains(e.Message, "only the lock was made") {
			t.Errorf("got %v", err)
		}
	})
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// through is a client of the cluster's administrator whose answers go through s.
func (c *cluster) through(s *strange) *Client {
	c.t.Helper()
	client := c.client(kubeapi.Admin)
	s.next = c.network.Transport("lockstep")
	config := *client.session.Load().config
	config.Transport, config.WrapTransport = s, nil
	session, err := newSession(&config, client.secrets)
	if err != nil {
		c.t.Fatal(err)
	}
	client.session.Store(session)
	return client
}
