package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// runName is the file whose lock a run holds for as long as it lives.
func runName(path, run string) string { return path + ".run-" + run }

// beAlive takes this run's own lock, and tidies up after runs that are dead. The caller has the journal's lock.
func (j *Journal) beAlive() error {
	if j.noLocks != nil {
		return nil
	}
	all, _ := filepath.Glob(escapeGlob(runName(j.path, "")) + "*") // the pattern is good
	for _, name := range all {
		if _, lives := holderOf(name); !lives {
			_ = os.Remove(name) // one that stays says the same: nobody holds its lock
		}
	}
	f, err := os.OpenFile(runName(j.path, j.opts.Run), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if err := tryLock(f, false); err != nil {
		f.Close()
		return fmt.Errorf("open the journal: %w", err)
	}
	j.alive = f
	_, _ = f.WriteString(plain(j.opts.Who) + "\n") // for people
	return nil
}

// escapeGlob is a pattern that matches exactly the text.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// plain is a text in one line, without what a terminal would obey.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if hides(r) {
			return ' '
		}
		return r
	}, s)
}

// RunLives tells whether another run on the journal at path lives, and who it is. A run is dead when the kernel has taken its lock
// back, or when it has put its file away.
func RunLives(path, run string) (who string, lives bool) {
	if run == "" {
		return "", false
	}
	return holderOf(runName(path, run))
}

func holderOf(name string) (who string, lives bool) {
	f, err := os.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if err := tryLock(f, true); !errors.Is(err, errLocked) {
		return "", false // closing it gives the lock back
	}
	raw, _ := io.ReadAll(io.LimitReader(f, 200)) // who it is, is for people
	return strings.TrimSpace(plain(string(raw))), true
}
