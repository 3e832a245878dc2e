package kube

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

// What drives an update lies in the cluster's project on the management cluster (docs/mosk.md#update-plans).

// managementKind is how objects of a kind are read and written.
type managementKind struct {
	gvr       schema.GroupVersionResource
	translate func(*unstructured.Unstructured) core.Object
}

// managementKinds are the kinds of objects by which an update is driven.
var managementKinds = map[core.Kind]managementKind{
	core.KindCluster:     {gvrClusters, managedClusterFrom},
	core.KindUpdatePlan:  {gvrUpdatePlans, updatePlanFrom},
	core.KindAutoPause:   {gvrAutoPauses, autoPauseFrom},
	core.KindUpdateGroup: {gvrUpdateGroups, machineGroupFrom},
	core.KindMachine:     {gvrMachines, managedMachineFrom},
}

// updatePermissions are what driving the update needs on one kind.
func updatePermissions(kind core.Kind, namespace string, verbs ...string) []Permission {
	gvr := managementKinds[kind].gvr
	needs := make([]Permission, len(verbs))
	for i, verb := range verbs {
		needs[i] = Permission{verb, gvr.Group, gvr.Resource, namespace, ""}
	}
	return needs
}

// Object implements engine.ManagementChecker.
func (c *ManagementChecker) Object(ctx context.Context, ref core.Ref) (core.Object, error) {
	u, err := c.object(ctx, ref)
	if err != nil {
		return nil, err
	}
	return managementKinds[ref.Kind].translate(u), nil
}

// object reads exactly the object that has ref's kind, name and, where it has one, UID, from the server itself.
func (c *ManagementChecker) object(ctx context.Context, ref core.Ref) (*unstructured.Unstructured, error) {
	call := describeCall("get", ref)
	kind, known := managementKinds[ref.Kind]
	if !known {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: call, Message: "nothing there drives an update"}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	u, err := c.client.resource(kind.gvr, ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		e := describeManagement(err, call)
		if ref.Kind != core.KindAutoPause { // which an older release does not know
			e = ofOne(e)
		}
		return nil, e
	}
	if uid := string(u.GetUID()); ref.UID != "" && uid != ref.UID {
		return nil, &core.APIError{Kind: core.ErrConflict, Server: core.ServerManagement, Call: call, Status: http.StatusConflict,
			Message: fmt.Sprintf("the object of this name has the UID %s, not %s: it was deleted and made again", uid, ref.UID),
			Remedy:  "This is another object under the old name. Look at it, then decide again."}
	}
	return u, nil
}

// swap changes an object that is as it was confirmed. patch looks at it and makes the operations, or says what is different. They
// are applied only to the very version that it has looked at: LCM writes to the same objects, and mostly to other fields.
func (s managementSender) swap(ctx context.Context, ref core.Ref,
	patch func(*unstructured.Unstructured) ([]operation, *core.APIError)) error {
	call := s.call(describeCall("patch", ref))
	for attempt := 1; ; attempt++ {
		u, err := s.object(ctx, ref)
		if err != nil {
			return err
		}
		changes, different := patch(u)
		if different != nil {
			return different
		}
		tests := []operation{{"test", "/metadata/uid", ref.UID}, {"test", "/metadata/resourceVersion", u.GetResourceVersion()}}
		failed := s.patch(ctx, managementKinds[ref.Kind].gvr, ref, append(tests, changes...), call)
		switch {
		case failed == nil:
			return nil
		case failed.Kind != core.ErrConflict || attempt == patchAttempts:
			return failed
		}
	}
}

// otherwiseManaged says that an object is not as it was confirmed.
func otherwiseManaged(ref core.Ref, is string) *core.APIError {
	e := otherwise(ref, is)
	e.Server = core.ServerManagement
	return e
}

// setCommence sets or takes away commence of one step of a plan, if the step is as it was confirmed. An automatic pause removes the field,
// so it is added and not replaced.
func (s managementSender) setCommence(ctx context.Context, c core.SetCommence) error {
	if err := s.may(ctx, "commence steps of the update plan",
		append(updatePermissions(core.KindUpdatePlan, c.Plan.Namespace, "get", "patch"),
			updatePermissions(core.KindCluster, c.Plan.Namespace, "get")...)...); err != nil {
		return err
	}
	return s.swap(ctx, c.Plan, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		steps := updatePlanFrom(u).(*core.UpdatePlan).Steps
		path, field, key := fmt.Sprintf("/spec/steps/%d", c.Index), "id", c.ID
		if key == "" {
			field, key = "name", c.Name
		}
		switch {
		case c.Index < 0 || c.Index >= len(steps):
			return nil, otherwiseManaged(c.Plan, fmt.Sprintf("has no step %d any more", c.Index+1))
		case steps[c.Index].ID != c.ID || steps[c.Index].Name != c.Name:
			return nil, otherwiseManaged(c.Plan, fmt.Sprintf("has another step %d: %s", c.Index+1, cut(steps[c.Index].Key())))
		case steps[c.Index].Commence == c.On:
			return nil, otherwiseManaged(c.Plan, fmt.Sprintf("has commence=%t at %s already", c.On, cut(key)))
		case steps[c.Index].Status != c.Status:
			return nil, otherwiseManaged(c.Plan, fmt.Sprintf("says %q of %s; expected was %q", cut(steps[c.Index].Status), cut(key),
				cut(c.Status)))
		}
		return []operation{{"test", path + "/" + field, key}, {"add", path + "/commence", c.On}}, nil
	})
}

const releasePath = "/spec/providerSpec/value/release"

// setRelease sets the release that a Cluster is to be at, if that is the one that was confirmed to be replaced.
func (s managementSender) setRelease(ctx context.Context, c core.SetRelease) error {
	if err := s.may(ctx, "set the cluster's release",
		updatePermissions(core.KindCluster, c.Cluster.Namespace, "get", "patch")...); err != nil {
		return err
	}
	return s.swap(ctx, c.Cluster, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		if is := managedClusterFrom(u).(*core.ManagedCluster).Target; is != c.Old || c.Old == "" {
			return nil, otherwiseManaged(c.Cluster, fmt.Sprintf("has the release %q; expected was %q", cut(is), cut(c.Old)))
		}
		return []operation{{"test", releasePath, c.Old}, {"replace", releasePath, c.New}}, nil
	})
}
