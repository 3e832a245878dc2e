package kubeapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

func version(t *testing.T, w *world, client dynamic.ResourceInterface) string {
	t.Helper()
	list, err := client.List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.GetResourceVersion()
}

func label(t *testing.T, w *world, client dynamic.ResourceInterface, name, patch string) {
	t.Helper()
	if _, err := client.Patch(w.ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":`+patch+`}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAWatchGoesOnFromAVersion(t *testing.T) {
	w := start(t, kubeapi.Options{})
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	w.load(node("old"))
	from := version(t, w, client)
	w.load(node("new"))
	label(t, w, client, "old", `{"a":"b"}`)
	if err := client.Delete(w.ctx, "new", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	last := from
	for _, want := range []struct {
		kind watch.EventType
		name string
	}{{watch.Added, "new"}, {watch.Modified, "old"}, {watch.Deleted, "new"}} {
		kind, name, at := nextObject(t, events)
		if kind != want.kind || name != want.name || at <= last {
			t.Errorf("%s %s at %s after %s, want %s %s", kind, name, at, last, want.kind, want.name)
		}
		last = at
	}
	w.load(node("live"))
	if kind, name, _ := nextObject(t, events); kind != watch.Added || name != "live" {
		t.Errorf("%s %s", kind, name)
	}
}

func TestAWatchSeesWhatItsSelectorSees(t *testing.T) {
	w := start(t, kubeapi.Options{})
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	w.load(node("a"), node("b"))
	events, err := client.Watch(w.ctx, metav1.ListOptions{LabelSelector: "role=compute", ResourceVersion: version(t, w, client)})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	label(t, w, client, "b", `{"role":"gateway"}`)
	label(t, w, client, "a", `{"role":"compute"}`)
	label(t, w, client, "a", `{"rack":"1"}`)
	label(t, w, client, "a", `{"role":null}`)
	label(t, w, client, "a", `{"role":"compute"}`)
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Added} {
		if kind, name, _ := nextObject(t, events); kind != want || name != "a" {
			t.Errorf("%s %s, want %s", kind, name, want)
		}
	}
}

func TestAWatchOfACompactedVersionIsGone(t *testing.T) {
	w := start(t, kubeapi.Options{})
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	from := version(t, w, client)
	live, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Stop()
	w.load(node("a"))
	nextObject(t, live)
	w.Compact()
	events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	event := next(t, events)
	if err := apierrors.FromObject(event.Object); event.Type != watch.Error || !apierrors.IsResourceExpired(err) ||
		!strings.HasPrefix(err.Error(), "too old resource version: "+from) {
		t.Errorf("event %s: %v", event.Type, event.Object)
	}
	ended(t, events)
	w.load(node("b")) // a watch that was up to date goes on
	if kind, name, _ := nextObject(t, live); kind != watch.Added || name != "b" {
		t.Errorf("%s %s", kind, name)
	}
}

func TestTheHistoryIsBounded(t *testing.T) {
	w := start(t, kubeapi.Options{History: 4})
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	from := version(t, w, client)
	for _, name := range strings.Split("abcdefghij", "") {
		w.load(node(name))
	}
	events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if event := next(t, events); event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("event %s: %v", event.Type, event.Object)
	}
}

func TestBookmarksTellHowFarAWatchHasCome(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1), BookmarkInterval: time.Minute})
		client := w.dynamic(kubeapi.Admin).Resource(nodes)
		from := version(t, w, client)
		events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
		if err != nil {
			t.Fatal(err)
		}
		defer events.Stop()
		w.load(configMap("default", "elsewhere"))
		for {
			event := next(t, events)
			object := event.Object.(*unstructured.Unstructured)
			if event.Type != watch.Bookmark || object.GetKind() != "Node" {
				t.Fatalf("event %s: %v", event.Type, object)
			}
			if object.GetResourceVersion() > from {
				return
			}
		}
	})
}

// What a client gets must not depend on which of two things of one moment is looked at first: a history could not be replayed.
func TestAWatchGetsNoBookmarkAtItsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1), BookmarkInterval: 3 * time.Second})
		client := w.dynamic(kubeapi.Admin).Resource(nodes)
		from, seconds := version(t, w, client), int64(6) // the second bookmark would be due at the end
		for range 8 {
			events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true, TimeoutSeconds: &seconds})
			if err != nil {
				t.Fatal(err)
			}
			bookmarks := 0
			for range events.ResultChan() {
				bookmarks++
			}
			if bookmarks != 2 { // after 3 s, and 2 s before the end
				t.Fatalf("%d bookmarks", bookmarks)
			}
		}
	})
}

