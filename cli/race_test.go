//go:build race

package cli

// Under the race detector everything but the simulated clock is several times slower.
const (
	sideBySide = "2"
	slower     = 3
)
