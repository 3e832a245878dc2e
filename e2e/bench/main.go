// Command bench measures what an operator feels: the real binary in a terminal of 120 by 40, on a real kube-apiserver with a fleet of
// nodes and locks, without OpenStack and with a simulated one in a process of its own, and k9s beside it.
//
//	go run ./bench [-fleets 50,500,2000] [-quick] [-o FILE] [-lockstep PATH]
//	go run ./bench compare OLD NEW
//
// It prints a table for each fleet, and keeps the figures as JSON. compare prints two such files side by side. Nothing is judged:
// the times of a busy machine say little.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lockstep/e2e/build"
)

// The commands. The harness runs itself again with cloudCommand.
const (
	compareCommand = "compare"
	cloudCommand   = "cloud"
)

func main() {
	// After the first of these signals everything is cleaned up; a second one ends the harness at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case compareCommand:
			return compare(args[1:], out)
		case cloudCommand:
			if len(args) != 3 {
				return errors.New("the harness starts the cloud itself")
			}
			f, err := fleetNamed(args[1])
			if err != nil {
				return err
			}
			return serveCloud(ctx, f, args[2], os.Stdin, out)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	names := flags.String("fleets", strings.Join(fleetNames(), ","), "numbers of `nodes`, separated by commas")
	quick := flags.Bool("quick", false, "a short look, while one develops: nothing settles, and there are few samples")
	keep := flags.String("o", "", "the `file` in which the figures are kept as JSON (default: bench-COMMIT.json in the temporary folder)")
	path := flags.String("lockstep", "", "the `path` of the binary to measure (default: it is built from this checkout)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("there is no command %q", flags.Arg(0))
	}
	var chosen []Fleet
	for name := range strings.SplitSeq(*names, ",") {
		f, err := fleetNamed(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		chosen = append(chosen, f)
	}
	h := harness{lockstep: *path, pace: fullPace, progress: progress}
	if *quick {
		h.pace = quickPace
	}
	report, err := h.prepare(ctx)
	if err != nil {
		return err
	}
	report.Quick = *quick
	if *keep == "" {
		*keep = filepath.Join(os.TempDir(), "bench-"+report.Commit+".json")
	}
	for _, f := range chosen {
		runs, filled, err := h.measure(ctx, f)
		if err != nil {
			err = fmt.Errorf("%s: %w", f, err)
		}
		report.Runs = append(report.Runs, runs...)
		report.FillTook[f.Name()] = filled.Seconds()
		if err := errors.Join(err, writeReport(*keep, report)); err != nil { // after each fleet: a later one may fail
			return err
		}
	}
	if err := printReport(out, report); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nThe figures are in %s.\n", *keep)
	return err
}

// prepare finds the programs, builds Lockstep if no path names it, and begins the report.
func (h *harness) prepare(ctx context.Context) (r Report, err error) {
	if h.lockstep == "" {
		if h.lockstep, err = build.Lockstep(ctx); err != nil {
			return Report{}, err
		}
	}
	// The programs run in folders of their own.
	if h.lockstep, err = filepath.Abs(h.lockstep); err != nil {
		return Report{}, err
	}
	if h.k9s, err = exec.LookPath("k9s"); err != nil {
		h.k9s = ""
	}
	home, err := newHome()
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	return Report{Commit: commitOf(ctx), Version: printed(ctx, nil, "", h.lockstep, "version"), Date: time.Now().UTC().Truncate(time.Second),
		Machine: thisMachine(ctx, h.k9s, home), FillTook: map[string]float64{}}, nil
}

func compare(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("compare takes two files, the old one first")
	}
	before, err := readReport(args[0])
	if err != nil {
		return err
	}
	after, err := readReport(args[1])
	if err != nil {
		return err
	}
	return compareReports(out, before, after)
}
