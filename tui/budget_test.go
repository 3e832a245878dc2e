package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"go.uber.org/goleak"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// terminal counts what is written to it, and lets a test wait until a frame has arrived.
type terminal struct {
	mu    sync.Mutex
	bytes int
	text  bytes.Buffer
	news  chan struct{}
}

func newTerminal() *terminal { return &terminal{news: make(chan struct{}, 1)} }

func (c *terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.bytes += len(p)
	c.text.Write(p)
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

// take returns what was written since the last call.
func (c *terminal) take() (int, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, s := c.bytes, c.text.String()
	c.bytes = 0
	c.text.Reset()
	return n, s
}

// until waits until the written bytes contain the text.
func (c *terminal) until(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		found := strings.Contains(c.text.String(), want)
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-c.news:
		case <-deadline:
			_, s := c.take()
			t.Fatalf("%q never came; what came was %q", want, s)
		}
	}
}

// program is the screen in a real program, with its keyboard and its terminal.
type program struct {
	fake *fakeBackend
	term *terminal
	keys io.Writer
	stop func() error
}

func start(t *testing.T, s *core.Snapshot, w, h int) *program {
	t.Helper()
	p := &program{fake: newFake(s), term: newTerminal()}
	in, keys := io.Pipe()
	p.keys = keys
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		opts := Options{Backend: p.fake, Now: func() time.Time { return fixtureWall }}
		done <- run(ctx, opts, in, p.term, tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.ANSI256),
			tea.WithEnvironment([]string{"TERM=xterm-256color", "SSH_TTY=/dev/pts/0"}))
	}()
	var once sync.Once
	var err error
	p.stop = func() error {
		once.Do(func() {
			cancel()
			_ = keys.Close()
			err = <-done
		})
		return err
	}
	t.Cleanup(func() { _ = p.stop() })
	return p
}

// settle waits until nothing more has come for a few frames, at 15 a second, and returns what came.
func (p *program) settle() (int, string) {
	for {
		select {
		case <-p.term.news:
		case <-time.After(300 * time.Millisecond):
			return p.term.take()
		}
	}
}

// The budgets of engineering-notes 6.3, in bytes, at the three sizes.
var budgets = map[string][3]int{
	// With the timeline, which stands beside the nodes from 180 columns on.
	"first paint": {4000, 7000, 12500}, "cursor moves": {400, 400, 400}, "one row changes": {300, 300, 300},
	"all ages tick": {600, 900, 1300}, "dialog opens": {1500, 1500, 1500}, "idle": {0, 0, 0},
	// The instances and locks of another node, shown beside the nodes: a page of changes.
	"details follow": {0, 1500, 1500},
	// A confirmation is some twenty lines of text that have to be read.
	"confirmation opens": {2400, 3200, 3200},
}

func TestBytesToTheTerminalStayWithinTheBudgets(t *testing.T) {
	for i, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				s := world()
				s.Operations = nil
				p := start(t, s, size.w, size.h)
				p.term.until(t, "cmp-07")
				within := func(what string) {
					t.Helper()
					n, text := p.settle()
					t.Logf("%s: %d bytes", what, n)
					if n > budgets[what][i] {
						t.Errorf("%s took %d bytes, the budget is %d: %q", what, n, budgets[what][i], text)
					}
				}
				within("first paint")

				_, _ = io.WriteString(p.keys, "j")
				p.term.until(t, "▌")
				n, text := p.term.take() // the frame of the move itself; the node's details follow when the cursor rests
				if t.Logf("cursor moves: %d bytes", n); n > budgets["cursor moves"][i] {
					t.Errorf("the cursor's move took %d bytes: %q", n, text)
				}
				if i > 0 {
					p.term.until(t, "No instance is left")
				}
				within("details follow")
				_, _ = io.WriteString(p.keys, "k")
				p.term.until(t, "▌")
				if i > 0 {
					p.term.until(t, "batch-17")
				}
				_, _ = p.settle()

				again := func(revision uint64, change func(*core.Snapshot)) {
					s := world()
					s.Operations, s.Revision = nil, revision
					change(s)
					p.fake.publish(s)
				}
				again(8, func(s *core.Snapshot) { s.Nodes["kaas-node-cmp12"].Annotations[core.AnnotationMigrationMode] = "skip" })
				p.term.until(t, "skip")
				within("one row changes")
				again(9, func(s *core.Snapshot) {
					s.Nodes["kaas-node-cmp12"].Annotations[core.AnnotationMigrationMode] = "skip"
					s.Now, s.Wall = s.Now.Add(time.Minute), s.Wall.Add(time.Minute)
					for id, src := range s.Sources {
						src.AsOf = src.AsOf.Add(time.Minute)
						s.Sources[id] = src
					}
				})
				p.term.until(t, "3")
				within("all ages tick")
				for revision := uint64(10); revision < 14; revision++ {
					again(revision, func(s *core.Snapshot) {
						s.Nodes["kaas-node-cmp12"].Annotations[core.AnnotationMigrationMode] = "skip"
						s.Now, s.Wall = s.Now.Add(time.Minute), s.Wall.Add(time.Minute)
						for id, src := range s.Sources {
							src.AsOf = src.AsOf.Add(time.Minute)
							s.Sources[id] = src
						}
					})
				}
				within("idle")
				_, _ = io.WriteString(p.keys, "w")
				p.term.until(t, "Cancel")
				within("dialog opens")
				_, _ = io.WriteString(p.keys, "\r")
				_, _ = p.settle()
				_, _ = io.WriteString(p.keys, "m")
				p.term.until(t, "Cancel")
				within("confirmation opens")
				if err := p.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The program ends when its context does, restores the terminal, and leaves nothing running.
func TestTheTerminalIsPutBackOnEveryWayOut(t *testing.T) {
	for _, way := range []string{"context", "key"} {
		t.Run(way, func(t *testing.T) {
			bubble.Alone(t, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				s := world()
				s.Operations = nil
				p := start(t, s, 80, 24)
				p.term.until(t, "cmp-07")
				if way == "key" {
					_, _ = io.WriteString(p.keys, "q")
					p.term.until(t, "\x1b[?1049l")
				}
				if err := p.stop(); err != nil {
					t.Errorf("leaving is an error: %v", err)
				}
				_, text := p.term.take()
				for what, sequence := range map[string]string{"the alternate screen": "\x1b[?1049l", "the cursor": "\x1b[?25h",
					"focus reports": "\x1b[?1004l", "bracketed paste": "\x1b[?2004l", "keyboard enhancements": "\x1b[<1u"} {
					if !strings.Contains(text, sequence) {
						t.Errorf("%s is not put back", what)
					}
				}
			})
		})
	}
}

// A cluster that sends updates all the time must not make a key wait.
func TestAChattyClusterDoesNotBlockTheKeyboard(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := world()
		p := start(t, s, 120, 40)
		p.term.until(t, "cmp-07")
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for revision := uint64(10); ; revision++ {
				select {
				case <-stop:
					return
				case p.fake.in <- &core.Snapshot{Facts: core.Facts{Revision: revision, Now: s.Now, Wall: s.Wall, Nodes: s.Nodes,
					Sources: s.Sources}}:
				}
			}
		})
		pressed := time.Now()
		_, _ = io.WriteString(p.keys, "?")
		p.term.until(t, "Keys")
		if took := time.Since(pressed); took > 150*time.Millisecond {
			t.Errorf("the key was answered after %v", took)
		}
		close(stop)
		wg.Wait()
	})
}
