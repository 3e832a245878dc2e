package sim

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/kubeapi"
)

// pendingReports is how many reports wait at most; further ones are dropped, as real components do.
const pendingReports = 1000

// report has the components of the cluster report, as Events, what happens to nodes and pods, until ctx is done. It is
// for a cloud that people look at: their times depend on the machine, so a replay would not be the same.
func (c *Cloud) report(ctx context.Context) {
	waiting := make(chan kubeapi.Report, pendingReports)
	stop := c.Kube.Follow(func(change kubeapi.Change) {
		for _, r := range reportsOf(change) {
			select {
			case waiting <- r:
			default:
			}
		}
	}, "nodes", "pods")
	c.governor.Go(func() {
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return
			case r := <-waiting:
				_ = c.Kube.Report(r) // its namespace is gone
			}
		}
	})
}

// reportsOf are what components say of a change.
func reportsOf(change kubeapi.Change) []kubeapi.Report {
	if change.Kind == watch.Deleted {
		return nil
	}
	o := change.Now
	var out []kubeapi.Report
	say := func(from string, warning bool, reason, format string, args ...any) {
		out = append(out, kubeapi.Report{APIVersion: "v1", Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(),
			UID: string(o.GetUID()), Reason: reason, Message: fmt.Sprintf(format, args...), From: from, Warning: warning})
	}
	before := change.Before
	if before == nil {
		before = &unstructured.Unstructured{Object: map[string]any{}}
	}
	ready := func(u *unstructured.Unstructured) string {
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, one := range conditions {
			if c, _ := one.(map[string]any); c["type"] == "Ready" {
				return fmt.Sprint(c["status"])
			}
		}
		return ""
	}
	was, is := ready(before), ready(o)
	switch {
	case change.Resource == "nodes" && change.Before != nil:
		if a, b := truth(before, "spec", "unschedulable"), truth(o, "spec", "unschedulable"); a != b {
			reason := map[bool]string{true: "NodeNotSchedulable", false: "NodeSchedulable"}[b]
			say("kubelet", false, reason, "Node %s status is now: %s", o.GetName(), reason)
		}
		if was != is && is == "True" {
			say("kubelet", false, "NodeReady", "Node %s status is now: NodeReady", o.GetName())
		} else if was == "True" && was != is {
			say("node-controller", true, "NodeNotReady", "Node %s status is now: NodeNotReady", o.GetName())
		}
		boot := func(u *unstructured.Unstructured) string {
			id, _, _ := unstructured.NestedString(u.Object, "status", "nodeInfo", "bootID")
			return id
		}
		if a, b := boot(before), boot(o); a != "" && a != b {
			say("kubelet", true, "Rebooted", "Node %s has been rebooted, boot id: %s", o.GetName(), b)
		}
	case change.Resource == "pods":
		container, node := "", ""
		if list, _, _ := unstructured.NestedSlice(o.Object, "spec", "containers"); len(list) > 0 {
			first, _ := list[0].(map[string]any)
			container = fmt.Sprint(first["name"])
		}
		node, _, _ = unstructured.NestedString(o.Object, "spec", "nodeName")
		switch {
		case change.Before == nil && node != "":
			say("default-scheduler", false, "Scheduled", "Successfully assigned %s/%s to %s", o.GetNamespace(), o.GetName(), node)
		case before.GetDeletionTimestamp() == nil && o.GetDeletionTimestamp() != nil:
			say("kubelet", false, "Killing", "Stopping container %s", container)
		case was != is && is == "True":
			say("kubelet", false, "Started", "Started container %s", container)
		case was == "True" && was != is:
			say("kubelet", true, "Unhealthy", "Readiness probe failed: container %s is not ready", container)
		}
	}
	return out
}

func truth(u *unstructured.Unstructured, path ...string) bool {
	yes, _, _ := unstructured.NestedBool(u.Object, path...)
	return yes
}
