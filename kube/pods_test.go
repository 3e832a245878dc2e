package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// slowPods is a line on which each list of pods takes a second, and some are refused.
type slowPods struct {
	next   http.RoundTripper
	refuse []string // nodes

	mu               sync.Mutex
	now, most, asked int
	began            map[string]time.Time // by node
}

func (s *slowPods) RoundTrip(r *http.Request) (*http.Response, error) {
	node, found := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "spec.nodeName=")
	if !found {
		return s.next.RoundTrip(r)
	}
	s.mu.Lock()
	s.asked++
	s.began[node] = time.Now()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(time.Second)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	if slices.Contains(s.refuse, node) {
		return nil, fmt.Errorf("no line to %s", node)
	}
	return s.next.RoundTrip(r)
}

// Pods of many nodes are listed a few at a time: their answers come together, and the server never gets all of them at once.
func TestPodsOfManyNodesAreListedAFewAtATime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		var nodes []core.PodsOf
		for i := range 3*podListsAtOnce - 1 {
			name := fmt.Sprintf("n%02d", i)
			nodes = append(nodes, core.PodsOf{Node: name})
			c.create(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: on-%s, namespace: default},
  spec: {nodeName: %[1]s, containers: [{name: c, image: x}]}, status: {phase: Running}}`, name))
		}
		list := func(refuse ...string) ([]*core.NodePods, *core.APIError, *slowPods, time.Duration) {
			t.Helper()
			client, l := c.client(kubeapi.Readonly), &slowPods{next: c.network.Transport("lockstep"), refuse: refuse,
				began: map[string]time.Time{}}
			config := *client.session.Load().config
			config.Transport, config.WrapTransport = l, nil
			session, err := newSession(&config, client.secrets, nil)
			if err != nil {
				t.Fatal(err)
			}
			client.session.Store(session)
			began := time.Now()
			lists, failed := newPodPoller(0, client, nil, (WatchOptions{}).withDefaults()).listAll(t.Context(), nodes)
			return lists, failed, l, time.Since(began)
		}

		lists, err, l, took := list()
		if err != nil || len(lists) != len(nodes) {
			t.Fatalf("%d lists, %v", len(lists), err)
		}
		for i, pods := range lists {
			if pods.Node != nodes[i].Node || pods.Total != 1 {
				t.Errorf("list %d is of %s and has %d pods", i, pods.Node, pods.Total)
			}
		}
		if l.most != podListsAtOnce || l.asked != len(nodes) || took < 3*time.Second || took > 4*time.Second {
			t.Errorf("%d requests, %d at once at most, in %s", l.asked, l.most, took)
		}
		for i := range podListsAtOnce - 1 { // at one moment their order would be the scheduler's
			if here, next := nodes[i].Node, nodes[i+1].Node; !l.began[here].Before(l.began[next]) {
				t.Errorf("%s is asked for at %s, and %s at %s", here, l.began[here], next, l.began[next])
			}
		}

		_, err, l, _ = list("n05", "n03")
		if err == nil || !strings.Contains(err.Call, "n03") {
			t.Errorf("two nodes cannot be listed, and the error is %v", err)
		}
		if l.asked > 2*podListsAtOnce {
			t.Errorf("%d lists were asked for after an error", l.asked)
		}

		if lists, err, l, _ = list(); err != nil || len(lists) != len(nodes) || l.asked != len(nodes) {
			t.Errorf("after the error: %d lists, %v", len(lists), err)
		}
	})
}
