package sim

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// ownCluster is the name of the management cluster's own Cluster.
const ownCluster = "kaas-mgmt"

// IDs of the steps of an Other's plan, in order.
var otherSteps = []string{"openstack", "ceph", "k8s-controllers", "k8s-workers-default", "mcc-components"}

const otherWorkers = 3 // the index of the workers' step

// managementUsers are the users of the management cluster. Where a scenario hides a project, they may look into the others only: their
// rights are in each project, as an IAM that knows projects gives them.
func managementUsers(s *scenario.Scenario) []kubeapi.User {
	users := kubeapi.ManagementUsers()
	if !slices.ContainsFunc(s.Management.Others, func(o scenario.Other) bool { return o.Hidden }) {
		return users
	}
	projects := []string{s.Management.Project, "default"}
	for _, o := range s.Management.Others {
		if !o.Hidden {
			projects = append(projects, o.Project)
		}
	}
	for i := range users {
		rules := slices.Clone(users[i].Rules)
		for j := range rules {
			if group := rules[j].APIGroups; len(group) == 1 && slices.Contains([]string{"cluster.k8s.io", "kaas.mirantis.com",
				"lcm.mirantis.com"}, group[0]) {
				rules[j].Namespaces = projects
			}
		}
		users[i].Rules = append(rules, kubeapi.Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"kaas.mirantis.com"},
			Resources: []string{"kaasreleases", "clusterreleases", "mccupgrades"}, Verbs: []string{"get", "list", "watch"}}})
	}
	return withLogins(s, users)
}

// withLogins gives the operator the right to the logins of the clusters, each by its name, but for one whose
// update is paused: there it is refused.
func withLogins(s *scenario.Scenario, users []kubeapi.User) []kubeapi.User {
	projects, names := []string{s.Management.Project}, []string{loginSecret(s.Cluster)}
	for _, o := range s.Management.Others {
		if !o.Hidden && o.State != "paused" {
			projects, names = append(projects, o.Project), append(names, loginSecret(o.Name))
		}
	}
	for i := range users {
		if users[i].Name == kubeapi.Operator {
			users[i].Rules = append(slices.Clone(users[i].Rules), kubeapi.Rule{Namespaces: projects, PolicyRule: rbacv1.PolicyRule{
				APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: names, Verbs: []string{"get"}}})
		}
	}
	return users
}

// loginSecret names the Secret with a cluster's kubeconfig.
func loginSecret(cluster string) string { return cluster + "-kubeconfig" }

// seedLogin puts the administrator's kubeconfig of the MOSK cluster into the management cluster, where there are others beside it.
func (c *Cloud) seedLogin() error {
	if c.Kube == nil {
		return nil
	}
	raw, err := c.Kube.Kubeconfig(kubeapi.Admin)
	if err != nil {
		return err
	}
	if err := c.Management.Load(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": loginSecret(c.Scenario.Cluster), "namespace": c.Scenario.Management.Project},
		"data":     map[string]any{"admin.conf": base64.StdEncoding.EncodeToString(raw)}}}); err != nil {
		return fmt.Errorf("the login of the cluster: %w", err)
	}
	return nil
}

