package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Populate brings a cluster to rest without letting time pass. The DaemonSets and StatefulSets exist at the release of
// the running OpenStack controller, every pod exists and is ready, and every application controller in Options has
// armed its locks. Nodes that run Options.Update's kubelet have the newest pods, as after their maintenance. The nodes
// and the OpenStack controller's Deployment must exist. Populate may be called again when these have changed.
func Populate(ctx context.Context, opts Options) error {
	e, err := newEnv(opts)
	if err != nil {
		return err
	}
	if e.load = opts.Load; opts.Load != nil {
		e.loaded = cmp.Or(opts.Loaded, &Loaded{})
	}
	var made map[string]bool
	delete(e.view.mirrors, podsResource) // there may be thousands, and they are listed when they are needed
	if err := e.view.look(ctx); err != nil {
		return fmt.Errorf("populate the cluster: %w", err)
	}
	if opts.OpenStack != nil {
		pod, err := e.running(ctx)
		if err != nil {
			return fmt.Errorf("populate the cluster: %w", err)
		}
		r := &rockoon{env: e, OpenStack: opts.OpenStack.withDefaults(), release: pod.release, version: pod.version,
			roles: rolesWith(opts.OpenStack.NodeLabels)}
		if made, err = r.createSets(ctx); err != nil {
			return fmt.Errorf("populate the cluster: %w", err)
		}
		if err := e.rollOut(ctx, openstackNamespace, r.release, made); err != nil {
			return fmt.Errorf("populate the cluster: %w", err)
		}
		if !opts.LocksKept {
			if err := errors.Join(r.keepLocks(ctx), r.presentCluster(ctx)); err != nil {
				return fmt.Errorf("populate the cluster: arm OpenStack's locks: %w", err)
			}
		}
	}
	if opts.Ceph && !opts.LocksKept {
		if err := (&ceph{env: e}).keepLocks(ctx); err != nil {
			return fmt.Errorf("populate the cluster: arm Ceph's locks: %w", err)
		}
	}
	if opts.Ceph {
		if err := e.view.look(ctx, clusterLocks); err != nil { // with the one that was just made
			return fmt.Errorf("populate the cluster: %w", err)
		}
		if err := (&ceph{env: e}).look(ctx); err != nil {
			return fmt.Errorf("populate the cluster: make Ceph's objects: %w", err)
		}
	}
	if opts.Fabric != "" && !opts.LocksKept {
		if _, err := (&fabric{env: e, operator: opts.Fabric}).keepLocks(ctx); err != nil {
			return fmt.Errorf("populate the cluster: arm Tungsten Fabric's locks: %w", err)
		}
	}
	if opts.Fabric != "" {
		if err := (&fabric{env: e, operator: opts.Fabric}).show(ctx, true, fabricIdle); err != nil {
			return fmt.Errorf("populate the cluster: make the TFOperator: %w", err)
		}
	}
	if opts.KubeletOff {
		return nil
	}
	if opts.Update != nil {
		if err := e.endOldPods(ctx, opts.Update.KubeletVersion); err != nil {
			return fmt.Errorf("populate the cluster: %w", err)
		}
	}
	e.timing.PodStart = 0
	k := newKubelet(e, newHosts(e.clock, nil, func() {}))
	k.unrevised = made
	if e.loaded != nil {
		if e.loaded.revisions == nil {
			e.loaded.revisions = k.revisions
		}
		k.revisions = e.loaded.revisions
	}
	if err := k.makeFound(ctx, opts.Daemons); err != nil {
		return fmt.Errorf("populate the cluster: %w", err)
	}
	for _, k.creates = range []bool{true, false} { // the second look sees the pods that the first created
		if _, err := k.servePods(ctx, e.view.nodes(), e.clock.Now()); err != nil {
			return fmt.Errorf("populate the cluster: %w", err)
		}
	}
	return nil
}

