package kube

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

// onNode is the field selector of a node's pods.
func onNode(node string) string {
	return selectors.OneTermEqualSelector("spec.nodeName", node).String()
}

// pods lists the pods in a namespace (empty: all namespaces) that a field selector names, as the server has them now.
func (c *Client) pods(ctx context.Context, namespace, selector string) ([]*pod, error) {
	list, err := c.resource(gvrPods, namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return nil, err
	}
	pods := make([]*pod, len(list.Items))
	for i := range list.Items {
		pods[i] = podOf(&list.Items[i])
	}
	return pods, nil
}

// pod is what matters of a pod on a node in maintenance.
type pod struct {
	core.EndedPod // how it ended, if it did

	daemon bool // a DaemonSet's
	static bool // the mirror of a static pod, which nothing evicts
	job    bool // a Job's, by Rockoon's rule
	ready  bool
}

// Key implements core.Object.
func (p *pod) Key() string {
	if p.Namespace == "" {
		return p.Name
	}
	return p.FullName()
}

func podFrom(u *unstructured.Unstructured) core.Object { return podOf(u) }

func podOf(u *unstructured.Unstructured) *pod {
	o := fields(u.Object)
	m, status := o.at("metadata"), o.at("status")
	p := &pod{EndedPod: core.EndedPod{
		Namespace: m.text("namespace"), Name: m.text("name"), UID: m.text("uid"), Deleting: m.time("deletionTimestamp"),
		Phase: status.text("phase"), Reason: status.text("reason"),
	}}
	for _, owner := range m.objects("ownerReferences") {
		kind := owner.text("kind")
		if p.Owner == "" && owner.truth("controller") {
			p.Owner = kind
		}
		p.job = p.job || kind == "Job"
	}
	p.daemon = p.Owner == "DaemonSet"
	_, p.static = m.at("annotations")["kubernetes.io/config.mirror"]
	// A pod is a Job's (docs/mosk.md#pods-on-return) when a Job is one of its owners, or when it has a label that Jobs set, whatever owns
	// it and whatever its value is.
	for _, label := range []string{"job-name", "batch.kubernetes.io/job-name"} {
		if _, labelled := m.at("labels")[label]; labelled {
			p.job = true
		}
	}
	for _, c := range status.objects("conditions") {
		if c.text("type") == "Ready" {
			p.ready = c.text("status") == "True"
			break
		}
	}
	// It ended with its last container; of a pod that never ran only the start is known.
	for _, c := range status.objects("containerStatuses") {
		ended := c.at("state", "terminated")
		if at := ended.time("finishedAt"); at.After(p.Since.At) {
			p.Since = core.Since{At: at, Exact: true}
		}
		p.Reason = cmp.Or(p.Reason, ended.text("reason"))
	}
	for _, begun := range []time.Time{status.time("startTime"), m.time("creationTimestamp")} {
		if p.Since.At.IsZero() {
			p.Since.At = begun
		}
	}
	return p
}

// podsOn counts a node's pods. A pod in deletion is still there, so it still counts as one to be moved.
func podsOn(of core.PodsOf, pods map[string]*pod) *core.NodePods {
	n := &core.NodePods{Node: of.Node, NodeReadySince: of.NodeReadySince, Total: len(pods)}
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		p := pods[key]
		if !p.Over() && !p.daemon && !p.static {
			n.Evictable++
		}
		// Rockoon silently waits for these when the node comes back (docs/mosk.md#pods-on-return), also for pods that have ended,
		// such as evicted ones, which are never ready again.
		if p.Namespace == namespaceOpenStack && !p.job && !p.ready {
			n.NotReady = append(n.NotReady, p.PodName())
			if p.Over() {
				n.Ended = append(n.Ended, p.EndedPod)
			}
		}
	}
	slices.SortFunc(n.Ended, func(a, b core.EndedPod) int { return strings.Compare(a.Name, b.Name) })
	return n
}
