//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// withoutSIGPIPE is out, to which a write is an error once nobody reads it. To standard output itself such a write ends a Go program at
// once, by a signal: what it records would be cut off. A copy of the descriptor is written to, as an ignored signal would be inherited by
// the commands that are run.
func withoutSIGPIPE(out io.Writer) (_ io.Writer, release func()) {
	f, ok := out.(*os.File)
	if !ok {
		return out, func() {}
	}
	own, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3) // the special ones are 1 and 2
	if err != nil {
		return out, func() {}
	}
	dup := os.NewFile(uintptr(own), f.Name())
	return dup, func() { dup.Close() }
}
