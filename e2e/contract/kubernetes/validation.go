package kubernetes

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func refusedValues(t *testing.T, s *suite) {
	s.make(t, nodeLocksPath, nodeLock("refused", "n1"))
	lock := &metav1.StatusDetails{Name: "refused", Group: lcm, Kind: "NodeWorkloadLock"}
	with := func(details *metav1.StatusDetails, causes ...metav1.StatusCause) *metav1.StatusDetails {
		details = details.DeepCopy()
		details.Causes = causes
		return details
	}
	for _, test := range []struct {
		name    string
		ask     func() answer
		message string
		details *metav1.StatusDetails
	}{
		{"is named with those that are allowed", func() answer {
			return s.patch(t, nodeLocksPath+"/refused/status", mergePatch, `{"status":{"state":"sleeping"}}`)
		}, `NodeWorkloadLock.lcm.mirantis.com "refused" is invalid: status.state: Unsupported value: "sleeping": supported values: "inactive",` +
			` "active", "failed"`,
			with(lock, metav1.StatusCause{Type: metav1.CauseTypeFieldValueNotSupported, Field: "status.state",
				Message: `Unsupported value: "sleeping": supported values: "inactive", "active", "failed"`})},
		{"is named in a new object, too", func() answer {
			return s.post(t, requestsPath, request("refused", "everything"))
		}, `NodeMaintenanceRequest.lcm.mirantis.com "refused" is invalid: spec.scope: Unsupported value: "everything": supported values: "os",` +
			` "drain"`,
			with(&metav1.StatusDetails{Name: "refused", Group: lcm, Kind: "NodeMaintenanceRequest"}, metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.scope",
				Message: `Unsupported value: "everything": supported values: "os", "drain"`})},
		{"is one that is missing", func() answer {
			return s.patch(t, nodeLocksPath+"/refused", mergePatch, `{"spec":{"nodeName":null}}`)
		}, `NodeWorkloadLock.lcm.mirantis.com "refused" is invalid: spec.nodeName: Required value`,
			with(lock, metav1.StatusCause{Type: metav1.CauseTypeFieldValueRequired, Field: "spec.nodeName", Message: "Required value"})},
		{"is one of another type", func() answer {
			return s.patch(t, nodeLocksPath+"/refused", mergePatch, `{"spec":{"nodeName":7}}`)
		}, `NodeWorkloadLock.lcm.mirantis.com "refused" is invalid: spec.nodeName: Invalid value: "integer": spec.nodeName in body must be of ` +
			`type string: "integer"`,
			with(lock, metav1.StatusCause{Type: metav1.CauseTypeTypeInvalid, Field: "spec.nodeName",
				Message: `Invalid value: "integer": spec.nodeName in body must be of type string: "integer"`})},
		{"is one that is too large", func() answer {
			return s.patch(t, nodeLocksPath+"/refused/status", mergePatch, `{"status":{"state":"active","inactivationProgress":{"percentage":101}}}`)
		}, `NodeWorkloadLock.lcm.mirantis.com "refused" is invalid: status.inactivationProgress.percentage: Invalid value: 101: ` +
			`inactivationProgress.percentage in body should be less than or equal to 100`,
			with(lock, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "status.inactivationProgress.percentage",
				Message: `Invalid value: 101: inactivationProgress.percentage in body should be less than or equal to 100`})},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.ask().refuses(t, refusal{code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid, message: test.message,
				details: test.details})
		})
	}
	t.Run("is named beside the others, in any order", func(t *testing.T) {
		var status metav1.Status
		s.patch(t, nodeLocksPath+"/refused/status", mergePatch, `{"status":{"state":"sleeping","errorMessage":1}}`).decode(t, &status)
		causes := map[metav1.StatusCause]bool{}
		if status.Details != nil {
			for _, cause := range status.Details.Causes {
				causes[cause] = true
			}
		}
		if want := map[metav1.StatusCause]bool{
			{Type: metav1.CauseTypeTypeInvalid, Field: "status.errorMessage",
				Message: `Invalid value: "integer": errorMessage in body must be of type string: "integer"`}: true,
			{Type: metav1.CauseTypeFieldValueNotSupported, Field: "status.state",
				Message: `Unsupported value: "sleeping": supported values: "inactive", "active", "failed"`}: true,
		}; !maps.Equal(causes, want) {
			t.Errorf("the causes are %v", causes)
		}
	})
	t.Run("leaves the object as it was", func(t *testing.T) {
		if now := s.get(t, nodeLocksPath+"/refused").object(t, http.StatusOK); now.GetGeneration() != 1 || now.Object["status"] != nil {
			t.Errorf("it is %s", asText(t, now))
		}
	})
}

