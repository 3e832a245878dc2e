//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// signalsFile names, in a child process, the pipe that it reads; empty: this is no child.
const signalsFile = "LOCKSTEP_TEST_SIGNALS"

// A program that reads from a pipe does not see that it is to end. The second signal ends it all the same.
func TestTheSecondSignalEndsTheProgram(t *testing.T) {
	if path := os.Getenv(signalsFile); path != "" {
		os.Exit(Main([]string{"check", "--against", path}, os.Stdin, os.Stdout, os.Stderr))
	}
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count", "1")
	cmd.Env = append(os.Environ(), signalsFile+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // it opens when the program reads, and signals are caught by then
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for late := time.After(time.Minute); ; {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended just now
		select {
		case <-ended:
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
				t.Errorf("it ended otherwise: %v", cmd.ProcessState)
			}
			return
		case <-late:
			t.Fatal("it has not ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Whoever has a signal ignored, as nohup does with SIGHUP, wants the program to go on.
func TestAnIgnoredSignalIsNotCaught(t *testing.T) {
	if os.Getenv(signalsFile) != "" {
		fmt.Println("caught:", endSignals(syscall.SIGHUP, syscall.SIGTERM))
		return
	}
	caught := make(chan os.Signal, 1) // a signal that is caught here is as it was born in a child, also where nohup runs the tests
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for trap, want := range map[string]string{"": "caught: [hangup terminated]", "trap '' HUP; ": "caught: [terminated]"} {
		cmd := exec.Command("sh", "-c", trap+`exec "$0" -test.run "^$1$" -test.count 1`, os.Args[0], t.Name())
		cmd.Env = append(os.Environ(), signalsFile+"=-")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want+"\n") {
			t.Errorf("%q: %v, %s; want %s", trap, err, out, want)
		}
	}
}
