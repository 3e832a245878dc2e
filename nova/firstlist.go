package nova

import (
	"time"

	"lockstep/core"
)

// gatherFor is how long the pages of the first list of instances are gathered. Each page has instances of a thousand hosts: what is told
// of it makes all these nodes look again.
const gatherFor = time.Second

// gather keeps what a page of the first list has shown until its time has come. The first page is told at once.
func (l *instancePoll) gather(upserts []core.Object) {
	for _, one := range upserts {
		l.gathered = append(l.gathered, one.Key())
	}
	if wallClock().Sub(l.told) >= gatherFor {
		l.tellGathered()
	}
}

// tellGathered tells what is known by now of the gathered instances: a newer answer may have come meanwhile.
func (l *instancePoll) tellGathered() {
	var upserts []core.Object
	for _, id := range l.gathered {
		if one := l.known.At(id); one.Instance != nil {
			upserts = append(upserts, one.Instance)
		}
	}
	l.gathered, l.told = l.gathered[:0], wallClock()
	if len(upserts) > 0 {
		l.tell(core.Delta{Upserts: upserts}, l.asOf)
	}
}
