//go:build !race

// The stories are whole updates, and the race detector would take minutes for them. It watches the same controllers in package
// controller.

package sim_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/lan"
	"lockstep/sim/scenario"
)

// told is a scenario played in a bubble, with clients that have all rights.
type told struct {
	*sim.Cloud
	t       *testing.T
	kube    kubernetes.Interface
	dyn     dynamic.Interface
	compute *gophercloud.ServiceClient
	manage  dynamic.Interface // of the management cluster; nil where there is none
	seen    *bubble.Lookout
	above   *bubble.Lookout // of the management cluster; nil where there is none
}

// tell plays a scenario that comes with the program, from its start.
func tell(t *testing.T, name string) *told {
	t.Helper()
	story, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	s := prepare(t, sim.Options{Scenario: story})
	s.Clock.Resume()
	return s
}

// prepare starts a cloud that ends with the test, with a paused clock: nothing happens before its Resume.
func prepare(t *testing.T, opts sim.Options) *told {
	t.Helper()
	opts.Network, opts.Dir, opts.Paused = lan.New(1), t.TempDir(), true
	cloud, err := sim.Start(context.WithoutCancel(t.Context()), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("end the scenario: %v", err)
		}
	})
	chronicle := cloud.Follow()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(chronicle)
		}
	})
	s := &told{Cloud: cloud, t: t}
	if s.kube, err = kubernetes.NewForConfig(cloud.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	if s.dyn, err = dynamic.NewForConfig(cloud.AdminConfig()); err != nil {
		t.Fatal(err)
	}
	s.seen = bubble.NewLookout(t, s.dyn)
	if config := cloud.ManagementConfig(); config != nil {
		if s.manage, err = dynamic.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		s.above = bubble.NewLookout(t, s.manage)
	}
	session, err := cloud.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	s.compute = session.Compute
	return s
}

// moment is the state of an object from one of its resource versions on. These count the changes of its whole cluster.
type moment struct {
	name    string // of the object
	is      string
	version uint64
}

// record records the changes of objects in order, including deletions. It uses a watch, so that short states are not
// missed.
func (s *told) record(objects dynamic.ResourceInterface, state func(*unstructured.Unstructured) string) (so func() []moment) {
	s.t.Helper()
	var mu sync.Mutex
	var all []moment
	last := map[string]string{}
	bubble.Follow(s.t, objects, func(kind watch.EventType, object *unstructured.Unstructured) {
		mu.Lock()
		defer mu.Unlock()
		is := "gone"
		if kind != watch.Deleted {
			is = state(object)
		}
		version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
		if err != nil {
			s.t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		if was, known := last[object.GetName()]; !known || was != is {
			last[object.GetName()] = is
			all = append(all, moment{object.GetName(), is, version})
		}
	})
	return func() []moment {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// until waits until so returns true.
func (s *told) until(what string, so func() bool) {
	s.t.Helper()
	bubble.Until(s.t, what, so)
}

// lcm is a resource of the group lcm.mirantis.com.
func lcm(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// name returns the name of a machine in Kubernetes and Nova.
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
	return s.seen.Node(s.name(machine))
}

// list are all objects of a kind that has no namespaces.
func (s *told) list(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	s.t.Helper()
	return s.seen.All(resource)
}

// nodeLock is a controller's lock of a machine; nil when it has none.
func (s *told) nodeLock(controllerName, machine string) *unstructured.Unstructured {
	s.t.Helper()
	for _, lock := range s.list(lcm("nodeworkloadlocks")) {
		if field(lock, "spec", "controllerName") == controllerName && field(lock, "spec", "nodeName") == s.name(machine) {
			return lock
		}
	}
	return nil
}

// clusterLock is a controller's lock of the cluster; nil when it has none.
func (s *told) clusterLock(controllerName string) *unstructured.Unstructured {
	s.t.Helper()
	for _, lock := range s.list(lcm("clusterworkloadlocks")) {
		if field(lock, "spec", "controllerName") == controllerName {
			return lock
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
		if field(request, "spec", "nodeName") == s.name(machine) {
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
