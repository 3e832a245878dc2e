// Package kubernetes says how a Kubernetes API server behaves towards the program and its operator: one suite, run against the
// real kube-apiserver and against the simulated one. Its statements were observed on the real one; where the simulated one
// differs, the simulated one is wrong. The suite uses the program's own adapters where they cover the behaviour, and plain
// requests otherwise. It compares answers to the letter where an operator or an adapter reads them.
package kubernetes

import (
	"context"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// User is a user who can log in to a cluster under test.
type User string

// The users of a cluster under test.
const (
	Admin    User = "admin"    // may do everything
	Operator User = "operator" // in the group mosk-update-operators of the example in deploy/rbac-operator.yaml
	ReadOnly User = "readonly" // in the group mosk-update-watchers of the example in deploy/rbac-readonly.yaml
	Nobody   User = "nobody"   // authenticated, without any right of their own
	Expired  User = "expired"  // has a token that the server refuses
)

// Cluster is an API server under test. It has the definitions of sim/crds and the namespaces of a MOSK cluster, nothing changes
// by itself in it, and only Admin has rights there.
type Cluster interface {
	// Config returns the client configuration of a user.
	Config(user User) *rest.Config
	// Compact makes the server forget its history: everything but the present objects. It may restart the server, which serves
	// again when Compact returns.
	Compact(ctx context.Context) error
}

// Run tests the cluster.
func Run(t *testing.T, cluster Cluster) {
	s := newSuite(t, cluster)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"a list", lists},
		{"a resourceVersion", versions},
		{"a watch", watches},
		{"a conflict", conflicts},
		{"a patch", patches},
		{"a status", statuses},
		{"a value that the schema refuses", refusedValues},
		{"a field that the schema does not know", unknownFields},
		{"a dry run", dryRuns},
		{"a new object", newObjects},
		{"a deletion", deletions},
		{"a generation", generations},
		{"a field's manager", managers},
		{"a server-side apply", applies},
		{"the scale of a workload", scales},
		{"the operator lease", operatorLeases},
		{"a right", rights},
		{"an eviction", evictions},
		{"a selector", selectors},
		{"a table", tables},
		{"a request that makes no sense", nonsense},
		{"the discovery", discoveries},
		{"the OpenAPI document", documents},
		{"the program's watcher", watchers},
		// Last, because it may restart the server.
		{"a history that is forgotten", forgotten},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
}

// suite is what the tests share.
type suite struct {
	Cluster
	admin dynamic.Interface
}

func newSuite(t *testing.T, cluster Cluster) *suite {
	t.Helper()
	admin, err := dynamic.NewForConfig(cluster.Config(Admin))
	if err != nil {
		t.Fatal(err)
	}
	return &suite{Cluster: cluster, admin: admin}
}
