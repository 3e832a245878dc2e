package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/outputfile"
	"lockstep/cli/pseudonym"
	"lockstep/core/recording"
)

// exportFlags are the flags of `lockstep export`.
type exportFlags struct {
	output string
	force  bool
	redact bool
}

func newExport() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export FILE -o FILE",
		Short: "Write a recorded update again as one file, to give it to others",
		Long: `Writes a recording (--record) again, in one file, also where it goes over several. No secret is in it, as none is in the recording.

With --redact every name and ID of yours becomes a made-up one, the same everywhere in the file: nodes, machines, clusters,
instances, projects, users, operators, networks, groups, namespaces, pods, addresses and paths. Notes and comments are left out, and so
are words in texts that Lockstep does not know. Kinds, states, releases, sizes, times and MOSK's own names stay, so that
"lockstep replay" shows what was seen. Two files of one recording have different pseudonyms, and nothing leads back.

The exit code is 0 when the whole recording was written, 2 when it was cut off or has a gap, and 1 when no file was written.`,
		Example: `  lockstep export mos.lockrec --redact -o bug.lockrec
  lockstep replay bug.lockrec`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportRecording(cmd.Context(), args[0], f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` to write; - is standard output")
	flags.BoolVar(&f.force, "force", false, "replace the file when it exists")
	flags.BoolVar(&f.redact, "redact", false, "replace every name and ID with a made-up one, and leave out what people wrote")
	_ = cmd.MarkFlagRequired("output") // the flag is there
	return cmd
}

func exportRecording(ctx context.Context, path string, f exportFlags, stdout, stderr io.Writer) error {
	if err := outputfile.Check("-o", f.output, f.force); err != nil {
		return err
	}
	rec, err := openRecording(path, stderr)
	if err != nil {
		return err
	}
	if f.redact && rec.Head.Pseudonymous {
		fmt.Fprintln(stderr, "The recording's names are made up already; they are replaced once more.")
	}
	size, err := exportTo(ctx, rec, f, stdout)
	if err != nil {
		return err
	}
	return reportExport(stdout, stderr, rec, f, size)
}

// exportTo writes the file, or standard output, and tells how large it is. Once ctx is done, no file is left.
func exportTo(ctx context.Context, rec *recording.Recording, f exportFlags, stdout io.Writer) (size int64, err error) {
	if f.output == outputfile.Stdout {
		c := &countedBytes{w: stdout}
		err := writeExport(ctx, rec, f.redact, c)
		return c.n, err
	}
	// It is written beside its place, and is whole when it is there. Its folder is the one in which it will be.
	path := outputfile.BehindLinks(f.output)
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", f.output, err)
	}
	defer os.Remove(tmp.Name())
	c := &countedBytes{w: tmp}
	if err := errors.Join(writeExport(ctx, rec, f.redact, c), tmp.Sync(), tmp.Close()); err != nil {
		return 0, fmt.Errorf("write %s: %w", f.output, err)
	}
	return c.n, outputfile.PutInPlace(tmp.Name(), path, f.force)
}

func writeExport(ctx context.Context, rec *recording.Recording, redact bool, w io.Writer) error {
	if redact {
		return pseudonym.Recording(ctx, rec, w)
	}
	head := rec.Head
	head.Recording = rand.Text() // it is a recording of its own: no other file continues it
	return rec.Rewrite(head, w, recording.Changes{Frame: func(f recording.Frame) (recording.Frame, error) { return f, ctx.Err() }})
}

// reportExport says what was written.
func reportExport(stdout, stderr io.Writer, rec *recording.Recording, f exportFlags, size int64) error {
	report, where := stdout, f.output
	if f.output == outputfile.Stdout {
		report, where = stderr, "the recording"
	}
	fmt.Fprintf(report, "Wrote %s: %d frames, %s, %d events, %s.\n", oneLine(where), rec.Frames, rec.To.Sub(rec.From).Round(time.Second),
		len(rec.Events), bytesText(int(size)))
	if f.redact {
		fmt.Fprintln(report, "Its names are made up. Look at it before you give it away: lockstep replay "+oneLine(where))
	}
	if rec.Cut {
		fmt.Fprintln(stderr, "The recording was cut off, or has a gap: what was lost is not in it.")
		return exitWith(exitAttention)
	}
	return nil
}

// countedBytes counts what is written.
type countedBytes struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *countedBytes) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
