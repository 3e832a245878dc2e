package kube

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
	"lockstep/sim/wire"
)

func TestEverySourceIsListedAtOnceAndLive(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		c.create(node("n2"))
		c.create(nodeLock("openstack-n1", "n1"))
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: ClusterWorkloadLock, metadata: {name: ceph}, spec: {controllerName: ceph}}`)
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: ClusterMaintenanceRequest, metadata: {name: mos}, spec: {release: 21.1.0}}`)
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeMaintenanceRequest, metadata: {name: n1}, spec: {nodeName: n1, scope: os}}`)
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeDeletionRequest, metadata: {name: del}, spec: {nodeName: n2}}`)
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeDisableNotification, metadata: {name: dis}, spec: {nodeName: n2}}`)
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeploymentStatus, metadata: {name: osh, namespace: openstack}, ` +
			`status: {osdpl: {state: APPLIED}}}`)
		for _, name := range []string{"rockoon", "another"} {
			c.create(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: ` + name +
				`, namespace: osh-system}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: ` +
				`{containers: [{name: c, image: i}]}}}}`)
		}
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		want := map[core.SourceID][]string{
			core.SourceNodes: {"n1", "n2"}, core.SourceNodeLocks: {"openstack-n1"}, core.SourceClusterLocks: {"ceph"},
			core.SourceClusterRequests: {"mos"}, core.SourceNodeRequests: {"n1"}, core.SourceDeletionRequests: {"del"},
			core.SourceDisableNotices: {"dis"}, core.SourceOpenStackStatus: {"openstack/osh"},
			core.SourceOpenStackController: {"osh-system/rockoon"}, core.SourceNodePods: {},
		}
		for _, id := range Sources() {
			o.wait(string(id)+" live", func(v *view) bool { return v.is(id, want[id]...) })
		}
		o.look(func(v *view) {
			for _, id := range Sources() {
				if id == core.SourceNodePods {
					continue
				}
				if first := v.history[id][0]; first != core.SourceConnecting {
					t.Errorf("%s began as %s", id, first)
				}
				if v.replaces[id] != 1 {
					t.Errorf("%s was listed %d times", id, v.replaces[id])
				}
			}
		})
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && r.Query.Has("sendInitialEvents") {
				t.Errorf("%s %s streams its list", r.Verb, r.Path)
			}
		}
	})
}

func TestChangesArrive(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("n1", func(v *view) bool { return v.is(core.SourceNodes, "n1") })

		c.create(node("n2"))
		o.wait("a new node", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })
		c.update(gvrNodes, "", "n2", func(n map[string]any) { n["spec"] = map[string]any{"unschedulable": true} })
		o.wait("the cordon", func(v *view) bool { return v.objects[core.SourceNodes]["n2"].(*core.Node).Cordoned })
		c.delete(gvrNodes, "", "n1")
		o.wait("the deletion", func(v *view) bool { return v.is(core.SourceNodes, "n2") })
		o.look(func(v *view) {
			if v.replaces[core.SourceNodes] != 1 {
				t.Errorf("changes came as %d lists", v.replaces[core.SourceNodes])
			}
		})
	})
}

// notices is a CRD that tests take away.
const notices = "nodedisablenotifications"

func definition(t *testing.T, plural string) []byte {
	for _, crd := range crds.All() {
		if strings.HasPrefix(crd.Name, plural+".") {
			return crd.YAML
		}
	}
	t.Fatalf("no CRD %s", plural)
	return nil
}

func TestMissingCRDIsAbsentUntilItAppears(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		without := slices.DeleteFunc(crds.All(), func(crd crds.CRD) bool { return strings.HasPrefix(crd.Name, notices) })
		c := newCluster(t, kubeapi.Options{CRDs: without})
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("absent", func(v *view) bool {
			err := v.err[core.SourceDisableNotices]
			return v.state[core.SourceDisableNotices] == core.SourceAbsent && err.Kind == core.ErrNotFound &&
				err.Call == "list nodedisablenotifications.lcm.mirantis.com" && err.Remedy != ""
		})
		o.wait("the others live", func(v *view) bool { return v.is(core.SourceDeletionRequests) })
		if err := c.LoadYAML(definition(t, notices)); err != nil {
			t.Fatal(err)
		}
		o.wait("live", func(v *view) bool { return v.is(core.SourceDisableNotices) })

		// A deleted CRD takes its objects with it.
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeDisableNotification, metadata: {name: dis}, spec: {nodeName: n2}}`)
		o.wait("an object", func(v *view) bool { return v.is(core.SourceDisableNotices, "dis") })
		c.delete(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "",
			notices+".lcm.mirantis.com")
		o.wait("absent again, and empty", func(v *view) bool {
			return v.state[core.SourceDisableNotices] == core.SourceAbsent && len(v.objects[core.SourceDisableNotices]) == 0
		})
	})
}

