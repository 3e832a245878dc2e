package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// redirectStderr redirects standard error to the log, and returns how to undo that. Exec credential plugins write there, in the
// middle of the screen.
func redirectStderr(l *logFile) (restore func(), err error) {
	kept, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	stop := l.follow(func(f *os.File) {
		if e := unix.Dup3(int(f.Fd()), 2, 0); e != nil {
			err = e
		}
	})
	if err != nil {
		stop()
		unix.Close(kept)
		return nil, err
	}
	return func() {
		stop()
		unix.Dup3(kept, 2, 0) // a descriptor that was open can be put back
		unix.Close(kept)
	}, nil
}
