package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// visit is one handler's look at one node.
type visit struct {
	*rockoon
	name    string       // of the node, and of its host in Nova
	node    *corev1.Node // nil if the node is gone
	lock    lock
	request *unstructured.Unstructured
}

// maintenanceService is an OpenStack service with a part in the maintenance of a node; nil functions do nothing.
type maintenanceService struct {
	name      string
	allowed   func(visit, context.Context) (bool, error) // can_handle_nmr
	prepare   func(visit, context.Context) error         // process_nmr
	restore   func(visit, context.Context) error         // delete_nmr
	surrender func(visit, context.Context) error         // process_ndr
	forget    func(visit, context.Context) error         // cleanup_metadata and cleanup_persistent_data
}

// maintenanceServices are the services in SERVICE_ORDER; nodes return in reverse order.
var maintenanceServices = []maintenanceService{
	{name: "compute", allowed: visit.zoneAllows, prepare: visit.prepareCompute, restore: visit.restoreCompute,
		surrender: visit.surrenderCompute, forget: visit.forgetCompute},
	{name: "networking", restore: visit.restoreNetworking, forget: visit.forgetNetworking},
	{name: "block-storage", prepare: visit.disableVolumes, restore: visit.enableVolumes,
		surrender: visit.surrenderVolumes, forget: visit.forgetVolumes},
	mariadb.service("database"),
	etcd.service("coordination"),
	redis.service("redis"),
	prometheus.service("metric-storage"),
}

// enabledServices returns the services that the deployment has.
func (r *rockoon) enabledServices() []maintenanceService {
	var enabled []maintenanceService
	for _, s := range maintenanceServices {
		if slices.Contains(r.Services, s.name) {
			enabled = append(enabled, s)
		}
	}
	return enabled
}

// hostPart is the part of a node's name that the controller reads from a request.
func hostPart(node string) string {
	host, _, _ := strings.Cut(node, ".")
	return host
}

// visit prepares a handler's look at the node of a request or a lock; its node is nil if it is gone.
func (r *rockoon) visit(ctx context.Context, request *unstructured.Unstructured) (visit, error) {
	name := hostPart(requestNode(request))
	node, err := r.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err = nil, nil
	}
	if err != nil {
		return visit{}, fmt.Errorf("read node %s: %w", name, err)
	}
	return visit{rockoon: r, name: name, node: node, lock: r.myNodeLock(name), request: request}, nil
}

// required tells whether the node is one that OpenStack runs on.
func (v visit) required() bool { return v.node != nil && len(v.roles.of(v.node.Labels)) > 0 }

// is tells whether the node has a role.
func (v visit) is(role string) bool { return v.node != nil && v.roles.has(v.node.Labels, role) }

// say writes a text to the node's lock.
func (v visit) say(ctx context.Context, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	v.log.Info(text, loggerKey, "rockoon.services.base")
	return v.tell(ctx, v.lock, text)
}

// sayLater writes a text to the node's lock and makes the handler retry.
func (v visit) sayLater(ctx context.Context, format string, args ...any) error {
	return v.refuse(ctx, v.lock, format, args...)
}

// nodeRequested is the handler of a NodeMaintenanceRequest (docs/mosk.md#node-request).
func (r *rockoon) nodeRequested(ctx context.Context, request *unstructured.Unstructured) error {
	v, err := r.visit(ctx, request)
	if err != nil || !v.required() {
		return err
	}
	if err := r.presentNode(ctx, v.node); err != nil {
		return err
	}
	if err := r.checkRelease(ctx, v.lock, request); err != nil { // A
		return err
	}
	if err := v.acquire(ctx); err != nil {
		return err
	}
	deployed, err := r.deployed(ctx)
	if err != nil {
		return err
	}
	object, err := v.lock.get(ctx)
	if err != nil {
		return fmt.Errorf("read node lock %s: %w", v.lock.name, err)
	}
	if deployed && lockState(object) == stateActive {
		if err := v.prepareServices(ctx); err != nil {
			return err
		}
	}
	r.log.Info("Released NodeWorkloadLock for node " + v.name)
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
		return v.sayLater(ctx, "Some services blocks nmr handling %s. Deferring processing for node %s", pyDict(verdicts), v.name) // G
	}
	if err := v.lock.annotate(ctx, annotationInner, stateActive); err != nil {
		return err
	}
	for _, s := range services {
		v.log.Info("Got moving node " + v.name + " into maintenance for " + s.name)
		if s.prepare != nil {
			if err := s.prepare(v, ctx); err != nil {
				return err
			}
		}
		if _, err := rebootPossible(v.request); err != nil { // each service reads it, on any node
			return err
		}
		v.log.Info("The node " + v.name + " is ready for maintenance for " + s.name)
	}
	return nil
}

