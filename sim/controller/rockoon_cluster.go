package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clusterRequested is the handler of a ClusterMaintenanceRequest (mosk-facts 4.1, "CMR create/update/resume"); the letters
// are those of the table of texts there.
func (r *rockoon) clusterRequested(ctx context.Context, request *unstructured.Unstructured) error {
	release, version, err := r.running(ctx)
	if err != nil {
		return err
	}
	status, err := r.deploymentStatus(ctx)
	if err != nil || status == nil {
		return err // no OpenStackDeployment: nothing to guard
	}
	l := r.myClusterLock()
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	refuse := func(text string) error {
		if err := r.tell(ctx, l, text); err != nil {
			return err
		}
		return later("%s", text)
	}
	switch wanted := requestRelease(request); {
	case wanted != "" && wanted != release:
		return refuse(fmt.Sprintf(textRelease, wanted, release)) // A
	case lockRelease(object) != release:
		return refuse(fmt.Sprintf("Waitinging for cwl release is %s.", release)) // B
	case text(status, "status", "osdpl", "controller_version") != version:
		return refuse("OpenStackDeploymentStatus controller version is not updated yet.") // C
	case text(status, "status", "osdpl", "state") != deploymentApplied:
		return refuse("Waiting osdpl status APPLIED, current state is " + text(status, "status", "osdpl", "state")) // D
	}
	if state := lockState(object); state != "" && state != stateActive {
		return nil
	}
	if err := r.tell(ctx, l, "Waiting for all OpenStack services are healthy."); err != nil { // E
		return err
	}
	if !r.waitServicesHealthy(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return later("Services are not healthy")
	}
	r.log.Info("Released " + request.GetName() + " ClusterWorkloadLock")
	return l.setState(ctx, stateInactive, map[string]any{"errorMessage": nil})
}

// clusterReturned is the handler of a ClusterMaintenanceRequest's deletion.
func (r *rockoon) clusterReturned(ctx context.Context, _ *unstructured.Unstructured) error {
	return r.myClusterLock().setState(ctx, stateActive, map[string]any{"errorMessage": nil})
}

// textRelease is text A of mosk-facts 4.1, on both kinds of lock.
const textRelease = "Current maintenancerequest %s release does not match ours %s. Skipping handling."

// waitServicesHealthy waits until every component is Ready, ServiceHealthy for each service at most.
func (r *rockoon) waitServicesHealthy(ctx context.Context) bool {
	for range r.Services {
		limit := r.clock.Now().Add(r.timing.ServiceHealthy)
		for {
			status, err := r.deploymentStatus(ctx)
			if err == nil && status != nil {
				if ready, total := countHealth(status); ready == total {
					return true
				}
			}
			if !r.clock.Now().Before(limit) || r.clock.Sleep(ctx, r.timing.ReturnPoll) != nil {
				break
			}
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return false
}
