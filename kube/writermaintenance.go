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
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
)

// maintenanceKinds are the kinds that a Writer makes, changes and deletes besides nodes.
var maintenanceKinds = map[core.Kind]schema.GroupVersionResource{
	core.KindClusterWorkloadLock:       lcm("clusterworkloadlocks"),
	core.KindNodeWorkloadLock:          lcm("nodeworkloadlocks"),
	core.KindClusterMaintenanceRequest: lcm("clustermaintenancerequests"),
	core.KindNodeMaintenanceRequest:    lcm("nodemaintenancerequests"),
}

// swappedKind is the resource of an object that is read and patched: those, and nodes, which nobody here makes or deletes.
func swappedKind(kind core.Kind) schema.GroupVersionResource {
	if kind == core.KindNode {
		return gvrNodes
	}
	return maintenanceKinds[kind]
}

// patchAttempts is how often a patch that tests the resourceVersion is tried: others write to the object as well, and mostly to
// other fields.
const patchAttempts = 4

// Lock implements engine.KubernetesChecker.
func (c *Checker) Lock(ctx context.Context, ref core.Ref) (*core.WorkloadLock, error) {
	u, err := c.object(ctx, ref)
	if err != nil {
		return nil, err
	}
	return lockFrom(ref.Kind)(u).(*core.WorkloadLock), nil
}

// NodeLocks implements engine.KubernetesChecker.
func (c *Checker) NodeLocks(ctx context.Context) ([]*core.WorkloadLock, error) {
	list, err := c.all(ctx, core.KindNodeWorkloadLock)
	if err != nil {
		return nil, err
	}
	locks := make([]*core.WorkloadLock, len(list.Items))
	for i := range list.Items {
		locks[i] = lockFrom(core.KindNodeWorkloadLock)(&list.Items[i]).(*core.WorkloadLock)
	}
	return locks, nil
}

// all reads all objects of a kind of the maintenance API. The list comes from the server itself, not from its cache.
func (c *Checker) all(ctx context.Context, kind core.Kind) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resource := maintenanceKinds[kind]
	list, err := c.client.resource(resource, "").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, Describe(err, "list "+resource.Resource)
	}
	return list, nil
}

// Request implements engine.KubernetesChecker.
func (c *Checker) Request(ctx context.Context, ref core.Ref) (*core.MaintenanceRequest, error) {
	u, err := c.object(ctx, ref)
	if err != nil {
		return nil, err
	}
	return requestFrom(ref.Kind)(u).(*core.MaintenanceRequest), nil
}

// Requests implements engine.KubernetesChecker.
func (c *Checker) Requests(ctx context.Context) ([]*core.MaintenanceRequest, error) {
	var requests []*core.MaintenanceRequest
	for _, kind := range []core.Kind{core.KindClusterMaintenanceRequest, core.KindNodeMaintenanceRequest} {
		list, err := c.all(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			requests = append(requests, requestFrom(kind)(&list.Items[i]).(*core.MaintenanceRequest))
		}
	}
	return requests, nil
}

// setLock sets what a lock says.
func (s sender) setLock(ctx context.Context, c core.SetLock) error {
	ref, was, to := c.Lock, c.Was, c.To
	return s.swap(ctx, ref, "status", func(u *unstructured.Unstructured) ([]operation, error) {
		is := lockFrom(ref.Kind)(u).(*core.WorkloadLock)
		if is.RawState != was {
			return nil, otherwise(ref, fmt.Sprintf("says the state %q; expected was %q", cut(string(is.RawState)), cut(string(was))))
		}
		var patch []operation
		if fields(u.Object).at("status") == nil {
			patch = append(patch, operation{"add", "/status", map[string]string{}})
		}
		patch = append(patch, setText("/status/state", string(was), string(to.State))...)
		patch = append(patch, setText("/status/errorMessage", is.Message, to.Message)...)
		if to.Release != "" {
			patch = append(patch, setText("/status/release", is.Release, to.Release)...)
		}
		return patch, nil
	})
}

// setInnerState sets the annotation in which Rockoon notes that it works on a lock.
func (s sender) setInnerState(ctx context.Context, c core.SetInnerState) error {
	ref, was, to := c.Lock, c.Was, c.To
	return s.swap(ctx, ref, "", func(u *unstructured.Unstructured) ([]operation, error) {
		if is := fields(u.Object).at("metadata", "annotations").text(annotationInnerState); is != was {
			return nil, otherwise(ref, fmt.Sprintf("has the inner_state %q; expected was %q", cut(is), cut(was)))
		}
		var patch []operation
		if fields(u.Object).at("metadata", "annotations") == nil {
			patch = append(patch, operation{"add", "/metadata/annotations", map[string]string{}})
		}
		return append(patch, setText(annotationPath(annotationInnerState), was, to)...), nil
	})
}

// setText sets a text to a value; empty means that it is not there.
func setText(path, was, to string) []operation {
	switch {
	case was == to:
		return nil
	case to == "":
		return []operation{{Op: "remove", Path: path}}
	}
	return []operation{{"add", path, to}} // an add replaces what is there (RFC 6902)
}