func unknownFields(t *testing.T, s *suite) {
	s.namespace(t, "unknown-fields")
	path := of("v1", "unknown-fields", "configmaps")
	const (
		oddLock = `{"apiVersion":"lcm.mirantis.com/v1alpha1","kind":"NodeWorkloadLock","metadata":{"name":"odd"},` +
			`"spec":{"controllerName":"openstack","nodeName":"n1","colour":"red"}}`
		oddMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"dates":{}}`
	)
	for _, test := range []struct {
		name, path, body, warning, message string
	}{
		{"in a lock", nodeLocksPath, oddLock, `299 - "unknown field \"spec.colour\""`,
			`NodeWorkloadLock in version "v1alpha1" cannot be handled as a NodeWorkloadLock: strict decoding error: unknown field "spec.colour"`},
		{"in a ConfigMap", path, oddMap, `299 - "unknown field \"dates\""`,
			`ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dates"`},
	} {
		s.clean(t, test.path, "odd")
		t.Run(test.name+" is refused by Strict", func(t *testing.T) {
			s.post(t, test.path+"?fieldValidation=Strict", test.body).refuses(t, refusal{
				code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, message: test.message})
		})
		for _, policy := range []string{"", "?fieldValidation=Warn"} {
			t.Run(test.name+" is dropped with a warning: "+policy, func(t *testing.T) {
				a := s.post(t, test.path+policy, test.body)
				made := a.object(t, http.StatusCreated)
				if got := a.header.Values("Warning"); len(got) != 1 || got[0] != test.warning {
					t.Errorf("the warnings are %q, want %q", got, test.warning)
				}
				if made.Object["dates"] != nil || field(made, "spec", "colour") != nil {
					t.Errorf("the field was stored: %s", asText(t, made))
				}
				s.remove(t, test.path+"/odd", "").object(t, http.StatusOK)
			})
		}
		t.Run(test.name+" is dropped by Ignore", func(t *testing.T) {
			a := s.post(t, test.path+"?fieldValidation=Ignore", test.body)
			a.object(t, http.StatusCreated)
			if got := a.header.Values("Warning"); len(got) > 0 {
				t.Errorf("the warnings are %q", got)
			}
		})
	}
	t.Run("in a patch is refused by Strict", func(t *testing.T) {
		a := s.patch(t, nodeLocksPath+"/odd?fieldValidation=Strict", mergePatch, `{"spec":{"colour":"red"}}`)
		var status metav1.Status
		a.decode(t, &status)
		if status.Code != http.StatusUnprocessableEntity || status.Details == nil || len(status.Details.Causes) != 1 ||
			status.Details.Causes[0].Field != "patch" {
			t.Errorf("the answer is %s", a.body)
		}
	})
	t.Run("twice in a body is a warning", func(t *testing.T) {
		a := s.send(t, Admin, http.MethodPost, path,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1"},"data":{"a":"2"}}`)
		a.object(t, http.StatusCreated)
		if got := a.header.Values("Warning"); len(got) != 1 || got[0] != `299 - "duplicate field \"data\""` {
			t.Errorf("the warnings are %q", got)
		}
	})
	t.Run("is no policy of that name", func(t *testing.T) {
		s.post(t, path+"?fieldValidation=Hard", configMap("policy", "1")).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Hard": supported values: "", "Ignore", ` +
				`"Strict", "Warn"`,
			details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "CreateOptions", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueNotSupported, Field: "fieldValidation",
					Message: `Unsupported value: "Hard": supported values: "", "Ignore", "Strict", "Warn"`}}},
		})
	})
}

