package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Ceph's own objects (docs/mosk.md#ceph-objects), one of each kind.
var (
	cephDeployments  = lcmResource("cephdeployments")
	cephHealths      = lcmResource("cephdeploymenthealths")
	cephMaintenances = lcmResource("cephdeploymentmaintenances")
	cephClusters     = schema.GroupVersionResource{Group: "ceph.rook.io", Version: "v1", Resource: "cephclusters"}
)

const (
	pelagiaNamespace = "ceph-lcm-mirantis"
	pelagiaName      = "pelagia-ceph"
	rookOperator     = "rook-ceph-operator"
)

// States of a CephDeploymentMaintenance; both states other than Idle count as maintenance.
const (
	maintenanceIdle    = "Idle"
	maintenanceActing  = "Acting"
	maintenanceFailing = "Failing"
)

// cephState is what Ceph's objects show.
type cephState struct {
	maintenance string // of the CephDeploymentMaintenance
	updating    string // what is being updated in the cluster; empty: nothing
	problem     string // what Ceph's health reports; empty: nothing
	noout       bool   // whether noout is set for a node in maintenance
	version     string
}

// degradedText is Ceph's message when an OSD is down.
const degradedText = "1 osds down; Degraded data redundancy: 1184/35520 objects degraded (3.333%), 33 pgs degraded, 33 pgs undersized"

// slowText is Ceph's message about OSDs whose BlueStore is slow.
const slowText = "3 OSD(s) experiencing slow operations in BlueStore"

// cephVersion is the version of Ceph in a cluster release.
func cephVersion(release string) string {
	if strings.HasPrefix(release, "17.") || release == "" {
		return "v18.2.7"
	}
	return "v19.2.3"
}

// phase returns the phase and the message of the CephDeployment, in the words of docs/mosk.md#ceph-objects.
func (s cephState) phase() (phase, message string) {
	switch {
	case s.maintenance != maintenanceIdle:
		return "Maintenance", "Cluster maintenance (upgrade) detected, reconcile is paused"
	case s.updating != "":
		return "Deploying", "Ceph cluster configuration apply is in progress: " + s.updating
	case s.problem != "":
		return "Failed", "Failed to configure Ceph cluster: ceph cluster verification is failed: " + s.problem
	}
	return "Ready", "Ceph cluster configuration successfully applied"
}

// health is Ceph's own health state, with its checks.
func (s cephState) health() (state string, issues []any) {
	if s.problem != "" {
		issues = append(issues, s.problem)
	}
	if s.noout {
		issues = append(issues, "noout flag(s) set")
	}
	if len(issues) == 0 {
		return "HEALTH_OK", []any{}
	}
	return "HEALTH_WARN", issues
}

// checks are Ceph's health checks that do not pass, as Rook shows them.
func (s cephState) checks() map[string]any {
	checks := map[string]any{}
	if s.problem != "" {
		name := "PG_DEGRADED"
		if s.problem == slowText {
			name = "BLUESTORE_SLOW_OP_ALERT"
		}
		checks[name] = map[string]any{"severity": "HEALTH_WARN", "message": s.problem}
	}
	if s.noout {
		checks["OSDMAP_FLAGS"] = map[string]any{"severity": "HEALTH_WARN", "message": "noout flag(s) set"}
	}
	return checks
}

// show writes the state to Ceph's objects and skips those that the API server does not know. The timestamps change only
// together with another field.
func (c *ceph) show(ctx context.Context, s cephState) error {
	phase, message := s.phase()
	health, issues := s.health()
	told, waiting := "", ""
	state, operatorIssues := "Ok", issues
	replicas := 1
	if s.maintenance != maintenanceIdle {
		replicas = 0
		told = "Nodes with Ceph daemons are in maintenance"
		operatorIssues = append(append([]any{}, issues...), "deployment 'rook-ceph-operator' is scaled down due to maintenance mode")
	}
	if s.maintenance == maintenanceFailing {
		told = "Ceph cluster is not healthy: " + s.problem
	}
	if len(operatorIssues) > 0 {
		state = "Failed"
	}
	rook := "Ready"
	if s.updating != "" {
		rook, waiting = "Progressing", "Configuring Ceph OSDs"
	}
	now := c.clock.Now().UTC().Format(time.RFC3339)
	for _, o := range []struct {
		resource        schema.GroupVersionResource
		kind, namespace string
		name, stamp     string
		status          map[string]any
	}{
		{cephDeployments, "CephDeployment", pelagiaNamespace, pelagiaName, "lastRun", map[string]any{
			"phase": phase, "message": message, "clusterVersion": s.version, "validation": map[string]any{"result": "Succeed"}}},
		{cephHealths, "CephDeploymentHealth", pelagiaNamespace, pelagiaName, "lastHealthCheck",
			map[string]any{"state": state, "issues": operatorIssues}},
		{cephMaintenances, "CephDeploymentMaintenance", pelagiaNamespace, pelagiaName, "lastStateCheck",
			map[string]any{"state": s.maintenance, "message": told}},
		{cephClusters, "CephCluster", cephNamespace, cephNamespace, "", map[string]any{
			"phase": rook, "message": waiting, "ceph": map[string]any{"health": health, "details": s.checks()},
			"version": map[string]any{"version": strings.TrimPrefix(s.version, "v") + "-0"}}},
	} {
		if err := c.env.showObject(ctx, o.resource, o.kind, o.namespace, o.name, o.stamp, now, o.status); err != nil {
			return err
		}
	}
	return c.scaleOperator(ctx, replicas)
}

// showObject writes the status of an object if it differs, and creates the object if it is missing. The stamp names the
// status field that takes the time of the change; empty: none. It does nothing if the API server does not know the
// kind.
func (e *env) showObject(ctx context.Context, resource schema.GroupVersionResource, kind, namespace, name, stamp, now string,
	status map[string]any) error {
	objects := e.dyn.Resource(resource).Namespace(namespace)
	object, err := objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		object = &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		object.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
		object.SetNamespace(namespace)
		object.SetName(name)
		if object, err = objects.Create(ctx, object, metav1.CreateOptions{}); apierrors.IsNotFound(err) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("ensure %s %s/%s: %w", kind, namespace, name, err)
	}
	was, _, _ := unstructured.NestedMap(object.Object, "status")
	delete(was, stamp)
	wanted := map[string]any{}
	for key, value := range status {
		wanted[key] = value
	}
	if reflect.DeepEqual(was, wanted) {
		return nil
	}
	if stamp != "" {
		wanted[stamp] = now
	}
	raw, err := json.Marshal(map[string]any{"status": wanted})
	if err != nil {
		return fmt.Errorf("encode the status of %s %s/%s: %w", kind, namespace, name, err)
	}
	if _, err := objects.Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("patch the status of %s %s/%s: %w", kind, namespace, name, err)
	}
	return nil
}

// scaleOperator stops Rook's operator during a maintenance and starts it again afterwards.
func (c *ceph) scaleOperator(ctx context.Context, replicas int) error {
	d, err := c.kube.AppsV1().Deployments(cephNamespace).Get(ctx, rookOperator, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && d.Spec.Replicas != nil && int(*d.Spec.Replicas) == replicas {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read deployment %s/%s: %w", cephNamespace, rookOperator, err)
	}
	return c.scale(ctx, cephNamespace, rookOperator, replicas)
}

// scale sets the replicas of a Deployment.
func (e *env) scale(ctx context.Context, namespace, name string, replicas int) error {
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	if _, err := e.kube.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("scale deployment %s/%s: %w", namespace, name, err)
	}
	return nil
}
