package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/cli"
	"lockstep/e2e/cluster"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// status runs `lockstep status` and returns what it printed and its exit code.
func status(t *testing.T, s start, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	s.state = t.TempDir()
	cmd := exec.CommandContext(t.Context(), lockstep, append([]string{"status"}, args...)...)
	cmd.Env = s.desk().Environment(t)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestStatusTellsScriptsWhetherSomebodyIsNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	kubeconfig, err := w.WriteKubeconfig(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	s := start{cloudsYAML: w.cloudsYAML}
	await(t, "the OpenStack controller waits for the operator", func() bool { return w.lockText(t, w.node(t, "cmp-01")) != "" })

	out, errs, code := status(t, s, "--kubeconfig", kubeconfig, "--os-cloud", cloudOperator, "-o", "json")
	if code != 2 {
		t.Fatalf("the exit code is %d, want 2; %s", code, errs)
	}
	var got cli.Status
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waits := slices.IndexFunc(got.NeedsYou, func(a cli.StatusAttention) bool { return a.Subject == "cmp-01" && a.Severity == "urgent" })
	if waits < 0 || !strings.Contains(got.NeedsYou[waits].Reason, "manual mode") {
		t.Errorf("what needs you is %+v", got.NeedsYou)
	}
	if !got.Update.Running || got.Update.To != "21.0.0+25.2" || len(got.Phases) != 5 {
		t.Errorf("the update is %+v with %d phases", got.Update, len(got.Phases))
	}
	node := slices.IndexFunc(got.Nodes, func(n cli.StatusNode) bool { return n.Label == "cmp-01" })
	if node < 0 || got.Nodes[node].Stage != "waiting for you" || got.Nodes[node].Mode != "manual" ||
		got.Nodes[node].Locks["openstack"] != "active" {
		t.Errorf("the nodes are %+v", got.Nodes)
	}

	out, _, code = status(t, s, "--kubeconfig", kubeconfig, "--os-cloud", cloudOperator)
	if code != 2 || !strings.Contains(out, "NEEDS YOU") || !strings.Contains(out, "cmp-01") {
		t.Errorf("the table has the exit code %d:\n%s", code, out)
	}
	if got, err := w.Writes(cluster.Operator); err != nil || len(got) > 0 {
		t.Errorf("a look has written %v (%v)", got, err)
	}
}

func TestStatusOfAClusterAtRestNeedsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *scenario.Scenario, timing *controller.Timing) {
		s.History = scenario.History{StartAt: scenario.StartOperator, Age: s.History.Age}
		for i := range s.Nodes {
			s.Nodes[i].Done, s.Nodes[i].Annotations = 0, nil
		}
		timing.StartDelay = timing.Finalize // LCM starts nothing here
	})
	kubeconfig, err := w.WriteKubeconfig(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	// The simulated kubelet reports it; until then the controller counts as starting, not as at rest.
	await(t, "the OpenStack controller is ready", func() bool {
		rockoon, err := as(t, w.Cluster, cluster.Admin).Resource(deployments).Namespace("osh-system").Get(t.Context(), "rockoon",
			metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ready, _, _ := unstructured.NestedInt64(rockoon.Object, "status", "readyReplicas")
		return ready > 0
	})
	out, errs, code := status(t, start{cloudsYAML: w.cloudsYAML}, "--kubeconfig", kubeconfig, "--os-cloud", cloudOperator)
	if code != 0 || !strings.Contains(out, "Nothing needs you.") {
		t.Errorf("the exit code is %d:\n%s%s", code, out, errs)
	}
}

func TestStatusOfAClusterThatCannotBeSeenIsAnError(t *testing.T) {
	expired, err := shared.WriteKubeconfig(cluster.Expired)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, kubeconfig string
		says             []string
	}{
		{"no kubeconfig", "/nowhere/kubeconfig", []string{"read kubeconfig /nowhere/kubeconfig", "does not exist"}},
		{"nobody answers", kubeconfigFor(t, "https://127.0.0.1:1"), []string{"list ", "unreachable", "Nothing listens there"}},
		{"an expired token", expired, []string{"list ", "login refused", "log in again"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, errs, code := status(t, start{}, "--kubeconfig", test.kubeconfig)
			if code != 1 || out != "" {
				t.Errorf("the exit code is %d, the output %q", code, out)
			}
			for _, want := range test.says {
				if !strings.Contains(errs, want) {
					t.Errorf("the error lacks %q:\n%s", want, errs)
				}
			}
		})
	}
}
