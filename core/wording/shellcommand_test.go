package wording

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Names come from APIs, and are pasted into a shell: bash itself says that each stays one word, on one line.
func TestCommandsAreSafeInAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	word := rapid.OneOf(rapid.StringN(0, 30, -1), rapid.StringOf(rapid.RuneFrom([]rune("a'\"\\$`;&|<>(){}[]*?!#~ \n\r\t\x1b\x7f\u202eü"))))
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for _, w := range rapid.SliceOfN(word, 1, 8).Draw(t, "words") {
			want = append(want, strings.ReplaceAll(w, "\x00", "")) // no argument can have it
		}
		line := ShellCommand(want...)
		if strings.ContainsAny(line, "\n\r\t\x1b\x7f") {
			t.Fatalf("%q is not one line of printable text", line)
		}
		out, err := exec.Command(bash, "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
			t.Fatalf("%s\nis %q\nwant %q", line, got, want)
		}
	})
}
