package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/core/engine"
)

// The operator asks what will hold a node before anything moves, reads the answer, and keeps it as a file that nobody else may
// read. Nothing is written to the cluster.
func TestThePlanOfANodeBeforeAnythingMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dir := t.TempDir()
	p := w.launch(t, start{columns: 100, rows: 30, dir: dir, args: []string{"--read-only"}})
	p.WantsRow("cmp-01", "waiting for you")
	p.Wants("web-1")
	p.Press("3", "v")
	p.Wants("Evacuation plan of cmp-01", "Nothing has moved.", "manual: the operator moves it")
	p.Press("m")
	p.Wants("written, for you alone: ")
	p.Press("esc")
	p.WantsGone("Evacuation plan")
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	files, err := filepath.Glob(filepath.Join(dir, "plan-cmp-01-*.md"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %q (%v)", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if info, statErr := os.Stat(files[0]); err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v, %v)", info, err, statErr)
	}
	if !strings.HasPrefix(string(raw), "# Evacuation plan of ") || !strings.Contains(string(raw), "web-1") {
		t.Errorf("the file is %s", raw)
	}
	for _, r := range w.written(t) {
		t.Errorf("Kubernetes received %v", r)
	}
	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
	for _, r := range p.Records() {
		if r.Kind == engine.RecordGrant || r.Kind == engine.RecordBefore {
			t.Errorf("the journal has a record of the kind %s", r.Kind)
		}
	}
}
