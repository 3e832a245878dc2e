package sim

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/alertmanager"
	"lockstep/sim/kubeapi"
)

// Where StackLight has its Alertmanager. The name is from public scripts of operators; the port is chosen here.
const (
	stacklight          = "stacklight"
	alertmanagerService = "prometheus-alertmanager"
)

// startAlertmanager puts StackLight's Alertmanager behind the API server. Alerts follow the nodes: their names and labels stand for
// those of StackLight.
func (c *Cloud) startAlertmanager(ctx context.Context, seed uint64, start time.Time) error {
	if c.Kube == nil {
		return nil
	}
	has := c.Scenario.StackLight
	a := alertmanager.New(c.Clock, c.random(seed, "alertmanager"))
	c.Alertmanager = a
	a.Fire(map[string]string{"alertname": "Watchdog", "severity": "informational"}, "This alert always fires.")
	for _, one := range has.Alerts {
		labels := map[string]string{"alertname": one.Name, "severity": one.Severity}
		maps.Copy(labels, one.Labels)
		a.Fire(labels, one.Summary)
	}
	for _, one := range has.Silences {
		a.Silence(one.Label, one.Value, one.By, one.Comment, start.Add(one.For.Of()))
	}
	err := c.Kube.Load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": alertmanagerService, "namespace": stacklight},
		"spec": map[string]any{"ports": []any{map[string]any{"name": "http", "port": int64(9093), "protocol": "TCP",
			"targetPort": int64(9093)}}}}})
	if err != nil {
		return fmt.Errorf("seed StackLight: %w", err)
	}
	c.Kube.Behind(stacklight, alertmanagerService, a)
	for _, node := range c.Kube.Objects("nodes") {
		alertOf(a, node, false)
	}
	stop := c.Kube.Follow(func(change kubeapi.Change) { alertOf(a, change.Now, change.Kind == watch.Deleted) }, "nodes")
	context.AfterFunc(ctx, stop)
	return nil
}

// alertOf fires the alerts of a node that is not Ready, and resolves those of one that is.
func alertOf(a *alertmanager.Server, node *unstructured.Unstructured, gone bool) {
	name := node.GetName()
	alerts := []map[string]string{{"alertname": "KubernetesNodeNotReady", "severity": "critical", "node": name}}
	if _, compute := node.GetLabels()["openstack-compute-node"]; compute {
		alerts = append(alerts, map[string]string{"alertname": "NovaServiceDown", "severity": "major", "binary": "nova-compute",
			"openstack_hypervisor_hostname": name})
	}
	summaries := map[string]string{"KubernetesNodeNotReady": "Node " + name + " is not Ready.",
		"NovaServiceDown": "The nova-compute service on " + name + " is down."}
	for _, labels := range alerts {
		if gone || isReady(node) {
			a.Resolve(labels)
		} else {
			a.Fire(labels, summaries[labels["alertname"]])
		}
	}
}

func isReady(node *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
	for _, one := range conditions {
		if c, _ := one.(map[string]any); c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}
