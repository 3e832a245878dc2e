package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/scripts.md has each command whose help tells of an exit code, and no others, and its table says that they have one.
func TestTheTableOfExitCodesHasWhatTheHelpSays(t *testing.T) {
	raw, err := os.ReadFile("../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // by command: what its codes mean
	for _, line := range strings.Split(string(raw), "\n") {
		if g := regexp.MustCompile("^\\| `([a-z ]+)` \\|(.*)\\|$").FindStringSubmatch(line); g != nil && strings.Count(line, "|") == 6 {
			rows[g[1]] = strings.Split(g[2], "|")
		}
	}
	if len(rows) < 5 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	said := map[string]bool{}
	var walk func(*cobra.Command, string)
	walk = func(c *cobra.Command, name string) {
		help := strings.Join(strings.Fields(c.Long), " ")
		if i := strings.Index(help, "exit code is 0 "); i >= 0 {
			said[name] = true
			for code, meaning := range rows[name] {
				want := regexp.MustCompile(`\b` + string(rune('0'+code)) + `\b`).MatchString(help[i:])
				if has := strings.TrimSpace(meaning) != ""; has != want {
					t.Errorf("%s: its help tells of the exit code %d: %v, the table: %v", name, code, want, has)
				}
			}
			if rows[name] == nil {
				t.Errorf("%s has exit codes that the table does not have", name)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub, strings.TrimSpace(name+" "+sub.Name()))
		}
	}
	walk(newRoot(&options{}, nil), "")
	for name := range rows {
		if !said[name] {
			t.Errorf("the table has %s, whose help tells of no exit codes", name)
		}
	}
}

// As kubectl's plugin the program calls itself as it was called.
func TestAsAPluginItIsCalledKubectlLockstep(t *testing.T) {
	for name, want := range map[string]string{"/usr/bin/kubectl-lockstep": "kubectl lockstep", "kubectl-lockstep.exe": "kubectl lockstep",
		"bin/lockstep": "lockstep"} {
		root := &cobra.Command{Use: "lockstep", Annotations: calledAs(name)}
		if got := root.CommandPath(); got != want {
			t.Errorf("%s is called %q", name, got)
		}
	}
}
