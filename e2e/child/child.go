// Package child runs the processes under test so that none of them outlives the test that started it, even when that test is
// killed.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Child is a started process.
type Child struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // what Wait returned; read after done is closed
}

// Start runs cmd as a child that the kernel kills when this process dies. It sets cmd.SysProcAttr.Pdeathsig and keeps every other
// attribute.
//
// Give cmd files, not other writers, as its output: then the exit of the process is seen at once, even if its own children keep
// the output open.
func Start(cmd *exec.Cmd) (*Child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL

	c := &Child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the signal when the *thread* that forked ends, so the thread is kept until the child has gone
		// (golang.org/issue/27505).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// PID returns the process ID.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exited reports whether the process has ended.
func (c *Child) Exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// ExitCode waits for the process to end and returns its exit code, or -1 when a signal ended it.
func (c *Child) ExitCode() int {
	<-c.done
	return c.cmd.ProcessState.ExitCode()
}

// State waits for the process to end and describes how it ended, for example "exit status 1" or "signal: killed".
func (c *Child) State() string {
	<-c.done
	if c.err != nil {
		var exit *exec.ExitError
		if !errors.As(c.err, &exit) {
			return c.err.Error()
		}
	}
	return c.cmd.ProcessState.String()
}

// Signal sends a signal. A process that has already ended is not an error.
func (c *Child) Signal(signal os.Signal) error {
	if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s (pid %d): %w", signal, c.cmd.Path, c.PID(), err)
	}
	return nil
}

// Kill ends the process with SIGKILL and waits until it has gone.
func (c *Child) Kill() error {
	err := c.Signal(syscall.SIGKILL)
	if err == nil {
		<-c.done
	}
	return err
}

// Stop asks the process to end with SIGTERM, and kills it when it has not ended within patience.
func (c *Child) Stop(patience time.Duration) error {
	if err := c.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(patience):
		return c.Kill()
	}
}
