package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lockstep/e2e/terminal"
)

// pace says how long things are looked at.
type pace struct {
	starts int           // one start says little: each figure of it is the median of so many
	settle time.Duration // from the moment when everything is live to the measurement at rest
	idle   time.Duration
	change time.Duration // of change while nobody types
	keys   int
}

var (
	// Ages below a minute and a half are shown in seconds. Nodes in a real maintenance are older, so the measurement at rest waits until
	// those here are. Ages in minutes become others together, once a minute: a shorter measurement sees that or does not.
	fullPace  = pace{starts: 3, settle: 95 * time.Second, idle: time.Minute, change: time.Minute, keys: 300}
	quickPace = pace{starts: 1, settle: 10 * time.Second, idle: 5 * time.Second, change: 20 * time.Second, keys: 250}
)

const (
	columns, rows = 120, 40

	// startPatience is how long a program may take to show everything, and shownPatience a change or a key.
	startPatience = 5 * time.Minute
	shownPatience = 30 * time.Second
)

// session is a program in its terminal.
type session struct {
	program  program
	pace     pace
	fleet    Fleet
	term     *terminal.Terminal
	watch    *watcher
	figures  Figures
	chance   *rand.Rand
	progress io.Writer
}

// begin starts a program in a new terminal and measures its start, as often as the pace says. The caller calls close, also after an
// error.
func (s *session) begin(ctx context.Context, home, path string, openStack bool, env, args []string) error {
	var first, live []float64
	for {
		if err := s.start(ctx, home, path, openStack, env, args); err != nil {
			return err
		}
		first, live = append(first, s.figures[firstRows]), append(live, s.figures[allLive])
		if len(first) >= s.pace.starts {
			break
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	slices.Sort(first)
	slices.Sort(live)
	s.figures[firstRows], s.figures[allLive] = first[len(first)/2], live[len(live)/2]
	return nil
}

// start starts the program once.
func (s *session) start(ctx context.Context, home, path string, openStack bool, env, args []string) error {
	env = append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=" + home,
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}, env...)
	begun := time.Now()
	var err error
	if s.term, err = terminal.Start(terminal.Options{Columns: columns, Rows: rows, Dir: home, Env: env}, path, args...); err != nil {
		return err
	}
	s.watch = watch(ctx, s.term, s.program.read)
	first, err := s.watch.await(ctx, s.watch.expect(func(v view) bool { return len(v.names) > 0 }), "the first rows", startPatience)
	if err != nil {
		return err
	}
	s.figures[firstRows] = first.Sub(begun).Seconds()
	patient, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	screen, err := s.term.WaitFor(patient, terminal.That("everything live", func(t terminal.Screen) bool {
		return s.program.live(t, openStack)
	}))
	if err != nil {
		return err
	}
	s.figures[allLive] = max(screen.At.Sub(begun), first.Sub(begun)).Seconds()
	return nil
}

// close ends the program.
func (s *session) close() error {
	if s.watch != nil {
		s.watch.close()
	}
	if s.term == nil {
		return nil
	}
	return s.term.Close()
}

// sleep waits, unless ctx or the program ends.
func (s *session) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-s.term.Exited():
		return fmt.Errorf("%s has ended:\n%s", s.program.name, s.term.Screen())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// spent is what a program has used and written at a moment.
type spent struct {
	at        time.Time
	processor time.Duration
	written   int64
}

func (s *session) spent() (spent, error) {
	used, err := processorTime(s.term.PID())
	return spent{time.Now(), used, s.term.Screen().Written}, err
}

// since returns the share of a processor, in percent, and the bytes a second since an earlier moment.
func (n spent) since(before spent) (percent, bytes float64) {
	seconds := n.at.Sub(before.at).Seconds()
	return 100 * (n.processor - before.processor).Seconds() / seconds, float64(n.written-before.written) / seconds
}

// rest measures the program while nothing happens.
func (s *session) rest(ctx context.Context) error {
	if err := s.sleep(ctx, s.pace.settle); err != nil {
		return err
	}
	resident, err := memoryOf(s.term.PID())
	if err != nil {
		return err
	}
	s.figures[residentNow] = resident.now
	before, err := s.spent()
	if err != nil {
		return err
	}
	if err := s.sleep(ctx, s.pace.idle); err != nil {
		return err
	}
	after, err := s.spent()
	if err != nil {
		return err
	}
	s.figures[idleProcessor], s.figures[idleBytes] = after.since(before)
	return nil
}

// visible are the nodes whose rows are on the screen.
func (s *session) visible() map[string]bool {
	names := map[string]bool{}
	for _, name := range s.watch.view().names {
		names[name] = true
	}
	return names
}

