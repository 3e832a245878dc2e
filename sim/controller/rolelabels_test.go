package controller_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim/bubble"
)

// The labels of the roles are a setting of the controller's Deployment: the locks follow them, and so do MOSK's pods on
// the nodes of a role.
func TestTheLabelsOfTheRolesAreASetting(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, `openstack: {nodeLabels: {compute: "nova=yes"}}`, small3, " []")
		host := w.node("cmp-01")
		labels := w.get("cmp-01").Labels
		if _, usual := labels["openstack-compute-node"]; usual || labels["nova"] != "yes" ||
			w.get("ctl-01").Labels["openstack-control-plane"] != "enabled" {
			t.Fatalf("the labels of %s are %v", host, labels)
		}
		w.until("it has its lock", func() bool { return w.named("nodeworkloadlocks", w.openstackLock("cmp-01")) != nil })
		set, err := w.kube.AppsV1().DaemonSets("openstack").Get(t.Context(), "nova-compute-default", metav1.GetOptions{})
		if err != nil || set.Spec.Template.Spec.NodeSelector["nova"] != "yes" {
			t.Errorf("nova-compute runs on %v: %v", set.Spec.Template.Spec.NodeSelector, err)
		}
		w.maintain("cmp-01", "os")
		w.untilSaid(w.openstackLock("cmp-01"), "^inactive/active$")
	})
}

// The controller does not start with a setting that it cannot read.
func TestARoleLabelsSettingThatCannotBeReadKeepsTheControllerFromStarting(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		patch := `{"spec": {"template": {"spec": {"containers": [{"name": "node", "env": [{"name": "OSCTL_OPENSTACK_NODE_LABELS", "value": ` +
			`"{}"}]}]}}}}`
		if _, err := w.kube.AppsV1().Deployments("osh-system").Patch(t.Context(), "rockoon", types.StrategicMergePatchType, []byte(patch),
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.maintain("cmp-01", "os")
		time.Sleep(10 * time.Minute)
		if got := w.stands(w.openstackLock("cmp-01")); got != "active/inactive" {
			t.Errorf("the lock says %s", got)
		}
	})
}
