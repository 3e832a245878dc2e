package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script for bash completes in a bash that has no package for it, and says nothing.
func TestPlainBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("the completion is for bash, and there is none: install it, as make needs it too")
	}
	code, script, errs := runIn(t, options{}, "completion", "bash")
	if code != exitFine {
		t.Fatal(errs)
	}
	if _, help, _ := runIn(t, options{}, "completion", "bash", "--help"); strings.Contains(help, "depends on") {
		t.Errorf("the help asks for a package:\n%s", help)
	}
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"lockstep plan ":             "asked:__complete plan",
		"lockstep plan cmp-":         "asked:__complete plan cmp-",
		"lockstep note --node cmp-0": "asked:__complete note --node cmp-0",
		"lockstep plan --wait=5s c":  "asked:__complete plan --wait=5s c",
	} {
		// The program is a function here, which offers what it was asked for.
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", `unset -f _get_comp_words_by_ref _init_completion
. "$1"
compopt() { :; } # it works in a completion only
lockstep() { echo "asked:$*" >>"$asked"; printf 'cmp-01\n:4\n'; }
asked=$1.asked; : >"$asked"
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9 COMP_KEY=9
__start_lockstep lockstep
cat "$asked"`, "bash", path, typed)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		said, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("%q: %q, %v, want %q", typed, said, err, want)
		}
	}
}
