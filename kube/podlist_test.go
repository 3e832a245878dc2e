package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// Any pod can be chosen: of all namespaces where that is allowed, else of MOSK's, and it is told which could not be read.
func TestThePodsToChooseFrom(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		for i := range podsPage + 20 {
			c.create(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: p-%04d, namespace: default},
  spec: {nodeName: cmp-0%d, containers: [{name: c, image: x}]}, status: {phase: Running}}`, i, i%2))
		}
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 2, time.Now().UTC().Format(time.RFC3339)))
		list := func(user string, target core.PodsTarget) (core.PodList, error) {
			target.Server = core.ServerKubernetes
			return NewLooker(c.client(user), nil).Pods(t.Context(), target)
		}
		all, err := list(kubeapi.Readonly, core.PodsTarget{})
		if err != nil || len(all.Pods) != podsPage+21 || all.Cut || all.Only != nil {
			t.Fatalf("%d pods, %v", len(all.Pods), err)
		}
		want := core.PodRow{Server: core.ServerKubernetes, Namespace: "osh-system", Name: "rockoon-1", Node: "ctl-01", Status: "Running",
			Ready: "1/2", Restarts: "2"}
		if got := all.Pods[len(all.Pods)-1]; got != want {
			t.Errorf("got %+v", got)
		}
		node, err := list(kubeapi.Readonly, core.PodsTarget{Node: "cmp-01"})
		if err != nil || len(node.Pods) != podsPage/2+10 ||
			slices.ContainsFunc(node.Pods, func(p core.PodRow) bool { return p.Node != "cmp-01" }) {
			t.Errorf("of a node %d pods, %v", len(node.Pods), err)
		}
		own := func(name string, namespaces ...string) {
			t.Helper()
			rules := slices.DeleteFunc(kubeapi.ReadonlyRules(), func(r kubeapi.Rule) bool { return slices.Contains(r.Resources, "pods") })
			if len(namespaces) > 0 {
				r := kubeapi.Rule{Namespaces: namespaces}
				r.APIGroups, r.Resources, r.Verbs = []string{""}, []string{"pods"}, []string{"list"}
				rules = append(rules, r)
			}
			if err := c.SetUser(kubeapi.User{Name: name, Rules: rules}); err != nil {
				t.Fatal(err)
			}
		}
		own("ann", "osh-system", "openstack")
		some, err := list("ann", core.PodsTarget{})
		if err != nil || len(some.Pods) != 1 || !slices.Equal(some.Only, core.PodNamespaces(core.ServerKubernetes)) ||
			len(some.Refused) != len(some.Only)-2 || slices.Contains(some.Refused, "openstack") {
			t.Errorf("with rights in two namespaces: %+v, %v", some, err)
		}
		own("bob")
		var e *core.APIError
		if got, err := list("bob", core.PodsTarget{}); !errors.As(err, &e) || e.Kind != core.ErrForbidden || len(got.Pods) > 0 ||
			!strings.Contains(e.Remedy, "You may not list pods: ask an administrator to apply deploy/rbac-readonly.yaml") {
			t.Errorf("without a right: %v, %q", err, e.Remedy)
		}
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		pod, err := looker.Pod(t.Context(), want)
		if err != nil || len(pod.Containers) != 2 || pod.Containers[1].Restarts != 2 || pod.Containers[1].State != "running" {
			t.Errorf("its containers are %+v, %v", pod, err)
		}
		want.Name = "gone"
		if _, err := looker.Pod(t.Context(), want); !errors.As(err, &e) || e.Kind != core.ErrNotFound {
			t.Errorf("a pod that is gone: %v", err)
		}
		if _, err := looker.Pods(t.Context(), core.PodsTarget{Server: core.ServerManagement}); !errors.As(err, &e) ||
			e.Kind != core.ErrConfiguration {
			t.Errorf("without the management cluster: %v", err)
		}
	})
}
