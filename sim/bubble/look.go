package bubble

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// How Until waits, in virtual time. What lasts for a moment only is not looked for but followed.
const (
	look     = time.Second
	patience = 12 * time.Hour
)

// Until waits until holds says so. What never comes to be so ends the test.
func Until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(look) {
		if time.Since(began) > patience {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

// Follow tells note, until the test ends, what objects there are and what becomes of each, however soon that changes again.
// It returns when note knows those that are there now. note is called by one goroutine at a time.
func Follow(t *testing.T, objects dynamic.ResourceInterface, note func(kind watch.EventType, object *unstructured.Unstructured)) {
	t.Helper()
	list, err := objects.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		note(watch.Added, &list.Items[i])
	}
	// A server ends each watch after half an hour or more; this one goes on from there.
	events, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return objects.Watch(ctx, o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { events.Stop(); <-done })
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				note(event.Type, object)
			} else {
				t.Errorf("a watch ended: %v", event.Object)
			}
		}
	}()
}
