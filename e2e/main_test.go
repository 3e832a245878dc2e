package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/e2e/build"
	"lockstep/e2e/cluster"
)

// lockstep is the path of the program under test.
var lockstep string

// raceVariable is an environment variable. When it is set, the program is built with the race detector, which needs a C compiler.
const raceVariable = "LOCKSTEP_RACE"

// shared is the API server that most tests use, each with objects of its own. A test that kills its server, or counts what it
// received, has one for itself.
var shared *cluster.Cluster

// pool has those for one test.
var pool cluster.Pool

// setupTimeout is generous: the first build of the kube-apiserver takes minutes.
const setupTimeout = 20 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	var err error
	compile := build.Lockstep
	if os.Getenv(raceVariable) != "" {
		compile = build.RacingLockstep
	}
	if lockstep, err = compile(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared, err = equipped(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start a cluster:", err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		fmt.Fprintf(os.Stderr, "the end of the kube-apiserver's log:\n%s\n", shared.Log(4000))
	}
	if err := errors.Join(shared.Close(), pool.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "stop the clusters:", err)
		return 1
	}
	return code
}

// equipped starts an API server with the definitions and namespaces of a MOSK cluster.
func equipped(ctx context.Context) (*cluster.Cluster, error) {
	c, err := cluster.Start(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Equip(ctx); err != nil {
		log := c.Log(4000)
		return nil, fmt.Errorf("%w (closing it: %v)\nthe end of the kube-apiserver's log:\n%s", err, c.Close(), log)
	}
	return c, nil
}

// ownCluster takes an API server for one test, with the rights of deploy/. Nothing may use it after the test.
func ownCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := pool.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the kube-apiserver's log:\n%s", c.Log(1000))
		}
		if err := pool.Give(context.WithoutCancel(t.Context()), c); err != nil {
			t.Errorf("give the cluster back: %v", err)
		}
	})
	return c
}
