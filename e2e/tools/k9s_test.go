package tools

import (
	"context"
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
		"KUBECONFIG=" + cloud.KubeconfigPath, "HOME=" + home, "K9S_CONFIG_DIR=" + home, "TERM=xterm-256color", "LANG=C.UTF-8",
		"PATH=" + os.Getenv("PATH"), "EDITOR=true",
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
	pod, lock := aPod(t, "nova-compute-default"), "openstack-"+node
	cloud.Kube.SetLog("openstack", pod.Name, "", []string{"the hypervisor is being looked at"})
	screen := k9s(t, "nodes")
	press := func(keys ...string) {
		t.Helper()
		if err := screen.Press(keys...); err != nil {
			t.Fatal(err)
		}
	}
	// view goes to another view, by a colon and its name.
	view := func(name string) {
		t.Helper()
		screen.Type(":" + name)
		press("enter")
	}
	for _, step := range []struct {
		what string
		do   func()
		want []string // regular expressions that the screen matches after it
	}{
		{"the nodes", nil, []string{`(?i)nodes\(all\)\[\d+\]`, node + ` +Ready`, `K8s Rev: +v1\.36\.3`}},
		{"a node that is looked for", func() { screen.Type("/" + node); press("enter") }, []string{`(?i)nodes\(all\)\[1\]`}},
		{"its description", func() { screen.Type("d") }, []string{`(?i)describe\(` + node, `Annotations:`, `CreationTimestamp:`}},
		{"its YAML", func() {
			press("esc")
			screen.Want(t, terminal.Matches(regexp.MustCompile(`(?i)nodes\(all\)`)))
			screen.Type("y")
		},
			[]string{`(?i)yaml\(` + node, `apiVersion: v1`, `kind: Node`}},
		{"the pods of a namespace", func() { view("pods openstack") }, []string{`(?i)pods\(openstack\)\[\d+\]`, `Running`}},
		{"a pod that is looked for", func() { screen.Type("/" + pod.Name); press("enter") }, []string{`(?i)pods\(openstack\)\[1\]`, pod.Name}},
		{"its log", func() { screen.Type("l") }, []string{`(?i)logs\(openstack/` + pod.Name, `the hypervisor is being looked at`}},
		{"the locks", func() { view("nodeworkloadlocks") }, []string{`(?i)nodeworkloadlocks\(all\)\[\d+\]`, lock}},
		{"a lock that is looked for", func() { screen.Type("/" + lock); press("enter") }, []string{`(?i)nodeworkloadlocks\(all\)\[1\]`}},
		{"its description", func() { screen.Type("d") },
			[]string{`(?i)describe\((-/)?` + lock, `Controller Name: +openstack`, `Node Name: +` + node}},
		{"its YAML", func() {
			press("esc")
			screen.Want(t, terminal.Matches(regexp.MustCompile(`(?i)nodeworkloadlocks\(all\)`)))
			screen.Type("y")
		},
			[]string{`(?i)yaml\((-/)?` + lock, `controllerName: openstack`}},
		{"what OpenStack says of itself", func() { view("openstackdeploymentstatus") },
			[]string{`(?i)openstackdeploymentstatus\(openstack\)\[1\]`, `APPLIED`}},
		{"the workloads", func() { view("daemonsets openstack") }, []string{`(?i)daemonsets\(openstack\)\[\d+\]`, `nova-compute-default`}},
		{"the events", func() { view("events all") }, []string{`(?i)events\(all\)\[\d+\]`}},
	} {
		if step.do != nil {
			step.do()
		}
		for _, want := range step.want {
			ctx, cancel := context.WithTimeout(t.Context(), terminal.Patience)
			_, err := screen.WaitFor(ctx, terminal.Matches(regexp.MustCompile(want)))
			cancel()
			if err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
		}
	}
}
