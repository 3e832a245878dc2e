package kube

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/kubeapi"
	"lockstep/sim/wire"
)

// largeNodes puts nodes into the cluster that are as large as real ones, by their images. It returns their total size, in bytes.
func (c *cluster) largeNodes(from, to int) (size int) {
	c.t.Helper()
	var images []corev1.ContainerImage
	for i := range 50 {
		names := []string{fmt.Sprintf("mirantis.azurecr.io/openstack/nova@sha256:%064d", i),
			fmt.Sprintf("mirantis.azurecr.io/openstack/nova:antelope-jammy-%03d", i)}
		images = append(images, corev1.ContainerImage{Names: names, SizeBytes: 1})
		size += (to - from) * len(fmt.Sprintf("%q", names))
	}
	for i := from; i < to; i++ {
		node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, Status: corev1.NodeStatus{Images: images},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("kaas-node-%04d", i), UID: types.UID(fmt.Sprintf("uid-%d", i))}}
		if err := c.Load(node); err != nil {
			c.t.Fatal(err)
		}
	}
	return size
}

// line counts the bytes of lists that pass over it.
type line struct {
	next  http.RoundTripper
	bytes atomic.Int64
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "/nodes") && !r.URL.Query().Has("watch") {
		resp.Body = &counted{resp.Body, &l.bytes}
	}
	return resp, err
}

type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// overLine is a client of the cluster whose answers are counted.
func (c *cluster) overLine() (*Client, *line) {
	c.t.Helper()
	client := c.client(kubeapi.Readonly)
	l := &line{next: c.network.Transport("lockstep")}
	config := *client.session.Load().config
	config.Transport, config.WrapTransport = l, nil
	session, err := newSession(&config, client.secrets, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	client.session.Store(session)
	return client, l
}

// Two thousand nodes arrive over a line that takes far longer for them than any deadline allows. Little is sent twice, and the
// operator sees the progress.
func TestALargeListComesOverASlowLine(t *testing.T) {
	nodes := lane.Part(t, 2000, 3) // which fill many pages
	bubble.Run(t, func(t *testing.T) {
		const rate = 32 << 10
		c := newCluster(t, kubeapi.Options{NoManagers: true})
		size := c.largeNodes(0, nodes)
		c.AddFault(kubeapi.Fault{Resource: "nodes", Verb: "list", Match: ours, Damage: wire.Damage{Body: wire.Slow, Rate: rate}})
		client, l := c.overLine()
		began := time.Now()
		_, o := watchCluster(t, client, WatchOptions{})
		told := false
		for state := core.SourceState(""); state != core.SourceLive; time.Sleep(time.Second) {
			o.look(func(v *view) {
				state = v.state[core.SourceNodes]
				told = told || v.err[core.SourceNodes] != nil &&
					strings.Contains(v.err[core.SourceNodes].Message, fmt.Sprintf(" of %d have come", nodes))
			})
			if time.Since(began) > time.Hour {
				t.Fatalf("it is %s after an hour; %d bytes of %d have come", state, l.bytes.Load(), size)
			}
		}
		least := time.Duration(size/rate) * time.Second
		t.Logf("%d MB at %d KB/s: %s, %d MB", size>>20, rate>>10, time.Since(began), l.bytes.Load()>>20)
		if took := time.Since(began); took > least*3/2 || took < 2*(WatchOptions{}).withDefaults().ListTimeout {
			t.Errorf("it took %s; the line needs %s", took, least)
		}
		if got := l.bytes.Load(); got > int64(size)*3/2 {
			t.Errorf("%d bytes came, of %d", got, size)
		}
		o.look(func(v *view) {
			if n := len(v.objects[core.SourceNodes]); n != nodes || v.replaces[core.SourceNodes] != 1 {
				t.Errorf("%d nodes in %d lists", n, v.replaces[core.SourceNodes])
			}
		})
		if !told {
			t.Error("nobody was told how far it is")
		}
		for _, r := range c.Requests() {
			if r.Resource == "nodes" && r.Verb == "list" && r.UserAgent == "lockstep/test" &&
				(r.Query.Get("limit") == "" || r.Query.Get("resourceVersion") != "") {
				t.Errorf("all were asked for at once: %s", r.Query.Encode())
			}
		}
	})
}

// Pages that take longer than the server's history reaches back, or that fail now and then, still make a whole list, and changes
// meanwhile are seen.
func TestAListGoesOnWhereItWas(t *testing.T) {
	faults := map[string]kubeapi.Fault{
		"the history is too short": {},
		"a page breaks off":        {Damage: wire.Damage{Body: wire.Broken}, Times: 2},
		"503":                      {Code: 503, Times: 3},
		"too many requests":        {Code: 429, Times: 3},
		"a page hangs":             {Hang: true, Times: 1},
	}
	for i, name := range slices.Sorted(maps.Keys(faults)) {
		if !lane.Chosen(t, i, 3) {
			continue
		}
		fault := faults[name]
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{NoManagers: true, History: 16})
				c.largeNodes(0, 600)
				c.AddFault(kubeapi.Fault{Resource: "nodes", Verb: "list", Match: ours, Damage: wire.Damage{Body: wire.Slow, Rate: 256 << 10}})
				first := true
				if fault.Code != 0 || fault.Hang || fault.Times > 0 {
					fault.Resource, fault.Verb = "nodes", "list"
					fault.Match = func(r *http.Request) bool { return ours(r) && r.URL.Query().Has("continue") }
					c.AddFault(fault)
					first = false
				}
				_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
				time.Sleep(8 * time.Second) // the first page has come
				c.delete(gvrNodes, "", "kaas-node-0001")
				c.update(gvrNodes, "", "kaas-node-0002", func(n map[string]any) { n["spec"] = map[string]any{"unschedulable": true} })
				if first {
					for i := range 40 {
						c.create(node(fmt.Sprintf("new-%d", i)))
						c.delete(gvrNodes, "", fmt.Sprintf("new-%d", i))
					}
				}
				c.create(node("last"))
				o.wait("all as they are", func(v *view) bool {
					cordoned, _ := v.objects[core.SourceNodes]["kaas-node-0002"].(*core.Node)
					return v.state[core.SourceNodes] == core.SourceLive && len(v.objects[core.SourceNodes]) == 600 && cordoned != nil &&
						cordoned.Cordoned &&
						v.objects[core.SourceNodes]["last"] != nil && v.objects[core.SourceNodes]["kaas-node-0001"] == nil
				})
				expired := 0
				for _, r := range c.Requests() {
					if r.Resource == "nodes" && r.Code == http.StatusGone {
						expired++
					}
				}
				if first != (expired > 0) {
					t.Errorf("the server has forgotten the list %d times", expired)
				}
			})
		})
	}
}
