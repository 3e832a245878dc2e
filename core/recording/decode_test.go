package recording

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/scene"
)

// Whatever stands in a text, it is read as encoding/json reads it: the same value, or an error.
func TestATextIsReadAsJSONReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.AnyScene(t)
		var all []any
		for _, list := range sc.Objects() {
			for _, o := range list {
				all = append(all, o)
			}
		}
		all = append(all, &sc.History, &sc.Operations, &sc.Write, &map[string]json.RawMessage{"a": json.RawMessage(`{"b": [1, "]"]}`)},
			&[]float64{1.5, -2e9}, &map[int]bool{-1: true}, &[]string{"ä\u2028\"\\", ""})
		was := rapid.SampledFrom(all).Draw(t, "value")
		raw, err := redacting.append(nil, was)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, len(raw)).Draw(t, "at")
		switch rapid.IntRange(0, 4).Draw(t, "what goes wrong") {
		case 1:
			if raw = raw[:n]; n > 0 && decode(raw, reflect.New(reflect.TypeOf(was).Elem()).Interface()) == nil && !json.Valid(raw) {
				t.Fatalf("it is read, and was cut off: %s", raw)
			}
		case 2:
			raw = bytes.Join([][]byte{raw[:n], raw[min(n+1, len(raw)):]}, nil)
		case 3:
			wrong := rapid.SampledFrom([]string{"null", ` `, `,`, `"`, `{}`, `[]`, `0`, `x`, `\u00e4`, "\xff", "\x01"}).Draw(t, "wrong")
			raw = bytes.Join([][]byte{raw[:n], []byte(wrong), raw[n:]}, nil)
		case 4:
			raw = bytes.Replace(raw, []byte(`:"`), []byte(`:{"later":[{"x":"}"},null,-1.5E7]},"y":"`), 1)
		}
		want, got := reflect.New(reflect.TypeOf(was).Elem()), reflect.New(reflect.TypeOf(was).Elem())
		wrong := json.Unmarshal(raw, want.Interface())
		err = decode(raw, got.Interface())
		if err != nil && wrong == nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		if err != nil {
			return
		}
		if wrong != nil && json.Valid(raw) {
			t.Fatalf("encoding/json says: %v\n%s", wrong, raw)
		}
		if diff := cmp.Diff(want.Interface(), got.Interface(), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); wrong == nil &&
			diff != "" {
			t.Fatalf("-encoding/json +here:\n%s\n%s", diff, raw)
		}
	})
}

// Objects of a kind that only a later version knows are left out; what is no object is an error.
func TestObjectsOfALaterVersionAreLeftOut(t *testing.T) {
	var list objectList
	err := decode([]byte(`[{"Later": {"a": ["}"]}}, {"Node": {"Name": "cmp-1", "Later": 5}}]`), &list)
	if err != nil || len(list) != 1 || list[0].(*core.Node).Name != "cmp-1" {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{`[{}]`, `[null]`, `[{"Node":{},"Node":{}}]`, `[5]`, `{}`, `[{"Node":5}]`, `[`, `[{"Node":{}}`, `[]]`} {
		if err := decode([]byte(text), &list); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
