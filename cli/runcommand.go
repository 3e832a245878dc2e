package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// The exit codes of a command that could not be run, as shells have them.
const (
	exitNotRunnable = 126
	exitNotFound    = 127
	exitSignalled   = 128 // and the signal's number
)

// commandGrace is how long a command has to end after a signal.
const commandGrace = 10 * time.Second

// runCommand runs a command with the variables in its environment, and returns its exit code. Variables that name another cloud
// or cluster are removed. An interrupt from the terminal reaches the command by itself. SIGTERM and SIGHUP, and an interrupt sent
// by a process, are passed on.
func runCommand(command, env []string, stdin *os.File, stdout, stderr io.Writer) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OS_") || strings.HasPrefix(v, "KUBECONFIG=")
	}), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.WaitDelay = time.Second // for child processes that keep the output open

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)...) // SIGTERM is never ignored
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(stderr, "lockstep: run %s: %s\n", command[0], oneLine(err.Error()))
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return exitWith(exitNotFound)
		}
		return exitWith(exitNotRunnable)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var late <-chan time.Time
	for {
		select {
		case err := <-ended:
			return exitOf(cmd, err)
		case s := <-signals:
			if s == syscall.SIGINT && term.IsTerminal(int(stdin.Fd())) {
				continue
			}
			_ = cmd.Process.Signal(s) // it may have ended just now
			if late == nil {
				late = time.After(commandGrace)
			}
		case <-late:
			_ = cmd.Process.Kill()
		}
	}
}

// exitOf is a command's result as an exit code.
func exitOf(cmd *exec.Cmd, err error) error {
	if cmd.ProcessState == nil {
		return fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	code := cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = exitSignalled + int(status.Signal())
	}
	if code == 0 {
		return nil
	}
	return exitWith(code)
}
