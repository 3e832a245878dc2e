package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/agents"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// releaseAnnotation is the part of a template that changes with the release.
const releaseAnnotation = "openstack.lcm.mirantis.com/release"

// rollOut gives the OnDelete DaemonSets of a namespace a new template, except those that were made with it. Their pods stay until they are
// deleted.
func (e *env) rollOut(ctx context.Context, namespace, release string, made map[string]bool) error {
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{releaseAnnotation: release}},
	}}})
	if err != nil {
		return fmt.Errorf("encode the template of release %s: %w", release, err)
	}
	for _, w := range e.workloads {
		if !w.onDelete || w.namespace != namespace || made[w.key()] {
			continue
		}
		_, err := e.kube.AppsV1().DaemonSets(w.namespace).Patch(ctx, w.name, types.MergePatchType, raw, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("update DaemonSet %s/%s: %w", w.namespace, w.name, err)
		}
	}
	e.view.changed(podsResource) // the kubelet, which makes the revisions, looks at the pods
	return nil
}

// restoreNetworking restarts the agents whose template has changed since they started, and waits until all of the
// node's agents report to Neutron.
func (v visit) restoreNetworking(ctx context.Context) error {
	if v.Fabric || !v.is(roleCompute) && !v.is(roleGateway) {
		return nil
	}
	restart := []string{"ovn-controller", "l3-agent"}
	restarts := !v.KeepSwitch
	if !restarts {
		var err error
		if restarts, err = rebootPossible(v.request); err != nil {
			return err
		}
	}
	if restarts {
		restart = append(restart, "openvswitch-vswitchd")
	}
	for _, component := range restart {
		for _, w := range v.workloads {
			if w.onDelete && w.namespace == openstackNamespace && w.component == component {
				if err := v.restartPod(ctx, w); err != nil {
					return err
				}
			}
		}
	}
	if v.network == nil {
		return nil
	}
	limit := v.clock.Now().Add(v.timing.ServicesUp)
	for {
		all, err := v.agents(ctx)
		switch {
		case err != nil:
			return v.sayLater(ctx, "Got error while waiting for network agents. Cannot execute openstack commands, error: %s.", sdkText(err)) // Q
		case v.LooksOnce || !slices.ContainsFunc(all, func(a agents.Agent) bool { return !a.Alive }):
			return nil
		case !v.clock.Now().Before(limit):
			return v.sayLater(ctx, "Timeout waiting for network agents on the host %s.", v.name) // P
		}
		if err := v.clock.Sleep(ctx, max(v.timing.ReturnPoll, time.Millisecond)); err != nil {
			return err
		}
	}
}

// restartPod deletes the pod of a DaemonSet on the node if it is older than the template, and waits without limit for a
// new one that is ready.
func (v visit) restartPod(ctx context.Context, w workload) error {
	found, err := v.kube.AppsV1().DaemonSets(w.namespace).Get(ctx, w.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read DaemonSet %s/%s: %w", w.namespace, w.name, err)
	}
	stale, current := false, set{daemon: found}.generation()
	look := func(ctx context.Context) (ready bool, err error) {
		pods, err := v.podsOn(ctx, w.namespace, v.name)
		if err != nil {
			return false, err
		}
		stale = false
		for i := range pods {
			pod := &pods[i]
			if kind, name := podOwner(pod); kind != daemonSet || name != w.name {
				continue
			}
			if !stale && pod.DeletionTimestamp == nil && pod.Labels[generationLabel] != fmt.Sprint(current) {
				stale = true
				if err := v.endPod(ctx, pod, -1); err != nil {
					return false, err
				}
			}
			ready = ready || pod.DeletionTimestamp == nil && podReady(pod) && !stale
		}
		return ready, nil
	}
	if _, err := look(ctx); err != nil || !stale {
		return err
	}
	return v.until(ctx, v.timing.ReturnPoll, look)
}

// agents returns Neutron's agents on the node.
func (v visit) agents(ctx context.Context) ([]agents.Agent, error) {
	pages, err := agents.List(v.network, agents.ListOpts{Host: v.name}).AllPages(ctx)
	if err != nil {
		return nil, openstackErr("list the network agents of "+v.name, err)
	}
	all, err := agents.ExtractAgents(pages)
	return all, openstackErr("read the network agents of "+v.name, err)
}

// forgetNetworking removes the agents of a host that is gone, once they are dead, and its member of OVN's database.
func (v visit) forgetNetworking(ctx context.Context) error {
	for v.network != nil {
		all, err := v.agents(ctx)
		if err != nil {
			return err
		}
		v.log.Info("Waiting 30 for network agents are down on the " + v.name)
		if err := v.clock.Sleep(ctx, v.timing.CleanupPoll); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(a agents.Agent) bool { return a.Alive }) {
			continue
		}
		for _, a := range all {
			if err := agents.Delete(ctx, v.network, a.ID).ExtractErr(); err != nil && !gophercloud.ResponseCodeIs(err, 404) {
				return openstackErr("delete the agent "+a.Binary+" of "+v.name, err)
			}
		}
		break
	}
	if v.OVN {
		return ovnDB.forget(v, ctx)
	}
	return nil
}
