//go:build race

package nova

// slowSeeds is how many histories with slow servers a run goes through. The race detector makes each of them cost ten times as much, and
// sees as much of a race in the first ones.
const slowSeeds = 2
