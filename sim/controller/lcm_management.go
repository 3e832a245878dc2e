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
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Management is the management cluster: there LCM learns what to do and reports what it does. The Cluster, its Machines
// and its UpdateGroups must exist; LCM creates the rest.
type Management struct {
	Config  *rest.Config // its API server, with the rights of an administrator
	Project string       // namespace of the cluster's objects
	Source  string       // ClusterRelease of the cluster before the update
	Target  string       // ClusterRelease after the update
	Version string       // of the target, as in the plan's name, for example 21.0.0
	Offers  []Offer      // releases that are offered beside the target, to a cluster without a plan

	Ceph      bool                     // whether the plan has a step for Ceph
	Estimated map[string]time.Duration // of a step, instead of the figures in MOSK's plans
	NoPlan    bool                     // there is no plan: the update begins when the Cluster's release is set
	Colleague time.Duration            // the delay after a step until a colleague commences the next one; zero: no colleague

	Start     time.Time            // the colleague's first step counts from here
	Deletions map[string]time.Time // Machines that the colleague deletes, with the time

	Alerts   []Alert       // alerts of StackLight
	Failures []ItemFailure // state items that fail
	NotReady []NotReady    // nodes that return late

	PodLogs PodLogs // takes what LCM logs; nil: its pod has no log
	Load    Load    // for PopulateManagement; nil: it makes objects by requests
}

// Offer is a release that is offered: whoever gives it to a cluster without a plan makes it the target.
type Offer struct {
	Target, Version string // as those of the Management
	Update          Update // its releases and versions; the rest stays as it is
	Reboot          bool   // the release says that hosts are to be rebooted
}

// Alert is an alert that fires from one moment of virtual time until another; a zero Until means for ever.
type Alert struct {
	Name        string
	From, Until time.Time
}

// ItemFailure is a state item that fails on a machine a number of times; a negative number means always.
type ItemFailure struct {
	Machine, Item string
	Times         int
	ExitCode      int
	Message       string
}

// NotReady is a node whose kubelet stays not ready for some time after its host has booted.
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

// managementKinds are the resources that LCM watches on the management cluster, with their kinds.
var managementKinds = map[schema.GroupVersionResource]string{
	clustersResource: "Cluster", machinesResource: "Machine", lcmClusters: "LCMCluster", lcmMachines: "LCMMachine",
	lcmClusterStates: "LCMClusterState", plansResource: "ClusterUpdatePlan", groupsResource: "UpdateGroup",
	pausesResource: "UpdateAutoPause", rebootsResource: "GracefulRebootRequest",
}

// stageKinds are the resources that hold stages; no controller here watches them.
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

// management is LCM's client of the management cluster. A nil management does nothing: there is no management cluster.
// Its env holds the client and the view of that cluster.
type management struct {
	*env
	Management
	cluster string

	mu      sync.Mutex
	running map[string]bool   // the work of this run of LCM, by name; true once it is done
	stuck   map[string]string // why work does not continue, by its name
	overdue map[string]string // why a step takes too long, by its ID
}

// newManagement returns the client; nil if there is no management cluster.
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
	kube, dyn, err := Clients(config)
	if err != nil {
		return nil, fmt.Errorf("controllers: the management cluster: %w", err)
	}
	own := &env{kube: kube, dyn: dyn, view: managementView(dyn, o.Project), clock: e.clock, timing: e.timing, log: e.lcmLogging(o.PodLogs).log}
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

// seen returns the cluster's objects of a resource as last seen, sorted by name. They are shared: read only.
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

// last returns one object as last seen, or nil. It is shared: read only.
func (m *management) last(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	return m.view.object(resource, m.Project+"/"+name)
}

// newObject returns a new object of the cluster.
func (m *management) newObject(resource schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetKind(kind)
	object.SetName(name)
	object.SetNamespace(m.Project)
	object.SetLabels(map[string]string{labelCluster: m.cluster})
	return object
}

