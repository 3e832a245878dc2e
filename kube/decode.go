package kube

import (
	"bytes"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// once is how the dynamic client reads what a server sends: as client-go does, but each text once. client-go looks for the kind
// first and so goes through an object four times, and through the items of a list six times. Whatever once does not expect it
// leaves to client-go, errors included.
type once struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes are client-go's, with decoders that read once.
func (o once) SupportedMediaTypes() []runtime.SerializerInfo {
	all := o.NegotiatedSerializer.SupportedMediaTypes()
	own := make([]runtime.SerializerInfo, len(all))
	for i, info := range all {
		own[i] = info
		if info.MediaType != runtime.ContentTypeJSON {
			continue
		}
		own[i].Serializer = onceSerializer{info.Serializer}
		if info.StreamSerializer != nil {
			stream := *info.StreamSerializer
			stream.Serializer, stream.Framer = onceStream{stream.Serializer}, onceFramer{stream.Framer}
			own[i].StreamSerializer = &stream
		}
	}
	return own
}

type onceSerializer struct{ runtime.Serializer }

// Decode reads an object or a list.
func (o onceSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object,
	*schema.GroupVersionKind, error) {
	if read := readOnce(data, into); read != nil && defaults == nil {
		kind := read.GetObjectKind().GroupVersionKind()
		return read, &kind, nil
	}
	read, kind, err := o.Serializer.Decode(data, defaults, into)
	// client-go reads any object as a list without items, and everything would be gone.
	if list, wanted := into.(*unstructured.UnstructuredList); wanted && err == nil {
		if !strings.HasSuffix(list.GetKind(), "List") {
			return nil, nil, fmt.Errorf("the answer is no list: its kind is %q", list.GetKind())
		}
		if !hasItems(data) {
			return nil, nil, fmt.Errorf("the answer is no list: a %s without items", list.GetKind())
		}
	}
	return read, kind, err
}

// hasItems tells whether a list says what it holds, be it nothing: API servers always do.
func hasItems(list []byte) bool {
	var content map[string]any
	if err := json.Unmarshal(list, &content); err != nil {
		return false
	}
	_, said := content["items"]
	return said
}

type onceStream struct{ runtime.Serializer }

// Decode reads an event of a watch.
func (o onceStream) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	if event, ok := into.(*metav1.WatchEvent); ok && defaults == nil {
		read, plain := watchEventOf(data)
		var err error
		if !plain {
			err = json.Unmarshal(data, &read)
		}
		if err == nil && read.Type != "" {
			*event = read
			kind := metav1.SchemeGroupVersion.WithKind("WatchEvent")
			return event, &kind, nil
		}
	}
	return o.Serializer.Decode(data, defaults, into)
}

// watchEventOf reads an event as API servers write it, {"type":"MODIFIED","object":{…}}. Its object is a part of the data, and is decoded
// before the next event is read; whether it is JSON is seen then. plain is false for an event that is written in another way.
func watchEventOf(data []byte) (event metav1.WatchEvent, plain bool) {
	rest, begins := bytes.CutPrefix(data, []byte(`{"type":"`))
	word, rest, known := bytes.Cut(rest, []byte(`","object":`))
	if !begins || !known || len(rest) == 0 || rest[0] != '{' {
		return metav1.WatchEvent{}, false
	}
	for _, c := range word {
		if c < 'A' || c > 'Z' {
			return metav1.WatchEvent{}, false
		}
	}
	length := new(nesting).end(rest)
	if string(bytes.TrimSpace(rest[length:])) != "}" {
		return metav1.WatchEvent{}, false
	}
	return metav1.WatchEvent{Type: string(word), Object: runtime.RawExtension{Raw: rest[:length:length]}}, true
}

// answers are the kinds in which a server speaks about itself, such as Status. client-go reads them into types of their own.
var answers = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}()

// readOnce reads data into the given object of client-go's, or into a new one when that is nil. It returns nil, and leaves the
// given object as it was, when client-go should answer.
func readOnce(data []byte, into runtime.Object) runtime.Object {
	switch into := into.(type) {
	case nil: // an event of a watch
		if object := objectOf(data, true); object != nil && !answers.Recognizes(object.GroupVersionKind()) {
			return object
		}
	case *unstructured.Unstructured:
		if object := objectOf(data, false); object != nil {
			into.Object = object.Object
			return into
		}
	case *unstructured.UnstructuredList:
		if list := listOf(data, true); list != nil {
			*into = *list
			return into
		}
	}
	return nil
}

// objectOf decodes data that is one object, as contentOf reads it; nil otherwise: data without version and kind is unknown, and data with
// items is a list.
func objectOf(data []byte, many bool) *unstructured.Unstructured {
	content := contentOf(data, many)
	if content == nil {
		if err := json.Unmarshal(data, &content); err != nil {
			return nil
		}
	}
	object := &unstructured.Unstructured{Object: content}
	_, list := content["items"]
	if kind := object.GroupVersionKind(); kind.Kind == "" || kind.Version == "" || list {
		return nil
	}
	return object
}

// listOf decodes data that is a list, as contentOf reads it; nil otherwise. Items that do not name their kind are of the list's kind.
func listOf(data []byte, many bool) *unstructured.UnstructuredList {
	content := contentOf(data, many)
	if content == nil {
		if err := json.Unmarshal(data, &content); err != nil {
			return nil
		}
	}
	list := &unstructured.UnstructuredList{Object: content}
	items, ok := content["items"].([]any)
	if kind := list.GroupVersionKind(); !ok || kind.Kind == "" || kind.Version == "" {
		return nil
	}
	delete(content, "items")
	list.Items = make([]unstructured.Unstructured, len(items))
	for i, one := range items {
		item, ok := one.(map[string]any)
		if !ok {
			return nil
		}
		list.Items[i].Object = item
		if list.Items[i].GetKind() == "" && list.Items[i].GetAPIVersion() == "" {
			list.Items[i].SetKind(strings.TrimSuffix(list.GetKind(), "List"))
			list.Items[i].SetAPIVersion(list.GetAPIVersion())
		}
	}
	return list
}
