package intern

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "nova"}, "creationTimestamp":
	"2026-11-21T10:00:00Z"}, "spec": {"nodeName": "cmp-01", "containers": [{"name": "main", "image": "registry.local/nova:1",
	"resources": {"limits": {"cpu": "2"}}}], "terminationGracePeriodSeconds": 30}, "status": {"conditions": [{"type": "Ready"}]}}`

func decoded[T any](t *testing.T) T {
	var value T
	if err := json.Unmarshal([]byte(pod), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTextsAreSharedAndNothingElseChanges(t *testing.T) {
	var table Table
	one, two := decoded[*corev1.Pod](t), decoded[*corev1.Pod](t)
	table.Object(one)
	table.Object(two)
	if want := decoded[*corev1.Pod](t); !reflect.DeepEqual(two, want) {
		t.Errorf("a pod has become %+v, want %+v", two, want)
	}
	if a, b := one.Spec.Containers[0].Image, two.Spec.Containers[0].Image; unsafe.StringData(a) != unsafe.StringData(b) {
		t.Error("two pods have a copy of the image's name each")
	}
	if a, b := one.Labels["app"], two.Labels["app"]; unsafe.StringData(a) != unsafe.StringData(b) {
		t.Error("two pods have a copy of a label each")
	}
	left, right := decoded[map[string]any](t), decoded[map[string]any](t)
	table.Content(left)
	table.Content(right)
	if want := decoded[map[string]any](t); !reflect.DeepEqual(right, want) {
		t.Errorf("content has become %v, want %v", right, want)
	}
	keys := func(content map[string]any) *byte {
		for key := range content["spec"].(map[string]any) {
			if key == "nodeName" {
				return unsafe.StringData(key)
			}
		}
		return nil
	}
	if keys(left) != keys(right) {
		t.Error("two objects have a copy of a field's name each")
	}
}

func TestFrozenObjectsShareTheirFields(t *testing.T) {
	var table Table
	one, two, other := decoded[map[string]any](t), decoded[map[string]any](t), decoded[map[string]any](t)
	other["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"] = "registry.local/nova:2"
	want := []map[string]any{decoded[map[string]any](t), decoded[map[string]any](t), runtime.DeepCopyJSON(other)}
	got := []map[string]any{one, two, other}
	for _, content := range got {
		table.Frozen(content)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("objects have become %v, want %v", got, want)
	}
	containers := func(content map[string]any) *any { return &content["spec"].(map[string]any)["containers"].([]any)[0] }
	if containers(one) != containers(two) || containers(one) == containers(other) {
		t.Error("equal containers are not shared, or others are")
	}
}

func TestATableForgets(t *testing.T) {
	var table Table
	for i := range 2 * most {
		table.Object(&metav1.ObjectMeta{Name: strconv.Itoa(i), CreationTimestamp: metav1.NewTime(time.Unix(int64(i), 0))})
	}
	if len(table.texts) > most {
		t.Errorf("%d texts are remembered", len(table.texts))
	}
}

func TestEqualIsThatOfReflect(t *testing.T) {
	values := []any{nil, "a", "", int64(1), 1.0, true, map[string]any{}, map[string]any(nil), []any{}, []any(nil), map[string]any{"a": nil},
		map[string]any{"b": nil}, []any{int64(1)}, []any{"a", map[string]any{"a": "b"}}, map[string]any{"a": []any{"b"}}, []string{"a"}}
	for _, a := range values {
		for _, b := range values {
			if got, want := Equal(a, b), reflect.DeepEqual(a, b); got != want {
				t.Errorf("Equal(%#v, %#v) = %v", a, b, got)
			}
		}
	}
	shared := map[string]any{"a": "b"}
	if !Equal(shared, shared) || !Equal(map[string]any{"x": shared}, map[string]any{"x": shared}) {
		t.Error("what is shared is not equal")
	}
}
