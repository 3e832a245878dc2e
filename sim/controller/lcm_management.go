package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Management is the management cluster by which LCM learns what to do and where it tells what it does. The Cluster, its
// Machines and its UpdateGroups must be there; LCM makes the rest.
type Management struct {
	Config  *rest.Config // its API server, with the rights of an administrator
	Project string       // namespace of the cluster's objects
	Source  string       // ClusterRelease that the cluster is at before the update
	Target  string       // ClusterRelease that the update goes to
	Version string       // of the target, as the plan's name has it, for example 21.0.0

	Ceph      bool                     // whether the plan has a step for Ceph
	Estimated map[string]time.Duration // of a step, instead of what MOSK's plans say
	Colleague time.Duration            // someone commences each next step so long after the one before it; zero: nobody does

	Start     time.Time            // the colleague's first step counts from here
	Deletions map[string]time.Time // Machines that the colleague deletes, and when

	Alerts   []Alert       // what StackLight tells
	Failures []ItemFailure // state items that fail
	NotReady []NotReady    // nodes that do not come back at once
}

// Alert is an alert that fires from one moment of virtual time until another; a zero Until is never.
type Alert struct {
	Name        string
	From, Until time.Time
}

// ItemFailure is a state item of a machine that fails so many times; a negative number is always.
type ItemFailure struct {
	Machine, Item string
	Times         int
	ExitCode      int
	Message       string
}

// NotReady is a node whose kubelet is not ready for some time after its host has booted.
type NotReady struct {
	Node    string
	For     time.Duration
	Message string
}

// The resources of the management cluster (docs/mosk.md#where-things-live).
var (
	clustersResource   = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "clusters"}
	machinesResource   = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "machines"}
	lcmClusters        = lcmResource("lcmclusters")
	lcmMachines        = lcmResource("lcmmachines")
	lcmClusterStates   = lcmResource("lcmclusterstates")
	clusterUpgrades    = lcmResource("lcmclusterupgradestatuses")
	machineDrains      = lcmResource("lcmmachineupgradedrainstatuses")
	machineAgents      = lcmResource("lcmmachineagentupgradestatuses")
	plansResource      = kaasResource("clusterupdateplans")
	groupsResource     = kaasResource("updategroups")
	pausesResource     = kaasResource("updateautopauses")
	rebootsResource    = kaasResource("gracefulrebootrequests")
	providerUpgrades   = kaasResource("clusterupgradestatuses")
	providerMachineUps = kaasResource("machineupgradestatuses")
)

// managementKinds are the resources that LCM watches there, with their kinds.
var managementKinds = map[schema.GroupVersionResource]string{
	clustersResource: "Cluster", machinesResource: "Machine", lcmClusters: "LCMCluster", lcmMachines: "LCMMachine",
	lcmClusterStates: "LCMClusterState", plansResource: "ClusterUpdatePlan", groupsResource: "UpdateGroup",
	pausesResource: "UpdateAutoPause", rebootsResource: "GracefulRebootRequest",
}

// stageKinds are the resources that hold stages and that nobody watches here.
var stageKinds = map[schema.GroupVersionResource]string{
	clusterUpgrades: "LCMClusterUpgradeStatus", machineDrains: "LCMMachineUpgradeDrainStatus",
	machineAgents: "LCMMachineAgentUpgradeStatus", providerUpgrades: "ClusterUpgradeStatus", providerMachineUps: "MachineUpgradeStatus",
}

const (
	kaasGroup = "kaas.mirantis.com"

	labelCluster       = "cluster.sigs.k8s.io/cluster-name"
	labelGroup         = "kaas.mirantis.com/update-group" // of a Machine
	labelControlPlane  = "cluster.sigs.k8s.io/control-plane"
	annotationReason   = "lcm.mirantis.com/cluster-state-reason"
	annotationGraceful = "lcm.mirantis.com/graceful-reboot"
	machineFinalizer   = "machine.cluster.sigs.k8s.io"
)

func kaasResource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: kaasGroup, Version: lcmVersion, Resource: plural}
}

