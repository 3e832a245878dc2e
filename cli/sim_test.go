package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestWhatSimRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"sim", "--user", "root"}, `--user is "root"; there are admin, operator, readonly`},
		{[]string{"sim", "--fault", "nova:503"}, `there is no server "nova"`},
		{[]string{"sim", "--fault", "compute:503,rate=3"}, "want a share above 0, up to 1"},
		{[]string{"sim", "--scenario", "third-party", "--fault", "management:503"}, "this cloud has no server management of its own"},
		{[]string{"sim", "kubectl", "get"}, "lockstep sim -- kubectl get"},
		{[]string{"sim", "--kubernetes-port", "70000"}, "kubernetes-port"},
		{[]string{"demo", "--fault", "compute"}, "want SERVER:FAULT"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, out, errs := run(t, test.args...)
			if code != exitError || out != "" || !strings.Contains(errs, test.want) {
				t.Errorf("exit %d, output %q, message %q", code, out, errs)
			}
		})
	}
}

func TestSimWritesOverNothing(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := run(t, "sim", "--dir", dir)
	if raw, err := os.ReadFile(mine); err != nil || string(raw) != "mine" || code != exitError || !strings.Contains(errs, "exists already") {
		t.Errorf("exit %d, message %q, the file has %q", code, errs, raw)
	}
}

// A command finds the cloud, and no other, in its environment. Its exit code is passed on, and nothing is left behind.
func TestSimRunsACommand(t *testing.T) {
	t.Setenv("OS_PASSWORD", "of a real cloud")
	dir := filepath.Join(t.TempDir(), "a folder")
	code, _, errs := run(t, "sim", "--dir", dir, "--", "sh", "-c",
		`test -f "$KUBECONFIG" && test -f "$OS_CLIENT_CONFIG_FILE" && test "$OS_CLOUD" = sim && test -z "$OS_PASSWORD" && exit 7`)
	if code != 7 {
		t.Errorf("exit %d, message %q", code, errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHowACommandEnds(t *testing.T) {
	var errs bytes.Buffer
	for command, want := range map[string]error{"kill -TERM $$": exitWith(exitSignalled + 15), "exit 3": exitWith(3), "true": nil} {
		if err := runCommand([]string{"sh", "-c", command}, nil, os.Stdin, io.Discard, &errs); err != want {
			t.Errorf("%s: %v, message %q", command, err, errs.String())
		}
	}
	err := runCommand([]string{"no-such-command"}, nil, os.Stdin, io.Discard, &errs)
	if err != exitWith(exitNotFound) || !strings.Contains(errs.String(), "no-such-command") {
		t.Errorf("%v, message %q", err, errs.String())
	}
}

// Without a command, sim prints what a shell needs to know, serves, and removes everything when it is interrupted.
func TestSimServesUntilItIsInterrupted(t *testing.T) {
	f := simCommand{simFlags: simFlags{speed: 1, scenario: "manual-nodes"}, user: "readonly", dir: filepath.Join(t.TempDir(), "it's mine"),
		envFile: filepath.Join(t.TempDir(), "env")}
	so, err := f.simOptions(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	var notes bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- f.run(ctx, so, nil, nil, out, &notes)
		out.Close()
	}()
	first := make([]byte, 4096)
	n, err := printed.Read(first)
	if err != nil {
		t.Fatal(err, notes.String())
	}
	text := string(first[:n])
	if raw, err := os.ReadFile(f.envFile); err != nil || string(raw) != text {
		t.Errorf("the file has %q, printed was %q", raw, text)
	}
	if want := `export KUBECONFIG='` + strings.ReplaceAll(f.dir, "'", `'\''`) + `/kubeconfig'`; !strings.Contains(text, want) ||
		!strings.Contains(text, "export OS_CLOUD=sim\n") {
		t.Errorf("printed was %q, want %q in it", text, want)
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(f.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(nodes.Items) != 13 {
		t.Errorf("%v", err)
	}
	if err := client.CoreV1().Nodes().Delete(t.Context(), "x", metav1.DeleteOptions{}); err == nil ||
		!strings.Contains(err.Error(), "forbidden") {
		t.Errorf("somebody who may only look deletes a node: %v", err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, path := range []string{f.envFile, filepath.Join(f.dir, "kubeconfig"), filepath.Join(f.dir, "clouds.yaml")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left behind", path)
		}
	}
}

func TestFaultsAreListedAndCompleted(t *testing.T) {
	code, out, _ := run(t, "demo", "--faults")
	for _, want := range []string{"latency=LATENCY", "429=RETRY-AFTER", "watches-silent", "kubernetes:429,retry-after=30",
		"You should see: "} {
		if code != exitFine || !strings.Contains(out, want) {
			t.Errorf("exit %d; %q is not in\n%s", code, want, out)
		}
	}
	for typed, want := range map[string]string{"com": "compute:", "compute:50": "compute:500",
		"kubernetes:429,re": "kubernetes:429,retry-after=", "compute:503,every": "compute:503,everyone"} {
		got, _ := completeFault(typed)
		if len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s is completed to %q", typed, got)
		}
	}
}
