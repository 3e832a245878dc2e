package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
		got, err := looker.Events(t.Context(), about, 100)
		var texts []string
		for _, e := range got.Events {
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
		got, err = looker.Events(t.Context(),
			append(about, core.EventTarget{Server: core.ServerManagement, Kind: "Machine", Name: "cmp-01"}), 100)
		if len(got.Events) != 3 || !errors.As(err, &e) || e.Kind != core.ErrConfiguration {
			t.Errorf("without the management cluster: %d events, %v", len(got.Events), err)
		}
	})
}

// More events than a page holds are all read, up to a bound, and what is above it is told.
func TestNoEventIsLeftOutSilently(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		const all = eventsPage + 120
		for i := range all {
			c.create(fmt.Sprintf(`{apiVersion: v1, kind: Event, metadata: {name: e-%04d, namespace: osh-system}, reason: R%d,
  involvedObject: {kind: Pod, name: rockoon-1, namespace: osh-system}, lastTimestamp: %q}`, all-i, i,
				time.Now().Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339)))
		}
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		about := []core.EventTarget{{Server: core.ServerKubernetes, Namespace: "osh-system", Kind: "Pod", Name: "rockoon-1"}}
		got, err := looker.Events(t.Context(), about, 2000)
		if err != nil || len(got.Events) != all || len(got.Cut) != 0 || got.Events[all-1].Reason != fmt.Sprintf("R%d", all-1) {
			t.Errorf("%d events of %d, cut %v, %v", len(got.Events), all, got.Cut, err)
		}
		got, err = looker.Events(t.Context(), about, eventsPage+20)
		if err != nil || len(got.Events) != eventsPage+20 || !slices.Equal(got.Cut, about) {
			t.Errorf("%d events, cut %v, %v", len(got.Events), got.Cut, err)
		}
	})
}

// A server may say what the client logs in with: neither a log, nor an event, nor an object shows it.
func TestWhatIsLoggedInWithIsShownNowhere(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		client := c.client(kubeapi.Admin)
		client.secrets.Give("mine-own-token")
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, time.Now().UTC().Format(time.RFC3339)))
		c.SetLog("osh-system", "rockoon-1", "osdpl", []string{"called with mine-own-token",
			strings.Repeat("x", core.MaxLogLine-30) + " https://admin:hunter2hunter2@host/ " + strings.Repeat("y", 9000),
			strings.Repeat("x", core.MaxLogLine-6) + "mine-own-token" + strings.Repeat("y", 90000)})
		c.create(`{apiVersion: v1, kind: Event, metadata: {name: e, namespace: osh-system}, reason: mine-own-token,
  involvedObject: {kind: Pod, name: rockoon-1, namespace: osh-system}, message: "login with mine-own-token, password: hunter2"}`)
		looker := NewLooker(client, nil)
		target := core.ObjectTarget{Server: core.ServerKubernetes, Kind: "Pod", Namespace: "osh-system", Name: "rockoon-1"}
		r := readLog(t, looker, core.LogRequest{LogTarget: core.LogTarget{Server: core.ServerKubernetes, Namespace: "osh-system",
			Pod: "rockoon-1", Container: "osdpl"}})
		<-r.done
		events, err := looker.Events(t.Context(), []core.EventTarget{target.Events()}, 100)
		if err != nil || r.err != nil || len(events.Events) != 1 || len(r.lines) != 3 {
			t.Fatalf("%d events, %v, %d lines, %v", len(events.Events), err, len(r.lines), r.err)
		}
		for _, text := range append(r.texts(), events.Events[0].Reason+events.Events[0].Message) {
			if strings.Contains(text, "mine-o") || strings.Contains(text, "hunt") {
				t.Errorf("shown is %q", text[max(len(text)-80, 0):])
			}
		}
		for i, l := range r.lines[1:] {
			if l.Length == 0 || len(l.Text) > core.MaxLogLine+3 || len(l.Text) < core.MaxLogLine-40 {
				t.Errorf("long line %d: %d bytes are kept of %d", i, len(l.Text), l.Length)
			}
		}
	})
}

// An object is shown without what no person reads and without secrets; a kind that holds secrets is not asked for at all.
func TestAnObjectIsShownWithoutSecrets(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "stranger"}}})
		c.create(`{apiVersion: v1, kind: Pod, metadata: {name: api, namespace: openstack, annotations: {note: "https://a:hunter2@b/",
    before: '{"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}'}},
  spec: {nodeName: cmp-01, containers: [{name: c, image: x, env: [{name: DB_PASSWORD, value: hunter2}, {name: REGION, value: one}],
    args: ["--password=hunter2", "--token", hunter2]}]},
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
		c.create(`{apiVersion: v1, kind: Node, metadata: {name: cmp-01}, status: {images: [{names: ["registry.local/nova:1"], sizeBytes: 1}]}}`)
		node, err := looker.Object(t.Context(), core.ObjectTarget{Server: core.ServerKubernetes, Kind: "Node", Name: "cmp-01"})
		if err != nil || !strings.Contains(node.YAML, "registry.local/nova:1") {
			t.Errorf("%v: the images of the node are not in its text:\n%s", err, node.YAML)
		}
		_, err = NewLooker(c.client("stranger"), nil).Object(t.Context(),
			core.ObjectTarget{Server: core.ServerKubernetes, Kind: "Node", Name: "cmp-01"})
		var refused *core.APIError
		if !errors.As(err, &refused) || refused.Kind != core.ErrForbidden ||
			!strings.Contains(refused.Message, "cannot list resource \"nodes\"") {
			t.Errorf("who may not list nodes is told %v", err)
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

// A list of a description has each item's first field behind its dash, as in YAML.
func TestAListInADescription(t *testing.T) {
	got := describeObject(&unstructured.Unstructured{Object: map[string]any{"kind": "Node", "apiVersion": "v1",
		"status": map[string]any{"addresses": []any{map[string]any{"address": "10.20.0.12", "type": "InternalIP"}, map[string]any{}, "bare"}}}})
	if want := "  addresses:\n    - address: 10.20.0.12\n      type: InternalIP\n    - \n    - bare\n"; !strings.Contains(got, want) {
		t.Errorf("it has no %q:\n%s", want, got)
	}
}
