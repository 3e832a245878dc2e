package sim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/sim/controller"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// managementOptions returns LCM's options for a scenario's management cluster; nil if it has none.
func managementOptions(s *scenario.Scenario, config *rest.Config, start time.Time) *controller.Management {
	m := s.Management
	if m == nil || config == nil {
		return nil
	}
	options := &controller.Management{
		Config: config, Project: m.Project, Source: m.Releases.From, Target: m.Releases.To, Version: clusterVersion(s.Release.To),
		Estimated: map[string]time.Duration{}, NoPlan: m.Plan.None, Colleague: m.Plan.Colleague.Of(), Start: start,
		Deletions: map[string]time.Time{},
	}
	for _, n := range s.Nodes {
		options.Ceph = options.Ceph || n.Has(scenario.RoleStorage)
	}
	for _, o := range m.Offers {
		options.Offers = append(options.Offers, controller.Offer{Target: scenario.ClusterRelease(o.Release), Version: clusterVersion(o.Release),
			Update: controller.Update{Release: o.Release, KubeletVersion: o.Kubelet, ControllerVersion: o.Rockoon}, Reboot: o.Reboot})
	}
	for id, d := range m.Plan.Estimated {
		options.Estimated[id] = d.Of()
	}
	for _, a := range m.Alerts {
		alert := controller.Alert{Name: a.Name, From: start.Add(a.After.Of())}
		if a.For > 0 {
			alert.Until = alert.From.Add(a.For.Of())
		}
		options.Alerts = append(options.Alerts, alert)
	}
	for _, f := range m.Items {
		options.Failures = append(options.Failures, controller.ItemFailure(f))
	}
	for _, late := range m.NotReady {
		n, _ := s.Node(late.Machine)
		options.NotReady = append(options.NotReady, controller.NotReady{Node: n.Name, For: late.For.Of(), Message: late.Message})
	}
	for _, d := range m.Deletions {
		options.Deletions[d.Machine] = start.Add(d.After.Of())
	}
	return options
}

// clusterVersion is the number of a cluster release: 21.0.0 of 21.0.0+25.2.
func clusterVersion(release string) string {
	for i, c := range release {
		if c == '+' {
			return release[:i]
		}
	}
	return release
}

// managementSeeder fills the API server of a management cluster.
type managementSeeder struct {
	story *scenario.Scenario
	dyn   dynamic.Interface
	run   controller.Options
}

// seedManagement fills the API server of a management cluster with a scenario's cluster before its update: releases,
// the Cluster, its Machines and UpdateGroups, and LCM's objects for them.
func seedManagement(ctx context.Context, run controller.Options, s *scenario.Scenario) error {
	kube, dyn, err := controller.Clients(run.Management.Config)
	if err != nil {
		return fmt.Errorf("seed the management cluster: %w", err)
	}
	project := s.Management.Project
	if _, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: project}},
		metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("seed the management cluster: namespace %s: %w", project, err)
	}
	seed := managementSeeder{story: s, dyn: dyn, run: run}
	for _, o := range append(append(seed.releases(), seed.cluster()...), seed.groups()...) {
		if err := seed.create(ctx, o); err != nil {
			return fmt.Errorf("seed the management cluster: %s %s: %w", o.object.GetKind(), o.object.GetName(), err)
		}
	}
	return controller.PopulateManagement(ctx, run, controller.Past{})
}

// seedLCM puts the pod of LCM into a management cluster, for its log (docs/mosk.md#when-it-hangs).
func seedLCM(server *kubeapi.Server) error {
	for _, manifest := range []string{"{apiVersion: v1, kind: Namespace, metadata: {name: kaas}}", `
apiVersion: v1
kind: Pod
metadata: {name: lcm-lcm-controller-5f7c9d6b44-x2k8p, namespace: kaas, labels: {app.kubernetes.io/name: lcm-controller}}
spec: {nodeName: mgmt-01, containers: [{name: lcm-controller, image: "registry.local/lcm-controller:sim"}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]`} {
		if err := server.LoadYAML([]byte(manifest)); err != nil {
			return fmt.Errorf("seed the management cluster: LCM: %w", err)
		}
	}
	return nil
}

// seedObject is an object of a management cluster with its status.
type seedObject struct {
	resource schema.GroupVersionResource
	object   *unstructured.Unstructured
	status   map[string]any
}

func (s managementSeeder) create(ctx context.Context, o seedObject) error {
	var objects dynamic.ResourceInterface = s.dyn.Resource(o.resource)
	if namespace := o.object.GetNamespace(); namespace != "" {
		objects = s.dyn.Resource(o.resource).Namespace(namespace)
	}
	if load := s.run.Management.Load; load != nil {
		if o.status != nil {
			o.object.Object["status"] = o.status
		}
		return load(o.object)
	}
	created, err := objects.Create(ctx, o.object, metav1.CreateOptions{})
	if err != nil || o.status == nil {
		return err
	}
	created.Object["status"] = o.status
	_, err = objects.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// newOf returns an object in the project that belongs to the cluster.
func (s managementSeeder) newOf(group, plural, kind, name string, spec map[string]any) seedObject {
	o := seedObject{resource: schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: plural}}
	o.object = &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.object.SetAPIVersion(group + "/v1alpha1")
	o.object.SetKind(kind)
	o.object.SetName(name)
	o.object.SetNamespace(s.story.Management.Project)
	o.object.SetLabels(map[string]string{"cluster.sigs.k8s.io/cluster-name": s.story.Cluster})
	return o
}

