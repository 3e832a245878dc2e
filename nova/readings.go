package nova

import (
	"slices"
	"sync"

	"lockstep/core"
)

// reading is one list that is read beside others; read returns how many it found.
type reading struct {
	what string
	read func() (int, error)
}

// once reads what several readings need, when the first of them needs it. The others wait for it, holding no mutex.
func once[T any](read func() (T, error)) func() (T, error) {
	turn := make(chan struct{}, 1)
	var value T
	var err error
	done := false
	return func() (T, error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		if !done {
			value, err = read()
			done = true
		}
		return value, err
	}
}

// readAll reads the lists side by side, a few at a time, and returns those that could not be read, in their order. Errors name the
// call, which begins with verb ("list "). It reports each list to progress, from several goroutines.
func readAll(lists []reading, verb string, progress func(what string, n int)) []core.MissingFacts {
	missing := make([]core.MissingFacts, len(lists))
	slots := make(chan struct{}, inventoryReads)
	var group sync.WaitGroup
	for i, list := range lists {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			n, err := list.read()
			if err != nil {
				missing[i] = core.MissingFacts{What: list.what, Err: asAPIError(err, verb+list.what)}
				return
			}
			progress(list.what, n)
		})
	}
	group.Wait()
	return slices.DeleteFunc(missing, func(m core.MissingFacts) bool { return m.Err == nil })
}
