package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/wire"
)

// podOn is a pod of OpenStack's on a node. It is named after its node and is not ready.
func podOn(node, name string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `-` + node + `, namespace: openstack}, spec: {nodeName: ` + node +
		`, containers: [{name: c, image: i}]}, status: {phase: Running}}`
}

// podsAt are the names of the pods of a node that are not ready; nil when its pods are not known.
func (v *view) podsAt(node string) []string {
	p, known := v.objects[core.SourceNodePods][node].(*core.NodePods)
	if !known {
		return nil
	}
	names := []string{}
	for _, pod := range p.NotReady {
		names = append(names, strings.TrimSuffix(pod.Name, "-"+node))
	}
	return names
}

// podRequests are the requests for the pods of nodes, as "list n1".
func (c *cluster) podRequests() []string {
	var asked []string
	for _, r := range c.Requests() {
		if node, found := strings.CutPrefix(r.Query.Get("fieldSelector"), "spec.nodeName="); found && r.UserAgent == "lockstep/test" {
			asked = append(asked, r.Verb+" "+node)
		}
	}
	return asked
}

// watchPods makes nodes with a pod, and watches until their pods are live.
func (c *cluster) watchPods(nodes ...string) (*Watcher, *observer) {
	c.t.Helper()
	var wanted []core.PodsOf
	for _, name := range nodes {
		c.create(node(name))
		c.create(podOn(name, "a"))
		wanted = append(wanted, core.PodsOf{Node: name})
	}
	w, o := watchCluster(c.t, c.client(kubeapi.Readonly), WatchOptions{})
	w.SetPodNodes(wanted)
	o.wait("the pods", func(v *view) bool { return v.is(core.SourceNodePods, nodes...) })
	return w, o
}

// podsOf tells the program's requests for the pods of a node from all others.
func podsOf(node string) func(*http.Request) bool {
	return func(r *http.Request) bool { return ours(r) && r.URL.Query().Get("fieldSelector") == onNode(node) }
}

func TestPodsOfNamedNodesOnly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		c.create(node("n2"))
		for _, at := range []string{"n1", "n2"} {
			c.create(podOn(at, "a"))
			c.create(podOn(at, "b"))
		}
		w, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}})
		o.wait("n1's pods", func(v *view) bool {
			p, ok := v.objects[core.SourceNodePods]["n1"].(*core.NodePods)
			return ok && p.Total == 2 && p.Evictable == 2 && slices.Equal(v.podsAt("n1"), []string{"a", "b"})
		})
		began := time.Now()
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		if err := c.admin.Resource(gvrPods).Namespace("openstack").Delete(t.Context(), "a-n1", now); err != nil {
			t.Fatal(err)
		}
		c.create(podOn("n1", "c"))
		o.wait("what has changed", func(v *view) bool { return slices.Equal(v.podsAt("n1"), []string{"b", "c"}) })
		if took := time.Since(began); took > time.Second {
			t.Errorf("a change of a pod was seen after %s", took)
		}
		w.SetPodNodes([]core.PodsOf{{Node: "n2"}})
		o.wait("n2's instead", func(v *view) bool { return v.is(core.SourceNodePods, "n2") })
		o.look(func(v *view) {
			if v.podsAt("n1") != nil {
				t.Error("the pods of a node that nobody wants any more are kept")
			}
		})
		time.Sleep(time.Second) // its watch is open
		began, back := time.Now(), time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)
		w.SetPodNodes([]core.PodsOf{{Node: "n2", NodeReadySince: back}})
		o.wait("n2's since it is back", func(v *view) bool {
			p, ok := v.objects[core.SourceNodePods]["n2"].(*core.NodePods)
			return ok && p.NodeReadySince.Equal(back)
		})
		if took := time.Since(began); took > time.Second {
			t.Errorf("a node that came back was listed after %s, want at once", took)
		}
		time.Sleep(time.Second) // its watch, too
		w.SetPodNodes(nil)
		o.wait("none", func(v *view) bool { return v.is(core.SourceNodePods) })
		time.Sleep(5 * time.Minute)
		o.look(func(v *view) {
			if old := time.Since(v.asOf[core.SourceNodePods]); old > time.Minute {
				t.Errorf("nothing is wanted, and that was confirmed %s ago", old)
			}
		})
		if got, want := c.podRequests(), []string{"list n1", "watch n1", "list n2", "watch n2", "list n2", "watch n2"}; !slices.Equal(got, want) {
			t.Errorf("the requests were %q, want %q", got, want)
		}
		for _, r := range c.Requests() {
			ofDaemonSets := r.Query.Get("labelSelector") == labelRevision &&
				slices.ContainsFunc([]string{"openstack", "openstack-redis", "tf"}, func(namespace string) bool {
					return strings.Contains(r.Path, "/namespaces/"+namespace+"/")
				})
			ofNode := strings.HasPrefix(r.Query.Get("fieldSelector"), "spec.nodeName=")
			if r.UserAgent == "lockstep/test" && r.Resource == "pods" && !ofDaemonSets && !ofNode {
				t.Errorf("all pods were asked for: %s?%s", r.Path, r.Query.Encode())
			}
			if ofNode && r.Verb == "list" && r.Query.Get("resourceVersion") != "0" {
				t.Errorf("etcd was asked for the pods of a node: %s?%s", r.Path, r.Query.Encode())
			}
		}
	})
}

