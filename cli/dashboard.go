package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui"
)

// dashboard opens the screen on the operator's own cluster.
func dashboard(ctx context.Context, p options, stdin *os.File, stdout io.Writer) error {
	if err := p.configure(); err != nil {
		return err
	}
	if err := canShow(stdin, stdout, "`lockstep status` takes one look and prints it"); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p.recordWhereAsked()
	if p.opensList(ctx, log) {
		if err := p.fitsList(); err != nil {
			return err
		}
		f := &fleetScreen{options: p, log: log, title: "Lockstep"}
		if !p.clusters && !p.Management.Configured() {
			f.notice = "a management cluster: these are its clusters (--no-clusters opens one dashboard, of itself)"
		}
		return f.run(ctx)
	}
	p.Own = p.ForCommands()
	s, err := p.open(ctx, log)
	if err != nil {
		return err
	}
	title := "Lockstep"
	if s.Simulated {
		title += " (simulated)"
	}
	return (&screen{Session: s, title: title}).show(ctx, p)
}

// fitsList says which flag does not go with the list of clusters; nil for none.
func (p *options) fitsList() error {
	switch flag := p.ofOneCluster(); flag {
	case "":
		return nil
	case "--record":
		return errors.New("--record goes with one cluster, and this is a management cluster: --no-clusters opens its own dashboard; " +
			"the configuration's folder record goes with all of a list")
	default:
		return fmt.Errorf("%s goes with one cluster, and this is a management cluster: --no-clusters opens its own dashboard", flag)
	}
}

// canShow says why the dashboard cannot be shown here, and what works instead.
func canShow(stdin *os.File, stdout io.Writer, instead string) error {
	out, isFile := stdout.(*os.File)
	switch {
	case !isFile || !term.IsTerminal(int(out.Fd())) || !term.IsTerminal(int(stdin.Fd())):
		return errors.New("the dashboard needs a terminal; without one, " + instead)
	case os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "":
		return fmt.Errorf("the dashboard cannot be drawn on this terminal (TERM=%s); %s", os.Getenv("TERM"), instead)
	}
	return nil
}

// screen is the dashboard in front of a session.
type screen struct {
	*session.Session
	title     string
	notice    string        // besides the session's own
	rehearsal tui.Rehearsal // behind the demo's panel; nil on a real cloud
	called    string        // the cluster as the list of clusters calls it; empty: it was not opened from one
	back      func()        // told that the operator goes back to the list of clusters; nil: there is none
}

// show runs the session with the dashboard in front of it, until the operator leaves or ctx is done.
func (s *screen) show(ctx context.Context, o options) error {
	look, err := lookOf(o)
	if err != nil {
		return err
	}
	defer func() { s.TellRest(os.Stderr) }() // after what was standard error is that again
	restore, err := s.Log.RedirectStderr()
	if err != nil {
		return fmt.Errorf("redirect standard error to the log: %w", err)
	}
	defer restore()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	running.Go(func() { s.Settle(ctx) })
	calls := make(chan tui.Call, 16)
	running.Go(func() { s.tellTrouble(ctx, calls) })
	look.Calls, look.CountUrgent = calls, o.config.Notify.by(callTitle)
	running.Go(func() { o.config.Notify.call(ctx, s.Session, calls) })
	look.Arm = o.write
	notice := strings.Join(slices.DeleteFunc(append([]string{s.notice}, s.Notices...), func(t string) bool { return t == "" }), "; ")
	look.Rehearsal, look.Owners, look.SaveFile, look.Checks = s.rehearsal, ownerDesk{s.OpenStack}, saveHere, checkStore{s.ChecksFolder}
	look.Looker, look.Handover = s.Looker, func(snap *core.Snapshot) ([]string, error) { return handoverOf(s.Session, snap) }
	look.Back, look.Cluster = s.back, s.called
	look.Backend, look.Title, look.Notice, look.Version = s.Engine, s.title, notice, programVersion()
	err = tui.Run(ctx, look)
	leave()
	running.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// tellTrouble shows on the screen what became of the journal, the recording and Events, until ctx is done.
func (s *screen) tellTrouble(ctx context.Context, calls chan<- tui.Call) {
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-s.Troubles:
			select {
			case calls <- tui.Call{Trouble: text}:
			case <-ctx.Done():
				s.Tell(text) // it is printed at the end
				return
			}
		}
	}
}

// lookOf returns the screen's theme, keys and other options, from flags, environment and configuration. Any non-empty NO_COLOR counts.
func lookOf(o options) (tui.Options, error) {
	t := tui.Options{ASCII: o.ascii || o.config.ASCII, NoColor: os.Getenv("NO_COLOR") != "", Clipboard: o.config.Clipboard,
		SyncOutput: o.config.SyncOutput}
	var err error
	if t.Actions, err = tui.Rebind(tui.Actions(), o.config.Keys); err != nil {
		return t, err
	}
	if t.Window, err = o.config.window(); err != nil {
		return t, fmt.Errorf("the window: %w", err)
	}
	name := cmp.Or(o.theme, os.Getenv("LOCKSTEP_THEME"))
	if name == "" {
		name = o.config.themeName()
	}
	switch {
	case t.NoColor:
		name = "mono"
	case name == "" || name == themes.Auto:
		t.AutoTheme = true
	}
	if t.Theme, err = loadTheme(name); err != nil {
		return t, fmt.Errorf("the theme: %w", err)
	}
	return t, nil
}

// isThemeFile tells whether a theme's name is the path of a file.
func isThemeFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

func loadTheme(name string) (themes.Theme, error) {
	if !isThemeFile(name) {
		return themes.Load(name)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return themes.Theme{}, err
	}
	return themes.Parse(name, raw)
}

// saveHere writes a file of the dashboard into the folder where Lockstep was started.
func saveHere(name string, content []byte) (string, error) {
	path, err := filepath.Abs(filepath.Base(name))
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s exists already, and is left as it is", path)
	}
	return path, outputfile.Write(path, content, false)
}
