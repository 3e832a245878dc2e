package kube

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"lockstep/core"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

func TestMain(m *testing.M) {
	RedirectLogs(slog.New(slog.DiscardHandler))
	debug.SetGCPercent(400) // simulated servers make much garbage and keep little
	// klog's own goroutine runs for good once klog has written something.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// cluster is a simulated API server, and what tests do to it as its administrator.
type cluster struct {
	*kubeapi.Server
	t       *testing.T
	network *lan.Network // nil: the machine's own
	admin   dynamic.Interface
}

// newCluster starts a cluster on a network of its own, in the bubble of its test.
func newCluster(t *testing.T, options kubeapi.Options) *cluster {
	t.Helper()
	options.Network = lan.New(1)
	return startCluster(t, options)
}

func startCluster(t *testing.T, options kubeapi.Options) *cluster {
	t.Helper()
	if options.CRDs == nil {
		options.CRDs = crds.All()
	}
	options.LogReads = true
	server, err := kubeapi.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	config := server.RESTConfig(kubeapi.Admin)
	config.UserAgent = "administrator"
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	admin, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{Server: server, t: t, network: options.Network, admin: admin}
	for _, namespace := range []string{namespaceOpenStack, namespaceRockoon, credentialsNamespace} {
		c.create(fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s}}`, namespace))
	}
	return c
}

// client logs in as a user of the cluster, through a kubeconfig.
func (c *cluster) client(user string) *Client {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := c.WriteKubeconfig(path, user); err != nil {
		c.t.Fatal(err)
	}
	return c.load(path)
}

func (c *cluster) load(kubeconfig string) *Client {
	c.t.Helper()
	opts := Options{Kubeconfig: kubeconfig, UserAgent: "lockstep/test"}
	if c.network != nil {
		opts.Transport = c.network.Transport("lockstep")
		// random names would make each run different
		opts.Jitter = func(_ string, most time.Duration) time.Duration { return most / 2 }
	}
	client, err := Load(opts)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { client.session.Load().http.CloseIdleConnections() })
	return client
}

// ours tells requests of the program from the administrator's.
func ours(r *http.Request) bool { return r.UserAgent() == "lockstep/test" }

// create puts an object into the cluster, with its status.
func (c *cluster) create(manifest string) {
	c.t.Helper()
	if err := c.LoadYAML([]byte(manifest)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) update(gvr schema.GroupVersionResource, namespace, name string, change func(object map[string]any)) {
	c.t.Helper()
	u, err := c.admin.Resource(gvr).Namespace(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	change(u.Object)
	if _, err := c.admin.Resource(gvr).Namespace(namespace).Update(c.t.Context(), u, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) delete(gvr schema.GroupVersionResource, namespace, name string) {
	c.t.Helper()
	if err := c.admin.Resource(gvr).Namespace(namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func node(name string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, uid: uid-%s}}`, name, name)
}

func nodeLock(name, node string) string {
	return fmt.Sprintf(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: %s}, spec: {controllerName: `+
		`openstack, nodeName: %s}, status: {state: active}}`, name, node)
}

// view is what a Watcher has told, put together as core does it.
type view struct {
	objects  map[core.SourceID]map[string]core.Object
	state    map[core.SourceID]core.SourceState
	err      map[core.SourceID]*core.APIError
	asOf     map[core.SourceID]time.Time
	history  map[core.SourceID][]core.SourceState
	replaces map[core.SourceID]int
}

// names are the sorted keys of a source's objects.
func (v *view) names(id core.SourceID) []string {
	names := make([]string, 0, len(v.objects[id]))
	for name := range v.objects[id] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// is tells whether a source is live and has exactly these objects.
func (v *view) is(id core.SourceID, names ...string) bool {
	return v.state[id] == core.SourceLive && slices.Equal(v.names(id), names)
}

// observer is the sink of a Watcher.
type observer struct {
	t *testing.T

	mu      sync.Mutex
	view    view
	changed chan struct{}
}

// watchCluster runs a Watcher until the test ends.
func watchCluster(t *testing.T, client *Client, opts WatchOptions) (*Watcher, *observer) {
	t.Helper()
	return watchBy(t, func(sink func(core.Delta)) *Watcher { return NewWatcher(client, sink, opts) })
}

// watchBy runs the Watcher that newWatcher makes until the test ends.
func watchBy(t *testing.T, newWatcher func(sink func(core.Delta)) *Watcher) (*Watcher, *observer) {
	t.Helper()
	o := &observer{t: t, changed: make(chan struct{}), view: view{
		objects: map[core.SourceID]map[string]core.Object{}, state: map[core.SourceID]core.SourceState{},
		err: map[core.SourceID]*core.APIError{}, asOf: map[core.SourceID]time.Time{},
		history: map[core.SourceID][]core.SourceState{}, replaces: map[core.SourceID]int{},
	}}
	w := newWatcher(o.take)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return w, o
}

func (o *observer) take(d core.Delta) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := &o.view
	if d.State != "" {
		v.state[d.Source], v.err[d.Source] = d.State, d.Err
		v.history[d.Source] = append(v.history[d.Source], d.State)
	}
	if d.Replace {
		v.objects[d.Source] = nil
		v.replaces[d.Source]++
	}
	if v.objects[d.Source] == nil {
		v.objects[d.Source] = map[string]core.Object{}
	}
	for _, object := range d.Upserts {
		v.objects[d.Source][object.Key()] = object
	}
	for _, key := range d.Deletes {
		delete(v.objects[d.Source], key)
	}
	if d.Err == nil && (d.Touch || d.Replace || len(d.Upserts)+len(d.Deletes) > 0) {
		v.asOf[d.Source] = d.At
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// patience is how long a test waits for anything.
const patience = 5 * time.Minute

// wait waits until the view is as wanted.
func (o *observer) wait(what string, wanted func(*view) bool) {
	o.t.Helper()
	deadline := time.After(patience)
	for {
		o.mu.Lock()
		ok, changed := wanted(&o.view), o.changed
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			o.mu.Lock()
			defer o.mu.Unlock()
			for id := range o.view.state {
				o.t.Logf("%s: %s %v %v %v", id, o.view.state[id], o.view.names(id), o.view.err[id], o.view.history[id])
			}
			o.t.Fatalf("never seen: %s", what)
		}
	}
}

// look lets f look at the view.
func (o *observer) look(f func(*view)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.view)
}
