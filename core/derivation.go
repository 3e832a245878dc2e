package core

import (
	"sync"
)

// Derivation names something that is derived from a Snapshot. It is computed once for each Snapshot, by the first who asks, and kept
// with it. This is the one place where a derived value can become incremental.
//
// A Derivation is a variable of a package, found by its address. It holds nothing itself.
type Derivation[T any] struct{ _ byte }

// Of is what derive makes of the Snapshot. It is safe for concurrent use. derive must not ask for the same Derivation.
func (d *Derivation[T]) Of(s *Snapshot, derive func(*Snapshot) T) T {
	kept, ok := s.derived.Load(d)
	if !ok {
		kept, _ = s.derived.LoadOrStore(d, new(derived[T]))
	}
	k := kept.(*derived[T])
	k.once.Do(func() { k.value = derive(s) })
	return k.value
}

// derived is the result of one Derivation of one Snapshot.
type derived[T any] struct {
	once  sync.Once
	value T
}
