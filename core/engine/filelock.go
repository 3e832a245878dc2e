package engine

import (
	"errors"
	"os"
)

// errLocked is what tryLock answers when another has the lock.
var errLocked = errors.New("another run has the lock")

// MoveLocked moves the open file to another name, unless another process is about to do so: then it answers false.
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
		return true // it was moved between
	}
	return os.Rename(name, to) == nil
}
