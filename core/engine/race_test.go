//go:build race

package engine

import "flag"

// Each random sequence costs seven times as much with the race detector, and the first ones show as much of a race: .ci/run plays the usual
// hundred without it.
func init() {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
