package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// Kinds of trouble.
const (
	// TroubleController scales the OpenStack controller's Deployment to zero; over when it is scaled up.
	TroubleController = "controllerDown"
	// TroubleRelease keeps the new OpenStack controller from being rolled out: For is how long the rollout takes.
	TroubleRelease = "releaseMismatch"
	// TroubleInner is a lock whose inner_state an earlier maintenance left active; over when it is set to inactive.
	TroubleInner = "staleInnerState"
	// TroubleDeployment keeps a service of OpenStack from being applied; over when its failed pod is deleted.
	TroubleDeployment = "osdplApplying"
	// TroubleAgents silences the network agents of a node; over when the pod of its Open vSwitch agent is deleted.
	TroubleAgents = "agentsDead"
	// TroubleCompute silences a node's nova-compute; over when its pod is deleted.
	TroubleCompute = "computeDown"
	// TroubleForgotten is a nova-compute whose service was deleted; over when its pod is deleted: a new one registers itself.
	TroubleForgotten = "computeForgotten"
	// TroubleRole removes a node's role labels; when they are put back, the lock is still being deleted.
	TroubleRole = "roleTaken"
	// TroublePods makes the pods of a workload crash on a node; a recreated pod runs.
	TroublePods = "podsNotReady"
	// TroubleEvicted is a pod of a workload that was evicted from a node and stays there as Failed; over when it is
	// deleted.
	TroubleEvicted = "podsEvicted"
	// TroubleCeph takes an OSD down and degrades placement groups; over when the OSD's pod is deleted.
	TroubleCeph = "cephDegraded"
	// TroubleSlow makes Ceph's health report OSDs with slow operations in BlueStore; only time ends it.
	TroubleSlow = "cephSlow"
	// TroubleTempest makes Tempest runs fail that end while it is active.
	TroubleTempest = "tempestFails"
	// TroubleScope is somebody's request for a node that has no scope; over when it is deleted, or has one.
	TroubleScope = "withoutScope"
	// TroubleLeftLock is a lock that is inactive though nobody asks for its node; over when it is set to active.
	TroubleLeftLock = "lockLeft"
	// TroubleHanging keeps a workload's pods on a node from ending, as a volume does that cannot be unmounted; over when they are
	// deleted by force.
	TroubleHanging = "podsHang"
	// TroubleLabels is a setting of the role labels that cannot be read: the OpenStack controller's pods crash; over when the variable
	// is put right, or taken out.
	TroubleLabels = "roleLabelsUnreadable"
)

// Trouble is something that goes wrong by itself.
type Trouble struct {
	Kind     string        // one of the Trouble constants
	Node     string        // Kubernetes name, for kinds that affect a node
	Service  string        // key of an OpenStack service, for TroubleDeployment
	Workload string        // name of a DaemonSet, StatefulSet or Deployment, for TroublePods, TroubleEvicted and TroubleHanging
	Waits    string        // why the containers of a pod that was found down do not run; empty: they run
	At       time.Duration // after the start
	// OnReturn begins the trouble when the node is back from its reboot, instead of at the time At; for agents,
	// computes and pods. A controllerDown trouble begins while the node is away, and pods are evicted as soon as its
	// host has booted.
	OnReturn bool
	// AfterUpdate begins the trouble when the maintenance of the cluster has ended, instead of at the time At.
	AfterUpdate bool
	For         time.Duration // how long; zero: until it is repaired
	Event       string        // "REASON: MESSAGE" that the kubelet reports of the pod, for TroublePods: its containers are not created
	Log         string        // what the container of the pod that fails says, for TroubleDeployment and TroublePods
}

// agentSwitch is implemented by Machines whose hosts have agents that can be silenced.
type agentSwitch interface {
	StopAgents(host string) error  // now
	HoldAgents(host string) error  // from the next start of the host on
	StartAgents(host string) error // again
	StopCompute(host string) error
	HoldCompute(host string) error
	ForgetCompute(host string) error
	StartCompute(host string) error
}

