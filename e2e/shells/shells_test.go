package shells

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lockstep/e2e/build"
	"lockstep/e2e/terminal"
	"lockstep/sim"
)

// setupTimeout is generous: the first build takes minutes.
const setupTimeout = 20 * time.Minute

// shells are those for which Lockstep has a script, as they start without anybody's settings, and how the script is taken in.
var shells = []struct {
	name string
	args []string
	load string
}{
	{"bash", []string{"--norc", "--noprofile", "-i"}, "source <(lockstep completion bash)"},
	{"zsh", []string{"-f", "-i"}, "autoload -Uz compinit && compinit -u && source <(lockstep completion zsh)"},
	{"fish", []string{"--no-config", "-i"}, "lockstep completion fish | source"},
}

// Each shell completes commands, and the names of live nodes, instances, and entries of "Needs you", while a person types.
func TestEachShellCompletesLiveNames(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	lockstep, err := build.Lockstep(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := sim.Start(t.Context(), sim.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, shell := range shells {
		t.Run(shell.name, func(t *testing.T) {
			program, err := exec.LookPath(shell.name)
			if err != nil {
				t.Fatalf("%s is needed to try its completion: apt-get install %s", shell.name, shell.name)
			}
			home := t.TempDir()
			screen, err := terminal.Start(terminal.Options{Columns: 160, Rows: 40, Dir: home, Env: []string{
				"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "PATH=" + filepath.Dir(lockstep) + ":" + os.Getenv("PATH"),
				"TERM=xterm-256color", "LANG=C.UTF-8", "PS1=ready> ",
				"KUBECONFIG=" + cloud.KubeconfigPath, "OS_CLIENT_CONFIG_FILE=" + cloud.CloudsYAMLPath, "OS_CLOUD=" + cloud.CloudName,
			}}, program, shell.args...)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				// An interactive shell does not leave for SIGTERM.
				if err := errors.Join(screen.Press("ctrl+u", "e", "x", "i", "t", "enter"), screen.Close()); err != nil {
					t.Errorf("stop %s: %v", shell.name, err)
				}
			}()
			press := func(keys ...string) {
				t.Helper()
				if err := screen.Press(keys...); err != nil {
					t.Fatal(err)
				}
			}
			number := 0
			// done waits until all that was typed before has been done: the shell computes a number that nobody typed.
			done := func() {
				t.Helper()
				number++
				screen.Type(fmt.Sprintf(" expr %d + 7000", number))
				press("enter")
				screen.Want(t, terminal.Shows(fmt.Sprint(number+7000)))
			}
			screen.Type(shell.load)
			press("enter")
			done()
			for _, try := range []struct{ typed, completed string }{
				{"lockstep hando", "lockstep handover"},
				{"lockstep plan cm", "lockstep plan cmp-0"}, // as far as all have it
				{"lockstep note --node g", "--node gtw-0"},
				{"lockstep note --instance build-c", "--instance build-cache"},
				{"lockstep note --entry will-h", "--entry will-hold/"},
			} {
				screen.Type(try.typed)
				press("tab")
				screen.Want(t, terminal.Shows(try.completed))
				press("ctrl+u")
				done()
			}
		})
	}
}
