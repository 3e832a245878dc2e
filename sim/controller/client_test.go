package controller

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// texts are what servers send, and what broken ones do.
var texts = []string{
	`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"x":"ä\n"}},"spec":{"unschedulable":true}}`,
	`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}` + "\n",
	`{"metadata":{"name":"a"},"kind":"Node","apiVersion":"v1"}`,
	`{ "kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`,
	`{"apiVersion":"lcm.mirantis.com/v1alpha1","kind":"NodeWorkloadLock","metadata":{"name":"a"},"status":{"n":3,"f":1.5,"e":[]}}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},` +
		`"items":[{"metadata":{"name":"a"}},{"kind":"Node","apiVersion":"v1"}]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"8"},"items":[{"metadata":{"name":"]}\"{[","labels":{"x":"\\"}}},` +
		`{"metadata":{"name":"b"},"status":{"addresses":[{"type":"Hostname","address":"b"}],"capacity":{"cpu":"4"}}}]}` + "\n",
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}],"more":{"items":[1]}}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}} , {"metadata":{"name":"b"}}]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"more":{"a":{},"items":[{"metadata":{"name":"a"}}]},"items":[]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},null]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"]}}]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":1}}]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`,
	`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":null}`,
	`{"kind":"LockList","apiVersion":"lcm.mirantis.com/v1alpha1","metadata":{},"items":[{"a":1}]}`,
	`{"kind":"LockList","apiVersion":"lcm.mirantis.com/v1alpha1","metadata":{},"items":[1]}`,
	`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"NotFound","code":404}`,
	`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}`,
	`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}} {}`,
	`{"kind":"No\u0064e","apiVersion":"v1","metadata":{"name":"a"}}`,
	`{"kind":"Node","apiVersion":"a/b/c","metadata":{"name":"a"}}`,
	`{"kind":"Node","apiVersion":"v1"}`,
	`{"kind":"","apiVersion":"v1","metadata":{}}`,
	`{"apiVersion":"v1","metadata":{}}`,
	`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
	`{"kind":"Unheard","apiVersion":"v1","metadata":{"name":"a"}}`,
	`<html>`, ``, `null`, `[]`, `"kind"`, `{"kind":"Node"`, `{"kind":"Node`,
}

// The controllers read what a server sends as client-go does, errors included.
func TestAnswersAreReadAsClientGoReadsThem(t *testing.T) {
	typed := rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()
	untyped := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	for _, c := range []struct {
		what      string
		theirs    runtime.NegotiatedSerializer
		ours      func(runtime.Serializer) runtime.Serializer
		intoEmpty []func() runtime.Object
	}{
		{"typed", typed, func(runtime.Serializer) runtime.Serializer { return newTypedOnce() }, []func() runtime.Object{
			func() runtime.Object { return nil }, func() runtime.Object { return &corev1.Node{} },
			func() runtime.Object { return &corev1.NodeList{} }, func() runtime.Object { return &metav1.Status{} },
		}},
		{"untyped", untyped, func(own runtime.Serializer) runtime.Serializer { return untypedOnce{own, &recall{}} }, []func() runtime.Object{
			func() runtime.Object { return nil }, func() runtime.Object { return &unstructured.Unstructured{} },
			func() runtime.Object { return &unstructured.UnstructuredList{} }, func() runtime.Object { return &metav1.Status{} },
		}},
	} {
		theirs, ours := asJSON(c.theirs), asJSON(newQuick(c.theirs, c.ours))
		for _, text := range texts {
			for i, into := range c.intoEmpty {
				want, wantKind, wantErr := theirs.Serializer.Decode([]byte(text), nil, into())
				for range 3 { // the later times from memory
					got, gotKind, err := ours.Serializer.Decode([]byte(text), nil, into())
					// client-go says in addition that it was still looking for the kind
					if (err == nil) != (wantErr == nil) || err != nil && !strings.HasSuffix(wantErr.Error(), err.Error()) {
						t.Errorf("%s %d: %s: error %v, client-go: %v", c.what, i, text, err, wantErr)
					} else if err == nil && (!reflect.DeepEqual(got, want) || *gotKind != *wantKind) {
						t.Errorf("%s %d: %s: %#v (%s), client-go: %#v (%s)", c.what, i, text, got, gotKind, want, wantKind)
					}
					spoil(got)
				}
			}
		}
		for _, text := range texts {
			for _, event := range []string{
				`{"type":"ADDED","object":` + text + "}\n", `{"object":` + text + `,"type":"ADDED"}`, `{"type":"A\"B","object":` + text + "}",
				`{"type":"ADDED","object":` + text + `,"more":1}`, `{"type":"ADDED","object":` + text,
			} {
				want, wantFails := eventOf(theirs, event)
				got, fails := eventOf(ours, event)
				if fails != wantFails && !strings.Contains(event, `"more"`) || !fails && !wantFails && !reflect.DeepEqual(got, want) {
					t.Errorf("%s: event %s: %#v (%t), client-go: %#v (%t)", c.what, event, got, fails, want, wantFails)
				}
			}
		}
	}
}

// spoil changes an object and the items of a list, down to their labels, as their reader may.
func spoil(object runtime.Object) {
	if meta.IsListType(object) {
		_ = meta.EachListItem(object, func(item runtime.Object) error {
			spoil(item)
			return nil
		})
		return
	}
	if one, err := meta.Accessor(object); err == nil {
		one.SetName(one.GetName() + "!")
	}
	switch object := object.(type) {
	case *corev1.Node:
		for name := range object.Labels {
			object.Labels[name] = "!"
		}
		for i := range object.Status.Addresses {
			object.Status.Addresses[i].Address = "!"
		}
	case *unstructured.Unstructured:
		for _, below := range object.Object {
			if below, ok := below.(map[string]any); ok {
				below["!"] = "!"
			}
		}
	}
}

func asJSON(all runtime.NegotiatedSerializer) runtime.SerializerInfo {
	info, _ := runtime.SerializerInfoForMediaType(all.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return info
}

// eventOf reads an event and its object, as client-go's watches do.
func eventOf(how runtime.SerializerInfo, text string) (got [2]any, fails bool) {
	var event metav1.WatchEvent
	if _, _, err := how.StreamSerializer.Serializer.Decode([]byte(text), nil, &event); err != nil {
		return got, true
	}
	object, err := runtime.Decode(how.Serializer, event.Object.Raw)
	return [2]any{event.Type, object}, err != nil
}

// A large object is not gone through to find its kind.
func TestTheKindIsFoundAtTheBeginning(t *testing.T) {
	text := []byte(`{"kind":"Node","apiVersion":"v1","metadata":` + strings.Repeat("[", 1000))
	if _, err := kubejson.DefaultMetaFactory.Interpret(text); err == nil {
		t.Fatal("client-go does not mind the rest")
	}
	if kind, err := (headFirst{}).Interpret(text); err != nil || kind.Kind != "Node" || kind.Version != "v1" {
		t.Error(kind, err)
	}
}

// What is remembered stays small, and long texts are not in it.
func TestNotAllIsRemembered(t *testing.T) {
	var r recall
	node := reflect.TypeFor[corev1.Node]()
	for i := range 3 * mostRecalled {
		if one, ok := r.read(node, fmt.Appendf(nil, `{"metadata":{"name":"n%d"}}`, i)).(*corev1.Node); !ok || one.Name != fmt.Sprintf("n%d", i) {
			t.Fatalf("node %d: %v", i, one)
		}
		if r.size > mostRecalled || len(r.known[node]) != r.size {
			t.Fatalf("%d are remembered, and %d counted", len(r.known[node]), r.size)
		}
	}
	before := r.size
	if r.read(node, fmt.Appendf(nil, `{"metadata":{"name":%q}}`, strings.Repeat("n", longestRecalled))) == nil || r.size != before {
		t.Errorf("of a long text: %d, before %d", r.size, before)
	}
}
