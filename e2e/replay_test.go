package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/e2e/terminal"
)

// nobody is a server of which only counts whether somebody comes.
func nobody(t *testing.T) (address string, came *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	came = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			c.Close()
		}
	}()
	return l.Addr().String(), came
}

// sockets are those that a process has open.
func sockets(t *testing.T, pid int) (open []string) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatalf("what the program has open is not told: %v", err)
	}
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(folder, f.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			open = append(open, to)
		}
	}
	return open
}

// While a recording is played, nothing is asked of any server, whatever the configuration names and whatever keys are pressed: the program
// has no socket.
func TestReplayOpensNoConnection(t *testing.T) {
	t.Parallel()
	address, came := nobody(t)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s := start{cloud: "real", kubeconfig: write("kubeconfig", `apiVersion: v1
kind: Config
current-context: real
contexts: [{name: real, context: {cluster: real, user: real}}]
clusters: [{name: real, cluster: {server: "http://`+address+`"}}]
users: [{name: real, user: {token: none}}]
`), cloudsYAML: write("clouds.yaml", `clouds: {real: {auth: {auth_url: "http://`+address+`/v3", username: u, password: p, project_name: p,
  user_domain_name: d, project_domain_name: d}}}
`)}
	recorded, err := filepath.Abs("../cli/testdata/recording-1.lockrec")
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, s, "replay", recorded, "--play", "--speed", "60")
	p.Wants("REPLAY")
	for _, keys := range [][]string{{"space"}, {"$"}, {"3", "enter"}, {"esc", "i"}, {"esc", "w"}, {"esc", "m"}, {"esc", "l"},
		{"esc", "v"}, {"esc", "^"}, {"."}, {"."},
		{","}} {
		p.Press(keys...)
		p.Wants("REPLAY")
		if open := sockets(t, p.PID()); len(open) > 0 {
			t.Errorf("after %v it has the sockets %v", keys, open)
		}
	}
	p.Back(terminal.Shows("2 Phases"))
	if open := sockets(t, p.PID()); len(open) > 0 { // each key has done what it does by now
		t.Errorf("in the end it has the sockets %v", open)
	}
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if n := came.Load(); n > 0 {
		t.Errorf("a server of the configuration was asked %d times", n)
	}
	// The same configuration leads another command to the server: it would have been found.
	if _, errs, code := status(t, s); code != 1 || came.Load() == 0 {
		t.Errorf("status came %d times, and ended with %d: %s", came.Load(), code, errs)
	}
}
