package core

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Of a thousand nodes those are derived again of which a fact or the basis has changed, those that rest on others, and those whose time
// has come.
func TestADerivationByNodeLooksOnlyWhereSomethingCanHaveChanged(t *testing.T) {
	begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("n%03d", i)
	}
	var below, above ByNode[int]
	var derived []string
	made := map[string]int{}
	at := func(revision uint64, after time.Duration, all uint64, nodes map[string]uint64) *Snapshot {
		s := &Snapshot{Facts: Facts{Revision: revision, Now: begun.Add(after), Wall: begun.Add(after),
			Stamps: Stamps{Any: revision, All: all}}}
		for name, at := range nodes {
			s.Stamps.Nodes = s.Stamps.Nodes.With(slices.Values([]string{name}), at)
			if at+1 >= revision {
				s.Stamps.Lately = append(s.Stamps.Lately, name)
			}
		}
		return s
	}
	for _, step := range []struct {
		what string
		s    *Snapshot
		want []string // nil: all of them
	}{
		{"the first", at(1, 0, 1, nil), nil},
		{"nothing of a node", at(2, time.Second, 1, nil), []string{"n007"}},
		{"a node, and the host of another", at(3, 2*time.Second, 1, map[string]uint64{"n100": 3, "n200.example.net": 3, "n200": 3}),
			[]string{"n007", "n100", "n200"}},
		{"the same stamps", at(4, 3*time.Second, 1, map[string]uint64{"n100": 3, "n200": 3}), []string{"n007"}},
		{"after Snapshots of which nothing was derived", at(7, 3*time.Second, 1, map[string]uint64{"n100": 3, "n200": 5, "n400": 7}),
			[]string{"n007", "n200", "n400"}},
		{"a fact that counts for everything", at(8, 4*time.Second, 8, nil), nil},
		{"none again", at(9, 5*time.Second, 8, nil), []string{"n007"}},
		{"the time of one", at(10, time.Minute, 8, nil), []string{"n007", "n300"}},
		{"an earlier time", at(11, time.Second, 8, nil), nil},
	} {
		derived = nil
		below = DeriveByNode(step.s, below, nil, names, nil, func(s *Snapshot, name string) (int, bool) {
			if name == "n300" {
				s.Reached(begun.Add(30 * time.Second))
			}
			made[name]++
			return made[name], name == "n007"
		})
		above = DeriveByNode(step.s, above, nil, names, below, func(s *Snapshot, name string) (int, bool) {
			derived = append(derived, name)
			v, _ := below.Get(name)
			return v, false
		})
		want := step.want
		if want == nil {
			want = names
		}
		if !slices.Equal(derived, want) {
			t.Errorf("%s: %d nodes are derived again: %.200s", step.what, len(derived), fmt.Sprint(derived))
		}
		for i, v := range slices.Collect(above.All()) {
			if v != made[names[i]] {
				t.Fatalf("%s: %s rests on what was made of it %d times, not %d", step.what, names[i], v, made[names[i]])
			}
		}
	}
}
