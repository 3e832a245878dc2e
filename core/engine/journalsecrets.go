package engine

import (
	"encoding/json"
	"fmt"
	"reflect"

	"lockstep/core"
)

// withoutSecrets is a line of the journal without what the URLs in it give away. Few lines have any: those are read again, and
// written again without.
func withoutSecrets(line []byte) ([]byte, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read a journal record: %w", err)
	}
	redactStrings(reflect.ValueOf(&r).Elem())
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a journal record: %w", err)
	}
	return line, nil
}

// redactStrings takes what URLs give away out of all strings of a value that is nobody else's.
func redactStrings(v reflect.Value) {
	if !v.CanSet() { // the inside of a time
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(core.Redact(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			redactStrings(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			redactStrings(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			redactStrings(v.Field(i))
		}
	}
}
