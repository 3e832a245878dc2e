package tools

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"lockstep/sim"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// patience is how long one command may take; only a command that hangs takes that long.
const patience = 5 * time.Minute

// kubectl runs a command with a kubeconfig and the input, and returns what it printed.
func kubectl(t *testing.T, kubeconfig, input string, args ...string) (output string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := kubectlCommand(ctx, t, kubeconfig, args...)
	command.Stdin = strings.NewReader(input)
	raw, err := command.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("kubectl %s hangs; so far it says\n%s", strings.Join(args, " "), raw)
	}
	return string(raw), err != nil
}

// kubectlCommand is a command with a kubeconfig. It ends with ctx.
func kubectlCommand(ctx context.Context, t *testing.T, kubeconfig string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(ctx, kubectlPath, args...)
	// The discovery cache goes to HOME.
	command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "EDITOR=true"}
	return command
}

// client returns a client of a cloud with all rights.
func client(t *testing.T, of *sim.Cloud) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(of.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// aPod returns a pod on a node, of the DaemonSet or Deployment with whose name its own begins.
func aPod(t *testing.T, prefix string) corev1.Pod {
	t.Helper()
	list, err := client(t, cloud).CoreV1().Pods("openstack").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if strings.HasPrefix(p.Name, prefix) && p.Spec.NodeName != "" {
			return p
		}
	}
	t.Fatalf("there is no pod %s", prefix)
	return corev1.Pod{}
}

// command is a kubectl command and what it prints: texts, and regular expressions between slashes.
type command struct {
	args  string // separated by blanks; a quoted one is one
	input string
	wants []string
	fails bool
}

// split splits a command line as a shell does, as far as the tests need it.
func split(line string) []string {
	var args []string
	for _, part := range regexp.MustCompile(`('[^']*'|[^\s'])+`).FindAllString(line, -1) {
		args = append(args, strings.ReplaceAll(part, "'", ""))
	}
	return args
}

func (c command) run(t *testing.T, on *sim.Cloud) {
	t.Helper()
	output, failed := kubectl(t, on.KubeconfigPath, c.input, split(c.args)...)
	if failed != c.fails {
		t.Errorf("kubectl %s: failed is %v, want %v:\n%s", c.args, failed, c.fails, output)
	}
	for _, want := range c.wants {
		if pattern, ok := strings.CutPrefix(want, "/"); ok {
			if !regexp.MustCompile(`(?m)` + strings.TrimSuffix(pattern, "/")).MatchString(output) {
				t.Errorf("kubectl %s: nothing matches %s:\n%s", c.args, pattern, output)
			}
		} else if !strings.Contains(output, want) {
			t.Errorf("kubectl %s: %q is not there:\n%s", c.args, want, output)
		}
	}
}

