package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/e2e/cluster"
	"lockstep/e2e/terminal"
)

// program is the real binary in a terminal, and the folder in which it keeps its state.
type program struct {
	*terminal.Terminal
	t     testing.TB
	state string
}

// start says how the program is started. The zero value is the operator's own way, at 120 columns and 40 rows.
type start struct {
	columns, rows int
	user          cluster.User // whose kubeconfig; Operator by default
	kubeconfig    string       // a path instead
	cloud         string       // of the world's clouds.yaml; cloudOperator by default
	cloudsYAML    string       // a path instead of the world's
	state         string       // a state folder of an earlier run
	args          []string     // further ones
}

// launch starts the program against the world.
func (w *world) launch(t testing.TB, s start) *program {
	t.Helper()
	if s.kubeconfig == "" {
		path, err := w.WriteKubeconfig(cmp.Or(s.user, cluster.Operator))
		if err != nil {
			t.Fatal(err)
		}
		s.kubeconfig = path
	}
	s.cloudsYAML = cmp.Or(s.cloudsYAML, w.cloudsYAML)
	s.state = cmp.Or(s.state, t.TempDir())
	args := append([]string{"--kubeconfig", s.kubeconfig, "--os-cloud", cmp.Or(s.cloud, cloudOperator)}, s.args...)
	return launch(t, s, args...)
}

// environment is all that the program sees of its surroundings.
func environment(t testing.TB, s start) []string {
	return []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=" + t.TempDir(),
		"XDG_STATE_HOME=" + s.state, "OS_CLIENT_CONFIG_FILE=" + s.cloudsYAML, "GORACE=exitcode=0 log_path=" + filepath.Join(s.state, "race")}
}

// launch starts the program with the arguments.
func launch(t testing.TB, s start, args ...string) *program {
	t.Helper()
	options := terminal.Options{Columns: cmp.Or(s.columns, 120), Rows: cmp.Or(s.rows, 40), Env: environment(t, s)}
	term, err := terminal.Start(options, lockstep, args...)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Terminal: term, t: t, state: s.state}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the journal:\n%s", p.story(20))
			t.Logf("the end of the program's log:\n%s", tail(t, filepath.Join(s.state, "lockstep", "lockstep.log"), 2000))
		}
		if err := term.Close(); err != nil {
			t.Errorf("close the terminal: %v", err)
		}
		for _, report := range races(t, s.state) {
			t.Errorf("the race detector:\n%s", report)
		}
	})
	return p
}

// races are the race detector's reports, where the program was built with it (raceVariable). Left out is one of Bubble Tea's
// own: on its way out its reader of the terminal closes the file on which it still waits.
func races(t testing.TB, state string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(state, "race.*"))
	if err != nil {
		t.Fatal(err)
	}
	var reports []string
	for _, path := range paths {
		for report := range strings.SplitSeq(tail(t, path, 1<<20), "==================") {
			if strings.Contains(report, "DATA RACE") && !strings.Contains(report, "github.com/muesli/cancelreader") {
				reports = append(reports, report)
			}
		}
	}
	return reports
}

// press presses keys.
func (p *program) press(keys ...string) {
	p.t.Helper()
	if err := p.Press(keys...); err != nil {
		p.t.Fatal(err)
	}
}

// wants waits until all of the texts stand on one screen.
func (p *program) wants(texts ...string) terminal.Screen {
	p.t.Helper()
	conditions := make([]terminal.Condition, len(texts))
	for i, text := range texts {
		conditions[i] = terminal.Shows(text)
	}
	return p.Want(p.t, terminal.All(conditions...))
}

// wantsGone waits until none of the texts stands on the screen.
func (p *program) wantsGone(texts ...string) terminal.Screen {
	p.t.Helper()
	conditions := make([]terminal.Condition, len(texts))
	for i, text := range texts {
		conditions[i] = terminal.Hides(text)
	}
	return p.Want(p.t, terminal.All(conditions...))
}

// wantsRow waits until one row has all of the texts.
func (p *program) wantsRow(texts ...string) terminal.Screen {
	p.t.Helper()
	return p.Want(p.t, row(texts...))
}

// row holds when one row of the screen has all of the texts.
func row(texts ...string) terminal.Condition {
	return terminal.That(fmt.Sprintf("a row with all of %q", texts), func(s terminal.Screen) bool {
		for _, line := range s.Lines() {
			all := true
			for _, text := range texts {
				all = all && strings.Contains(line, text)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// arm switches writing on, as an operator does.
func (p *program) arm() {
	p.t.Helper()
	p.press("w")
	p.wants("Switch writing on?", "[ Cancel ]")
	p.press("tab")
	p.wants("[ Switch on ]")
	p.press("enter")
	p.wants("ARMED", "holds the lease")
}

// confirm presses Confirm in the open dialog, which must be ready for it.
func (p *program) confirm() {
	p.t.Helper()
	p.wants("Ready.", "[ Cancel ]")
	p.pressUntil("tab", terminal.Shows("[ Confirm ]"))
	p.press("enter")
	p.wantsGone("Before this may happen")
}

// pressUntil presses a key again and again until the screen is as wanted: for a moment after a box has changed by itself it
// takes no keys.
func (p *program) pressUntil(key string, wanted terminal.Condition) {
	p.t.Helper()
	for range 20 {
		p.press(key)
		ctx, cancel := context.WithTimeout(p.t.Context(), time.Second)
		_, err := p.WaitFor(ctx, wanted)
		cancel()
		if err == nil {
			return
		}
	}
	p.t.Fatalf("the key %s does not lead to %s:\n%s", key, wanted, p.Screen())
}

// records are the lines of the program's journal.
func (p *program) records() []core.Record {
	p.t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.state, "lockstep", "journal", "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	var all []core.Record
	for _, path := range paths {
		skipped, err := core.ReadJournal(path, func(r core.Record) { all = append(all, r) })
		if err != nil || skipped > 0 {
			p.t.Fatalf("read the journal: %d lines are no records, %v", skipped, err)
		}
	}
	return all
}

// story is the last n records of the journal, for a test's failure text.
func (p *program) story(n int) string {
	var text strings.Builder
	records := p.records()
	for _, r := range records[max(0, len(records)-n):] {
		fmt.Fprintf(&text, "%s %s %s %s %s → %s %s %s\n", r.Wall.Format("15:04:05.000"), r.Kind, r.Title, r.Node, r.From, r.To, r.State, r.Error)
	}
	return text.String()
}

// keepsNoSecret fails the test when a file of the state folder, or the screen, has one of the secrets in it.
func (p *program) keepsNoSecret(secrets []string) {
	p.t.Helper()
	files := 0
	err := filepath.WalkDir(p.state, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, secret := range secrets {
			if strings.Contains(string(raw), secret) {
				p.t.Errorf("%s has a secret in it", path)
			}
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if files < 2 {
		p.t.Errorf("the state folder has %d files; a journal and a log are expected", files)
	}
	for _, secret := range secrets {
		if p.Screen().Contains(secret) {
			p.t.Error("the screen shows a secret")
		}
	}
}

// decoded reads a body.
func decoded[T any](t testing.TB, raw []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	return value
}
