package cli

import (
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

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// takeSnapshot runs `lockstep snapshot` on a simulated cloud, into a file.
func takeSnapshot(t *testing.T, c *sim.Cloud, flags ...string) (file string, code int, out string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "mos.yaml")
	code, out, errs := runOn(t, c, append([]string{"snapshot", "-o", file}, flags...)...)
	if errs != "" && code != exitAttention { // then it says what is missing
		t.Fatalf("exit %d: %s", code, errs)
	}
	return file, code, out + errs
}

// rebuilt returns the simulated cloud of a snapshot, standing still where the snapshot was taken.
func rebuilt(t *testing.T, file string) *sim.Cloud {
	t.Helper()
	s, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return started(t, sim.Options{Scenario: s, Paused: true})
}

// times matches what may differ between two looks at the same cloud.
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

// A snapshot of a cloud and a snapshot of its simulation are the same.
func snapshotIsRebuilt(t *testing.T, c *sim.Cloud) {
	t.Helper()
	a, code, out := takeSnapshot(t, c)
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

// foundYAML is a file with everything that a snapshot can contain.
const foundYAML = "testdata/found.yaml"

// Everything that a snapshot can contain survives being rebuilt: locks of unknown controllers, requests that are being deleted,
// duplicate names, services in trouble, migrations under way.
func TestEverythingFoundIsRebuilt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		again, _, _ := takeSnapshot(t, rebuilt(t, foundYAML))
		if diff := cmp.Diff(content(t, foundYAML), content(t, again)); diff != "" {
			t.Errorf("the rebuilt cloud differs:\n%s", diff)
		}
	})
}

// A node in the middle of its evacuation: the rehearsal begins there, and goes on from there.
func TestARehearsalGoesOnFromTheMiddle(t *testing.T) {
	bubble.Story(t, rehearsalFromTheMiddle)
}

func rehearsalFromTheMiddle(t *testing.T) {
	live := started(t, sim.Options{})
	n, _ := live.Scenario.Node("cmp-03")
	moving := func(c *sim.Cloud) (name string) {
		for _, s := range c.OpenStack.ServersOn(n.Name) {
			if s.Status == "MIGRATING" {
				return s.Name
			}
		}
		return ""
	}
	until(t, "cmp-03 is evacuated", func() bool { return moving(live) != "" })
	time.Sleep(2 * time.Second) // the scheduler has chosen the target
	live.Clock.Pause()
	file, _, _ := takeSnapshot(t, live)
	if !strings.Contains(content(t, file), "migratingTo: ") {
		t.Errorf("nobody says where to:\n%s", content(t, file))
	}
	was := moving(live)
	again := rebuilt(t, file)
	if is := moving(again); was != is {
		t.Errorf("%q was on its way, and in the rehearsal it is %q", was, is)
	}
	second, _, _ := takeSnapshot(t, again)
	if diff := cmp.Diff(content(t, file), content(t, second)); diff != "" {
		t.Errorf("the rehearsal begins elsewhere:\n%s", diff)
	}
	again.Clock.Resume()
	until(t, "cmp-03 has been evacuated", func() bool {
		for _, s := range again.OpenStack.ServersOn(n.Name) {
			if s.Status == "ACTIVE" && s.Name != "batch-3" {
				return false
			}
		}
		return true
	})
}

// A lock whose owner is not simulated is let go all the same, some time after the rehearsal begins: otherwise it would hold up
// the update forever.
func TestARehearsalPlaysTheOwnersThatNobodyKnows(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := rebuilt(t, foundYAML)
		c.Clock.Resume()
		kube, err := dynamic.NewForConfig(c.AdminConfig())
		if err != nil {
			t.Fatal(err)
		}
		locks := kube.Resource(schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: "nodeworkloadlocks"})
		until(t, "backup-cmp-2 is released", func() bool {
			lock, err := locks.Get(t.Context(), "backup-cmp-2", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
			return state == "inactive"
		})
	})
}

// A database that lacks a pod lacks it in the rehearsal, too, until the pod is recreated.
func TestTheQuorumThatWasFoundIsRebuilt(t *testing.T) {
	bubble.Story(t, quorumRebuilt)
}

func quorumRebuilt(t *testing.T) {
	serves := func(c *sim.Cloud, name string) bool {
		pod, err := kubernetesOf(t, c).CoreV1().Pods("openstack").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	live := started(t, sim.Options{Scenario: told(t, "database-short")})
	until(t, "the database's pod crashes", func() bool { return !serves(live, "mariadb-server-2") })
	live.Clock.Pause()
	first, _, _ := takeSnapshot(t, live)
	if want := "{name: mariadb-server-2, node: ctl-01, down: true, waits: CrashLoopBackOff}"; !strings.Contains(content(t, first), want) {
		t.Errorf("there is no %s in:\n%s", want, content(t, first))
	}
	again := rebuilt(t, first)
	second, _, _ := takeSnapshot(t, again)
	if diff := cmp.Diff(content(t, first), content(t, second)); diff != "" {
		t.Errorf("the rebuilt cloud differs:\n%s", diff)
	}
	again.Clock.Resume()
	if err := kubernetesOf(t, again).CoreV1().Pods("openstack").Delete(t.Context(), "mariadb-server-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "a new pod serves", func() bool { return serves(again, "mariadb-server-2") })
}

// Agents that do not report are silent in the rehearsal too.
func TestSilentAgentsThatWereFoundAreRebuilt(t *testing.T) {
	bubble.Story(t, silentAgentsRebuilt)
}

func silentAgentsRebuilt(t *testing.T) {
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

// The management cluster is rebuilt, too: groups, indexes, and the progress of the plan.
func TestTheManagementClusterIsRebuilt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"smooth", "update-groups"} {
		t.Run(name, func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) { managementRebuilt(t, name) })
		})
	}
}

func managementRebuilt(t *testing.T, name string) {
	flags := []string{"--management-context", sim.ManagementContext}
	first, code, out := takeSnapshot(t, started(t, sim.Options{Scenario: told(t, name), Paused: true}), flags...)
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
}
