package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// labelReleaseActive marks the KaaSRelease that the management cluster has (docs/mosk.md#management-releases).
const labelReleaseActive = "kaas.mirantis.com/active"

func managementReleaseFrom(u *unstructured.Unstructured) core.Object {
	spec := fields(u.Object).at("spec")
	value, labelled := u.GetLabels()[labelReleaseActive]
	r := &core.ManagementRelease{Meta: managementMeta(u), Version: spec.text("version"), Active: labelled && value != "false"}
	for _, c := range spec.objects("supportedClusterReleases") {
		if name := c.text("name"); name != "" {
			r.Supports = append(r.Supports, name)
		}
	}
	return r
}

func managementUpgradeFrom(u *unstructured.Unstructured) core.Object {
	status := fields(u.Object).at("status")
	next := status.at("nextRelease")
	return &core.ManagementUpgrade{Meta: managementMeta(u), Next: next.text("version"), Due: next.managementTime("date"),
		Message: status.text("message")}
}
