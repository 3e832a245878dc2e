package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/recorded"
	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/recording"
	"lockstep/core/wording"
	"lockstep/tui"
)

func newReplay(o *options, stdin *os.File) *cobra.Command {
	var (
		at    string
		speed float64
		play  bool
	)
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a recorded update in the dashboard",
		Long: `Opens the dashboard on a recording (--record, or record in the configuration), as it was seen then: paused, at its beginning.
space plays it and pauses, . and , go to the next event and to the one before, } and { play it faster and slower, @ goes to a time,
^ and $ to its beginning and its end. Files that continue a recording are read, too, where they lie beside the first.

No cluster, no cloud and no journal is opened: nothing can be changed, and what only a server can answer (logs, the forecast of an
evacuation) is not there.`,
		Example: `  lockstep --record mos.lockrec
  lockstep replay mos.lockrec --at 02:15 --speed 20 --play`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if speed < 1 || speed > 600 {
				return fmt.Errorf("--speed is %g; it is 1 to 600 times as fast as it was", speed)
			}
			return replay(cmd.Context(), *o, args[0], at, recorded.Options{Speed: speed, Play: play}, stdin, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "`time` to begin at: 02:15, 2026-03-14 02:15, or +1h from its beginning")
	f.Float64Var(&speed, "speed", 1, "how many `times` as fast as it was, 1 to 600")
	f.BoolVar(&play, "play", false, "play at once, not paused")
	o.addScreen(cmd)
	return cmd
}

// openRecording reads through a recording. Of a large one that takes some seconds: stderr says so.
func openRecording(path string, stderr io.Writer) (*recording.Recording, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 8<<20 {
		fmt.Fprintf(stderr, "Reading %s …\n", oneLine(path))
	}
	return recording.Open(path)
}

func replay(ctx context.Context, o options, path, at string, po recorded.Options, stdin *os.File, stdout, stderr io.Writer) error {
	if err := o.configure(); err != nil {
		return err
	}
	rec, err := openRecording(path, stderr)
	if err != nil {
		return err
	}
	if at != "" {
		if po.At, err = rec.Moment(at, rec.From, time.Local); err != nil {
			return err
		}
	}
	if err := canShow(stdin, stdout, "`lockstep journal show` prints what the journal has of that time"); err != nil {
		return err
	}
	look, err := lookOf(o)
	if err != nil {
		return err
	}
	po.Stops = &core.StopFinder{Find: checklist.Stops}
	p, err := recorded.New(rec, po)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(ctx) }()
	look.Backend, look.Replay, look.SaveFile = p, p, saveHere
	look.Title, look.Notice, look.Version = "Lockstep: a recording", replayNotice(rec), programVersion()
	err = tui.Run(ctx, look)
	stop()
	<-ended
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// replayNotice says what is played.
func replayNotice(rec *recording.Recording) string {
	text := []string{fmt.Sprintf("recorded by Lockstep %s, %s long, %s", oneLine(rec.Head.Version),
		wording.SpanText(rec.To.Sub(rec.From)), wording.Count(len(rec.Events), "event"))}
	if rec.Head.Pseudonymous {
		text = append(text, "its names are made up")
	}
	if rec.Cut {
		text = append(text, "it was cut off, or has a gap")
	}
	return strings.Join(text, "; ")
}