func (s managementSeeder) releases() []seedObject {
	m, story := s.story.Management, s.story
	from, to := clusterVersion(story.Release.From), clusterVersion(story.Release.To)
	upgrades := []any{map[string]any{"version": to, "rebootRequired": true}}
	supported := []any{map[string]any{"name": m.Releases.From, "version": from},
		map[string]any{"name": m.Releases.To, "version": to}}
	var others []seedObject
	for _, o := range m.Offers {
		name, version := scenario.ClusterRelease(o.Release), clusterVersion(o.Release)
		upgrades = append(upgrades, map[string]any{"version": version, "rebootRequired": o.Reboot})
		supported = append(supported, map[string]any{"name": name, "version": version,
			"availableUpgrades": []any{map[string]any{"version": to, "rebootRequired": true}}})
		others = append(others, s.newOf("kaas.mirantis.com", "clusterreleases", "ClusterRelease", name,
			map[string]any{"version": version, "description": "MOSK " + o.Release, "lcmType": "ucp"}))
	}
	supported[0].(map[string]any)["availableUpgrades"] = upgrades
	all := []seedObject{
		s.newOf("kaas.mirantis.com", "clusterreleases", "ClusterRelease", m.Releases.From,
			map[string]any{"version": from, "description": "MOSK " + story.Release.From, "lcmType": "ucp"}),
		s.newOf("kaas.mirantis.com", "clusterreleases", "ClusterRelease", m.Releases.To,
			map[string]any{"version": to, "description": "MOSK " + story.Release.To, "lcmType": "ucp"}),
		s.newOf("kaas.mirantis.com", "kaasreleases", "KaaSRelease", "kaas-2-30-0",
			map[string]any{"version": "2.30.0", "clusterRelease": m.Releases.To,
				"supportedClusterReleases": supported}),
	}
	upgrade := s.newOf("kaas.mirantis.com", "mccupgrades", "MCCUpgrade", "mcc-upgrade", map[string]any{"timeZone": "UTC"})
	upgrade.status = map[string]any{}
	if m.Waits != "" {
		upgrade.status["nextRelease"] = map[string]any{"version": m.Waits}
		upgrade.status["message"] = "Waiting for the schedule"
	}
	all = append(append(all, upgrade), others...)
	for i := range all {
		all[i].object.SetNamespace("")
		all[i].object.SetLabels(nil)
	}
	all[2].object.SetLabels(map[string]string{"kaas.mirantis.com/active": "true"})
	return all
}

// cluster returns the Cluster and its Machines.
func (s managementSeeder) cluster() []seedObject {
	m, story := s.story.Management, s.story
	cluster := s.newOf("cluster.k8s.io", "clusters", "Cluster", story.Cluster,
		map[string]any{"providerSpec": map[string]any{"value": map[string]any{
			"release": m.Releases.From, "maintenance": false, "dedicatedControlPlane": false,
			"maxWorkerUpgradeCount": int64(story.Update.Concurrency), "maxWorkerPrepareCount": int64(50)}}})
	all := []seedObject{cluster}
	groups := map[string]string{}
	for _, g := range m.Groups {
		for _, machine := range g.Machines {
			groups[machine] = g.Name
		}
	}
	masters := 0
	for i, n := range story.Nodes {
		value := map[string]any{"maintenance": false, "deletionPolicy": "graceful"}
		labels := map[string]string{"cluster.sigs.k8s.io/cluster-name": story.Cluster, "kaas.mirantis.com/update-group": groups[n.Machine]}
		if n.Has(scenario.RoleMaster) {
			masters++
			value["upgradeIndex"] = int64(masters)
			labels["cluster.sigs.k8s.io/control-plane"] = "controlplane"
			labels["kaas.mirantis.com/update-group"] = story.Cluster + "-control"
		}
		if index, ok := m.UpgradeIndex[n.Machine]; ok {
			value["upgradeIndex"] = int64(index)
		}
		machine := s.newOf("cluster.k8s.io", "machines", "Machine", n.Machine, map[string]any{"providerSpec": map[string]any{"value": value}})
		machine.object.SetLabels(labels)
		machine.object.SetFinalizers([]string{"machine.cluster.sigs.k8s.io"})
		machine.status = map[string]any{"phase": "Ready", "nodeRef": map[string]any{"name": n.Name},
			"providerStatus": map[string]any{"status": "Ready", "ready": true, "privateIp": nodeAddress(i)}}
		all = append(all, machine)
	}
	return all
}

