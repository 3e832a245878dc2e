package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"lockstep/core"
	"lockstep/kube"
)

// operatorName is "user@host" of who runs Lockstep, for the lease and the journal.
func operatorName() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	short, _, _ := strings.Cut(host, ".")
	return name + "@" + short
}

// stateFolder is where Lockstep keeps its journals and its log.
func stateFolder() string { return filepath.Join(xdg.StateHome, "lockstep") }

// journalPath is the journal of one cluster. The API server's address is part of it: two clusters may be called alike.
func journalPath(folder, cluster, server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(folder, "journal", fileName(cluster)+"-"+hex.EncodeToString(sum[:4])+".jsonl")
}

// fileName keeps what is safe in a file's name.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".")
	if len(s) > 80 {
		s = s[:80]
	}
	if s == "" {
		s = "cluster"
	}
	return s
}

// maxLog is the size past which the last run's log makes room for a new one, in bytes.
const maxLog = 8 << 20

// log is Lockstep's own log. Its file is nil when there is none.
type log struct {
	*slog.Logger
	file *os.File
}

func (l *log) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// openLog is Lockstep's own log in this place.
func (p *place) openLog() (*log, error) {
	if p.log != nil {
		return p.log, nil
	}
	return openLog(p.logFile)
}

// openLog opens Lockstep's own log. It is a file even by default: nothing may write to the terminal under the screen. What
// client-go writes goes there too. That is set for the whole process, and nothing of client-go's may run yet.
func openLog(path string) (*log, error) {
	l, err := openLogFile(path)
	if err == nil {
		kube.RedirectLogs(l.Logger)
	}
	return l, err
}

func openLogFile(path string) (*log, error) {
	named := path != ""
	if !named {
		path = filepath.Join(stateFolder(), "lockstep.log")
	}
	nothing := &log{Logger: slog.New(slog.DiscardHandler)}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		if named {
			return nil, fmt.Errorf("make the log's folder: %w", err)
		}
		return nothing, nil // without a home folder there is no log, and no reason not to work
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog && !named {
		os.Rename(path, path+".old") // a log that cannot be moved only grows
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		if named {
			return nil, fmt.Errorf("open the log: %w", err)
		}
		return nothing, nil
	}
	return &log{slog.New(slog.NewTextHandler(discreet{f}, nil)), f}, nil
}

// discreet writes what URLs give away nowhere. A log line is one write.
type discreet struct{ w io.Writer }

// Write implements io.Writer.
func (d discreet) Write(line []byte) (int, error) {
	if !bytes.Contains(line, []byte("://")) {
		return d.w.Write(line)
	}
	if _, err := io.WriteString(d.w, core.Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
