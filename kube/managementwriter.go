package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/core/engine"
)

// ManagementChecker reads objects of the management cluster from its API server, past any cache, and has it try changes. It
// implements engine.ManagementChecker. Before the first change it asks whether the login may make it.
type ManagementChecker struct {
	client *Client
	access *Access
}

// NewManagementChecker makes a ManagementChecker for the client's cluster, the management cluster.
func NewManagementChecker(client *Client) *ManagementChecker {
	return &ManagementChecker{client: client, access: NewAccess(client)}
}

// ManagementWriter changes objects of the management cluster. It implements engine.ChangeWriter: it writes nothing without a Permit,
// which only the gate makes.
type ManagementWriter struct{ checker *ManagementChecker }

// NewManagementWriter makes a ManagementWriter for the cluster of the checker. It uses what the checker knows of the login's
// rights.
func NewManagementWriter(checker *ManagementChecker) *ManagementWriter {
	return &ManagementWriter{checker}
}

var (
	_ engine.ManagementChecker = (*ManagementChecker)(nil)
	_ engine.ChangeWriter      = (*ManagementWriter)(nil)
)

// Write implements engine.ChangeWriter.
func (w *ManagementWriter) Write(ctx context.Context, p engine.Permit, change core.Change) error {
	if err := engine.TakePermit(p, change, core.ServerManagement); err != nil {
		return err
	}
	return managementSender{w.checker, true}.send(ctx, change)
}

// DryRun implements engine.ManagementChecker.
func (c *ManagementChecker) DryRun(ctx context.Context, change core.Change) error {
	return managementSender{c, false}.send(ctx, change)
}

// managementSender sends the request of a change.
type managementSender struct {
	*ManagementChecker
	writes bool // false: the server only tries it
}

// send makes one change, or has the server try it.
func (s managementSender) send(ctx context.Context, change core.Change) error {
	switch c := change.(type) {
	case core.SetMaintenance:
		return s.setMaintenance(ctx, c)
	case core.RequestReboot:
		return s.requestReboot(ctx, c)
	case core.SetAutoPause:
		return s.setAutoPause(ctx, c)
	case core.SetRelease:
		return s.setRelease(ctx, c)
	case core.SetCommence:
		return s.setCommence(ctx, c)
	case core.SetGroup:
		return s.setGroup(ctx, c)
	case core.SetMachineGroup:
		return s.setMachineGroup(ctx, c)
	case core.SetUpgradeIndex:
		return s.setUpgradeIndex(ctx, c)
	}
	return engine.NoSuchChange(change, core.ServerManagement)
}

// call says what is done, and whether it is only a dry-run.
func (s managementSender) call(doing string) string {
	if s.writes {
		return doing
	}
	return doing + " (dry run)"
}

// ManagementWritePermissions are what writing on the management cluster needs beyond watching, in a namespace: maintenance
// mode of the Cluster and of its Machines, graceful reboots, and driving the update.
func ManagementWritePermissions(namespace string) []Permission {
	return slices.Concat(maintenancePermissions(gvrClusters, namespace), maintenancePermissions(gvrMachines, namespace),
		rebootPermissions(namespace), updatePermissions(core.KindUpdatePlan, namespace, "get", "patch"),
		updatePermissions(core.KindAutoPause, namespace, "get", "create", "patch", "delete"),
		updatePermissions(core.KindUpdateGroup, namespace, "get", "create", "patch", "delete"))
}

func maintenancePermissions(gvr schema.GroupVersionResource, namespace string) []Permission {
	return []Permission{{"get", gvr.Group, gvr.Resource, namespace, ""}, {"patch", gvr.Group, gvr.Resource, namespace, ""}}
}

func rebootPermissions(namespace string) []Permission {
	return []Permission{{"get", gvrReboots.Group, gvrReboots.Resource, namespace, ""},
		{"create", gvrReboots.Group, gvrReboots.Resource, namespace, ""}}
}

// maintained are the resources that have a maintenance mode, by their kind.
var maintained = map[core.Kind]schema.GroupVersionResource{core.KindCluster: gvrClusters, core.KindMachine: gvrMachines}

