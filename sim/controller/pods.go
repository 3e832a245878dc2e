package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// generationLabel is the label by which the OpenStack controller sees that a pod is older than its DaemonSet's template.
const generationLabel = "pod-template-generation"

// servePods moves every pod on by one step, creates the missing pods of workloads, and returns when to look next.
func (k *kubelet) servePods(ctx context.Context, nodes map[string]*corev1.Node, now time.Time) (time.Time, error) {
	all, err := k.listPods(ctx)
	if err != nil {
		return time.Time{}, err
	}
	sets, err := k.sets(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var due dueTime
	var failed error
	byOwner := map[string][]*corev1.Pod{}
	alive := map[string]bool{}
	for _, pod := range all {
		alive[string(pod.UID)] = true
		if pod.Spec.NodeName != "" && nodes[pod.Spec.NodeName] == nil { // its node was deleted
			failed = errors.Join(failed, k.endPod(ctx, pod, 0))
			continue
		}
		next, err := k.servePod(ctx, pod, now)
		failed = errors.Join(failed, err)
		due.add(next)
		kind, name := podOwner(pod)
		owner := kind + "/" + pod.Namespace + "/" + name
		byOwner[owner] = append(byOwner[owner], pod)
	}
	failed = errors.Join(failed, k.protectClaims(ctx, all))
	for _, times := range []map[string]time.Time{k.started, k.ending, k.seen} {
		for uid := range times {
			if !alive[uid] {
				delete(times, uid)
			}
		}
	}
	k.looked = true
	names := sortedKeys(nodes)
	for _, w := range k.workloads {
		s := sets[w.key()]
		if s == (set{}) && w.service != "" {
			continue // not deployed
		}
		pods := byOwner[w.key()]
		var eligible []*corev1.Node
		for _, name := range names {
			if w.runsOn(nodes[name]) {
				eligible = append(eligible, nodes[name])
			}
		}
		hash, err := k.revision(ctx, s.daemon)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		failed = errors.Join(failed, k.fill(ctx, w, s, hash, pods, eligible, all), k.replaceOld(ctx, s.daemon, pods, hash))
		if k.creates {
			continue
		}
		next, err := k.report(ctx, w, s, hash, pods, len(eligible))
		failed = errors.Join(failed, err)
		due.add(next)
	}
	return due.at, failed
}

// servePod ends a pod that is being deleted, and sets its readiness; it returns when to look next.
func (k *kubelet) servePod(ctx context.Context, pod *corev1.Pod, now time.Time) (time.Time, error) {
	host := k.hosts.get(pod.Spec.NodeName)
	uid := string(pod.UID)
	if _, known := k.seen[uid]; !known {
		k.seen[uid] = now
		if !k.looked {
			k.seen[uid] = k.troubles.start // it existed before
		}
	}
	if pod.DeletionTimestamp != nil {
		if host.off || k.troubles.hangs(pod) {
			return time.Time{}, nil // no kubelet runs to end it, or it cannot
		}
		if _, seen := k.ending[uid]; !seen {
			k.ending[uid] = now
		}
		if end := k.ending[uid].Add(k.timing.PodGrace); now.Before(end) {
			return end, nil
		}
		return time.Time{}, k.endPod(ctx, pod, 0)
	}
	if kind, _ := podOwner(pod); pod.Spec.NodeName == "" && kind == statefulSet {
		return time.Time{}, k.setPodPending(ctx, pod, len(k.view.nodes()))
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return time.Time{}, nil
	}
	ready := podReady(pod)
	if host.off {
		if lost := host.since.Add(k.timing.NodeGrace); now.Before(lost) {
			return lost, nil
		}
		if !ready {
			return time.Time{}, nil
		}
		return time.Time{}, k.setPodReady(ctx, pod, false, now)
	}
	if waits, down := k.troubles.crashes(pod, host, k.seen[uid], now); down {
		if !ready && waiting(pod) == waits {
			return now.Add(time.Minute), k.reportPod(ctx, pod, now)
		}
		return now.Add(time.Minute), errors.Join(k.setPodDown(ctx, pod, waits, now), k.reportPod(ctx, pod, now))
	}
	if ready {
		return time.Time{}, nil
	}
	if _, seen := k.started[uid]; !seen {
		k.started[uid] = now
	}
	if host.since.After(k.started[uid]) {
		k.started[uid] = host.since
	}
	if up := k.started[uid].Add(k.timing.PodStart); now.Before(up) {
		return up, nil
	}
	return time.Time{}, k.setPodReady(ctx, pod, true, now)
}

// setPodReady writes the pod's conditions and its containers' states.
func (k *kubelet) setPodReady(ctx context.Context, pod *corev1.Pod, ready bool, now time.Time) error {
	pod = pod.DeepCopy()
	markReady(pod, ready, metav1.NewTime(now))
	k.loaded.forget()
	_, err := k.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a newer pod comes with the next look
		return fmt.Errorf("set the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// markReady gives a pod the conditions and container states of a pod that is ready, or no longer ready.
func markReady(pod *corev1.Pod, ready bool, stamp metav1.Time) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	pod.Status.Phase = corev1.PodRunning
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &stamp
	}
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *pod.Status.StartTime},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: *pod.Status.StartTime},
		{Type: corev1.ContainersReady, Status: status, LastTransitionTime: stamp},
		{Type: corev1.PodReady, Status: status, LastTransitionTime: stamp},
	}
	restarts := int32(0)
	if len(pod.Status.ContainerStatuses) > 0 {
		restarts = pod.Status.ContainerStatuses[0].RestartCount
		if ready {
			restarts++
		}
	}
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: ready, RestartCount: restarts,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: stamp}},
		})
	}
}

