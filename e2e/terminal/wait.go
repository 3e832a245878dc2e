package terminal

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Patience is how long Want waits for the screen unless Options say otherwise. It ends what hangs, and does not judge how busy the
// machine is: only a failing test waits that long.
const Patience = 5 * time.Minute

// Condition is a condition that a screen can meet.
type Condition struct {
	text string // for messages
	met  func(Screen) bool
}

// String returns the condition in words.
func (c Condition) String() string { return c.text }

// Met reports whether the screen meets the condition.
func (c Condition) Met(s Screen) bool { return c.met(s) }

// Shows holds when a row contains the text.
func Shows(text string) Condition {
	return Condition{fmt.Sprintf("the text %q", text), func(s Screen) bool { return s.Contains(text) }}
}

// Hides holds when no row contains the text.
func Hides(text string) Condition {
	return Condition{fmt.Sprintf("no text %q", text), func(s Screen) bool { return !s.Contains(text) }}
}

// Matches holds when the screen's text, rows joined by newlines, matches.
func Matches(pattern *regexp.Regexp) Condition {
	return Condition{fmt.Sprintf("a match of %s", pattern), func(s Screen) bool { return pattern.MatchString(s.String()) }}
}

// That holds when the function says so; what is its description in words.
func That(what string, met func(Screen) bool) Condition { return Condition{what, met} }

// All holds when one screen meets all of the conditions.
func All(conditions ...Condition) Condition {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = c.text
	}
	return Condition{strings.Join(texts, " and "), func(s Screen) bool {
		for _, c := range conditions {
			if !c.met(s) {
				return false
			}
		}
		return true
	}}
}

// WaitFor waits until the screen meets the condition and returns that screen. It gives up when the context or the program ends;
// the error then holds the last screen.
func (t *Terminal) WaitFor(ctx context.Context, condition Condition) (Screen, error) {
	for {
		t.mu.Lock()
		screen, changed := t.shown(), t.changed
		t.mu.Unlock()
		if condition.met(screen) {
			return screen, nil
		}
		select {
		case <-changed:
			continue
		default:
		}
		select {
		case <-changed:
		case <-t.ended:
			// The last output may have come between the look and now.
			if screen = t.Screen(); condition.met(screen) {
				return screen, nil
			}
			return screen, t.failure(condition, screen, errors.New("the program has ended"))
		case <-ctx.Done():
			return screen, t.failure(condition, screen, ctx.Err())
		}
	}
}

func (t *Terminal) failure(condition Condition, screen Screen, cause error) error {
	frame := strings.Repeat("─", screen.Columns)
	return fmt.Errorf("wait for %s: %w; the last screen (%d by %d):\n%s\n%s\n%s",
		condition, cause, screen.Columns, screen.Rows, frame, strings.TrimRight(screen.String(), "\n"), frame)
}

// TB is the part of testing.TB that Want needs.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Want waits until the screen meets the condition, and fails the test with the last screen when its patience ends.
func (t *Terminal) Want(tb TB, condition Condition) Screen {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	screen, err := t.WaitFor(ctx, condition)
	if err != nil {
		tb.Fatal(err)
	}
	return screen
}
