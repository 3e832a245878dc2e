package kube

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// fields reads a decoded JSON object of unknown shape. No method fails: what is missing or of another type than expected is the
// zero value.
type fields map[string]any

// at is the object at a path; nil, on which every method works, when there is none.
func (f fields) at(path ...string) fields {
	for _, key := range path {
		next, _ := f[key].(map[string]any)
		f = next
	}
	return f
}

// text is a scalar as it stands: a string, or a number or truth value in JSON's words. Anything else is empty.
func (f fields) text(key string) string {
	switch v := f[key].(type) {
	case string:
		return v
	case bool, int64, json.Number:
		return fmt.Sprint(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func (f fields) truth(key string) bool {
	b, _ := f[key].(bool)
	return b
}

// number is an integer, also one that was written as a decimal or as a string; ok is false when there is none.
func (f fields) number(key string) (n int, ok bool) {
	switch v := f[key].(type) {
	case int64:
		return int(v), true
	case float64:
		if math.IsNaN(v) || v < math.MinInt32 || v > math.MaxInt32 {
			return 0, false
		}
		return int(v), true
	case json.Number:
		n, err := strconv.Atoi(v.String())
		return n, err == nil
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(v))
		return n, err == nil
	}
	return 0, false
}

func (f fields) list(key string) []any {
	l, _ := f[key].([]any)
	return l
}

// time reads RFC 3339, as all of Kubernetes' own times are, or the naive UTC time that Rockoon writes
// ("2021-09-08 17:01:45.633143"); zero when it is neither.
func (f fields) time(key string) time.Time {
	s, _ := f[key].(string)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// objects are the elements of a list that are objects.
func (f fields) objects(key string) []fields {
	list := f.list(key)
	out := make([]fields, 0, len(list))
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// metaFrom keeps what core keeps of an object's metadata.
func metaFrom(u *unstructured.Unstructured) core.Meta {
	m := fields(u.Object).at("metadata")
	meta := core.Meta{
		Name:            m.text("name"),
		Namespace:       m.text("namespace"),
		UID:             m.text("uid"),
		ResourceVersion: m.text("resourceVersion"),
		Created:         m.time("creationTimestamp"),
		Deleting:        m.time("deletionTimestamp"),
	}
	for _, f := range m.list("finalizers") {
		if s, ok := f.(string); ok {
			meta.Finalizers = append(meta.Finalizers, s)
		}
	}
	return meta
}
