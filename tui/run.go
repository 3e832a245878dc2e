package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Run shows the screen on the terminal until the operator leaves or ctx ends. Signals are the caller's: it ends ctx on SIGHUP and
// SIGTERM. The terminal is restored on every way out.
func Run(ctx context.Context, opts Options) error {
	return run(ctx, opts, nil, nil)
}

// run is Run with an input and an output for tests; nil means the terminal.
func run(ctx context.Context, opts Options, in io.Reader, out io.Writer, more ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, opts)
	defer m.pump.stop()
	m.resting = m.pump.now()
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(frameRate), tea.WithoutSignalHandler()}
	if in != nil {
		options = append(options, tea.WithInput(in))
	}
	if out != nil {
		options = append(options, tea.WithOutput(out))
	}
	if opts.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if opts.SyncOutput == SyncOff {
		options = append(options, tea.WithFilter(withoutSync))
	}
	program := tea.NewProgram(m, append(options, more...)...)
	m.frames = newFrames(program)
	_, err := program.Run()
	switch {
	case err == nil, ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled), errors.Is(err, io.EOF):
		return nil
	}
	return fmt.Errorf("run the screen: %w", err)
}

// askTerminal asks whether the terminal knows synchronized updates. Bubble Tea does not ask over ssh, where they matter
// most.
func (m *Model) askTerminal() tea.Cmd {
	if m.opts.SyncOutput == SyncOff {
		return nil
	}
	return tea.Raw(ansi.RequestModeSynchronizedOutput)
}

// withoutSync hides the terminal's answer from Bubble Tea, which would switch synchronized updates on.
func withoutSync(_ tea.Model, msg tea.Msg) tea.Msg {
	if report, ok := msg.(tea.ModeReportMsg); ok && report.Mode == ansi.ModeSynchronizedOutput {
		return nil
	}
	return msg
}
