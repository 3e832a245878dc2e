package tools

import (
	"os"
	"regexp"
	"testing"

	"lockstep/e2e/terminal"
	"lockstep/sim/scenario"
)

// k9s starts k9s at a view, in a terminal wide enough for its columns.
func k9s(t *testing.T, view string) *terminal.Terminal {
	t.Helper()
	home := t.TempDir()
	screen, err := terminal.Start(terminal.Options{Columns: 160, Rows: 45, Dir: home, Env: []string{
		"KUBECONFIG=" + cloud.KubeconfigPath, "HOME=" + home, "K9S_CONFIG_DIR=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "EDITOR=true",
	}}, k9sPath, "--logoless", "--splashless", "--command", view)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := screen.Close(); err != nil {
			t.Errorf("stop k9s: %v", err)
		}
	})
	return screen
}

func TestK9sShowsTheCloud(t *testing.T) {
	t.Parallel()
	node := hosts(cloud.Scenario, scenario.RoleCompute)[0]
	daemon := aPod(t, "nova-compute-default")
	cloud.Kube.SetLog("openstack", daemon.Name, "", []string{"the hypervisor is being looked at"})
	screen := k9s(t, "nodes")
	matches := func(pattern string) { screen.Want(t, terminal.Matches(regexp.MustCompile(pattern))) }

	matches(`(?i)nodes\(all\)\[\d+\]`)
	matches(node + ` +Ready`)
	matches(`K8s Rev: +v1\.36\.3`)
}
