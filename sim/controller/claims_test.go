package controller_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/bubble"
)

// claimOf returns the claim of a member of MariaDB, or nil.
func (w *world) claimOf(member string) *corev1.PersistentVolumeClaim {
	w.t.Helper()
	mariadb := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=mariadb-server"}
	list, err := w.kube.CoreV1().PersistentVolumeClaims("openstack").List(w.t.Context(), mariadb)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		if strings.HasSuffix(list.Items[i].Name, "-"+member) {
			return &list.Items[i]
		}
	}
	return nil
}

// mariadb returns a member of MariaDB on a machine, or without a node if the machine is empty; nil if it is missing.
func (w *world) mariadb(member, machine string) *corev1.Pod {
	w.t.Helper()
	if machine == "" {
		list, err := w.kube.CoreV1().Pods("openstack").List(w.t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range list.Items {
			if list.Items[i].Name == member {
				return &list.Items[i]
			}
		}
		return nil
	}
	for _, pod := range w.podsOn(machine) {
		if pod.Name == member {
			return &pod
		}
	}
	return nil
}

func TestVolumesOfAGoneNodeAreReleasedByItsCleanUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, "troubles: [{kind: podsNotReady, node: ctl-02, workload: mariadb-server}]", `
- {machine: ctl-01, roles: [master, controller], name: node-1}
- {machine: ctl-02, roles: [master, controller], name: node-2}
- {machine: ctl-03, roles: [master, controller], name: node-3}
- {machine: ctl-04, roles: [master, controller], name: node-4}
- {machine: cmp-01, roles: [compute]}`, " []")
		const member, selected = "mariadb-server-2", "volume.kubernetes.io/selected-node"
		lock := w.openstackLock("ctl-03")
		w.untilCrashed("ctl-02", "mariadb-server")
		pod, claim := w.mariadb(member, "ctl-03"), w.claimOf(member)
		if pod == nil || claim == nil || claim.Status.Phase != corev1.ClaimBound || claim.Annotations[selected] != "node-3" ||
			len(pod.Spec.Volumes) != 1 || pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != claim.Name {
			t.Fatalf("the member is %v, its claim %v", pod, claim)
		}
		volume, err := w.kube.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil || volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0] != "node-3" {
			t.Fatalf("its volume is %v, %v", volume, err)
		}
		if err := w.OpenStack.PowerOffHost("node-3"); err != nil {
			t.Fatal(err)
		}
		if err := w.kube.CoreV1().Nodes().Delete(t.Context(), "node-3", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.untilTold("U", lock, "The node node-3 is hard locked by mariadb.")
		time.Sleep(5 * time.Minute)
		if now := w.claimOf(member); now == nil || now.UID != claim.UID || w.mariadb(member, "ctl-04") != nil {
			t.Error("the volume was given up although MariaDB needs its other members")
		}
		crashed := w.mariadb("mariadb-server-1", "ctl-02")
		if err := w.kube.CoreV1().Pods("openstack").Delete(t.Context(), crashed.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("the lock is gone", func() bool { return w.named("nodeworkloadlocks", lock) == nil })
		w.until("the member is elsewhere", func() bool {
			pod, now := w.mariadb(member, "ctl-04"), w.claimOf(member)
			return pod != nil && podIsReady(pod) && now != nil && now.UID != claim.UID && now.Annotations[selected] == "node-4"
		})
	})
}

func TestMemberWhoseVolumeIsOnAnotherNodeWaitsForIt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, "", `
- {machine: ctl-01, roles: [master, controller], name: node-1}
- {machine: ctl-02, roles: [master, controller], name: node-2}
- {machine: ctl-03, roles: [master, controller], name: node-3}
- {machine: ctl-04, roles: [master, controller], name: node-4}
- {machine: cmp-01, roles: [compute]}`, " []")
		w.scale("0") // nobody cleans up
		w.deleteNode("node-1")
		time.Sleep(30 * time.Minute)
		for _, machine := range []string{"ctl-02", "ctl-03", "ctl-04"} {
			if w.mariadb("mariadb-server-0", machine) != nil {
				t.Errorf("the member is on %s without its volume", machine)
			}
		}
		if pod := w.mariadb("mariadb-server-0", ""); pod == nil || pod.Status.Phase != corev1.PodPending ||
			pod.Status.Conditions[0].Reason != "Unschedulable" {
			t.Errorf("the member is %v", pod)
		}
		claim := w.claimOf("mariadb-server-0")
		if err := w.kube.CoreV1().PersistentVolumeClaims("openstack").Delete(t.Context(), claim.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("the member has a new volume", func() bool { return w.mariadb("mariadb-server-0", "ctl-04") != nil })
	})
}

// One of three controllers is gone for good: when the claim is deleted, the member gets a new one, and both wait for a
// node.
func TestMemberWithoutANodeWaitsWithANewClaim(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, "", `
- {machine: ctl-01, roles: [master, controller], name: node-1}
- {machine: ctl-02, roles: [master, controller], name: node-2}
- {machine: ctl-03, roles: [master, controller], name: node-3}
- {machine: cmp-01, roles: [compute]}`, " []")
		w.scale("0")
		w.deleteNode("node-2")
		w.until("the member is Pending", func() bool { return w.mariadb("mariadb-server-1", "") != nil })
		claim := w.claimOf("mariadb-server-1")
		if err := w.kube.CoreV1().PersistentVolumeClaims("openstack").Delete(t.Context(), claim.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("there is a new claim", func() bool {
			now := w.claimOf("mariadb-server-1")
			return now != nil && now.UID != claim.UID && now.Status.Phase == corev1.ClaimPending && now.Spec.VolumeName == ""
		})
		time.Sleep(10 * time.Minute)
		if pod := w.mariadb("mariadb-server-1", ""); pod == nil {
			t.Error("the member is not Pending any more")
		}
	})
}

// A deleted claim that a pod on a node uses stays until the pod is gone.
func TestClaimInUseIsProtected(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, _ := alone(t, "", `
- {machine: ctl-01, roles: [master, controller], name: node-1}
- {machine: ctl-02, roles: [master, controller], name: node-2}
- {machine: ctl-03, roles: [master, controller], name: node-3}
- {machine: cmp-01, roles: [compute]}`, " []")
		w.until("the member is there", func() bool { return w.mariadb("mariadb-server-1", "ctl-02") != nil })
		claim := w.claimOf("mariadb-server-1")
		if err := w.kube.CoreV1().PersistentVolumeClaims("openstack").Delete(t.Context(), claim.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if now := w.claimOf("mariadb-server-1"); now == nil || now.UID != claim.UID || now.DeletionTimestamp == nil {
			t.Errorf("the claim is %v", now)
		}
		if err := w.kube.CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until("the member has a new volume", func() bool {
			pod, now := w.mariadb("mariadb-server-1", "ctl-02"), w.claimOf("mariadb-server-1")
			return pod != nil && podIsReady(pod) && now != nil && now.UID != claim.UID && now.Status.Phase == corev1.ClaimBound
		})
	})
}
