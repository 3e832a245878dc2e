package kubernetes

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nonsense(t *testing.T, s *suite) {
	s.namespace(t, "nonsense")
	maps := of("v1", "nonsense", "configmaps")
	notFound := refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
		message: "the server could not find the requested resource"}
	for _, test := range []struct {
		name, method, path, body string
		want                     refusal
	}{
		{"for an object that is not there", http.MethodGet, nodesPath + "/nothing", "",
			refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
				message: `nodes "nothing" not found`, details: &metav1.StatusDetails{Name: "nothing", Kind: "nodes"}}},
		{"for a lock that is not there", http.MethodGet, nodeLocksPath + "/nothing", "",
			refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
				message: `nodeworkloadlocks.lcm.mirantis.com "nothing" not found`,
				details: &metav1.StatusDetails{Name: "nothing", Group: lcm, Kind: "nodeworkloadlocks"}}},
		{"for a resource that is not there", http.MethodGet, "/api/v1/wishes", "", notFound},
		{"for a subresource that is not there", http.MethodGet, nodesPath + "/nothing/wishes", "", notFound},
		{"of a method that is not taken", http.MethodPut, nodesPath, "{}",
			refusal{code: http.StatusMethodNotAllowed, reason: metav1.StatusReasonMethodNotAllowed,
				message: "the server does not allow this method on the requested resource"}},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) { s.send(t, Admin, test.method, test.path, test.body).refuses(t, test.want) })
	}
	for _, path := range []string{"/apis/lcm.mirantis.com/v1alpha1/wishes", "/apis/metrics.k8s.io/v1beta1/nodes",
		"/apis/wishes.example/v1/wishes", "/wishes"} {
		t.Run("for "+path+", of which nobody knows, is answered with a page", func(t *testing.T) {
			a := s.get(t, path)
			if a.code != http.StatusNotFound || string(a.body) != "404 page not found\n" {
				t.Errorf("the answer is %d: %q", a.code, a.body)
			}
		})
	}
	t.Run("that creates a custom resource at its own path is taken", func(t *testing.T) {
		s.clean(t, nodeLocksPath, "some")
		s.send(t, Admin, http.MethodPost, nodeLocksPath+"/some", asJSON(t, nodeLock("some", "n1"))).object(t, http.StatusCreated)
	})
	t.Run("with a body of an unknown format is refused", func(t *testing.T) {
		s.send(t, Admin, http.MethodPost, maps, "name: x", "Content-Type", "text/plain").refuses(t, refusal{
			code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
			message: "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, " +
				"application/vnd.kubernetes.protobuf"})
	})
	t.Run("with a body that is no object is refused", func(t *testing.T) {
		s.send(t, Admin, http.MethodPost, maps, `{"kind":`).refuses(t, refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected ` +
				`end of JSON input ({"kind":)`})
		s.send(t, Admin, http.MethodPost, nodeLocksPath, `{"metadata":{}}`).refuses(t,
			refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
				message: `the object provided is unrecognized (must be of type NodeWorkloadLock): Object 'Kind' is missing in '{"metadata":{}}' ` +
					`({"metadata":{}})`})
	})
	t.Run("for protobuf of a custom resource is answered with what else is accepted", func(t *testing.T) {
		const accept = "application/vnd.kubernetes.protobuf,application/json"
		if got := s.get(t, nodeLocksPath, "Accept", accept).header.Get("Content-Type"); got != jsonBody {
			t.Errorf("the answer is %s", got)
		}
		if a := s.get(t, nodeLocksPath, "Accept", "application/vnd.kubernetes.protobuf"); a.code != http.StatusNotAcceptable {
			t.Errorf("for protobuf alone the answer is %d: %s", a.code, a.body)
		}
	})
	t.Run("with a name that is not the object's is refused", func(t *testing.T) {
		s.make(t, maps, configMap("named", "1"))
		s.put(t, maps+"/named", configMap("other", "1")).refuses(t, refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "the name of the object (other) does not match the name on the URL (named)"})
		s.put(t, maps+"/named", `{apiVersion: v1, kind: ConfigMap, metadata: {name: named, namespace: default}}`).refuses(t, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "the namespace of the provided object does not match the namespace sent on the request"})
	})
	t.Run("of an update of what is not there is refused", func(t *testing.T) {
		s.put(t, maps+"/nothing", configMap("nothing", "1")).refuses(t, refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
			message: `configmaps "nothing" not found`, details: &metav1.StatusDetails{Name: "nothing", Kind: "configmaps"}})
	})
}
