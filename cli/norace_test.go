//go:build !race

package cli

// sideBySide is how many tests run at once: they wait for simulated clouds more than they compute, so that it is more than there
// are processors; -parallel asks for another number. The simulated clocks run slower times slower than a story says.
const (
	sideBySide = "4"
	slower     = 1
)
