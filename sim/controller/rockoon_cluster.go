package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clusterRequested is the handler of a ClusterMaintenanceRequest (docs/mosk.md#cluster-request, #texts); the letters
// are those of the table of texts in that document.
func (r *rockoon) clusterRequested(ctx context.Context, request *unstructured.Unstructured) error {
	if ok, err := r.deployed(ctx); err != nil || !ok {
		return err
	}
	status, err := r.deploymentStatus(ctx)
	if err != nil {
		return err
	}
	l := r.myClusterLock()
	if err := r.checkRelease(ctx, l, request); err != nil {
		return err
	}
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	switch state := text(status, "status", "osdpl", "state"); {
	case lockRelease(object) != r.release:
		return r.refuse(ctx, l, "Waitinging for cwl release is %s.", r.release) // B
	case text(status, "status", "osdpl", "controller_version") != r.version:
		return r.refuse(ctx, l, "OpenStackDeploymentStatus controller version is not updated yet.") // C
	case state != deploymentApplied:
		return r.refuse(ctx, l, "Waiting osdpl status APPLIED, current state is %s", state) // D
	}
	if lockState(object) != stateActive {
		return nil
	}
	if err := r.tell(ctx, l, "Waiting for all OpenStack services are healthy."); err != nil { // E
		return err
	}
	if err := r.waitServicesHealthy(ctx); err != nil {
		return err
	}
	r.log.Info("Released " + request.GetName() + " ClusterWorkloadLock")
	return l.setState(ctx, stateInactive, map[string]any{"errorMessage": nil})
}

// clusterReturned is the handler of a ClusterMaintenanceRequest's deletion.
func (r *rockoon) clusterReturned(ctx context.Context, _ *unstructured.Unstructured) error {
	if ok, err := r.deployed(ctx); err != nil || !ok {
		return err
	}
	r.log.Info("Acquired ClusterWorkloadLock " + r.Deployment)
	return r.myClusterLock().setState(ctx, stateActive, map[string]any{"errorMessage": nil})
}

// waitServicesHealthy waits for each application in turn until all its components are Ready, at most ServiceHealthy for
// each.
func (r *rockoon) waitServicesHealthy(ctx context.Context) error {
	for _, service := range r.Services {
		for _, application := range healthGroups(service) {
			limit := r.clock.Now().Add(r.timing.ServiceHealthy)
			for {
				status, err := r.deploymentStatus(ctx)
				if err == nil && applicationReady(status, application) {
					break
				}
				if !r.clock.Now().Before(limit) {
					r.log.Info("Time out waiting health for service " + service + ".")
					return later("Services are not healthy")
				}
				if err := r.clock.Sleep(ctx, r.timing.ReturnPoll); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