func TestKubectlShowsTheCloud(t *testing.T) {
	t.Parallel()
	node := hosts(cloud.Scenario, scenario.RoleCompute)[0]
	lock, daemon := "openstack-"+node, aPod(t, "libvirt-libvirt-default")
	cloud.Kube.SetLog("openstack", daemon.Name, "", []string{"libvirtd is up", "a domain was started"})
	_, err := client(t, cloud).CoreV1().Events("openstack").Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "libvirt.1", Namespace: "openstack"}, Type: "Warning", Reason: "Unhealthy",
		Message:        "Readiness probe failed",
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "openstack", Name: daemon.Name, UID: daemon.UID},
		LastTimestamp:  metav1.Now(), FirstTimestamp: metav1.Now(), Count: 1,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Patience ends a command that hangs. Only wait has a limit of its own, which a negative one takes away.
	for _, c := range []command{
		{args: "version", wants: []string{"Client Version: v1.36.3", "Server Version: v1.36.3"}},
		{args: "cluster-info", wants: []string{"Kubernetes control plane"}},
		{args: "api-resources", wants: []string{`/^nodeworkloadlocks +lcm.mirantis.com/v1alpha1 +false +NodeWorkloadLock$/`,
			`/^openstackdeploymentstatus +osdplst /`}},
		{args: "get nodes", wants: []string{`/^NAME +STATUS +ROLES +AGE +VERSION$/`, `/^` + node + ` +Ready/`}},
		{args: "get nodes -o wide", wants: []string{"INTERNAL-IP", "Ubuntu 22.04.5 LTS", "containerd://1.7.27"}},
		{args: "get nodeworkloadlocks -o wide", wants: []string{`/^NAME +AGE$/`, `/^` + lock + ` +90d$/`}},
		{args: "get nodeworkloadlock " + lock + " -o yaml", wants: []string{"controllerName: openstack", "nodeName: " + node, "state: active"}},
		{args: "get nodeworkloadlocks -o jsonpath='{.items[*].spec.nodeName}'", wants: []string{node}},
		{args: "get osdplst -A",
			wants: []string{`/^NAMESPACE +NAME +OPENSTACK VERSION +CONTROLLER VERSION +STATE +LCM PROGRESS +HEALTH +MOSK RELEASE$/`}},
		{args: "get pods -A --field-selector spec.nodeName=" + node, wants: []string{`/^openstack +nova-compute-default-\w+ +1/1 +Running/`}},
		{args: "get all -n osh-system", wants: []string{"pod/rockoon-", `/^deployment.apps/rockoon +1/1/`}},
		{args: "get ns,ds,sts,deploy,rs,jobs,cronjobs,svc,sa,pv,pvc,pdb,leases,crd,clusterroles,rolebindings -A",
			wants: []string{"daemonset.apps/nova-compute-default", "customresourcedefinition"}},
		{args: "describe node " + node, wants: []string{"Non-terminated Pods:", "nova-compute-default-", "KubeletReady", "Allocated resources:"}},
		{args: "describe nodeworkloadlock " + lock, wants: []string{"Controller Name:", "Node Name:", "State:"}},
		{args: "describe pod -n openstack " + daemon.Name,
			wants: []string{"Controlled By:  DaemonSet/libvirt-libvirt-default", `/Warning +Unhealthy .*Readiness probe failed/`}},
		{args: "events -n openstack", wants: []string{`/Warning +Unhealthy +Pod/` + daemon.Name + ` +Readiness probe failed/`}},
		{args: "get events -n openstack", wants: []string{`/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/`,
			`/Warning +Unhealthy +pod/` + daemon.Name + `/`}},
		{args: "logs -n openstack " + daemon.Name, wants: []string{"libvirtd is up\na domain was started\n"}},
		{args: "logs -n openstack --tail=1 " + daemon.Name, wants: []string{`/\Aa domain was started\n\z/`}},
		{args: "logs -n osh-system deploy/rockoon -c osdpl"},
		{args: "logs -n osh-system deploy/rockoon -c nothing", wants: []string{"container nothing is not valid for pod rockoon-"}, fails: true},
		{args: "top nodes", wants: []string{"error: Metrics API not available"}, fails: true},
		{args: "top pods -A", wants: []string{"error: Metrics API not available"}, fails: true},
		{args: "explain nodeworkloadlocks.status.state", wants: []string{"FIELD: state <string>", "ENUM:", "it is safe to proceed"}},
		{args: "explain pod.spec.nodeName", wants: []string{"FIELD: nodeName <string>",
			"NodeName indicates in which node this pod is scheduled."}},
		{args: "rollout status -n openstack ds/libvirt-libvirt-default", wants: []string{"successfully rolled out"}},
		{args: "rollout status -n openstack deploy/keystone-api", wants: []string{"successfully rolled out"}},
		{args: "wait --for=condition=Ready node/" + node + " --timeout=-1s", wants: []string{"condition met"}},
		{args: "wait --for=jsonpath='{.status.state}'=active nodeworkloadlock/" + lock + " --timeout=-1s", wants: []string{"condition met"}},
		{args: "wait --for=delete nodeworkloadlock/nothing --timeout=-1s"},
		{args: "auth can-i patch nodes", wants: []string{"yes"}},
		{args: "auth can-i create pods --as=nobody -n openstack", wants: []string{"no"}, fails: true},
		{args: "auth can-i --list -n openstack", wants: []string{`/^\*\.\* .*\[\*\]$/`}},
		{args: "auth whoami", wants: []string{`/^Username +admin$/`}},
		{args: "get nothing", wants: []string{`error: the server doesn't have a resource type "nothing"`}, fails: true},
		{args: "get node nothing", wants: []string{`Error from server (NotFound): nodes "nothing" not found`}, fails: true},
		{args: "exec -n openstack " + daemon.Name + " -- ls", wants: []string{"unable to upgrade connection"}, fails: true},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			c.run(t, cloud)
		})
	}
}

// A watch shows what there is, and then what changes.
func TestKubectlWatchesTheCloud(t *testing.T) {
	t.Parallel()
	node := hosts(cloud.Scenario, scenario.RoleCompute)[2]
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	watch := kubectlCommand(ctx, t, cloud.KubeconfigPath, "get", "nodes", "-w")
	said := new(bytes.Buffer)
	watch.Stderr = said
	output, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		_ = watch.Wait() // it was killed
		if t.Failed() {
			t.Logf("kubectl says on standard error\n%s", said)
		}
	})
	lines := bufio.NewScanner(output)
	shows := func(pattern string) {
		t.Helper()
		for lines.Scan() {
			if regexp.MustCompile(pattern).MatchString(lines.Text()) {
				return
			}
		}
		t.Fatalf("nothing matches %s; the output ends with %v", pattern, lines.Err())
	}
	shows(`^` + node + ` +Ready `)
	_, err = client(t, cloud).CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shows(`^` + node + ` +Ready,SchedulingDisabled `)
}

