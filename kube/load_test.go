package kube

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

const twoContexts = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://one:6443"}}
- {name: c2, cluster: {server: "https://two:6443"}}
- {name: nowhere, cluster: {}}
users:
- {name: ann, user: {token: t1}}
- {name: missing-cert, user: {client-certificate: /no/such/cert, client-key: /no/such/key}}
contexts:
- {name: one, context: {cluster: c1, user: ann}}
- {name: two, context: {cluster: c2, user: ann, namespace: work}}
- {name: lost-cluster, context: {cluster: gone, user: ann}}
- {name: lost-user, context: {cluster: c1, user: gone}}
- {name: no-server, context: {cluster: nowhere, user: ann}}
- {name: bad-cert, context: {cluster: c1, user: missing-cert}}
`

// kubeconfigIn writes a kubeconfig into a folder and keeps the environment of the machine out of it.
func kubeconfigIn(t *testing.T, name, content string) string {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadTakesTheContextThatKubectlWouldTake(t *testing.T) {
	path := kubeconfigIn(t, "config", twoContexts)
	tests := map[string]struct {
		opts                             Options
		env                              string
		context, cluster, server, namesp string
	}{
		"the current one":            {Options{Kubeconfig: path}, "", "one", "c1", "https://one:6443", "default"},
		"the one that was asked for": {Options{Kubeconfig: path, Context: "two"}, "", "two", "c2", "https://two:6443", "work"},
		"from $KUBECONFIG, where a file of the list may be missing": {Options{}, "/no/such/file" + string(os.PathListSeparator) + path,
			"one", "c1", "https://one:6443", "default"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.env)
			c, err := Load(tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if c.ContextName != tt.context || c.ClusterName != tt.cluster || c.Server != tt.server || c.Namespace != tt.namesp {
				t.Errorf("got context %q, cluster %q, server %q, namespace %q", c.ContextName, c.ClusterName, c.Server, c.Namespace)
			}
			if c.File != path || c.User != "ann" {
				t.Errorf("got file %q, user %q", c.File, c.User)
			}
		})
	}
}

func TestLoadSaysWhatIsWrongWithTheConfiguration(t *testing.T) {
	path := kubeconfigIn(t, "config", twoContexts)
	write := func(name, content string) string {
		p := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	nothing := write("empty", "")
	broken := write("broken", "apiVersion: v1\nkind: Config\nclusters: [oops")
	noCurrent := write("no-current", strings.Replace(twoContexts, "current-context: one", "", 1))
	tests := map[string]struct {
		opts Options
		says []string
	}{
		"the file of --kubeconfig is not there": {Options{Kubeconfig: "/no/such/file"},
			[]string{"/no/such/file", "does not exist", "--kubeconfig"}},
		"the file is not YAML":         {Options{Kubeconfig: broken}, []string{broken, "kubectl config view"}},
		"the file is empty":            {Options{Kubeconfig: nothing}, []string{nothing, "names no cluster", "KUBECONFIG"}},
		"nothing is configured at all": {Options{}, []string{".kube/config", "names no cluster", "--kubeconfig"}},
		"no context is current": {Options{Kubeconfig: noCurrent},
			[]string{noCurrent, "no current context", "lost-user, no-server, one, two", "--context"}},
		"an unknown context of the management cluster": {Options{Kubeconfig: path, Context: "three", Flags: "management-"},
			[]string{path, `no context "three"`, "Pass --management-context"}},
		"an unknown context":              {Options{Kubeconfig: path, Context: "three"}, []string{path, `no context "three"`, "one, two"}},
		"a context without its cluster":   {Options{Kubeconfig: path, Context: "lost-cluster"}, []string{path, `"lost-cluster"`, `"gone"`}},
		"a context without its user":      {Options{Kubeconfig: path, Context: "lost-user"}, []string{path, `"lost-user"`, `"gone"`}},
		"a cluster without a server":      {Options{Kubeconfig: path, Context: "no-server"}, []string{path, `"nowhere"`, "no server"}},
		"a certificate that is not there": {Options{Kubeconfig: path, Context: "bad-cert"}, []string{path, `"bad-cert"`, "/no/such/cert"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(tt.opts)
			var e *core.APIError
			if !errors.As(err, &e) || e.Kind != core.ErrConfiguration {
				t.Fatalf("got %v, want a configuration error", err)
			}
			text := e.Error() + "\n" + e.Remedy
			for _, part := range tt.says {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in:\n%s", part, text)
				}
			}
			if e.Remedy == "" {
				t.Error("no remedy")
			}
		})
	}
}

// What is wrong in a file is said in the parser's own words, and nothing of the file is quoted, whatever quotes a password has in it.
func TestLoadQuotesNothingOfABrokenFile(t *testing.T) {
	for content, says := range map[string]string{
		"clusters: [{name: hunter2 cluster: b}]":        "yaml: did not find expected ',' or '}'",
		"users:\n- name: a\nclusters: [hunter2":         "line 3: did not find expected ',' or ']'",
		"- hunter2\nusers: []":                          "line 1: did not find expected '-' indicator",
		"users: []\nhunter2\nclusters: []":              "could not find expected ':'",
		"users: *hunter2":                               "unknown anchor '(hidden)' referenced",
		"users: !!int \"hunter2\"":                      "cannot decode !!str `(hidden)` as a !!int",
		"users: !!int \"oops`hunter2`hunter2\"":         "cannot decode !!str `(hidden)` as a !!int",
		"users: !!int \"o','hunter2','`hunter2\"":       "cannot decode !!str `(hidden)` as a !!int",
		"users: !!int \"didn't 'hunter2' \\\"hunter2\"": "cannot decode !!str `(hidden)` as a !!int",
		"hunter2": "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value",
	} {
		path := kubeconfigIn(t, "config", content)
		_, err := Load(Options{Kubeconfig: path})
		if err == nil {
			t.Errorf("%q is read", content)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, says) || strings.Contains(text, "hunter2") {
			t.Errorf("%q\n says %s\n want %s", content, text, says)
		}
		if !strings.Contains(text, path) {
			t.Errorf("%q: the file is not named: %s", content, text)
		}
	}
}