// management is LCM's client of the management cluster. A nil one does nothing: there is no such cluster. Its env is of
// that cluster: its client and its view.
type management struct {
	*env
	Management
	cluster string

	mu      sync.Mutex
	running map[string]bool   // what this life of LCM does, by name; true once it is done
	stuck   map[string]string // why something does not go on, by what it is
	overdue map[string]string // why a step takes too long, by its ID
}

// newManagement makes the client; nil where there is no management cluster.
func newManagement(e *env, cluster string, o *Management) (*management, error) {
	if o == nil {
		return nil, nil
	}
	if o.Config == nil {
		return nil, errors.New("controllers: the management cluster has no rest.Config")
	}
	config := rest.CopyConfig(o.Config)
	config.QPS = -1
	config.UserAgent = "lockstep-sim-lcm"
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("controllers: make a client of the management cluster: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("controllers: make a dynamic client of the management cluster: %w", err)
	}
	own := &env{kube: kube, dyn: dyn, view: managementView(dyn, o.Project), clock: e.clock, timing: e.timing, log: e.log}
	return &management{env: own, Management: *o, cluster: cluster, running: map[string]bool{}, stuck: map[string]string{},
		overdue: map[string]string{}}, nil
}

// managementView watches the project of a management cluster.
func managementView(dyn dynamic.Interface, project string) *view {
	v := &view{
		mirrors:     map[schema.GroupVersionResource]*mirror{},
		subscribers: map[chan struct{}][]schema.GroupVersionResource{},
	}
	for resource := range managementKinds {
		objects := dyn.Resource(resource).Namespace(project)
		v.add(resource, &unstructured.Unstructured{}, &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return objects.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return objects.Watch(ctx, o)
			},
		})
	}
	return v
}

// watched are the resources whose changes LCM reacts to.
func watched() []schema.GroupVersionResource {
	return slices.Collect(maps.Keys(managementKinds))
}

func (m *management) objects(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return m.dyn.Resource(resource).Namespace(m.Project)
}

// seen are the objects of a resource that belong to the cluster, as last seen, by name. They are shared: read only.
func (m *management) seen(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	var mine []*unstructured.Unstructured
	for _, object := range m.view.objects(resource) {
		if cluster := object.GetLabels()[labelCluster]; cluster == "" || cluster == m.cluster {
			mine = append(mine, object)
		}
	}
	slices.SortFunc(mine, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return mine
}

// last is one object as last seen, nil when there is none. It is shared: read only.
func (m *management) last(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	return m.view.object(resource, m.Project+"/"+name)
}

// newObject is an object of the cluster.
func (m *management) newObject(resource schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetKind(kind)
	object.SetName(name)
	object.SetNamespace(m.Project)
	object.SetLabels(map[string]string{labelCluster: m.cluster})
	return object
}

// ensure makes an object with its status unless it is there, and gives it the status where that was not written before an
// earlier LCM ended. It tells whether it made the object.
func (m *management) ensure(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	status map[string]any) (bool, error) {
	made := false
	if seen := m.last(resource, object.GetName()); seen != nil {
		if hasStatus(seen) {
			return false, nil
		}
		now, err := m.objects(resource).Get(ctx, object.GetName(), metav1.GetOptions{}) // what was seen may be older than what we wrote
		if err != nil || hasStatus(now) {
			return false, err
		}
	} else {
		_, err := m.objects(resource).Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		made = true
	}
	return made, m.patch(ctx, resource, object.GetName(), map[string]any{"status": status}, "status")
}

func hasStatus(object *unstructured.Unstructured) bool {
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	return len(status) > 0
}

// patch merges a body into an object or a subresource of it.
func (m *management) patch(ctx context.Context, resource schema.GroupVersionResource, name string, body map[string]any,
	subresources ...string) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a patch of %s %s: %w", resource.Resource, name, err)
	}
	if _, err := m.objects(resource).Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{}, subresources...); err != nil {
		return fmt.Errorf("patch %s %s: %w", resource.Resource, name, err)
	}
	return nil
}

