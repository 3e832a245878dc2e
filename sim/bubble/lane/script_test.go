package lane_test

import (
	"testing"

	"lockstep/sim/bubble/lane"
)

// The script plays the stories of this package, too.
func TestTheScriptPlaysThem(t *testing.T) {
	lane.Single(t)
	lane.Fewer(t)
}
