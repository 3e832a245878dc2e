package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"lockstep/cli/inventory"
	"lockstep/sim"
	"lockstep/sim/scenario"
)

// takeSnapshot is `lockstep snapshot` of a simulated cloud, as a file.
func takeSnapshot(t *testing.T, c *sim.Cloud, flags ...string) (file string, code int, out string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "mos.yaml")
	t.Setenv("OS_CLIENT_CONFIG_FILE", c.CloudsYAMLPath)
	code, out, errs := run(t, append([]string{"snapshot", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName, "-o", file}, flags...)...)
	if errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	return file, code, out
}

// rebuilt is the simulated cloud of a snapshot, standing still where that was taken.
func rebuilt(t *testing.T, file string) *sim.Cloud {
	t.Helper()
	s, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return started(t, sim.Options{Scenario: s, Paused: true})
}

// started is a simulated cloud that ends with the test.
func started(t *testing.T, o sim.Options) *sim.Cloud {
	t.Helper()
	o.Dir = t.TempDir()
	c, err := sim.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// times are what two looks at the same cloud may differ in.
var times = regexp.MustCompile(`(?m)"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"|^#.*
|^  from: .*
`)

func content(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAllString(string(raw), "")
}

// until waits for something to happen in a simulated cloud.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not happen", what)
		case <-tick.C:
		}
	}
}

// What snapshot writes of a cloud, it writes again of the cloud that the simulation makes of it.
func TestASnapshotIsRebuilt(t *testing.T) {
	alone(t)
	first := started(t, sim.Options{Paused: true})
	a, code, out := takeSnapshot(t, first)
	if code != exitFine {
		t.Errorf("exit %d: %s", code, out)
	}
	b, _, _ := takeSnapshot(t, rebuilt(t, a))
	if diff := cmp.Diff(content(t, a), content(t, b)); diff != "" {
		t.Errorf("the rebuilt cloud differs:\n%s", diff)
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	if !strings.Contains(content(t, a), "db-replica") {
		t.Errorf("an instance is not in the file:\n%s", content(t, a))
	}
}

// foundYAML is the path of a file with everything that a snapshot can hold; the test stands alone from then on.
func foundYAML(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("testdata/found.yaml")
	if err != nil {
		t.Fatal(err)
	}
	alone(t)
	return path
}

// Everything that a snapshot can hold survives being rebuilt: locks of controllers that nobody knows, requests that are
// being deleted, names that are there twice, services in trouble, migrations under way.
func TestEverythingFoundIsRebuilt(t *testing.T) {
	given := foundYAML(t)
	again, _, _ := takeSnapshot(t, rebuilt(t, given))
	if diff := cmp.Diff(content(t, given), content(t, again)); diff != "" {
		t.Errorf("the rebuilt cloud differs:\n%s", diff)
	}
}

// inventoryOf is takeSnapshot of a cloud whose controllers run: the command itself redirects the log that they share with it
// in this process.
func inventoryOf(t *testing.T, c *sim.Cloud) (file string) {
	t.Helper()
	t.Setenv("OS_CLIENT_CONFIG_FILE", c.CloudsYAMLPath)
	taker := inventoryTaker{options: options{kubeconfig: c.KubeconfigPath, osCloud: c.CloudName}, log: &log{Logger: slog.New(slog.DiscardHandler)}, stderr: io.Discard}
	inv, err := taker.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := inventory.Scenario(inv, programVersion()).Write(&text); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "live.yaml")
	if err := writeFile(file, []byte(text.String()), false); err != nil {
		t.Fatal(err)
	}
	return file
}

// A node in the middle of its evacuation: the rehearsal begins there, and goes on from there.
func TestARehearsalGoesOnFromTheMiddle(t *testing.T) {
	alone(t)
	live := started(t, sim.Options{Speed: 60}) // a migration lasts for a second of the wall's time
	story := live.Scenario
	moving := func(c *sim.Cloud, machine string) (name string) {
		n, _ := story.Node(machine)
		for _, s := range c.OpenStack.ServersOn(n.Name) {
			if s.Status == "MIGRATING" {
				return s.Name
			}
		}
		return ""
	}
	var file string
	until(t, "the evacuation of cmp-03", func() bool {
		if moving(live, "cmp-03") == "" {
			return false
		}
		live.Clock.Pause()
		file = inventoryOf(t, live)
		if strings.Contains(content(t, file), "migratingTo: ") { // else the scheduler has not chosen yet, and may choose another
			return true
		}
		live.Clock.Resume()
		return false
	})
	was := moving(live, "cmp-03")
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	again := rebuilt(t, file)
	if is := moving(again, "cmp-03"); was != is {
		t.Errorf("%q was on its way, and in the rehearsal it is %q", was, is)
	}
	second, _, _ := takeSnapshot(t, again)
	if diff := cmp.Diff(content(t, file), content(t, second)); diff != "" {
		t.Errorf("the rehearsal begins elsewhere:\n%s", diff)
	}
	again.Clock.SetSpeed(600)
	n, _ := story.Node("cmp-03")
	until(t, "the end of the evacuation of cmp-03", func() bool {
		for _, s := range again.OpenStack.ServersOn(n.Name) {
			if s.Status == "ACTIVE" && s.Name != "batch-3" {
				return false
			}
		}
		return true
	})
}

