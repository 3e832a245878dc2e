package kubeapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"pgregory.net/rapid"

	"lockstep/sim/crds"
)

// value draws decoded JSON of few names and values, so that two of them meet.
func value(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Just[any]("a"), rapid.Just[any](""), rapid.Just[any](int64(0)), rapid.Just[any](int64(7)),
		rapid.Just[any](1.5), rapid.Just[any](true),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	object := rapid.Map(document(depth-1), func(fields map[string]any) any { return fields })
	list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 3),
		func(list []any) any { return append([]any{}, list...) })
	return rapid.OneOf(append(scalars, object, object, list)...)
}

// document draws an object of such values.
func document(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}),
		rapid.Deferred(func() *rapid.Generator[any] { return value(depth) }), 0, 4)
}

func encoded(t *rapid.T, value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A merge patch gives the same content with and without JSON, and stays as it is.
func TestAMergePatchIsTheSameWithoutJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content, patch := document(3).Draw(t, "content"), document(3).Draw(t, "patch")
		raw, err := jsonpatch.MergePatch(encoded(t, content), encoded(t, patch))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := decodeJSON(raw, &want); err != nil {
			t.Fatal(err)
		}
		before := runtime.DeepCopyJSON(patch)
		mergeInto(content, patch)
		if !reflect.DeepEqual(content, want) {
			t.Errorf("got %v, want %v", content, want)
		}
		if !reflect.DeepEqual(patch, before) {
			t.Errorf("the patch has become %v, was %v", patch, before)
		}
	})
}

// An object that is loaded is the same with and without JSON.
func TestWhatIsLoadedIsTheSameWithoutJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := map[string]any{"some": document(3).Draw(t, "given"), "number": 3}
		got, plain := decoded(given)
		if !plain {
			return
		}
		var want map[string]any
		if err := decodeJSON(encoded(t, given), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, any(want)) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Metadata that is taken as it is would be the same after a way through ObjectMeta.
func TestCleanMetadataIsAsObjectMetaWouldBe(t *testing.T) {
	texts := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), value(0), 0, 2), func(fields map[string]any) any { return fields })
	list := rapid.Map(rapid.SliceOfN(value(0), 0, 2), func(list []any) any { return append([]any{}, list...) })
	times := rapid.Map(rapid.SampledFrom([]string{"2026-03-01T09:00:00Z", "2026-03-01T10:00:00+01:00", "0001-01-01T00:00:00Z",
		"2026-03-01T09:00:00.5Z", "2026-13-01T09:00:00Z"}), func(text string) any { return text })
	names := []string{"name", "namespace", "uid", "resourceVersion", "generateName", "generation", "creationTimestamp", "deletionTimestamp",
		"labels", "annotations", "finalizers", "selfLink", "managedFields", "ownerReferences", "other"}
	clean := 0
	rapid.Check(t, func(t *rapid.T) {
		metadata := rapid.MapOfN(rapid.SampledFrom(names), rapid.OneOf(value(0), texts, list, times), 0, 3).Draw(t, "metadata")
		if !isClean(metadata) {
			return
		}
		clean++
		want, err := knownMetadata(metadata)
		if err != nil {
			t.Fatalf("%v: %v", metadata, err)
		}
		if !reflect.DeepEqual(metadata, want) {
			t.Errorf("%v is taken as it is, want %v", metadata, want)
		}
	})
	if clean < 10 {
		t.Errorf("only %d were clean", clean)
	}
}

// fitting draws a value that mostly fits a schema.
func fitting(t *rapid.T, n *node) any {
	if rapid.IntRange(0, 30).Draw(t, "chance") == 0 {
		return value(1).Draw(t, "anything")
	}
	if len(n.enum) > 0 {
		return rapid.SampledFrom(n.enum).Draw(t, "one of")
	}
	switch n.kind {
	case "object":
		fields := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(n.properties)) {
			if rapid.IntRange(0, 4).Draw(t, name) > 0 {
				fields[name] = fitting(t, n.properties[name])
			}
		}
		if n.additional != nil {
			fields["more"] = fitting(t, n.additional)
		}
		return fields
	case "array":
		if n.items == nil {
			return []any{}
		}
		return []any{fitting(t, n.items)}
	case "integer":
		return int64(7)
	case "number":
		return 1.5
	case "boolean":
		return true
	}
	return "a"
}

// What accepts lets through, the validator finds valid; it lets the usual objects through.
func TestWhatIsAcceptedAtOnceIsValid(t *testing.T) {
	for _, definition := range append(crds.All(), crds.Management()...) {
		manifest, err := parseManifest(definition.YAML)
		if err != nil {
			t.Fatal(err)
		}
		resources, err := readDefinition(manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resources {
			if r.schema.openapi == nil {
				continue
			}
			accepted := 0
			for tries := 0; accepted == 0 && tries < 10; tries++ { // of some kinds few are accepted
				rapid.Check(t, func(t *rapid.T) {
					content, ok := fitting(t, r.schema.root).(map[string]any)
					if !ok || !r.schema.root.accepts(content) {
						return
					}
					accepted++
					if result := validate.NewSchemaValidator(r.schema.openapi, nil, "", strfmt.Default).Validate(content); len(result.Errors) > 0 {
						t.Errorf("%s: %v is accepted, but: %v", r.Resource, content, result.Errors)
					}
				})
			}
			t.Logf("%s: %d accepted", r.Resource, accepted)
			if accepted == 0 {
				t.Fatalf("%s: nothing was accepted", r.Resource)
			}
		}
	}
}