func TestKubectlChangesTheCloud(t *testing.T) {
	t.Parallel()
	node := hosts(cloud.Scenario, scenario.RoleCompute)[1]
	lock := "openstack-" + node
	rbac, err := filepath.Abs("../../deploy/rbac-readonly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const first = `{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: default}, data: {a: "1"}}`
	second := strings.Replace(first, `"1"`, `"2"`, 1)
	for _, c := range []command{
		{args: "cordon " + node, wants: []string{"cordoned"}},
		{args: "get node " + node, wants: []string{"SchedulingDisabled"}},
		{args: "uncordon " + node, wants: []string{"uncordoned"}},
		{args: "taint node " + node + " a=b:NoSchedule", wants: []string{"tainted"}},
		{args: "taint node " + node + " a:NoSchedule-", wants: []string{"untainted"}},
		{args: "label node " + node + " test=yes", wants: []string{"labeled"}},
		{args: "get nodes -l 'test in (yes,no)' -o name", wants: []string{`/\Anode/` + node + `\n\z/`}},
		{args: "label node " + node + " test-", wants: []string{"unlabeled"}},
		{args: "annotate node " + node + " openstack.lcm.mirantis.com/instance_migration_mode=skip --overwrite", wants: []string{"annotated"}},
		{args: "patch nodeworkloadlock " + lock + ` --subresource=status --type=merge -p '{"status":{"errorMessage":"by hand"}}'`,
			wants: []string{"patched"}},
		{args: "get nodeworkloadlock " + lock + " --subresource=status -o jsonpath='{.metadata.name}'", wants: []string{lock}},
		{args: "patch nodeworkloadlock " + lock + ` --subresource=status --type=merge -p '{"status":{"state":"sleepy"}}'`, fails: true,
			wants: []string{`status.state: Unsupported value: "sleepy": supported values: "inactive", "active", "failed"`}},
		{args: "apply -f -", input: first, wants: []string{"configmap/mine created"}},
		{args: "diff -f -", input: second, wants: []string{`-  a: "1"`, `+  a: "2"`}, fails: true},
		{args: "apply -f -", input: second, wants: []string{"configmap/mine configured"}},
		{args: "apply -f -", input: second, wants: []string{"configmap/mine unchanged"}},
		{args: "apply --server-side --field-manager=other -f -", input: first, fails: true,
			wants: []string{`Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a`}},
		{args: "apply --server-side --field-manager=other --force-conflicts -f -", input: first, wants: []string{"serverside-applied"}},
		{args: "create -f -", input: strings.Replace(first, " data:", " dates: {}, data:", 1), wants: []string{`unknown field "dates"`},
			fails: true},
		{args: "edit configmap mine", wants: []string{"Edit cancelled, no changes made."}},
		{args: "replace -f -", input: second, wants: []string{"configmap/mine replaced"}},
		{args: "delete configmap mine", wants: []string{"deleted"}},
		{args: "delete configmap mine", wants: []string{`Error from server (NotFound): configmaps "mine" not found`}, fails: true},
		{args: "apply -f " + rbac, wants: []string{"clusterrole.rbac.authorization.k8s.io/lockstep-readonly created"}},
		{args: "describe clusterrole lockstep-readonly", wants: []string{`/nodeworkloadlocks.lcm.mirantis.com .*\[list watch\]/`}},
		{args: "create clusterrolebinding watch --clusterrole=lockstep-readonly --group=watchers", wants: []string{"created"}},
		{args: "auth can-i list nodes --as=carl --as-group=watchers", wants: []string{"yes"}},
		{args: "create deployment web --image=web:1 --replicas=2", wants: []string{"created"}},
		{args: "scale deployment web --replicas=5", wants: []string{"scaled"}},
		{args: "set image deployment/web web=web:2", wants: []string{"image updated"}},
		{args: "rollout restart deployment/web", wants: []string{"restarted"}},
		{args: "get deployment web -o wide", wants: []string{`/^web +0/5 .* web +web:2 +app=web$/`}},
		{args: "delete deployment web", wants: []string{"deleted"}},
	} {
		t.Run(c.args, func(t *testing.T) { c.run(t, cloud) })
	}
}

func TestKubectlDrainsANodeOfTheCloud(t *testing.T) {
	t.Parallel()
	// In a cloud that moves: the kubelets have to end the pods.
	moving, err := sim.Start(t.Context(), sim.Options{User: kubeapi.Admin, Speed: 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := moving.Close(); err != nil {
			t.Errorf("stop the cloud: %v", err)
		}
	})
	nodes := hosts(moving.Scenario, scenario.RoleController)
	node := nodes[len(nodes)-1]
	command{args: "drain " + node, wants: []string{"cannot delete DaemonSet-managed Pods"}, fails: true}.run(t, moving)
	command{args: "drain " + node + " --ignore-daemonsets --delete-emptydir-data",
		wants: []string{"ignoring DaemonSet-managed Pods", "evicting pod ", "node/" + node + " drained"}}.run(t, moving)
	list, err := client(t, moving).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if len(p.OwnerReferences) == 0 || p.OwnerReferences[0].Kind != "DaemonSet" {
			t.Errorf("pod %s/%s is still there", p.Namespace, p.Name)
		}
	}
	command{args: "uncordon " + node, wants: []string{"uncordoned"}}.run(t, moving)
}
