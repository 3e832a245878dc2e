package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/e2e/cluster"
	"lockstep/sim"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// takeSnapshot runs `lockstep snapshot` as a user and returns the file, what was printed and the exit code.
func takeSnapshot(t *testing.T, w *world, user cluster.User, cloud string) (file, said string, code int) {
	t.Helper()
	kubeconfig, err := w.WriteKubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "fleet.yaml")
	cmd := exec.CommandContext(t.Context(), lockstep, "snapshot", "--kubeconfig", kubeconfig, "--os-cloud", cloud, "-o", file)
	cmd.Env = start{cloudsYAML: w.cloudsYAML, state: t.TempDir()}.desk().Environment(t)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the exit code tells
	return file, out.String(), cmd.ProcessState.ExitCode()
}

// A cluster on a real API server, in the middle of an update, becomes a simulated one in the same state. Reading it takes only a
// watcher's rights, and leaves no trace.
func TestASnapshotOfARealAPIServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	await(t, "the OpenStack controller waits for the operator", func() bool { return w.lockText(t, w.node(t, "cmp-01")) != "" })

	file, said, code := takeSnapshot(t, w, cluster.ReadOnly, cloudOperator)
	if code != 0 {
		t.Fatalf("the exit code is %d: %s", code, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info, err)
	}
	s, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 4 || len(s.Instances) != 5 || s.Release.To != "21.0.0+25.2" || s.Kubelet.To != "v1.31.9" {
		t.Errorf("it has %d nodes, %d instances, release %+v, kubelet %+v", len(s.Nodes), len(s.Instances), s.Release, s.Kubelet)
	}
	again, err := sim.Start(t.Context(), sim.Options{Scenario: s, Dir: t.TempDir(), Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, n := range s.Nodes {
		is := names(again.OpenStack.ServersOn(n.Name))
		if was := names(w.sim.OpenStack.ServersOn(n.Name)); !slices.Equal(was, is) {
			t.Errorf("%s had the instances %v, and has %v", n.Machine, was, is)
		}
	}
	lock := slices.IndexFunc(s.Found.NodeLocks, func(l scenario.FoundLock) bool { return l.Node == "cmp-01" && l.Controller == "openstack" })
	if lock < 0 || s.Found.NodeLocks[lock].Inner != "active" ||
		!strings.HasPrefix(s.Found.NodeLocks[lock].Message, "Some servers are still present on the host.") {
		t.Errorf("the locks are %+v", s.Found.NodeLocks)
	}

	requests, err := w.Requests()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, r := range requests {
		if r.User != string(cluster.ReadOnly) {
			continue
		}
		asked++
		if r.Write() || r.Resource == "secrets" || r.Resource == "configmaps" || r.Code >= 400 {
			t.Errorf("a snapshot asked: %s", r)
		}
	}
	if asked < 9 {
		t.Errorf("the server heard only %d requests", asked)
	}
}

// names returns the names of instances, in order.
func names(list []openstack.ServerState) []string {
	var all []string
	for _, s := range list {
		all = append(all, s.Name)
	}
	slices.Sort(all)
	return all
}

// With few rights the rest is written. The file, the output and the exit code say what is missing.
func TestASnapshotWithFewRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file, said, code := takeSnapshot(t, w, cluster.Nobody, cloudOperator)
	if code != 2 {
		t.Fatalf("the exit code is %d: %s", code, said)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"nodes", "nodeworkloadlocks"} {
		if mark := "COULD NOT BE READ: " + what + ": list " + what; !strings.Contains(said, mark) || !strings.Contains(string(raw), mark) {
			t.Errorf("nobody says %q:\n%s\n%s", mark, said, raw)
		}
	}
	s, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 3 || len(s.Instances) != 5 { // the computes, as Nova knows them
		t.Errorf("it has %d nodes and %d instances", len(s.Nodes), len(s.Instances))
	}
	if _, said, code = takeSnapshot(t, w, cluster.Expired, cloudWrongPassword); code != 1 || !strings.Contains(said, "login refused") {
		t.Errorf("without any login the exit code is %d: %s", code, said)
	}
}
