package bubble

import (
	"testing"

	"lockstep/sim/bubble/lane"
)

// Story is Run for a story: a test whose worth is what happens in a cloud, and whose goroutines are those of other tests as well. It
// is not played with the race detector, which would take ten times as long and see nothing new: the lane of the stories in .ci/run
// plays it without.
func Story(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	lane.OnlyAStory(t)
	Alone(t, f)
}
