package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"lockstep/core"
)

const (
	// labelRevision is on every pod that a DaemonSet or StatefulSet made, and on its ControllerRevisions.
	labelRevision = "controller-revision-hash"
	// labelTemplate is on every pod that a DaemonSet made: the generation of the template.
	labelTemplate = "pod-template-generation"
	// annotationTemplate has the generation of a DaemonSet's template; metadata.generation counts every change.
	annotationTemplate = "deprecated.daemonset.template.generation"

	// jobTempest runs Tempest's tests (Rockoon's docs/ops/openstack/tempest.md).
	jobTempest = "openstack-tempest-run-tests"
)

// workloads are the resources that show what an update left over: the DaemonSets of OpenStack and of Tungsten Fabric with their
// revisions and pods, and Tempest; and what would lose its quorum with a node: the StatefulSets of OpenStack and Redis, with their
// pods (those of OpenStack are among its DaemonSets'). A namespace that a cluster lacks is an empty list.
var workloads = []resource{
	{source: core.SourceDaemonSets, gvr: gvrDaemonSets, namespace: namespaceOpenStack, anywhere: true, translate: daemonSetFrom},
	{source: core.SourceRevisions, gvr: gvrRevisions, namespace: namespaceOpenStack, anywhere: true, translate: revisionFrom},
	{source: core.SourceDaemonPods, gvr: gvrPods, namespace: namespaceOpenStack, labels: labelRevision, anywhere: true,
		translate: daemonPodFrom},
	{source: core.SourceFabricSets, gvr: gvrDaemonSets, namespace: namespaceFabric, anywhere: true, translate: daemonSetFrom},
	{source: core.SourceFabricRevisions, gvr: gvrRevisions, namespace: namespaceFabric, anywhere: true, translate: revisionFrom},
	{source: core.SourceFabricPods, gvr: gvrPods, namespace: namespaceFabric, labels: labelRevision, anywhere: true, translate: daemonPodFrom},
	{source: core.SourceStatefulSets, gvr: gvrStatefulSets, namespace: namespaceOpenStack, anywhere: true, translate: statefulSetFrom},
	{source: core.SourceRedisSets, gvr: gvrStatefulSets, namespace: namespaceRedis, anywhere: true, translate: statefulSetFrom},
	{source: core.SourceRedisPods, gvr: gvrPods, namespace: namespaceRedis, labels: labelRevision, anywhere: true, translate: daemonPodFrom},
	{source: core.SourceCeph, gvr: gvrCephClusters, namespace: core.NamespaceCeph, anywhere: true, translate: cephClusterFrom},
	{source: core.SourceTempestJob, gvr: gvrJobs, namespace: namespaceOpenStack, name: jobTempest, translate: jobFrom},
	{source: core.SourceOpenStackDeployment, gvr: lcm("openstackdeployments"), namespace: namespaceOpenStack, optional: true,
		translate: openStackDeploymentFrom},
}

// daemonSetFrom translates a DaemonSet.
func daemonSetFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	labels := o.at("spec", "template", "metadata", "labels")
	status := o.at("status")
	d := &core.DaemonSet{
		Meta:        metaFrom(u),
		OnDelete:    o.at("spec", "updateStrategy").text("type") == "OnDelete",
		Application: labels.text("application"),
		Component:   labels.text("component"),
		Selector:    selectorText(o.at("spec", "selector")),
	}
	d.Generation, _ = o.at("metadata").number("generation")
	d.Observed, _ = status.number("observedGeneration")
	d.Desired, _ = status.number("desiredNumberScheduled")
	d.Ready, _ = status.number("numberReady")
	d.Updated, _ = status.number("updatedNumberScheduled")
	var told bool
	if d.Template, told = o.at("metadata", "annotations").number(annotationTemplate); !told {
		d.Template = d.Generation
	}
	return d
}

// selectorText is a label selector as a query writes it; empty when it selects nothing or cannot be read.
func selectorText(o fields) string {
	var selector metav1.LabelSelector
	if len(o) == 0 || runtime.DefaultUnstructuredConverter.FromUnstructured(o, &selector) != nil {
		return ""
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return ""
	}
	return s.String()
}

