package kubernetes

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// event is one event of a watch.
type event struct {
	kind   string
	object *unstructured.Unstructured
}

func newEvent(raw map[string]any) event {
	kind, _ := raw["type"].(string)
	object, _ := raw["object"].(map[string]any)
	return event{kind, &unstructured.Unstructured{Object: object}}
}

// String returns the event as "ADDED m0".
func (e event) String() string { return e.kind + " " + e.object.GetName() }

// stream is a running watch.
type stream struct {
	t      *testing.T
	events chan event // closed at the watch's end
}

// watch opens a watch at a path with its query, without "watch" itself.
func (s *suite) watch(t *testing.T, path, query string) *stream {
	t.Helper()
	return s.watchAs(t, path, query, jsonBody)
}

// watchAs opens a watch for another form of the objects.
func (s *suite) watchAs(t *testing.T, path, query, accept string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	response := s.open(ctx, t, Admin, http.MethodGet, path+"?watch=1&"+query, "", "Accept", accept)
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(response.Body)
		response.Body.Close()
		cancel()
		t.Fatalf("the watch is answered %d: %s", response.StatusCode, raw)
	}
	st := &stream{t: t, events: make(chan event)}
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		defer response.Body.Close()
		defer close(st.events)
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var raw map[string]any
			if err := utiljson.Unmarshal(lines.Bytes(), &raw); err != nil {
				if ctx.Err() == nil {
					t.Errorf("an event is no JSON: %v: %s", err, lines.Bytes())
				}
				return
			}
			select {
			case st.events <- newEvent(raw):
			case <-ctx.Done():
				return
			}
		}
		if err := lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the watch broke: %v", err)
		}
	}()
	return st
}

// next returns the next event.
func (st *stream) next() event {
	st.t.Helper()
	select {
	case e, open := <-st.events:
		if !open {
			st.t.Fatal("the watch has ended")
		}
		return e
	case <-time.After(patience):
		st.t.Fatal("no event came")
	}
	return event{}
}

// wants returns the next events, which must be these: "ADDED m0".
func (st *stream) wants(events ...string) []event {
	st.t.Helper()
	var all []event
	for i, want := range events {
		e := st.next()
		if e.String() != want {
			st.t.Fatalf("event %d is %s, want %s", i, e, want)
		}
		all = append(all, e)
	}
	return all
}

// ends waits for the watch's end. Only bookmarks may come before it; they are returned.
func (st *stream) ends() []event {
	st.t.Helper()
	var bookmarks []event
	deadline := time.After(patience)
	for {
		select {
		case e, open := <-st.events:
			if !open {
				return bookmarks
			}
			if e.kind != "BOOKMARK" {
				st.t.Fatalf("before its end came %s", e)
			}
			bookmarks = append(bookmarks, e)
		case <-deadline:
			st.t.Fatal("the watch goes on")
		}
	}
}

// revision returns an object's resourceVersion as a number.
func revision(t *testing.T, o *unstructured.Unstructured) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion: %v", err)
	}
	return n
}

