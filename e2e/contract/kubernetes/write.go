package kubernetes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/kube"
)

const staleText = "the object has been modified; please apply your changes to the latest version and try again"

func conflicts(t *testing.T, s *suite) {
	s.namespace(t, "conflicts")
	maps := of("v1", "conflicts", "configmaps")
	for _, test := range []struct {
		name, path, manifest, change string
		details                      *metav1.StatusDetails
	}{
		{"a stale update of a ConfigMap", maps, configMap("stale", "1"), `{"data":{"value":"2"}}`,
			&metav1.StatusDetails{Name: "stale", Kind: "configmaps"}},
		{"a stale update of a lock", nodeLocksPath, nodeLock("stale", "n1"), `{"metadata":{"labels":{"x":"y"}}}`,
			&metav1.StatusDetails{Name: "stale", Group: "lcm.mirantis.com", Kind: "nodeworkloadlocks"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := s.make(t, test.path, test.manifest)
			s.patch(t, test.path+"/stale", mergePatch, test.change).object(t, http.StatusOK)
			seen.SetLabels(map[string]string{"mine": "yes"})
			where := strings.TrimSuffix(test.details.Kind+"."+test.details.Group, ".")
			want := refusal{code: http.StatusConflict, reason: metav1.StatusReasonConflict, details: test.details,
				message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", where, "stale", staleText)}
			s.put(t, test.path+"/stale", asText(t, seen)).refuses(t, want)
			s.patch(t, test.path+"/stale", mergePatch,
				fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"labels":{"mine":"yes"}}}`, seen.GetResourceVersion())).refuses(t, want)
			if now := s.get(t, test.path+"/stale").object(t, http.StatusOK); now.GetLabels()["mine"] != "" {
				t.Errorf("the refused update has changed the object: %s", asText(t, now))
			}
		})
	}
	t.Run("is none for an update without a resourceVersion, where the kind allows that", func(t *testing.T) {
		s.make(t, maps, configMap("blind", "1"))
		if now := s.put(t, maps+"/blind", configMap("blind", "2")).object(t, http.StatusOK); field(now, "data", "value") != "2" {
			t.Errorf("the value is %v", field(now, "data"))
		}
		s.make(t, nodeLocksPath, nodeLock("blind", "n1"))
		s.put(t, nodeLocksPath+"/blind", nodeLock("blind", "n2")).refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `nodeworkloadlocks.lcm.mirantis.com "blind" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for ` +
				`an update`,
			details: &metav1.StatusDetails{Name: "blind", Group: "lcm.mirantis.com", Kind: "nodeworkloadlocks", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.resourceVersion",
					Message: "Invalid value: 0: must be specified for an update"}}},
		})
	})
	t.Run("is an update of another object of that name", func(t *testing.T) {
		was := s.make(t, maps, configMap("again", "1"))
		uid := was.GetUID()
		const other = "00000000-0000-0000-0000-000000000000"
		was.SetUID(other)
		was.SetResourceVersion("")
		s.put(t, maps+"/again", asText(t, was)).refuses(t, refusal{
			code: http.StatusConflict, reason: metav1.StatusReasonConflict, details: &metav1.StatusDetails{Name: "again", Kind: "configmaps"},
			message: `Operation cannot be fulfilled on configmaps "again": StorageError: invalid object, Code: 4, Key: ` +
				`/registry/configmaps/conflicts/again, ` +
				`ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ` + other + `, UID in object meta: ` + string(uid),
		})
	})
	t.Run("is a creation of what is there", func(t *testing.T) {
		s.make(t, nodeLocksPath, nodeLock("there", "n1"))
		s.post(t, nodeLocksPath, nodeLock("there", "n1")).refuses(t, refusal{
			code: http.StatusConflict, reason: metav1.StatusReasonAlreadyExists,
			message: `nodeworkloadlocks.lcm.mirantis.com "there" already exists`,
			details: &metav1.StatusDetails{Name: "there", Group: "lcm.mirantis.com", Kind: "nodeworkloadlocks"},
		})
	})
}

const (
	modeKey  = "openstack.lcm.mirantis.com/instance_migration_mode"
	modePath = "/metadata/annotations/openstack.lcm.mirantis.com~1instance_migration_mode"
)

func patches(t *testing.T, s *suite) {
	made := s.make(t, nodesPath, `{apiVersion: v1, kind: Node, metadata: {name: patched, annotations: {`+modeKey+`: manual}}}`)
	path := nodesPath + "/patched"
	unapplied := refusal{code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
		message: "the server rejected our request due to an error in our request"}

	for _, test := range []struct {
		name, patch string
		want        refusal
	}{
		{"whose test finds another value", `[{"op":"test","path":"` + modePath + `","value":"live"},{"op":"replace","path":"` + modePath +
			`","value":"skip"}]`, unapplied},
		{"whose test finds another object",
			`[{"op":"test","path":"/metadata/uid","value":"00000000-0000-0000-0000-000000000000"},{"op":"remove","path":"` + modePath + `"}]`,
			unapplied},
		{"whose test finds nothing", `[{"op":"test","path":"/metadata/annotations/nothing","value":"live"},{"op":"replace","path":"` + modePath +
			`","value":"skip"}]`, unapplied},
		{"of a path that is not there", `[{"op":"replace","path":"/metadata/nothing/here","value":"skip"}]`, unapplied},
		{"that removes what is not there", `[{"op":"remove","path":"/metadata/annotations/nothing"}]`, unapplied},
		{"with an unknown operation", `[{"op":"toggle","path":"/metadata/annotations/nothing"}]`, unapplied},
		{"that is no list", `{"op":"remove","path":"/metadata/annotations/nothing"}`,
			refusal{code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
				message: "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"}},
	} {
		t.Run("in JSON "+test.name+" is refused and changes nothing", func(t *testing.T) {
			s.patch(t, path, jsonPatch, test.patch).refuses(t, test.want)
			if now := s.get(t, path).object(t, http.StatusOK); now.GetResourceVersion() != made.GetResourceVersion() {
				t.Errorf("the node has changed: %s", asText(t, now))
			}
		})
	}
	t.Run("in JSON whose tests hold is applied", func(t *testing.T) {
		now := s.patch(t, path, jsonPatch, `[{"op":"test","path":"/metadata/uid","value":"`+string(made.GetUID())+`"},`+
			`{"op":"test","path":"`+modePath+`","value":"manual"},{"op":"replace","path":"`+modePath+`","value":"skip"}]`).object(t, http.StatusOK)
		if got := now.GetAnnotations()[modeKey]; got != "skip" {
			t.Errorf("the mode is %q", got)
		}
	})
	t.Run("that merges sets and removes", func(t *testing.T) {
		s.patch(t, path, mergePatch, `{"metadata":{"labels":{"a":"1","b":"2"}}}`).object(t, http.StatusOK)
		now := s.patch(t, path, mergePatch, `{"metadata":{"labels":{"a":null,"c":"3"}}}`).object(t, http.StatusOK)
		if got := asText(t, now.GetLabels()); got != `{"b":"2","c":"3"}` {
			t.Errorf("the labels are %s", got)
		}
	})
	t.Run("that merges strategically knows a list's keys", func(t *testing.T) {
		s.patch(t, path, strategicPatch, `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`).object(t, http.StatusOK)
		now := s.patch(t, path, strategicPatch, `{"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}}`).object(t, http.StatusOK)
		if got := asText(t, field(now, "spec", "taints")); got != `[{"effect":"NoSchedule","key":"b"}]` {
			t.Errorf("the taints, a list without a key, are %s", got)
		}
		status := path + "/status"
		s.patch(t, status, strategicPatch, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`).object(t, http.StatusOK)
		now = s.patch(t, status, strategicPatch, `{"status":{"conditions":[{"type":"Other","status":"True"}]}}`).object(t, http.StatusOK)
		if got, _ := field(now, "status", "conditions").([]any); len(got) != 2 {
			t.Errorf("the conditions are %s", asText(t, got))
		}
	})
	t.Run("of a kind that is not taken is refused", func(t *testing.T) {
		s.make(t, nodeLocksPath, nodeLock("patched", "n1"))
		s.patch(t, nodeLocksPath+"/patched", strategicPatch, `{}`).refuses(t, refusal{
			code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
			message: "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, " +
				"application/merge-patch+json, application/apply-patch+yaml",
		})
		s.patch(t, path, "text/plain", `{}`).refuses(t, refusal{
			code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
			message: "415: Unsupported Media Type",
		})
	})
	t.Run("cannot rename", func(t *testing.T) {
		s.patch(t, path, mergePatch, `{"metadata":{"name":"other"}}`).refuses(t, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "the name of the object (other) does not match the name on the URL (patched)",
		})
	})
	t.Run("of what is not there is refused", func(t *testing.T) {
		s.patch(t, nodesPath+"/nothing", mergePatch, `{}`).refuses(t, refusal{
			code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, message: `nodes "nothing" not found`,
			details: &metav1.StatusDetails{Name: "nothing", Kind: "nodes"},
		})
	})
	t.Run("of the program sets an annotation over what was seen, and over nothing else", func(t *testing.T) {
		annotates(t, s)
	})
}

// annotates makes the program's own write, a JSON patch with tests.
func annotates(t *testing.T, s *suite) {
	adapter := s.adapter(t, Admin)
	checker, writer := kube.NewChecker(adapter), kube.NewWriter(adapter)
	value := func(text string) *string { return &text }
	for _, test := range []struct {
		name, annotations, uid string
		old, new               *string
		dry                    bool
		want                   core.ErrorKind
		after                  *string
	}{
		{"over a value", `{` + modeKey + `: manual}`, "", value("manual"), value("skip"), false, "", value("skip")},
		{"tried only", `{` + modeKey + `: manual}`, "", value("manual"), value("skip"), true, "", value("manual")},
		{"removed", `{` + modeKey + `: skip}`, "", value("skip"), nil, false, "", nil},
		{"over nothing", `{}`, "", nil, value("manual"), false, "", value("manual")},
		{"over another value", `{` + modeKey + `: live}`, "", value("manual"), value("skip"), false, core.ErrConflict, value("live")},
		{"where a value has come", `{` + modeKey + `: live}`, "", nil, value("skip"), false, core.ErrConflict, value("live")},
		{"on another node of the name", `{` + modeKey + `: manual}`, "00000000-0000-0000-0000-000000000000", value("manual"), value("skip"),
			false, core.ErrConflict, value("manual")},
	} {
		t.Run(test.name, func(t *testing.T) {
			made := s.make(t, nodesPath, `{apiVersion: v1, kind: Node, metadata: {name: annotated, annotations: `+test.annotations+`}}`)
			if test.uid != "" {
				made.SetUID(types.UID(test.uid))
			}
			c := core.SetNodeAnnotation{Node: core.Ref{Kind: core.KindNode, Name: "annotated", UID: string(made.GetUID())}, Key: modeKey,
				Old: test.old, New: test.new}
			var err error
			if test.dry {
				err = checker.DryRun(t.Context(), c)
			} else {
				err = writer.Write(t.Context(), permittest.For(t, c), c)
			}
			if got := errorKind(err); got != test.want {
				t.Errorf("the error is %q, want %q: %v", got, test.want, err)
			}
			now, set := s.get(t, nodesPath+"/annotated").object(t, http.StatusOK).GetAnnotations()[modeKey]
			if set != (test.after != nil) || set && now != *test.after {
				t.Errorf("the annotation is %q (set: %v)", now, set)
			}
		})
	}
}
