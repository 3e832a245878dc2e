package core

import (
	"sync"
)

// Derivation names something that is derived from a Snapshot: it is made once for each Snapshot, by who asks first, and kept with it. It
// is the one place that knows what was derived, so that it can become incremental there.
//
// A Derivation is a variable of a package, found by its address. It holds nothing itself.
type Derivation[T any] struct{ _ byte }

// Of is what derive makes of the Snapshot. It may be asked from many goroutines; derive must not ask for the same Derivation.
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