// troubles plays all troubles of one run.
type troubles struct {
	env   *env
	start time.Time
	all   []*trouble
}

type trouble struct {
	*env
	Trouble
	start time.Time

	mu      sync.Mutex
	culprit string // namespace/name of the pod that shows it
	struck  bool
	over    bool
}

// crashLoop is why the containers of pods that crash do not run.
const crashLoop = "CrashLoopBackOff"

// newTroubles makes the troubles of one run, and those that existed before it and need not begin.
func newTroubles(e *env, all, before []Trouble) *troubles {
	t := &troubles{env: e, start: e.clock.Now()}
	for _, one := range before {
		t.all = append(t.all, &trouble{env: e, Trouble: one, start: t.start, struck: true})
	}
	for _, one := range all {
		if one.Kind == TroublePods {
			if one.Waits = crashLoop; one.Event != "" {
				one.Waits = "ContainerCreating"
			}
		}
		if one.Kind == TroubleRelease {
			e.timing.RockoonRollout = one.For
			if one.For <= 0 {
				e.timing.RockoonRollout = 100 * 24 * time.Hour
			}
		}
		t.all = append(t.all, &trouble{env: e, Trouble: one, start: t.start})
	}
	return t
}

// begin starts the troubles that exist from the start, before any controller looks.
func (t *troubles) begin(ctx context.Context) error {
	for _, one := range t.all {
		if one.At == 0 && !one.AfterUpdate && !one.waits() && !one.active() {
			if err := t.env.insist(ctx, one.Kind, one.strike); err != nil {
				return err
			}
		}
	}
	return nil
}

// run starts the other troubles at their time, and ends those that end.
func (t *troubles) run(ctx context.Context) {
	var group sync.WaitGroup
	for _, one := range t.all {
		group.Go(func() {
			if one.AfterUpdate {
				if one.untilUpdated(ctx) != nil || t.env.insist(ctx, one.Kind, one.strike) != nil {
					return
				}
			}
			if one.waits() {
				if one.untilItsTime(ctx) != nil || t.env.insist(ctx, one.Kind, one.strike) != nil {
					return
				}
			}
			if one.At > 0 {
				if t.env.clock.Sleep(ctx, t.start.Add(one.At).Sub(t.env.clock.Now())) != nil || t.env.insist(ctx, one.Kind, one.strike) != nil {
					return
				}
			}
			one.live(ctx)
		})
	}
	group.Wait()
}

// waits tells whether the trouble begins when its node is away or has just returned.
func (t *trouble) waits() bool {
	return t.OnReturn && (t.Kind == TroubleController || t.Kind == TroubleEvicted)
}

// untilUpdated waits until a request for the cluster has been there and is gone.
func (t *trouble) untilUpdated(ctx context.Context) error {
	seen := false
	return t.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		requests, err := t.requests(ctx, clusterRequests)
		seen = seen || len(requests) > 0
		return seen && err == nil && len(requests) == 0, err
	}, clusterRequests)
}

// untilItsTime waits until the node is cordoned: then all locks are released and its return is still ahead. For an
// eviction it also waits until the host has booted.
func (t *trouble) untilItsTime(ctx context.Context) error {
	before := ""
	return t.until(ctx, time.Minute, func(context.Context) (bool, error) {
		node := t.view.nodes()[t.Node]
		if node == nil {
			return false, nil
		}
		boot := node.Status.NodeInfo.BootID
		if before == "" {
			before = boot
		}
		booted := boot != before && nodeReady(node).Status == corev1.ConditionTrue
		return node.Spec.Unschedulable && (t.Kind == TroubleController || booted), nil
	}, nodesResource)
}

