//go:build !linux

package session

// RedirectStderr does nothing here: jump hosts run Linux, and elsewhere a plugin's output on the screen is acceptable.
func (*Log) RedirectStderr() (restore func(), err error) { return func() {}, nil }