func dryRuns(t *testing.T, s *suite) {
	s.namespace(t, "dry-runs")
	path := of("v1", "dry-runs", "configmaps")
	made := s.make(t, path, configMap("there", "1"))
	const dry = "?dryRun=All"
	st := s.watch(t, path, "resourceVersion="+made.GetResourceVersion())

	t.Run("shows what a creation would store", func(t *testing.T) {
		shown := s.post(t, path+dry, configMap("new", "1")).object(t, http.StatusCreated)
		if shown.GetUID() == "" || shown.GetResourceVersion() != "" {
			t.Errorf("it shows %s", asText(t, shown))
		}
		s.get(t, path+"/new").refuses(t, refusal{code: http.StatusNotFound, reason: metav1.StatusReasonNotFound,
			message: `configmaps "new" not found`, details: &metav1.StatusDetails{Name: "new", Kind: "configmaps"}})
	})
	t.Run("is refused where the creation would be", func(t *testing.T) {
		s.post(t, path+dry, configMap("there", "1")).refuses(t, refusal{code: http.StatusConflict, reason: metav1.StatusReasonAlreadyExists,
			message: `configmaps "there" already exists`, details: &metav1.StatusDetails{Name: "there", Kind: "configmaps"}})
		s.post(t, requestsPath+dry, request("dry", "everything")).refuses(t,
			refusal{code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
				message: `NodeMaintenanceRequest.lcm.mirantis.com "dry" is invalid: spec.scope: Unsupported value: "everything": supported values: ` +
					`"os", "drain"`,
				details: &metav1.StatusDetails{Name: "dry", Group: lcm, Kind: "NodeMaintenanceRequest", Causes: []metav1.StatusCause{{
					Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.scope",
					Message: `Unsupported value: "everything": supported values: "os", "drain"`}}}})
	})
	t.Run("shows what a change would store", func(t *testing.T) {
		for _, shown := range []answer{
			s.patch(t, path+"/there"+dry, mergePatch, `{"data":{"value":"2"}}`),
			s.patch(t, path+"/there"+dry, jsonPatch, `[{"op":"replace","path":"/data/value","value":"2"}]`),
			s.put(t, path+"/there"+dry, configMap("there", "2")),
		} {
			now := shown.object(t, http.StatusOK)
			if field(now, "data", "value") != "2" || now.GetResourceVersion() != made.GetResourceVersion() {
				t.Errorf("it shows %s", asText(t, now))
			}
		}
	})
	t.Run("shows what a deletion would do", func(t *testing.T) {
		if a := s.remove(t, path+"/there"+dry, ""); a.code != http.StatusOK {
			t.Errorf("the answer is %s", a.body)
		}
	})
	t.Run("is of all or not at all", func(t *testing.T) {
		s.post(t, path+"?dryRun=Some", configMap("new", "1")).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`,
			details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "CreateOptions", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueNotSupported, Field: "dryRun", Message: `Unsupported value: ["Some"]: supported values: "All"`}}},
		})
	})
	t.Run("changes nothing and is no event", func(t *testing.T) {
		if now := s.get(t, path+"/there").object(t, http.StatusOK); now.GetResourceVersion() != made.GetResourceVersion() {
			t.Errorf("the object is %s", asText(t, now))
		}
		s.make(t, path, configMap("after", "1"))
		st.wants("ADDED after")
	})
}

func newObjects(t *testing.T, s *suite) {
	s.namespace(t, "new-objects")
	path := of("v1", "new-objects", "configmaps")
	t.Run("gets a name of the wished beginning", func(t *testing.T) {
		first := s.make(t, path, `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: made-}}`)
		second := s.make(t, path, `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: made-}}`)
		for _, o := range []string{first.GetName(), second.GetName()} {
			if len(o) != len("made-")+5 || o[:5] != "made-" {
				t.Errorf("the name is %q", o)
			}
		}
		if first.GetName() == second.GetName() || first.GetGenerateName() != "made-" {
			t.Errorf("the names are %q and %q", first.GetName(), second.GetName())
		}
	})
	for _, test := range []struct {
		name, path, manifest string
		want                 refusal
	}{
		{"needs a name", path, `{apiVersion: v1, kind: ConfigMap, metadata: {}}`, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`,
			details: &metav1.StatusDetails{Kind: "ConfigMap",
				Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueRequired, Field: "metadata.name",
					Message: "Required value: name or generateName is required"}}}}},
		{"needs a name of DNS", nodeLocksPath, nodeLock("Not_A_Name", "n1"), refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `NodeWorkloadLock.lcm.mirantis.com "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": ` + subdomain,
			details: &metav1.StatusDetails{Name: "Not_A_Name", Group: lcm, Kind: "NodeWorkloadLock", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.name", Message: `Invalid value: "Not_A_Name": ` + subdomain}}}}},
		{"needs its namespace", of("v1", "missing", "configmaps"), configMap("a", "1"), refusal{
			code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, message: `namespaces "missing" not found`,
			details: &metav1.StatusDetails{Name: "missing", Kind: "namespaces"}}},
		{"of a custom resource needs its namespace", "/apis/lcm.mirantis.com/v1alpha1/namespaces/missing/openstackdeploymentstatus",
			`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeploymentStatus, metadata: {name: a}}`, refusal{
				code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, message: `namespaces "missing" not found`,
				details: &metav1.StatusDetails{Name: "missing", Kind: "namespaces"}}},
		{"is not of two namespaces", path, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}`, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "the namespace of the provided object does not match the namespace sent on the request"}},
		{"is not of another version", nodeLocksPath, `{apiVersion: lcm.mirantis.com/v2, kind: NodeWorkloadLock, metadata: {name: a}}`, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: `the API version in the data (lcm.mirantis.com/v2) does not match the expected API version (lcm.mirantis.com/v1alpha1)`}},
		{"brings no resourceVersion", path, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: "5"}}`, refusal{
			code: http.StatusInternalServerError, message: "resourceVersion should not be set on objects to be created"}},
	} {
		t.Run(test.name, func(t *testing.T) { s.post(t, test.path, test.manifest).refuses(t, test.want) })
	}
	t.Run("is not of another kind", func(t *testing.T) {
		var status metav1.Status
		s.post(t, path, nodeLock("a", "n1")).decode(t, &status)
		if status.Code != http.StatusBadRequest ||
			!strings.HasPrefix(status.Message, `NodeWorkloadLock in version "v1alpha1" cannot be handled as a ConfigMap: `) {
			t.Errorf("the answer is %d: %s", status.Code, status.Message)
		}
	})
	for _, test := range []struct{ plural, manifest, spec string }{
		{"deployments", deployment("filled", 1),
			`{"progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"filled"}},` +
				`"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},"template":` + filledTemplate + `}`},
		{"daemonsets", strings.NewReplacer("Deployment", "DaemonSet", "  replicas: 1\n", "").Replace(deployment("filled", 1)),
			`{"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"filled"}},"template":` + filledTemplate +
				`,"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}}`},
		{"statefulsets", strings.Replace(deployment("filled", 1), "Deployment", "StatefulSet", 1),
			`{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"},"podManagementPolicy":"OrderedReady",` +
				`"replicas":1,` +
				`"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"filled"}},"serviceName":"","template":` + filledTemplate +
				`,"updateStrategy":{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}}`},
	} {
		t.Run("of "+test.plural+" is filled in", func(t *testing.T) {
			made := s.make(t, of("apps/v1", "new-objects", test.plural), test.manifest)
			if got := asText(t, made.Object["spec"]); got != test.spec {
				t.Errorf("the spec is\n\t%s, want\n\t%s", got, test.spec)
			}
		})
	}
	t.Run("has what only the server says", func(t *testing.T) {
		made := s.make(t, path, `
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, uid: 00000000-0000-0000-0000-000000000000, creationTimestamp: "2001-01-01T00:00:00Z",
  deletionTimestamp: "2001-01-01T00:00:00Z", selfLink: /mine}
`)
		if made.GetUID() == "00000000-0000-0000-0000-000000000000" || made.GetCreationTimestamp().Year() == 2001 ||
			made.GetDeletionTimestamp() != nil || made.GetSelfLink() != "" {
			t.Errorf("it is %s", asText(t, made))
		}
	})
}

const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
	"end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

// filledTemplate is the template of deployment("filled", ...) as it is stored.
const filledTemplate = `{"metadata":{"labels":{"app":"filled"}},"spec":{"containers":[{"image":"none","imagePullPolicy":"Always",` +
	`"name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],` +
	`"dnsPolicy":"ClusterFirst","restartPolicy":"Always",` +
	`"schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}`
