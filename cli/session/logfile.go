package session

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"lockstep/core/engine"
	"lockstep/kube"
)

// maxLog is the size in bytes above which a new log file is begun.
const maxLog = 8 << 20

// Log is Lockstep's own log.
type Log struct {
	*slog.Logger
	file   *logFile
	opened string // a finding at opening, for the operator; mostly empty
}

// Path is the log's file; empty when there is none.
func (l *Log) Path() string {
	if l.file == nil {
		return ""
	}
	return l.file.path
}

// Close closes the file.
func (l *Log) Close() {
	if l.file != nil {
		l.file.Close()
	}
}

// OpenLog opens Lockstep's own log. It is a file even by default, since nothing may write to the terminal under the screen.
// client-go writes there, too; that is set for the whole process, so nothing of client-go may run yet. Without a path it is in the state
// folder; only one that is named must be there.
func OpenLog(path string) (*Log, error) {
	l, err := NewLog(path)
	if err == nil {
		kube.RedirectLogs(l.Logger)
	}
	return l, err
}

// NewLog is OpenLog without client-go's messages.
func NewLog(path string) (*Log, error) {
	named := path != ""
	if !named {
		path = filepath.Join(stateFolder(), "lockstep.log")
	}
	nothing := &Log{Logger: slog.New(slog.DiscardHandler)}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		if named {
			return nil, fmt.Errorf("make the log's folder: %w", err)
		}
		return nothing, nil // without a home folder there is no log, and no reason not to work
	}
	f := &logFile{path: path, limit: maxLog}
	if err := f.open(); err != nil {
		if named {
			return nil, fmt.Errorf("open the log: %w", err)
		}
		return nothing, nil
	}
	l := &Log{Logger: slog.New(slog.NewTextHandler(discreet{f}, nil)), file: f, opened: closeFile(f.file)}
	if l.opened != "" {
		l.Warn(l.opened)
	}
	return l, nil
}

// logFile is a file that is renamed to its name with ".old" when it is large, replacing the previous one. Several runs of
// Lockstep may write to one file: a run that finds it renamed goes on in the new one.
type logFile struct {
	path  string
	limit int64

	mu      sync.Mutex
	file    *os.File
	regular bool
	moved   func(*os.File) // called when it goes on in another file; may be nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	info, err := f.Stat()
	l.file, l.regular = f, err == nil && info.Mode().IsRegular()
	if l.moved != nil {
		l.moved(f)
	}
	return nil
}

// Write implements io.Writer.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.regular {
		l.makeRoom()
	}
	return l.file.Write(b)
}

// makeRoom goes on in a new file when this one is full or was renamed. A log that cannot be renamed just grows.
func (l *logFile) makeRoom() {
	here, err := l.file.Stat()
	if err != nil {
		return
	}
	now, err := os.Stat(l.path)
	switch same := err == nil && os.SameFile(here, now); {
	case same && here.Size() < l.limit:
		return
	case same && !engine.MoveLocked(l.file, l.path, l.path+".old"):
		return // another run is about to
	}
	_ = l.open()
}

// Close implements io.Closer.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// follow calls moved with the current file and with each later one, until stop.
func (l *logFile) follow(moved func(*os.File)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved = moved
	moved(l.file)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.moved = nil
	}
}
