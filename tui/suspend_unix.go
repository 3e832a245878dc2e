//go:build unix

package tui

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// unstoppable is why the program cannot be suspended; empty when it can. Without a shell with job control among its parents, the
// signal would do nothing, or nobody could resume the program.
func unstoppable() string {
	if signal.Ignored(syscall.SIGTSTP) {
		return "it was started with the signal ignored"
	}
	const above = "no shell with job control started it"
	own, err := unix.Getsid(0)
	if err != nil {
		return above
	}
	group := unix.Getpgrp()
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) { // up through the scripts that started it
		if sid, err := unix.Getsid(pid); err != nil || sid != own {
			return above
		}
		if g, err := unix.Getpgid(pid); err == nil && g != group {
			return ""
		}
	}
	return above
}

// stopper stops the whole process group, as ctrl+z does outside of raw mode. It runs while the terminal is released.
type stopper struct{}

func (stopper) SetStdin(io.Reader)  {}
func (stopper) SetStdout(io.Writer) {}
func (stopper) SetStderr(io.Writer) {}

// notStoppedWithin is how long the signal may take to stop the program. If it works, it works at once.
const notStoppedWithin = 5 * time.Second

func (stopper) Run() error {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-goesOn:
		return nil
	case <-time.After(notStoppedWithin):
	}
	select { // after a longer stop both come at once
	case <-goesOn:
		return nil
	case <-time.After(notStoppedWithin / 5):
		return errors.New("the signal did not stop it")
	}
}

// halt stops the program until the shell resumes it.
func halt() tea.Cmd {
	since := time.Now()
	return tea.Exec(stopper{}, func(err error) tea.Msg { return resumedMsg{since, err} })
}