// strike begins a trouble. It may be called again after a failure.
func (t *trouble) strike(ctx context.Context) (err error) {
	switch t.Kind {
	case TroubleController:
		err = t.scaleController(ctx, 0)
	case TroubleInner:
		err = t.nodeLock("openstack-"+t.Node).annotate(ctx, annotationInner, stateActive)
	case TroubleDeployment:
		if err = t.makeCulprit(ctx, openstackNamespace, culpritOf(t.Service), "Job"); err == nil {
			err = t.unapply(ctx)
		}
	case TroubleEvicted:
		err = t.makeCulprit(ctx, openstackNamespace, t.Workload, deployment)
	case TroubleCeph:
		err = t.makeCulprit(ctx, cephNamespace, "rook-ceph-osd-3", deployment)
	case TroubleAgents:
		err = t.switchHost(agentSwitch.StopAgents, agentSwitch.HoldAgents)
	case TroubleCompute:
		err = t.switchHost(agentSwitch.StopCompute, agentSwitch.HoldCompute)
	case TroubleForgotten:
		err = t.switchHost(agentSwitch.ForgetCompute, agentSwitch.ForgetCompute)
	case TroubleRole:
		err = t.takeRoles(ctx)
	case TroublePods:
		t.says(t.Workload)
	case TroubleScope:
		err = t.askWithoutScope(ctx)
	case TroubleLeftLock:
		_, err = t.nodeLock("openstack-"+t.Node).patchStatus(ctx, map[string]any{"state": stateInactive})
	case TroubleLabels:
		err = t.spoilLabels(ctx)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.struck = true
	t.mu.Unlock()
	return nil
}

// says writes the trouble's words into the log of a workload's container on the node.
func (t *trouble) says(workload string) {
	if t.Log != "" && t.podLogs != nil {
		t.podLogs.WriteLog(openstackNamespace, workload, t.Node, workload, t.Log)
	}
}

// askWithoutScope makes a request for the node, as somebody does by hand who leaves the scope out.
func (t *trouble) askWithoutScope(ctx context.Context) error {
	lock, err := t.nodeLock("openstack-" + t.Node).get(ctx)
	if err != nil {
		return fmt.Errorf("read the lock of %s: %w", t.Node, err)
	}
	request := lcmObject("NodeMaintenanceRequest", t.Node)
	request.Object["spec"] = map[string]any{"nodeName": t.Node, "release": lockRelease(lock)}
	_, err = t.dyn.Resource(nodeRequests).Create(ctx, request, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("ask for %s: %w", t.Node, err)
	}
	return nil
}

// spoilLabels gives the OpenStack controller a setting of the role labels that it cannot read.
func (t *trouble) spoilLabels(ctx context.Context) error {
	return retry.RetryOnConflict(conflicts, func() error {
		d, err := t.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range d.Spec.Template.Spec.Containers {
			c := &d.Spec.Template.Spec.Containers[i]
			c.Env = slices.DeleteFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == rolesVariable })
			c.Env = append(c.Env, corev1.EnvVar{Name: rolesVariable, Value: `{"compute": {"openstack-compute-node": "enabled"}`})
		}
		_, err = t.kube.AppsV1().Deployments(rockoonNamespace).Update(ctx, d, metav1.UpdateOptions{})
		return err
	})
}

// takeRoles removes the role labels from the node.
func (t *trouble) takeRoles(ctx context.Context) error {
	labels := map[string]any{}
	for _, r := range t.roles {
		labels[r.key] = nil
	}
	patch := compactJSON(map[string]any{"metadata": map[string]any{"labels": labels}})
	if _, err := t.kube.CoreV1().Nodes().Patch(ctx, t.Node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("take the roles off %s: %w", t.Node, err)
	}
	return nil
}

// switchHost stops something on the node, now or from its next start on.
func (t *trouble) switchHost(now, later func(agentSwitch, string) error) error {
	hosts, ok := t.machines.(agentSwitch)
	if !ok {
		return nil // these machines have no such switch
	}
	if t.OnReturn {
		return later(hosts, t.Node)
	}
	return now(hosts, t.Node)
}

