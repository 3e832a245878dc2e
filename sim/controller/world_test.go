package controller_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/controller"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// quick makes a node's maintenance take some minutes. Whatever a retried handler must see lasts longer than a minute,
// the time between retries: a deployment's twenty services together take that long.
var quick = controller.Timing{
	StartDelay: time.Second, RockoonRollout: 2 * time.Minute, Update: time.Minute, Reboot: 2 * time.Minute, Finalize: 30 * time.Second,
	ServiceUpdate: 5 * time.Second, CephUpdate: time.Minute, PodStart: 15 * time.Second, PodGrace: 5 * time.Second,
}

// world is a running cloud with the tools of a test.
type world struct {
	*sim.Cloud
	t    *testing.T
	kube kubernetes.Interface
	dyn  dynamic.Interface
	nova *controller.Connection

	seen   *bubble.Lookout
	manage dynamic.Interface // of the management cluster; nil if there is none
	above  *bubble.Lookout   // the same

	mu      sync.Mutex
	locks   map[string][]string    // lock name → its texts as seen, in order, without the time
	latest  map[string]string      // lock name → the last message, with its time
	stamped map[string][]time.Time // lock name → the times of its texts
	version map[string][]uint64    // lock name → the resource versions of its texts
}

func resource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// begin starts the scenario in a bubble with a paused clock; run lets it continue.
func begin(t *testing.T, text string, opts sim.Options) *world {
	t.Helper()
	story, err := scenario.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	opts.Scenario, opts.Network, opts.Dir, opts.Paused = story, lan.New(1), t.TempDir(), true
	if opts.Timing == (controller.Timing{}) {
		opts.Timing = quick
	}
	cloud, err := sim.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	w := &world{Cloud: cloud, t: t, locks: map[string][]string{}, latest: map[string]string{}, stamped: map[string][]time.Time{},
		version: map[string][]uint64{}}
	chronicle := cloud.Follow()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(chronicle)
		}
	})
	config := cloud.AdminConfig()
	if w.kube, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if w.dyn, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	w.seen = bubble.NewLookout(t, w.dyn)
	if config := cloud.ManagementConfig(); config != nil {
		if w.manage, err = dynamic.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		w.above = bubble.NewLookout(t, w.manage)
	}
	if w.nova, err = cloud.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.nova.Close)
	for _, plural := range []string{"nodeworkloadlocks", "clusterworkloadlocks"} {
		w.record(plural)
	}
	return w
}

func (w *world) run() *world {
	w.Clock.Resume()
	return w
}

var stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})? `)

// record records what every lock of a kind says at each change.
func (w *world) record(plural string) {
	w.t.Helper()
	bubble.Follow(w.t, w.dyn.Resource(resource(plural)), func(_ watch.EventType, lock *unstructured.Unstructured) { w.write(lock) })
}

// write records what a lock says, if it has changed.
func (w *world) write(object *unstructured.Unstructured) {
	state, _, _ := unstructured.NestedString(object.Object, "status", "state")
	message, _, _ := unstructured.NestedString(object.Object, "status", "errorMessage")
	if controller, _, _ := unstructured.NestedString(object.Object, "spec", "controllerName"); controller == "openstack" && message != "" &&
		!stamp.MatchString(message) {
		w.t.Errorf("%s: message without a timestamp: %q", object.GetName(), message)
	}
	name := object.GetName()
	said := state + "/" + object.GetAnnotations()["inner_state"]
	if text := stamp.ReplaceAllString(message, ""); text != "" {
		said += ": " + text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The same words with another time count again.
	if all := w.locks[name]; len(all) == 0 || all[len(all)-1] != said || w.latest[name] != message {
		w.locks[name] = append(all, said)
		w.version[name] = append(w.version[name], versionOf(w.t, object))
		if at, err := time.Parse("2006-01-02 15:04:05", strings.TrimSpace(stamp.FindString(message))); err == nil {
			w.stamped[name] = append(w.stamped[name], at)
		}
	}
	w.latest[name] = message
}

// said returns what a lock has said so far.
func (w *world) said(lock string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.locks[lock])
}

// saidAt returns what a lock said at a resource version, which counts the changes of all objects.
func (w *world) saidAt(lock string, version uint64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := ""
	for i, at := range w.version[lock] {
		if at <= version {
			said = w.locks[lock][i]
		}
	}
	return said
}

func versionOf(t *testing.T, object *unstructured.Unstructured) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return version
}

// stamps returns the times of what a lock has said so far.
func (w *world) stamps(lock string) []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.stamped[lock])
}

// atOnce follows the objects of a resource and returns the largest number that met a condition at the same time. It
// uses a watch, since that may last only a moment.
func (w *world) atOnce(objects dynamic.ResourceInterface, so func(*unstructured.Unstructured) bool) (most func() int) {
	w.t.Helper()
	var mu sync.Mutex
	are, at := map[string]bool{}, 0
	bubble.Follow(w.t, objects, func(kind watch.EventType, object *unstructured.Unstructured) {
		mu.Lock()
		defer mu.Unlock()
		if delete(are, object.GetName()); kind != watch.Deleted && so(object) {
			are[object.GetName()] = true
		}
		at = max(at, len(are))
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return at
	}
}

// podsOn returns all pods on a machine.
func (w *world) podsOn(machine string) []corev1.Pod {
	w.t.Helper()
	list, err := w.kube.CoreV1().Pods(metav1.NamespaceAll).List(w.t.Context(),
		metav1.ListOptions{FieldSelector: "spec.nodeName=" + w.node(machine)})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

func podIsReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// node returns the Kubernetes name of a machine.
func (w *world) node(machine string) string {
	n, ok := w.Scenario.Node(machine)
	if !ok {
		w.t.Fatalf("the scenario has no machine %s", machine)
	}
	return n.Name
}

func (w *world) openstackLock(machine string) string { return "openstack-" + w.node(machine) }

// until waits until holds returns true.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	bubble.Until(w.t, what, holds)
}

// once leaves out repeated texts.
func once(locks map[string][]string) map[string][]string {
	short := map[string][]string{}
	for name, said := range locks {
		short[name] = slices.Compact(slices.Clone(said))
	}
	return short
}

func pretty(v any) string {
	raw, _ := json.MarshalIndent(v, "", "  ")
	return string(raw)
}

// untilSaid waits until a lock has said something that matches, and returns it.
func (w *world) untilSaid(lock, pattern string) string {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	found := ""
	w.until(lock+" says "+pattern, func() bool {
		for _, said := range w.said(lock) {
			if re.MatchString(said) {
				found = said
				return true
			}
		}
		return false
	})
	return found
}

// updated tells whether a machine's node runs the target, is schedulable and has an armed lock.
func (w *world) updated(machine string) bool {
	node := w.get(machine)
	return node.Status.NodeInfo.KubeletVersion == w.Scenario.Kubelet.To && !node.Spec.Unschedulable && w.request(machine) == nil
}

func (w *world) get(machine string) *corev1.Node {
	w.t.Helper()
	return w.seen.Node(w.node(machine))
}

// request returns the NodeMaintenanceRequest of a machine, or nil.
func (w *world) request(machine string) *unstructured.Unstructured {
	for _, object := range w.list("nodemaintenancerequests") {
		if name, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName"); name == w.node(machine) {
			return object
		}
	}
	return nil
}

func (w *world) list(plural string) []*unstructured.Unstructured {
	w.t.Helper()
	return w.seen.All(resource(plural))
}

// annotate sets the migration mode of a machine's node.
func (w *world) annotate(machine, mode string) {
	w.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"openstack.lcm.mirantis.com/instance_migration_mode":%q}}}`, mode)
	if _, err := w.kube.CoreV1().Nodes().Patch(w.t.Context(), w.node(machine), types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// deleteNode deletes a Node and lets it go, as somebody has to do while the OpenStack controller does not run.
func (w *world) deleteNode(name string) {
	w.t.Helper()
	nodes := w.kube.CoreV1().Nodes()
	if err := nodes.Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	_, err := nodes.Patch(w.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
}

// over tells whether the update is over: no requests are left and all locks are armed at the target.
func (w *world) over() bool {
	if len(w.list("clustermaintenancerequests")) > 0 || len(w.list("nodemaintenancerequests")) > 0 {
		return false
	}
	for _, plural := range []string{"clusterworkloadlocks", "nodeworkloadlocks"} {
		for _, lock := range w.list(plural) {
			state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
			release, _, _ := unstructured.NestedString(lock.Object, "status", "release")
			if state != "active" || release != w.Scenario.Release.To {
				return false
			}
		}
	}
	return true
}

// on returns the servers of a machine's host, by name.
func (w *world) on(machine string) map[string]openstack.ServerState {
	servers := map[string]openstack.ServerState{}
	for _, s := range w.OpenStack.ServersOn(w.node(machine)) {
		servers[s.Name] = s
	}
	return servers
}

// inOrder returns the first pattern without a match in said, with the patterns in order.
func inOrder(said []string, patterns ...string) (missing string) {
	i := 0
	for _, pattern := range patterns {
		re := regexp.MustCompile(pattern)
		for ; i < len(said) && !re.MatchString(said[i]); i++ {
		}
		if i == len(said) {
			return pattern
		}
	}
	return ""
}

// story is a scenario with the given nodes and instances, and plenty of everything else.
func story(update, nodes, instances string) string {
	return strings.Join([]string{`
name: test
title: a test
release: {from: 17.4.0+25.1, to: 21.0.0+25.2}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: 1.0.7, to: 1.1.5}
projects: [p]
flavors: [{name: small, vcpus: 1, memoryGiB: 1}, {name: large, vcpus: 1, memoryGiB: 64}]`, update, "nodes:", nodes, "instances:",
		instances}, "\n") + "\n"
}

// atWorkers is a past in which the masters are done.
const atWorkers = `history: {startAt: workers, begun: 2h, released: 1h}`
