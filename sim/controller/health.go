package controller

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Health of a component in the OpenStackDeploymentStatus.
const (
	componentReady     = "Ready"
	componentUnhealthy = "Unhealthy"
)

// component is an entry of the health in an OpenStackDeploymentStatus.
type component struct{ application, component string }

// serviceComponents are the components that make up a service's health. A component with a workload on the cluster
// follows that workload; the others keep the health that their service's last update gave them.
var serviceComponents = map[string][]component{
	"ingress":       {{"ingress", "server"}},
	"memcached":     {{"memcached", "memcached"}},
	"messaging":     {{"rabbitmq", "server"}},
	"database":      {{"mariadb", "server"}},
	"coordination":  {{"etcd", "etcd"}},
	"identity":      {{"keystone", "api"}},
	"key-manager":   {{"barbican", "api"}},
	"image":         {{"glance", "api"}},
	"placement":     {{"placement", "api"}},
	"block-storage": {{"cinder", "api"}, {"cinder", "scheduler"}, {"cinder", "volume"}},
	"networking":    {{"neutron", "server"}, {"neutron", "l3-agent-default"}, {"neutron", "dhcp-agent-default"}},
	"compute": {{"nova", "compute-default"}, {"nova", "api-osapi"}, {"nova", "conductor"}, {"nova", "scheduler"},
		{"libvirt", "libvirt-default"}},
	"orchestration":  {{"heat", "api"}, {"heat", "engine"}},
	"load-balancer":  {{"octavia", "api"}, {"octavia", "worker"}},
	"dns":            {{"designate", "api"}, {"designate", "worker"}},
	"dashboard":      {{"horizon", "server"}},
	"instance-ha":    {{"masakari", "api"}},
	"metric-storage": {{"prometheus", "server"}},
}

// healthGroups are the applications that a service's health depends on.
func healthGroups(service string) []string {
	var groups []string
	seen := map[string]bool{}
	for _, c := range serviceComponents[service] {
		if !seen[c.application] {
			seen[c.application] = true
			groups = append(groups, c.application)
		}
	}
	return groups
}

// applicationReady tells whether the health has an application, with all its components Ready.
func applicationReady(status *unstructured.Unstructured, application string) bool {
	if status == nil {
		return false
	}
	components, found, err := unstructured.NestedMap(status.Object, "status", "health", application)
	if err != nil || !found || len(components) == 0 {
		return false
	}
	return allReady(components)
}

func allReady(components map[string]any) bool {
	for _, component := range components {
		fields, _ := component.(map[string]any)
		if fields["status"] != componentReady {
			return false
		}
	}
	return true
}

// healthSummary is how many applications have all components Ready, and how many there are: 21/22.
func healthSummary(health map[string]any) string {
	ready := 0
	for _, application := range health {
		if components, ok := application.(map[string]any); ok && allReady(components) {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(health))
}

// componentOf is where the health lists a workload: its application, and its name without the application.
func componentOf(name string, labels map[string]string) component {
	c := component{labels["application"], name}
	if c.application == "" {
		c.application = name
	}
	if _, short, ok := strings.Cut(name, c.application+"-"); ok && short != "" {
		c.component = short
	}
	return c
}

// workloadHealth is the health of OpenStack's workloads by their status.
func (e *env) workloadHealth() map[component]map[string]any {
	health := map[component]map[string]any{}
	note := func(meta metav1.ObjectMeta, observed int64, ready bool) {
		if meta.Namespace != openstackNamespace {
			return
		}
		status := componentUnhealthy
		if ready && observed >= meta.Generation {
			status = componentReady
		}
		health[componentOf(meta.Name, meta.Labels)] = map[string]any{"status": status, "generation": observed}
	}
	for _, s := range e.view.sets() {
		switch {
		case s.daemon != nil:
			status := s.daemon.Status
			updated := s.daemon.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType ||
				status.UpdatedNumberScheduled == status.DesiredNumberScheduled
			note(s.daemon.ObjectMeta, status.ObservedGeneration, updated && status.NumberReady == status.DesiredNumberScheduled)
		case s.stateful != nil:
			wanted := s.stateful.Spec.Replicas
			note(s.stateful.ObjectMeta, s.stateful.Status.ObservedGeneration, wanted != nil && s.stateful.Status.ReadyReplicas == *wanted)
		case s.stateless != nil:
			wanted := s.stateless.Spec.Replicas
			note(s.stateless.ObjectMeta, s.stateless.Status.ObservedGeneration, wanted != nil && s.stateless.Status.ReadyReplicas == *wanted)
		}
	}
	return health
}

// updateHealth updates the health in the OpenStackDeploymentStatus from the workloads, as the controller does every
// minute.
func (r *rockoon) updateHealth(ctx context.Context) error {
	if seen := r.view.object(deployments, openstackNamespace+"/"+r.Deployment); seen != nil {
		if _, changes, err := r.healthChanges(seen); err != nil || len(changes) == 0 {
			return err
		}
	}
	object, err := r.deploymentStatus(ctx)
	if err != nil || object == nil {
		return err
	}
	all, changes, err := r.healthChanges(object)
	if err != nil || len(changes) == 0 {
		return err
	}
	return r.patchDeployment(ctx, map[string]any{"osdpl": map[string]any{"health": healthSummary(all)}, "health": changes})
}

// healthChanges is the health of all components, and the part that the status does not show yet. It leaves out
// components of a service that is being applied.
func (r *rockoon) healthChanges(object *unstructured.Unstructured) (all, changes map[string]any, err error) {
	found := r.workloadHealth()
	for _, service := range r.Services {
		if text(object, "status", "services", service, "state") == deploymentApplying {
			for _, c := range serviceComponents[service] {
				delete(found, c)
			}
		}
	}
	if all, _, _ = unstructured.NestedMap(object.Object, "status", "health"); all == nil {
		all = map[string]any{}
	}
	changes = map[string]any{}
	for c, health := range found {
		was, _, _ := unstructured.NestedMap(all, c.application, c.component)
		if was["status"] == health["status"] && was["generation"] == health["generation"] {
			continue
		}
		if err := unstructured.SetNestedMap(all, health, c.application, c.component); err != nil {
			return nil, nil, fmt.Errorf("the health of %s %s: %w", c.application, c.component, err)
		}
		if err := unstructured.SetNestedMap(changes, health, c.application, c.component); err != nil {
			return nil, nil, fmt.Errorf("the health of %s %s: %w", c.application, c.component, err)
		}
	}
	return all, changes, nil
}
