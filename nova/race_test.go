//go:build race

package nova

// slowSeeds is how many histories with slow servers a run goes through. Under the race detector each costs ten times as much, and
// the first ones show as many races.
const slowSeeds = 2
