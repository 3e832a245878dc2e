package kube

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// annotationInnerState is where Rockoon notes that it is working on a lock (docs/mosk.md#locks).
const annotationInnerState = "inner_state"

// annotationOriginal is where Rockoon keeps the node of a lock as it was (docs/mosk.md#original-node).
const annotationOriginal = annotationDomain + "original-node"

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
		if u.GetDeletionTimestamp() != nil {
			l.Original = originalLabels(o.at("metadata", "annotations").text(annotationOriginal))
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

// originalLabels are the labels of the node that a lock holds as JSON; nil when it holds none.
func originalLabels(node string) map[string]string {
	var original struct {
		Metadata struct {
			Labels map[string]any `json:"labels"`
		} `json:"metadata"`
	}
	if json.Unmarshal([]byte(node), &original) != nil {
		return nil // none, or one of unknown form
	}
	return ownLabels(original.Metadata.Labels)
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

// noticeFrom translates objects of a kind that says only one thing about one node.
func noticeFrom(kind core.Kind) translate {
	return func(u *unstructured.Unstructured) core.Object {
		o := fields(u.Object)
		return &core.NodeNotice{Meta: metaFrom(u), Kind: kind, Node: o.at("spec").text("nodeName"), Kept: bookkeepingFrom(kind, o)}
	}
}