// patchStatus merges fields into a status; a nil value removes a field.
func (m *management) patchStatus(ctx context.Context, resource schema.GroupVersionResource, name string, fields map[string]any) error {
	return m.patch(ctx, resource, name, map[string]any{"status": fields}, "status")
}

// tellStatus is patchStatus for what is told again and again: it writes only what the object was not seen to say.
func (m *management) tellStatus(ctx context.Context, resource schema.GroupVersionResource, name string, fields map[string]any) error {
	object := m.last(resource, name)
	if object == nil {
		return nil
	}
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	if says(status, fields) {
		return nil
	}
	err := m.patchStatus(ctx, resource, name, fields)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// says tells whether content has all the fields; a nil one must be missing.
func says(content map[string]any, fields map[string]any) bool {
	raw, err := json.Marshal(fields)
	if err != nil {
		return false
	}
	var wanted map[string]any
	if json.Unmarshal(raw, &wanted) != nil {
		return false
	}
	raw, err = json.Marshal(content)
	if err != nil {
		return false
	}
	var current map[string]any
	return json.Unmarshal(raw, &current) == nil && merged(current, wanted)
}

// merged tells whether a merge of wanted would leave current as it is.
func merged(current, wanted map[string]any) bool {
	for key, value := range wanted {
		is, found := current[key]
		if value == nil {
			if found {
				return false
			}
			continue
		}
		deeper, ok := value.(map[string]any)
		if !ok {
			if !found || !reflect.DeepEqual(is, value) {
				return false
			}
			continue
		}
		below, ok := is.(map[string]any)
		if !ok || !merged(below, deeper) {
			return false
		}
	}
	return true
}

// now is the virtual time as the management cluster's objects write it.
func (m *management) now() string { return m.clock.Now().Format(time.RFC3339) }

// block notes why something does not go on; an empty text is that it does.
func (m *management) block(what, why string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	changed := m.stuck[what] != why
	if why == "" {
		delete(m.stuck, what)
	} else {
		m.stuck[what] = why
	}
	m.mu.Unlock()
	if changed {
		m.view.changed(lcmClusters)
	}
}

// late notes that a step takes longer than it should. It is told, and does not by itself make other steps stuck.
func (m *management) late(what, why string) {
	m.mu.Lock()
	m.overdue[what] = why
	m.mu.Unlock()
}

// onTime takes back what late noted.
func (m *management) onTime(what string) {
	m.mu.Lock()
	delete(m.overdue, what)
	m.mu.Unlock()
}

// blocked is all that does not go on, in one text.
func (m *management) blocked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return joined(m.stuck)
}

// stuckMessage is what does not go on or, where nothing says so by itself, which steps take too long.
func (m *management) stuckMessage() string {
	if why := m.blocked(); why != "" {
		return why
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return joined(m.overdue)
}

func joined(texts map[string]string) string {
	var all []string
	for _, what := range sortedKeys(texts) {
		all = append(all, texts[what])
	}
	return strings.Join(all, "; ")
}

// begin notes that this life of LCM does something; false when it did so before.
func (m *management) begin(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, begun := m.running[what]; begun {
		return false
	}
	m.running[what] = false
	return true
}

// end notes that something is done.
func (m *management) end(what string) {
	m.mu.Lock()
	m.running[what] = true
	m.mu.Unlock()
	m.view.changed(plansResource)
}

// forget lets something be begun again.
func (m *management) forget(what string) {
	m.mu.Lock()
	delete(m.running, what)
	m.mu.Unlock()
	m.view.changed(plansResource)
}

// ended tells whether this life of LCM has done something.
func (m *management) ended(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running[what]
}

// busy tells whether anything is under way whose name begins so.
func (m *management) busy(prefix string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for what, done := range m.running {
		if !done && strings.HasPrefix(what, prefix) {
			return true
		}
	}
	return false
}

func flag(object *unstructured.Unstructured, fields ...string) bool {
	value, _, _ := unstructured.NestedBool(object.Object, fields...)
	return value
}

func number(object *unstructured.Unstructured, fields ...string) int64 {
	value, _, _ := unstructured.NestedInt64(object.Object, fields...)
	return value
}
