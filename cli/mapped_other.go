//go:build !linux

package cli

// unmapProgram does nothing here: how much of the program stays in memory is the system's business.
func unmapProgram() {}
