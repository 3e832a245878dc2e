package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
)

// A kubeconfig that cannot be loaded is never loaded again: the exporter ends, and does not serve that nothing is known for good.
func TestAnExporterWithoutAKubeconfigEnds(t *testing.T) {
	p := options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), NoCloud: "a test of the exporter"}}
	p.Kubeconfig = filepath.Join(t.TempDir(), "not-there")
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var stderr strings.Builder
	err := export(ctx, p, "127.0.0.1:0", &stderr)
	if err == nil || !strings.Contains(err.Error(), "not-there") || strings.Contains(stderr.String(), "are served") {
		t.Errorf("it ends with %v, and says %q", err, &stderr)
	}
}
