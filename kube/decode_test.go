package kube

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Whatever a server sends, it is read as client-go reads it.
func TestWhatIsReadOnceIsWhatClientGoReads(t *testing.T) {
	const node = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","generation":3,"labels":{"a":"b"}},"status":{"load":0.5,` +
		`"none":null,"large":9007199254740993}}`
	texts := []string{
		node,
		`{"kind":"NodeWorkloadLock","apiVersion":"lcm.mirantis.com/v1alpha1","metadata":{"name":"l"}}`,
		`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","remainingItemCount":2},"items":[{"metadata":{"name":"a"}},` +
			node + `]}`,
		`{"kind":"NodeList","apiVersion":"v1","items":[]}`,
		`{"kind":"NodeList","apiVersion":"v1","items":null}`,
		`{"kind":"NodeList","apiVersion":"v1"}`,
		`{"kind":"NodeList","apiVersion":"v1","items":[7]}`,
		`{"kind":"NodeList","apiVersion":"v1","items":{}}`,
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Expired","code":410}`,
		`{"kind":"Status","apiVersion":"v1","status":"Success"}`,
		`{"type":"ADDED","object":` + node + `}`,
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410}}`,
		`{"type":"","object":` + node + `}`,
		`{"type":7}`, `{"kind":"Node"}`, `{"apiVersion":"v1"}`, `{"kind":"Node","apiVersion":"a/b/c"}`, `{"kind":7,"apiVersion":"v1"}`,
		`{"Kind":"Node","APIVersion":"v1"}`, `{"kind":"WatchEvent","apiVersion":"v1"}`, `{}`, `[]`, `null`, `"text"`, ``, `<html>`, node[:40],
		node + "x",
	}
	theirs := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer.SupportedMediaTypes()
	ours := once{dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer}.SupportedMediaTypes()
	if len(ours) != len(theirs) {
		t.Fatalf("%d media types, not %d", len(ours), len(theirs))
	}
	intos := map[string]func() runtime.Object{
		"nothing":  func() runtime.Object { return nil },
		"object":   func() runtime.Object { return &unstructured.Unstructured{} },
		"list":     func() runtime.Object { return &unstructured.UnstructuredList{} },
		"event":    func() runtime.Object { return &metav1.WatchEvent{} },
		"metadata": func() runtime.Object { return &metav1.PartialObjectMetadata{} },
	}
	for i := range theirs {
		if theirs[i].StreamSerializer == nil {
			t.Fatalf("%s has no streams", theirs[i].MediaType)
		}
		for _, pair := range [][2]runtime.Decoder{
			{theirs[i].Serializer, ours[i].Serializer}, {theirs[i].StreamSerializer.Serializer, ours[i].StreamSerializer.Serializer},
		} {
			for name, into := range intos {
				for _, text := range texts {
					wantInto, gotInto := into(), into()
					want, _, wantErr := pair[0].Decode([]byte(text), nil, wantInto)
					got, _, gotErr := pair[1].Decode([]byte(text), nil, gotInto)
					where := fmt.Sprintf("%s into %s", text, name)
					// The one difference: client-go reads any object as an empty list.
					if list, is := wantInto.(*unstructured.UnstructuredList); is && wantErr == nil && len(list.Items) == 0 &&
						!strings.Contains(text, `"items"`) && gotErr != nil && strings.HasPrefix(gotErr.Error(), "the answer is no list") {
						continue
					}
					if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
						t.Errorf("%s: the error is %v, not %v", where, gotErr, wantErr)
					}
					if !reflect.DeepEqual(got, want) || wantErr == nil && !reflect.DeepEqual(gotInto, wantInto) {
						t.Errorf("%s:\n%#v\nnot\n%#v", where, got, want)
					}
					if (got == gotInto) != (want == wantInto) {
						t.Errorf("%s: it is another object", where)
					}
				}
			}
		}
	}
}

// A list that does not say what it holds is none: what stood in it before is not gone. An empty one says so.
func TestAListWithoutItemsIsNone(t *testing.T) {
	ours := once{dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer}.SupportedMediaTypes()[0].Serializer
	for text, want := range map[string]string{
		`{"kind":"NodeList","apiVersion":"v1","items":[]}`:                                   "",
		`{"kind":"NodeList","apiVersion":"v1","items":null}`:                                 "",
		`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`:           "the answer is no list: a NodeList without items",
		`{"kind":"NodeList","apiVersion":"v1","metadata":{"items":[]},"Items":[{"kind":7}]}`: "the answer is no list: a NodeList without items",
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}`:                          `the answer is no list: its kind is "Node"`,
	} {
		list := &unstructured.UnstructuredList{}
		got := ""
		if _, _, err := ours.Decode([]byte(text), nil, list); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: the error is %q, not %q", text, got, want)
		}
	}
}
