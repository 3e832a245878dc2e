package core

import (
	"reflect"
	"testing"
)

// Views of which any field differs are not the same: a new field has to be compared, too.
func TestViewsOfInstancesDifferByEachField(t *testing.T) {
	var plain InstanceView
	if !plain.Same(plain) {
		t.Error("a view is not the same as itself")
	}
	for i := range reflect.TypeFor[InstanceView]().NumField() {
		other := plain
		switch f := reflect.ValueOf(&other).Elem().Field(i); f.Kind() {
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.String:
			f.SetString("other")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(7)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		default:
			t.Fatalf("a field of kind %s", f.Kind())
		}
		if name := reflect.TypeFor[InstanceView]().Field(i).Name; plain.Same(other) || other.Same(plain) {
			t.Errorf("views with another %s are the same", name)
		}
	}
}
