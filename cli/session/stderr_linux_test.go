package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lockstep/core"
)

// While the screen is open, what a credential plugin writes to standard error goes into the log, line by line, without its secrets; also
// when one line is longer than the log keeps, and when the last one has no end. Then standard error is what it was.
func TestAPluginsStandardErrorIsLoggedWithoutSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lockstep.log")
	l, err := NewLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var before, after unix.Stat_t
	if err := unix.Fstat(2, &before); err != nil {
		t.Fatal(err)
	}
	restore, err := l.RedirectStderr()
	if err != nil {
		t.Fatal(err)
	}
	plugin := exec.Command("sh", "-c", `printf '%s\n' 'get a token: password=hunter2' '{"token": "hunter2"}' >&2; printf 'the end' >&2`)
	plugin.Stderr = os.Stderr
	if err := plugin.Run(); err != nil {
		t.Error(err)
	}
	restore()
	logLines(l, strings.NewReader(strings.Repeat("x", maxStderrLine-9)+"password=hunter2\nit goes on\n"))
	if err := unix.Fstat(2, &after); err != nil || before.Ino != after.Ino || before.Dev != after.Dev {
		t.Errorf("standard error is another file: %v", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{"get a token: password=" + core.Hidden, "the end", "it goes on"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %q", want)
		}
	}
	if strings.Contains(text, "hunter2") || strings.Count(text, "\n") != 5 {
		t.Errorf("the log has %d lines: %s", strings.Count(text, "\n"), strings.ReplaceAll(text, "xxxxxxxx", ""))
	}
}