// waiting is why the first container of a pod does not run; empty if it runs or the reason is unknown.
func waiting(pod *corev1.Pod) string {
	if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Waiting == nil {
		return ""
	}
	return pod.Status.ContainerStatuses[0].State.Waiting.Reason
}

// setPodDown writes the status of a pod that is not ready: its containers do not run for a reason, or they run but are
// not ready.
func (k *kubelet) setPodDown(ctx context.Context, pod *corev1.Pod, waits string, now time.Time) error {
	pod = pod.DeepCopy()
	stamp := metav1.NewTime(now)
	pod.Status.Phase = corev1.PodRunning
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.ContainersReady || c.Type == corev1.PodReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "ContainersNotReady", stamp
		}
	}
	restarts := int32(1)
	if len(pod.Status.ContainerStatuses) > 0 {
		restarts += pod.Status.ContainerStatuses[0].RestartCount
	}
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		status := corev1.ContainerStatus{Name: container.Name, Image: container.Image, RestartCount: restarts}
		if waits == "" {
			status.State.Running = &corev1.ContainerStateRunning{StartedAt: stamp}
		} else {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: waits}
		}
		if waits == crashLoop {
			status.State.Waiting.Message = "back-off 5m0s restarting failed container=" + container.Name + " pod=" + pod.Name + "_" + pod.Namespace
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	k.loaded.forget()
	_, err := k.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a newer pod comes with the next look
		return fmt.Errorf("set the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// fill creates the missing pods of a workload and deletes surplus ones. all holds the cluster's pods, to count the load
// of a node.
func (k *kubelet) fill(ctx context.Context, w workload, s set, hash string, pods []*corev1.Pod, eligible []*corev1.Node,
	all []*corev1.Pod) error {
	placed := map[string]int{} // pods of this workload by node; ending pods hold their place
	for _, pod := range pods {
		placed[pod.Spec.NodeName]++
	}
	switch w.kind {
	case daemonSet: // tolerates cordoned and unreachable nodes
		for _, node := range eligible {
			if placed[node.Name] > 0 {
				continue
			}
			place := w.namespace + "/" + w.name + "/" + node.Name
			k.made[place]++
			name := w.name + "-" + hashID(place, fmt.Sprint(k.made[place]))[:5]
			if err := k.createPod(ctx, w, s, hash, name, node.Name); err != nil {
				return err
			}
		}
	case statefulSet: // its volumes are local: member i belongs on the i-th node
		have := map[string]*corev1.Pod{}
		for _, pod := range pods {
			have[pod.Name] = pod
		}
		nodes := k.view.nodes()
		for i, name := range w.memberNames(s.replicas(w)) {
			if pod := have[name]; pod != nil {
				if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
					if err := k.placeMember(ctx, w, pod, i, nodes, eligible, placed); err != nil {
						return err
					}
				}
				continue
			}
			place, ok := k.memberPlace(w, name, i, nodes, eligible, placed)
			if !ok && !k.stranded(w, name, nodes) {
				continue
			}
			if !ok {
				place = "" // the pod is Pending
			}
			placed[place]++
			if err := k.createPod(ctx, w, s, "", name, place); err != nil {
				return err
			}
		}
	case deployment:
		load := map[string]int{}
		for _, pod := range all {
			load[pod.Spec.NodeName]++
		}
		live := 0
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil {
				continue
			}
			if live++; live > s.replicas(w) {
				if err := k.endPod(ctx, pod, -1); err != nil {
					return err
				}
			}
		}
		for ; live < s.replicas(w); live++ {
			var best *corev1.Node
			for _, node := range eligible {
				if !schedulable(node) {
					continue
				}
				if best == nil || placed[node.Name] < placed[best.Name] ||
					placed[node.Name] == placed[best.Name] && load[node.Name] < load[best.Name] {
					best = node
				}
			}
			if best == nil {
				return nil // the pod stays Pending until a node comes back
			}
			place := w.namespace + "/" + w.name
			k.made[place]++
			name := fmt.Sprintf("%s-%s-%s", w.name, hashID(place)[:8], hashID(place, fmt.Sprint(k.made[place]), k.clock.Now().String())[:5])
			if err := k.createPod(ctx, w, s, "", name, best.Name); err != nil {
				return err
			}
			placed[best.Name]++
			load[best.Name]++
		}
	}
	return nil
}

