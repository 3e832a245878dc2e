package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The release of k9s, and its checksum in Go's checksum database.
const (
	k9sModule  = "github.com/derailed/k9s"
	k9sVersion = "v0.50.18"
	k9sSum     = "h1:4P4pdXTNYZK8OZtPO0Rn25p2P1huMn+TeXi27DQgaOY="
)

// k9sWithoutScanner replaces the files scan.go and scanner.go of k9s's package vul: the scanner of container images, which is off
// unless the configuration has imageScans, and which brings in nine tenths of the compiled code.
const k9sWithoutScanner = `package vul

import (
	"context"
	"log/slog"

	"github.com/derailed/k9s/internal/config"
)

type imageScanner struct{}

var ImgScanner *imageScanner

func NewImageScanner(config.ImageScans, *slog.Logger) *imageScanner   { return &imageScanner{} }
func (*imageScanner) Init(name, version string)                       {}
func (*imageScanner) Stop()                                           {}
func (*imageScanner) IsInitialized() bool                             { return false }
func (*imageScanner) ShouldExcludes(string, map[string]string) bool   { return true }
func (*imageScanner) GetScan(image string) (*Scan, bool)              { return nil, false }
func (*imageScanner) Enqueue(ctx context.Context, images ...string)   {}
func (*imageScanner) Score(images ...string) string                   { return "" }

type Scan struct {
	ID    string
	Table *table
	Tally tally
}

func colorize(row []string) []string { return row }
`

// K9s compiles k9s and returns its path. It is the original k9s except for the versions of its libraries (k9s/go.mod) and the
// scanner of container images, which costs a minute of download and six minutes of processor time.
func K9s(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	unlock, err := lock(root, "k9s-source")
	if err != nil {
		return "", fmt.Errorf("build k9s: %w", err)
	}
	defer unlock()
	source := filepath.Join(root, "bin", "k9s-"+k9sVersion)
	if err := k9sSource(ctx, source, filepath.Join(root, "k9s")); err != nil {
		return "", fmt.Errorf("build k9s: %w", err)
	}
	return compile(ctx, root, source, "k9s", "-buildvcs=false", "-ldflags", "-s -w")
}

// k9sSource creates the folder with the source; its go.mod and go.sum come from another folder.
func k9sSource(ctx context.Context, dir, versions string) error {
	// The command runs outside of every module, because it would change that module's go.sum.
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", k9sModule+"@"+k9sVersion)
	cmd.Dir = os.TempDir()
	raw, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if broken := json.Unmarshal(raw, &module); broken != nil || module.Error != "" {
		return fmt.Errorf("download its module: %w", errors.Join(err, broken, errors.New(module.Error)))
	}
	if module.Sum != k9sSum {
		return fmt.Errorf("the module %s@%s has the checksum %s, want %s", k9sModule, k9sVersion, module.Sum, k9sSum)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, part := range []string{"cmd", "internal"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(module.Dir, part))); err != nil {
			return err
		}
	}
	for name, from := range map[string]string{"main.go": module.Dir, "go.mod": versions, "go.sum": versions} {
		if raw, err = os.ReadFile(filepath.Join(from, name)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return err
		}
	}
	vul := filepath.Join(dir, "internal", "vul")
	if err := os.Remove(filepath.Join(vul, "scan.go")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(vul, "scanner.go"), []byte(k9sWithoutScanner), 0o644)
}
