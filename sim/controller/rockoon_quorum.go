package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clustered is an application that stores its data on the nodes of its StatefulSet's members and loses its quorum with
// too many of them.
type clustered struct {
	name           string // its name in the texts
	namespace, set string
}

var (
	mariadb    = clustered{"mariadb", openstackNamespace, "mariadb-server"}
	etcd       = clustered{"etcd", openstackNamespace, "etcd-etcd"}
	redis      = clustered{"redis", redisNamespace, "rfr-openstack-redis"}
	prometheus = clustered{"prometheus", openstackNamespace, "openstack-prometheus-server"}
	ovnDB      = clustered{"openvswitch-ovn", openstackNamespace, "openvswitch-ovn-db"}
)

const redisNamespace = "openstack-redis"

// service is the application's part in the maintenance of a node.
func (c clustered) service(key string) maintenanceService {
	return maintenanceService{name: key, allowed: c.allows, surrender: c.surrender, forget: c.forget}
}

// locks tells whether the application needs the node: fewer members than all but one are ready or are on other nodes
// (docs/mosk.md#quorum). Which of them are ready it does not ask: it lets the node of the second member go. A missing set
// locks nothing.
func (c clustered) locks(ctx context.Context, v visit) (bool, error) {
	set, err := v.kube.AppsV1().StatefulSets(c.namespace).Get(ctx, c.set, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read StatefulSet %s/%s: %w", c.namespace, c.set, err)
	}
	list, err := v.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + c.set})
	if err != nil {
		return false, fmt.Errorf("list the pods of %s/%s: %w", c.namespace, c.set, err)
	}
	needed := 0
	if set.Spec.Replicas != nil {
		needed = int(*set.Spec.Replicas) - 1
	}
	ready, elsewhere := 0, 0
	for i := range list.Items {
		pod := &list.Items[i]
		if podReady(pod) {
			ready++
		}
		if pod.Spec.NodeName != "" && pod.Spec.NodeName != v.name {
			elsewhere++
		}
	}
	return ready < needed || elsewhere < needed, nil
}

func (c clustered) allows(v visit, ctx context.Context) (bool, error) {
	locked, err := c.locks(ctx, v)
	if locked {
		v.log.Error("The node " + v.name + " is hard locked by " + c.name + ".")
	}
	return !locked, err
}

// surrender refuses the deletion of a node that the application needs; the lock does not show it.
func (c clustered) surrender(v visit, ctx context.Context) error {
	locked, err := c.locks(ctx, v)
	if err != nil || !locked {
		return err
	}
	return later("The node %s is hard locked by %s.", v.name, c.name)
}

// forget gives up the member of a node that is gone and held its volume, so that another node may take the member.
func (c clustered) forget(v visit, ctx context.Context) error {
	locked, err := c.locks(ctx, v)
	if err != nil {
		return err
	}
	if locked {
		return v.sayLater(ctx, "The node %s is hard locked by %s.", v.name, c.name) // U
	}
	if err := c.releaseClaims(v, ctx); err != nil {
		return err
	}
	pods, err := v.podsOn(ctx, c.namespace, v.name)
	if err != nil {
		return err
	}
	for i := range pods {
		if kind, name := podOwner(&pods[i]); kind == statefulSet && name == c.set {
			if err := v.endPod(ctx, &pods[i], 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// podsOn returns the pods of a namespace on a node.
func (e *env) podsOn(ctx context.Context, namespace, node string) ([]corev1.Pod, error) {
	list, err := e.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return nil, fmt.Errorf("list the pods of namespace %s on node %s: %w", namespace, node, err)
	}
	return list.Items, nil
}

// endPod deletes exactly this pod; it is not an error if the pod is gone or replaced. A negative grace means the pod's
// own.
func (e *env) endPod(ctx context.Context, pod *corev1.Pod, grace int64) error {
	opts := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if grace >= 0 {
		opts.GracePeriodSeconds = &grace
	}
	err := e.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, opts)
	if e.loaded.remove(pod.UID); err != nil || grace != 0 {
		e.loaded.forget()
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("end pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