// A watch gets a bookmark each minute and just before its end, as in kube-apiserver: those of half a minute get one.
func TestAWatchGetsABookmarkEachMinute(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		client := w.dynamic(kubeapi.Admin).Resource(nodes)
		from := version(t, w, client)
		for seconds, want := range map[int64]int{35: 1, 70: 2, 130: 3} {
			events, err := client.Watch(w.ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true, TimeoutSeconds: &seconds})
			if err != nil {
				t.Fatal(err)
			}
			bookmarks := 0
			for range events.ResultChan() {
				bookmarks++
			}
			if bookmarks != want {
				t.Errorf("%d bookmarks in %d s", bookmarks, seconds)
			}
		}
	})
}

func TestInitialEventsEndWithABookmark(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("a"), node("b"))
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	yes := true
	events, err := client.Watch(w.ctx, metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for _, want := range []string{"a", "b"} {
		if event := next(t, events); event.Type != watch.Added || event.Object.(metav1.Object).GetName() != want {
			t.Errorf("%s %v", event.Type, event.Object)
		}
	}
	end := next(t, events)
	if end.Type != watch.Bookmark || end.Object.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("%s %v", end.Type, end.Object)
	}
	if _, err := client.Watch(w.ctx, metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true}); !apierrors.IsInvalid(err) {
		t.Errorf("without resourceVersionMatch: %v", err)
	}
}

func TestAWatchEnds(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		client := w.dynamic(kubeapi.Admin)
		second := int64(1)
		open := func(options metav1.ListOptions) watch.Interface {
			t.Helper()
			events, err := client.Resource(nodeLocks).Watch(w.ctx, options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(events.Stop)
			return events
		}
		ended(t, open(metav1.ListOptions{TimeoutSeconds: &second}))

		cut, other := open(metav1.ListOptions{}), open(metav1.ListOptions{})
		w.CutWatches("nodes") // another resource's
		w.load(nodeLock("a", "n"))
		for _, events := range []watch.Interface{cut, other} {
			nextObject(t, events)
		}
		w.CutWatches("nodeworkloadlocks")
		ended(t, cut)
		ended(t, other)

		removed := open(metav1.ListOptions{})
		nextObject(t, removed)
		if err := client.Resource(crdsGVR).Delete(w.ctx, "nodeworkloadlocks.lcm.mirantis.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		ended(t, removed)
	})
}

func TestADefinitionComesAndGoes(t *testing.T) {
	w := start(t, kubeapi.Options{})
	client := w.dynamic(kubeapi.Admin)
	w.load(nodeLock("a", "n"))
	name := "nodeworkloadlocks.lcm.mirantis.com"
	crd, err := client.Resource(crdsGVR).Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil || len(conditions) != 2 || conditions[1].(map[string]any)["type"] != "Established" {
		t.Errorf("conditions %v, %v", conditions, err)
	}
	if err := client.Resource(crdsGVR).Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(nodeLocks).List(w.ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) ||
		err.Error() != "the server could not find the requested resource" {
		t.Errorf("a list without the definition: %v", err)
	}
	for _, one := range crds.All() {
		if one.Name == name {
			if err := w.LoadYAML(one.YAML); err != nil {
				t.Fatal(err)
			}
		}
	}
	if list, err := client.Resource(nodeLocks).List(w.ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("a list with the definition again: %v, %v", list, err)
	}
	crd.SetName("other.lcm.mirantis.com")
	crd.SetResourceVersion("")
	if _, err := client.Resource(crdsGVR).Create(w.ctx, crd, metav1.CreateOptions{}); !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), `must be spec.names.plural+"."+spec.group`) {
		t.Errorf("a definition under another name: %v", err)
	}
}

// A watcher that does not read must neither delay writers nor stay forever.
func TestASlowWatcherIsCutOff(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		w := start(t, kubeapi.Options{Network: network, WriteTimeout: 50 * time.Millisecond})
		connection, err := network.Dialer("a slow one")(w.ctx, "tcp", strings.TrimPrefix(w.URL(), "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		request, err := http.NewRequest(http.MethodGet, w.URL()+"/api/v1/configmaps?watch=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+w.RESTConfig(kubeapi.Admin).BearerToken)
		if err := request.Write(connection); err != nil {
			t.Fatal(err)
		}
		w.watches("configmaps", 1)
		const size = 256 << 10 // of each event; a connection takes four of them, and nobody reads
		big := configMap("default", "big")
		big.Object["data"] = map[string]any{"text": strings.Repeat("x", size)}
		client := w.dynamic(kubeapi.Admin).Resource(maps).Namespace("default")
		if _, err := client.Create(w.ctx, big, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 { // none of these waits for the watcher
			label(t, w, client, "big", fmt.Sprintf(`{"n":"%d"}`, i))
		}
		w.watches("configmaps", 0)
		if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		total, err := io.Copy(io.Discard, connection)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			t.Fatalf("the server still holds the connection after %d bytes", total)
		}
		if total > 19*size {
			t.Errorf("the watcher got all %d bytes", total)
		}
	})
}
