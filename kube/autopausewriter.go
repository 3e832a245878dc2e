package kube

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
)

// setAutoPause makes, changes or removes the UpdateAutoPause of a cluster, if it has the alerts that were confirmed to be replaced.
func (s managementSender) setAutoPause(ctx context.Context, c core.SetAutoPause) error {
	if err := s.may(ctx, "change what pauses the update",
		updatePermissions(core.KindAutoPause, c.Pause.Namespace, "get", "create", "patch", "delete")...); err != nil {
		return err
	}
	objects := s.client.resource(gvrAutoPauses, c.Pause.Namespace)
	same := func(u *unstructured.Unstructured) *core.APIError {
		if !slices.Equal(autoPauseFrom(u).(*core.AutoPause).Alerts, c.Old) {
			return otherwiseManaged(c.Pause, "has other alerts than were confirmed to be replaced")
		}
		return nil
	}
	alerts := make([]any, len(c.New))
	for i, name := range c.New {
		alerts[i] = name
	}
	switch {
	case c.Pause.UID == "":
		made := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gvrAutoPauses.GroupVersion().String(), "kind": string(core.KindAutoPause),
			"metadata": map[string]any{"name": c.Pause.Name, "namespace": c.Pause.Namespace}, "spec": map[string]any{"alerts": alerts},
		}}
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		_, err := objects.Create(ctx, made, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRunOption(!s.writes)})
		return asError(describeManagement(err, s.call(describeCall("create", c.Pause))))
	case len(c.New) == 0:
		u, err := s.object(ctx, c.Pause)
		if err != nil {
			return err
		}
		if e := same(u); e != nil {
			return e
		}
		uid, version := types.UID(c.Pause.UID), u.GetResourceVersion()
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		err = objects.Delete(ctx, c.Pause.Name, metav1.DeleteOptions{DryRun: dryRunOption(!s.writes),
			Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
		return asError(describeManagement(err, s.call(describeCall("delete", c.Pause))))
	}
	return s.swap(ctx, c.Pause, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		return []operation{{"add", "/spec/alerts", alerts}}, same(u)
	})
}

// asError is the error, or nil without a type.
func asError(e *core.APIError) error {
	if e == nil {
		return nil
	}
	return e
}
