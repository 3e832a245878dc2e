package core

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Instances after changes are those of a map after the same changes, and those before are as they were.
func TestInstancesAreAsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept Instances
		model := map[string]*Instance{}
		for range rapid.IntRange(1, 6).Draw(t, "Snapshots") {
			before := maps.Clone(model)
			var put []*Instance
			var removed []string
			for _, id := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d]{1,3}`), 0, 8, rapid.ID).Draw(t, "changed") {
				if in := (&Instance{ID: id}); rapid.Bool().Draw(t, "there") {
					put, model[id] = append(put, in), in
				} else {
					removed = append(removed, id)
					delete(model, id)
				}
			}
			next := kept.With(put, removed)
			for _, of := range []struct {
				kept  Instances
				model map[string]*Instance
			}{{kept, before}, {next, model}} {
				if !maps.Equal(maps.Collect(of.kept.All()), of.model) || of.kept.Len() != len(of.model) {
					t.Fatalf("they are %v, want %v", maps.Collect(of.kept.All()), of.model)
				}
				for id, in := range of.model {
					if of.kept.At(id) != in {
						t.Fatalf("%s is not found", id)
					}
				}
			}
			kept = next
		}
	})
}
