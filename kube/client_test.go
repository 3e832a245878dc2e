package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

func TestLogin(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Version: "v1.31.9"})
		if version, err := c.client(kubeapi.Readonly).Login(t.Context()); err != nil || version != "v1.31.9" {
			t.Errorf("got %q, %v", version, err)
		}
		client := c.client(kubeapi.Readonly)
		if err := c.ExpireToken(kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		_, err := client.Login(t.Context())
		e := Describe(err, "")
		if e == nil || e.Kind != core.ErrUnauthorized || !strings.Contains(e.Remedy, client.File) || !strings.Contains(e.Remedy, c.URL()) {
			t.Errorf("got %+v", e)
		}
		if err := c.Outage(true); err != nil {
			t.Fatal(err)
		}
		_, err = client.Login(t.Context())
		if e := Describe(err, ""); e == nil || e.Kind != core.ErrUnreachable || !strings.Contains(e.Remedy, c.URL()) {
			t.Errorf("got %+v", e)
		}
	})
}

// TestLoginRunsThePluginOnceAndThenKeepsItFromTheTerminal uses a plugin that counts its runs and tells whether it may ask.
func TestLoginRunsThePluginOnceAndThenKeepsItFromTheTerminal(t *testing.T) {
	c := startCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Token: "plugin-token", Rules: kubeapi.ReadonlyRules()}}})
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	plugin := filepath.Join(dir, "plugin")
	script := `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >> ` + runs + `
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"plugin-token"}}'
`
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := c.Kubeconfig("ann")
	if err != nil {
		t.Fatal(err)
	}
	exec := strings.Replace(string(raw), "    token: plugin-token",
		`    exec: {apiVersion: client.authentication.k8s.io/v1, command: `+plugin+`, interactiveMode: IfAvailable}`, 1)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(exec), 0o600); err != nil {
		t.Fatal(err)
	}
	client := c.load(path)
	c.ForgetRequests()
	if err := client.GetCredentials(t.Context()); err != nil || len(c.Requests()) > 0 {
		t.Fatalf("the server was asked %v; %v", c.Requests(), err)
	}
	if _, err := client.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, o := watchCluster(t, client, WatchOptions{})
	o.wait("live", func(v *view) bool { return v.is(core.SourceNodes) && v.is(core.SourceNodeLocks) })
	log, err := os.ReadFile(runs)
	if err != nil || bytes.Count(log, []byte("ExecCredential")) != 1 {
		t.Errorf("the plugin ran: %s, %v", log, err)
	}
	if !client.session.Load().config.ExecProvider.StdinUnavailable {
		t.Error("the plugin may still ask on the terminal")
	}
}

// withPlugin is a kubeconfig whose credential plugin is a shell script; FILE in it is a file that is there until the test ends.
func withPlugin(t *testing.T, c *cluster, script string) (path, file string) {
	t.Helper()
	dir := t.TempDir()
	file, path = filepath.Join(dir, "runs"), filepath.Join(dir, "kubeconfig")
	raw, err := c.Kubeconfig(kubeapi.Readonly)
	if err != nil {
		t.Fatal(err)
	}
	token := regexp.MustCompile(`(?m)^    token: .*$`)
	config := token.ReplaceAllString(string(raw),
		`    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, "`+strings.ReplaceAll(script, "FILE", file)+
			`"], interactiveMode: Never}`)
	for name, content := range map[string]string{file: "", path: config} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Remove(file) })
	return path, file
}

// A credential plugin that fails is run once for all calls that wait for it, and then left alone: each run may send a wrong
// password.
func TestAPluginThatFailsIsNotRunForEveryCall(t *testing.T) {
	c := startCluster(t, kubeapi.Options{})
	path, runs := withPlugin(t, c, "echo run >> FILE; exit 1")
	client := c.load(path)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			_, _, err := client.get(t.Context(), "/version")
			if e := Describe(err, ""); e == nil || e.Kind != core.ErrUnauthorized || !strings.Contains(e.Message, "exit code 1") {
				t.Errorf("%+v", e)
			}
		})
	}
	calls.Wait()
	if log, err := os.ReadFile(runs); err != nil || string(log) != "run\n" {
		t.Errorf("it ran: %q, %v", log, err)
	}
}

