package recording

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/core"
)

// encoder writes values as encoding/json does, so that encoding/json reads them, but for three things. A field that is zero is left out:
// an object has dozens of fields, and most are empty. An error is left out: no program can read one back. Every text is redacted.
type encoder struct {
	redact func(string) string
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	rawType   = reflect.TypeFor[json.RawMessage]()
	errorType = reflect.TypeFor[error]()
)

// text is a text without secrets. Most texts are names; only those in which a secret could stand are looked through.
func (e encoder) text(s string) string {
	if e.redact != nil && (strings.ContainsAny(s, ":=\" ") || strings.Contains(s, "--")) {
		return e.redact(s)
	}
	return s
}

// entryText is the value under a key: none under the name of a secret.
func (e encoder) entryText(key, s string) string {
	if e.redact != nil && s != "" && core.SecretName(key) {
		return core.Hidden
	}
	return e.text(s)
}

func (e encoder) append(b []byte, v any) ([]byte, error) { return e.value(b, reflect.ValueOf(v)) }

func (e encoder) value(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "null"...), nil
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		raw, err := json.Marshal(v.Float())
		return append(b, raw...), err
	case reflect.String:
		return appendString(b, e.text(v.String())), nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return e.value(b, v.Elem())
	case reflect.Slice:
		return e.slice(b, v)
	case reflect.Map:
		return e.table(b, v)
	case reflect.Struct:
		if v.Type() == timeType {
			raw, err := v.Interface().(time.Time).MarshalJSON()
			return append(b, raw...), err
		}
		return e.object(b, v)
	}
	return b, fmt.Errorf("a recording cannot have a %s", v.Type())
}

func (e encoder) slice(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	if v.Type() == rawType {
		return append(b, v.Bytes()...), nil
	}
	b = append(b, '[')
	var err error
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.value(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// table writes a map in the order of its keys, so that the same facts make the same lines.
func (e encoder) table(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	var entries []entry
	for it := v.MapRange(); it.Next(); {
		key := it.Key()
		switch key.Kind() {
		case reflect.String:
			entries = append(entries, entry{e.text(key.String()), it.Value()})
		case reflect.Int, reflect.Int64:
			entries = append(entries, entry{strconv.FormatInt(key.Int(), 10), it.Value()})
		default:
			return b, fmt.Errorf("a recording cannot have a map by %s", key.Type())
		}
	}
	slices.SortFunc(entries, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	b = append(b, '{')
	var err error
	for i, en := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, en.key), ':')
		if en.value.Kind() == reflect.String {
			b = appendString(b, e.entryText(en.key, en.value.String()))
			continue
		}
		if b, err = e.value(b, en.value); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func (e encoder) object(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '{')
	first := true
	var err error
	for _, f := range fieldsOf(v.Type()) {
		field := v.FieldByIndex(f.index)
		if field.IsZero() {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, f.quoted...), ':')
		if b, err = e.value(b, field); err != nil {
			return b, fmt.Errorf("%s.%s: %w", v.Type(), f.quoted, err)
		}
	}
	return append(b, '}'), nil
}

// field is a field of a struct as JSON has it.
type field struct {
	quoted string
	index  []int
}

var fieldsByType sync.Map // reflect.Type → []field

// fieldsOf are the fields of a struct that are written, those of embedded structs among them, as encoding/json names them.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && f.Type != timeType
		if !f.IsExported() || name == "-" || embedded || f.Type.Implements(errorType) && f.Type.Kind() == reflect.Interface {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, field{quoted: strconv.Quote(name), index: f.Index})
	}
	fieldsByType.Store(t, out)
	return out
}

// appendString writes a text as JSON. Most are plain.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			raw, err := json.Marshal(s)
			if err != nil { // a string is always written
				return append(b, `""`...)
			}
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendObject writes an object under the name of its type.
func (e encoder) appendObject(b []byte, o core.Object) ([]byte, error) {
	t := reflect.TypeOf(o)
	if t.Kind() != reflect.Pointer || objects[t.Elem().Name()] != t.Elem() {
		return b, fmt.Errorf("a recording does not know %s", t)
	}
	b = append(append(append(b, `{"`...), t.Elem().Name()...), `":`...)
	b, err := e.value(b, reflect.ValueOf(o).Elem())
	return append(b, '}'), err
}

func (e encoder) appendObjects(b []byte, list []core.Object) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, o := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.appendObject(b, o); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}