// nodeReturned is the handler of a NodeMaintenanceRequest's deletion. Like the real one it waits silently for the node
// and its pods: only the log shows it.
func (r *rockoon) nodeReturned(ctx context.Context, request *unstructured.Unstructured) error {
	v, err := r.visit(ctx, request)
	if err != nil {
		return err
	}
	if v.node != nil && !v.required() {
		r.log.Info("Removing nodeworkloadlock for node " + v.name + " as its not required.")
		return v.lock.delete(ctx)
	}
	object, err := v.lock.get(ctx)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read node lock %s: %w", v.lock.name, err)
	}
	deployed, err := r.deployed(ctx)
	if err != nil {
		return err
	}
	if v.node != nil && deployed && lockInner(object) == stateActive {
		if err := v.waitNode(ctx); err != nil {
			return err
		}
		for _, s := range slices.Backward(r.enabledServices()) {
			if s.restore == nil {
				continue
			}
			r.log.Info("Moving node " + v.name + " to operational state for " + s.name)
			if err := s.restore(v, ctx); err != nil {
				return err
			}
			r.log.Info("The node " + v.name + " is ready for operations for " + s.name)
		}
	}
	if err := v.lock.annotate(ctx, annotationInner, stateInactive); err != nil {
		return err
	}
	r.log.Info("Acquired NodeWorkloadLock for node " + v.name)
	return v.lock.setState(ctx, stateActive, map[string]any{"errorMessage": nil})
}

// jobChild tells whether a pod belongs to a Job: a Job is one of its owners, or it has a Job's label, regardless of its
// owners.
func jobChild(pod *corev1.Pod) bool {
	if slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == "Job" }) {
		return true
	}
	_, named := pod.Labels["job-name"]
	_, anew := pod.Labels["batch.kubernetes.io/job-name"]
	return named || anew
}

// waitNode waits without limit until the node is Ready, and then until all pods of OpenStack on it are, except those of
// Jobs. A pod that has ended is not ready, so the controller waits until it is deleted.
func (v visit) waitNode(ctx context.Context) error {
	if err := v.until(ctx, v.timing.ReturnPoll, func(ctx context.Context) (bool, error) {
		node, err := v.kube.CoreV1().Nodes().Get(ctx, v.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if nodeReady(node).Status != corev1.ConditionTrue {
			v.log.Info("The node " + v.name + " is not ready yet.")
			return false, nil
		}
		return true, nil
	}); err != nil {
		return err
	}
	return v.until(ctx, v.timing.ReturnPoll, func(ctx context.Context) (bool, error) {
		pods, err := v.podsOn(ctx, openstackNamespace, v.name)
		if err != nil {
			return false, err
		}
		var waiting []string
		for i := range pods {
			if !jobChild(&pods[i]) && !podReady(&pods[i]) {
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

// acquire is the controller's own lock on the number of nodes in maintenance. Nodes count for each of their roles, and
// one full role refuses every node, whatever its role. From here on the node itself counts, although a service may
// still defer it.
func (v visit) acquire(ctx context.Context) error {
	select {
	case v.internal <- struct{}{}:
		defer func() { <-v.internal }()
	case <-ctx.Done():
		return ctx.Err()
	}
	object, err := v.lock.get(ctx)
	if err != nil {
		return fmt.Errorf("read node lock %s: %w", v.lock.name, err)
	}
	if lockInner(object) != stateActive {
		free, err := v.hasRoom(ctx)
		if err != nil {
			return err
		}
		if !free {
			return v.sayLater(ctx, "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node %s", v.name) // F
		}
	}
	return v.lock.annotate(ctx, annotationInner, stateActive)
}

// hasRoom tells whether every role has fewer nodes in maintenance than its limit.
func (v visit) hasRoom(ctx context.Context) (bool, error) {
	inMaintenance, err := v.inMaintenance(ctx)
	if err != nil {
		return false, err
	}
	limits := map[string]int{roleController: 1, roleCompute: v.MaxCompute, roleGateway: v.MaxGateway}
	for _, r := range v.roles {
		var busy []string
		for _, node := range inMaintenance {
			if v.roles.has(node.Labels, r.role) {
				busy = append(busy, v.nodeLockName(node.Name))
			}
		}
		if len(busy) >= limits[r.role] {
			v.log.Info(fmt.Sprintf("Handling Nodemaintenancerequest for node %s is not allowed. Already handling [%s] for role: %s",
				v.name, strings.Join(busy, ", "), r.role))
			return false, nil
		}
	}
	return true, nil
}

// inMaintenance returns the existing nodes whose lock says that they are being handled, in the order of the locks.
func (r *rockoon) inMaintenance(ctx context.Context) ([]*corev1.Node, error) {
	// Each node in maintenance asks for this again and again, and in a fleet the answer has thousands of locks: only what is looked at
	// is decoded.
	raw, err := r.kube.CoreV1().RESTClient().Get().AbsPath("/apis", nodeLocks.Group, nodeLocks.Version, nodeLocks.Resource).Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", nodeLocks.Resource, err)
	}
	var locks struct{ Items []heldLock }
	if err := json.Unmarshal(raw, &locks); err != nil {
		return nil, fmt.Errorf("list %s: %w", nodeLocks.Resource, err)
	}
	known := r.view.nodes()
	var nodes []*corev1.Node
	for _, lock := range locks.Items {
		node := known[lock.Spec.NodeName]
		if node != nil && lock.Spec.ControllerName == openstackController && lock.Metadata.Annotations.Inner == stateActive {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

// heldLock is what tells of a lock whose node is being handled.
type heldLock struct {
	Metadata struct {
		Annotations struct {
			Inner string `json:"inner_state"` // annotationInner
		}
	}
	Spec struct{ NodeName, ControllerName string }
}

// temporary tells whether an error is a handler's own request to be retried, not a failure.
func temporary(err error) bool {
	var wish errLater
	return errors.As(err, &wish)
}
