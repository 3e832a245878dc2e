//go:build openstack

package openstack

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/e2e/build"
)

// lockstep is the path of the program under test.
var lockstep string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(cloudFolder) == "" {
		fmt.Fprintf(os.Stderr, "%s is not set: run these tests with `make e2e-openstack`\n", cloudFolder)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	if lockstep, err = build.Lockstep(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
