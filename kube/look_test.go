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

// The events of a node, its request and a pod are one list, the oldest first; those of others are not in it, and what cannot be asked
// does not hide the rest.
func TestEventsOfSeveralObjectsAreOneList(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		now := time.Now().UTC()
		event := func(namespace, kind, name, reason, extra string, ago time.Duration) {
			c.create(fmt.Sprintf(`{apiVersion: v1, kind: Event, metadata: {name: %s.%s, namespace: %s}, involvedObject: {kind: %s, name: %s,
  namespace: %q}, reason: %s, message: "pull from https://user:hunter2@registry/x", type: Warning, source: {component: kubelet},
  lastTimestamp: %q%s}`, name, strings.ToLower(reason), namespace, kind, name, strings.TrimPrefix(namespace, "default"), reason,
				now.Add(-ago).Format(time.RFC3339), extra))
		}
		event("default", "Node", "cmp-01", "NodeNotReady", ", count: 3", time.Minute)
		event("default", "NodeMaintenanceRequest", "cmp-01", "Requested", "", 10*time.Minute)
		event("default", "Node", "cmp-02", "NodeNotReady", "", time.Minute)
		event("openstack", "Pod", "nova-1", "BackOff", "", 5*time.Minute)
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		about := []core.EventTarget{{Server: core.ServerKubernetes, Kind: "Node", Name: "cmp-01"},
			{Server: core.ServerKubernetes, Kind: "NodeMaintenanceRequest", Name: "cmp-01"},
			{Server: core.ServerKubernetes, Namespace: "openstack", Kind: "Pod", Name: "nova-1"}}
		got, err := looker.Events(t.Context(), about)
		var texts []string
		for _, e := range got {
			texts = append(texts, fmt.Sprintf("%s %s %s x%d %v %s", e.Reason, e.Kind, e.About, e.Count, e.Warning, now.Sub(e.At).Round(time.Minute)))
			if strings.Contains(e.Message, "hunter2") {
				t.Errorf("a password is shown: %s", e.Message)
			}
		}
		if want := []string{"Requested NodeMaintenanceRequest cmp-01 x1 true 10m0s", "BackOff Pod openstack/nova-1 x1 true 5m0s",
			"NodeNotReady Node cmp-01 x3 true 1m0s"}; err != nil || !slices.Equal(texts, want) {
			t.Errorf("%v, %v", texts, err)
		}
		var e *core.APIError
		got, err = looker.Events(t.Context(), append(about, core.EventTarget{Server: core.ServerManagement, Kind: "Machine", Name: "cmp-01"}))
		if len(got) != 3 || !errors.As(err, &e) || e.Kind != core.ErrConfiguration {
			t.Errorf("without the management cluster: %d events, %v", len(got), err)
		}
	})
}

// An object is shown without what no person reads and without secrets; a kind that holds secrets is not asked for at all.
func TestAnObjectIsShownWithoutSecrets(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Pod, metadata: {name: api, namespace: openstack, annotations: {note: "https://a:hunter2@b/"}},
  spec: {nodeName: cmp-01, containers: [{name: c, image: x, env: [{name: DB_PASSWORD, value: hunter2}, {name: REGION, value: one}]}]},
  status: {phase: Running, conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]}}`)
		c.create(`{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: openstack}, stringData: {key: hunter2}}`)
		looker := NewLooker(c.client(kubeapi.Admin), nil)
		object := func(kind, name string) (core.ObjectText, error) {
			return looker.Object(t.Context(), core.ObjectTarget{Server: core.ServerKubernetes, Kind: kind, Namespace: "openstack", Name: name})
		}
		got, err := object("Pod", "api")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{got.YAML, got.Describe} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "managedFields") || !strings.Contains(text, core.Hidden) ||
				!strings.Contains(text, "one") || !strings.Contains(text, "ContainersNotReady") {
				t.Errorf("shown is:\n%s", text)
			}
		}
		for _, test := range []struct {
			kind, name string
			want       core.ErrorKind
		}{{"Secret", "keys", core.ErrUnsupported}, {"ConfigMap", "any", core.ErrUnsupported}, {"Pod", "gone", core.ErrNotFound}} {
			var e *core.APIError
			if got, err := object(test.kind, test.name); !errors.As(err, &e) || e.Kind != test.want || got.YAML != "" {
				t.Errorf("%s %s: %v", test.kind, test.name, err)
			}
		}
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && (r.Resource == "secrets" || r.Resource == "configmaps") {
				t.Errorf("it asked for %s", r.Path)
			}
		}
	})
}
