package kube

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

// statefulSetFrom translates a StatefulSet.
func statefulSetFrom(u *unstructured.Unstructured) core.Object {
	spec := fields(u.Object).at("spec")
	// the API's default
	s := &core.StatefulSet{Meta: metaFrom(u), Replicas: 1, Selector: selectorText(spec.at("selector"))}
	if n, ok := spec.number("replicas"); ok {
		s.Replicas = n
	}
	return s
}

// StatefulSet implements engine.KubernetesChecker. It lists by name, which is the right that a Watcher needs anyway.
func (c *Checker) StatefulSet(ctx context.Context, namespace, name string) (*core.StatefulSet, []*core.DaemonPod, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	found, err := c.client.resource(gvrStatefulSets, namespace).List(ctx,
		metav1.ListOptions{FieldSelector: selectors.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		return nil, nil, Describe(err, "list StatefulSet "+name+" in namespace "+namespace)
	}
	if len(found.Items) == 0 {
		return nil, nil, nil
	}
	set := statefulSetFrom(&found.Items[0]).(*core.StatefulSet)
	call := "list the pods of StatefulSet " + name + " in namespace " + namespace
	if set.Selector == "" {
		return nil, nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerKubernetes, Call: call,
			Message: "its label selector cannot be read"}
	}
	list, err := c.client.resource(gvrPods, namespace).List(ctx, metav1.ListOptions{LabelSelector: set.Selector})
	if err != nil {
		return nil, nil, Describe(err, call)
	}
	var pods []*core.DaemonPod
	for i := range list.Items {
		// A selector can match other pods too: only the StatefulSet's own count.
		if p, ok := daemonPodFrom(&list.Items[i]).(*core.DaemonPod); ok && p.Owner == set.UID {
			pods = append(pods, p)
		}
	}
	slices.SortFunc(pods, func(a, b *core.DaemonPod) int { return strings.Compare(a.Name, b.Name) })
	return set, pods, nil
}