// createPod makes one pod, bound to its node; hash is the revision of a DaemonSet's pod.
func (k *kubelet) createPod(ctx context.Context, w workload, s set, hash, name, node string) error {
	labels, containers := w.labels(), []corev1.Container{w.container()}
	if template := s.template(); template != nil && w.kind == deployment {
		containers = template.Spec.Containers
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: w.kind, Name: w.name, UID: types.UID(hashID(w.kind, w.namespace, w.name))}
	switch w.kind {
	case daemonSet:
		generation := max(s.generation(), 1)
		if hash == w.before() {
			generation--
		}
		labels[generationLabel] = fmt.Sprint(generation)
		if hash != "" {
			labels[revisionLabel] = hash
		}
		if s.daemon != nil {
			owner.UID = s.daemon.UID
		}
	case statefulSet:
		labels[revisionLabel] = w.name + "-" + strings.ReplaceAll(hashID(w.namespace, w.name), "-", "")[:10]
		if s.stateful != nil {
			owner.UID = s.stateful.UID
		}
	case deployment:
		owner.Kind, owner.Name = "ReplicaSet", w.name+"-"+hashID(w.namespace + "/" + w.name)[:8]
	}
	yes := true
	owner.Controller = &yes
	grace := int64(30)
	var volumes []corev1.Volume
	if w.volume != "" {
		if node != "" {
			if err := k.makeClaim(ctx, w, name, node); err != nil {
				return err
			}
		}
		volumes = []corev1.Volume{{Name: w.volume, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: w.claim(name)}}}}
	}
	k.expect(w.namespace, name)
	return k.putPod(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			TerminationGracePeriodSeconds: &grace,
			Containers:                    containers,
			Volumes:                       volumes,
		},
	})
}

// schedulable tells whether a node accepts new pods.
func schedulable(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && nodeReady(node).Status == corev1.ConditionTrue
}

// podOwner is the workload that a pod belongs to; for a ReplicaSet it is the Deployment, whose name is the prefix of
// the ReplicaSet's.
func podOwner(pod *corev1.Pod) (kind, name string) {
	for _, owner := range pod.OwnerReferences {
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		if owner.Kind == "ReplicaSet" {
			return deployment, pod.Labels["app.kubernetes.io/name"]
		}
		return owner.Kind, owner.Name
	}
	return "", ""
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// mountAgain is after how long the kubelet tries at the latest again to mount a volume, and reports that it failed (2m2s in its
// goroutinemap/exponentialbackoff).
const mountAgain = 122 * time.Second

// reportTimes are when events about pods were written last, by their names.
type reportTimes map[string]time.Time

func (r reportTimes) due(name string, now time.Time) bool {
	last, told := r[name]
	return !told || !now.Before(last.Add(mountAgain))
}

// note keeps the time, and forgets those that keep nothing back any more: their pods may be gone.
func (r reportTimes) note(name string, now time.Time) {
	maps.DeleteFunc(r, func(other string, _ time.Time) bool { return r.due(other, now) })
	r[name] = now
}

// reportPod writes the event that the kubelet reports of a pod that does not become ready. The kubelet tries again and again, and a
// repeated event counts: one that lasts does not end with the hour for which events are kept.
func (k *kubelet) reportPod(ctx context.Context, pod *corev1.Pod, now time.Time) error {
	reason, message, ok := strings.Cut(k.troubles.eventOf(pod), ": ")
	if !ok {
		return nil
	}
	stamp, events := metav1.NewTime(now), k.kube.CoreV1().Events(pod.Namespace)
	name := pod.Name + "." + hashID(string(pod.UID), reason)[:8]
	if !k.reported.due(name, now) {
		return nil
	}
	_, err := events.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Reason:         reason, Message: message, Type: corev1.EventTypeWarning, Count: 1, FirstTimestamp: stamp, LastTimestamp: stamp,
		Source: corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		var e *corev1.Event
		if e, err = events.Get(ctx, name, metav1.GetOptions{}); err == nil {
			e.Count, e.LastTimestamp = e.Count+1, stamp
			_, err = events.Update(ctx, e, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return fmt.Errorf("write an event about pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	k.reported.note(name, now)
	return nil
}