// A lock whose owner nobody simulates is let go all the same, some time after the rehearsal begins: else it would hold the
// update up for ever.
func TestARehearsalPlaysTheOwnersThatNobodyKnows(t *testing.T) {
	s, err := scenario.LoadFile(foundYAML(t))
	if err != nil {
		t.Fatal(err)
	}
	c := started(t, sim.Options{Scenario: s, Speed: 600})
	kube, err := dynamic.NewForConfig(c.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	locks := kube.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodeworkloadlocks"})
	until(t, "the release of backup-cmp-2", func() bool {
		lock, err := locks.Get(t.Context(), "backup-cmp-2", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
		return state == "inactive"
	})
}

// A database that is short of a pod is so in the rehearsal, until the pod is made anew.
func TestTheQuorumThatWasFoundIsRebuilt(t *testing.T) {
	alone(t)
	s, err := scenario.Load("database-short")
	if err != nil {
		t.Fatal(err)
	}
	serves := func(c *sim.Cloud, name string) bool {
		kube, err := kubernetes.NewForConfig(c.AdminConfig())
		if err != nil {
			t.Fatal(err)
		}
		pod, err := kube.CoreV1().Pods("openstack").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	live := started(t, sim.Options{Scenario: s, Speed: 1})
	until(t, "the crash of the database's pod", func() bool { return !serves(live, "mariadb-server-2") })
	live.Clock.Pause()
	first := inventoryOf(t, live)
	if want := "{name: mariadb-server-2, node: ctl-01, down: true, waits: CrashLoopBackOff}"; !strings.Contains(content(t, first), want) {
		t.Errorf("there is no %s in:\n%s", want, content(t, first))
	}
	again := rebuilt(t, first)
	second, _, _ := takeSnapshot(t, again)
	if diff := cmp.Diff(content(t, first), content(t, second)); diff != "" {
		t.Errorf("the rebuilt cloud differs:\n%s", diff)
	}
	kube, err := kubernetes.NewForConfig(again.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	again.Clock.SetSpeed(600)
	if err := kube.CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "a new pod that serves", func() bool { return serves(again, "mariadb-server-2") })
}

// Agents that do not report are silent in the rehearsal too.
func TestSilentAgentsThatWereFoundAreRebuilt(t *testing.T) {
	alone(t)
	live := started(t, sim.Options{Paused: true})
	n, _ := live.Scenario.Node("cmp-03")
	if err := live.OpenStack.StopAgents(n.Name); err != nil {
		t.Fatal(err)
	}
	first, _, _ := takeSnapshot(t, live)
	if !strings.Contains(content(t, first), "agentsDown: [neutron-metadata-agent, neutron-openvswitch-agent]") {
		t.Errorf("nobody says which agents are silent:\n%s", content(t, first))
	}
	second, _, _ := takeSnapshot(t, rebuilt(t, first))
	if diff := cmp.Diff(content(t, first), content(t, second)); diff != "" {
		t.Errorf("the rebuilt cloud differs:\n%s", diff)
	}
}

// The management cluster, too, is rebuilt: groups, indexes, and how far the plan has come.
func TestTheManagementClusterIsRebuilt(t *testing.T) {
	for _, name := range []string{"smooth", "update-groups"} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			alone(t)
			flags := []string{"--management-context", sim.ManagementContext}
			first, code, out := takeSnapshot(t, started(t, sim.Options{Scenario: s, Paused: true}), flags...)
			if code != exitFine {
				t.Fatalf("exit %d: %s", code, out)
			}
			for _, want := range []string{"\nmanagement:\n", "  updateGroups:\n", "  plans:\n", "k8s-controllers"} {
				if !strings.Contains(content(t, first), want) {
					t.Errorf("there is no %q in:\n%s", want, content(t, first))
				}
			}
			second, _, _ := takeSnapshot(t, rebuilt(t, first), flags...)
			if diff := cmp.Diff(content(t, first), content(t, second)); diff != "" {
				t.Errorf("the rebuilt cloud differs:\n%s", diff)
			}
		})
	}
}
