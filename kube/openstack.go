package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// healthReady is the value of a healthy component (docs/mosk.md#openstack-status); every other value is trouble or not yet known.
const healthReady = "Ready"

// openStackStatusFrom translates an OpenStackDeploymentStatus.
func openStackStatusFrom(u *unstructured.Unstructured) core.Object {
	status := fields(u.Object).at("status")
	osdpl := status.at("osdpl")
	s := &core.OpenStackStatus{
		Meta:              metaFrom(u),
		State:             osdpl.text("state"),
		OpenStackVersion:  osdpl.text("openstack_version"),
		ControllerVersion: osdpl.text("controller_version"),
		Release:           osdpl.text("release"),
		Health:            osdpl.text("health"),
		LCMProgress:       osdpl.text("lcm_progress"),
		Cause:             osdpl.text("cause"),
		Timestamp:         osdpl.time("timestamp"),
	}
	services := status.at("services")
	for _, name := range slices.Sorted(maps.Keys(services)) {
		service := services.at(name)
		if service == nil {
			continue
		}
		s.Services = append(s.Services, core.OpenStackService{
			Name:    name,
			State:   service.text("state"),
			Release: service.text("release"),
			Since:   service.time("timestamp"),
		})
	}
	health := status.at("health")
	for _, application := range slices.Sorted(maps.Keys(health)) {
		components := health.at(application)
		for _, component := range slices.Sorted(maps.Keys(components)) {
			if c := components.at(component); c != nil && c.text("status") != healthReady {
				s.Unhealthy = append(s.Unhealthy, application+"/"+component)
			}
		}
	}
	slices.Sort(s.Unhealthy)
	return s
}

// deploymentFrom translates a Deployment. Its image is its first container's: Rockoon's containers share one.
func deploymentFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	d := &core.Deployment{Meta: metaFrom(u), Replicas: 1} // the API's default
	if n, ok := o.at("spec").number("replicas"); ok {
		d.Replicas = n
	}
	d.Existing, _ = o.at("status").number("replicas")
	d.Ready, _ = o.at("status").number("readyReplicas")
	if containers := o.at("spec", "template", "spec").objects("containers"); len(containers) > 0 {
		d.Image = containers[0].text("image")
	}
	d.RoleLabels = variableOf(o, roleLabelsVariable)
	for _, c := range o.at("status").objects("conditions") {
		if c.text("type") == "Available" && c.text("status") == "False" {
			d.AwaySince = c.time("lastTransitionTime")
		}
	}
	return d
}