// addFinalizer puts a finalizer on a request.
func (s sender) addFinalizer(ctx context.Context, c core.AddFinalizer) error {
	ref, finalizer := c.Object, c.Finalizer
	return s.swap(ctx, ref, "", func(u *unstructured.Unstructured) ([]operation, error) {
		switch has := u.GetFinalizers(); {
		case u.GetDeletionTimestamp() != nil:
			return nil, otherwise(ref, "is being removed")
		case slices.Contains(has, finalizer):
			return nil, otherwise(ref, "has the finalizer "+cut(finalizer)+" already")
		case len(has) == 0:
			return []operation{{"add", "/metadata/finalizers", []string{finalizer}}}, nil
		}
		return []operation{{"add", "/metadata/finalizers/-", finalizer}}, nil
	})
}

// removeFinalizer takes a finalizer off a request, a lock, or a node that was deleted.
func (s sender) removeFinalizer(ctx context.Context, c core.RemoveFinalizer) error {
	ref, finalizer := c.Object, c.Finalizer
	return s.swap(ctx, ref, "", func(u *unstructured.Unstructured) ([]operation, error) {
		if ref.Kind == core.KindNode && u.GetDeletionTimestamp() == nil {
			return nil, otherwise(ref, "is not being removed")
		}
		i := slices.Index(u.GetFinalizers(), finalizer)
		if i < 0 {
			return nil, otherwise(ref, "has no finalizer "+cut(finalizer)+" any more")
		}
		path := fmt.Sprintf("/metadata/finalizers/%d", i)
		return []operation{{"test", path, finalizer}, {Op: "remove", Path: path}}, nil
	})
}

// createLock makes a lock. It sets no state: without one a lock counts as active (docs/mosk.md#locks). The release is in the
// status, a subresource, so it needs a second call.
func (s sender) createLock(ctx context.Context, l core.NewLock) error {
	spec := map[string]any{"controllerName": l.Controller}
	if l.Node != "" {
		spec["nodeName"], spec["nodeDeletionRequestSupported"] = l.Node, true
	}
	made, err := s.create(ctx, l.Ref(), spec)
	if err != nil || !s.writes || l.Release == "" {
		return err
	}
	ref := l.Ref()
	ref.UID = string(made.GetUID())
	if err := s.setLock(ctx, core.SetLock{Lock: ref, To: core.LockStatus{State: core.LockActive, Release: l.Release}}); err != nil {
		half := *Describe(err, "") // the lock is there: that its status was refused is not a refusal of the lock
		half.Kind, half.Status, half.Message = core.ErrOther, 0, "only the lock was made; its release could not be written: "+half.Message
		return &half
	}
	return nil
}

// DeletionRequest implements engine.KubernetesChecker. It lists by name, which is the right that a Watcher needs anyway.
func (c *Checker) DeletionRequest(ctx context.Context, name, uid string) (*core.NodeNotice, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.resource(lcm("nodedeletionrequests"), "").List(ctx,
		metav1.ListOptions{FieldSelector: selectors.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		return nil, Describe(err, "list nodedeletionrequest "+name)
	}
	for i := range list.Items {
		if d, ok := noticeFrom(core.KindNodeDeletionRequest)(&list.Items[i]).(*core.NodeNotice); ok && d.Name == name && d.UID == uid {
			return d, nil
		}
	}
	return nil, nil
}

// ControllerDeployment implements engine.KubernetesChecker. It lists by name, as a Watcher does.
func (c *Checker) ControllerDeployment(ctx context.Context) (*core.Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.resource(gvrDeployments, namespaceRockoon).List(ctx,
		metav1.ListOptions{FieldSelector: selectors.OneTermEqualSelector("metadata.name", deploymentRockoon).String()})
	if err != nil {
		return nil, Describe(err, "list deployment "+deploymentRockoon+" in namespace "+namespaceRockoon)
	}
	for i := range list.Items {
		if d, ok := deploymentFrom(&list.Items[i]).(*core.Deployment); ok && d.Name == deploymentRockoon {
			return d, nil
		}
	}
	return nil, nil
}

// createRequest makes a maintenance request.
func (s sender) createRequest(ctx context.Context, r core.NewRequest) error {
	spec := map[string]any{}
	for key, value := range map[string]string{"nodeName": r.Node, "release": r.Release, "scope": string(r.Scope)} {
		if value != "" {
			spec[key] = value
		}
	}
	_, err := s.create(ctx, r.Ref(), spec)
	return err
}

func (s sender) create(ctx context.Context, ref core.Ref, spec map[string]any) (*unstructured.Unstructured, error) {
	gvr, call := maintenanceKinds[ref.Kind], s.call(describeCall("create", ref))
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvr.GroupVersion().String(),
		"kind":       string(ref.Kind),
		"metadata":   map[string]any{"name": ref.Name, "labels": map[string]any{labelManagedBy: core.MadeByLockstep}},
		"spec":       spec,
	}}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	made, err := s.client.resource(gvr, "").Create(ctx, u, metav1.CreateOptions{FieldManager: fieldManager, DryRun: s.dryRun()})
	if err != nil {
		return nil, Describe(err, call)
	}
	return made, nil
}

