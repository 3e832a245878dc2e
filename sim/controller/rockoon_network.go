package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/agents"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// releaseAnnotation is what changes in a template with the release.
const releaseAnnotation = "openstack.lcm.mirantis.com/release"

// rollOutAgents gives the network DaemonSets that are replaced on deletion a new template. Their pods stay as they are
// until the node comes back from its maintenance.
func (r *rockoon) rollOutAgents(ctx context.Context, release string) error {
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{releaseAnnotation: release}},
	}}})
	if err != nil {
		return fmt.Errorf("encode the network agents' template: %w", err)
	}
	for _, w := range workloads {
		if !w.onDelete || w.namespace != openstackNamespace {
			continue
		}
		_, err := r.kube.AppsV1().DaemonSets(w.namespace).Patch(ctx, w.name, types.MergePatchType, raw, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("update DaemonSet %s/%s: %w", w.namespace, w.name, err)
		}
	}
	return nil
}

// restoreNetworking restarts the agents whose template has changed since they started, and waits until Neutron hears from
// all of the node's agents.
func (v visit) restoreNetworking(ctx context.Context) error {
	roles := rolesOf(v.node)
	if v.Fabric || !slices.Contains(roles, roleCompute) && !slices.Contains(roles, roleGateway) {
		return nil
	}
	if err := v.restartAgents(ctx); err != nil {
		return err
	}
	if v.network == nil {
		return nil
	}
	limit := v.clock.Now().Add(v.timing.ServicesUp)
	for {
		alive, err := v.agentsAlive(ctx)
		switch {
		case err != nil:
			return v.sayLater(ctx, "Got error while waiting for network agents. Cannot execute openstack commands, error: %s.", err) // Q
		case alive:
			return nil
		case !v.clock.Now().Before(limit):
			return v.sayLater(ctx, "Timeout waiting for network agents on the host %s.", v.node.Name) // P
		}
		if err := v.clock.Sleep(ctx, max(v.timing.ReturnPoll, time.Millisecond)); err != nil {
			return err
		}
	}
}

// restartAgents deletes the pods of the node that are older than their DaemonSet's template, and waits until all of the
// node's pods are ready again.
func (v visit) restartAgents(ctx context.Context) error {
	pods, err := v.podsOfNode(ctx)
	if err != nil {
		return err
	}
	restarted := false
	for _, w := range workloads {
		if !w.onDelete || w.namespace != openstackNamespace {
			continue
		}
		if w.component == "openvswitch-vswitchd" && v.KeepSwitch && requestScope(v.request) != ScopeOS {
			continue
		}
		set, err := v.kube.AppsV1().DaemonSets(w.namespace).Get(ctx, w.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read DaemonSet %s/%s: %w", w.namespace, w.name, err)
		}
		for i := range pods {
			pod := &pods[i]
			if kind, name := podOwner(pod); kind != daemonSet || name != w.name || pod.Labels[generationLabel] == fmt.Sprint(set.Generation) {
				continue
			}
			err := v.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("restart pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			restarted = true
		}
	}
	if !restarted {
		return nil
	}
	return v.waitRestarted(ctx)
}

// waitRestarted waits until no pod of OpenStack on the node is ending or unready.
func (v visit) waitRestarted(ctx context.Context) error {
	return v.until(ctx, v.timing.ReturnPoll, func(ctx context.Context) (bool, error) {
		pods, err := v.podsOfNode(ctx)
		if err != nil {
			return false, err
		}
		have := map[string]bool{}
		for i := range pods {
			if pods[i].DeletionTimestamp != nil || !podReady(&pods[i]) {
				return false, nil
			}
			_, name := podOwner(&pods[i])
			have[name] = true
		}
		for _, w := range workloads { // the new pod of a deleted one may not be there yet
			if w.onDelete && w.namespace == openstackNamespace && w.runsOn(v.node) && !have[w.name] {
				return false, nil
			}
		}
		return true, nil
	})
}

// agentsAlive tells whether Neutron hears from every agent of the node.
func (v visit) agentsAlive(ctx context.Context) (bool, error) {
	pages, err := agents.List(v.network, agents.ListOpts{Host: v.node.Name}).AllPages(ctx)
	if err != nil {
		return false, fmt.Errorf("list the network agents of %s: %w", v.node.Name, err)
	}
	all, err := agents.ExtractAgents(pages)
	if err != nil {
		return false, fmt.Errorf("read the network agents of %s: %w", v.node.Name, err)
	}
	for _, agent := range all {
		if !agent.Alive {
			return false, nil
		}
	}
	return true, nil
}