// The pods of all nodes are one source: it is as good as the worst of their watches, and names the node that is in trouble. What is known
// of the others stays, and goes on.
func TestPodsOfAllNodesAreOneSource(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n3"))
		c.create(podOn("n3", "a"))
		w, o := c.watchPods("n1", "n2")

		// A node that cannot be listed is in nobody's way.
		back := c.AddFault(kubeapi.Fault{Match: podsOf("n3"), Code: http.StatusInternalServerError})
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2"}, {Node: "n3"}})
		o.wait("stale, for n3", func(v *view) bool {
			err := v.err[core.SourceNodePods]
			return v.state[core.SourceNodePods] == core.SourceStale && err.Call == "list pods of node n3" && err.Kind == core.ErrServer
		})
		c.create(podOn("n2", "b"))
		o.wait("n2 goes on", func(v *view) bool { return slices.Equal(v.podsAt("n2"), []string{"a", "b"}) })
		time.Sleep(5 * time.Minute)
		o.look(func(v *view) {
			if old := time.Since(v.asOf[core.SourceNodePods]); old < 4*time.Minute || v.state[core.SourceNodePods] != core.SourceStale {
				t.Errorf("n3 was never listed, the pods are %s, and as of %s ago", v.state[core.SourceNodePods], old)
			}
		})
		// Its trouble goes with it, and comes back with it: also as another watch of it begins.
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2"}})
		o.wait("live without n3", func(v *view) bool { return v.is(core.SourceNodePods, "n1", "n2") })
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2"}, {Node: "n3"}})
		o.wait("stale again", func(v *view) bool { return v.state[core.SourceNodePods] == core.SourceStale })
		stays := o.troubled()
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2"}, {Node: "n3", NodeReadySince: time.Now()}})
		time.Sleep(time.Minute)
		stays()
		back()
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodePods, "n1", "n2", "n3") })

		// It can be listed, and its watch is refused.
		back = c.AddFault(kubeapi.Fault{Verb: "watch", Match: podsOf("n3"), Code: http.StatusInternalServerError})
		c.CutWatches("pods")
		o.wait("stale, for the watch of n3", func(v *view) bool {
			err := v.err[core.SourceNodePods]
			return v.state[core.SourceNodePods] == core.SourceStale && err.Call == "watch pods of node n3" && err.Kind == core.ErrServer
		})
		again := time.Now()
		stays = o.troubled()
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2"}, {Node: "n3", NodeReadySince: again}})
		o.wait("n3 listed anew", func(v *view) bool {
			return v.objects[core.SourceNodePods]["n3"].(*core.NodePods).NodeReadySince.Equal(again)
		})
		time.Sleep(time.Minute)
		stays()
		back()
		o.wait("live at last", func(v *view) bool { return v.is(core.SourceNodePods, "n1", "n2", "n3") })
	})
}

// troubled returns a check that the pods were not live since.
func (o *observer) troubled() (check func()) {
	var before int
	o.look(func(v *view) { before = len(v.history[core.SourceNodePods]) })
	return func() {
		o.t.Helper()
		o.look(func(v *view) {
			if states := v.history[core.SourceNodePods][before:]; slices.Contains(states, core.SourceLive) ||
				v.state[core.SourceNodePods] == core.SourceLive {
				o.t.Errorf("the watch of a node is in trouble, and the pods were %v", states)
			}
		})
	}
}