// live waits for the end of a trouble and cleans up after it. A trouble that ends when a pod is deleted or an object is written
// needs no end here.
func (t *trouble) live(ctx context.Context) {
	switch t.Kind {
	case TroubleController:
		if t.For > 0 && t.clock.Sleep(ctx, t.For) == nil {
			_ = t.insist(ctx, t.Kind, func(ctx context.Context) error { return t.scaleController(ctx, 1) })
		}
	case TroubleDeployment, TroubleCeph, TroubleEvicted:
		if t.untilGone(ctx) == nil {
			t.end()
		}
	case TroubleTempest, TroubleSlow:
		if t.For > 0 && t.clock.Sleep(ctx, t.For) == nil {
			t.end()
		}
	case TroubleAgents:
		t.untilRestarted(ctx, "neutron-ovs-agent-default", agentSwitch.StartAgents)
	case TroubleCompute, TroubleForgotten:
		t.untilRestarted(ctx, "nova-compute-default", agentSwitch.StartCompute)
	}
}

func (t *trouble) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.view.changed(podsResource)
	t.view.changed(nodeLocks) // a controller that waits for the end watches the locks
}

// active tells whether the trouble has begun and is not over.
func (t *trouble) active() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.struck && !t.over
}

// scaleController sets the replicas of the OpenStack controller.
func (t *trouble) scaleController(ctx context.Context, replicas int) error {
	return t.scale(ctx, rockoonNamespace, rockoonDeployment, replicas)
}

// passable waits while a trouble keeps a service of OpenStack from being applied.
func (t *troubles) passable(ctx context.Context, service string) error {
	return t.env.until(ctx, time.Minute, func(context.Context) (bool, error) {
		return !t.are(TroubleDeployment, func(one *trouble) bool { return one.Service == service }), nil
	}, podsResource)
}

// are tells whether a trouble of the kind is active that matches meant.
func (t *troubles) are(kind string, meant func(*trouble) bool) bool {
	return slices.ContainsFunc(t.all, func(one *trouble) bool { return one.Kind == kind && one.active() && meant(one) })
}

// crashes tells whether a pod does not become ready because it existed when the trouble of its workload began, and why
// its containers do not run. seen is when the kubelet first saw it.
func (t *troubles) crashes(pod *corev1.Pod, on host, seen, now time.Time) (waits string, yes bool) {
	_, owner := podOwner(pod)
	if owner == rockoonDeployment && pod.Namespace == rockoonNamespace && t.env.labelsUnreadable() {
		return crashLoop, true
	}
	yes = t.are(TroublePods, func(one *trouble) bool {
		if one.Node != pod.Spec.NodeName || one.Workload != owner {
			return false
		}
		begun := one.start.Add(one.At)
		if one.OnReturn {
			if on.boots == 0 || on.off {
				return false
			}
			begun = on.since
		}
		waits = one.Waits
		return !seen.After(begun) && (one.For <= 0 || now.Before(begun.Add(one.For)))
	})
	return waits, yes
}

// eventOf is what the kubelet reports of a pod that does not become ready; empty where it reports nothing.
func (t *troubles) eventOf(pod *corev1.Pod) (event string) {
	_, owner := podOwner(pod)
	t.are(TroublePods, func(one *trouble) bool {
		if one.Node != pod.Spec.NodeName || one.Workload != owner {
			return false
		}
		event = one.Event
		return true
	})
	return event
}

// hangs tells whether a pod that is being deleted does not end.
func (t *troubles) hangs(pod *corev1.Pod) bool {
	_, owner := podOwner(pod)
	return t.are(TroubleHanging, func(one *trouble) bool {
		return one.Node == pod.Spec.NodeName && one.Workload == owner
	})
}

// labelsUnreadable tells whether the OpenStack controller's pods cannot read their setting of the role labels.
func (e *env) labelsUnreadable() bool {
	d := e.view.deployment(rockoonNamespace, rockoonDeployment)
	if d == nil {
		return false
	}
	_, err := readRoles(podSpecOf(d).roles)
	return err != nil
}
