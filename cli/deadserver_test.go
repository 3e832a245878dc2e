package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/sim/bubble"
	"lockstep/sim/lan"
)

// Whatever command meets servers that are not there: it ends at once, answers nothing that it does not know, and says on standard error
// what is wrong, with the exit code of docs/scripts.md.
func TestEveryCommandAgainstDeadServers(t *testing.T) {
	const dead = "dead:6443"
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: mos,
  contexts: [{name: mos, context: {cluster: mos, user: me}}],
  clusters: [{name: mos, cluster: {server: "http://`+dead+`"}}], users: [{name: me, user: {token: t}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	clouds := []byte(`{clouds: {mos: {auth: {auth_url: "http://` + dead + `/v3", username: u, password: p, project_name: a}}}}`)
	for _, tt := range []struct {
		args []string
		code int
		says string // on standard error
	}{
		{[]string{"status"}, exitError, "refused"},
		{[]string{"status", "-o", "json"}, exitError, "refused"},
		{[]string{"check"}, exitError, "refused"},
		{[]string{"plan"}, exitError, "refused"},
		{[]string{"plan", "--window", "22:00-06:00"}, exitError, "refused"},
		{[]string{"clusters"}, exitError, "refused"},
		{[]string{"owners"}, exitError, "refused"},
		{[]string{"handover"}, exitError, "refused"},
		{[]string{"note", "x", "--node", "cmp-1"}, exitError, "refused"},
		{[]string{"note", "x", "--instance", "web-1"}, exitError, "refused"},
		{[]string{"note", "x", "--entry", "node-waits/1"}, exitError, "refused"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				p := options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), CloudsYAML: clouds,
					Line: session.Line{Transport: lan.New(1).Transport("lockstep")}}}
				began := time.Now()
				code, out, errs := runIn(t, p, append(tt.args, "--kubeconfig", kubeconfig, "--os-cloud", "mos")...)
				if took := time.Since(began); took > time.Second || code != tt.code || out != "" || !strings.Contains(errs, tt.says) {
					t.Errorf("exit %d after %s, stdout %q, stderr %q", code, took, out, errs)
				}
			})
		})
	}
}