// A server that has just started refuses what it will allow: the pods of a node that came back were listed before, and one refusal says
// nothing of the others.
func TestARefusedListOfPodsIsNotBelievedAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		w, o := c.watchPods("n1", "n2")
		c.AddFault(kubeapi.Fault{Verb: "list", Resource: "pods", Match: ours, Code: http.StatusForbidden, Times: 2})
		w.SetPodNodes([]core.PodsOf{{Node: "n1"}, {Node: "n2", NodeReadySince: time.Now()}})
		began := time.Now()
		o.wait("stale", func(v *view) bool { return v.state[core.SourceNodePods] == core.SourceStale })
		o.wait("live", func(v *view) bool { return v.is(core.SourceNodePods, "n1", "n2") })
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the pods were listed again after %s", took)
		}
		o.look(func(v *view) {
			if slices.Contains(v.history[core.SourceNodePods], core.SourceForbidden) {
				t.Errorf("one refusal was believed: %v", v.history[core.SourceNodePods])
			}
		})
	})
}

// Half of an event of a node's pods comes, and then nothing. They are listed again, from the server's cache and as they are by then.
func TestHalfAnEventOfAPodIsNotLost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		_, o := c.watchPods("n1")
		c.AddFault(kubeapi.Fault{Verb: "watch", Match: podsOf("n1"), Damage: wire.Damage{Body: wire.Short}})
		c.CutWatches("pods")
		time.Sleep(time.Second)
		c.create(podOn("n1", "b"))
		changed := time.Now()
		o.wait("the change", func(v *view) bool { return slices.Equal(v.podsAt("n1"), []string{"a", "b"}) })
		if took := time.Since(changed); took > time.Minute {
			t.Errorf("the change was seen after %s", took)
		}
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && r.Verb == "list" && r.Query.Get("fieldSelector") == onNode("n1") &&
				(r.Query.Get("resourceVersion") == "" || r.Query.Has("limit") && r.Query.Get("resourceVersion") != "0") {
				t.Errorf("etcd was asked for the pods of a node: %s", r.Query.Encode())
			}
		}
	})
}

// Two nodes are in trouble: the worse state is told, whichever node has it.
func TestTheWorstTroubleOfPodsIsTold(t *testing.T) {
	client := &Client{}
	p := newPodWatches(0, client, newOutbox(nil), WatchOptions{}.withDefaults())
	client.opts.Jitter = func(string, time.Duration) time.Duration { return 0 }
	p.wanted = []core.PodsOf{{Node: "n1"}, {Node: "n2"}, {Node: "n3"}}
	p.follow()
	trouble := func(kind core.ErrorKind) *core.APIError { return &core.APIError{Kind: kind} }
	for _, tt := range []struct {
		node  string
		state core.SourceState
		err   *core.APIError
		want  core.SourceState
	}{
		{"n1", core.SourceStale, trouble(core.ErrServer), core.SourceStale},
		{"n2", core.SourceForbidden, trouble(core.ErrForbidden), core.SourceForbidden},
		{"n3", core.SourceFailed, trouble(core.ErrUnauthorized), core.SourceForbidden}, // nothing new
		{"n2", core.SourceStale, trouble(core.ErrServer), core.SourceFailed},
		{"n3", core.SourceLive, nil, core.SourceStale},
	} {
		p.nodes[tt.node].put(core.Delta{Source: core.SourceNodePods, At: time.Now(), State: tt.state, Err: tt.err})
		told := p.out.pending[len(p.out.pending)-1]
		if told.State != tt.want || told.Err == nil {
			t.Errorf("with %s %s the pods are %s, %v; want %s", tt.node, tt.state, told.State, told.Err, tt.want)
		}
	}
}

// The source is confirmed as of the node that has been silent longest: what the others tell says nothing of it.
func TestPodsAreAsOldAsTheirMostSilentNode(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		_, o := c.watchPods("n1", "n2")
		c.AddFault(kubeapi.Fault{Verb: "watch", Match: podsOf("n1"), Silent: true})
		silent := time.Now()
		for range 45 {
			c.update(gvrPods, "openstack", "a-n2", func(p map[string]any) {
				p["metadata"].(map[string]any)["labels"] = map[string]any{"at": time.Now().Format("150405")}
			})
			time.Sleep(time.Second)
		}
		o.look(func(v *view) {
			if at := v.asOf[core.SourceNodePods]; at.After(silent) {
				t.Errorf("n1 has been silent for %s, and the pods were confirmed %s later", time.Since(silent), at.Sub(silent))
			}
		})
		o.wait("stale, for n1", func(v *view) bool {
			err := v.err[core.SourceNodePods]
			return v.state[core.SourceNodePods] == core.SourceStale && err.Call == "watch pods of node n1" && err.Kind == core.ErrTimeout
		})
	})
}
