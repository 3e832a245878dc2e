// Package terminal runs a program in a pseudo-terminal and emulates the screen that its user would see: type keys, wait for what
// appears, read the text and the colours.
package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"lockstep/e2e/child"
)

// stopPatience is how long a program may take to leave after SIGTERM. It ends what hangs, and does not judge how busy the machine is.
const stopPatience = time.Minute

// Options describe the terminal in which a program is started.
type Options struct {
	Columns, Rows int      // 80 and 24 when zero
	Dir           string   // working directory; the caller's when empty
	Env           []string // the whole environment, as KEY=value; nothing is inherited

	// Foreground and Background are the answers when the program asks for the terminal's colours; white on black when nil.
	Foreground, Background color.Color

	// Patience is how long Want waits; the constant Patience when zero.
	Patience time.Duration

	// Mute keeps the terminal from answering questions, like some terminals over a slow link.
	Mute bool
}

// Terminal is a running program and its screen. Its methods may be called from any goroutine.
type Terminal struct {
	child    *child.Child
	pty      *os.File // the terminal's end of the pseudo-terminal
	input    *input
	patience time.Duration

	mu       sync.Mutex
	emulator *vt.Emulator
	state    state
	changed  chan struct{} // closed and replaced when the screen may have changed
	ended    chan struct{} // closed when the program's last output is on the screen
}

// state is what the emulator reports by callbacks, guarded by Terminal.mu.
type state struct {
	written   int64        // bytes that the program has written
	at        time.Time    // when the last bytes of what is shown came
	title     string       // window title
	hidden    bool         // the cursor is hidden
	altScreen bool         // the alternate screen is shown
	modes     map[int]bool // DEC private modes that the program has set
	keyboards int          // keyboard enhancements pushed and not popped (kitty protocol)
	frozen    *Screen      // the last whole frame, while the program draws the next (mode 2026)
}

// Start runs the program in a new terminal. The caller calls Close.
func Start(options Options, program string, args ...string) (*Terminal, error) {
	if options.Columns == 0 {
		options.Columns = 80
	}
	if options.Rows == 0 {
		options.Rows = 24
	}
	master, slave, err := openPty()
	if err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	defer slave.Close() // the child has its own copy
	if err := pty.Setsize(master, winsize(options.Columns, options.Rows)); err != nil {
		return nil, errors.Join(fmt.Errorf("set the terminal's size: %w", err), master.Close())
	}

	if signal.Ignored(syscall.SIGHUP) {
		// Under nohup the program would inherit an ignored SIGHUP, and would not notice a lost session. A signal that is caught here
		// is reset to its default in a child.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = options.Dir
	cmd.Env = options.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	process, err := child.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, master.Close())
	}

	t := &Terminal{
		child:    process,
		pty:      master,
		input:    newInput(),
		patience: cmp.Or(options.Patience, Patience),
		changed:  make(chan struct{}),
		ended:    make(chan struct{}),
		state:    state{modes: map[int]bool{}},
	}
	t.emulator = t.newEmulator(options)
	go t.input.copyTo(master)
	go t.readAnswers(options.Mute)
	go t.readOutput()
	return t, nil
}

// openPty opens a pseudo-terminal whose master can be closed while it is being read. The master of pty.Open cannot: its file is
// in blocking mode, Close would wait for the read, and the program would never get its SIGHUP.
func openPty() (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(blocking.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("duplicate the master: %w", err), slave.Close())
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("unblock the master: %w", err), syscall.Close(fd), slave.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), slave, nil
}

func winsize(columns, rows int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}
}

