package nova

import (
	"slices"
	"sync"

	"lockstep/core"
)

// reading is one list that is read beside others; read answers how many it found.
type reading struct {
	what string
	read func() (int, error)
}

// readAll reads the lists side by side, a few at a time, and answers what could not be read, in their order. Verb begins what an
// error says was being done: "list ". Progress is told of each list that was read, from several goroutines.
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
