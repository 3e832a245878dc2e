package kubernetes_test

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"

	"lockstep/e2e/cluster"
	"lockstep/e2e/contract/kubernetes"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

// realServer is the real kube-apiserver.
type realServer struct{ *cluster.Cluster }

func (r realServer) Config(user kubernetes.User) *rest.Config {
	return r.Cluster.Config(cluster.User(user))
}

func TestTheRealAPIServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("stop the cluster: %v", err)
		}
	})
	if err := c.Equip(t.Context()); err != nil {
		t.Fatal(err)
	}
	kubernetes.Run(t, realServer{c})
}

// simulator is the simulated API server.
type simulator struct{ *kubeapi.Server }

func (s simulator) Config(user kubernetes.User) *rest.Config { return s.RESTConfig(string(user)) }

func (s simulator) Compact(context.Context) error {
	s.Server.Compact()
	return nil
}

func TestTheSimulatedAPIServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	server, err := kubeapi.New(kubeapi.Options{CRDs: crds.All(), Users: []kubeapi.User{
		{Name: string(kubernetes.Operator), Groups: []string{"mosk-update-operators"}},
		{Name: string(kubernetes.ReadOnly), Groups: []string{"mosk-update-watchers"}},
		{Name: string(kubernetes.Nobody)},
		{Name: string(kubernetes.Expired)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if err := server.ExpireToken(string(kubernetes.Expired)); err != nil {
		t.Fatal(err)
	}
	for _, name := range cluster.Namespaces {
		if err := server.LoadYAML([]byte("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")); err != nil {
			t.Fatal(err)
		}
	}
	kubernetes.Run(t, simulator{server})
}
