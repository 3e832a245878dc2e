package kube

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// givenConfig is a kubeconfig as a management cluster keeps it, with fields of its cluster and of its user.
func givenConfig(cluster, user string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: admin@mos, contexts: [{name: admin@mos, context: `+
		`{cluster: mos, user: admin}}], clusters: [{name: mos, cluster: {%s}}], users: [{name: admin, user: {%s}}]}`, cluster, user)
}

// What a kubeconfig from a Secret must not have is refused, and no message quotes it.
func TestAGivenKubeconfigHasNothingThatSurprises(t *testing.T) {
	const server, token = "server: 'https://10.0.0.1:6443'", "token: hush-hush"
	for name, tt := range map[string]struct {
		content string
		want    string // a part of the refusal; empty: it is accepted
	}{
		"a token":               {givenConfig(server, token), ""},
		"a certificate":         {givenConfig(server, "client-certificate-data: aHVzaA==, client-key-data: aHVzaA=="), ""},
		"nothing":               {"", "has no current context"},
		"no kubeconfig":         {"hush-hush", "cannot be read"},
		"a broken one":          {"{hush-hush: [", "cannot be read"},
		"a wrong type":          {"{apiVersion: v1, kind: Config, users: hush-hush}", "cannot be read"},
		"no context":            {"{apiVersion: v1, kind: Config}", "has no current context"},
		"no user":               {strings.Replace(givenConfig(server, token), "user: admin}", "user: other}", 1), "that it does not have"},
		"too large":             {givenConfig(server, token) + strings.Repeat(" ", maxKubeconfig), "is larger"},
		"no server":             {givenConfig("", token), "has no address"},
		"no TLS":                {givenConfig("server: 'http://10.0.0.1'", token), "without TLS"},
		"another scheme":        {givenConfig("server: 'unix://10.0.0.1/hush'", token), "without TLS"},
		"a password in the URL": {givenConfig("server: 'https://u:hush-hush@10.0.0.1'", token), "password in the server's address"},
		"no verification":       {givenConfig(server+", insecure-skip-tls-verify: true", token), "switches the verification"},
		"a CA in a file":        {givenConfig(server+", certificate-authority: /etc/hush-hush", token), "names a file"},
		"a proxy":               {givenConfig(server+", proxy-url: 'http://hush-hush:1'", token), "through a proxy"},
		"a program": {givenConfig(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: hush-hush, "+
			"interactiveMode: Never}, "+token), "run a program"},
		"an auth-provider":      {givenConfig(server, "auth-provider: {name: oidc, config: {id-token: hush-hush}}, "+token), "auth-provider"},
		"a token in a file":     {givenConfig(server, "tokenFile: /etc/hush-hush"), "names a file"},
		"a certificate's file":  {givenConfig(server, "client-certificate: hush-hush, client-key-data: aHVzaA=="), "names a file"},
		"a key's file":          {givenConfig(server, "client-certificate-data: aHVzaA==, client-key: hush-hush"), "names a file"},
		"somebody else":         {givenConfig(server, token+", as: hush-hush"), "acts as somebody else"},
		"groups of others":      {givenConfig(server, token+", as-groups: [hush-hush]"), "acts as somebody else"},
		"a password":            {givenConfig(server, "username: admin, password: hush-hush"), "with a password"},
		"no login":              {givenConfig(server, ""), "neither a token nor a certificate"},
		"half of a certificate": {givenConfig(server, "client-certificate-data: aHVzaA=="), "neither a token nor a certificate"},
	} {
		_, _, err := (&Given{Content: []byte(tt.content), Origin: "secret"}).read(false)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if _, err := Load(Options{Given: &Given{Content: []byte(tt.content), Origin: "secret x"}}); tt.want != "" &&
			(err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "secret x")) {
			t.Errorf("%s: a Client is made of it, or its origin is not said: %v", name, err)
		}
	}
}

// Nothing of the machine is mixed in: neither its kubeconfig nor a context of that name.
func TestAGivenKubeconfigIsTheWholeLogin(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere/at-all")
	content := []byte(givenConfig("server: 'https://10.0.0.1:6443'", "token: hush-hush"))
	c, err := Load(Options{Given: &Given{Content: content, Origin: "secret x"}, Context: "other", Kubeconfig: "/nowhere/else"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Server != "https://10.0.0.1:6443" || c.ClusterName != "mos" || c.File != "" || c.Origin() != "secret x" {
		t.Errorf("the Client is %s %s %s, of %s", c.Server, c.ClusterName, c.File, c.Origin())
	}
	if text := c.secrets.Redact("it said hush-hush"); strings.Contains(text, "hush") {
		t.Errorf("the token is not known as a secret: %s", text)
	}
	if c.renew() {
		t.Error("it logs in anew with the same login")
	}
}

func TestTheLoginOfAClusterIsReadOnTheManagementCluster(t *testing.T) {
	secret := func(name, key, value string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: prod}, data: {%s: %s}}`, name, key, value)
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: append(kubeapi.ManagementUsers(), kubeapi.User{Name: "ann", Rules: []kubeapi.Rule{{
			Namespaces: []string{"prod"}, PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"},
				Verbs:         []string{"get"},
				ResourceNames: []string{"mos-kubeconfig", "gone-kubeconfig", "bare-kubeconfig", "bad-kubeconfig", "exec-kubeconfig"}}}}})})
		config := givenConfig("server: 'https://10.0.0.1:6443'", "token: hush-hush")
		c.create(secret("mos-kubeconfig", "admin.conf", encoded(config)))
		c.create(secret("bare-kubeconfig", "value", encoded(config)))
		c.create(secret("bad-kubeconfig", "admin.conf", encoded("hush-hush")))
		c.create(secret("exec-kubeconfig", "admin.conf", encoded(givenConfig("server: 'https://10.0.0.1:6443'",
			"exec: {apiVersion: client.authentication.k8s.io/v1, command: hush-hush, interactiveMode: Never}"))))
		c.create(secret("other-kubeconfig", "admin.conf", encoded(config)))
		client := c.client("ann")
		login, err := client.ClusterLogin(t.Context(), "prod", "mos")
		if err != nil || string(login.Content) != config || login.Origin != "secret mos-kubeconfig in namespace prod" {
			t.Errorf("it reads %+v, %v", login, err)
		}
		wrong := func(cluster string, kind core.ErrorKind, message, remedy string) {
			t.Helper()
			_, err := client.ClusterLogin(t.Context(), "prod", cluster)
			e, ok := err.(*core.APIError)
			if !ok || e.Kind != kind || e.Server != core.ServerManagement || !strings.Contains(e.Message, message) ||
				!strings.Contains(e.Remedy, remedy) || strings.Contains(e.Error()+e.Remedy, "hush") {
				t.Errorf("%s: %+v", cluster, err)
			}
		}
		wrong("gone", core.ErrNotFound, "not found", "keeps no login")
		wrong("bare", core.ErrNotFound, "no key admin.conf", "section clusters")
		wrong("bad", core.ErrInvalid, "no kubeconfig", "section clusters")
		wrong("exec", core.ErrInvalid, "run a program", "section clusters")
		wrong("other", core.ErrForbidden, "cannot get", "deploy/rbac-management-logins.yaml")
		remove := c.AddFault(kubeapi.Fault{Match: ours, Code: http.StatusServiceUnavailable})
		wrong("mos", core.ErrServer, "", "50x")
		remove()
		c.AddFault(kubeapi.Fault{Match: ours, Hang: true})
		wrong("mos", core.ErrTimeout, "", "context ")
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && (r.Verb != "get" || !strings.Contains(r.Path, "/namespaces/prod/secrets/")) {
				t.Errorf("it sent %s %s", r.Verb, r.Path)
			}
		}
	})
}

