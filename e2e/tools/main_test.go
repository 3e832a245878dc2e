package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/e2e/build"
	"lockstep/sim"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// setupTimeout is generous: the first build of k9s takes minutes.
const setupTimeout = 20 * time.Minute

var (
	kubectlPath, k9sPath string
	cloud                *sim.Cloud
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds the tools and starts a cloud that both look at. Nothing moves in it but what they move.
func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	if kubectlPath, err = build.Kubectl(ctx); err != nil {
		return 1, err
	}
	if k9sPath, err = build.K9s(ctx); err != nil {
		return 1, err
	}
	if cloud, err = sim.Start(context.Background(), sim.Options{User: kubeapi.Admin, Paused: true}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	return m.Run(), nil
}

// hosts are the Kubernetes names of the nodes that have a role.
func hosts(s *scenario.Scenario, role string) []string {
	var all []string
	for _, n := range s.Nodes {
		if n.Has(role) {
			all = append(all, n.Name)
		}
	}
	return all
}
