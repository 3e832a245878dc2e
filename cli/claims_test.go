package cli

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// A controller node dies and is taken out of the cluster while Lockstep plays the OpenStack controller. The claims of MariaDB,
// etcd, Redis, Prometheus and OVN on its disks are deleted one by one, each only while its set can do without it. Each member is
// ready elsewhere before the next one goes, and the lock's finalizer goes last. Until then no text says that it is done. Lockstep
// is killed and restarted on the way.
func TestTheClaimsOfANodeThatIsGoneAreReleased(t *testing.T) {
	bubble.Story(t, claimsReleased)
}

func claimsReleased(t *testing.T) {
	p := play(t, told(t, "node-deletion", func(s *scenario.Scenario) {
		s.Management = nil
		s.Nodes[0].Name = "kaas-node-ctl-01"
		for _, machine := range []string{"ctl-02", "ctl-03", "ctl-04"} {
			s.Nodes = append(s.Nodes, scenario.Node{Machine: machine, Name: "kaas-node-" + machine, Roles: s.Nodes[0].Roles})
		}
		s.Cloud.Services = []string{"compute", "networking", "block-storage", "database", "coordination", "redis", "metric-storage"}
		s.Cloud.OVN = true
		s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroublePods, Node: "ctl-02", Workload: "mariadb-server"})
	}), "openstack")
	p.restart = 2
	kube := kubernetesOf(t, p.Cloud)
	named := func(label string) string {
		for _, n := range p.last.Nodes {
			if n.Label() == label {
				return n.Name
			}
		}
		t.Fatalf("there is no %s", label)
		return ""
	}
	gone, spare := named("ctl-03"), named("ctl-04")
	scale, err := kube.AppsV1().Deployments("osh-system").GetScale(t.Context(), "rockoon", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = 0
	if _, err := kube.AppsV1().Deployments("osh-system").UpdateScale(t.Context(), "rockoon", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	bound := func() (out []string) {
		for _, namespace := range []string{"openstack", "openstack-redis"} {
			list, err := kube.CoreV1().PersistentVolumeClaims(namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, claim := range list.Items {
				if claim.Annotations["volume.kubernetes.io/selected-node"] == gone {
					out = append(out, claim.Name)
				}
			}
		}
		return out
	}
	if n := len(bound()); n != 5 {
		t.Fatalf("%d claims are bound to it: %q", n, bound())
	}
	p.until("a pod of MariaDB crashes", func(s *core.Snapshot) bool {
		for _, pods := range s.DaemonPods {
			if slices.ContainsFunc(pods, func(pod *core.DaemonPod) bool { return pod.Set == "mariadb-server" && !pod.Ready }) {
				return s.Controller != nil && s.Controller.Existing == 0
			}
		}
		return false
	})
	if err := p.OpenStack.PowerOffHost(gone); err != nil {
		t.Fatal(err)
	}
	if err := kube.CoreV1().Nodes().Delete(t.Context(), gone, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	steps := func(s *core.Snapshot) []core.Step {
		proc, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: gone})
		return proc.Steps
	}
	claimStep := func(s *core.Snapshot, of string) (core.Step, bool) {
		for _, st := range steps(s) {
			if st.Intent.Kind == core.IntentActDeleteClaim && strings.Contains(st.Label, of) {
				return st, true
			}
		}
		return core.Step{}, false
	}
	var letGo core.Step
	p.until("the Node, which the controller's finalizer keeps, can be let go", func(s *core.Snapshot) bool {
		said := slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool {
			return a.Node == gone && strings.Contains(a.Reason, "its Node was deleted, and waits for you to let it go")
		})
		i := slices.IndexFunc(steps(s), func(st core.Step) bool { return st.Intent.Kind == core.IntentActLetGo && st.Doable() })
		if i >= 0 {
			letGo = steps(s)[i]
		}
		return said && i >= 0
	})
	p.do(letGo)
	p.until("the claims are there to be deleted, and MariaDB holds its own", func(s *core.Snapshot) bool {
		count := 0
		for _, st := range steps(s) {
			if st.Intent.Kind == core.IntentActDeleteClaim && (st.State == core.StepReady || strings.Contains(st.Label, "mariadb")) {
				count++
			}
		}
		held, found := claimStep(s, "mariadb-server")
		return count == 5 && found && strings.HasPrefix(held.Blocker(), "mariadb-server does not hold the node: mariadb-server: 1 of 3 ready")
	})
	undone := func(s *core.Snapshot) bool {
		said, v := "", &core.NodeView{}
		for _, a := range attention.Of(s) {
			if a.Node == gone {
				said += a.Reason + "\n"
			}
		}
		v, _ = progress.NodeView(s, gone)
		for _, st := range steps(s) {
			if st.Intent.Kind == core.IntentActDropLock &&
				(st.Doable() || !strings.Contains(st.Blocker(), "no volume claim is bound to its disks any more: still there")) {
				t.Fatalf("the lock can go: %s, %q, with %q", st.State, st.Blocker(), bound())
			}
		}
		return v.Stage == core.StageWaiting && strings.Contains(v.Reason, "on its disks") && strings.Contains(said, "on its disks")
	}
	for _, of := range []string{"prometheus", "redis", "etcd", "mariadb", "ovn-db"} {
		p.until("it is said that claims are left", undone)
		if of == "mariadb" {
			if err := kube.CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-1", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var st core.Step
		p.until("the claim of "+of+" can be deleted", func(s *core.Snapshot) bool {
			var found bool
			st, found = claimStep(s, of)
			return found && st.Doable()
		})
		if preview := p.s.Engine.Preview(t.Context(), st.Intent); preview.Err != nil {
			t.Fatalf("the dry-run of %s: %v", st.Title, preview.Err)
		}
		before := len(bound())
		p.do(st)
		if after := bound(); len(after) != before-1 {
			t.Errorf("after %s there are %q", st.Title, after)
		}
		change, _ := st.Change.(core.DeleteClaim)
		pod, err := kube.CoreV1().Pods(change.Claim.Namespace).Get(t.Context(), change.Pod, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if pod.Spec.NodeName != spare || !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			t.Errorf("once %s is done, %s is on %q: %v", st.Title, pod.Name, pod.Spec.NodeName, pod.Status.Conditions)
		}
	}
	for _, kind := range []core.IntentKind{core.IntentActDropLock, core.IntentActLetGo} {
		var st core.Step
		p.until("the lock goes: "+string(kind), func(s *core.Snapshot) bool {
			i := slices.IndexFunc(steps(s), func(st core.Step) bool { return st.Intent.Kind == kind && st.Doable() })
			if i >= 0 {
				st = steps(s)[i]
			}
			return i >= 0
		})
		p.do(st)
	}
	p.until("nothing is left of it", func(s *core.Snapshot) bool {
		_, there := progress.NodeView(s, gone)
		return s.NodeLock(gone, core.ControllerOpenStack) == nil && !there
	})
	if left := bound(); len(left) > 0 {
		t.Errorf("these claims are left: %q", left)
	}
}
