package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// visit is one handler's look at one node.
type visit struct {
	*rockoon
	node    *corev1.Node
	lock    lock
	request *unstructured.Unstructured
}

// maintenanceService is an OpenStack service that takes part in the maintenance of a node; nil functions do nothing.
type maintenanceService struct {
	name    string
	allowed func(visit, context.Context) (bool, error)
	prepare func(visit, context.Context) error
	restore func(visit, context.Context) error
}

// maintenanceServices are the services in SERVICE_ORDER; nodes return in the reverse order. Cinder keeps its volumes in
// Ceph here, so that no host has a cinder-volume of its own.
var maintenanceServices = []maintenanceService{
	{name: "compute", allowed: visit.zoneAllows, prepare: visit.prepareCompute, restore: visit.restoreCompute},
	{name: "networking", restore: visit.restoreNetworking},
	{name: "block-storage"},
	{name: "database", allowed: quorum("mariadb-server", "mariadb")},
	{name: "coordination", allowed: quorum("etcd-etcd", "etcd")},
	{name: "redis", allowed: quorum("rfr-openstack-redis", "redis")},
	{name: "metric-storage", allowed: quorum("openstack-prometheus-server", "prometheus")},
}

// enabledServices are those that the deployment has.
func (r *rockoon) enabledServices() []maintenanceService {
	var enabled []maintenanceService
	for _, s := range maintenanceServices {
		if slices.Contains(r.Services, s.name) {
			enabled = append(enabled, s)
		}
	}
	return enabled
}

// visit prepares a handler's look at the node of a request; nil when there is nothing to do for it.
func (r *rockoon) visit(ctx context.Context, request *unstructured.Unstructured) (*visit, error) {
	name := requestNode(request)
	node, err := r.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", name, err)
	}
	if len(rolesOf(node)) == 0 {
		return nil, nil
	}
	return &visit{rockoon: r, node: node, lock: r.myNodeLock(name), request: request}, nil
}

// say writes a text to the node's lock.
func (v visit) say(ctx context.Context, format string, args ...any) error {
	return v.tell(ctx, v.lock, fmt.Sprintf(format, args...))
}

// sayLater writes a text to the node's lock and lets the handler be retried.
func (v visit) sayLater(ctx context.Context, format string, args ...any) error {
	if err := v.say(ctx, format, args...); err != nil {
		return err
	}
	return later(format, args...)
}

// nodeRequested is the handler of a NodeMaintenanceRequest (mosk-facts 4.1, "NMR create/update/resume").
func (r *rockoon) nodeRequested(ctx context.Context, request *unstructured.Unstructured) error {
	v, err := r.visit(ctx, request)
	if err != nil || v == nil {
		return err
	}
	release, _, err := r.running(ctx)
	if err != nil {
		return err
	}
	if err := r.presentNode(ctx, v.node, release); err != nil {
		return err
	}
	if wanted := requestRelease(request); wanted != "" && wanted != release {
		return v.sayLater(ctx, textRelease, wanted, release) // A
	}
	free, err := v.acquire(ctx)
	if err != nil {
		return err
	}
	if !free {
		return v.sayLater(ctx, "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node %s", v.node.Name) // F
	}
	status, err := r.deploymentStatus(ctx)
	if err != nil {
		return err
	}
	object, err := v.lock.get(ctx)
	if err != nil {
		return fmt.Errorf("read node lock %s: %w", v.lock.name, err)
	}
	if status != nil && lockState(object) == stateActive {
		if err := v.prepareServices(ctx); err != nil {
			return err
		}
	}
	r.log.Info("Released NodeWorkloadLock for node " + v.node.Name)
	return v.lock.setState(ctx, stateInactive, map[string]any{"errorMessage": nil})
}

func (v visit) prepareServices(ctx context.Context) error {
	services := v.enabledServices()
	var verdicts []pyVerdict
	refused := false
	for _, s := range services {
		ok := true
		if s.allowed != nil {
			var err error
			if ok, err = s.allowed(v, ctx); err != nil {
				return err
			}
		}
		verdicts = append(verdicts, pyVerdict{s.name, ok})
		refused = refused || !ok
	}
	if refused {
		return v.sayLater(ctx, "Some services blocks nmr handling %s. Deferring processing for node %s", pyDict(verdicts), v.node.Name) // G
	}
	for _, s := range services {
		if s.prepare == nil {
			continue
		}
		if err := s.prepare(v, ctx); err != nil {
			return err
		}
	}
	return nil
}

// nodeReturned is the handler of a NodeMaintenanceRequest's deletion. It waits in silence, as the real one does, for the
// node and its pods: only the log tells.
func (r *rockoon) nodeReturned(ctx context.Context, request *unstructured.Unstructured) error {
	v, err := r.visit(ctx, request)
	if err != nil || v == nil {
		return err
	}
	object, err := v.lock.get(ctx)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read node lock %s: %w", v.lock.name, err)
	}
	if lockInner(object) == stateActive {
		if err := v.waitNode(ctx); err != nil {
			return err
		}
		for _, s := range slices.Backward(r.enabledServices()) {
			if s.restore == nil {
				continue
			}
			if err := s.restore(*v, ctx); err != nil {
				return err
			}
		}
	}
	if err := v.lock.annotate(ctx, annotationInner, stateInactive); err != nil {
		return err
	}
	r.log.Info("Acquired NodeWorkloadLock for node " + v.node.Name)
	return v.lock.setState(ctx, stateActive, map[string]any{"errorMessage": nil})
}

