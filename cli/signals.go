package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// endSignals are those of the signals that end the program which are not ignored. Whoever started it may want it so: nohup ignores SIGHUP,
// and to catch a signal is to ignore it no more.
func endSignals(among ...os.Signal) []os.Signal { return slices.DeleteFunc(among, signal.Ignored) }

// untilSignalled is a context that is done with the first signal that ends the program. From then on SIGINT and SIGTERM do what they do by
// default: a program that does not look at its context ends all the same. A session that goes away may send several SIGHUPs, and they still
// count as one.
func untilSignalled(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	ends, gone := make(chan os.Signal, 1), make(chan os.Signal, 1)
	if these := endSignals(syscall.SIGINT, syscall.SIGTERM); len(these) > 0 {
		signal.Notify(ends, these...)
	}
	if these := endSignals(syscall.SIGHUP); len(these) > 0 {
		signal.Notify(gone, these...)
	}
	go func() {
		select {
		case <-ends:
		case <-gone:
		case <-ctx.Done():
		}
		signal.Stop(ends) // before anybody can see that the context is done
		cancel()
	}()
	return ctx, func() {
		cancel()
		signal.Stop(ends)
		signal.Stop(gone)
	}
}
