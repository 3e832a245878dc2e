package core

import (
	"maps"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// A table is as a map to which the same was done, and tables made before stay as they were.
func TestTablesByNameAreAsMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Map(rapid.IntRange(0, 3*fewNames), strconv.Itoa)
		all := rapid.MapOfN(name, rapid.Int(), 0, 2*fewNames).Draw(t, "at first")
		made, as := []ByName[int]{NamesIn(maps.Clone(all))}, []map[string]int{all}
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			put := rapid.MapOfN(name, rapid.Int(), 0, fewNames/2).Draw(t, "put")
			gone := rapid.SliceOfN(name, 0, 5).Draw(t, "gone")
			last := len(made) - 1
			want := maps.Clone(as[last])
			maps.Copy(want, put)
			for _, name := range gone {
				delete(want, name)
			}
			made, as = append(made, made[last].With(put, gone...)), append(as, want)
		}
		for i, table := range made {
			if got := maps.Collect(table.All()); !reflect.DeepEqual(got, as[i]) && len(got)+len(as[i]) > 0 || table.Len() != len(as[i]) {
				t.Fatalf("after %d changes there are %d, %v, want %v", i, table.Len(), got, as[i])
			}
			for n := range 3 * fewNames {
				value, there := table.Get(strconv.Itoa(n))
				if want, wanted := as[i][strconv.Itoa(n)]; value != want || there != wanted || table.At(strconv.Itoa(n)) != want {
					t.Fatalf("after %d changes %d is %d (%t), want %d (%t)", i, n, value, there, want, wanted)
				}
			}
			if !table.Equal(NamesIn(as[i])) || table.Equal(table.Put("another", 1)) || table.Equal(NamesIn(as[i]).Put("another", 1)) {
				t.Fatalf("after %d changes the table is not equal to itself, or to another", i)
			}
		}
	})
}
