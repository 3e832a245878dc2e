package controller

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Clients returns the controllers' clients of an API server. They are client-go's, except that they read each answer once: client-go
// looks for the kind first, and so goes through an object up to seven times: that was more than a quarter of a story's work.
func Clients(config *rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("make an HTTP client: %w", err)
	}
	all, err := kubernetes.NewForConfigAndClient(config, shared)
	if err != nil {
		return nil, nil, fmt.Errorf("make a Kubernetes client: %w", err)
	}
	core, err := typedClient(config, shared, "/api", schema.GroupVersion{Version: "v1"})
	if err != nil {
		return nil, nil, fmt.Errorf("make a Kubernetes client: %w", err)
	}
	apps, err := typedClient(config, shared, "/apis", schema.GroupVersion{Group: "apps", Version: "v1"})
	if err != nil {
		return nil, nil, fmt.Errorf("make a Kubernetes client: %w", err)
	}
	untyped := dynamic.ConfigFor(config)
	untyped.NegotiatedSerializer = newQuick(untyped.NegotiatedSerializer,
		func(own runtime.Serializer) runtime.Serializer { return untypedOnce{own, &recalled} })
	untyped.GroupVersion = &schema.GroupVersion{} // each request says which one
	dyn, err := rest.RESTClientForConfigAndClient(untyped, shared)
	if err != nil {
		return nil, nil, fmt.Errorf("make a dynamic Kubernetes client: %w", err)
	}
	return clientset{all, coreclient.New(core), appsclient.New(apps)}, dynamic.New(dyn), nil
}

// clientset has its own clients of the groups that the controllers read most.
type clientset struct {
	kubernetes.Interface
	core coreclient.CoreV1Interface
	apps appsclient.AppsV1Interface
}

func (c clientset) CoreV1() coreclient.CoreV1Interface { return c.core }
func (c clientset) AppsV1() appsclient.AppsV1Interface { return c.apps }

func typedClient(config *rest.Config, client *http.Client, path string, version schema.GroupVersion) (rest.Interface, error) {
	own := rest.CopyConfig(config)
	own.APIPath, own.GroupVersion = path, &version
	own.NegotiatedSerializer = newQuick(rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion(),
		func(runtime.Serializer) runtime.Serializer { return newTypedOnce() })
	return rest.RESTClientForConfigAndClient(own, client)
}

// typedOnce reads Kubernetes' own kinds, each text once.
type typedOnce struct {
	runtime.Serializer // client-go's, with another way to find the kind
	recall             *recall
}

func newTypedOnce() typedOnce {
	own := kubejson.NewSerializerWithOptions(headFirst{}, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{})
	return typedOnce{own, &recalled}
}

// Decode reads an object or a list. What is in another form is left to client-go, errors included.
func (t typedOnce) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	kind, ok := head(data)
	if !ok || defaults != nil {
		return t.Serializer.Decode(data, defaults, into)
	}
	object, err := runtime.UseOrCreateObject(scheme.Scheme, scheme.Scheme, kind, into)
	if err != nil {
		return t.Serializer.Decode(data, defaults, into)
	}
	fields := reflect.ValueOf(object).Elem()
	if list := fields.FieldByName("Items"); list.IsValid() && list.Kind() == reflect.Slice {
		if empty, texts, ok := itemsOf(data); ok {
			if items := t.items(list.Type(), texts); items.IsValid() {
				got, gotKind, err := t.Serializer.Decode(empty, nil, object)
				if err == nil {
					list.Set(items)
				}
				return got, gotKind, err
			}
		}
		return t.Serializer.Decode(data, defaults, into)
	}
	if one := t.recall.read(fields.Type(), data); one != nil {
		fields.Set(reflect.ValueOf(one).Elem())
		return object, &kind, nil
	}
	return t.Serializer.Decode(data, defaults, into)
}

// items reads the items of a list; invalid where client-go should read the list.
func (t typedOnce) items(of reflect.Type, texts [][]byte) reflect.Value {
	items := reflect.MakeSlice(of, len(texts), len(texts))
	for i, text := range texts {
		item := t.recall.read(of.Elem(), text)
		if item == nil {
			return reflect.Value{}
		}
		items.Index(i).Set(reflect.ValueOf(item).Elem())
	}
	return items
}

// quick is how a client reads JSON: by serializers that are made from client-go's own.
type quick struct {
	runtime.NegotiatedSerializer
	media []runtime.SerializerInfo
}

// SupportedMediaTypes are client-go's, with other serializers of JSON. Each request asks for them.
func (q quick) SupportedMediaTypes() []runtime.SerializerInfo { return q.media }

// newQuick makes the serializers of JSON from client-go's own.
func newQuick(clients runtime.NegotiatedSerializer, made func(own runtime.Serializer) runtime.Serializer) quick {
	all := slices.Clone(clients.SupportedMediaTypes())
	for i, info := range all {
		if info.MediaType != runtime.ContentTypeJSON {
			continue
		}
		all[i].Serializer = made(info.Serializer)
		if info.StreamSerializer != nil {
			stream := *info.StreamSerializer
			stream.Serializer, stream.Framer = eventOnce{stream.Serializer}, lines{stream.Framer}
			all[i].StreamSerializer = &stream
		}
	}
	return quick{clients, all}
}

