package kube

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
)

// setGroup makes, changes or removes an UpdateGroup, if it says what was confirmed to be replaced.
func (s managementSender) setGroup(ctx context.Context, c core.SetGroup) error {
	if err := s.may(ctx, "change update groups",
		updatePermissions(core.KindUpdateGroup, c.Group.Namespace, "get", "create", "patch", "delete")...); err != nil {
		return err
	}
	switch {
	case c.Old == nil && c.New == nil:
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: s.call(describeCall("patch", c.Group)),
			Message: "it asks for nothing"}
	case c.Old == nil:
		return s.makeGroup(ctx, c)
	case c.New == nil:
		return s.deleteGroup(ctx, c)
	}
	return s.swap(ctx, c.Group, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		if e := sameGroup(u, c); e != nil {
			return nil, e
		}
		spec := fields(u.Object).at("spec")
		var ops []operation
		set := func(name string, differs bool, to any) {
			if !differs {
				return
			}
			path := "/spec/" + name
			if was, there := spec[name]; there {
				ops = append(ops, operation{"test", path, was})
			}
			ops = append(ops, operation{"add", path, to})
		}
		set("index", c.Old.Index != c.New.Index, c.New.Index)
		set("concurrentUpdates", c.Old.Concurrent != c.New.Concurrent, c.New.Concurrent)
		set("rebootIfUpdateRequires", c.Old.Reboot != c.New.Reboot, c.New.Reboot)
		return ops, nil
	})
}

// sameGroup says how a group differs from what was confirmed to be replaced; nil when it does not.
func sameGroup(u *unstructured.Unstructured, c core.SetGroup) *core.APIError {
	g := machineGroupFrom(u).(*core.MachineGroup)
	switch {
	case g.Cluster != c.Cluster:
		return otherwiseManaged(c.Group, fmt.Sprintf("is of the cluster %q; expected was %q", cut(g.Cluster), cut(c.Cluster)))
	case g.Settings() != *c.Old:
		return otherwiseManaged(c.Group, fmt.Sprintf("says index %d, %d at a time, reboot %t; expected was %d, %d, %t", g.Index, g.Concurrent,
			g.Reboot, c.Old.Index, c.Old.Concurrent, c.Old.Reboot))
	}
	return nil
}

func (s managementSender) makeGroup(ctx context.Context, c core.SetGroup) error {
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvrUpdateGroups.GroupVersion().String(), "kind": string(core.KindUpdateGroup),
		"metadata": map[string]any{"name": c.Group.Name, "namespace": c.Group.Namespace,
			"labels": map[string]any{labelClusterName: c.Cluster}},
		"spec": map[string]any{"index": int64(c.New.Index), "concurrentUpdates": int64(c.New.Concurrent),
			"rebootIfUpdateRequires": c.New.Reboot},
	}}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.resource(gvrUpdateGroups, c.Group.Namespace).Create(ctx, made,
		metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRunOption(!s.writes)})
	return asError(describeManagement(err, s.call(describeCall("create", c.Group))))
}

// deleteGroup removes exactly the group that was confirmed, as it was.
func (s managementSender) deleteGroup(ctx context.Context, c core.SetGroup) error {
	u, err := s.object(ctx, c.Group)
	if err != nil {
		return err
	}
	if e := sameGroup(u, c); e != nil {
		return e
	}
	uid, version := types.UID(c.Group.UID), u.GetResourceVersion()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = s.client.resource(gvrUpdateGroups, c.Group.Namespace).Delete(ctx, c.Group.Name, metav1.DeleteOptions{
		DryRun: dryRunOption(!s.writes), Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	return asError(describeManagement(err, s.call(describeCall("delete", c.Group))))
}

const (
	updateGroupLabelPath = "/metadata/labels/kaas.mirantis.com~1update-group"
	upgradeIndexPath     = "/spec/providerSpec/value/upgradeIndex"
)

// setMachineGroup sets the label of a Machine that names its update group, if it names the one that was confirmed to be replaced.
func (s managementSender) setMachineGroup(ctx context.Context, c core.SetMachineGroup) error {
	return s.swapMachine(ctx, c.Machine, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		labels := u.GetLabels()
		is, there := labels[labelUpdateGroup]
		switch {
		case c.New == "":
			return nil, otherwiseManaged(c.Machine, "is given no update group")
		case is != c.Old:
			return nil, otherwiseManaged(c.Machine, fmt.Sprintf("is in the update group %q; expected was %q", cut(is), cut(c.Old)))
		case len(labels) == 0: // without the cluster's name it is no machine of ours
			return nil, otherwiseManaged(c.Machine, "has no labels any more")
		}
		var ops []operation
		if there {
			ops = append(ops, operation{"test", updateGroupLabelPath, is})
		}
		return append(ops, operation{"add", updateGroupLabelPath, c.New}), nil
	})
}

// setUpgradeIndex sets or removes the upgrade index of a Machine, if it is the one that was confirmed to be replaced.
func (s managementSender) setUpgradeIndex(ctx context.Context, c core.SetUpgradeIndex) error {
	return s.swapMachine(ctx, c.Machine, func(u *unstructured.Unstructured) ([]operation, *core.APIError) {
		value := fields(u.Object).at("spec", "providerSpec", "value")
		is := indexAsked(value)
		switch {
		case value == nil:
			return nil, otherwiseManaged(c.Machine, "has no spec.providerSpec.value")
		case (is == nil) != (c.Old == nil) || is != nil && *is != *c.Old:
			return nil, otherwiseManaged(c.Machine, fmt.Sprintf("has the upgrade index %s; expected was %s", numberText(is), numberText(c.Old)))
		}
		var ops []operation
		if is != nil {
			ops = append(ops, operation{"test", upgradeIndexPath, *is})
		}
		if c.New == nil {
			return append(ops, operation{"remove", upgradeIndexPath, nil}), nil
		}
		return append(ops, operation{"add", upgradeIndexPath, *c.New}), nil
	})
}

func numberText(n *int) string {
	if n == nil {
		return "not set"
	}
	return fmt.Sprint(*n)
}

func (s managementSender) swapMachine(ctx context.Context, ref core.Ref,
	patch func(*unstructured.Unstructured) ([]operation, *core.APIError)) error {
	if err := s.may(ctx, "change the order of machines", updatePermissions(core.KindMachine, ref.Namespace, "get", "patch")...); err != nil {
		return err
	}
	return s.swap(ctx, ref, patch)
}

// MachinesInGroup implements engine.ManagementChecker.
func (c *ManagementChecker) MachinesInGroup(ctx context.Context, cluster core.Ref, group string) ([]string, error) {
	list, err := c.client.listAll(ctx, resource{source: core.SourceMachines, gvr: gvrMachines, namespace: cluster.Namespace})
	if err != nil {
		return nil, describeManagement(err, "list machines")
	}
	var names []string
	for _, u := range list {
		if labels := u.GetLabels(); labels[labelClusterName] == cluster.Name && labels[labelUpdateGroup] == group {
			names = append(names, u.GetName())
		}
	}
	slices.Sort(names)
	return names, nil
}
