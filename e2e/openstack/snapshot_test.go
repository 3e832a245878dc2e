//go:build openstack

package openstack

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
	"lockstep/sim"
	"lockstep/sim/scenario"
)

// A snapshot of a real Nova contains its instances with their own IDs, names, tags and sizes, and the simulation puts them back
// on the same hosts.
func TestASnapshotOfARealNova(t *testing.T) {
	c := newCloud(t)
	c.boot(t, "web-1", hosts[0], "m1.tiny")
	c.boot(t, "told-2", hosts[1], "m1.huge", "notify")
	c.awaitRunning(t, "web-1", "told-2")
	w := newWorld(t, c, "manual-node.yaml", timing)
	w.begin()
	kubeconfig, err := w.WriteKubeconfig(cluster.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fleet.yaml")
	cmd := exec.CommandContext(t.Context(), program(t), "snapshot", "--kubeconfig", kubeconfig, "--os-cloud", cloudOperator, "-o", file)
	cmd.Env = operator.Desk{CloudsYAML: c.cloudsYAML(), State: t.TempDir()}.Environment(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
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
	for _, name := range []string{"web-1", "told-2"} {
		is := c.server(t, name)
		i := slices.IndexFunc(s.Instances, func(in scenario.Instance) bool { return in.ID == is.ID })
		if i < 0 {
			t.Errorf("%s (%s) is not in the file", name, is.ID)
			continue
		}
		in := s.Instances[i]
		if in.Name != name || in.Project == "" || (len(in.Actions) > 0) != (name == "told-2") || in.Created.Of() != is.Created.UTC() {
			t.Errorf("%s is in the file as %+v", name, in)
		}
		rebuilt, ok := again.OpenStack.Server(is.ID)
		if !ok || rebuilt.Host != is.Host || rebuilt.Status != is.Status || rebuilt.VMState != is.VmState ||
			rebuilt.PowerState != int(is.PowerState) {
			t.Errorf("%s is rebuilt as %+v", name, rebuilt)
		}
	}
	flavor := slices.IndexFunc(s.Flavors, func(f scenario.Flavor) bool { return f.Name == "m1.huge" })
	if flavor < 0 || s.Flavors[flavor].ID == "" || s.Flavors[flavor].RAM() == 0 {
		t.Errorf("the flavors are %+v", s.Flavors)
	}
	for _, n := range s.Nodes {
		if n.Has(scenario.RoleCompute) && (n.VCPUs == 0 || n.RAM() == 0 || n.Down) {
			t.Errorf("a compute is %+v", n)
		}
	}
	if len(s.Found.Missing) > 0 {
		t.Errorf("missing are %v", s.Found.Missing)
	}
}
