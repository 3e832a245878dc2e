package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// asParent makes this test binary a process that starts a child and waits to be killed.
const asParent = "CHILD_TEST_AS_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) == "" {
		os.Exit(m.Run())
	}
	// Descriptor 3 is the end of a pipe; only the child may hold it.
	held := os.NewFile(3, "pipe")
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = []*os.File{held}
	if _, err := Start(cmd); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	held.Close()
	fmt.Println("started")
	select {}
}

func TestAChildDiesWithItsParent(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	parent.ExtraFiles = []*os.File{writer}
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	line, err := bufio.NewReader(output).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("the parent says %q (%v)", line, err)
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // an error: it was killed
	// The pipe ends when the last process that holds its other end has gone.
	if err := reader.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("the child lives on: %v", err)
	}
}

func TestHowAChildEnds(t *testing.T) {
	tests := []struct {
		name, script string
		end          func(*Child) error
		code         int
		state        string
	}{
		{"by itself", "exit 3", func(*Child) error { return nil }, 3, "exit status 3"},
		{"killed", "sleep 600 & wait", (*Child).Kill, -1, "signal: killed"},
		{"stopped", "sleep 600 & wait", func(c *Child) error { return c.Stop(time.Minute) }, -1, "signal: terminated"},
		{"stopped, but deaf", "trap '' TERM; echo deaf; while :; do sleep 0.01; done", func(c *Child) error { return c.Stop(time.Millisecond) },
			-1, "signal: killed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", test.script)
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			cmd.Stdout = writer
			c, err := Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			writer.Close()
			if test.name == "stopped, but deaf" {
				// It ignores signals once it has written something.
				if _, err := reader.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.end(c); err != nil {
				t.Fatal(err)
			}
			if code, state := c.ExitCode(), c.State(); code != test.code || state != test.state {
				t.Errorf("exit code %d, state %q; want %d, %q", code, state, test.code, test.state)
			}
			if !c.Exited() {
				t.Error("it has not ended")
			}
			if err := c.Kill(); err != nil {
				t.Errorf("killing a dead child is no error, but %v", err)
			}
		})
	}
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	if _, err := Start(exec.Command("/nowhere/program")); err == nil {
		t.Error("it has started")
	}
}