// underChange measures the program while the load runs: first what it costs while nobody types, then its keys, and what it costs with
// them. With probes it measures the changes of rows that are on the screen, in both spans.
func (s *session) underChange(ctx context.Context, l *load, probes bool) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var working sync.WaitGroup
	var loadErr, probeErr error
	var seen probed
	before, err := s.spent()
	if err != nil {
		return err
	}
	working.Go(func() { loadErr = l.run(running) })
	if probes {
		working.Go(func() { seen, probeErr = s.probe(running, l) })
	}
	err = s.sleep(ctx, s.pace.change)
	watched, spentErr := s.spent()
	var keys, echoes []time.Duration
	if err = errors.Join(err, spentErr); err == nil {
		keys, echoes, err = s.keys(ctx)
	}
	typed, spentErr := s.spent()
	made := float64(l.done.Load()) / typed.at.Sub(before.at).Seconds()
	stop()
	working.Wait()
	if err := errors.Join(err, spentErr, loadErr, probeErr); err != nil {
		return err
	}
	s.figures[changeProcessor], s.figures[changeBytes] = watched.since(before)
	s.figures[keyProcessor], _ = typed.since(watched)
	s.figures[changeRate], s.figures[keyCount] = made, float64(len(keys))
	s.figures[keyRate] = float64(len(keys)) / typed.at.Sub(watched.at).Seconds()
	s.figures.took(keys, keyMedian, keyP99)
	s.figures.took(echoes, echoMedian, echoP99)
	if probes {
		s.figures[changeCount], s.figures[changeUnseen] = float64(len(seen.screen)+seen.unseen), float64(seen.unseen)
		s.figures.took(append(seen.screen, slices.Repeat([]time.Duration{shownPatience}, seen.unseen)...), changeMedian, changeP99)
		s.figures.took(seen.watch, watchMedian, watchP99)
	}
	resident, err := memoryOf(s.term.PID())
	s.figures[residentMost] = resident.most
	return err
}

// keys moves the cursor down and up, one key after the frame of the one before, and returns how long each took to its frame. The pauses
// differ, so that no key keeps step with the program's own frames. Half a pause after each key one is typed into an echo; those times are
// echoes.
func (s *session) keys(ctx context.Context) (took, echoes []time.Duration, err error) {
	beside, err := startEcho(ctx, os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, beside.term.Close()) }()
	for key := "j"; len(took) < s.pace.keys; {
		v := s.watch.view()
		switch at := slices.Index(v.names, v.selected); {
		case at < 1:
			key = "j"
		case at >= len(v.names)-3: // the last rows scroll the list
			key = "k"
		}
		moved := s.watch.expect(func(now view) bool { return now.selected != "" && now.selected != v.selected })
		sent := time.Now()
		s.term.Type(key)
		at, err := s.watch.await(ctx, moved, "the moved cursor", shownPatience)
		if err != nil {
			return took, echoes, err
		}
		took = append(took, at.Sub(sent))
		pause := 40*time.Millisecond + time.Duration(s.chance.IntN(120))*time.Millisecond
		if err := s.sleep(ctx, pause/2); err != nil {
			return took, echoes, err
		}
		echoed, err := beside.key(ctx)
		if err != nil {
			return took, echoes, err
		}
		echoes = append(echoes, echoed)
		if err := s.sleep(ctx, pause/2); err != nil {
			return took, echoes, err
		}
	}
	return took, echoes, nil
}

// glyphs are how Lockstep draws the state of a lock.
var glyphs = map[string]string{stateActive: "●", stateInactive: "○"}

// The controller whose locks the probes change, as its index and its column among the nodes.
const (
	probedController = 2
	probedColumn     = "tf"
)

// probed are the times that changes took from the server's answer on: until the row showed it, and of locks, until a watch beside the
// program had it.
type probed struct {
	screen, watch []time.Duration
	unseen        int // rows that did not show it within shownPatience
}

// probe changes a row of the screen at its times: the lock of a node in maintenance, the mode of another compute. The next one comes after
// a pause from the last one's end: one that came at once would begin with a frame, and so in step with the program's own.
func (s *session) probe(ctx context.Context, l *load) (took probed, err error) {
	beside, err := l.kube.watchLocks(context.WithoutCancel(ctx))
	if err != nil {
		return took, err
	}
	defer beside.close()
	machines := map[string]machine{}
	for _, m := range l.machines {
		machines[m.Short] = m
	}
	chance := rand.New(rand.NewPCG(uint64(s.fleet.Nodes), 2))
	every := s.fleet.probeEvery()
	for due := time.Now(); ; {
		due = due.Add(every/2 + time.Duration(chance.Int64N(int64(every))))
		if now := time.Now(); due.Before(now) {
			due = now.Add(time.Duration(chance.Int64N(int64(every))))
		}
		if s.sleep(ctx, time.Until(due)) != nil {
			return took, nil // the end of the load, or of the program, which the keys notice
		}
		v := s.watch.view()
		names := slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { return !l.spared[name] || machines[name].Master })
		if len(names) == 0 {
			return took, fmt.Errorf("no row of those at the start is on the screen any more:\n%s", s.term.Screen())
		}
		m := machines[names[chance.IntN(len(names))]]
		p := drawChange(l, m, v.rows[m.Short])
		shown := s.watch.expect(func(now view) bool { return now.rows[m.Short][p.column] == p.shows })
		var came <-chan time.Time
		if p.lock != "" {
			came = beside.expect(p.lock, p.state)
		}
		if err := p.do(context.WithoutCancel(ctx)); err != nil {
			return took, err
		}
		answered := time.Now()
		l.done.Add(1)
		if came != nil {
			at, err := beside.await(context.WithoutCancel(ctx), came, shownPatience)
			if err != nil {
				return took, err
			}
			took.watch = append(took.watch, max(at.Sub(answered), 0))
		}
		at, err := s.watch.await(context.WithoutCancel(ctx), shown, p.column+" "+p.shows+" of "+m.Short, shownPatience)
		if err != nil && !slices.Contains(s.watch.view().names, m.Short) {
			continue // its row has left the screen since; the final state tells of it
		}
		if err != nil {
			took.unseen++
			fmt.Fprintln(s.progress, err)
			continue
		}
		took.screen = append(took.screen, max(at.Sub(answered), 0))
	}
}

