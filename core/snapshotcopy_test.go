package core

import (
	"reflect"
	"slices"
	"testing"
)

// A copy has every fact of its Snapshot, including facts that are added later, and nothing derived: the last check before a write
// looks at such a copy.
func TestACopyOfASnapshotLacksNoFact(t *testing.T) {
	s := &Snapshot{}
	facts := reflect.ValueOf(&s.Facts).Elem()
	for i := range facts.NumField() {
		setSomething(t, facts.Field(i))
	}
	s.NodeNames() // something is derived
	for _, tt := range []struct {
		name   string
		copied *Snapshot
		sets   []string // the facts that the copy is meant to change
	}{
		{"copyFacts", s.CopyFacts(), nil},
		{"without", s.Without("an operation"), []string{"Operations"}},
		{"withInstances", s.WithInstances("cmp-01", nil), []string{"Instances", "ByHost"}},
	} {
		got := reflect.ValueOf(tt.copied.Facts)
		for i := range got.NumField() {
			name := facts.Type().Field(i).Name
			if !slices.Contains(tt.sets, name) && !reflect.DeepEqual(got.Field(i).Interface(), facts.Field(i).Interface()) {
				t.Errorf("%s: the copy has another %s", tt.name, name)
			}
		}
		tt.copied.derived.made.Range(func(any, any) bool {
			t.Errorf("%s: something is derived already", tt.name)
			return false
		})
	}
	if n := reflect.TypeFor[Snapshot]().NumField(); n != 2 {
		t.Errorf("a Snapshot has %d fields: what is known belongs into Facts, what is computed into derived", n)
	}
}

// setSomething sets a value, and all the fields of a struct, to something that is not zero.
func setSomething(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("something")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				setSomething(t, v.Field(i))
			}
		}
	default:
		t.Fatalf("a fact of kind %s", v.Kind())
	}
}
