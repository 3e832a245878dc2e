package controller

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// kubelet stands for the kubelets of all nodes, and for those parts of the scheduler, the workload controllers and the
// node lifecycle controller that make a node look drained and rebooted.
type kubelet struct {
	*env
	hosts *hosts

	started  map[string]time.Time      // pod UID → when it was first seen, or its node returned
	seen     map[string]time.Time      // pod UID → when it was first seen
	reported reportTimes               // name of an event about a pod → when it was written last
	looked   bool                      // whether the pods have been looked at before
	creates  bool                      // whether it only creates pods, and another look counts them
	watched  bool                      // whether it reads pods and workloads from a watch instead of listing them
	unseen   map[cache.ObjectName]bool // created pods that the watch has not shown yet
	found    map[string]set            // the workloads before the pods were made, while it only creates
	ending   map[string]time.Time      // pod UID → when it was first seen with a deletionTimestamp
	made     map[string]int            // pods created so far for a workload's place

	given map[string]bool // claims created so far, "namespace/name": their pods are Pending while no node can take them

	revisions map[string]string // UID and generation of a DaemonSet → the hash of its template
	unrevised map[string]bool   // keys of workloads that were just made: they have no revision yet
}

func (k *kubelet) run(ctx context.Context) {
	k.loop(ctx, "kubelet", k.step, nodesResource, podsResource, daemonsResource, statefulResource, statelessResource, claimsResource)
}

// step brings the status of all nodes and pods up to date and returns when the next thing is due, zero for never.
func (k *kubelet) step(ctx context.Context) (time.Duration, error) {
	now := k.clock.Now()
	var due dueTime
	var failed error
	nodes := k.view.nodes()
	for _, name := range sortedKeys(nodes) {
		next, err := k.postNode(ctx, nodes[name], now, k.beat(name, len(nodes)))
		failed = errors.Join(failed, err)
		due.add(next)
	}
	next, err := k.servePods(ctx, nodes, now)
	due.add(next)
	if failed = errors.Join(failed, err); failed != nil {
		return 0, failed
	}
	return due.in(now), nil
}

// postNode posts the status of a node if it has changed or its heartbeat is due, and returns when to look next.
func (k *kubelet) postNode(ctx context.Context, node *corev1.Node, now time.Time, beat time.Duration) (time.Time, error) {
	host := k.hosts.get(node.Name)
	ready := nodeReady(node)
	status, reason, message := corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	var next time.Time
	switch {
	case host.off:
		if lost := host.since.Add(k.timing.NodeGrace); now.Before(lost) {
			return lost, nil
		}
		if ready.Status == corev1.ConditionUnknown {
			return time.Time{}, nil
		}
		status, reason, message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
	case now.Before(host.ails):
		next = host.ails
		status, reason, message = corev1.ConditionFalse, "KubeletNotReady", host.with
	case !host.since.IsZero() && now.Before(host.since.Add(k.timing.PodStart/3)):
		next = host.since.Add(k.timing.PodStart / 3)
		status, reason, message = corev1.ConditionFalse, "KubeletNotReady", "container runtime network not ready"
	}
	fresh := func(node *corev1.Node) bool {
		ready := nodeReady(node)
		return ready.Status == status &&
			(host.bootID == "" || node.Status.NodeInfo.BootID == host.bootID) &&
			(host.version == "" || node.Status.NodeInfo.KubeletVersion == host.version) &&
			(host.off || now.Before(ready.LastHeartbeatTime.Add(beat)))
	}
	if fresh(node) {
		if host.off {
			return next, nil
		}
		return earliest(next, ready.LastHeartbeatTime.Add(beat)), nil
	}
	current := node.DeepCopy()
	err := retry.RetryOnConflict(conflicts, func() (err error) {
		if current == nil { // the watch may lag behind our own writes
			if current, err = k.kube.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{}); err != nil || fresh(current) {
				return err
			}
		}
		setNodeReady(current, status, reason, message, now)
		if host.bootID != "" {
			current.Status.NodeInfo.BootID = host.bootID
		}
		if host.version != "" {
			current.Status.NodeInfo.KubeletVersion = host.version
		}
		_, err = k.kube.CoreV1().Nodes().UpdateStatus(ctx, current, metav1.UpdateOptions{})
		current = nil
		return err
	})
	if apierrors.IsNotFound(err) {
		return time.Time{}, nil
	}
	return earliest(next, now.Add(max(beat, time.Second))), err
}

// beat is the time between two posts of a node's unchanged status. The nodes of a large fleet post less often and at
// different times: nobody reads the heartbeats, and simulated time may run fast.
func (k *kubelet) beat(node string, fleet int) time.Duration {
	const small = 100 // nodes
	h := fnv.New32a()
	_, _ = h.Write([]byte(node))
	spread := 0.75 + 0.5*float64(h.Sum32())/math.MaxUint32
	return time.Duration(float64(k.timing.Heartbeat) * spread * max(1, float64(fleet)/small))
}

// nodeReady is the Ready condition of a node; its status is empty if the node has none.
func nodeReady(node *corev1.Node) corev1.NodeCondition {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{Type: corev1.NodeReady}
}

func setNodeReady(node *corev1.Node, status corev1.ConditionStatus, reason, message string, now time.Time) {
	condition := nodeReady(node)
	if condition.Status != status {
		condition.LastTransitionTime = metav1.NewTime(now)
	}
	if status != corev1.ConditionUnknown { // the node lifecycle controller no longer hears from it
		condition.LastHeartbeatTime = metav1.NewTime(now)
	}
	condition.Status, condition.Reason, condition.Message = status, reason, message
	for i, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			node.Status.Conditions[i] = condition
			return
		}
	}
	node.Status.Conditions = append(node.Status.Conditions, condition)
}

// dueTime is the earliest of the times added to it.
type dueTime struct{ at time.Time }

func (d *dueTime) add(t time.Time) { d.at = earliest(d.at, t) }

// in is the time left until then; zero if there is none, and otherwise never less than a moment.
func (d *dueTime) in(now time.Time) time.Duration {
	if d.at.IsZero() {
		return 0
	}
	return max(d.at.Sub(now), time.Millisecond)
}

// earliest is the earlier of two times; zero times do not count.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
