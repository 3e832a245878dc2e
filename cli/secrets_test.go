package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/cli/sessiontest"
	"lockstep/core/attention"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
	"lockstep/tui"
)

// planted is part of every secret of these tests, and of nothing else.
const planted = "PLANTED"

// secret is a secret that YAML, JSON, URLs and Go write differently.
const secret = `x` + planted + `&"p/w:%1`

// leaks returns what in a text gives a secret away.
func leaks(text string) string {
	parts := []string{planted}
	for skip := range 3 { // base64 of it, wherever it began
		parts = append(parts, base64.StdEncoding.EncodeToString([]byte(planted)[skip:])[:6])
	}
	for _, part := range parts {
		if i := strings.Index(text, part); i >= 0 {
			return text[max(0, i-120):min(len(text), i+120)]
		}
	}
	return ""
}

// parrot is a server, or its stand-in, that repeats everything it was sent.
type parrot struct {
	answer string // one of parrotAnswers
	only   func(*http.Request) bool
	base   http.RoundTripper // for the others
}

var parrotAnswers = []string{"status 401", "status 403", "status 500", "status 422", "page", "text", "no JSON", "redirect", "breaks"}

// RoundTrip implements http.RoundTripper.
func (p *parrot) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.only != nil && !p.only(r) {
		return p.base.RoundTrip(r)
	}
	var sent bytes.Buffer
	fmt.Fprintf(&sent, "%s %s", r.Method, r.URL)
	for name, values := range r.Header {
		fmt.Fprintf(&sent, " %s: %s", name, strings.Join(values, ","))
	}
	if r.Body != nil {
		_, _ = io.Copy(&sent, r.Body)
	}
	fmt.Fprintf(&sent, " mysql+pymysql://nova:x%sx@db/nova", planted)
	resp := &http.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}}
	body := fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %%d, "message": %q, "error": {"message": %[1]q}}`,
		sent.String())
	switch {
	case strings.HasPrefix(p.answer, "status "):
		_, _ = fmt.Sscanf(p.answer, "status %d", &resp.StatusCode)
		body = fmt.Sprintf(body, resp.StatusCode)
	case p.answer == "page":
		resp.StatusCode, body = http.StatusBadGateway, "<html><body>"+sent.String()+"</body></html>"
		resp.Header.Set("Content-Type", "text/html")
	case p.answer == "text":
		resp.StatusCode, body = http.StatusServiceUnavailable, sent.String()
		resp.Header.Set("Content-Type", "text/plain")
	case p.answer == "no JSON":
		resp.StatusCode, body = http.StatusOK, sent.String()
	case p.answer == "redirect":
		resp.StatusCode, body = http.StatusFound, ""
		resp.Header.Set("Location", "https://admin:x"+planted+"x@elsewhere/v3?token=x"+planted)
	case p.answer == "breaks":
		return nil, errors.New("write: broken pipe after " + sent.String())
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

// looked collects everything that Lockstep prints, logs, keeps and shows in a place.
func looked(t *testing.T, what string, at func() options, args ...string) (all string) {
	t.Helper()
	var text strings.Builder
	for _, command := range [][]string{{"status"}, {"status", "-o", "json"}, {"owners", "-o", "json"}, {"plan", "-o", "json"},
		{"snapshot", "-o", "-"}} {
		p := at()
		_, out, errs := runIn(t, p, slices.Concat(command, []string{"--wait", "1s"}, args)...)
		fmt.Fprintf(&text, "%s\n%s\n%s\n%s", command, out, errs, filesIn(t, p))
	}
	p := at()
	if err := p.configure(); err != nil {
		t.Fatal(err)
	}
	p.Kubeconfig, p.OSCloud = args[1], args[3]
	ctx, stop := context.WithCancel(t.Context())
	s, err := p.open(ctx, p.log)
	if err != nil {
		text.WriteString(err.Error())
	} else {
		done := inBackground(func() { s.Run(ctx) })
		time.Sleep(35 * time.Second) // a login that was refused is tried again by then
		screen := &watched{model: tui.New(tui.Options{Backend: s.Engine})}
		snap := s.Engine.Snapshot()
		fmt.Fprintf(&text, "%s\n%v\n%s", sessiontest.SourceTexts(snap), attention.Of(snap), screen.shows())
		stop()
		<-done
	}
	stop()
	text.WriteString(filesIn(t, p))
	if leak := leaks(text.String()); leak != "" {
		t.Errorf("%s: a secret is given away: …%s…", what, leak)
	}
	return text.String()
}

func inBackground(f func()) chan struct{} {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return done
}

// filesIn returns the log and the journal of a place.
func filesIn(t *testing.T, p options) string {
	t.Helper()
	var text strings.Builder
	for _, root := range []string{p.Journal, p.log.Path()} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			fmt.Fprintf(&text, "%s\n%s\n", path, raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

const kubeconfigHead = "apiVersion: v1\nkind: Config\ncurrent-context: mos\ncontexts: [{name: mos, context: {cluster: mos, user: ann}}]\n"

// kubeconfigWith returns a kubeconfig with the lines of a cluster and of a user.
func kubeconfigWith(cluster, user string) string {
	return kubeconfigHead + "clusters:\n- name: mos\n  cluster:\n" + indented(cluster) + "users:\n- name: ann\n  user:\n" + indented(user)
}

func indented(lines string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ") + "\n"
}

// Whichever server answers, and whatever it repeats of what it was sent: nothing of it is given away.
func TestServersThatRepeatWhatTheyWereSent(t *testing.T) {
	quoted := fmt.Sprintf("%q", secret)
	inURL := "x" + planted + "%26%22"
	users := map[string]string{
		"token":    "token: " + quoted,
		"password": "username: ann\npassword: " + quoted,
		"server":   "username: ''",
		"oidc": "auth-provider: {name: oidc, config: {client-id: a, client-secret: " + quoted + ", id-token: " + jwt() +
			", idp-issuer-url: 'https://idp', refresh-token: " + quoted + "}}",
		"a plugin": "exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/plugin, interactiveMode: Never, args: " +
			"[--client-secret, " + quoted + ", '--password=" + planted + "'], env: [{name: OIDC_TOKEN, value: " + quoted + "}]}",
		"client key": "client-key-data: " + base64.StdEncoding.EncodeToString([]byte(secret)) + "\nclient-certificate-data: " +
			base64.StdEncoding.EncodeToString([]byte(secret)),
	}
	for i, name := range slices.Sorted(maps.Keys(users)) {
		user := users[name]
		for j, answer := range parrotAnswers {
			if !lane.Chosen(t, i+j, 9) {
				continue
			}
			t.Run(name+", "+answer, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
					content := kubeconfigWith("server: https://ann:"+inURL+"@mos:6443\nproxy-url: http://ann:"+inURL+"@proxy:3128", user)
					if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
					clouds := fmt.Sprintf("clouds: {mos: {auth: {auth_url: 'https://admin:%s@keystone/v3', username: admin, password: %s, "+
						"project_name: admin}}}", inURL, quoted)
					text := looked(t, "kubeconfig and clouds.yaml", func() options {
						return options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), CloudsYAML: []byte(clouds),
							Line: session.Line{Transport: &parrot{answer: answer}, Jitter: func(string, time.Duration) time.Duration { return 0 }}}}
					}, "--kubeconfig", kubeconfig, "--os-cloud", "mos")
					if !strings.Contains(text, "keystone") {
						t.Errorf("nothing was tried:\n%s", text)
					}
				})
			})
		}
	}
}

// jwt returns a token that the oidc plugin takes for a long-lived one.
func jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(`{"exp": 99999999999, "x": "`+planted+`"}`) + "." + planted
}

// The error for a file that is broken at a place with a secret names the place, and not its content.
func TestBrokenFilesSayNothingOfTheirSecrets(t *testing.T) {
	quoted := fmt.Sprintf("%q", secret)
	wrong := []string{secret, quoted, "[" + quoted + "]", "{x: " + quoted + "}", "'" + planted, planted + ": " + planted + ": x",
		"!!binary " + planted + "!", "&a " + planted, "*" + planted, "|\n " + planted + "\n" + planted,
		"https://ann:" + planted + "/x%zz@host:port", "https://ann:a b" + planted + "@host", "ann:" + planted + "@host:6443"}
	var kubeconfigs, clouds []string
	for _, w := range wrong {
		if strings.Contains(w, "@") { // other addresses have no password
			kubeconfigs = append(kubeconfigs, kubeconfigWith("server: "+w, "token: abcd"),
				kubeconfigWith("server: https://mos\nproxy-url: "+w, "token: abcd"))
		}
		for _, field := range []string{"certificate-authority-data", "insecure-skip-tls-verify", "extensions"} {
			kubeconfigs = append(kubeconfigs, kubeconfigWith("server: https://mos\n"+field+": "+w, "token: abcd"))
		}
		for _, field := range []string{"token", "password", "client-key-data", "client-certificate-data", "exec", "auth-provider", "as-groups",
			"as-user-extra"} {
			kubeconfigs = append(kubeconfigs, kubeconfigWith("server: https://mos", "username: ann\n"+field+": "+w))
		}
		kubeconfigs = append(kubeconfigs, w, "users: "+w, "clusters: "+w, "contexts: "+w, "current-context: "+w+"\ncontexts: []",
			kubeconfigWith("server: https://mos", "exec: {command: x, apiVersion: "+w+"}"),
			kubeconfigWith("server: https://mos", "exec: {command: x, env: "+w+"}"))
		for _, field := range []string{"auth_url", "password", "token", "application_credential_secret", "allow_reauth"} {
			clouds = append(clouds, "clouds:\n  mos:\n    auth:\n      auth_url: https://k\n      username: u\n      "+field+": "+w+"\n")
		}
		for _, field := range []string{"auth", "verify", "regions", "profile", "cacert", "key", "cert"} {
			clouds = append(clouds, "clouds:\n  mos:\n    "+field+": "+w+"\n    auth_type: password\n")
		}
		clouds = append(clouds, w, "clouds: "+w, "clouds: {mos: "+w+"}")
	}
	key := "|\n      -----BEGIN PRIVATE KEY-----\n      " + planted + "\n      -----END PRIVATE KEY-----\n"
	clouds = append(clouds, "clouds:\n  mos:\n    cert: "+key+"    key: "+key+"    auth: {auth_url: 'https://k', username: u, password: "+
		planted+"}\n")
	bubble.Story(t, func(t *testing.T) {
		for i := range max(len(kubeconfigs), len(clouds)) {
			kubeconfig, cloud := kubeconfigs[i%len(kubeconfigs)], clouds[i%len(clouds)]
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			p := options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), CloudsYAML: []byte(cloud),
				Line: session.Line{Transport: &parrot{answer: "status 403"}}}}
			_, out, errs := runIn(t, p, "status", "--wait", "1s", "-o", "json", "--kubeconfig", path, "--os-cloud", "mos")
			p.log = ownLog(t)
			_, out2, errs2 := runIn(t, p, "snapshot", "--wait", "1s", "-o", "-", "--kubeconfig", path, "--os-cloud", "mos")
			if leak := leaks(out + errs + out2 + errs2 + filesIn(t, p)); leak != "" {
				t.Errorf("a secret is given away: …%s…\nof\n%s\nand\n%s", leak, strings.TrimPrefix(kubeconfig, kubeconfigHead), cloud)
			}
		}
	})
}

// Servers' texts about others can contain a URL with a password: a lock's message, an error of Nova, an address in the catalog.
func passwordsOfOthersAreHidden(t *testing.T, c *sim.Cloud) {
	t.Helper()
	url := "mysql+pymysql://nova:x" + planted + "x@mariadb.openstack.svc:3306/nova"
	c.OpenStack.SetFault(openstack.Fault{Path: regexp.MustCompile(`/os-services`), Status: 500,
		Message: "(pymysql.err.OperationalError) cannot connect to " + url})
	c.Kube.AddFault(kubeapi.Fault{Resource: "clusterworkloadlocks", Code: 500, Message: "the backend is " + url})
	text := looked(t, "errors", func() options { return placeOn(t, c) }, "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
	if !strings.Contains(text, "mysql+pymysql://(hidden)@mariadb.openstack.svc:3306/nova") {
		t.Errorf("neither was told:\n%s", text)
	}
}

// The variables of an openrc file are checked like a clouds.yaml.
func TestTheEnvironmentIsNotGivenAway(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(kubeconfigWith("server: https://mos", "token: abcd")), 0o600); err != nil {
		t.Fatal(err)
	}
	environments := map[string]map[string]string{
		"a password": {"OS_AUTH_URL": "https://keystone/v3", "OS_USERNAME": "admin", "OS_PASSWORD": secret,
			"OS_PROJECT_NAME": "admin"},
		"a token": {"OS_AUTH_URL": "https://keystone/v3", "OS_TOKEN": secret, "OS_PROJECT_NAME": "admin"},
		"an application credential": {"OS_AUTH_URL": "https://keystone/v3", "OS_APPLICATION_CREDENTIAL_ID": "a",
			"OS_APPLICATION_CREDENTIAL_SECRET": secret},
		"in the URL": {"OS_AUTH_URL": "https://admin:x" + planted + "%26x@keystone/v3", "OS_USERNAME": "admin",
			"OS_PASSWORD": secret},
		"in a broken URL": {"OS_AUTH_URL": "https://admin:x/" + planted + " %zz@keystone/v3", "OS_USERNAME": "admin",
			"OS_PASSWORD": secret},
		"in a URL without scheme": {"OS_AUTH_URL": "admin:x" + planted + "@keystone:5000/v3", "OS_USERNAME": "admin", "OS_PASSWORD": secret},
		"nobody to log in":        {"OS_AUTH_URL": "https://keystone/v3", "OS_PASSWORD": secret},
		"a key in the place of its path": {"OS_AUTH_URL": "https://keystone/v3", "OS_USERNAME": "admin", "OS_PASSWORD": secret,
			"OS_CERT": "x", "OS_KEY": "-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----\n"},
	}
	for i, name := range slices.Sorted(maps.Keys(environments)) {
		env := environments[name]
		for j, answer := range []string{"status 401", "text", "breaks"} {
			if !lane.Chosen(t, 3*i+j, 8) {
				continue
			}
			t.Run(name+", "+answer, func(t *testing.T) {
				for variable, value := range env {
					t.Setenv(variable, value)
				}
				bubble.Alone(t, func(t *testing.T) {
					looked(t, name, func() options {
						return options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(),
							Line: session.Line{Transport: &parrot{answer: answer}, Jitter: func(string, time.Duration) time.Duration { return 0 }}}}
					}, "--kubeconfig", kubeconfig, "--os-cloud", "")
				})
			})
		}
	}
}