// may is nil when the login has the rights for something, as far as the server says.
func (c *ManagementChecker) may(ctx context.Context, doing string, needs ...Permission) error {
	if err := c.access.Review(ctx, needs...); err != nil {
		return err
	}
	if e := c.access.Forbidden(doing, needs...); e != nil {
		e.Server = core.ServerManagement
		e.Remedy = "Ask an administrator to apply deploy/rbac-management-operator.yaml on the management cluster."
		return e
	}
	return nil
}

// describeManagement says why a call to the management cluster failed.
func describeManagement(err error, call string) *core.APIError {
	e := Describe(err, call)
	if e == nil {
		return nil
	}
	own := *e
	own.Server = core.ServerManagement
	return &own
}

const maintenancePath = "/spec/providerSpec/value/maintenance"

// setMaintenance sets maintenance mode of an object. Over a value, the patch tests the object's UID and that value. Where the flag
// is missing, the patch tests the resourceVersion of the object as it was read.
func (s managementSender) setMaintenance(ctx context.Context, c core.SetMaintenance) error {
	ref, old, on := c.Object, c.Old, c.On
	gvr, ok := maintained[ref.Kind]
	call := s.call(describeCall("patch", ref))
	if !ok {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: call, Message: "it has no maintenance mode"}
	}
	if err := s.may(ctx, "set maintenance mode", maintenancePermissions(gvr, ref.Namespace)...); err != nil {
		return err
	}
	const attempts = 4
	for attempt := 1; ; attempt++ {
		patch := []operation{{"test", "/metadata/uid", ref.UID}}
		if old != nil {
			patch = append(patch, operation{"test", maintenancePath, *old})
		} else {
			seen, err := s.get(ctx, gvr, ref)
			if err != nil {
				return err
			}
			if is := seen.at("spec", "providerSpec", "value").flag("maintenance"); is != nil {
				return maintenanceChanged(call, nil, is)
			}
			if seen.at("spec", "providerSpec", "value") == nil {
				return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: call,
					Message: "the object has no spec.providerSpec.value"}
			}
			patch = append(patch, operation{"test", "/metadata/resourceVersion", seen.at("metadata").text("resourceVersion")})
		}
		err := s.patch(ctx, gvr, ref, append(patch, operation{"add", maintenancePath, on}), call)
		switch {
		case err == nil:
			return nil
		case err.Kind != core.ErrConflict:
			return err
		case old == nil && attempt < attempts:
			continue // its status was written meanwhile
		}
		return s.explainMaintenance(ctx, gvr, ref, old, call, err)
	}
}

// explainMaintenance turns a conflict without a reason from the server into one that says what is different.
func (c *ManagementChecker) explainMaintenance(ctx context.Context, gvr schema.GroupVersionResource, ref core.Ref, old *bool, call string,
	cause *core.APIError) error {
	seen, err := c.get(ctx, gvr, ref)
	if err != nil {
		return err
	}
	is := seen.at("spec", "providerSpec", "value").flag("maintenance")
	if (is == nil) == (old == nil) && (is == nil || *is == *old) {
		return cause
	}
	return maintenanceChanged(call, old, is)
}

func maintenanceChanged(call string, expected, is *bool) *core.APIError {
	word := func(b *bool) string {
		if b == nil {
			return "not set"
		}
		return fmt.Sprint(*b)
	}
	return &core.APIError{Kind: core.ErrConflict, Server: core.ServerManagement, Call: call, Status: http.StatusConflict,
		Message: fmt.Sprintf("maintenance was expected %s and is %s", word(expected), word(is)),
		Remedy:  "Someone else has changed it. Look at it as it is now, then decide again."}
}