// A credential plugin whose credentials the server refuses is run anew once, and then left alone for a while.
func TestAPluginWhoseCredentialsAreRefusedIsNotRunForEveryCall(t *testing.T) {
	c := startCluster(t, kubeapi.Options{})
	path, runs := withPlugin(t, c, `echo run >> FILE; echo '{\"apiVersion\": \"client.authentication.k8s.io/v1\", `+
		`\"kind\": \"ExecCredential\", \"status\": {\"token\": \"old\"}}'`)
	client := c.load(path)
	for n := range 20 {
		_, _, err := client.get(t.Context(), "/version")
		if e := Describe(err, ""); e == nil || e.Kind != core.ErrUnauthorized || n > 2 && !strings.Contains(e.Message, "sh brings") {
			t.Errorf("%+v", e)
		}
	}
	if log, err := os.ReadFile(runs); err != nil || string(log) != "run\nrun\nrun\n" {
		t.Errorf("it ran: %q, %v", log, err)
	}
}

// deadline is a context whose deadline passes when its channel is closed, however fast the machine is.
type deadline struct {
	context.Context
	passes chan struct{}
}

func (d deadline) Deadline() (time.Time, bool) { return time.Time{}, false }
func (d deadline) Done() <-chan struct{}       { return d.passes }

func (d deadline) Err() error {
	select {
	case <-d.passes:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// telling is a transport that tells of each request before it sends it.
type telling struct {
	http.RoundTripper
	comes chan struct{}
}

func (a telling) RoundTrip(r *http.Request) (*http.Response, error) {
	a.comes <- struct{}{}
	return a.RoundTripper.RoundTrip(r)
}

// A credential plugin that hangs delays no caller beyond its own deadline: neither a login, nor a watch, nor a write.
func TestAPluginThatHangsHoldsNobodyUp(t *testing.T) {
	c := startCluster(t, kubeapi.Options{})
	path, file := withPlugin(t, c, ": > FILE.run; while [ -e FILE ]; do sleep 0.05; done")
	client := c.load(path)
	if client.Asks() != "" {
		t.Error("it may ask")
	}
	permissions := WatchPermissions()
	comes := make(chan struct{}, len(permissions))
	session := client.session.Load().http
	waits := session.Transport
	session.Transport = telling{waits, comes}
	for _, tt := range []struct {
		what string
		call func(context.Context) error
		come int // how many requests wait for the plugin when the deadline passes
	}{
		{"get the credentials", client.GetCredentials, 1},
		{"log in", func(ctx context.Context) error { _, err := client.Login(ctx); return err }, 1},
		{"read", func(ctx context.Context) error { return NewAccess(client).Review(ctx, permissions...) }, 4},
	} {
		ctx := deadline{t.Context(), make(chan struct{})}
		told := make(chan error, 1)
		go func() { told <- tt.call(ctx) }()
		for range tt.come {
			<-comes // otherwise the test hangs
		}
		for {
			if _, err := os.Stat(file + ".run"); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		close(ctx.passes)
		e := Describe(<-told, "")
		if e == nil || e.Kind != core.ErrUnauthorized || !strings.Contains(e.Message, "sh has not finished in time") ||
			!strings.Contains(e.Remedy, "plugin") {
			t.Errorf("%s: %+v", tt.what, e)
		}
	}
	session.Transport = waits
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := client.GetCredentials(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves is told %v", err)
	}
	// The watcher says why, and ends. Otherwise the test hangs.
	_, o := watchCluster(t, client, WatchOptions{ListTimeout: 100 * time.Millisecond})
	o.wait("told", func(v *view) bool {
		err := v.err[core.SourceNodes]
		return err != nil && strings.Contains(err.Message, "sh has not finished in time")
	})
}

// idToken is one as an identity provider makes them, as far as a client reads it.
func idToken(name string, until time.Time) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"sub":%q,"exp":%d}`, name, until.Unix())) + "." + part("signed")
}

// The auth-provider oidc, which kubeconfigs of MOSK's IAM name, sends nothing when its session is over. That is told as a login that has
// ended, and the kubeconfig that comes after another login counts without a restart.
func TestAnAuthProviderWhoseSessionIsOver(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		first, second := idToken("ann", time.Now().Add(time.Hour)), idToken("ann", time.Now().Add(24*time.Hour))
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Token: first, Rules: kubeapi.ReadonlyRules()},
			{Name: "ann again", Token: second, Rules: kubeapi.ReadonlyRules()}}})
		raw, err := c.Kubeconfig("ann")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "kubeconfig")
		write := func(token string) {
			config := regexp.MustCompile(`(?m)^    token: .*$`).ReplaceAllString(string(raw),
				"    auth-provider: {name: oidc, config: {idp-issuer-url: https://keycloak.example, client-id: kaas, id-token: "+token+"}}")
			if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(first)
		client := c.load(path)
		if _, err := client.Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		c.ForgetRequests()
		_, err = client.Login(t.Context())
		e := Describe(err, "")
		if e == nil || e.Kind != core.ErrUnauthorized || e.Uncertain() || !strings.Contains(e.Remedy, "log in again") || len(c.Requests()) > 0 {
			t.Errorf("got %+v; the server was asked %v", e, c.Requests())
		}
		if client.renew() {
			t.Error("the same kubeconfig counts as another login")
		}
		write(second)
		if !client.renew() {
			t.Fatal("the new kubeconfig does not count")
		}
		if _, err := client.Login(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A kubeconfig with another CA, or another name of the server, is another login: a source that mistrusted the server takes it up.
func TestAnotherAuthorityIsAnotherLogin(t *testing.T) {
	of := func(change func(*rest.Config)) *rest.Config {
		c := &rest.Config{BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca"), ServerName: "a"}}
		change(c)
		return c
	}
	for name, tt := range map[string]struct {
		change func(*rest.Config)
		same   bool
	}{
		"the same":      {func(*rest.Config) {}, true},
		"another CA":    {func(c *rest.Config) { c.CAData = []byte("new") }, false},
		"a CA's file":   {func(c *rest.Config) { c.CAFile = "ca.crt" }, false},
		"another name":  {func(c *rest.Config) { c.ServerName = "b" }, false},
		"another token": {func(c *rest.Config) { c.BearerToken = "u" }, false},
	} {
		if same := sameLogin(of(func(*rest.Config) {}), of(tt.change)); same != tt.same {
			t.Errorf("%s: the same: %v", name, same)
		}
	}
}

func TestAccess(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		reader, operator := NewAccess(c.client(kubeapi.Readonly)), NewAccess(c.client(kubeapi.Operator))
		writes := WritePermissions("")
		if allowed, known := reader.Knows(writes[0]); allowed || known {
			t.Error("something is known that was not asked")
		}
		if missing := reader.Missing(writes...); len(missing) != 0 {
			t.Errorf("what was not asked is missing: %v", missing)
		}
		for _, a := range []*Access{reader, operator} {
			if err := a.Review(t.Context(), append(WatchPermissions(), writes...)...); err != nil {
				t.Fatal(err)
			}
			if missing := a.Missing(WatchPermissions()...); len(missing) > 0 {
				t.Errorf("watching lacks %v", missing)
			}
		}
		if missing := operator.Missing(writes...); len(missing) > 0 {
			t.Errorf("the operator lacks %v", missing)
		}
		if !operator.Can("patch", "", "nodes", "", "") || reader.Can("patch", "", "nodes", "", "") {
			t.Error("patch nodes: the operator may, the reader may not")
		}
		e := reader.Forbidden("arm", writes...)
		if e == nil || !strings.Contains(e.Message,
			"patch nodes, create leases.coordination.k8s.io in namespace default, update leases.coordination.k8s.io lockstep-operator in "+
				"namespace default") {
			t.Errorf("got %v", e)
		}
		if e := operator.Forbidden("arm", writes...); e != nil {
			t.Errorf("got %v", e)
		}

		c.ForgetRequests()
		if err := operator.Review(t.Context(), writes...); err != nil || len(c.Requests()) > 0 {
			t.Errorf("what is given was asked again: %v, %v", c.Requests(), err)
		}
		// The administrator has applied what was missing.
		missing := reader.Missing(writes...)
		reader.client = c.client(kubeapi.Operator)
		if err := reader.Review(t.Context(), writes...); err != nil || len(c.Requests()) != len(missing) ||
			reader.Forbidden("arm", writes...) != nil {
			t.Errorf("what was refused counts as refused for ever: %v, %v, %v", c.Requests(), err, reader.Forbidden("arm", writes...))
		}
	})
}

func TestOpenStackCredentials(t *testing.T) {
	const clouds = "clouds:\n  admin: {}\n"
	secret := func(data string) string {
		return `{apiVersion: v1, kind: Secret, metadata: {name: openstack-identity-credentials, namespace: openstack-external}, data: {` + data +
			`}}`
	}
	for name, tt := range map[string]struct {
		secret, user string
		want         string
		fails        core.ErrorKind
	}{
		"there":        {secret(`clouds.yaml: ` + base64.StdEncoding.EncodeToString([]byte(clouds))), kubeapi.Operator, clouds, ""},
		"without key":  {secret(`other: eA==`), kubeapi.Operator, "", core.ErrNotFound},
		"not there":    {"", kubeapi.Operator, "", core.ErrNotFound},
		"not for them": {secret(`clouds.yaml: eA==`), kubeapi.Readonly, "", core.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				if tt.secret != "" {
					c.create(tt.secret)
				}
				got, err := c.client(tt.user).OpenStackCredentials(t.Context())
				var e *core.APIError
				switch {
				case tt.fails == "" && (err != nil || string(got) != tt.want):
					t.Errorf("got %q, %v", got, err)
				case tt.fails != "" && (!errors.As(err, &e) || e.Kind != tt.fails || !strings.Contains(e.Remedy, "clouds.yaml")):
					t.Errorf("got %+v", e)
				}
			})
		})
	}
}

// TestNothingIsWrittenToStandardError replaces standard error by a pipe and provokes what libraries write there.
func TestNothingIsWrittenToStandardError(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = write
	defer func() {
		os.Stderr = old
		RedirectLogs(slog.New(slog.DiscardHandler))
	}()
	var log bytes.Buffer
	RedirectLogs(slog.New(slog.NewTextHandler(&log, nil)))
	klog.Error("from klog")
	klog.Flush()
	runtime.HandleError(errors.New("from nobody"))
	w := &warnings{log: slog.New(slog.NewTextHandler(&log, nil)), seen: map[string]bool{}}
	for range 2 {
		w.HandleWarningHeaderWithContext(t.Context(), 299, "", "from the server")
	}
	write.Close()
	leaked := new(bytes.Buffer)
	if _, err := leaked.ReadFrom(read); err != nil || leaked.Len() > 0 {
		t.Errorf("standard error got %q, %v", leaked, err)
	}
	for _, text := range []string{"from klog", "from nobody", "from the server"} {
		if n := strings.Count(log.String(), text); n != 1 {
			t.Errorf("%q is %d times in the log:\n%s", text, n, &log)
		}
	}
}
