package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/cli/outputfile"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fleet.yaml")
	if err := outputfile.Write(path, []byte("one"), false); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	if err := outputfile.Write(path, []byte("two"), false); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a file was replaced, or nobody says how: %v", err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "one" {
		t.Errorf("the file is %q", raw)
	}
	if err := outputfile.Write(path, []byte("three"), true); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "three" {
		t.Errorf("the file is %q", raw)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was left behind: %v (%v)", entries, err)
	}
	for _, bad := range []string{"", dir, filepath.Join(dir, "nowhere", "x.yaml"), path} {
		if err := outputfile.Check("-o", bad, false); err == nil {
			t.Errorf("%q can be written", bad)
		}
	}
	if err := outputfile.Check("-o", path, true); err != nil {
		t.Error(err)
	}
	if err := outputfile.Check("-o", os.DevNull, true); err == nil { // root could put a file in its place
		t.Error("a device can be replaced")
	}
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := outputfile.Write(link, []byte("four"), true); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	if to, err := os.Readlink(link); string(raw) != "four" || err != nil || to != path {
		t.Errorf("the link leads to %q (%v), and the file is %q", to, err, raw)
	}
}

// A snapshot of everything, as a file and on standard output, of half of it, and of nothing.
func TestASnapshotOfWhatCanBeRead(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{Paused: true})
		snapshotOnStandardOutput(t, c)
		snapshotIsRebuilt(t, c)
		snapshotOfWhatCanBeRead(t, c)
		everySourceIsMissed(t, c)
	})
}

// A snapshot on standard output is the file and nothing else.
func snapshotOnStandardOutput(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "snapshot", "-o", "-")
	if code != exitFine || !strings.HasPrefix(out, "# A live cloud as `lockstep snapshot` found it: mos as of ") ||
		!strings.HasSuffix(out, "\n...\n") {
		t.Errorf("exit %d: %.200s … %q", code, out, errs)
	}
	if !strings.HasPrefix(errs, "Wrote the inventory: 13 nodes, ") {
		t.Errorf("what is said is %q", errs)
	}
	// Role labels and the management cluster come from the configuration, as everywhere.
	if code, _, errs := runOn(t, c, "snapshot", "-o", "-", "--config", "/nowhere/config.yaml"); code != exitError ||
		!strings.Contains(errs, "/nowhere/config.yaml") {
		t.Errorf("with a configuration that is not there: exit %d, %s", code, errs)
	}
}

// What cannot be read is missing in the file, and the output and the exit code say so; the rest is there.
func snapshotOfWhatCanBeRead(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.CloudsYAML = nil
	file := filepath.Join(t.TempDir(), "half.yaml")
	code, out, errs := runIn(t, p, "snapshot", "--kubeconfig", c.KubeconfigPath, "-o", file)
	if code != exitAttention || strings.Contains(out, "COULD NOT BE READ") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{errs, string(raw)} {
		if !strings.Contains(text, "COULD NOT BE READ: all of OpenStack: ") {
			t.Errorf("nobody says that OpenStack is missing:\n%s", text)
		}
	}
	if !strings.Contains(errs, "--os-cloud") || !strings.Contains(string(raw), "kaas-node-") {
		t.Errorf("the remedy, or the nodes, are missing:\n%s\n%s", errs, raw)
	}
	if err := c.Kube.Outage(true); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Kube.Outage(false); err != nil {
			t.Error(err)
		}
	}()
	none := filepath.Join(t.TempDir(), "none.yaml")
	if code, _, errs = runIn(t, p, "snapshot", "--kubeconfig", c.KubeconfigPath, "-o", none); code != exitError ||
		!strings.Contains(errs, "unreachable") {
		t.Errorf("with nothing to see the exit code is %d: %s", code, errs)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a file with nothing in it was written")
	}
}

// A file that cannot be rehearsed is refused before the screen opens, with every error and its place.
func TestAFileThatCannotBeRehearsed(t *testing.T) {
	good, err := os.ReadFile(foundYAML)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "broken.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	line := func(mark string) string { // the number of the line that has it
		head, _, found := strings.Cut(string(good), mark)
		if !found {
			t.Fatalf("the file has no %q", mark)
		}
		return fmt.Sprintf("line %d", strings.Count(head, "\n")+1)
	}
	tests := []struct {
		name, path string
		want       []string
	}{
		{"no such file", "/nowhere/fleet.yaml", []string{"/nowhere/fleet.yaml"}},
		{"a kubeconfig", write("apiVersion: v1\nkind: Config\n"), []string{"kubeconfig"}},
		{"a scenario that somebody wrote", write(handWritten), []string{"not an inventory of a live cloud", "--scenario"}},
		{"an unknown host", write(strings.Replace(string(good), "host: cmp-3,", "host: cmp-99,", 1)), []string{"cmp-99", line("host: cmp-3,")}},
		{"an unknown field", write(strings.Replace(string(good), "nodeRequests:", "nodeRequest:", 1)),
			[]string{"nodeRequest", line("nodeRequests:")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out, errs := run(t, "demo", "--from", test.path)
			if code != exitError || out != "" {
				t.Errorf("exit %d, output %q", code, out)
			}
			for _, want := range test.want {
				if !strings.Contains(errs, want) {
					t.Errorf("%q is missing in:\n%s", want, errs)
				}
			}
		})
	}
}

// handWritten is a scenario without anything from a snapshot.
const handWritten = `name: small
title: One node
release: {from: 1.0.0, to: 2.0.0}
kubelet: {from: v1.30.0, to: v1.31.0}
rockoon: {from: 1.0.0, to: 1.1.0}
nodes:
  - {machine: cmp-01, roles: [compute]}
`
