package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lockstep/core"
)

// runName is the name of the file that a run keeps locked while it lives.
func runName(path, run string) string { return path + ".run-" + run }

// beAlive locks this run's own file, and removes those of dead runs. The caller has the journal's lock.
func (j *Journal) beAlive() error {
	if j.noLocks != nil {
		return nil
	}
	all, _ := filepath.Glob(escapeGlob(runName(j.path, "")) + "*") // the pattern is valid
	for _, name := range all {
		if _, lives := holderOf(name); !lives {
			_ = os.Remove(name) // a file that stays does no harm: nobody holds its lock
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

// escapeGlob returns a pattern that matches exactly the text.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// plain is a text in one line, without characters that control a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if core.Invisible(r) {
			return ' '
		}
		return r
	}, s)
}

// RunLives tells whether another run on the journal at path lives, and who it is. A run is dead when nobody holds the lock on its file,
// or when it has removed the file.
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
	raw, _ := io.ReadAll(io.LimitReader(f, 200)) // only for people to read
	return strings.TrimSpace(plain(string(raw))), true
}
