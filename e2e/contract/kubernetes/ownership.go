package kubernetes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// managed returns an object's managers and their fields: "lockstep Update  {...}".
func managed(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	var all []string
	for _, m := range o.GetManagedFields() {
		// An apply that only shares a field has no time.
		if m.Time == nil && m.Operation != metav1.ManagedFieldsOperationApply || m.FieldsType != "FieldsV1" || m.FieldsV1 == nil {
			t.Errorf("the entry of %s is incomplete", m.Manager)
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s %s %s%s", m.Manager, m.Operation, m.APIVersion, strings.TrimSpace(m.Subresource+" "),
			asText(t, fields)))
	}
	sort.Strings(all)
	return strings.Join(all, "\n")
}

func managers(t *testing.T, s *suite) {
	s.namespace(t, "managers")
	maps := of("v1", "managers", "configmaps")
	for _, test := range []struct {
		name string
		do   func() *unstructured.Unstructured
		want string
	}{
		{"is who created it", func() *unstructured.Unstructured {
			return s.make(t, maps+"?fieldManager=anna", configMap("managed", "1"))
		}, `anna Update v1 {"f:data":{".":{},"f:value":{}}}`},
		{"is who changed it last", func() *unstructured.Unstructured {
			return s.patch(t, maps+"/managed?fieldManager=bert", mergePatch, `{"data":{"value":"2"}}`).object(t, http.StatusOK)
		}, `anna Update v1 {"f:data":{}}` + "\n" + `bert Update v1 {"f:data":{"f:value":{}}}`},
		{"stays who he was where nothing changed", func() *unstructured.Unstructured {
			return s.patch(t, maps+"/managed?fieldManager=carl", mergePatch, `{"data":{"value":"2"}}`).object(t, http.StatusOK)
		}, `anna Update v1 {"f:data":{}}` + "\n" + `bert Update v1 {"f:data":{"f:value":{}}}`},
		{"goes with what is removed", func() *unstructured.Unstructured {
			return s.patch(t, maps+"/managed?fieldManager=carl", mergePatch, `{"data":{"value":null,"other":"1"}}`).object(t, http.StatusOK)
		}, `anna Update v1 {"f:data":{}}` + "\n" + `carl Update v1 {"f:data":{"f:other":{}}}`},
		{"is the client's name when none is given", func() *unstructured.Unstructured {
			return s.patch(t, maps+"/managed", mergePatch, `{"metadata":{"labels":{"x":"y"}}}`).object(t, http.StatusOK)
		}, `anna Update v1 {"f:data":{}}` + "\n" + `carl Update v1 {"f:data":{"f:other":{}}}` + "\n" +
			`contract Update v1 {"f:metadata":{"f:labels":{".":{},"f:x":{}}}}`},
		{"of a node's annotation is the program", func() *unstructured.Unstructured {
			s.make(t, nodesPath+"?fieldManager=kubelet", `{apiVersion: v1, kind: Node, metadata: {name: managed, labels: {role: x}}}`)
			return s.patch(t, nodesPath+"/managed?fieldManager=lockstep", jsonPatch,
				`[{"op":"add","path":"/metadata/annotations","value":{"`+modeKey+`":"skip"}}]`).object(t, http.StatusOK)
		}, `kubelet Update v1 {"f:metadata":{"f:labels":{".":{},"f:role":{}}}}` + "\n" +
			`lockstep Update v1 {"f:metadata":{"f:annotations":{".":{},"f:openstack.lcm.mirantis.com/instance_migration_mode":{}}}}`},
		{"of a status has its subresource", func() *unstructured.Unstructured {
			s.make(t, nodeLocksPath+"?fieldManager=rockoon", nodeLock("managed", "n1"))
			return s.patch(t, nodeLocksPath+"/managed/status?fieldManager=rockoon", mergePatch, `{"status":{"state":"active"}}`).object(t,
				http.StatusOK)
		}, `rockoon Update lcm.mirantis.com/v1alpha1 status{"f:status":{".":{},"f:state":{}}}` + "\n" +
			`rockoon Update lcm.mirantis.com/v1alpha1 {"f:spec":{".":{},"f:controllerName":{},"f:nodeName":{}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.do()
			want := strings.Split(test.want, "\n")
			sort.Strings(want)
			if got := managed(t, o); got != strings.Join(want, "\n") {
				t.Errorf("the managers are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// apply sends a manifest to be applied.
func (s *suite) apply(t *testing.T, path, manager, more, manifest string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodPatch, path+"?fieldManager="+manager+more, manifest, "Content-Type", applyPatch)
}

func applies(t *testing.T, s *suite) {
	s.namespace(t, "applies")
	maps, deployments := of("v1", "applies", "configmaps"), of("apps/v1", "applies", "deployments")
	s.clean(t, maps, "applied")

	t.Run("creates what is not there", func(t *testing.T) {
		made := s.apply(t, maps+"/applied", "anna", "", configMap("applied", "1")).object(t, http.StatusCreated)
		if got := managed(t, made); got != `anna Apply v1 {"f:data":{"f:value":{}}}` || field(made, "data", "value") != "1" {
			t.Errorf("it is %s", asText(t, made))
		}
	})
	t.Run("again changes nothing", func(t *testing.T) {
		before := s.get(t, maps+"/applied").object(t, http.StatusOK)
		after := s.apply(t, maps+"/applied", "anna", "", configMap("applied", "1")).object(t, http.StatusOK)
		if before.GetResourceVersion() != after.GetResourceVersion() {
			t.Errorf("it was %s and is %s", asText(t, before), asText(t, after))
		}
	})
	t.Run("of another's field is a conflict that names both", func(t *testing.T) {
		s.apply(t, maps+"/applied", "bert", "", configMap("applied", "2")).refuses(t, refusal{
			code: http.StatusConflict, reason: metav1.StatusReasonConflict,
			message: `Apply failed with 1 conflict: conflict with "anna": .data.value`,
			details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.value",
				Message: `conflict with "anna"`}}},
		})
		var status metav1.Status
		s.patch(t, maps+"/applied?fieldManager=carl", mergePatch, `{"data":{"other":"3"}}`).object(t, http.StatusOK)
		a := s.apply(t, maps+"/applied", "bert", "",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {value: "2", other: "2"}}`)
		a.decode(t, &status)
		if status.Code != http.StatusConflict || status.Details == nil || len(status.Details.Causes) != 2 ||
			!strings.HasPrefix(status.Message,
				"Apply failed with 2 conflicts: conflicts with \"anna\":\n- .data.value\nconflicts with \"carl\" using v1:\n- .data.other") {
			t.Errorf("the answer is %s", a.body)
		}
	})
	t.Run("with force takes the field", func(t *testing.T) {
		now := s.apply(t, maps+"/applied", "bert", "&force=true", configMap("applied", "2")).object(t, http.StatusOK)
		want := `bert Apply v1 {"f:data":{"f:value":{}}}` + "\n" + `carl Update v1 {"f:data":{"f:other":{}}}`
		if got := managed(t, now); got != want || field(now, "data", "value") != "2" {
			t.Errorf("the managers are\n%s\nof %s", got, asText(t, now.Object["data"]))
		}
	})
	t.Run("of the same value shares the field", func(t *testing.T) {
		now := s.apply(t, maps+"/applied", "dora", "", configMap("applied", "2")).object(t, http.StatusOK)
		if got := managed(t, now); !strings.Contains(got, "dora Apply") || !strings.Contains(got, "bert Apply") {
			t.Errorf("the managers are\n%s", got)
		}
		s.apply(t, maps+"/applied", "dora", "", `{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}}`).object(t, http.StatusOK)
	})
	t.Run("removes what is no longer applied", func(t *testing.T) {
		now := s.apply(t, maps+"/applied", "bert", "",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {third: "3"}}`).object(t, http.StatusOK)
		if got := asText(t, now.Object["data"]); got != `{"other":"3","third":"3"}` {
			t.Errorf("the data are %s", got)
		}
	})
	t.Run("merges lists by their keys", func(t *testing.T) {
		s.make(t, deployments, deployment("merged", 1))
		now := s.apply(t, deployments+"/merged", "anna", "", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: merged}
spec: {template: {spec: {containers: [{name: sidecar, image: second}]}}}
`).object(t, http.StatusOK)
		containers, _ := field(now, "spec", "template", "spec", "containers").([]any)
		if len(containers) != 2 {
			t.Errorf("the containers are %s", asText(t, containers))
		}
	})
	t.Run("of a lock and of its status are two", func(t *testing.T) {
		s.clean(t, nodeLocksPath, "applied")
		s.apply(t, nodeLocksPath+"/applied", "anna", "", nodeLock("applied", "n1")).object(t, http.StatusCreated)
		now := s.apply(t, nodeLocksPath+"/applied/status", "bert", "", `
apiVersion: lcm.mirantis.com/v1alpha1
kind: NodeWorkloadLock
metadata: {name: applied}
status: {state: active}
`).object(t, http.StatusOK)
		if field(now, "status", "state") != "active" || field(now, "spec", "nodeName") != "n1" {
			t.Errorf("it is %s", asText(t, now))
		}
		s.apply(t, nodeLocksPath+"/applied/status", "bert", "",
			strings.Replace(nodeLock("applied", "n1"), "spec:", "status: {state: sleeping}, spec:", 1)).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `NodeWorkloadLock.lcm.mirantis.com "applied" is invalid: status.state: Unsupported value: "sleeping": supported values: ` +
				`"inactive", "active", "failed"`,
			details: &metav1.StatusDetails{Name: "applied", Group: lcm, Kind: "NodeWorkloadLock", Causes: []metav1.StatusCause{{
				Type: metav1.CauseTypeFieldValueNotSupported, Field: "status.state",
				Message: `Unsupported value: "sleeping": supported values: "inactive", "active", "failed"`}}},
		})
	})
	t.Run("tried only stores nothing", func(t *testing.T) {
		s.apply(t, maps+"/tried", "anna", "&dryRun=All", configMap("tried", "1")).object(t, http.StatusCreated)
		if a := s.get(t, maps+"/tried"); a.code != http.StatusNotFound {
			t.Errorf("the answer is %s", a.body)
		}
	})
	for _, test := range []struct {
		name, path, manifest string
		want                 refusal
	}{
		{"needs a manager", maps + "/applied", configMap("applied", "1"),
			refusal{code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
				message: `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`,
				details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "PatchOptions", Causes: []metav1.StatusCause{
					{Type: metav1.CauseTypeFieldValueRequired, Field: "fieldManager", Message: "Required value: is required for apply patch"}}}}},
		{"needs YAML", maps + "/applied?fieldManager=x", "a: b: c", refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context"}},
		{"needs a kind", maps + "/applied?fieldManager=x", "metadata: {name: applied}",
			refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
				message: "invalid object type: /, Kind="}},
		{"has no managers", maps + "/applied?fieldManager=x",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: applied, managedFields: [{manager: x}]}}`, refusal{
				code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest, message: "metadata.managedFields must be nil"}},
		{"has fields of the kind", maps + "/applied?fieldManager=x", `{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, dates: {}}`,
			refusal{
				code:    http.StatusInternalServerError,
				message: `failed to create typed patch object (/applied; /v1, Kind=ConfigMap): .dates: field not declared in schema`}},
	} {
		t.Run(test.name, func(t *testing.T) { s.patch(t, test.path, applyPatch, test.manifest).refuses(t, test.want) })
	}
}

// deployment is the manifest of a Deployment.
func deployment(name string, replicas int) string {
	raw, err := yaml.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": replicas,
			"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": name}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "none"}}},
			},
		},
	})
	if err != nil {
		return err.Error() // maps and texts only: it cannot fail
	}
	return string(raw)
}

func scales(t *testing.T, s *suite) {
	s.namespace(t, "scales")
	path := of("apps/v1", "scales", "deployments")
	made := s.make(t, path, deployment("scaled", 2))
	s.patch(t, path+"/scaled/status", mergePatch, `{"status":{"replicas":1}}`).object(t, http.StatusOK)
	t.Run("is the wished and the present number, and the selector", func(t *testing.T) {
		scale := s.get(t, path+"/scaled/scale").object(t, http.StatusOK)
		if scale.GetKind() != "Scale" || scale.GetAPIVersion() != "autoscaling/v1" || scale.GetUID() != made.GetUID() ||
			asText(t, scale.Object["spec"])+asText(t, scale.Object["status"]) != `{"replicas":2}{"replicas":1,"selector":"app=scaled"}` {
			t.Errorf("it is %s", asText(t, scale))
		}
	})
	t.Run("changes the workload and nothing else of it", func(t *testing.T) {
		scale := s.patch(t, path+"/scaled/scale", mergePatch, `{"spec":{"replicas":3}}`).object(t, http.StatusOK)
		now := s.get(t, path+"/scaled").object(t, http.StatusOK)
		if scale.GetResourceVersion() != now.GetResourceVersion() || fmt.Sprint(field(now, "spec", "replicas")) != "3" ||
			now.GetGeneration() != 2 {
			t.Errorf("the scale is %s, the workload %s", asText(t, scale), asText(t, now))
		}
		scale = s.put(t, path+"/scaled/scale",
			`{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: scaled, namespace: scales}, spec: {replicas: 0}}`).object(t, http.StatusOK)
		if scale.Object["spec"] != nil && asText(t, scale.Object["spec"]) != `{}` {
			t.Errorf("the scale is %s", asText(t, scale))
		}
	})
	t.Run("cannot be negative", func(t *testing.T) {
		s.patch(t, path+"/scaled/scale", mergePatch, `{"spec":{"replicas":-1}}`).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
			details: &metav1.StatusDetails{Name: "scaled", Group: "autoscaling", Kind: "Scale", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.replicas", Message: "Invalid value: -1: must be greater than or equal to 0"}}},
		})
	})
}
