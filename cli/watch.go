package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core/news"
	"lockstep/core/wording"
)

func newWatch(p *options) *cobra.Command {
	var (
		output string
		silent bool
	)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print a line for each thing that changes, without a screen, until it is stopped",
		Long: `Prints a line for each thing that changes in the cluster: what comes to need you and how it ends, the update and its phases,
nodes from stage to stage, migrations, and sources that cannot be seen. It begins with how everything stands. Times are yours as
text, and UTC in JSON. Nothing is changed, and no lease is taken: it is made for tmux, systemd and pipes, beside a dashboard or
without one.

With -o json each line is a JSON document of its own (field format: 1), made to be read by other programs. When something becomes
urgent, it also runs the command of the configuration's section notify, with the line on its standard input, unless --no-notify is
given. Lines go to standard output, trouble of Lockstep itself to standard error. It ends on an interrupt, a SIGTERM or a SIGHUP, and
when nobody reads its output any more, with the exit code 0.`,
		Example: `  lockstep watch
  lockstep watch -o json | jq 'select(.severity == "urgent")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print, ok := watchPrinters[output]
			if !ok {
				return fmt.Errorf("-o is %q; it takes text or json", output)
			}
			return watchNews(cmd.Context(), *p, silent, print, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format` of the lines: text or json")
	p.addRecord(cmd)
	cmd.Flags().BoolVar(&silent, "no-notify", false, "do not run the configuration's notify command")
	return cmd
}

var watchPrinters = map[string]func(io.Writer, news.Line) error{
	"text": func(w io.Writer, l news.Line) error {
		_, err := fmt.Fprintf(w, "%s %-9s %s\n", wording.MomentText(l.At), l.Mark(), oneLine(l.Says()))
		return err
	},
	formatJSON: func(w io.Writer, l news.Line) error { return printJSONLine(w, l) },
}

func watchNews(ctx context.Context, p options, silent bool, print func(io.Writer, news.Line) error, out, stderr io.Writer) error {
	out, release := withoutSIGPIPE(out)
	defer release()
	if err := p.configure(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p.ReadOnly, p.OneLook = true, true
	p.Own = p.ForCommands()
	p.recordWhereAsked()
	s, err := p.open(ctx, log)
	if err != nil {
		return err
	}
	for _, n := range s.Notices {
		fmt.Fprintln(stderr, oneLine(n))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := p.config.Notify
	if silent {
		n.Command = nil
	}
	command := newCallCommand(n.callsBy(s), log, func(text string) { fmt.Fprintln(stderr, "lockstep: "+text) })
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	if p.sole {
		running.Go(func() { s.Settle(ctx) })
	}
	running.Go(func() { command.run(ctx) })
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case text := <-s.Troubles:
				fmt.Fprintln(stderr, "lockstep: "+oneLine(text))
			}
		}
	})
	output := watchOutput{print: print, out: out, stderr: stderr, log: log}
	if command != nil {
		output.call = command.make
	}
	followNews(ctx, s.Engine, n.rules(), true, func(lines []news.Line, calls []news.Call) {
		s.RecordNews(lines)
		if !output.take(lines, calls) {
			stop()
		}
	})
	stop()
	running.Wait()
	s.TellRest(stderr)
	if output.failed != nil && !nobodyReads(output.failed) {
		return fmt.Errorf("print what changes: %w", output.failed)
	}
	return nil
}

// watchOutput is where the lines of a watch go.
type watchOutput struct {
	print       func(io.Writer, news.Line) error
	out, stderr io.Writer
	log         *session.Log
	call        func(news.Call) // nil: nobody is called

	failed error // of a line
}

// take calls the operator, prints the lines, and tells whether to go on. Somebody may rely on the calls: they go on when the lines find no
// room.
func (w *watchOutput) take(lines []news.Line, calls []news.Call) bool {
	for _, c := range calls {
		if w.call != nil {
			w.call(c)
		}
	}
	for _, l := range lines {
		err := w.print(w.out, l)
		if err == nil {
			continue
		}
		if w.failed == nil && !nobodyReads(err) && w.call != nil {
			text := "lines are missing from now on: " + oneLine(err.Error())
			w.log.Warn(text)
			fmt.Fprintln(w.stderr, "lockstep: "+text)
		}
		if w.failed = err; w.call == nil || nobodyReads(err) {
			return false
		}
	}
	return true
}

// nobodyReads tells whether output failed because its reader is gone.
func nobodyReads(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
