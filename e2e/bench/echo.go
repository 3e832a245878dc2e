package main

import (
	"context"
	"fmt"
	"time"

	"lockstep/e2e/terminal"
)

// echo is cat in a terminal of its own, which shows what is typed and does nothing else: how long that takes is what the machine and the
// harness have in each time from a key to its frame.
type echo struct{ term *terminal.Terminal }

// startEcho starts it. The caller calls Close.
func startEcho(ctx context.Context, dir string) (*echo, error) {
	term, err := terminal.Start(terminal.Options{Columns: columns, Rows: rows, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}},
		"/bin/sh", "-c", "stty raw -echo; echo ready; exec cat")
	if err != nil {
		return nil, fmt.Errorf("start the echo: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, shownPatience)
	defer cancel()
	if _, err := term.WaitFor(patient, terminal.Shows("ready")); err != nil {
		term.Close()
		return nil, fmt.Errorf("start the echo: %w", err)
	}
	return &echo{term}, nil
}

// key types a key and returns how long it took to be shown.
func (e *echo) key(ctx context.Context) (time.Duration, error) {
	patient, cancel := context.WithTimeout(ctx, shownPatience)
	defer cancel()
	before := e.term.Screen().Written
	sent := time.Now()
	e.term.Type("x")
	shown, err := e.term.WaitFor(patient, terminal.That("the echo", func(t terminal.Screen) bool { return t.Written > before }))
	return shown.At.Sub(sent), err
}
