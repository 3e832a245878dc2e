package kube

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
)

// WorkloadPermissions are what steps on workloads need beyond WritePermissions: to restart pods of DaemonSets, to delete pods that
// have ended, and to see and change which services OpenStack has. Arming does not ask for them: without them only these steps are
// refused.
func WorkloadPermissions() []Permission {
	deployments := lcm("openstackdeployments")
	return []Permission{
		{Verb: "delete", Resource: gvrPods.Resource, Namespace: namespaceOpenStack},
		{Verb: "delete", Resource: gvrPods.Resource, Namespace: namespaceFabric},
		{Verb: "get", Group: deployments.Group, Resource: deployments.Resource, Namespace: namespaceOpenStack},
		{Verb: "list", Group: deployments.Group, Resource: deployments.Resource, Namespace: namespaceOpenStack},
		{Verb: "watch", Group: deployments.Group, Resource: deployments.Resource, Namespace: namespaceOpenStack},
		{Verb: "patch", Group: deployments.Group, Resource: deployments.Resource, Namespace: namespaceOpenStack},
	}
}

// DaemonPods implements engine.KubernetesChecker.
func (c *Checker) DaemonPods(ctx context.Context, set core.Ref, selector string) ([]*core.DaemonPod, error) {
	call := "list the pods of DaemonSet " + set.Name + " in namespace " + set.Namespace
	if selector == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerKubernetes, Call: call, Message: "its label selector is not known"}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.resource(gvrPods, set.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, Describe(err, call)
	}
	var pods []*core.DaemonPod
	for i := range list.Items {
		// A selector can match other pods too: only the DaemonSet's own count.
		if p, ok := daemonPodFrom(&list.Items[i]).(*core.DaemonPod); ok && p.Owner == set.UID {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// Pod implements engine.KubernetesChecker. It lists by name, which is the right that a Watcher needs anyway.
func (c *Checker) Pod(ctx context.Context, namespace, name string) (*core.EndedPod, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pods, err := c.client.pods(ctx, namespace, selectors.OneTermEqualSelector("metadata.name", name).String())
	if err != nil {
		return nil, Describe(err, "list pod "+name+" in namespace "+namespace)
	}
	for _, p := range pods {
		if p.Name == name && p.Namespace == namespace {
			return &p.EndedPod, nil
		}
	}
	return nil, nil
}

// deletePod deletes a pod. The UID is a precondition of the deletion: a new pod of the same name is left alone.
func (s sender) deletePod(ctx context.Context, ref core.Ref) error {
	call := s.call("delete pod " + ref.Name + " in namespace " + ref.Namespace)
	uid := types.UID(ref.UID)
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, DryRun: s.dryRun()}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := s.client.resource(gvrPods, ref.Namespace).Delete(ctx, ref.Name, options); err != nil {
		return Describe(err, call)
	}
	return nil
}

// OpenStackServices implements engine.KubernetesChecker.
func (c *Checker) OpenStackServices(ctx context.Context, ref core.Ref) ([]string, error) {
	o, err := c.deployment(ctx, ref)
	if err != nil {
		return nil, err
	}
	return servicesOf(o), nil
}

// deployment reads exactly the OpenStackDeployment that has ref's name and UID, from the server itself.
func (c *Checker) deployment(ctx context.Context, ref core.Ref) (fields, error) {
	call := "get OpenStackDeployment " + ref.Name
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	u, err := c.client.resource(lcm("openstackdeployments"), ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, ofOne(Describe(err, call))
	}
	if uid := string(u.GetUID()); uid != ref.UID {
		return nil, &core.APIError{
			Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: call, Status: http.StatusConflict,
			Message: fmt.Sprintf("the object of this name has the UID %s, not %s: it was deleted and made again", uid, ref.UID),
			Remedy:  "This is another OpenStackDeployment under the old name. Look at it, then decide again.",
		}
	}
	return fields(u.Object), nil
}

// serviceTempest is the entry of spec.features.services that asks for Tempest (Rockoon's docs/ops/openstack/tempest.md).
const serviceTempest = "tempest"

// setTempest puts Tempest at the end of the list of services, or takes it out. It is a compare-and-swap, done by the API server:
// the JSON patch tests the UID and the whole list of services before it changes one entry of it. A patch cannot test a list that is
// not there: then it tests the resourceVersion of the object that was seen without one.
func (s sender) setTempest(ctx context.Context, c core.SetTempest) error {
	ref, service, add, services := c.Deployment, serviceTempest, c.Add, c.Services
	const path = "/spec/features/services"
	doing := "patch OpenStackDeployment " + ref.Name
	o, err := s.deployment(ctx, ref)
	if err != nil {
		return err
	}
	is := servicesOf(o)
	if !slices.Equal(is, services) {
		return &core.APIError{
			Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: s.call(doing), Status: http.StatusConflict,
			Message: fmt.Sprintf("spec.features.services was expected to be %q and is %q", strings.Join(services, " "), strings.Join(is, " ")),
			Remedy:  "Someone else has changed the OpenStackDeployment. Look at it as it is now, then decide again.",
		}
	}
	at := slices.Index(services, service)
	if (at >= 0) == add {
		return nil
	}
	patch := []operation{{"test", "/metadata/uid", ref.UID}}
	switch {
	case !add:
		patch = append(patch, operation{"test", path, services}, operation{Op: "remove", Path: fmt.Sprintf("%s/%d", path, at)})
	case len(o.at("spec", "features").list("services")) > 0:
		patch = append(patch, operation{"test", path, services}, operation{"add", path + "/-", service})
	default:
		patch = append(patch, operation{"test", "/metadata/resourceVersion", o.at("metadata").text("resourceVersion")})
		if o.at("spec", "features") == nil {
			patch = append(patch, operation{"add", "/spec/features", map[string]any{}})
		}
		patch = append(patch, operation{"add", path, []string{service}})
	}
	return s.jsonPatch(ctx, doing, lcm("openstackdeployments"), ref, patch)
}
