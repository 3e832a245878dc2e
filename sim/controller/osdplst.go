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

// defaultServices are the services of a usual deployment, in the order of their application.
var defaultServices = []string{
	"ingress", "memcached", "messaging", "database", "redis", "coordination", "identity", "key-manager", "image",
	"placement", "block-storage", "networking", "compute", "orchestration", "load-balancer", "dns", "dashboard",
	"instance-ha", "stepler", "cloudprober",
}

// deploymentStatus reads the OpenStackDeploymentStatus; nil if there is none.
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
	_, err = r.dyn.Resource(deployments).Namespace(openstackNamespace).Patch(ctx, r.Deployment, types.MergePatchType, raw,
		metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("patch the status of OpenStackDeployment %s: %w", r.Deployment, err)
	}
	return nil
}

// NewDeploymentStatus returns the OpenStackDeploymentStatus of a cloud that is fully applied at a release by a version
// of the OpenStack controller. The timestamp has Python's format.
func NewDeploymentStatus(o OpenStack, release, version, timestamp string) *unstructured.Unstructured {
	o = o.withDefaults()
	object := lcmObject("OpenStackDeploymentStatus", o.Deployment)
	object.SetNamespace(openstackNamespace)
	services, health := map[string]any{}, map[string]any{}
	for _, service := range o.Services {
		services[service] = serviceStatus(o, service, deploymentApplied, "create", release, version, timestamp)
		for _, c := range serviceComponents[service] {
			byComponent, _ := health[c.application].(map[string]any)
			if byComponent == nil {
				byComponent = map[string]any{}
				health[c.application] = byComponent
			}
			byComponent[c.component] = map[string]any{"generation": int64(1), "status": componentReady}
		}
	}
	object.Object["status"] = map[string]any{"services": services, "health": health}
	object.Object["status"].(map[string]any)["osdpl"] = map[string]any{
		"state": deploymentApplied, "cause": "create", "changes": "()", "openstack_version": o.Version,
		"controller_version": version, "controller_host": "rockoon-6c9f7b5d48-x2v7k", "release": release,
		"fingerprint": fingerprint(o, release), "timestamp": timestamp,
		"health":       healthSummary(health),
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

// fingerprint stands for the hash of the deployment's desired state, which changes with the release.
func fingerprint(o OpenStack, release string) string {
	return hashID(o.Deployment, o.Version, release)[:8]
}

// applyDeployment brings the deployment to what this controller wants. Each round applies one service, so the work
// continues where it was after an interruption.
func (r *rockoon) applyDeployment(ctx context.Context) error {
	seen, lock := r.view.object(deployments, openstackNamespace+"/"+r.Deployment), r.view.object(clusterLocks, r.clusterLockName())
	if seen != nil && r.appliedAll(seen) && lock != nil && lockRelease(lock) == r.release {
		return nil
	}
	for {
		object, err := r.deploymentStatus(ctx)
		if err != nil || object == nil {
			return err
		}
		if r.appliedAll(object) {
			return r.presentCluster(ctx)
		}
		if err := r.applyNext(ctx, object); err != nil {
			return err
		}
	}
}

// appliedAll tells whether the deployment is as the controller wants it.
func (r *rockoon) appliedAll(object *unstructured.Unstructured) bool {
	at := func(field string) string { return text(object, "status", "osdpl", field) }
	return at("state") == deploymentApplied && at("release") == r.release && at("controller_version") == r.version
}

// applied tells whether a service is as the controller wants it.
func (r *rockoon) applied(object *unstructured.Unstructured, service string) bool {
	at := func(field string) string { return text(object, "status", "services", service, field) }
	return at("state") == deploymentApplied && at("fingerprint") == fingerprint(r.OpenStack, r.release) &&
		at("controller_version") == r.version
}

// progress is lcm_progress: how many services are as the controller wants them, and how many there are.
func (r *rockoon) progress(object *unstructured.Unstructured) string {
	done := 0
	for _, service := range r.Services {
		if r.applied(object, service) {
			done++
		}
	}
	return fmt.Sprintf("%d/%d", done, len(r.Services))
}

// applyNext does one step: it announces the work, applies the next service, or reports that all is applied. From the
// announcement on the cluster lock has the controller's release.
func (r *rockoon) applyNext(ctx context.Context, object *unstructured.Unstructured) error {
	osdpl := map[string]any{
		"state": deploymentApplying, "cause": "resume", "changes": "()", "controller_version": r.version, "release": r.release,
		"controller_host": r.host(), "fingerprint": fingerprint(r.OpenStack, r.release), "timestamp": pyTime(r.clock.Now()),
	}
	announced := text(object, "status", "osdpl", "state") == deploymentApplying &&
		text(object, "status", "osdpl", "controller_version") == r.version && text(object, "status", "osdpl", "release") == r.release
	if !announced {
		services := map[string]any{}
		for _, service := range r.Services {
			if !r.applied(object, service) {
				services[service] = map[string]any{"state": deploymentWaiting, "cause": "resume"}
			}
		}
		osdpl["lcm_progress"] = r.progress(object)
		if err := r.patchDeployment(ctx, map[string]any{"osdpl": osdpl, "services": services}); err != nil {
			return err
		}
		return r.presentCluster(ctx)
	}
	if err := r.presentCluster(ctx); err != nil {
		return err
	}
	next := slices.IndexFunc(r.Services, func(service string) bool { return !r.applied(object, service) })
	if next < 0 {
		osdpl["state"], osdpl["lcm_progress"] = deploymentApplied, r.progress(object)
		return r.patchDeployment(ctx, map[string]any{"osdpl": osdpl})
	}
	service := r.Services[next]
	started := serviceStatus(r.OpenStack, service, deploymentApplying, "resume", r.release, r.version, pyTime(r.clock.Now()))
	if err := r.patchService(ctx, object, service, started, componentUnhealthy); err != nil {
		return err
	}
	if service == "networking" {
		if err := r.rollOut(ctx, openstackNamespace, r.release, nil); err != nil {
			return err
		}
	}
	if err := r.clock.Sleep(ctx, r.timing.ServiceUpdate); err != nil {
		return err
	}
	if err := r.troubles.passable(ctx, service); err != nil {
		return err
	}
	done := serviceStatus(r.OpenStack, service, deploymentApplied, "resume", r.release, r.version, pyTime(r.clock.Now()))
	return r.patchService(ctx, object, service, done, componentReady)
}

// host is the name of the controller's pod, as in the controller's status.
func (r *rockoon) host() string {
	id := hashID(r.release, r.version)
	return rockoonDeployment + "-" + id[:8] + "-" + id[9:13] + id[14:15]
}

// patchService writes the state of a service, the resulting progress, and the health of its components.
func (r *rockoon) patchService(ctx context.Context, object *unstructured.Unstructured, service string, state map[string]any,
	health string) error {
	changes := map[string]any{}
	for _, c := range serviceComponents[service] {
		byComponent, _ := changes[c.application].(map[string]any)
		if byComponent == nil {
			byComponent = map[string]any{}
			changes[c.application] = byComponent
		}
		byComponent[c.component] = map[string]any{"status": health}
		if err := unstructured.SetNestedField(object.Object, health, "status", "health", c.application, c.component, "status"); err != nil {
			return fmt.Errorf("the health of %s %s: %w", c.application, c.component, err)
		}
	}
	if err := unstructured.SetNestedMap(object.Object, state, "status", "services", service); err != nil {
		return fmt.Errorf("the state of service %s: %w", service, err)
	}
	all, _, _ := unstructured.NestedMap(object.Object, "status", "health")
	return r.patchDeployment(ctx, map[string]any{
		"osdpl":    map[string]any{"lcm_progress": r.progress(object), "health": healthSummary(all)},
		"services": map[string]any{service: state}, "health": changes,
	})
}
