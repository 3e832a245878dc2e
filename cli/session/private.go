package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// othersMay are the rights of everybody but the owner.
const othersMay = 0o077

// keepPrivate closes Lockstep's own folders and files, if they exist, to everybody but their owner, and returns what others could
// read until now: journals and logs hold the servers' words.
func (s *Session) keepPrivate(names ...string) {
	for _, name := range names {
		if told := closeToOthers(name); told != "" {
			s.notice(told)
		}
	}
}

// closeToOthers removes the rights of others, and says what it found; empty where there is no file or nothing to report.
func closeToOthers(name string) string {
	f, err := os.Open(name) // the rights of the open file, even if the name is another file's meanwhile
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "" // whoever needs the file reports that it cannot be opened
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