// revisionFrom translates a ControllerRevision. Its data, a whole template, is not kept.
func revisionFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	r := &core.DaemonRevision{Meta: metaFrom(u), Hash: o.at("metadata", "labels").text(labelRevision)}
	r.Number, _ = o.number("revision")
	_, r.Owner, _ = controllerOf(o)
	return r
}

// daemonPodFrom translates a pod of a DaemonSet or a StatefulSet.
func daemonPodFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	labels := o.at("metadata", "labels")
	p := &core.DaemonPod{Meta: metaFrom(u), Node: o.at("spec").text("nodeName"), Hash: labels.text(labelRevision), Ready: podReady(o),
		Waits: podWaits(o), Claims: claimsOf(o)}
	p.Template, _ = labels.number(labelTemplate)
	_, p.Owner, p.Set = controllerOf(o)
	return p
}

// controllerOf is the kind, UID and name of the object's controller; empty when it has none.
func controllerOf(o fields) (kind, uid, name string) {
	for _, owner := range o.at("metadata").objects("ownerReferences") {
		if owner.truth("controller") {
			return owner.text("kind"), owner.text("uid"), owner.text("name")
		}
	}
	return "", "", ""
}

// podWaits is why a container of the pod does not run ("CrashLoopBackOff") or why it has no node ("Unschedulable"); empty when all
// containers run.
func podWaits(o fields) string {
	for _, c := range append(o.at("status").objects("initContainerStatuses"), o.at("status").objects("containerStatuses")...) {
		if reason := c.at("state", "waiting").text("reason"); reason != "" {
			return reason
		}
	}
	for _, c := range o.at("status").objects("conditions") {
		if c.text("type") == "PodScheduled" && c.text("status") == "False" && o.at("spec").text("nodeName") == "" {
			return c.text("reason")
		}
	}
	return ""
}

// jobFrom translates a Job.
func jobFrom(u *unstructured.Unstructured) core.Object {
	status := fields(u.Object).at("status")
	j := &core.Job{Meta: metaFrom(u), Started: status.time("startTime"), Completed: status.time("completionTime"), State: core.JobRunning}
	j.Active, _ = status.number("active")
	j.Succeeded, _ = status.number("succeeded")
	j.Failed, _ = status.number("failed")
	for _, c := range status.objects("conditions") {
		if c.text("status") != "True" {
			continue
		}
		switch c.text("type") {
		case "Complete":
			j.State = core.JobComplete
		case "Failed":
			j.State, j.Message = core.JobFailed, c.text("message")
		}
	}
	return j
}

// openStackDeploymentFrom translates an OpenStackDeployment: its services, its network's back end and where instances' disks are.
// The rest is left out, since the spec can hold secrets.
func openStackDeploymentFrom(u *unstructured.Unstructured) core.Object {
	o := fields(u.Object)
	d := &core.OpenStackDeployment{Meta: metaFrom(u), Services: servicesOf(o), Network: o.at("spec", "features", "neutron").text("backend"),
		Disks: disksOf(o.at("spec"))}
	nodes := o.at("spec", "nodes")
	for key := range nodes {
		if disks := disksOf(nodes.at(key)); disks != "" {
			if d.NodeDisks == nil {
				d.NodeDisks = map[string]string{}
			}
			d.NodeDisks[key] = disks
		}
	}
	return d
}

// disksOf is the back end of Nova's images in features, of the cloud or of a group of nodes (Rockoon's schemas osdpl.yaml and
// nodes.yaml).
func disksOf(o fields) string { return o.at("features", "nova", "images").text("backend") }

func servicesOf(o fields) []string {
	var out []string
	for _, v := range o.at("spec", "features").list("services") {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func podReady(o fields) bool {
	for _, c := range o.at("status").objects("conditions") {
		if c.text("type") == "Ready" {
			return c.text("status") == "True"
		}
	}
	return false
}
