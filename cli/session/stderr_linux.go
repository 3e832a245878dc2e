package session

import (
	"bufio"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"lockstep/core"
	"lockstep/core/wording"
)

// maxStderrLine is how much of one line of standard error is kept, in bytes.
const maxStderrLine = 64 << 10

// stderrAhead is how much can be written before it is read, in bytes, where the system allows it; what does not fit is lost.
const stderrAhead = 1 << 20

// stderrWithin is how long the end waits for what was written last. A plugin may keep standard error open for longer.
const stderrWithin = 100 * time.Millisecond

// RedirectStderr redirects standard error to the log, and returns how to undo that. Exec credential plugins write there, in the
// middle of the screen. What they write passes the log as any line does, so that no secret of theirs is kept. The trace of a crash is
// written into the log's file by the runtime itself: nobody reads a pipe then.
func (l *Log) RedirectStderr() (restore func(), err error) {
	if l.file == nil {
		return func() {}, nil
	}
	kept, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	var ends [2]int
	// A crash must not wait for a pipe that is full, so nobody does.
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		unix.Close(kept)
		return nil, err
	}
	stop := l.file.follow(func(f *os.File) {
		if e := debug.SetCrashOutput(f, debug.CrashOptions{}); e != nil {
			err = e
		}
	})
	if err == nil {
		err = unix.Dup3(ends[1], 2, 0)
	}
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, stderrAhead)
	unix.Close(ends[1])
	from := os.NewFile(uintptr(ends[0]), "standard error")
	undo := func() {
		stop()
		unix.Dup3(kept, 2, 0) // a descriptor that was open can be put back
		unix.Close(kept)
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	}
	if err != nil {
		undo()
		from.Close()
		return nil, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer from.Close()
		logLines(l, from)
	}()
	return func() {
		undo()
		select {
		case <-read:
		case <-time.After(stderrWithin):
		}
	}, nil
}

// logLines logs what is written to standard error, line by line, until nobody can write there any more.
func logLines(l *Log, from io.Reader) {
	lines := bufio.NewReaderSize(from, maxStderrLine)
	for rest := false; ; {
		line, err := lines.ReadSlice('\n')
		if text := core.Printable(string(line), wording.MostRead); !rest && text != "" {
			l.Warn("standard error", "line", text)
		}
		rest = errors.Is(err, bufio.ErrBufferFull) // the rest of a secret says nothing of being one
		if err != nil && !rest {
			return
		}
	}
}