// seedOthers puts the records of the other clusters, and the management cluster's own Cluster, into a simulated management cluster.
func (c *Cloud) seedOthers(start time.Time) error {
	if c.Management == nil || len(c.Scenario.Management.Others) == 0 {
		return nil
	}
	objects := []map[string]any{record("cluster.k8s.io", "Cluster", "default", ownCluster, "", map[string]any{"spec": map[string]any{
		"providerSpec": map[string]any{"value": map[string]any{"release": c.Scenario.Management.Releases.To,
			"kaas": map[string]any{"release": "kaas-2-30-0"}}}},
		"status": map[string]any{"providerStatus": map[string]any{"ready": true}}})}
	for _, o := range c.Scenario.Management.Others {
		objects = append(objects, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": o.Project}})
		objects = append(objects, otherRecords(o, start)...)
	}
	for _, object := range objects {
		if err := c.Management.Load(&unstructured.Unstructured{Object: object}); err != nil {
			return fmt.Errorf("the other clusters: %w", err)
		}
	}
	return c.seedLogin()
}

func record(group, kind, project, name, cluster string, content map[string]any) map[string]any {
	meta := map[string]any{"name": name, "namespace": project}
	if cluster != "" {
		meta["labels"] = map[string]any{"cluster.sigs.k8s.io/cluster-name": cluster}
	}
	content["apiVersion"], content["kind"], content["metadata"] = group+"/v1alpha1", kind, meta
	return content
}

// underWay tells whether an Other is between its releases.
func underWay(o scenario.Other) bool { return o.State != "rests" && o.State != "offered" }

func otherRecords(o scenario.Other, start time.Time) []map[string]any {
	from, to := scenario.ClusterRelease(o.Release.From), scenario.ClusterRelease(o.Release.To)
	is, wanted := from, from
	refs := map[string]any{}
	switch {
	case o.State == "rests":
		is, wanted = to, to
	case underWay(o):
		wanted = to
	default:
		refs["available"] = []any{map[string]any{"version": clusterVersion(o.Release.To)}}
	}
	refs["current"] = map[string]any{"name": is, "version": clusterVersion(o.Release.From)}
	nodes := int64(o.Masters + o.Workers)
	lcm := map[string]any{"release": is, "requestedNodes": nodes, "readyNodes": nodes, "lcmOperationStuck": false}
	if o.State == "stuck" {
		lcm["lcmOperationStuck"], lcm["lcmOperationStuckMessage"] = true, otherDrain(o)
	}
	all := []map[string]any{
		record("cluster.k8s.io", "Cluster", o.Project, o.Name, o.Name, map[string]any{
			"spec":   map[string]any{"providerSpec": map[string]any{"value": map[string]any{"release": wanted, "maintenance": false}}},
			"status": map[string]any{"providerStatus": map[string]any{"ready": true, "releaseRefs": refs}}}),
		record("lcm.mirantis.com", "LCMCluster", o.Project, o.Name, o.Name, map[string]any{
			"spec": map[string]any{"release": wanted}, "status": lcm}),
		record("kaas.mirantis.com", "UpdateGroup", o.Project, o.Name+"-default", o.Name, map[string]any{
			"spec": map[string]any{"index": int64(1), "concurrentUpdates": int64(1), "rebootIfUpdateRequires": true}}),
	}
	for i := range o.Masters + o.Workers {
		all = append(all, otherMachine(o, i, is, to))
	}
	if o.State != "rests" {
		all = append(all, otherPlan(o, from, to, start))
	}
	switch o.State {
	case "stuck":
		all = append(all, record("lcm.mirantis.com", "LCMClusterState", o.Project, "cd-"+workerName(o, o.Done), o.Name, map[string]any{
			"spec":   map[string]any{"clusterName": o.Name, "type": "cordon-drain", "arg": workerName(o, o.Done), "value": "true"},
			"status": map[string]any{"value": "false", "attempt": int64(7), "message": otherDrain(o)}}))
	case "paused":
		all = append(all, record("kaas.mirantis.com", "UpdateAutoPause", o.Project, o.Name, o.Name, map[string]any{
			"spec":   map[string]any{"alerts": []any{"KubeletDown", "CephClusterHealthCritical"}},
			"status": map[string]any{"firingAlerts": []any{"CephClusterHealthCritical"}}}))
	}
	return all
}

func otherDrain(o scenario.Other) string {
	return "error when evicting pods/\"prometheus-es-exporter-0\" -n \"stacklight\" (will retry after 5s): Cannot evict pod as it would " +
		"violate the pod's disruption budget. The disruption budget prometheus-es-exporter needs 1 healthy pods and has 1 currently (node " +
		workerName(o, o.Done) + ")"
}

func workerName(o scenario.Other, i int) string { return fmt.Sprintf("%s-cmp-%02d", o.Name, i+1) }

// otherMachine is the i-th LCMMachine, the masters first. Masters are updated before workers.
func otherMachine(o scenario.Other, i int, is, to string) map[string]any {
	name, kind, state, release := fmt.Sprintf("%s-ctl-%02d", o.Name, i+1), "control", "Ready", is
	worker := i - o.Masters
	if worker >= 0 {
		name, kind = workerName(o, worker), "worker"
	}
	if underWay(o) && worker < o.Done {
		release = to
	}
	if worker == o.Done && (o.State == "updates" || o.State == "stuck") {
		state = "Prepare"
	}
	return record("lcm.mirantis.com", "LCMMachine", o.Project, name, o.Name, map[string]any{
		"spec":   map[string]any{"clusterName": o.Name, "type": kind, "release": release, "stateItems": []any{}},
		"status": map[string]any{"state": state, "release": release, "stateItemStatuses": map[string]any{}}})
}

func otherPlan(o scenario.Other, from, to string, start time.Time) map[string]any {
	estimates := []time.Duration{90 * time.Minute, 510 * time.Second, 100 * time.Minute, time.Duration(o.Workers) * o.Every.Of(),
		90 * time.Minute}
	names := []string{"Update OpenStack and Tungsten Fabric", "Update Ceph", "Update host OS and Kubernetes components on master nodes",
		"Update host OS and Kubernetes components on worker nodes, group default", "Auxiliary components update"}
	begun := start.Add(-o.Begun.Of())
	workers := start.Add(-time.Duration(o.Done) * o.Every.Of())
	var steps, statuses []any
	for i, id := range otherSteps {
		granularity, impact := "cluster", "minor"
		if i == otherWorkers {
			granularity, impact = "machine", "major"
		}
		status := map[string]any{"id": id, "name": names[i], "status": "NotStarted"}
		commence := underWay(o)
		switch {
		case !underWay(o):
		case i < otherWorkers:
			status["status"], status["message"] = "Completed", "Ready"
			status["startedAt"] = begun.Add(time.Duration(i) * workers.Sub(begun) / 4).UTC().Format(time.RFC3339)
			status["duration"] = (workers.Sub(begun) / 4).Truncate(time.Second).String()
		case o.State == "waits" || o.State == "paused" && i > otherWorkers:
			commence = false
		case i == otherWorkers:
			status["status"] = map[string]string{"updates": "InProgress", "paused": "AutoPaused", "stuck": "Stuck"}[o.State]
			status["startedAt"], status["message"] = workers.UTC().Format(time.RFC3339), otherMessage(o)
			commence = o.State != "paused"
		default:
			status["status"] = "Scheduled"
		}
		steps = append(steps, map[string]any{"id": id, "name": names[i], "granularity": granularity, "commence": commence,
			"impact": map[string]any{"users": "minor", "workloads": impact}, "duration": map[string]any{"estimated": estimates[i].String()}})
		statuses = append(statuses, status)
	}
	status := map[string]any{"status": map[string]string{"offered": "NotStarted", "updates": "InProgress", "waits": "InProgress",
		"paused": "AutoPaused", "stuck": "Stuck"}[o.State], "steps": statuses}
	if underWay(o) {
		status["startedAt"] = begun.UTC().Format(time.RFC3339)
	}
	return record("kaas.mirantis.com", "ClusterUpdatePlan", o.Project, o.Name+"-"+clusterVersion(o.Release.To), o.Name, map[string]any{
		"spec": map[string]any{"cluster": o.Name, "source": from, "target": to, "steps": steps}, "status": status})
}

func otherMessage(o scenario.Other) string {
	if o.State == "stuck" {
		return otherDrain(o)
	}
	return fmt.Sprintf("%d of %d machines updated", o.Done, o.Workers)
}

// moveOthers plays LCM for the other clusters that update: their workers one by one, then the rest, until ctx is done.
func (c *Cloud) moveOthers(ctx context.Context) {
	if c.Management == nil {
		return
	}
	config := c.ManagementConfig()
	config.UserAgent, config.QPS = "lockstep-sim-others", -1
	if c.network != nil {
		config.Transport = c.near("others")
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, o := range c.Scenario.Management.Others {
		if o.State != "updates" {
			continue
		}
		dyn, err := dynamic.NewForConfig(config)
		if err != nil {
			return // the configuration is our own
		}
		wg.Go(func() { c.moveOther(ctx, dyn, o) })
	}
}

func (c *Cloud) moveOther(ctx context.Context, dyn dynamic.Interface, o scenario.Other) {
	to := scenario.ClusterRelease(o.Release.To)
	patch := func(group, resource, name string, body map[string]any) {
		raw, err := json.Marshal(body)
		if err == nil {
			_, err = dyn.Resource(schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: resource}).Namespace(o.Project).
				Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{}, "status")
		}
		if err != nil && ctx.Err() == nil && c.run.Log != nil {
			c.run.Log.Warn("the other clusters", "cluster", o.Name, "error", err)
		}
	}
	plan := otherPlan(o, "", "", c.Clock.Now())
	name := o.Name + "-" + clusterVersion(o.Release.To)
	status := plan["status"].(map[string]any)
	delete(status, "startedAt")
	steps := status["steps"].([]any)
	keep, err := dyn.Resource(schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "clusterupdateplans"}).
		Namespace(o.Project).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	if is, _, _ := unstructured.NestedSlice(keep.Object, "status", "steps"); len(is) == len(steps) {
		steps = is
		status["steps"] = steps
	}
	at := func(i int) map[string]any { return steps[i].(map[string]any) }
	began := c.Clock.Now()
	for ; o.Done < o.Workers; o.Done++ {
		if c.Clock.Sleep(ctx, o.Every.Of()*9/10) != nil {
			return
		}
		patch("lcm.mirantis.com", "lcmmachines", workerName(o, o.Done), map[string]any{"status": map[string]any{"state": "Ready", "release": to}})
		if o.Done+1 < o.Workers {
			patch("lcm.mirantis.com", "lcmmachines", workerName(o, o.Done+1), map[string]any{"status": map[string]any{"state": "Prepare"}})
		}
		next := o
		next.Done++
		at(otherWorkers)["message"] = otherMessage(next)
		patch("kaas.mirantis.com", "clusterupdateplans", name, map[string]any{"status": status})
	}
	at(otherWorkers)["status"], at(otherWorkers)["duration"] = "Completed", c.Clock.Now().Sub(began).Truncate(time.Second).String()
	at(otherWorkers + 1)["status"] = "InProgress"
	at(otherWorkers + 1)["startedAt"] = c.Clock.Now().UTC().Format(time.RFC3339)
	patch("kaas.mirantis.com", "clusterupdateplans", name, map[string]any{"status": status})
	if c.Clock.Sleep(ctx, 80*time.Minute) != nil {
		return
	}
	at(otherWorkers + 1)["status"], at(otherWorkers + 1)["duration"] = "Completed", "1h20m0s"
	status["status"], status["completedAt"] = "Completed", c.Clock.Now().UTC().Format(time.RFC3339)
	patch("kaas.mirantis.com", "clusterupdateplans", name, map[string]any{"status": status})
	patch("cluster.k8s.io", "clusters", o.Name, map[string]any{"status": map[string]any{"providerStatus": map[string]any{
		"releaseRefs": map[string]any{"current": map[string]any{"name": to, "version": clusterVersion(o.Release.To)}}}}})
	patch("lcm.mirantis.com", "lcmclusters", o.Name, map[string]any{"status": map[string]any{"release": to}})
}
