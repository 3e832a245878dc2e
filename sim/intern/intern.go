// Package intern makes objects of one API share the texts that repeat among them. Each decoded object brings its own copy of every
// name of a field, label, image and node; ten thousand pods have the same few hundred.
package intern

import (
	"hash/maphash"
	"reflect"
	"sync"
)

const (
	// most is how many texts a Table remembers before it begins anew: names and UIDs never repeat, and must not be kept for that.
	most = 1 << 16
	// longest is the length of the longest text that is worth a look.
	longest = 80
)

// Table remembers texts. The zero value is ready; it is safe for concurrent use.
type Table struct {
	mu    sync.Mutex
	texts map[string]any // each text in the form in which decoded JSON holds it, so that this is shared as well
	trees map[uint64]any
}

// Content shares the texts in decoded JSON, in place; nobody else may use it meanwhile.
func (t *Table) Content(content map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.content(content)
}

// Frozen is Content for an object that never changes any more: it also shares the fields of its metadata, spec and status with the
// objects that have equal ones, as the pods of a set have. All of these must stay as they are from now on.
func (t *Table) Frozen(content map[string]any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.content(content)
	for part, value := range content {
		fields, ok := value.(map[string]any)
		if !ok {
			continue
		}
		// A converter makes room for all fields of a Go type, most of which an object does not have.
		small := make(map[string]any, len(fields)+1) // the store adds the resourceVersion
		for name, field := range fields {
			switch field.(type) {
			case map[string]any, []any:
				field = t.tree(field)
			}
			small[name] = field
		}
		content[part] = small
	}
}

// tree returns the first field that was equal to this one.
func (t *Table) tree(field any) any {
	sum := hash(field)
	if known, ok := t.trees[sum]; ok {
		if Equal(known, field) {
			return known
		}
		return field
	}
	if t.trees == nil || len(t.trees) >= most {
		t.trees = map[uint64]any{}
	}
	t.trees[sum] = field
	return field
}

var seed = maphash.MakeSeed()

// hash is the same for equal decoded JSON.
func hash(value any) uint64 {
	sum := uint64(1)
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value { // in any order
			sum += maphash.String(seed, key) * (hash(one) | 1)
		}
	case []any:
		for _, one := range value {
			sum = sum*31 + hash(one)
		}
	case nil:
	case string:
		sum = maphash.String(seed, value)
	default:
		sum = maphash.Comparable(seed, value)
	}
	return sum
}

// Equal is reflect.DeepEqual for decoded JSON. It does not look into what both share.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
		if reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() {
			return true
		}
		for key, one := range a {
			if other, ok := b[key]; !ok || !Equal(one, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
		for i, one := range a {
			if !Equal(one, b[i]) {
				return false
			}
		}
		return true
	case string, int64, float64, bool, nil:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

func (t *Table) content(value any) any {
	switch value := value.(type) {
	case string:
		return t.known(value)
	case map[string]any:
		for key, one := range value {
			value[t.text(key)] = t.content(one) // an assignment also replaces the key by the equal one
		}
	case []any:
		for i, one := range value {
			value[i] = t.content(one)
		}
	}
	return value
}

// Object shares the texts in the exported fields of what a pointer points to, in place; nobody else may use it meanwhile.
func (t *Table) Object(pointer any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.object(reflect.ValueOf(pointer))
}

func (t *Table) object(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(t.text(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct && v.Elem().Type().PkgPath() != "time" {
			t.object(v.Elem())
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return // a location is shared by all times
		}
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				t.object(field)
			}
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind != reflect.Struct && kind != reflect.String && kind != reflect.Pointer {
			return
		}
		for i := range v.Len() {
			t.object(v.Index(i))
		}
	case reflect.Map:
		if texts, ok := v.Interface().(map[string]string); ok {
			for key, one := range texts {
				texts[t.text(key)] = t.text(one)
			}
		}
	}
}

func (t *Table) text(text string) string { return t.known(text).(string) }

// known returns the copy of a text that all share.
func (t *Table) known(text string) any {
	if text == "" || len(text) > longest {
		return text
	}
	if known, ok := t.texts[text]; ok {
		return known
	}
	if t.texts == nil || len(t.texts) >= most {
		t.texts = map[string]any{}
	}
	known := any(text)
	t.texts[text] = known
	return known
}
