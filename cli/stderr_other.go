//go:build !linux

package cli

// redirectStderr does nothing here: jump hosts run Linux, and elsewhere a plugin's words on the screen are the lesser evil.
func redirectStderr(*logFile) (restore func(), err error) { return func() {}, nil }