// createSets creates the missing DaemonSets, StatefulSets and Deployments of the deployed services, and returns the keys of those that it
// made. What is loaded has the status that it will have with all its pods.
func (r *rockoon) createSets(ctx context.Context) (map[string]bool, error) {
	nodes, there, made := r.view.nodes(), r.view.sets(), map[string]bool{}
	for _, w := range r.workloads {
		if there[w.key()] != (set{}) {
			continue
		}
		if !r.has(w.service) && (w.service != serviceCeph || w.members(nodes) == 0) {
			continue
		}
		meta := metav1.ObjectMeta{Name: w.name, Namespace: w.namespace, Labels: w.labels()}
		selector := &metav1.LabelSelector{MatchLabels: w.labels()}
		template := corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: w.labels()},
			Spec:       corev1.PodSpec{NodeSelector: w.nodes, Containers: []corev1.Container{w.container()}},
		}
		if w.onDelete && w.namespace == openstackNamespace {
			template.Annotations = map[string]string{releaseAnnotation: r.release}
		}
		const first = 1 // generation
		var err error
		switch w.kind {
		case daemonSet:
			strategy := appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType}
			if w.onDelete {
				strategy.Type = appsv1.OnDeleteDaemonSetStrategyType
			}
			err = put(ctx, r.load, r.kube.AppsV1().DaemonSets(w.namespace).Create, &appsv1.DaemonSet{TypeMeta: ofApps(w.kind), ObjectMeta: meta,
				Spec:   appsv1.DaemonSetSpec{Selector: selector, Template: template, UpdateStrategy: strategy},
				Status: daemonStatus(first, standing(w.eligible(nodes)))})
		case statefulSet:
			replicas := w.members(nodes)
			err = put(ctx, r.load, r.kube.AppsV1().StatefulSets(w.namespace).Create, &appsv1.StatefulSet{TypeMeta: ofApps(w.kind), ObjectMeta: meta,
				Spec:   appsv1.StatefulSetSpec{Selector: selector, Template: template, Replicas: &replicas, ServiceName: w.name},
				Status: statefulStatus(first, standing(replicas))})
		case deployment:
			replicas := int32(w.replicas)
			if w.members(nodes) == 0 { // a small cloud has no such node
				replicas = 0
			}
			c := standing(replicas)
			err = put(ctx, r.load, r.kube.AppsV1().Deployments(w.namespace).Create, &appsv1.Deployment{TypeMeta: ofApps(w.kind), ObjectMeta: meta,
				Spec:   appsv1.DeploymentSpec{Selector: selector, Template: template, Replicas: &replicas},
				Status: statelessStatus(first, c, availability(nil, c, r.clock.Now()))})
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("make %s %s/%s: %w", w.kind, w.namespace, w.name, err)
		}
		made[w.key()] = err == nil
	}
	return made, nil
}

// has tells whether the deployment has the service that a workload belongs to.
func (r *rockoon) has(service string) bool {
	return service == "" || slices.Contains(r.Services, service) || service == serviceOVN && r.OVN
}

// endOldPods deletes, on the nodes that run the target's kubelet, the pods that their maintenance would have replaced.
func (e *env) endOldPods(ctx context.Context, kubeletVersion string) error {
	nodes := e.view.nodes()
	updated := func(node *corev1.Node) bool {
		return node != nil && node.Status.NodeInfo.KubeletVersion == kubeletVersion
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(nodes)), updated) {
		return nil
	}
	sets, err := newKubelet(e, nil).sets(ctx)
	if err != nil {
		return err
	}
	for _, w := range e.workloads {
		if !w.onDelete {
			continue
		}
		pods, err := e.podsOf(ctx, w)
		if err != nil {
			return err
		}
		current := fmt.Sprint(max(sets[w.key()].generation(), 1))
		for _, pod := range pods {
			if !updated(nodes[pod.Spec.NodeName]) || pod.Labels[generationLabel] == current {
				continue
			}
			if err := e.endPod(ctx, pod, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// podsOf returns the pods of a workload.
func (e *env) podsOf(ctx context.Context, w workload) ([]*corev1.Pod, error) {
	const label = "app.kubernetes.io/name"
	mine := func(pod *corev1.Pod) bool { return pod.Namespace == w.namespace && pod.Labels[label] == w.name }
	if pods, known := e.loaded.those(mine); known {
		return pods, nil
	}
	list, err := e.kube.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + w.name})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s/%s: %w", w.namespace, w.name, err)
	}
	pods := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods, nil
}

func newKubelet(e *env, h *hosts) *kubelet {
	return &kubelet{env: e, hosts: h, started: map[string]time.Time{}, seen: map[string]time.Time{}, ending: map[string]time.Time{},
		made: map[string]int{}, revisions: map[string]string{}, given: map[string]bool{}, reported: reportTimes{},
		unseen: map[cache.ObjectName]bool{}}
}