func (s managementSender) patch(ctx context.Context, gvr schema.GroupVersionResource, ref core.Ref, patch []operation,
	call string) *core.APIError {
	body, err := json.Marshal(patch)
	if err != nil {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: call, Message: err.Error(), Err: err}
	}
	options := metav1.PatchOptions{FieldManager: fieldManager, DryRun: dryRunOption(!s.writes)}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = s.client.resource(gvr, ref.Namespace).Patch(ctx, ref.Name, types.JSONPatchType, body, options)
	e := describeManagement(err, call)
	if e != nil && unapplied(err) {
		e.Kind = core.ErrConflict
	}
	return e
}

// get reads exactly the object that has ref's name and UID, from the server itself.
func (c *ManagementChecker) get(ctx context.Context, gvr schema.GroupVersionResource, ref core.Ref) (fields, error) {
	call := fmt.Sprintf("get %s %s", strings.ToLower(string(ref.Kind)), ref.Name)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	u, err := c.client.resource(gvr, ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, ofOne(describeManagement(err, call))
	}
	if uid := string(u.GetUID()); uid != ref.UID {
		return nil, &core.APIError{Kind: core.ErrConflict, Server: core.ServerManagement, Call: call, Status: http.StatusConflict,
			Message: fmt.Sprintf("the object of this name has the UID %s, not %s: it was deleted and made again", uid, ref.UID),
			Remedy:  "This is another object under the old name. Look at it, then decide again."}
	}
	return fields(u.Object), nil
}

// Maintenance implements engine.ManagementChecker.
func (c *ManagementChecker) Maintenance(ctx context.Context, ref core.Ref) (wanted *bool, is bool, err error) {
	o, err := c.get(ctx, maintained[ref.Kind], ref)
	if err != nil {
		return nil, false, err
	}
	return o.at("spec", "providerSpec", "value").flag("maintenance"), o.at("status", "providerStatus").truth("maintenance"), nil
}

// MachinesInMaintenance implements engine.ManagementChecker.
func (c *ManagementChecker) MachinesInMaintenance(ctx context.Context, cluster core.Ref) ([]string, error) {
	list, err := c.client.listAll(ctx, resource{source: core.SourceMachines, gvr: gvrMachines, namespace: cluster.Namespace})
	if err != nil {
		return nil, describeManagement(err, "list machines")
	}
	var names []string
	for _, u := range list {
		o := fields(u.Object)
		wanted := o.at("spec", "providerSpec", "value").truth("maintenance")
		if u.GetLabels()[labelClusterName] == cluster.Name && (wanted || o.at("status", "providerStatus").truth("maintenance")) {
			names = append(names, u.GetName())
		}
	}
	slices.Sort(names)
	return names, nil
}

// requestReboot makes the GracefulRebootRequest of a cluster. It refuses an empty list, which would mean all machines.
func (s managementSender) requestReboot(ctx context.Context, c core.RequestReboot) error {
	cluster, machines := c.Cluster, c.Machines
	call := s.call("create gracefulrebootrequest " + cluster.Name)
	if len(machines) == 0 {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerManagement, Call: call,
			Message: "no machine is named, which would mean all"}
	}
	if err := s.may(ctx, "ask for a graceful reboot", rebootPermissions(cluster.Namespace)...); err != nil {
		return err
	}
	names := make([]any, len(machines))
	for i, name := range machines {
		names[i] = name
	}
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvrReboots.GroupVersion().String(), "kind": string(core.KindRebootRequest),
		"metadata": map[string]any{"name": cluster.Name, "namespace": cluster.Namespace}, "spec": map[string]any{"machines": names},
	}}
	options := metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRunOption(!s.writes)}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := s.client.resource(gvrReboots, cluster.Namespace).Create(ctx, request, options); err != nil {
		return describeManagement(err, call)
	}
	return nil
}

// RebootRequest implements engine.ManagementChecker.
func (c *ManagementChecker) RebootRequest(ctx context.Context, cluster core.Ref) (*core.RebootRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	u, err := c.client.resource(gvrReboots, cluster.Namespace).Get(ctx, cluster.Name, metav1.GetOptions{})
	if err != nil {
		return nil, ofOne(describeManagement(err, "get gracefulrebootrequest "+cluster.Name))
	}
	request, _ := rebootRequestFrom(u).(*core.RebootRequest)
	return request, nil
}