// deleteObject deletes a lock or a request. Its finalizers can keep it for a while.
func (s sender) deleteObject(ctx context.Context, ref core.Ref) error {
	uid := types.UID(ref.UID)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := s.client.resource(maintenanceKinds[ref.Kind], "").Delete(ctx, ref.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, DryRun: s.dryRun()})
	if err != nil {
		return Describe(err, s.call(describeCall("delete", ref)))
	}
	return nil
}

// NotReadyPods implements engine.KubernetesChecker. The list comes from the server itself, not from its cache.
func (c *Checker) NotReadyPods(ctx context.Context, namespace, node string) ([]string, error) {
	call, selector := "list pods in namespace "+namespace, ""
	if node != "" {
		call, selector = call+" of node "+node, onNode(node)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pods, err := c.client.pods(ctx, namespace, selector)
	if err != nil {
		return nil, Describe(err, call)
	}
	var names []string
	for _, p := range pods {
		over := node == "" && p.Over() // on a node Rockoon waits for these as well
		if !over && !p.job && !p.ready {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// swap is a compare-and-swap: it reads the object, lets patch compare it and say what to change, and sends that with tests of the
// UID and the resourceVersion that were read. When others write in between, it compares again.
func (s sender) swap(ctx context.Context, ref core.Ref, subresource string,
	patch func(*unstructured.Unstructured) ([]operation, error)) error {
	for attempt := 1; ; attempt++ {
		u, err := s.object(ctx, ref)
		if err != nil {
			return err
		}
		changes, err := patch(u)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			return nil
		}
		tests := []operation{{"test", "/metadata/uid", ref.UID}, {"test", "/metadata/resourceVersion", u.GetResourceVersion()}}
		err = s.patchObject(ctx, ref, subresource, append(tests, changes...))
		if err == nil || Describe(err, "").Kind != core.ErrConflict || attempt == patchAttempts {
			return err
		}
	}
}

func (s sender) patchObject(ctx context.Context, ref core.Ref, subresource string, patch []operation) error {
	call := s.call(describeCall("patch", ref))
	body, err := json.Marshal(patch)
	if err != nil {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerKubernetes, Call: call, Message: err.Error(), Err: err}
	}
	var subresources []string
	if subresource != "" {
		subresources = []string{subresource}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = s.client.resource(swappedKind(ref.Kind), "").Patch(ctx, ref.Name, types.JSONPatchType, body,
		metav1.PatchOptions{FieldManager: fieldManager, DryRun: s.dryRun()}, subresources...)
	if err == nil {
		return nil
	}
	e := Describe(err, call)
	if unapplied(err) {
		e.Kind = core.ErrConflict
	}
	return e
}

// object reads exactly the object that has ref's kind, name and, where it has one, UID, from the server itself.
func (c *Checker) object(ctx context.Context, ref core.Ref) (*unstructured.Unstructured, error) {
	call := describeCall("get", ref)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	u, err := c.client.resource(swappedKind(ref.Kind), "").Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, ofOne(Describe(err, call))
	}
	if uid := string(u.GetUID()); ref.UID != "" && uid != ref.UID {
		return nil, &core.APIError{
			Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: call, Status: http.StatusConflict,
			Message: fmt.Sprintf("the %s of this name has the UID %s, not %s: it was deleted and made again", ref.Kind, uid, ref.UID),
			Remedy:  "This is another object under the old name. Look at it, then decide again.",
		}
	}
	return u, nil
}

// otherwise is the conflict of an object that is not as expected.
func otherwise(ref core.Ref, is string) *core.APIError {
	return &core.APIError{
		Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: describeCall("patch", ref), Status: http.StatusConflict,
		Message: "it " + is,
		Remedy:  "Someone else has changed it. Look at it as it is now, then decide again.",
	}
}

func describeCall(verb string, ref core.Ref) string {
	return verb + " " + strings.ToLower(string(ref.Kind)) + " " + ref.Name
}

func dryRunOption(dryRun bool) []string {
	if dryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// MaintenancePermissions are what changing locks and requests by hand, and cleaning up after a node is gone, needs beyond
// WatchPermissions.
func MaintenancePermissions() []Permission {
	var needs []Permission
	for _, plural := range []string{"clusterworkloadlocks", "nodeworkloadlocks"} {
		gvr := lcm(plural)
		for _, verb := range []string{"get", "create", "patch", "delete"} {
			needs = append(needs, Permission{Verb: verb, Group: gvr.Group, Resource: gvr.Resource})
		}
		needs = append(needs, Permission{Verb: "patch", Group: gvr.Group, Resource: gvr.Resource + "/status"})
	}
	for _, plural := range []string{"clustermaintenancerequests", "nodemaintenancerequests"} {
		gvr := lcm(plural)
		for _, verb := range []string{"get", "create", "patch", "delete"} {
			needs = append(needs, Permission{Verb: verb, Group: gvr.Group, Resource: gvr.Resource})
		}
	}
	return append(needs, claimPermissions()...)
}