// rowChange is a change that a row is to show.
type rowChange struct {
	column, shows string // what it then shows in which column
	lock, state   string // the lock that comes to the state; empty where none does
	do            func(context.Context) error
}

// drawChange draws a change of a machine's row.
func drawChange(l *load, m machine, shown row) rowChange {
	if m.Maintained {
		state := stateActive
		if shown[probedColumn] == glyphs[stateActive] {
			state = stateInactive
		}
		c := rowChange{column: probedColumn, shows: glyphs[state],
			do: func(ctx context.Context) error { return l.setState(ctx, m, probedController, state) }}
		if l.stateOf(m, probedController) != state { // a row that has not shown the last change may be behind
			c.lock, c.state = m.lock(probedController), state
		}
		return c
	}
	mode := modes[(slices.Index(modes, shown["mode"])+1)%len(modes)]
	return rowChange{column: "mode", shows: mode, do: func(ctx context.Context) error { return l.setMode(ctx, m, mode) }}
}

// finalPatience is how long the screen may take to show the final state. Lockstep looks every half a minute which instances have
// changed.
const finalPatience = 2 * time.Minute

// finalState pages through all nodes, and through the locks in maintenance, until everything is as the last changes made it. It
// returns how much is not in the end.
func (s *session) finalState(ctx context.Context, l *load) (int, error) {
	var hosts map[string]int
	if l.nova != nil {
		var err error
		if hosts, err = l.settled(ctx); err != nil {
			return 0, err
		}
	}
	s.watch.close()
	deadline := time.Now().Add(finalPatience)
	var wrong []string
	for {
		rows, err := s.pages(ctx, readNodes, len(l.machines))
		if err != nil {
			return 0, err
		}
		if wrong = l.last.wrongNodes(l.machines, rows, hosts); len(wrong) == 0 || time.Now().After(deadline) {
			break
		}
		if err := s.sleep(ctx, time.Second); err != nil {
			return 0, err
		}
	}
	s.term.Type("5e/works\r")
	deadline = time.Now().Add(finalPatience)
	for {
		rows, err := s.pages(ctx, readLocks, s.fleet.Maintained)
		if err != nil {
			return 0, err
		}
		texts := l.last.wrongTexts(rows)
		if len(texts) > 0 && time.Now().Before(deadline) {
			if err := s.sleep(ctx, time.Second); err != nil {
				return 0, err
			}
			continue
		}
		wrong = append(wrong, texts...)
		break
	}
	for _, what := range wrong {
		fmt.Fprintln(s.progress, "not shown in the end:", what)
	}
	return len(wrong), nil
}

// pages returns the rows of all pages of the list that has the focus: at most so many.
func (s *session) pages(ctx context.Context, read func(terminal.Screen) view, most int) (map[string]row, error) {
	all := map[string]row{}
	before := s.term.Screen()
	if err := s.term.Press("home"); err != nil {
		return nil, err
	}
	// Where the first page was shown already, home changes nothing that could be waited for.
	short, cancel := context.WithTimeout(ctx, time.Second)
	_, err := s.term.WaitFor(short, terminal.That("the first page", func(t terminal.Screen) bool {
		return t.At.After(before.At) && read(t).selected != read(before).selected
	}))
	cancel()
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	last := ""
	for len(all) < most {
		// The page that a key leads to is there when another row is under the cursor; at the end none is.
		short, cancel := context.WithTimeout(ctx, time.Second)
		screen, err := s.term.WaitFor(short, terminal.That("the next page", func(t terminal.Screen) bool {
			v := read(t)
			return v.selected != "" && v.selected != last
		}))
		cancel()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v := read(screen)
		for name, r := range v.rows {
			all[name] = r
		}
		if err != nil || v.selected == "" {
			return all, nil
		}
		last = v.selected
		if err := s.term.Press("pgdown"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newHome makes a folder for a program's state. The caller removes it.
func newHome() (string, error) {
	home, err := os.MkdirTemp("", "lockstep-bench-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the program: %w", err)
	}
	return home, nil
}
