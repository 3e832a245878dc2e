package kubeapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/sim/clock"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	nodes     = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	maps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	nodeLocks = schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodeworkloadlocks"}
	osdplst   = schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "openstackdeploymentstatus"}
	crdsGVR   = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// birth is when the simulated clock of the tests starts.
var birth = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// patience is how long a test waits for an expected event: in a bubble it costs nothing, elsewhere only a failing test
// waits.
const patience = 5 * time.Minute

// world is a server with a paused clock, and a context that outlives no test.
type world struct {
	*kubeapi.Server
	t     *testing.T
	ctx   context.Context
	clock *clock.Clock
}

func start(t *testing.T, options kubeapi.Options) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	c := clock.New(birth, 1)
	c.Pause()
	options.Clock = c
	if options.CRDs == nil {
		options.CRDs = crds.All()
	}
	server, err := kubeapi.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &world{Server: server, t: t, ctx: ctx, clock: c}
}

// dynamic returns a client of user, with its own connection.
func (w *world) dynamic(user string) dynamic.Interface {
	w.t.Helper()
	client, err := dynamic.NewForConfig(w.RESTConfig(user))
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

func (w *world) typed(user string) kubernetes.Interface {
	w.t.Helper()
	return w.typedBy(w.RESTConfig(user))
}

func (w *world) typedBy(config *rest.Config) kubernetes.Interface {
	w.t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

func (w *world) load(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.Load(o); err != nil {
			w.t.Fatal(err)
		}
	}
}

func node(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name}}}
}

func nodeLock(name, node string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeWorkloadLock",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"controllerName": "openstack", "nodeName": node}}}
}

func configMap(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": namespace}}}
}

// watches waits until a number of watches run on a resource.
func (w *world) watches(resource string, want int) {
	w.t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for w.Watches(resource) != want {
		select {
		case <-ticker.C:
		case <-w.ctx.Done():
			w.t.Fatalf("%d watches on %s, want %d", w.Watches(resource), resource, want)
		}
	}
}

// next returns the next event of a watch; the test fails if there is none.
func next(t *testing.T, events watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, open := <-events.ResultChan():
		if !open {
			t.Fatal("the watch has ended")
		}
		return event
	case <-time.After(patience):
		t.Fatal("no event")
	}
	return watch.Event{}
}

// nextObject returns the next event that is not a bookmark, as its type and the name and resourceVersion of its object.
func nextObject(t *testing.T, events watch.Interface) (kind watch.EventType, name, version string) {
	t.Helper()
	for {
		event := next(t, events)
		if event.Type == watch.Bookmark {
			continue
		}
		object, ok := event.Object.(metav1.Object)
		if !ok {
			t.Fatalf("event %s with a %T", event.Type, event.Object)
		}
		return event.Type, object.GetName(), object.GetResourceVersion()
	}
}

// ended waits until a watch is over.
func ended(t *testing.T, events watch.Interface) {
	t.Helper()
	for {
		select {
		case _, open := <-events.ResultChan():
			if !open {
				return
			}
		case <-time.After(patience):
			t.Fatal("the watch goes on")
		}
	}
}

// response is an answer that no client library has processed.
type response struct {
	t      *testing.T
	code   int
	header http.Header
	body   []byte
}

// raw sends one request as user. Headers are pairs of name and value.
func (w *world) raw(user, method, path, body string, headers ...string) response {
	w.t.Helper()
	client, err := rest.HTTPClientFor(w.RESTConfig(user))
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.ctx, method, w.URL()+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response{t: w.t, code: answer.StatusCode, header: answer.Header, body: raw}
}

func (r response) decode(into any) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
}

// status returns the body as a Status.
func (r response) status() metav1.Status {
	r.t.Helper()
	var status metav1.Status
	r.decode(&status)
	if status.Kind != "Status" || status.APIVersion != "v1" || int(status.Code) != r.code {
		r.t.Errorf("answered %d with %s", r.code, r.body)
	}
	if status.Details == nil {
		status.Details = &metav1.StatusDetails{}
	}
	return status
}
