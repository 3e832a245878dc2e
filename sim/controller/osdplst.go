package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// States of an OpenStackDeployment and of its services.
const (
	deploymentApplying = "APPLYING"
	deploymentApplied  = "APPLIED"
	deploymentWaiting  = "WAITING"
)

// defaultServices are the services of a usual deployment, in the order in which they are applied.
var defaultServices = []string{
	"ingress", "memcached", "messaging", "database", "redis", "coordination", "identity", "key-manager", "image",
	"placement", "block-storage", "networking", "compute", "orchestration", "load-balancer", "dns", "dashboard",
	"instance-ha", "stepler", "tempest",
}

// serviceComponents are the applications and components by which a service's health is told; a service that is not here
// has none.
var serviceComponents = map[string]map[string][]string{
	"ingress":       {"ingress": {"server"}},
	"memcached":     {"memcached": {"memcached"}},
	"messaging":     {"rabbitmq": {"server"}},
	"database":      {"mariadb": {"server"}},
	"coordination":  {"etcd": {"etcd"}},
	"identity":      {"keystone": {"api"}},
	"key-manager":   {"barbican": {"api"}},
	"image":         {"glance": {"api"}},
	"placement":     {"placement": {"api"}},
	"block-storage": {"cinder": {"api", "scheduler", "volume"}},
	"networking":    {"neutron": {"server", "l3-agent", "dhcp-agent"}, "openvswitch": {"openvswitch-vswitchd"}},
	"compute":       {"nova": {"compute", "conductor", "os-api", "scheduler"}, "libvirt": {"libvirt"}},
	"orchestration": {"heat": {"api", "engine"}},
	"load-balancer": {"octavia": {"api", "worker"}},
	"dashboard":     {"horizon": {"server"}},
}

// deploymentStatus reads the OpenStackDeploymentStatus; nil when there is none.
func (r *rockoon) deploymentStatus(ctx context.Context) (*unstructured.Unstructured, error) {
	object, err := r.dyn.Resource(deployments).Namespace(openstackNamespace).Get(ctx, r.Deployment, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the status of OpenStackDeployment %s: %w", r.Deployment, err)
	}
	return object, nil
}

// patchDeployment merges a status into the OpenStackDeploymentStatus, which has no status subresource.
func (r *rockoon) patchDeployment(ctx context.Context, status map[string]any) error {
	raw, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("encode the status of OpenStackDeployment %s: %w", r.Deployment, err)
	}
	_, err = r.dyn.Resource(deployments).Namespace(openstackNamespace).Patch(ctx, r.Deployment, types.MergePatchType, raw, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("patch the status of OpenStackDeployment %s: %w", r.Deployment, err)
	}
	return nil
}

// NewDeploymentStatus is the OpenStackDeploymentStatus of a cloud that is fully applied at a release by a version of the
// OpenStack controller; the timestamp is Python's.
func NewDeploymentStatus(o OpenStack, release, version, timestamp string) *unstructured.Unstructured {
	o = o.withDefaults()
	object := lcmObject("OpenStackDeploymentStatus", o.Deployment)
	object.SetNamespace(openstackNamespace)
	services, health := map[string]any{}, map[string]any{}
	for _, service := range o.Services {
		services[service] = serviceStatus(o, service, deploymentApplied, "create", release, version, timestamp)
		for application, components := range serviceComponents[service] {
			byComponent := map[string]any{}
			for _, component := range components {
				byComponent[component] = map[string]any{"generation": int64(1), "status": "Ready"}
			}
			health[application] = byComponent
		}
	}
	object.Object["status"] = map[string]any{"services": services, "health": health}
	ready, total := countHealth(object)
	object.Object["status"].(map[string]any)["osdpl"] = map[string]any{
		"state": deploymentApplied, "cause": "create", "changes": "()", "openstack_version": o.Version,
		"controller_version": version, "controller_host": "rockoon-6c9f7b5d48-x2v7k", "release": release,
		"fingerprint": fingerprint(o, release), "timestamp": timestamp,
		"health":       fmt.Sprintf("%d/%d", ready, total),
		"lcm_progress": fmt.Sprintf("%d/%d", len(o.Services), len(o.Services)),
	}
	return object
}

func serviceStatus(o OpenStack, service, state, cause, release, version, timestamp string) map[string]any {
	return map[string]any{
		"state": state, "cause": cause, "changes": "()", "release": release, "openstack_version": o.Version,
		"controller_version": version, "fingerprint": fingerprint(o, release), "timestamp": timestamp,
	}
}

// fingerprint stands for the hash over the deployment's desired state, which a release changes.
func fingerprint(o OpenStack, release string) string {
	return hashID(o.Deployment, o.Version, release)[:8]
}

