package openstack

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// What answers are made of, encoded as encoding/json would.
func TestAnswersAreEncodedAsUsual(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.String().AsAny(),
			rapid.SampledFrom([]string{"", "<a&b>", "\u2028", "ü", "\xff", "\x7f", `\"`}).AsAny(),
			rapid.SliceOf(rapid.String()).AsAny(), rapid.MapOf(rapid.String(), rapid.String()).AsAny(),
			rapid.SampledFrom([]any{object(nil), []object(nil), []any(nil), []string(nil), []int{1}, json.RawMessage(`{"a": 1}`)}),
		}
		if depth == 0 {
			return rapid.OneOf(leaves...)
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		objects := rapid.MapOfN(rapid.String(), inner, 0, 5)
		return rapid.OneOf(append(leaves, objects.AsAny(), rapid.SliceOfN(inner, 0, 5).AsAny(), rapid.SliceOfN(objects, 0, 3).AsAny())...)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "answer")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := appendJSON([]byte("x"), v)
		if err != nil || "x"+string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))) != string(got) {
			t.Fatalf("%#v is encoded as %s (%v), want %s", v, got, err, want.Bytes())
		}
	})
}
