// Package permit is the right to make one write. It is internal to core, so that nobody outside can make a Permit.
package permit

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
)

// Permit is the right to make one write: of one change, once, while its operation waits for the answer. An adapter writes nothing
// without one. The zero Permit is empty: it permits nothing. Copies of a Permit are the same Permit.
type Permit struct{ of *write }

// write is what a Permit was made for.
type write struct {
	grant, step string
	change      any
	used, ended atomic.Bool
}

// New makes the Permit for one write: the grant under which it is made, the ID of the step, and the change. Only the gate calls it.
// From the call of end on the Permit permits nothing, whether or not it was used.
func New(grant, step string, change any) (p Permit, end func()) {
	w := &write{grant: grant, step: step, change: change}
	return Permit{w}, func() { w.ended.Store(true) }
}

// What a Permit refuses.
var (
	ErrEmpty = errors.New("there is no permit for it")
	ErrOther = errors.New("the permit is for another change")
	ErrEnded = errors.New("the permit has ended")
	ErrUsed  = errors.New("the permit was used already")
)

// Use takes the Permit for the write of a change. An error wraps ErrEmpty, ErrOther, ErrEnded or ErrUsed: then the change must not be
// written. It is safe for concurrent use: only one caller gets the Permit.
func (p Permit) Use(change any) error {
	switch {
	case p.of == nil:
		return ErrEmpty
	case !reflect.DeepEqual(p.of.change, change):
		return fmt.Errorf("%w: %s", ErrOther, p)
	case p.of.ended.Load():
		return fmt.Errorf("%w: %s", ErrEnded, p)
	case p.of.used.Swap(true):
		return fmt.Errorf("%w: %s", ErrUsed, p)
	}
	return nil
}

// String says under which grant and for which step the Permit was made.
func (p Permit) String() string {
	if p.of == nil {
		return "an empty permit"
	}
	return fmt.Sprintf("the permit of grant %s for the step %s", p.of.grant, p.of.step)
}
