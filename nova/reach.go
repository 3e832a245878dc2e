package nova

import "time"

const (
	// changesOverlap is how far a poll of the changes reaches back before the newest one that is known: Nova's hosts stamp their own
	// changes, and their clocks differ.
	changesOverlap = 5 * time.Minute

	// changesBetween is how far those polls reach back that come more often than changesEvery, as something moves. Nova answers with all
	// that has changed since, deleted instances too: minutes of a busy cloud's changes every few seconds would cost it more than all the
	// rest. What a slow clock has hidden from them is seen by the next one that reaches back as far as changesOverlap.
	changesBetween = 30 * time.Second
)

// reach is how far polls of the changes reach back. The zero value has not reached back yet.
type reach struct {
	far time.Time // when one last reached as far back as changesOverlap
}

// next is how far the next poll reaches back: far once in every.
func (r *reach) next(every time.Duration) time.Duration {
	if now := wallClock(); now.Sub(r.far) >= every {
		r.far = now
		return changesOverlap
	}
	return changesBetween
}
