package engine

import (
	"encoding/json"
	"fmt"
	"reflect"

	"lockstep/core"
)

// withoutSecrets removes from a line of the journal the secrets that URLs contain. Only lines with a URL are decoded and encoded again.
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

// redactStrings redacts all strings in a value. Nobody else may hold the value.
func redactStrings(v reflect.Value) {
	if !v.CanSet() { // inside a time.Time
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
