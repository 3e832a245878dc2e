package kubernetes

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func selectors(t *testing.T, s *suite) {
	s.namespace(t, "selectors")
	pods := of("v1", "selectors", "pods")
	s.make(t, pods, pod("a", "one", "n1"))
	s.make(t, pods, pod("b", "two", "n2"))
	s.make(t, pods, pod("c", "three", "n1"))
	s.make(t, nodeLocksPath,
		`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: sel-1, labels: {sel: x}}, spec: {controllerName: `+
			`ceph, nodeName: n1}}`)
	s.make(t, nodeLocksPath, nodeLock("sel-2", "n1"))
	for _, test := range []struct{ name, path, kind, selector, want string }{
		{"of a name", pods, "field", "metadata.name=b", "b"},
		{"of another name", pods, "field", "metadata.name!=b", "a c"},
		{"of a node", pods, "field", "spec.nodeName=n1", "a c"},
		{"of a node and a phase", pods, "field", "spec.nodeName=n1,status.phase=Pending", "a c"},
		{"of a node and another phase", pods, "field", "spec.nodeName=n1,status.phase!=Pending", ""},
		{"of a namespace", "/api/v1/pods", "field", "metadata.namespace=selectors", "a b c"},
		{"of a label", pods, "label", "app=two", "b"},
		{"of another label", pods, "label", "app!=two", "a c"},
		{"of a set of labels", pods, "label", "app in (one,three)", "a c"},
		{"of all but a set of labels", pods, "label", "app notin (one,three)", "b"},
		{"of a label that is there", pods, "label", "app", "a b c"},
		{"of a label that is not there", pods, "label", "!app", ""},
		{"of several labels", pods, "label", "app,app!=one,app in (one,two)", "b"},
		{"of a lock's label", nodeLocksPath, "label", "sel in (x,y)", "sel-1"},
		{"of a lock's name", nodeLocksPath, "field", "metadata.name=sel-2", "sel-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := names(s.get(t, test.path+"?"+test.kind+"Selector="+url.QueryEscape(test.selector)).list(t)); got != test.want {
				t.Errorf("selected are %q, want %q", got, test.want)
			}
		})
	}
	t.Run("of an event is one of either kind of events", func(t *testing.T) {
		s.make(t, of("v1", "selectors", "events"),
			`{apiVersion: v1, kind: Event, metadata: {name: a.1}, involvedObject: {kind: Pod, name: a, namespace: selectors, uid: u1}, `+
				`reason: Unhealthy, message: It is not well, type: Warning, source: {component: kubelet}, count: 2, firstTimestamp: `+
				`"2026-01-01T00:00:00Z", lastTimestamp: "2026-01-02T00:00:00Z"}`)
		old := s.get(t, of("v1", "selectors", "events")+"?fieldSelector=involvedObject.uid%3Du1,reason%3DUnhealthy").list(t)
		new := s.get(t, of("events.k8s.io/v1", "selectors", "events")+"?fieldSelector=regarding.uid%3Du1,reason%3DUnhealthy").list(t)
		if names(old) != "a.1" || names(new) != "a.1" {
			t.Fatalf("selected are %q and %q", names(old), names(new))
		}
		e := new.Items[0]
		if e.GetAPIVersion() != "events.k8s.io/v1" || field(&e, "note") != "It is not well" || field(&e, "regarding", "name") != "a" ||
			fmt.Sprint(field(&e, "deprecatedCount")) != "2" || field(&e, "deprecatedSource", "component") != "kubelet" ||
			field(&e, "deprecatedLastTimestamp") != "2026-01-02T00:00:00Z" || e.GetResourceVersion() != old.Items[0].GetResourceVersion() {
			t.Errorf("it is %s", asText(t, e))
		}
	})
	for _, test := range []struct{ name, path, query, message string }{
		{"of a field that cannot be selected", nodeLocksPath, "fieldSelector=spec.nodeName%3Dn1", "field label not supported: spec.nodeName"},
		{"of a field of a pod that cannot be selected", pods, "fieldSelector=spec.image%3Dx", "field label not supported: spec.image"},
		{"of a field of a ConfigMap that cannot be selected", of("v1", "selectors", "configmaps"), "fieldSelector=data.x%3Dx",
			`"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"that is no selector", pods, "labelSelector=%3D%3D", "found '==', expected: !, identifier, or 'end of string'"},
		{"of a label that is none", pods, "labelSelector=a%2Fb%2Fc%3Dx",
			`unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or ` +
				`'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation ` +
				`is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			s.get(t, test.path+"?"+test.query).refuses(t,
				refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, message: test.message})
		})
	}
}
