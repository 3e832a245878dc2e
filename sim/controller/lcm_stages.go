package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
)

// Names of stages in the API (docs/mosk.md#stages).
const (
	stageAgent          = "Agent upgraded"
	stagePrepare        = "Prepare phase done"
	stageDeploy         = "Deploy phase done"
	stageReboot         = "Reboot done"
	stageControlPlane   = "Control plane nodes MKE upgraded"
	stageWorkers        = "Worker nodes MKE upgraded"
	stageRequested      = "Node maintenance requested"
	stageLocks          = "Node workload locks inactive"
	stageDrained        = "Kubernetes drained"
	stageSwarmDrained   = "Swarm drained"
	stageSwarmUncordon  = "Swarm uncordoned"
	stageUncordoned     = "Kubernetes uncordoned"
	stageRequestRemoved = "Node maintenance request removed"
	stageCluster        = "Requested cluster maintenance"
	stageClusterLocks   = "Cluster workload locks are inactive"
	stageClusterRemoved = "Cluster maintenance request removed"
)

// machineStage notes that a node has reached a stage of its maintenance.
func (m *management) machineStage(ctx context.Context, resource schema.GroupVersionResource, node, name string) error {
	if m == nil {
		return nil
	}
	return m.stage(ctx, resource, m.machineOf(node), name)
}

// machineStageAfter notes that a node has reached a stage, if it has reached another stage earlier in this update.
func (m *management) machineStageAfter(ctx context.Context, resource schema.GroupVersionResource, node, before, name string) error {
	if m == nil {
		return nil
	}
	object, err := m.objects(resource).Get(ctx, m.machineOf(node), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (object.GetAnnotations()[annotationTarget] != m.Target || !hasStage(object, before)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the stages of %s %s: %w", resource.Resource, m.machineOf(node), err)
	}
	return m.machineStage(ctx, resource, node, name)
}

// hasStage tells whether an object has a stage.
func hasStage(object *unstructured.Unstructured, name string) bool {
	stages, _, _ := unstructured.NestedSlice(object.Object, "stages")
	return slices.ContainsFunc(stages, func(one any) bool {
		fields, ok := one.(map[string]any)
		return ok && fields["name"] == name
	})
}

// clusterStage notes that the cluster has reached a stage of its update.
func (m *management) clusterStage(ctx context.Context, name string) error {
	if m == nil {
		return nil
	}
	if err := m.stage(ctx, clusterUpgrades, m.cluster, name); err != nil {
		return err
	}
	if name != stageControlPlane && name != stageWorkers {
		return nil
	}
	return m.stage(ctx, providerUpgrades, m.cluster, name)
}

// stage adds a stage to an object and creates the object if it is missing; an existing stage stays unchanged. Stages of
// another update are dropped.
func (m *management) stage(ctx context.Context, resource schema.GroupVersionResource, name, stage string) error {
	err := retry.RetryOnConflict(conflicts, func() error {
		object, err := m.objects(resource).Get(ctx, name, metav1.GetOptions{})
		missing := apierrors.IsNotFound(err)
		if missing {
			object, err = m.newObject(resource, stageKinds[resource], name), nil
		}
		if err != nil {
			return err
		}
		stages, _, _ := unstructured.NestedSlice(object.Object, "stages")
		if object.GetAnnotations()[annotationTarget] != m.Target {
			stages = nil
			object.SetAnnotations(map[string]string{annotationTarget: m.Target})
		}
		if stages != nil && hasStage(object, stage) {
			return nil
		}
		switch resource {
		case clusterUpgrades, providerUpgrades, providerMachineUps:
			object.Object["fromRelease"], object.Object["toRelease"] = m.Source, m.Target
		}
		object.Object["stages"] = append(stages, map[string]any{"name": stage, "timestamp": m.now(), "success": true, "message": ""})
		if missing {
			_, err = m.objects(resource).Create(ctx, object, metav1.CreateOptions{})
		} else {
			_, err = m.objects(resource).Update(ctx, object, metav1.UpdateOptions{})
		}
		if err == nil {
			m.log.Info(fmt.Sprintf("%s %s/%s: stage %q is done", stageKinds[resource], m.Project, name, stage))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("note the stage %q of %s %s: %w", stage, resource.Resource, name, err)
	}
	return nil
}

// annotationTarget names, on an object with stages, the update that they belong to.
const annotationTarget = "lcm.mirantis.com/target-release"
