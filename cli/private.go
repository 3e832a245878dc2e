package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// othersMay are the rights of others than the owner.
const othersMay = 0o077

// keepPrivate closes Lockstep's own folders and files, as far as they are there, to everybody but their owner, and tells what others
// could read until now: records and logs hold what the servers say.
func (s *session) keepPrivate(names ...string) {
	for _, name := range names {
		if told := closeToOthers(name); told != "" {
			s.notice(told)
		}
	}
}

// closeToOthers takes the rights of others away, and tells what it found; empty where there is nothing, or nothing to tell.
func closeToOthers(name string) string {
	f, err := os.Open(name) // the rights are those of what is open, whatever the name stands for meanwhile
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "" // what cannot be opened is told by who needs it
	}
	defer f.Close()
	return closeFile(f)
}

func closeFile(f *os.File) string {
	info, err := f.Stat()
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() || info.Mode().Perm()&othersMay == 0 {
		return ""
	}
	was := fmt.Sprintf("%s was open to others (mode %04o)", f.Name(), info.Mode().Perm())
	if !isOurs(info) {
		return was + ", and is not yours to close: its owner can"
	}
	if err := f.Chmod(info.Mode().Perm() &^ othersMay); err != nil {
		return was + ", and cannot be closed: " + err.Error()
	}
	return was + "; now it is yours alone"
}
