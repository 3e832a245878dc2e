package kubeapi

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"lockstep/sim/intern"
)

// The defaults that the real server fills into workloads, as in its defaulting functions for apps/v1 and v1.

// defaultTemplate fills in the pod specification at a path: in a pod or in a workload's template.
func defaultTemplate(content map[string]any, path ...string) {
	value, found, err := nested(content, path...)
	spec, isMap := value.(map[string]any)
	if err != nil || !found || !isMap {
		return // a workload without a template is refused elsewhere, or was loaded without one
	}
	for name, value := range map[string]any{
		"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
		"terminationGracePeriodSeconds": int64(30), "securityContext": map[string]any{},
	} {
		setDefault(spec, value, name)
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range entries(spec, list) {
			setDefault(container, pullPolicy(container), "imagePullPolicy")
			setDefault(container, "/dev/termination-log", "terminationMessagePath")
			setDefault(container, "File", "terminationMessagePolicy")
			setDefault(container, map[string]any{}, "resources")
		}
	}
}

// pullPolicy is Always for an image without a tag, or with the tag latest.
func pullPolicy(container map[string]any) string {
	image, _ := container["image"].(string)
	tag := ""
	for i := len(image) - 1; i >= 0 && image[i] != '/'; i-- {
		if image[i] == '@' {
			return "IfNotPresent"
		}
		if image[i] == ':' {
			tag = image[i+1:]
			break
		}
	}
	if tag == "" || tag == "latest" {
		return "Always"
	}
	return "IfNotPresent"
}

func defaultPod(content map[string]any) {
	setDefault(content, "Pending", "status", "phase")
	setDefault(content, true, "spec", "enableServiceLinks")
	defaultTemplate(content, "spec")
}

func defaultReplicas(content map[string]any) {
	setDefault(content, int64(1), "spec", "replicas")
	defaultTemplate(content, "spec", "template", "spec")
}

func defaultDeployment(content map[string]any) {
	defaultReplicas(content)
	setDefault(content, int64(10), "spec", "revisionHistoryLimit")
	setDefault(content, int64(600), "spec", "progressDeadlineSeconds")
	setDefault(content, "RollingUpdate", "spec", "strategy", "type")
	if kind, _, _ := nested(content, "spec", "strategy", "type"); kind == "RollingUpdate" {
		setDefault(content, "25%", "spec", "strategy", "rollingUpdate", "maxUnavailable")
		setDefault(content, "25%", "spec", "strategy", "rollingUpdate", "maxSurge")
	}
}

func defaultDaemonSet(content map[string]any) {
	defaultTemplate(content, "spec", "template", "spec")
	setDefault(content, int64(10), "spec", "revisionHistoryLimit")
	setDefault(content, "RollingUpdate", "spec", "updateStrategy", "type")
	if kind, _, _ := nested(content, "spec", "updateStrategy", "type"); kind == "RollingUpdate" {
		setDefault(content, int64(1), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
		setDefault(content, int64(0), "spec", "updateStrategy", "rollingUpdate", "maxSurge")
	}
}

// countTemplates keeps a DaemonSet's annotation of the generation of its template, as the real server's strategy and conversion do: a new
// one begins with 1, unless it brings a number. From then on only a change of the template counts, and nobody else sets it.
func countTemplates(content, before map[string]any) {
	old := content
	if before != nil {
		old = before
	}
	number, err := strconv.ParseInt(accessor(old).GetAnnotations()[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil || number < 1 {
		number = 1
	}
	if before != nil {
		is, _, _ := nested(content, "spec", "template")
		was, _, _ := nested(before, "spec", "template")
		if !intern.Equal(is, was) {
			number++
		}
	}
	object, text := accessor(content), strconv.FormatInt(number, 10)
	annotations := object.GetAnnotations() // a copy
	if annotations[appsv1.DeprecatedTemplateGeneration] == text {
		return
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[appsv1.DeprecatedTemplateGeneration] = text
	object.SetAnnotations(annotations)
}

func defaultStatefulSet(content map[string]any) {
	defaultReplicas(content)
	setDefault(content, int64(10), "spec", "revisionHistoryLimit")
	setDefault(content, "OrderedReady", "spec", "podManagementPolicy")
	setDefault(content, "Retain", "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	setDefault(content, "Retain", "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled")
	setDefault(content, "RollingUpdate", "spec", "updateStrategy", "type")
	if kind, _, _ := nested(content, "spec", "updateStrategy", "type"); kind == "RollingUpdate" {
		setDefault(content, int64(0), "spec", "updateStrategy", "rollingUpdate", "partition")
	}
}
