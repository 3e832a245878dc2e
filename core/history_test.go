package core

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Whatever records of locks come, and in whatever portions: each lock has the newest of its own, and no History that was handed out
// changes.
func TestEachLockHasItsNewestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			h    History
			want map[string]*LockRecord
		}
		all := []version{{want: map[string]*LockRecord{}}}
		for i := range rapid.IntRange(1, 12).Draw(t, "portions") {
			last := all[len(all)-1]
			set, want := map[string]*LockRecord{}, maps.Clone(last.want)
			start := rapid.IntRange(0, 999).Draw(t, "start")
			for n := range rapid.SampledFrom([]int{0, 1, 7, mostLately, 3 * mostLately}).Draw(t, "locks") {
				uid := fmt.Sprintf("lock-%d", (start+n*7)%1000)
				set[uid] = &LockRecord{Release: fmt.Sprint(i, " ", n)}
				want[uid] = set[uid]
			}
			h := last.h.WithLocks(set)
			if len(h.LocksLately) > mostLately {
				t.Fatalf("%d records are apart from %d", len(h.LocksLately), len(h.Locks))
			}
			if same := reflect.ValueOf(h.Locks).Pointer() == reflect.ValueOf(last.h.Locks).Pointer(); len(h.LocksLately) > 0 && !same {
				t.Fatal("the table of all is another one, though a few are apart from it")
			}
			if whole := h.WithLocksInOneTable(); !maps.Equal(whole.Locks, want) || whole.LocksLately != nil {
				t.Fatal("not all records are in the one table")
			}
			all = append(all, version{h, want})
		}
		for i, v := range all {
			for n := range 1000 {
				uid := fmt.Sprintf("lock-%d", n)
				want, has := v.want[uid]
				if got := v.h.Lock(uid); v.h.HasLock(uid) != has || has && got != *want {
					t.Fatalf("after %d portions %s is %+v, want %+v", i, uid, got, want)
				}
			}
		}
	})
}