// ensure creates an object with its status unless it exists, and adds the status if an earlier LCM ended before writing
// it. It tells whether it created the object.
func (m *management) ensure(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	status map[string]any) (bool, error) {
	made := false
	if seen := m.last(resource, object.GetName()); seen != nil {
		if hasStatus(seen) {
			return false, nil
		}
		now, err := m.objects(resource).Get(ctx, object.GetName(), metav1.GetOptions{}) // the view may lag behind our own writes
		if err != nil || hasStatus(now) {
			return false, err
		}
	} else if m.load != nil {
		object.Object["status"] = status
		if err := m.load(object); err != nil {
			return false, fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		return true, nil
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

// tellStatus is patchStatus for repeated reports: it writes only the fields that the object was not seen to have.
func (m *management) tellStatus(ctx context.Context, resource schema.GroupVersionResource, name string, fields map[string]any) error {
	object := m.last(resource, name)
	if object == nil {
		return nil
	}
	if status, _ := object.Object["status"].(map[string]any); says(status, fields) {
		return nil
	}
	err := m.patchStatus(ctx, resource, name, fields)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// says tells whether content, as it came from the API, has all the fields: whether a merge of them would leave it as it is. A nil field
// must be missing.
func says(current, wanted map[string]any) bool {
	for key, value := range wanted {
		is, found := current[key]
		if !plain(value) {
			var ok bool
			if value, ok = inAPI(value); !ok {
				return false
			}
		}
		if value == nil {
			if found {
				return false
			}
			continue
		}
		deeper, ok := value.(map[string]any)
		if !ok {
			if !found || !same(is, value) {
				return false
			}
			continue
		}
		below, ok := is.(map[string]any)
		if !ok || !says(below, deeper) {
			return false
		}
	}
	return true
}

// same tells whether a value from the API is what another one becomes there.
func same(is, wanted any) bool {
	switch wanted := wanted.(type) {
	case nil, bool, string, int64:
		return is == wanted
	case int:
		return is == int64(wanted)
	case []any:
		list, ok := is.([]any)
		return ok == (wanted != nil) && (ok || is == nil) && slices.EqualFunc(list, wanted, same)
	case map[string]any:
		fields, ok := is.(map[string]any)
		return ok == (wanted != nil) && (ok || is == nil) && maps.EqualFunc(fields, wanted, same)
	}
	there, ok := inAPI(wanted)
	return ok && reflect.DeepEqual(is, there)
}

// plain tells whether a value is the same in the API, or only what is in it is not.
func plain(value any) bool {
	switch value := value.(type) {
	case nil, bool, string, int, int64:
		return true
	case []any:
		return value != nil
	case map[string]any:
		return value != nil
	}
	return false
}

// inAPI is what a value becomes in the API, by way of JSON: whole numbers are int64. It is false if JSON cannot say it.
func inAPI(value any) (there any, ok bool) {
	raw, err := json.Marshal(value)
	ok = err == nil && kubejson.Unmarshal(raw, &there) == nil
	return there, ok
}

// now is the virtual time in the format of the management cluster's objects.
func (m *management) now() string { return m.clock.Now().Format(time.RFC3339) }

// block notes why work does not continue; an empty text means that it does.
func (m *management) block(what, why string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	changed := m.stuck[what] != why
	if changed && why != "" {
		m.log.Error(why, "cluster", m.cluster)
	}
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

// late notes that a step takes longer than it should. It is reported, but does not make other steps stuck by itself.
func (m *management) late(what, why string) {
	m.mu.Lock()
	m.overdue[what] = why
	m.mu.Unlock()
}

// onTime removes the note of late.
func (m *management) onTime(what string) {
	m.mu.Lock()
	delete(m.overdue, what)
	m.mu.Unlock()
}

// blocked lists all work that does not continue, in one text.
func (m *management) blocked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return joined(m.stuck)
}

// stuckMessage lists the work that does not continue or, if there is none, the steps that take too long.
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

// begin notes that this run of LCM starts some work; false if it has started it before.
func (m *management) begin(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, begun := m.running[what]; begun {
		return false
	}
	m.running[what] = false
	return true
}

// end notes that the work is done.
func (m *management) end(what string) {
	m.mu.Lock()
	m.running[what] = true
	m.mu.Unlock()
	m.view.changed(plansResource)
}

// forget allows the work to start again.
func (m *management) forget(what string) {
	m.mu.Lock()
	delete(m.running, what)
	m.mu.Unlock()
	m.view.changed(plansResource)
}

// ended tells whether this run of LCM has done the work.
func (m *management) ended(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running[what]
}

// busy tells whether any work with this prefix is in progress.
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
