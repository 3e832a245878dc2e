//go:build !race

// The stories play whole updates by hundreds of times the wall's speed, which the race detector's toll makes another world.
// It watches the same controllers in package controller.

package sim_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/sim"
	"lockstep/sim/scenario"
)

// storySpeed is how many virtual seconds pass in one real second while a scenario is played for a test.
const storySpeed = 600

// patience is how long a test waits, in real time: a busy machine may take many times as long as an idle one.
const patience = 90 * time.Second

// told is a scenario that is being played, and clients with all rights.
type told struct {
	*sim.Cloud
	t       *testing.T
	kube    kubernetes.Interface
	dyn     dynamic.Interface
	compute *gophercloud.ServiceClient
}

// tell plays a scenario that comes with the program, from its start on.
func tell(t *testing.T, name string) *told {
	t.Helper()
	story, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	s := prepare(t, sim.Options{Scenario: story, Speed: storySpeed})
	s.Clock.Resume()
	return s
}

// prepare starts a cloud that ends with the test, with its clock standing: nothing happens before its Resume.
func prepare(t *testing.T, opts sim.Options) *told {
	t.Helper()
	opts.Paused = true
	cloud, err := sim.Start(context.WithoutCancel(t.Context()), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("end the scenario: %v", err)
		}
	})
	s := &told{Cloud: cloud, t: t}
	if s.kube, err = kubernetes.NewForConfig(cloud.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	if s.dyn, err = dynamic.NewForConfig(cloud.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	session, err := cloud.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	s.compute = session.Compute
	return s
}

// moment is what was so of an object from one of its resource versions on, which count the changes of its whole cluster.
type moment struct {
	name    string // of the object
	is      string
	version uint64
}

// record writes down what becomes of objects, whenever that changes, in order; of one that is deleted that it is gone. It
// watches: what lasts for a moment only is not missed by who looks late.
func (s *told) record(objects dynamic.ResourceInterface, state func(*unstructured.Unstructured) string) (so func() []moment) {
	s.t.Helper()
	list, err := objects.List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	events, err := objects.Watch(s.t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		s.t.Fatal(err)
	}
	var mu sync.Mutex
	var all []moment
	last := map[string]string{}
	note := func(object *unstructured.Unstructured, is string) {
		mu.Lock()
		defer mu.Unlock()
		version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
		if err != nil {
			s.t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		if was, known := last[object.GetName()]; !known || was != is {
			last[object.GetName()] = is
			all = append(all, moment{object.GetName(), is, version})
		}
	}
	for i := range list.Items {
		note(&list.Items[i], state(&list.Items[i]))
	}
	done := make(chan struct{})
	s.t.Cleanup(func() { events.Stop(); <-done })
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			switch {
			case !ok:
			case event.Type == watch.Deleted:
				note(object, "gone")
			default:
				note(object, state(object))
			}
		}
	}()
	return func() []moment {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// until waits until what is so, asking again every moment.
func (s *told) until(what string, so func() bool) {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-look.C:
		case <-deadline.C:
			s.t.Fatalf("it did not come to be that %s", what)
		}
	}
}

// lcm is a resource of the group lcm.mirantis.com.
func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// name is what Kubernetes and Nova call a machine.
func (s *told) name(machine string) string {
	s.t.Helper()
	n, ok := s.Scenario.Node(machine)
	if !ok {
		s.t.Fatalf("the scenario has no machine %s", machine)
	}
	return n.Name
}

// node is a machine's node.
func (s *told) node(machine string) *corev1.Node {
	s.t.Helper()
	node, err := s.kube.CoreV1().Nodes().Get(s.t.Context(), s.name(machine), metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return node
}

// list are all objects of a kind.
func (s *told) list(resource schema.GroupVersionResource) []unstructured.Unstructured {
	s.t.Helper()
	list, err := s.dyn.Resource(resource).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// nodeLock is a controller's lock of a machine; nil when it has none.
func (s *told) nodeLock(controllerName, machine string) *unstructured.Unstructured {
	s.t.Helper()
	for _, lock := range s.list(lcm("nodeworkloadlocks")) {
		if field(&lock, "spec", "controllerName") == controllerName && field(&lock, "spec", "nodeName") == s.name(machine) {
			return &lock
		}
	}
	return nil
}

// clusterLock is a controller's lock of the cluster; nil when it has none.
func (s *told) clusterLock(controllerName string) *unstructured.Unstructured {
	s.t.Helper()
	for _, lock := range s.list(lcm("clusterworkloadlocks")) {
		if field(&lock, "spec", "controllerName") == controllerName {
			return &lock
		}
	}
	return nil
}

// says tells whether a lock's text has the words; a lock that is not there says nothing.
func says(lock *unstructured.Unstructured, words string) bool {
	return lock != nil && strings.Contains(field(lock, "status", "errorMessage"), words)
}

// requested tells whether the machine has a NodeMaintenanceRequest.
func (s *told) requested(machine string) bool {
	s.t.Helper()
	for _, request := range s.list(lcm("nodemaintenancerequests")) {
		if field(&request, "spec", "nodeName") == s.name(machine) {
			return true
		}
	}
	return false
}

// updated tells whether the machine runs the target's kubelet, and its maintenance is over.
func (s *told) updated(machine string) bool {
	s.t.Helper()
	return s.node(machine).Status.NodeInfo.KubeletVersion == s.Scenario.Kubelet.To && !s.requested(machine)
}

// updatedNode is updated by the name that Kubernetes has for the machine.
func (s *told) updatedNode(name string) bool {
	s.t.Helper()
	for _, n := range s.Scenario.Nodes {
		if n.Name == name {
			return s.updated(n.Machine)
		}
	}
	s.t.Fatalf("the scenario has no node %s", name)
	return false
}

// field is a text in an object; empty when it is not there.
func field(object *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(object.Object, path...)
	return text
}
