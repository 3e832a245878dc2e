package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmd "k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
	"lockstep/kube"
)

// adapter is the program's own client, logged in as the user.
func (s *suite) adapter(t *testing.T, user User) *kube.Client {
	t.Helper()
	config := s.Config(user)
	const name = "contract"
	kubeconfig := clientcmdapi.Config{
		CurrentContext: name,
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthority: config.CAFile,
			CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
			Token: config.BearerToken}},
		Contexts: map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	client, err := kube.Load(kube.Options{Kubeconfig: path, UserAgent: "lockstep"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// errorKind is the program's kind of an error; "" for none.
func errorKind(err error) core.ErrorKind {
	var known *core.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Kind
	}
	return core.ErrOther
}

// grant gives Operator and ReadOnly the rights of deploy/.
func (s *suite) grant(t *testing.T) {
	t.Helper()
	if err := grantRights(t.Context(), s.Config(Admin)); err != nil {
		t.Fatal(err)
	}
}

func operatorLeases(t *testing.T, s *suite) {
	s.grant(t)
	client := s.adapter(t, Operator)
	path := of("coordination.k8s.io/v1", "default", "leases")
	s.clean(t, path, "lockstep-operator")

	// race lets eight clients take the lease at once and returns the one that got it.
	race := func(t *testing.T) *kube.Lease {
		t.Helper()
		var leases []*kube.Lease
		for i := range 8 {
			leases = append(leases, kube.NewLease(client, kube.LeaseOptions{Identity: fmt.Sprintf("anna%d@jump01/%d/x", i, i)}))
		}
		errs := make([]error, len(leases))
		var all sync.WaitGroup
		for i, lease := range leases {
			all.Go(func() { errs[i] = lease.Acquire(t.Context(), "") })
		}
		all.Wait()
		var winner *kube.Lease
		holder, _ := field(s.get(t, path+"/lockstep-operator").object(t, http.StatusOK), "spec", "holderIdentity").(string)
		for i, err := range errs {
			if !strings.HasPrefix(holder, fmt.Sprintf("anna%d@", i)) {
				if err == nil {
					t.Errorf("the lease is held by %s, and number %d has got it as well", holder, i)
				} else if err != nil && errorKind(err) != core.ErrConflict {
					t.Errorf("number %d was refused: %v", i, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("the lease is held by %s, who was refused: %v", holder, err)
			}
			winner = leases[i]
		}
		if winner == nil {
			t.Fatalf("the lease is held by %q", holder)
		}
		return winner
	}

	t.Run("goes to one of several who create it at once", func(t *testing.T) {
		winner := race(t)
		if err := winner.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("goes to one of several who update it at once", func(t *testing.T) {
		winner := race(t)
		if err := winner.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := s.get(t, path+"/lockstep-operator").object(t, http.StatusOK); field(now, "spec", "holderIdentity") != nil {
			t.Errorf("the lease that was given back is %s", asText(t, now.Object["spec"]))
		}
	})
	t.Run("can be taken over, and names who has it", func(t *testing.T) {
		first := kube.NewLease(client, kube.LeaseOptions{Identity: "bert@jump02/1/y"})
		if err := first.Acquire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		second := kube.NewLease(client, kube.LeaseOptions{Identity: "carl@jump03/1/z"})
		err := second.Acquire(t.Context(), "")
		if errorKind(err) != core.ErrConflict || !strings.Contains(err.Error(), "bert@jump02") {
			t.Errorf("the second gets %v", err)
		}
		if err := second.Acquire(t.Context(), "bert@jump02"); err != nil || !second.Held() {
			t.Errorf("the second could not take it over: %v", err)
		}
	})
	t.Run("is refused by name to who may not create it", func(t *testing.T) {
		s.send(t, ReadOnly, http.MethodPost, path,
			asJSON(t, `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: lockstep-operator}}`)).refuses(t, refusal{
			code: http.StatusForbidden, reason: metav1.StatusReasonForbidden,
			message: `leases.coordination.k8s.io is forbidden: User "readonly" cannot create resource "leases" in API group ` +
				`"coordination.k8s.io" in the namespace "default"`,
			details: &metav1.StatusDetails{Group: "coordination.k8s.io", Kind: "leases"},
		})
	})
}

func watchers(t *testing.T, s *suite) {
	s.grant(t)
	live, forbidden := map[core.SourceID]core.SourceState{}, map[core.SourceID]core.SourceState{}
	for _, source := range kube.Sources() {
		live[source], forbidden[source] = core.SourceLive, core.SourceForbidden
	}
	// The OpenStackDeployment is for operators: for others the source is off, which is not a failure.
	forbidden[core.SourceOpenStackDeployment] = core.SourceOff
	reads := maps.Clone(live)
	reads[core.SourceOpenStackDeployment] = core.SourceOff
	for _, test := range []struct {
		name string
		user User
		want map[core.SourceID]core.SourceState
	}{
		{"sees everything with the read-only manifest", ReadOnly, reads},
		{"sees everything with the operator's manifest", Operator, live},
		{"is forbidden everything without one", Nobody, forbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.make(t, nodesPath, node("watcher"))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			states := map[core.SourceID]core.SourceState{}
			watcher := kube.NewWatcher(s.adapter(t, test.user), func(d core.Delta) {
				if d.State != "" {
					states[d.Source] = d.State
				}
				if maps.Equal(states, test.want) {
					cancel()
				}
			}, kube.WatchOptions{})
			watcher.SetPodNodes([]core.PodsOf{{Node: "watcher"}})
			watcher.Run(ctx)
			if !maps.Equal(states, test.want) {
				t.Errorf("the sources are %v, want %v", states, test.want)
			}
		})
	}
}