// applyDeployment brings the deployment to the release of the running controller, service by service: each call applies
// one, so that what is left after an interruption goes on where it was.
func (r *rockoon) applyDeployment(ctx context.Context) error {
	for {
		object, err := r.deploymentStatus(ctx)
		if err != nil || object == nil {
			return err
		}
		release, version, err := r.running(ctx)
		if err != nil {
			return err
		}
		if text(object, "status", "osdpl", "state") == deploymentApplied &&
			text(object, "status", "osdpl", "release") == release && text(object, "status", "osdpl", "controller_version") == version {
			return r.presentCluster(ctx, release)
		}
		if err := r.applyNext(ctx, object, release, version); err != nil {
			return err
		}
	}
}

// presentCluster gives the cluster lock our release; a lock of another release is armed again.
func (r *rockoon) presentCluster(ctx context.Context, release string) error {
	l := r.myClusterLock()
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	if lockRelease(object) == release {
		return nil
	}
	return l.setState(ctx, stateActive, map[string]any{"release": release})
}

func (r *rockoon) applyNext(ctx context.Context, object *unstructured.Unstructured, release, version string) error {
	osdpl := map[string]any{
		"state": deploymentApplying, "cause": "update", "controller_version": version, "fingerprint": fingerprint(r.OpenStack, release),
		"timestamp": pyTime(r.clock.Now()),
	}
	if text(object, "status", "osdpl", "state") != deploymentApplying || text(object, "status", "osdpl", "controller_version") != version {
		services := map[string]any{}
		for _, service := range r.Services {
			services[service] = map[string]any{"state": deploymentWaiting, "cause": "update", "changes": "(('change', ('release',), '" +
				text(object, "status", "osdpl", "release") + "', '" + release + "'),)"}
		}
		osdpl["lcm_progress"] = fmt.Sprintf("0/%d", len(r.Services))
		if err := r.patchDeployment(ctx, map[string]any{"osdpl": osdpl, "services": services}); err != nil {
			return err
		}
		return r.presentCluster(ctx, release)
	}
	if err := r.presentCluster(ctx, release); err != nil {
		return err
	}
	done := func(service string) bool {
		return text(object, "status", "services", service, "state") == deploymentApplied &&
			text(object, "status", "services", service, "release") == release &&
			text(object, "status", "services", service, "controller_version") == version
	}
	next := slices.IndexFunc(r.Services, func(service string) bool { return !done(service) })
	if next < 0 {
		osdpl["state"], osdpl["release"] = deploymentApplied, release
		osdpl["lcm_progress"] = fmt.Sprintf("%d/%d", len(r.Services), len(r.Services))
		return r.patchDeployment(ctx, map[string]any{"osdpl": osdpl})
	}
	service := r.Services[next]
	osdpl["lcm_progress"] = fmt.Sprintf("%d/%d", next, len(r.Services))
	started := serviceStatus(r.OpenStack, service, deploymentApplying, "update", release, version, pyTime(r.clock.Now()))
	if err := r.patchService(ctx, object, osdpl, service, started, "Unhealthy"); err != nil {
		return err
	}
	if service == "networking" {
		if err := r.rollOutAgents(ctx, release); err != nil {
			return err
		}
	}
	if err := r.clock.Sleep(ctx, r.timing.ServiceUpdate); err != nil {
		return err
	}
	delete(osdpl, "timestamp")
	osdpl["lcm_progress"] = fmt.Sprintf("%d/%d", next+1, len(r.Services))
	applied := serviceStatus(r.OpenStack, service, deploymentApplied, "update", release, version, pyTime(r.clock.Now()))
	return r.patchService(ctx, object, osdpl, service, applied, "Ready")
}

// patchService writes the state of a service with the health of its components.
func (r *rockoon) patchService(ctx context.Context, object *unstructured.Unstructured, osdpl map[string]any, service string, state map[string]any, health string) error {
	changes := map[string]any{}
	for application, components := range serviceComponents[service] {
		byComponent := map[string]any{}
		for _, component := range components {
			byComponent[component] = map[string]any{"status": health}
			if err := unstructured.SetNestedField(object.Object, health, "status", "health", application, component, "status"); err != nil {
				return fmt.Errorf("the health of %s %s: %w", application, component, err)
			}
		}
		changes[application] = byComponent
	}
	ready, total := countHealth(object)
	osdpl["health"] = fmt.Sprintf("%d/%d", ready, total)
	return r.patchDeployment(ctx, map[string]any{"osdpl": osdpl, "services": map[string]any{service: state}, "health": changes})
}

// countHealth counts the components that are Ready.
func countHealth(object *unstructured.Unstructured) (ready, total int) {
	applications, _, _ := unstructured.NestedMap(object.Object, "status", "health")
	for _, components := range applications {
		byComponent, _ := components.(map[string]any)
		for _, component := range byComponent {
			fields, _ := component.(map[string]any)
			total++
			if fields["status"] == "Ready" {
				ready++
			}
		}
	}
	return ready, total
}
