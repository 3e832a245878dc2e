package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"lockstep/core/news"
	"lockstep/core/wording"
)

func newWatch(p *place) *cobra.Command {
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

func watchNews(ctx context.Context, p place, silent bool, print func(io.Writer, news.Line) error, out, stderr io.Writer) error {
	out, release := withoutSIGPIPE(out)
	defer release()
	if err := p.configure(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.close()
	p.readOnly, p.oneLook = true, true
	p.own = p.named()
	if p.recordPath, err = p.recordTo(); err != nil {
		return err
	}
	s, err := open(ctx, p, log)
	if err != nil {
		return err
	}
	for _, n := range s.notices {
		fmt.Fprintln(stderr, oneLine(n))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := p.config.Notify
	if silent {
		n.Command = nil
	}
	command := newCallCommand(n.Command, log, func(text string) { fmt.Fprintln(stderr, "lockstep: "+text) })
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx) })
	if p.sole {
		running.Go(func() { s.settle(ctx) })
	}
	running.Go(func() { command.run(ctx) })
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case text := <-s.recordTrouble:
				fmt.Fprintln(stderr, "lockstep: "+oneLine(text))
			}
		}
	})
	var failed error
	followNews(ctx, s.engine, n.rules(), true, func(lines []news.Line, calls []news.Call) {
		s.recordNews(lines)
		for _, l := range lines {
			if failed = print(out, l); failed != nil {
				stop()
				return
			}
		}
		for _, c := range calls {
			command.make(c)
		}
	})
	stop()
	running.Wait()
	s.tellRest(stderr)
	if failed != nil && !errors.Is(failed, syscall.EPIPE) && !errors.Is(failed, io.ErrClosedPipe) {
		return fmt.Errorf("print what changes: %w", failed)
	}
	return nil
}