// groups returns the UpdateGroups, and the UpdateAutoPause if there is one.
func (s managementSeeder) groups() []seedObject {
	story := s.story
	group := func(name string, index, concurrent int, reboot bool) seedObject {
		return s.newOf("kaas.mirantis.com", "updategroups", "UpdateGroup", name, map[string]any{
			"index": int64(index), "concurrentUpdates": int64(concurrent), "rebootIfUpdateRequires": reboot})
	}
	all := []seedObject{group(story.Cluster+"-control", 1, 1, story.Update.Scope == "os")}
	for _, g := range story.Management.Groups {
		all = append(all, group(g.Name, g.Index, g.Concurrent, *g.Reboot))
	}
	if len(story.Management.AutoPause) > 0 {
		alerts := []any{}
		for _, name := range story.Management.AutoPause {
			alerts = append(alerts, name)
		}
		all = append(all, s.newOf("kaas.mirantis.com", "updateautopauses", "UpdateAutoPause", story.Cluster, map[string]any{"alerts": alerts}))
	}
	return all
}

// managementPast is the part of the update before the scenario starts, as the plan and the machines show it.
func managementPast(s *scenario.Scenario, start time.Time) controller.Past {
	if plan, ok := foundPlan(s); ok {
		return foundPast(s, plan, start)
	}
	past := controller.Past{Machines: map[string]time.Time{}}
	h := s.History
	begun, released := start.Add(-h.Begun.Of()), start.Add(-h.Released.Of())
	masters := released
	for _, n := range s.Nodes {
		if n.Done == 0 {
			continue
		}
		over := start.Add(-n.Done.Of())
		past.Machines[n.Machine] = over
		if n.Has(scenario.RoleMaster) && over.After(masters) {
			masters = over
		}
	}
	openstackOver := released
	steps := s.Steps()
	if steps[1] == "ceph" {
		openstackOver = released.Add(-cephUpdate)
		if !openstackOver.After(begun) {
			openstackOver = begun.Add(time.Minute)
		}
	}
	add := func(id string, from, to time.Time) { // a zero to: in progress
		step := controller.PastStep{ID: id, Started: from}
		if !to.IsZero() {
			step.Took = max(to.Sub(from), time.Second)
		}
		past.Steps = append(past.Steps, step)
	}
	switch h.StartAt {
	case scenario.StartOpenStack:
		add("openstack", begun, time.Time{})
	case scenario.StartMasters, scenario.StartWorkers:
		add("openstack", begun, openstackOver)
		if steps[1] == "ceph" {
			add("ceph", openstackOver, released)
		}
		if h.StartAt == scenario.StartMasters {
			add("k8s-controllers", released, time.Time{})
			break
		}
		add("k8s-controllers", released, masters)
		addWorkers(s, past, masters, add)
	}
	for _, id := range s.Management.Plan.Commence {
		past.Steps = append(past.Steps, controller.PastStep{ID: id})
	}
	return past
}

// addWorkers adds the worker steps that are complete, and the one in progress.
func addWorkers(s *scenario.Scenario, past controller.Past, from time.Time, add func(id string, from, to time.Time)) {
	groups := map[string]scenario.UpdateGroup{}
	for _, g := range s.Management.Groups {
		groups["k8s-workers-"+g.Name] = g
	}
	for _, id := range s.Steps() {
		g, ok := groups[id]
		if !ok {
			continue
		}
		last := from
		for _, machine := range g.Machines {
			over, done := past.Machines[machine]
			if !done {
				add(id, from, time.Time{})
				return
			}
			if over.After(last) {
				last = over
			}
		}
		add(id, from, last)
		from = last
	}
}

// seedBudgets creates a scenario's disruption budgets on the MOSK cluster.
func seedBudgets(ctx context.Context, config *rest.Config, s *scenario.Scenario) error {
	if s.Management == nil || len(s.Management.Budgets) == 0 {
		return nil
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make the disruption budgets: %w", err)
	}
	none := intstr.FromInt32(0)
	for _, b := range s.Management.Budgets {
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": b.Workload}}
		pods, err := kube.CoreV1().Pods(b.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector)})
		if err != nil {
			return fmt.Errorf("list the pods of %s/%s: %w", b.Namespace, b.Workload, err)
		}
		budget, err := kube.PolicyV1().PodDisruptionBudgets(b.Namespace).Create(ctx, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: b.Name, Namespace: b.Namespace},
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: selector},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("make the disruption budget %s/%s: %w", b.Namespace, b.Name, err)
		}
		n := int32(len(pods.Items))
		budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, ExpectedPods: n, DesiredHealthy: n,
			CurrentHealthy: n}
		if _, err := kube.PolicyV1().PodDisruptionBudgets(b.Namespace).UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("set the status of the disruption budget %s/%s: %w", b.Namespace, b.Name, err)
		}
	}
	return nil
}
