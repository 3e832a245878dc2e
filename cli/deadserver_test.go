package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever command meets servers that are not there: it ends in its time, answers nothing that it does not know, and says on standard error
// what is wrong, with the exit code of docs/scripts.md.
func TestEveryCommandAgainstDeadServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	config, clouds := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "clouds.yaml")
	for path, text := range map[string]string{
		config: `{apiVersion: v1, kind: Config, current-context: mos, contexts: [{name: mos, context: {cluster: mos, user: me}}],
clusters: [{name: mos, cluster: {server: "http://` + dead + `"}}], users: [{name: me, user: {token: t}}]}`,
		clouds: `{clouds: {mos: {auth: {auth_url: "http://` + dead + `/v3", username: u, password: p, project_name: a}}}}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("OS_CLIENT_CONFIG_FILE", clouds)
	t.Setenv("OS_CLOUD", "mos")
	const limit = 2 * time.Second
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
		began := time.Now()
		code, out, errs := run(t, append(tt.args, "--kubeconfig", config, "--wait", limit.String())...)
		if code != tt.code || out != "" || !strings.Contains(errs, tt.says) {
			t.Errorf("%q: exit %d after %s, stdout %q, stderr %q", tt.args, code, time.Since(began).Round(time.Millisecond), out, errs)
		}
	}
}
