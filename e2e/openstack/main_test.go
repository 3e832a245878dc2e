//go:build openstack

package openstack

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"lockstep/e2e/build"
	"lockstep/e2e/cluster"
)

// pool has the API servers of the tests' clusters.
var pool cluster.Pool

// program builds the program under test, once, and returns its path.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	return build.Lockstep(ctx)
})

func TestMain(m *testing.M) {
	if os.Getenv(cloudFolder) == "" {
		fmt.Fprintf(os.Stderr, "%s is not set: run these tests with `make e2e-openstack`\n", cloudFolder)
		os.Exit(1)
	}
	code := m.Run()
	if err := pool.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the clusters:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}