// A login that was read from a Secret does not come back by a login for kubectl: where it is refused, or the server is another one, the
// remedy is to open the cluster again.
func TestALoginFromASecretThatIsRefusedSaysWhatToDo(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		inFile := c.client(kubeapi.Readonly)
		content, err := os.ReadFile(inFile.File)
		if err != nil {
			t.Fatal(err)
		}
		opts := inFile.opts
		opts.Kubeconfig, opts.Given = "", &Given{Content: content, Origin: "secret mos-kubeconfig in namespace prod"}
		fromSecret, err := Load(opts)
		if err != nil {
			t.Fatal(err)
		}
		again := func(remedy string) bool {
			return strings.Contains(remedy, "read once, from secret mos-kubeconfig in namespace prod") &&
				strings.Contains(remedy, "open the cluster again")
		}
		_, o := watchCluster(t, fromSecret, WatchOptions{})
		_, file := watchCluster(t, inFile, WatchOptions{})
		o.wait("live", func(v *view) bool { return v.state[core.SourceNodes] == core.SourceLive })
		file.wait("live", func(v *view) bool { return v.state[core.SourceNodes] == core.SourceLive })
		c.AddFault(kubeapi.Fault{Match: ours, Code: http.StatusUnauthorized})
		c.CutWatches("")
		o.wait("refused", func(v *view) bool {
			e := v.err[core.SourceNodes]
			return e != nil && e.Kind == core.ErrUnauthorized && again(e.Remedy)
		})
		file.wait("refused", func(v *view) bool {
			e := v.err[core.SourceNodes]
			return e != nil && e.Kind == core.ErrUnauthorized && strings.Contains(e.Remedy, "for kubectl")
		})
		other := fmt.Errorf("get: %w", x509.UnknownAuthorityError{})
		if e := fromSecret.describe(other, "get"); e.Kind != core.ErrConfiguration || !again(e.Remedy) {
			t.Errorf("the server has another authority: %+v", e)
		}
		if e := inFile.describe(other, "get"); again(e.Remedy) {
			t.Errorf("of a kubeconfig it says %+v", e)
		}
		if e := fromSecret.describe(&core.APIError{Kind: core.ErrForbidden, Remedy: "ask"}, "get"); e.Remedy != "ask" {
			t.Errorf("a right that is missing: %+v", e)
		}
	})
}