// newEmulator makes the emulator and has it report what the screen's cells do not show.
func (t *Terminal) newEmulator(options Options) *vt.Emulator {
	emulator := vt.NewEmulator(options.Columns, options.Rows)
	if options.Foreground != nil {
		emulator.SetDefaultForegroundColor(options.Foreground)
	}
	if options.Background != nil {
		emulator.SetDefaultBackgroundColor(options.Background)
	}
	// The emulator answers the program's question for synchronized output only if it knows the mode, which a reset makes it know.
	if _, err := io.WriteString(emulator, ansi.ResetModeSynchronizedOutput); err != nil {
		panic(err) // an open emulator takes every byte
	}

	// The callbacks run inside emulator.Write, with t.mu held.
	emulator.SetCallbacks(vt.Callbacks{
		Title:            func(title string) { t.state.title = title },
		AltScreen:        func(on bool) { t.state.altScreen = on },
		CursorVisibility: func(visible bool) { t.state.hidden = !visible },
		EnableMode:       func(mode ansi.Mode) { t.setMode(mode, true) },
		DisableMode:      func(mode ansi.Mode) { t.setMode(mode, false) },
	})
	emulator.RegisterCsiHandler(ansi.Command('>', 0, 'u'), func(ansi.Params) bool {
		t.state.keyboards++
		return true
	})
	emulator.RegisterCsiHandler(ansi.Command('<', 0, 'u'), func(params ansi.Params) bool {
		n, _, _ := params.Param(0, 1)
		t.state.keyboards = max(0, t.state.keyboards-max(1, n))
		return true
	})
	return emulator
}

// setMode follows the DEC private modes. While the program draws a frame in synchronized output, the screen stays as it was.
func (t *Terminal) setMode(mode ansi.Mode, on bool) {
	dec, ok := mode.(ansi.DECMode)
	if !ok {
		return
	}
	if dec == ansi.ModeSynchronizedOutput {
		if on && t.state.frozen == nil {
			whole := t.screen()
			t.state.frozen = &whole
		} else if !on {
			t.state.frozen = nil
		}
		return
	}
	if on {
		t.state.modes[int(dec)] = true
	} else {
		delete(t.state.modes, int(dec))
	}
}

// readOutput feeds the program's output to the emulator until the program and all of its children have closed the terminal.
func (t *Terminal) readOutput() {
	defer close(t.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := t.pty.Read(buffer)
		came := time.Now()
		t.mu.Lock()
		t.state.written += int64(n)
		if _, werr := t.emulator.Write(buffer[:n]); werr != nil {
			panic(werr) // an open emulator takes every byte
		}
		if err != nil {
			t.state.frozen = nil // nobody will finish the frame
		}
		if t.state.frozen == nil {
			t.state.at = came
		}
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return // EIO: the last process has closed its end
		}
	}
}

// readAnswers hands the terminal's answers (device attributes, colours, modes) to the program. The emulator blocks until somebody
// takes an answer.
func (t *Terminal) readAnswers(mute bool) {
	buffer := make([]byte, 4096)
	for {
		n, err := t.emulator.Read(buffer)
		if n > 0 && !mute {
			t.input.add(buffer[:n], 0)
		}
		if err != nil {
			return
		}
	}
}

// Resize changes the terminal's size; the program gets SIGWINCH.
func (t *Terminal) Resize(columns, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emulator.Resize(columns, rows)
	if err := pty.Setsize(t.pty, winsize(columns, rows)); err != nil {
		return fmt.Errorf("set the terminal's size: %w", err)
	}
	return nil
}

// PID returns the program's process ID.
func (t *Terminal) PID() int { return t.child.PID() }

// Signal sends the program a signal.
func (t *Terminal) Signal(signal syscall.Signal) error { return t.child.Signal(signal) }

// Exited returns a channel that is closed when the program has ended.
func (t *Terminal) Exited() <-chan struct{} { return t.child.Done() }

// ExitCode waits for the program to end and for its last output to be on the screen, and returns its exit code, or -1 when a
// signal ended it.
func (t *Terminal) ExitCode() int {
	code := t.child.ExitCode()
	<-t.ended
	return code
}

// HangUp takes the terminal away, as a lost ssh session does: the program gets SIGHUP and an end of file. Its screen can still be
// read.
func (t *Terminal) HangUp() error {
	t.input.close()
	return t.pty.Close()
}

// Close ends the program, with SIGTERM first, and the terminal.
func (t *Terminal) Close() error {
	err := t.child.Stop(stopPatience)
	t.input.close()
	if cerr := t.pty.Close(); cerr != nil && !errors.Is(cerr, os.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	<-t.ended
	// Emulator.Close would race with Emulator.Read.
	if pipe, ok := t.emulator.InputPipe().(io.Closer); ok {
		err = errors.Join(err, pipe.Close())
	}
	return err
}
