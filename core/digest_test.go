package core

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// What rests on nodes by a key alone is made again when the key changes, when a fact does that anything can rest on, and when its time has
// come; not for another change of a node.
func TestWhatIsKeyedIsMadeAgainOnlyForItsKey(t *testing.T) {
	begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var keyed Derivation[int]
	made := 0
	var last *Snapshot
	for revision, step := range []struct {
		what  string
		after time.Duration
		all   uint64
		key   any
		want  int
	}{
		{"the first", 0, 1, 1, 1},
		{"a change of a node", time.Second, 1, 1, 1},
		{"another key", 2 * time.Second, 1, 2, 2},
		{"the same key", 3 * time.Second, 1, 2, 2},
		{"a fact that counts for everything", 4 * time.Second, 5, 2, 3},
		{"its time has come", time.Minute, 5, 2, 4},
		{"no key at all", time.Minute, 5, nil, 5},
	} {
		s := &Snapshot{Facts: Facts{Revision: uint64(revision + 1), Now: begun.Add(step.after), Wall: begun.Add(step.after),
			Stamps: Stamps{Any: uint64(revision + 1), All: step.all}}}
		if last != nil {
			s.Follow(last)
		}
		got := keyed.OfKeyed(s, step.key, func(s *Snapshot) int {
			s.Reached(begun.Add(30 * time.Second))
			made++
			return made
		})
		if got != step.want {
			t.Errorf("%s: it was made %d times, want %d", step.what, got, step.want)
		}
		last = s
	}
}

// A Digest changes with what is taken from the values of nodes, and not with what is not.
func TestADigestChangesWithWhatIsTaken(t *testing.T) {
	names := []string{"a", "b"}
	values := map[string][2]int{}
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var of ByNode[[2]int]
	var d Digest[[2]int]
	for revision, step := range []struct {
		what    string
		change  func()
		changed uint64
	}{
		{"the first", func() {}, 1},
		{"nothing", func() {}, 1},
		{"what is not taken", func() { values["a"] = [2]int{0, 1} }, 1},
		{"what is taken", func() { values["b"] = [2]int{1, 0} }, 4},
		{"other nodes", func() { names = []string{"a", "c"} }, 5},
		{"nothing again", func() {}, 5},
	} {
		step.change()
		stamp := uint64(revision + 1)
		s := &Snapshot{Facts: Facts{Revision: stamp, Now: now, Wall: now,
			Stamps: Stamps{Any: stamp, All: 1, Nodes: NodeStamps{}.With(slices.Values([]string{"a", "b"}), stamp), Lately: []string{"a", "b"}}}}
		of = DeriveByNode(s, of, nil, names, nil, func(_ *Snapshot, name string) ([2]int, bool) { return values[name], false })
		before := d
		d = DigestOf(s, d, of, func(v [2]int) int { return v[0] })
		if d.Changed != step.changed || d.SameAs(before) != (before.Changed == step.changed) {
			t.Errorf("%s: changed in %d, want %d", step.what, d.Changed, step.changed)
		}
	}
	if (Digest[int]{}).SameAs(Digest[int]{}) {
		t.Error("nothing is the same as nothing: of Snapshots that no Engine made nothing is kept")
	}
}

// The stamps of nodes are as in one map, however many there are, and those that were handed out stay as they are.
func TestStampsOfNodesAreAsInOneMap(t *testing.T) {
	want := map[string]uint64{}
	var all NodeStamps
	var before []NodeStamps
	var wanted []map[string]uint64
	for revision := uint64(1); revision < 60; revision++ {
		names := []string{fmt.Sprint("n", revision*7%40), fmt.Sprint("m", revision), fmt.Sprint("h", revision*revision), "always"}
		for _, name := range names {
			want[name] = revision
		}
		all = all.With(slices.Values(names), revision)
		before, wanted = append(before, all), append(wanted, maps.Clone(want))
	}
	for i, stamps := range before {
		if got := maps.Collect(stamps.All()); !maps.Equal(got, wanted[i]) {
			t.Fatalf("after %d Snapshots: %v, want %v", i+1, got, wanted[i])
		}
		for name, at := range wanted[i] {
			if stamps.At(name) != at {
				t.Fatalf("after %d Snapshots %s has %d, want %d", i+1, name, stamps.At(name), at)
			}
		}
	}
	if all.At("nobody") != 0 {
		t.Error("what has no stamp has one")
	}
}
