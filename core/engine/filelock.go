package engine

import (
	"errors"
	"os"
)

// errLocked is tryLock's error when another process has the lock.
var errLocked = errors.New("another run has the lock")

// MoveLocked renames the open file. It returns false when another process is about to do so, or when the rename fails.
func MoveLocked(f *os.File, name, to string) bool {
	if err := tryLock(f, false); errors.Is(err, errLocked) {
		return false
	} else if err == nil {
		defer unlock(f)
	}
	here, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(name)
	if err != nil || !os.SameFile(here, now) {
		return true // another process has moved it
	}
	return os.Rename(name, to) == nil
}
