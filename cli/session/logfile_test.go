package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func smallLog(t *testing.T, path string) *logFile {
	t.Helper()
	l := &logFile{path: path, limit: 4 << 10}
	if err := l.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A log that is written to for days does not grow forever, even when two runs write to it; the newest lines are always there.
func TestLogIsPutAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lockstep.log")
	var writing sync.WaitGroup
	for _, who := range []string{"anna", "bert"} {
		l := smallLog(t, path)
		writing.Go(func() {
			for i := range 300 {
				if _, err := fmt.Fprintf(l, "%s %d %s\n", who, i, strings.Repeat("x", 100)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	old, err := os.ReadFile(path + ".old")
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(now) > 5<<10 || len(old) > 5<<10 || len(old) < 3<<10 {
		t.Errorf("the log has %d bytes, the one before it %d", len(now), len(old))
	}
	lines := strings.Split(strings.TrimSpace(string(old)+string(now)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, " 299 ") {
		t.Errorf("the last line is %s", last)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// The trace of a crash goes to the file in which the log continues.
func TestWhoFollowsALogIsToldWhereItGoesOn(t *testing.T) {
	l := smallLog(t, filepath.Join(t.TempDir(), "lockstep.log"))
	var files []string
	stop := l.follow(func(f *os.File) { files = append(files, f.Name()) })
	for range 100 {
		fmt.Fprintln(l, strings.Repeat("x", 100))
	}
	if len(files) < 3 {
		t.Errorf("told of %d files", len(files))
	}
	stop()
	n := len(files)
	for range 100 {
		fmt.Fprintln(l, strings.Repeat("x", 100))
	}
	if len(files) != n {
		t.Error("told after the end")
	}
}

// A log that is not a regular file is only written to.
func TestLogThatIsNoFile(t *testing.T) {
	l := smallLog(t, os.DevNull)
	for range 100 {
		if _, err := fmt.Fprintln(l, strings.Repeat("x", 100)); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of ours that others can read gets stricter permissions, and this is reported; a file that has them already is not
// mentioned.
func TestWhatOthersCanReadIsClosed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(folder, "lockstep.log")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{folder: 0o755, file: 0o664} {
		if err := os.Chmod(name, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
	}
	log, err := NewLog(file)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if !strings.Contains(log.opened, "was open to others (mode 0664); now it is yours alone") {
		t.Errorf("told: %q", log.opened)
	}
	s := &Session{Log: log}
	s.keepPrivate(folder, file, filepath.Join(folder, "none"))
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], folder+" was open to others (mode 0755)") {
		t.Errorf("told: %q", s.Notices)
	}
	for name, want := range map[string]os.FileMode{folder: 0o700, file: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Count(string(raw), "was open to others") != 2 {
		t.Errorf("the log says %s (%v)", raw, err)
	}
	for _, name := range []string{folder, file} {
		if told := closeToOthers(name); told != "" {
			t.Errorf("told again: %s", told)
		}
	}
}

// A line of the log gives no secret away.
func TestALogLineIsDiscreet(t *testing.T) {
	var log bytes.Buffer
	_, err := discreet{&log}.Write([]byte("level=INFO msg=\"password=hunter2\"\n"))
	if err != nil || strings.Contains(log.String(), "hunter2") {
		t.Errorf("%v, %s", err, &log)
	}
}
