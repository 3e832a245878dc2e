package controller

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

// What a status is to say is compared with what the API says: fields of any Go type with the numbers, lists and texts that they become
// there. More fields in the API do not matter, except in the objects of a list.
func TestWhatTheAPISaysAlready(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		api  string
		want map[string]any
		says bool
	}{
		{"the same numbers", `{"a":1,"b":2,"c":3.5,"d":4}`, map[string]any{"a": 1, "b": int64(2), "c": 3.5, "d": int32(4)}, true},
		{"another number", `{"a":1}`, map[string]any{"a": 2}, false},
		{"a number that is a text", `{"a":"1"}`, map[string]any{"a": 1}, false},
		{"nothing of it", `{}`, map[string]any{"a": ""}, false},
		{"more than that", `{"a":true,"b":{"c":"d","e":[]}}`, map[string]any{"b": map[string]any{"c": "d"}}, true},
		{"more in a map of texts", `{"b":{"c":"d","e":"f"}}`, map[string]any{"b": map[string]string{"c": "d"}}, true},
		{"something else in a map of texts", `{"b":{"c":"d"}}`, map[string]any{"b": map[string]string{"c": "x"}}, false},
		{"what must be missing", `{"a":1}`, map[string]any{"b": nil}, true},
		{"what must be missing and is there", `{"b":null}`, map[string]any{"b": nil}, false},
		{"a list", `{"a":["x",1,{"b":2}]}`, map[string]any{"a": []any{"x", 1, map[string]any{"b": 2}}}, true},
		{"a longer list", `{"a":["x",1]}`, map[string]any{"a": []any{"x"}}, false},
		{"more in an object of a list", `{"a":[{"b":2,"c":3}]}`, map[string]any{"a": []any{map[string]any{"b": 2}}}, false},
		{"lists of other types", `{"a":["x"],"b":[{"c":1}]}`, map[string]any{"a": []string{"x"}, "b": []map[string]any{{"c": 1}}}, true},
		{"null in a list", `{"a":[null]}`, map[string]any{"a": []any{nil}}, true},
		{"no list", `{"a":"x"}`, map[string]any{"a": []any{"x"}}, false},
		{"no map", `{"a":"x"}`, map[string]any{"a": map[string]any{}}, false},
		{"a time", `{"a":"2026-01-02T03:04:05Z"}`, map[string]any{"a": metav1.NewTime(at)}, true},
		{"no map of texts, which must be missing", `{}`, map[string]any{"a": map[string]string(nil)}, true},
		{"no list, which must be missing", `{"a":[]}`, map[string]any{"a": []any(nil)}, false},
		{"no list in a list", `{"a":[null]}`, map[string]any{"a": []any{[]any(nil)}}, true},
		{"an empty list in a list", `{"a":[[]]}`, map[string]any{"a": []any{[]any(nil)}}, false},
		{"more in a Go object", `{"a":{"b":"x","c":1}}`, map[string]any{"a": struct {
			B string `json:"b"`
		}{"x"}}, true},
		{"what JSON cannot say", `{"a":"x"}`, map[string]any{"a": func() {}}, false},
	} {
		var api map[string]any
		if err := kubejson.Unmarshal([]byte(tt.api), &api); err != nil {
			t.Fatal(err)
		}
		if got := says(api, tt.want); got != tt.says {
			t.Errorf("%s: %s says %v: %t", tt.name, tt.api, tt.want, got)
		}
		if raw, err := json.Marshal(tt.want); err == nil && tt.says { // and once it is written, it is said
			var written map[string]any
			if err := kubejson.Unmarshal(raw, &written); err != nil {
				t.Fatal(err)
			}
			for name, value := range written {
				if value == nil {
					delete(written, name)
				}
			}
			if !says(written, tt.want) {
				t.Errorf("%s: %s, as it is written, does not say %v", tt.name, raw, tt.want)
			}
		}
	}
}