// $KUBECONFIG may name several files, which are one: then no single file of them is the login.
func TestALoginMayBeInSeveralFiles(t *testing.T) {
	whole := kubeconfigIn(t, "config", twoContexts)
	i := strings.Index(twoContexts, "users:")
	j := strings.Index(twoContexts, "contexts:")
	const head = "apiVersion: v1\nkind: Config\n"
	users := filepath.Join(filepath.Dir(whole), "users")
	contexts := filepath.Join(filepath.Dir(whole), "contexts")
	for path, content := range map[string]string{users: head + twoContexts[i:j], contexts: twoContexts[:i] + twoContexts[j:]} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for env, want := range map[string]bool{whole: false, contexts + string(os.PathListSeparator) + users: true} {
		t.Setenv("KUBECONFIG", env)
		c, err := Load(Options{})
		if err != nil || c.Scattered != want || c.User != "ann" {
			t.Errorf("%s: %+v, %v", env, c, err)
		}
	}
}

// A plugin that the kubeconfig calls in another way by now is another login.
func TestAnotherPluginIsAnotherLogin(t *testing.T) {
	config := func(e *clientcmdapi.ExecConfig) *rest.Config { return &rest.Config{ExecProvider: e} }
	is := config(&clientcmdapi.ExecConfig{Command: "login", Args: []string{"-a"}, StdinUnavailable: true})
	for name, tt := range map[string]struct {
		now  *rest.Config
		same bool
	}{
		"the same":         {config(&clientcmdapi.ExecConfig{Command: "login", Args: []string{"-a"}}), true},
		"another command":  {config(&clientcmdapi.ExecConfig{Command: "login2", Args: []string{"-a"}}), false},
		"another argument": {config(&clientcmdapi.ExecConfig{Command: "login", Args: []string{"-b"}}), false},
		"a variable": {config(&clientcmdapi.ExecConfig{Command: "login", Args: []string{"-a"},
			Env: []clientcmdapi.ExecEnvVar{{Name: "A"}}}), false},
		"none":            {config(nil), false},
		"another version": {config(&clientcmdapi.ExecConfig{Command: "login", Args: []string{"-a"}, APIVersion: "v1"}), false},
	} {
		if got := sameLogin(is, tt.now); got != tt.same {
			t.Errorf("%s: the same login: %v", name, got)
		}
	}
}