func watches(t *testing.T, s *suite) {
	path := s.fiveMaps(t, "watches")

	t.Run("from a resourceVersion tells what came after it, in order", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		s.make(t, path, configMap("a", "1"))
		s.patch(t, path+"/a", mergePatch, `{"data":{"value":"2"}}`).object(t, http.StatusOK)
		st := s.watch(t, path, "resourceVersion="+from)
		s.make(t, path, configMap("b", "1"))
		s.remove(t, path+"/a", "").object(t, http.StatusOK)
		events := st.wants("ADDED a", "MODIFIED a", "ADDED b", "DELETED a")
		for i := range events[1:] {
			if before, after := revision(t, events[i].object), revision(t, events[i+1].object); after <= before {
				t.Errorf("event %d is of %d, after one of %d", i+1, after, before)
			}
		}
		if got := asText(t, field(events[3].object, "data")); got != `{"value":"2"}` {
			t.Errorf("the last state of what is deleted is %s", got)
		}
	})
	t.Run("without a resourceVersion begins with what is there", func(t *testing.T) {
		for _, query := range []string{"", "resourceVersion=0"} {
			st := s.watch(t, path, query+"&labelSelector=odd%3Dtrue")
			seen := map[string]bool{st.next().String(): true, st.next().String(): true}
			if !seen["ADDED m1"] || !seen["ADDED m3"] {
				t.Errorf("with %q it begins with %v", query, seen)
			}
		}
	})
	t.Run("of a selector sees objects come and go as they match", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		st := s.watch(t, path, "labelSelector=odd%3Dtrue&resourceVersion="+from)
		s.patch(t, path+"/m0", mergePatch, `{"metadata":{"labels":{"odd":"true"}}}`).object(t, http.StatusOK)
		s.patch(t, path+"/m0", mergePatch, `{"metadata":{"labels":{"more":"x"}}}`).object(t, http.StatusOK)
		gone := s.patch(t, path+"/m0", mergePatch, `{"metadata":{"labels":{"odd":"false"}}}`).object(t, http.StatusOK)
		events := st.wants("ADDED m0", "MODIFIED m0", "DELETED m0")
		last := events[2].object
		if last.GetLabels()["odd"] != "true" || last.GetResourceVersion() != gone.GetResourceVersion() {
			t.Errorf("what no longer matches is shown with %v of %s, want as it last matched, of %s", last.GetLabels(), last.GetResourceVersion(),
				gone.GetResourceVersion())
		}
	})
	t.Run("of one name sees that object only", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		st := s.watch(t, path, "fieldSelector=metadata.name%3Dm4&resourceVersion="+from)
		s.patch(t, path+"/m2", mergePatch, `{"data":{"value":"2"}}`).object(t, http.StatusOK)
		s.patch(t, path+"/m4", mergePatch, `{"data":{"value":"2"}}`).object(t, http.StatusOK)
		st.wants("MODIFIED m4")
	})
	t.Run("ends after its time, with a bookmark before", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		st := s.watch(t, path, "allowWatchBookmarks=true&timeoutSeconds=5&fieldSelector=metadata.name%3Dm1&resourceVersion="+from)
		other := s.patch(t, path+"/m2", mergePatch, `{"data":{"value":"3"}}`).object(t, http.StatusOK)
		bookmarks := st.ends()
		if len(bookmarks) == 0 {
			t.Fatal("no bookmark came")
		}
		mark := bookmarks[0].object
		if mark.GetKind() != "ConfigMap" || mark.GetAPIVersion() != "v1" || mark.GetName() != "" || len(mark.GetAnnotations()) > 0 {
			t.Errorf("the bookmark is %s", asText(t, mark))
		}
		if at, least := revision(t, mark), revision(t, other); at < least {
			t.Errorf("the bookmark is of %d, the last event that was not selected of %d", at, least)
		}
	})
	t.Run("without the wish for bookmarks has none", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		if marks := s.watch(t, path, "timeoutSeconds=4&resourceVersion="+from).ends(); len(marks) > 0 {
			t.Errorf("%d bookmarks came", len(marks))
		}
	})
	t.Run("can begin with the list and say where that ends", func(t *testing.T) {
		st := s.watch(t, path, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=odd%3Dtrue")
		seen := map[string]bool{st.next().String(): true, st.next().String(): true}
		if !seen["ADDED m1"] || !seen["ADDED m3"] {
			t.Errorf("it begins with %v", seen)
		}
		end := st.wants("BOOKMARK ")[0].object
		if end.GetAnnotations()["k8s.io/initial-events-end"] != "true" || end.GetResourceVersion() == "" {
			t.Errorf("the list's end is %s", asText(t, end))
		}
		s.patch(t, path+"/m3", mergePatch, `{"data":{"value":"3"}}`).object(t, http.StatusOK)
		st.wants("MODIFIED m3")
	})
	t.Run("cannot begin with the list unless it says from which version", func(t *testing.T) {
		const text = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
		full := strings.TrimPrefix(text, "Forbidden: ")
		s.get(t, path+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true").refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ` + full,
			details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "ListOptions", Causes: []metav1.StatusCause{
				{Type: "FieldValueForbidden", Field: "resourceVersionMatch", Message: text}}},
		})
	})
	t.Run("sees nothing of what changes nothing", func(t *testing.T) {
		from := s.get(t, path).list(t).GetResourceVersion()
		st := s.watch(t, path, "resourceVersion="+from)
		s.patch(t, path+"/m1", mergePatch, `{"metadata":{"labels":{"odd":"true"}}}`).object(t, http.StatusOK)
		s.patch(t, path+"/m1", mergePatch, `{"data":{"value":"1"}}`).object(t, http.StatusOK)
		if e := st.wants("MODIFIED m1")[0]; field(e.object, "data", "value") != "1" {
			t.Errorf("the first event is %s", asText(t, e.object))
		}
	})
	t.Run("of custom resources tells the same", func(t *testing.T) {
		from := s.get(t, nodeLocksPath).list(t).GetResourceVersion()
		st := s.watch(t, nodeLocksPath, "resourceVersion="+from)
		s.make(t, nodeLocksPath, nodeLock("watched", "w1"))
		s.patch(t, nodeLocksPath+"/watched/status", mergePatch, `{"status":{"state":"active"}}`).object(t, http.StatusOK)
		s.remove(t, nodeLocksPath+"/watched", "").object(t, http.StatusOK)
		events := st.wants("ADDED watched", "MODIFIED watched", "DELETED watched")
		if state := field(events[2].object, "status", "state"); state != "active" {
			t.Errorf("the last state is %v", state)
		}
	})
}
