package e2e

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"lockstep/e2e/cluster"
)

// kubeconfigFor writes a kubeconfig for a server to a file.
func kubeconfigFor(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: far, contexts: [{name: far, context: {cluster: far, user: me}}],` +
		`clusters: [{name: far, cluster: {server: "` + server + `"}}], users: [{name: me, user: {token: none}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// asking writes a kubeconfig for a server that accepts connections and never answers; its credential plugin asks for a password.
func asking(t *testing.T) string {
	t.Helper()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // only the system accepts connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	path := kubeconfigFor(t, "https://"+silent.Addr().String())
	plugin := filepath.Join(t.TempDir(), "kubelogin")
	script := `#!/bin/sh
printf 'Password: ' >&2
read password
[ "$password" = right ] || exit 1
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"x"}}'
`
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(string(raw), "token: none",
		"exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: "+plugin+"}", 1)
	for file, content := range map[string]string{plugin: script, path: config} {
		if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A credential plugin may ask on the terminal before the screen opens, and the program announces it. The screen opens when the
// plugin has its answer, whether the server answers or not.
func TestACredentialPluginAsksBeforeTheScreenOpens(t *testing.T) {
	t.Parallel()
	p := launch(t, start{columns: 120, rows: 40}, "--kubeconfig", asking(t))
	p.Wants("kubelogin logs in to Kubernetes. It may ask you something here; it has 3 m", "Password:")
	p.Type("right\r")
	p.Wants("READ-ONLY", "kubernetes no answer")
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}

	p = launch(t, start{columns: 120, rows: 40}, "--kubeconfig", asking(t))
	p.Wants("Password:")
	p.Type("wrong\r")
	p.Wants("READ-ONLY", "kubernetes login refused")
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

// removeDefinition removes a kind from the API, with its objects, even those that a controller's finalizer holds.
func removeDefinition(t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource) {
	t.Helper()
	name := resource.GroupResource().String()
	if err := client.Resource(definitionsResource).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if _, err := client.Resource(definitionsResource).Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return true, nil
		}
		left, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, nil // the kind goes away meanwhile
		}
		for i := range left.Items {
			_, err := client.Resource(resource).Patch(ctx, left.Items[i].GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
				metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Logf("take the finalizers off %s: %v", left.Items[i].GetName(), err)
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("remove the definition of %s: %v", name, err)
	}
}

// Whatever is wrong at the start, the screen opens, and the pane concerned says which call failed, why, and what to do.
func TestTroubleAtTheStartIsShownWhereItMatters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	tests := []struct {
		name  string
		start start
		pane  string   // its key
		says  []string // on one screen
		still string   // what the pane of the nodes still shows; empty for nothing
	}{
		{"no kubeconfig", start{kubeconfig: nowhere}, "3",
			[]string{"Misconfigured: nodes.", "call: read kubeconfig", "why: the file does not exist", "do: Check --kubeconfig."}, ""},
		{"a server that does not answer", start{kubeconfig: kubeconfigFor(t, "https://127.0.0.1:1")}, "3",
			[]string{"Unreachable: nodes.", "call: list nodes", "why: ", "do: Nothing listens there"}, ""},
		{"an expired token", start{user: cluster.Expired}, "3",
			[]string{"Login refused: nodes.", "call: list nodes, answer 401", "why: ", "do: The login was refused or has expired"}, ""},
		{"a user without rights", start{user: cluster.Nobody}, "3",
			[]string{"Not allowed: nodes.", "call: list nodes, answer 403", `cannot list resource "nodes"`, "do: You may not list nodes"}, ""},
		{"no clouds.yaml", start{cloudsYAML: nowhere}, "4",
			[]string{"Misconfigured: instances, migrations.", "call: load the OpenStack credentials", "why: ", "do: "}, "waiting for you"},
		{"a wrong password", start{cloud: cloudWrongPassword}, "4",
			[]string{"Login refused: instances, migrations.", "call: log in to wrong-password", "answer", "why: ",
				"do: check user, password and domains"}, "waiting for you"},
		{"a login without the rights of an administrator", start{cloud: cloudMember}, "4",
			[]string{"Not allowed: instances.", "answer 403", "why: ", "do: it needs the role admin"}, "waiting for you"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.start
			s.columns, s.rows = 80, 24
			p := w.launch(t, s)
			p.Wants("READ-ONLY")
			p.Press(test.pane)
			p.Wants(test.says...)
			if test.still != "" {
				p.Press("3")
				p.WantsRow("cmp-01", test.still)
			}
			if code := p.Leave(); code != 0 {
				t.Errorf("the exit code is %d", code)
			}
		})
	}

	t.Run("a missing definition", func(t *testing.T) {
		removeDefinition(t, as(t, w.Cluster, cluster.Admin), nodeLocks)
		p := w.launch(t, start{columns: 80, rows: 24})
		p.Wants("READ-ONLY")
		p.Press("5")
		p.Wants("The server does not know nodeworkloadlocks.", "call: list nodeworkloadlocks.lcm.mirantis.com, answer 404", "why: ",
			"its CRD is missing")
		p.Press("3")
		p.WantsRow("cmp-01")
	})
}
