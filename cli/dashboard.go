package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"lockstep/themes"
	"lockstep/tui"
)

// dashboard opens the screen on the operator's own cluster.
func dashboard(ctx context.Context, p place, stdin *os.File, stdout io.Writer) error {
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
	defer log.close()
	p.recordPath = p.recordTo()
	if p.opensList(ctx, log) {
		if err := p.fitsList(); err != nil {
			return err
		}
		f := &fleetScreen{place: p, log: log, title: "Lockstep"}
		if !p.clusters && !p.management.configured() {
			f.notice = "a management cluster: these are its clusters (--no-clusters opens one dashboard, of itself)"
		}
		return f.run(ctx)
	}
	p.own = p.named()
	s, err := open(ctx, p, log)
	if err != nil {
		return err
	}
	title := "Lockstep"
	if s.simulated {
		title += " (simulated)"
	}
	return s.show(ctx, p.options, title, "")
}

// fitsList says which flag does not go with the list of clusters; nil for none.
func (p *place) fitsList() error {
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

// show runs the session with the dashboard in front of it, until the operator leaves or ctx is done.
func (s *session) show(ctx context.Context, o options, title, notice string) error {
	look, err := lookOf(o)
	if err != nil {
		return err
	}
	defer func() { s.tellRest(os.Stderr) }() // after what was standard error is that again
	if s.log.file != nil {
		restore, err := redirectStderr(s.log)
		if err != nil {
			return fmt.Errorf("redirect standard error to the log: %w", err)
		}
		defer restore()
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx) })
	running.Go(func() { s.settle(ctx) })
	calls := make(chan tui.Call, 16)
	running.Go(func() { s.tellRecording(ctx, calls) })
	look.Calls, look.CountUrgent = calls, o.config.Notify.by(callTitle)
	running.Go(func() { s.call(ctx, o.config.Notify, calls) })
	look.Arm = o.write
	notice = strings.Join(slices.DeleteFunc(append([]string{notice}, s.notices...), func(t string) bool { return t == "" }), "; ")
	look.Rehearsal, look.Owners, look.SaveFile, look.Checks = s.rehearsal, ownerDesk{s.client}, saveHere, s.checks
	look.Looker, look.Handover = s.looker, s.handover
	look.Back, look.Cluster = s.back, s.called
	look.Backend, look.Title, look.Notice, look.Version = s.engine, title, notice, programVersion()
	err = tui.Run(ctx, look)
	leave()
	running.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
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