// waitNode waits without limit until the node is Ready, and then until all pods of OpenStack on it are.
func (v visit) waitNode(ctx context.Context) error {
	if err := v.until(ctx, v.timing.ReturnPoll, func(ctx context.Context) (bool, error) {
		node, err := v.kube.CoreV1().Nodes().Get(ctx, v.node.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if nodeReady(node).Status != corev1.ConditionTrue {
			v.log.Info("The node " + v.node.Name + " is not ready yet.")
			return false, nil
		}
		return true, nil
	}); err != nil {
		return err
	}
	return v.until(ctx, v.timing.ReturnPoll, func(ctx context.Context) (bool, error) {
		pods, err := v.podsOfNode(ctx)
		if err != nil {
			return false, err
		}
		var waiting []string
		for i := range pods {
			kind, _ := podOwner(&pods[i])
			if kind != "Job" && !podReady(&pods[i]) {
				waiting = append(waiting, pods[i].Name)
			}
		}
		if len(waiting) > 0 {
			v.log.Info("The pods " + pyList(waiting) + " are not ready.")
			return false, nil
		}
		return true, nil
	})
}

// podsOfNode are the pods of OpenStack's namespace on the node.
func (v visit) podsOfNode(ctx context.Context) ([]corev1.Pod, error) {
	list, err := v.kube.CoreV1().Pods(openstackNamespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + v.node.Name})
	if err != nil {
		return nil, fmt.Errorf("list the OpenStack pods of node %s: %w", v.node.Name, err)
	}
	return list.Items, nil
}

// acquire is the controller's own lock on the number of nodes in maintenance. Nodes count by each of their roles, and one
// role that is full refuses every node, whatever its role.
func (v visit) acquire(ctx context.Context) (bool, error) {
	v.internal.Lock()
	defer v.internal.Unlock()
	inMaintenance, err := v.inMaintenance(ctx)
	if err != nil {
		return false, err
	}
	count := map[string]int{}
	for _, node := range inMaintenance {
		if node.Name == v.node.Name {
			return true, nil // it counts already
		}
		for _, role := range rolesOf(node) {
			count[role]++
		}
	}
	for role, limit := range map[string]int{roleController: 1, roleCompute: v.MaxCompute, roleGateway: v.MaxGateway} {
		if count[role] >= limit {
			v.log.Info(fmt.Sprintf("Handling Nodemaintenancerequest for node %s is not allowed. Already handling %d for role: %s", v.node.Name, count[role], role))
			return false, nil
		}
	}
	return true, v.lock.annotate(ctx, annotationInner, stateActive)
}

// inMaintenance are the existing nodes whose lock says that they are being handled, in the order of the locks.
func (r *rockoon) inMaintenance(ctx context.Context) ([]*corev1.Node, error) {
	locks, err := r.locksOf(ctx, nodeLocks, openstackController)
	if err != nil {
		return nil, err
	}
	var nodes []*corev1.Node
	for i := range locks {
		if lockInner(&locks[i]) != stateActive {
			continue
		}
		node, err := r.kube.CoreV1().Nodes().Get(ctx, lockNode(&locks[i]), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", lockNode(&locks[i]), err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// quorum refuses a node that a StatefulSet cannot do without: fewer of its pods than all but one are ready, or elsewhere,
// or one elsewhere is not ready. A StatefulSet without pods on the node does not mind.
func quorum(statefulSetName, application string) func(visit, context.Context) (bool, error) {
	return func(v visit, ctx context.Context) (bool, error) {
		list, err := v.kube.CoreV1().Pods(openstackNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + statefulSetName})
		if err != nil {
			return false, fmt.Errorf("list the pods of %s: %w", statefulSetName, err)
		}
		replicas := 0
		for _, w := range workloads {
			if w.kind == statefulSet && w.name == statefulSetName {
				replicas = w.replicas
			}
		}
		here, ready, elsewhere, elsewhereReady := 0, 0, 0, 0
		for i := range list.Items {
			pod := &list.Items[i]
			if podReady(pod) {
				ready++
			}
			if pod.Spec.NodeName == v.node.Name {
				here++
				continue
			}
			elsewhere++
			if podReady(pod) {
				elsewhereReady++
			}
		}
		replicas = min(replicas, len(list.Items)) // a small cloud has fewer nodes than members
		locked := here > 0 && (ready < replicas-1 || elsewhere < replicas-1 || elsewhereReady < elsewhere)
		if locked {
			v.log.Info("The node " + v.node.Name + " is hard locked by " + application + ".")
		}
		return !locked, nil
	}
}

// temporary tells a handler's own wish to be retried from a failure.
func temporary(err error) bool {
	var wish errLater
	return errors.As(err, &wish)
}
