//go:build !linux

package session

// unmapProgram does nothing here: how much of the program stays in memory is the system's business.
func unmapProgram() {}
