package engine

import (
	"errors"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
)

// likeness knows which facts of two series of Snapshots are the same. Snapshots share what has not changed, so each pair of objects is
// compared once: cmp compares them anew for each Snapshot, which was a quarter of the work of this package's tests. What is not
// certainly the same is left to cmp, which also says how it differs.
type likeness map[pair]bool

// pair are two objects, maps or lists of the two series. Both are immutable, and kept from the collector by being here.
type pair struct {
	a, b   unsafe.Pointer
	length int // of lists: one can be the begin of another
	kind   reflect.Type
}

// differ says how the facts of two Snapshots differ, in the sense of sameAsPlayed; empty when they do not.
func (l likeness) differ(lived, played *core.Facts) string {
	if l.same(reflect.ValueOf(lived).Elem(), reflect.ValueOf(played).Elem()) {
		return ""
	}
	return cmp.Diff(*lived, *played, sameAsPlayed)
}

// notPlayed are the fields that sameAsPlayed ignores.
var notPlayed = map[reflect.Type]map[string]bool{
	reflect.TypeFor[core.Facts]():    ignored(countedByEach),
	reflect.TypeFor[core.APIError](): ignored(toldByNone),
}

func ignored(names []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

// same tells whether two values are certainly the same for cmp.
func (l likeness) same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return sameTime(a, b)
		}
		but := notPlayed[a.Type()]
		for i := range a.NumField() {
			if !but[a.Type().Field(i).Name] && !l.same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		two := pair{a: a.UnsafePointer(), b: b.UnsafePointer(), kind: a.Type()}
		if a.Kind() == reflect.Slice {
			if two.length = a.Len(); b.Len() != two.length {
				return false
			}
		}
		known, ok := l[two]
		if !ok {
			known = l.content(a, b)
			l[two] = known
		}
		return known
	case reflect.Array:
		return l.list(a, b)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && l.same(a.Elem(), b.Elem())
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	}
	return a.Equal(b)
}

// content compares what two pointers, maps or lists hold.
func (l likeness) content(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return l.same(a.Elem(), b.Elem())
	case reflect.Slice:
		return l.list(a, b)
	}
	if a.Len() != b.Len() {
		return false
	}
	for each := a.MapRange(); each.Next(); {
		other := b.MapIndex(each.Key())
		if !other.IsValid() || !l.same(each.Value(), other) {
			return false
		}
	}
	return true
}

func (l likeness) list(a, b reflect.Value) bool {
	for i := range a.Len() {
		if !l.same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// sameTime tells whether two times are certainly the same moment, also those of fields that are not exported.
func sameTime(a, b reflect.Value) bool {
	of := func(v reflect.Value) (time.Time, bool) {
		switch {
		case v.CanInterface():
			return v.Interface().(time.Time), true
		case v.CanAddr():
			return *(*time.Time)(unsafe.Pointer(v.UnsafeAddr())), true
		}
		return time.Time{}, false
	}
	one, ok := of(a)
	other, too := of(b)
	return ok && too && one.Equal(other)
}

// Whatever differs for cmp is not the same here: in a field, in a list, in an object, by a time; and what is shared is not taken for
// the same when its partner is another.
func TestWhatCmpTellsApartIsNotTheSame(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	facts := func(change func(*core.Facts)) *core.Facts {
		f := &core.Facts{Now: at, Cluster: "mos", Nodes: map[string]*core.Node{"a": {ShortName: "a"}, "b": {ShortName: "b"}},
			Ceph: []*core.CephCluster{{}}, Heard: map[string]time.Time{"x": at},
			Sources: map[core.SourceID]core.Source{core.SourceNodes: {AsOf: at, Err: &core.APIError{Message: "no"}}}}
		change(f)
		return f
	}
	kept := facts(func(*core.Facts) {})
	known := likeness{}
	for name, tt := range map[string]struct {
		change func(*core.Facts)
		same   bool
	}{
		"nothing":             {func(*core.Facts) {}, true},
		"the place of a time": {func(f *core.Facts) { f.Now = at.In(time.FixedZone("CET", 3600)) }, true},
		"what is ignored":     {func(f *core.Facts) { f.Revision, f.Unheard = 7, true }, true},
		"an error's cause":    {func(f *core.Facts) { f.Sources[core.SourceNodes].Err.Err = errors.New("late") }, true},
		"an error":            {func(f *core.Facts) { f.Sources[core.SourceNodes].Err.Message = "yes" }, false},
		"a time":              {func(f *core.Facts) { f.Now = at.Add(1) }, false},
		"a text":              {func(f *core.Facts) { f.Cluster = "another" }, false},
		"an object":           {func(f *core.Facts) { f.Nodes["b"].ShortName = "c" }, false},
		"one object less":     {func(f *core.Facts) { delete(f.Nodes, "b") }, false},
		"another key":         {func(f *core.Facts) { f.Nodes["c"] = f.Nodes["b"]; delete(f.Nodes, "b") }, false},
		"a longer list":       {func(f *core.Facts) { f.Ceph = append(f.Ceph, &core.CephCluster{}) }, false},
		"an empty list":       {func(f *core.Facts) { f.Ceph = []*core.CephCluster{} }, false},
		"no list":             {func(f *core.Facts) { f.Ceph = nil }, false},
		"an instance":         {func(f *core.Facts) { f.Instances.Put(&core.Instance{ID: "i"}) }, false},
	} {
		other := facts(tt.change)
		if tt.same != (cmp.Diff(*kept, *other, sameAsPlayed) == "") {
			t.Errorf("%s: cmp thinks otherwise", name)
		}
		for range 2 { // the second time it is known
			if got := known.differ(kept, other) == ""; got != tt.same {
				t.Errorf("%s: it says %t", name, got)
			}
			if got := known.same(reflect.ValueOf(kept).Elem(), reflect.ValueOf(other).Elem()); got != tt.same {
				t.Errorf("%s: without cmp it says %t", name, got)
			}
		}
	}
}
