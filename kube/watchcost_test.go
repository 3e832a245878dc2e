package kube

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"lockstep/core"
)

// lockEvents is a watch that shows n changes of locks, as an API server writes it.
func lockEvents(t testing.TB, n int) []byte {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(locksPage(n)), &list); err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	for _, item := range list.Items {
		stream.WriteString(`{"type":"MODIFIED","object":`)
		if err := json.Compact(&stream, item); err != nil {
			t.Fatal(err)
		}
		stream.WriteString("}\n")
	}
	return stream.Bytes()
}

// followLocks reads a watch to its end, and returns how many changes it has shown.
func followLocks(stream []byte) int {
	info := once{dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer}.SupportedMediaTypes()[0]
	frames := info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(bytes.NewReader(stream)))
	watch := restwatch.NewDecoder(streaming.NewDecoder(frames, info.StreamSerializer.Serializer), info.Serializer)
	translate := lockFrom(core.KindNodeWorkloadLock)
	for n := 0; ; n++ {
		_, object, err := watch.Decode()
		if err != nil {
			return n
		}
		translate(object.(*unstructured.Unstructured))
	}
}

// Under change a watch brings 200 events a second: what reading one costs is a large part of all.
func TestAnEventOfAWatchCostsLittle(t *testing.T) {
	const events, budget = 200, 66 // 55 allocations measured, and a fifth more; 112 by client-go's decoders
	stream := lockEvents(t, events)
	if n := followLocks(stream); n != events {
		t.Fatalf("%d of %d events were read", n, events)
	}
	got := testing.AllocsPerRun(5, func() { followLocks(stream) }) / events
	t.Logf("%.1f allocations an event", got)
	if got > budget {
		t.Errorf("an event takes %.1f allocations, and %d are allowed", got, budget)
	}
}

func BenchmarkWatchEvents(b *testing.B) {
	const events = 200
	stream := lockEvents(b, events)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		followLocks(stream)
	}
}