// An API server that has just started answers 404 and 403 for some seconds; what was seen stays.
func TestARefusalIsNotBelievedAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{CRDs: crds.All()})
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeDisableNotification, metadata: {name: dis}, spec: {nodeName: n2}}`)
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("an object", func(v *view) bool { return v.is(core.SourceDisableNotices, "dis") })
		c.delete(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "",
			notices+".lcm.mirantis.com")
		o.wait("stale, with why", func(v *view) bool {
			err := v.err[core.SourceDisableNotices]
			return v.state[core.SourceDisableNotices] == core.SourceStale && err != nil && err.Kind == core.ErrNotFound
		})
		if err := c.LoadYAML(definition(t, notices)); err != nil {
			t.Fatal(err)
		}
		o.wait("live", func(v *view) bool { return v.is(core.SourceDisableNotices) })
		o.look(func(v *view) {
			if slices.Contains(v.history[core.SourceDisableNotices], core.SourceAbsent) {
				t.Errorf("the resource was taken for gone: %v", v.history[core.SourceDisableNotices])
			}
		})
	})
}

// Every API server knows nodes: one that says it does not is none, and the nodes that were seen stay. Locks can be unknown.
func TestBuiltInResourcesDoNotVanish(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		c.create(nodeLock("l1", "n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") && v.is(core.SourceNodeLocks, "l1") })
		back := c.AddFault(kubeapi.Fault{Match: ours, Code: http.StatusNotFound})
		c.CutWatches("")
		o.wait("the locks absent", func(v *view) bool {
			return v.state[core.SourceNodeLocks] == core.SourceAbsent && len(v.objects[core.SourceNodeLocks]) == 0
		})
		o.wait("the node stale", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceStale && err != nil && err.Status == http.StatusNotFound &&
				strings.Contains(err.Remedy, "no API server") && slices.Equal(v.names(core.SourceNodes), []string{"n1"})
		})
		back()
		o.wait("live again", func(v *view) bool { return v.is(core.SourceNodes, "n1") && v.is(core.SourceNodeLocks, "l1") })
		o.look(func(v *view) {
			if slices.Contains(v.history[core.SourceNodes], core.SourceAbsent) {
				t.Errorf("the nodes were taken for gone: %v", v.history[core.SourceNodes])
			}
		})
	})
}

// A page of a load balancer in the API server's place says nothing about a resource: what was seen is not taken for gone.
func TestAPageDoesNotMakeAResourceUnknown(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(nodeLock("l1", "n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodeLocks, "l1") })
		back := c.AddFault(kubeapi.Fault{Match: ours, Page: http.StatusNotFound})
		c.CutWatches("")
		time.Sleep(5 * time.Minute)
		o.wait("the locks stale", func(v *view) bool {
			err := v.err[core.SourceNodeLocks]
			return v.state[core.SourceNodeLocks] == core.SourceStale && err != nil && strings.Contains(err.Remedy, "load balancer")
		})
		back()
		o.wait("live again", func(v *view) bool { return v.is(core.SourceNodeLocks, "l1") })
		o.look(func(v *view) {
			if slices.Contains(v.history[core.SourceNodeLocks], core.SourceAbsent) {
				t.Errorf("the locks were taken for gone: %v", v.history[core.SourceNodeLocks])
			}
		})
	})
}

func rule(group, resource string, verbs ...string) kubeapi.Rule {
	return kubeapi.Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}}
}

func TestForbiddenSaysWhichVerbOnWhichResource(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Rules: []kubeapi.Rule{
			rule("lcm.mirantis.com", "nodeworkloadlocks", "list"),
		}}}})
		c.create(nodeLock("l1", "n1"))
		w, o := watchCluster(t, c.client("ann"), WatchOptions{})
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}})
		forbidden := func(id core.SourceID, call, remedy string) {
			t.Helper()
			o.wait("forbidden: "+call, func(v *view) bool {
				err := v.err[id]
				return v.state[id] == core.SourceForbidden && err.Call == call && strings.Contains(err.Remedy, remedy)
			})
		}
		forbidden(core.SourceNodes, "list nodes", "You may not list nodes: ask an administrator to apply deploy/rbac-readonly.yaml.")
		forbidden(core.SourceOpenStackController, "list deployments.apps rockoon in namespace osh-system",
			"list deployments.apps in namespace osh-system")
		forbidden(core.SourceNodePods, "list pods of node n1", "list pods")
		// A resource that may be listed but not watched is shown, and is not live.
		forbidden(core.SourceNodeLocks, "watch nodeworkloadlocks.lcm.mirantis.com", "watch nodeworkloadlocks")
		o.wait("the list beside it", func(v *view) bool {
			return len(v.objects[core.SourceNodeLocks]) == 1 && v.replaces[core.SourceNodeLocks] >= 3
		})
		o.look(func(v *view) {
			live := 0
			for _, state := range v.history[core.SourceNodeLocks] {
				if state == core.SourceLive {
					live++
				}
			}
			if live > 1 {
				t.Errorf("a source that may not be watched was live %d times", live)
			}
		})

		if err := c.SetRules("ann", kubeapi.ReadonlyRules()); err != nil {
			t.Fatal(err)
		}
		o.wait("live", func(v *view) bool {
			return v.is(core.SourceNodes) && v.is(core.SourceNodeLocks, "l1") && v.is(core.SourceNodePods, "n1")
		})
	})
}

func TestExpiredLoginIsTakenFromTheKubeconfigAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := c.WriteKubeconfig(path, kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		if err := c.ExpireToken(kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		_, o := watchCluster(t, c.load(path), WatchOptions{})
		o.wait("unauthorized", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceFailed && err.Kind == core.ErrUnauthorized && strings.Contains(err.Remedy, "log in again")
		})
		if _, err := c.RenewToken(kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		if err := c.WriteKubeconfig(path, kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes) && v.is(core.SourceNodeLocks) })
	})
}

func TestAnotherServerInTheKubeconfigIsNotFollowed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := c.WriteKubeconfig(path, kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		client := c.load(path)
		raw, err := c.Kubeconfig(kubeapi.Operator)
		if err != nil {
			t.Fatal(err)
		}
		other := strings.ReplaceAll(string(raw), c.URL(), "https://another:6443")
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if client.renew() {
			t.Error("the login of another server was taken")
		}
	})
}

func TestOutageKeepsWhatIsKnownAndListsAnewAfterwards(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		c.create(node("n2"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") && v.is(core.SourceNodeLocks) })

		if err := c.Outage(true); err != nil {
			t.Fatal(err)
		}
		o.wait("stale, with what was known", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceStale && v.state[core.SourceNodeLocks] == core.SourceStale &&
				err.Kind == core.ErrUnreachable && slices.Equal(v.names(core.SourceNodes), []string{"n1", "n2"})
		})
		c.create(node("n3"))
		if err := c.Outage(false); err != nil {
			t.Fatal(err)
		}
		o.wait("live, from a new list", func(v *view) bool {
			return v.is(core.SourceNodes, "n1", "n2", "n3") && v.replaces[core.SourceNodes] == 2 && v.is(core.SourceNodeLocks)
		})
	})
}

// TestWhatWasDeletedDuringAnOutageIsGone takes the server away from the program only.
func TestWhatWasDeletedDuringAnOutageIsGone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		c.create(node("n2"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })

		back := c.AddFault(kubeapi.Fault{Match: ours, Cut: true})
		c.CutWatches("")
		o.wait("stale", func(v *view) bool { return v.state[core.SourceNodes] == core.SourceStale })
		c.delete(gvrNodes, "", "n1")
		back()
		o.wait("live without it", func(v *view) bool { return v.is(core.SourceNodes, "n2") })
	})
}

func TestExpiredHistoryIsListedAnew(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })

		c.create(nodeLock("l1", "n1")) // the nodes' resource version is now too old
		c.Compact()
		c.CutWatches("nodes")
		o.wait("listed again", func(v *view) bool {
			return v.is(core.SourceNodes, "n1") && v.replaces[core.SourceNodes] == 2 &&
				slices.Contains(v.history[core.SourceNodes], core.SourceStale)
		})
	})
}

func TestWatchesThatEndInOrderGoOnWithoutAList(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		opts := WatchOptions{}.withDefaults()
		_, o := watchCluster(t, c.client(kubeapi.Readonly), opts)
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })
		var before time.Time
		o.look(func(v *view) { before = v.asOf[core.SourceNodes] })
		o.wait("a confirmation after the end of the first watch", func(v *view) bool {
			return v.asOf[core.SourceNodes].Sub(before) > opts.WatchDuration
		})
		c.create(node("n2"))
		o.wait("a change after it", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })
		o.look(func(v *view) {
			if v.replaces[core.SourceNodes] != 1 || slices.Contains(v.history[core.SourceNodes], core.SourceStale) {
				t.Errorf("%d lists, %v", v.replaces[core.SourceNodes], v.history[core.SourceNodes])
			}
		})
	})
}

// Watches that began together are opened again together, each time: a program at rest is woken once for all of them.
func TestWatchesAreOpenedAgainTogether(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		opts := WatchOptions{}.withDefaults()
		client := c.client(kubeapi.Readonly)
		client.opts.Jitter = func(who string, most time.Duration) time.Duration { return most * time.Duration(len(who)%8) / 8 }
		w, o := watchCluster(t, client, opts)
		for _, id := range w.streams {
			o.wait("live", func(v *view) bool { return v.state[id.res.source] == core.SourceLive })
		}
		const rounds = 4
		time.Sleep((rounds-1)*opts.WatchDuration + opts.WatchDuration/2)
		opened := map[time.Time]int{} // by the second
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && r.Verb == "watch" {
				opened[r.Time.Truncate(time.Second)]++
			}
		}
		for at, n := range opened {
			if n != len(w.streams) {
				t.Errorf("%d of %d watches were opened at %s", n, len(w.streams), at)
			}
		}
		if len(opened) != rounds {
			t.Errorf("watches were opened at %d moments in %d rounds", len(opened), rounds)
		}
	})
}

func TestListThatDoesNotComeSaysSo(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		back := c.AddFault(kubeapi.Fault{Match: ours, Verb: "list", Resource: "nodes", Hang: true})
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("the deadline", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceFailed && err.Kind == core.ErrTimeout &&
				err.Call == "list nodes" && strings.Contains(err.Message, "no complete list within 15s")
		})
		back()
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes) })
	})
}

// freezer passes bytes on to a server until it is told to swallow them: connections stay open and silent, as behind a NAT that has
// forgotten them.
type freezer struct {
	mu     sync.Mutex
	frozen chan struct{} // closed while bytes flow
}

func (f *freezer) freeze() { f.mu.Lock(); f.frozen = make(chan struct{}); f.mu.Unlock() }

func (f *freezer) thaw() { f.mu.Lock(); close(f.frozen); f.mu.Unlock() }

func (f *freezer) wait() {
	f.mu.Lock()
	frozen := f.frozen
	f.mu.Unlock()
	<-frozen
}

func (f *freezer) pipe(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		f.wait()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// listenBefore listens in front of the server at address until the test ends.
func (f *freezer) listenBefore(t *testing.T, network *lan.Network, address string) string {
	t.Helper()
	flowing := make(chan struct{})
	close(flowing)
	f.frozen = flowing
	listener, err := network.Listen("freezer:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []io.Closer
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := network.Dialer("freezer")(t.Context(), "tcp", address)
			if err != nil {
				client.Close()
				continue
			}
			mu.Lock()
			open = append(open, client, server)
			mu.Unlock()
			wg.Go(func() { f.pipe(server, client) })
			wg.Go(func() { f.pipe(client, server) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return listener.Addr().String()
}

func TestSilentlyDeadWatchIsNoticed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		address := strings.TrimPrefix(c.URL(), "https://")
		var f freezer
		raw, err := c.Kubeconfig(kubeapi.Readonly)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "kubeconfig")
		through := strings.ReplaceAll(string(raw), address, f.listenBefore(t, c.network, address))
		if err := os.WriteFile(path, []byte(through), 0o600); err != nil {
			t.Fatal(err)
		}
		_, o := watchCluster(t, c.load(path), WatchOptions{ProbeInterval: time.Hour}) // the watch itself has to notice
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })
		f.freeze()
		o.wait("stale", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceStale && err.Kind == core.ErrTimeout &&
				slices.Equal(v.names(core.SourceNodes), []string{"n1"})
		})
		c.create(node("n2"))
		f.thaw()
		o.wait("live again", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })
	})
}

// Somebody between the server and Lockstep swallows the answers to watches, twice. Each is given up in the end, and the source is live.
func TestAWatchThatDoesNotOpenIsGivenUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })
		c.AddFault(kubeapi.Fault{Verb: "watch", Resource: "nodes", Match: ours, Hang: true, Times: 2})
		c.CutWatches("nodes")
		o.wait("stale", func(v *view) bool { return v.state[core.SourceNodes] == core.SourceStale })
		c.create(node("n2"))
		o.wait("live again", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })
	})
}

// Somebody between the server and Lockstep ends each watch as it opens. None of them has shown an event, so the source is not live.
func TestAWatchThatEndsAsItOpensIsNone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })
		back := c.AddFault(kubeapi.Fault{Verb: "watch", Resource: "nodes", Match: ours, Cut: true})
		c.CutWatches("nodes")
		o.wait("stale", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceStale && err.Kind == core.ErrUnreachable
		})
		c.create(node("n2"))
		back()
		o.wait("live again", func(v *view) bool { return v.is(core.SourceNodes, "n1", "n2") })
	})
}

// Half of an event comes, and then nothing. The watch is over, and the change is not lost: the list shows it.
func TestAnEventOfWhichHalfComesIsNotLost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes, "n1") })
		c.AddFault(kubeapi.Fault{Verb: "watch", Resource: "nodes", Match: ours, Damage: wire.Damage{Body: wire.Short}})
		c.CutWatches("nodes")
		time.Sleep(time.Second)
		c.create(node("n2"))
		changed := time.Now()
		o.wait("the change", func(v *view) bool { return slices.Equal(v.names(core.SourceNodes), []string{"n1", "n2"}) })
		if took := time.Since(changed); took > time.Minute {
			t.Errorf("the change was seen after %s", took)
		}
	})
}

func TestServerInTroubleTurnsSourcesStale(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes) })
		// The watches stay open and quiet; only the probe finds out.
		back := c.AddFault(kubeapi.Fault{Match: ours, Code: 503, Message: "down for a moment"})
		o.wait("stale", func(v *view) bool {
			err := v.err[core.SourceNodes]
			return v.state[core.SourceNodes] == core.SourceStale && err.Kind == core.ErrServer
		})
		back()
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodes) })
	})
}
