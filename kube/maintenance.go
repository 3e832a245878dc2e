package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// annotationInnerState is where Rockoon notes that it is working on a lock (docs/mosk.md#locks).
const annotationInnerState = "inner_state"

// labelManagedBy names who made an object (Kubernetes' recommended labels).
const labelManagedBy = "app.kubernetes.io/managed-by"

// lockFrom translates the workload locks of a kind.
func lockFrom(kind core.Kind) translate {
	return func(u *unstructured.Unstructured) core.Object {
		o := fields(u.Object)
		spec, status := o.at("spec"), o.at("status")
		l := &core.WorkloadLock{
			Meta:                         metaFrom(u),
			Kind:                         kind,
			Controller:                   spec.text("controllerName"),
			Node:                         spec.text("nodeName"),
			NodeDeletionRequestSupported: spec.truth("nodeDeletionRequestSupported"),
			RawState:                     core.LockState(status.text("state")),
			Message:                      status.text("errorMessage"),
			Release:                      status.text("release"),
			InnerState:                   o.at("metadata", "annotations").text(annotationInnerState),
			Kept:                         bookkeepingFrom(kind, o),
		}
		if p := status.at("inactivationProgress"); p != nil {
			percentage, _ := p.number("percentage")
			l.Progress = &core.InactivationProgress{
				Description: p.text("description"),
				Percentage:  min(max(percentage, 0), 100),
			}
		}
		return l
	}
}

// requestFrom translates the maintenance requests of a kind.
func requestFrom(kind core.Kind) translate {
	return func(u *unstructured.Unstructured) core.Object {
		o := fields(u.Object)
		spec := o.at("spec")
		return &core.MaintenanceRequest{
			Meta:    metaFrom(u),
			Kind:    kind,
			Node:    spec.text("nodeName"),
			Release: spec.text("release"),
			Scope:   core.Scope(spec.text("scope")),
			MadeBy:  o.at("metadata", "labels").text(labelManagedBy),
			Kept:    bookkeepingFrom(kind, o),
		}
	}
}

// noticeFrom translates the objects of a kind that say one thing about one node.
func noticeFrom(kind core.Kind) translate {
	return func(u *unstructured.Unstructured) core.Object {
		o := fields(u.Object)
		return &core.NodeNotice{Meta: metaFrom(u), Kind: kind, Node: o.at("spec").text("nodeName"), Kept: bookkeepingFrom(kind, o)}
	}
}
