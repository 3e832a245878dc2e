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
)

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
	os.Exit(m.Run())
}