// headFirst finds the kind of an object at its beginning, where API servers write it, and otherwise like client-go.
type headFirst struct{}

// Interpret returns an object's version and kind.
func (headFirst) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	if kind, ok := head(data); ok {
		return &kind, nil
	}
	return kubejson.DefaultMetaFactory.Interpret(data)
}

// head returns the version and kind with which an object begins, in either order.
func head(data []byte) (schema.GroupVersionKind, bool) {
	var version, kind string
	rest, ok := bytes.CutPrefix(data, []byte("{"))
	for range 2 {
		switch {
		case !ok:
		case bytes.HasPrefix(rest, []byte(`"apiVersion":"`)):
			version, rest, ok = word(rest[len(`"apiVersion":"`):])
		case bytes.HasPrefix(rest, []byte(`"kind":"`)):
			kind, rest, ok = word(rest[len(`"kind":"`):])
		default:
			ok = false
		}
	}
	if !ok || version == "" || kind == "" {
		return schema.GroupVersionKind{}, false
	}
	group, err := schema.ParseGroupVersion(version)
	return group.WithKind(kind), err == nil
}

// word returns a plain string up to its quote, and what follows the comma after it.
func word(data []byte) (string, []byte, bool) {
	end := bytes.IndexByte(data, '"')
	if end < 0 || bytes.IndexByte(data[:end], '\\') >= 0 || !bytes.HasPrefix(data[end:], []byte(`",`)) {
		return "", nil, false
	}
	return string(data[:end]), data[end+len(`",`):], true
}

// eventOnce reads the events of a watch.
type eventOnce struct{ runtime.Serializer }

// Decode takes an event apart without reading its object: that is read next. An event in another form is left to client-go.
func (e eventOnce) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	event, ok := into.(*metav1.WatchEvent)
	if rest, found := bytes.CutPrefix(data, []byte(`{"type":"`)); ok && found && defaults == nil {
		if kind, rest, ok := word(rest); ok {
			rest, opens := bytes.CutPrefix(rest, []byte(`"object":`))
			object, closes := bytes.CutSuffix(bytes.TrimRight(rest, "\n"), []byte("}"))
			if _, known := head(object); opens && closes && known { // an object with another field behind it is no JSON, which is found
				*event = metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: bytes.Clone(object)}}
				of := metav1.SchemeGroupVersion.WithKind("WatchEvent")
				return event, &of, nil
			}
		}
	}
	return e.Serializer.Decode(data, defaults, into)
}

// untypedOnce reads objects and lists for the dynamic client, each text once.
type untypedOnce struct {
	runtime.Serializer
	recall *recall
}

// untypedType is the type of what the dynamic client reads.
var untypedType = reflect.TypeFor[unstructured.Unstructured]()

// Decode reads an object or a list. The server's words about itself, such as a Status, are left to client-go, which has types for
// them, as is all that is in another form, errors included.
func (u untypedOnce) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	if kind, ok := head(data); ok && defaults == nil && !answers.Recognizes(kind) {
		switch into := into.(type) {
		case nil:
			if one := u.recall.read(untypedType, data); one != nil {
				return one, &kind, nil
			}
		case *unstructured.Unstructured:
			if one, ok := u.recall.read(untypedType, data).(*unstructured.Unstructured); ok {
				*into = *one
				return into, &kind, nil
			}
		case *unstructured.UnstructuredList:
			if list := u.list(data); list != nil {
				*into = *list
				return into, &kind, nil
			}
		}
	}
	return u.Serializer.Decode(data, defaults, into)
}

// answers are the kinds in which a server speaks about itself.
var answers = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}()

// contentOf decodes an object; nil if data is none.
func contentOf(data []byte) map[string]any {
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil
	}
	return content
}

// list reads a list; nil if that is none. Items that do not name their kind are of the list's kind.
func (u untypedOnce) list(data []byte) *unstructured.UnstructuredList {
	empty, texts, ok := itemsOf(data)
	if !ok {
		return nil
	}
	content := contentOf(empty)
	if content == nil {
		return nil
	}
	delete(content, "items")
	list := &unstructured.UnstructuredList{Object: content, Items: make([]unstructured.Unstructured, len(texts))}
	for i, text := range texts {
		item, ok := u.recall.read(untypedType, text).(*unstructured.Unstructured)
		if !ok {
			return nil
		}
		list.Items[i] = *item
		if list.Items[i].GetKind() == "" && list.Items[i].GetAPIVersion() == "" {
			list.Items[i].SetKind(strings.TrimSuffix(list.GetKind(), "List"))
			list.Items[i].SetAPIVersion(list.GetAPIVersion())
		}
	}
	return list
}
