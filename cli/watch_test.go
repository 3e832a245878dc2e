package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lockstep/core/attention"
	"lockstep/core/news"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// lines is a writer that several goroutines may use.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// watchedUntil runs `lockstep watch` on a simulated cloud until so holds of what it has printed, and returns that.
func watchedUntil(t *testing.T, p options, so func(out string) bool, args ...string) (out, errs string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var o, e lines
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	ended := make(chan int, 1)
	go func() { ended <- execute(ctx, p, append([]string{"watch"}, args...), stdin, &o, &e) }()
	until(t, "it is printed: "+strings.Join(args, " "), func() bool { return so(o.String()) || len(ended) > 0 })
	stop()
	if code := <-ended; code != exitFine {
		t.Errorf("exit %d: %s", code, e.String())
	}
	return o.String(), e.String()
}

// An update that is followed without a screen, by a watch and by the exporter.
func TestFollowingAnUpdateWithoutAScreen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Timing: brief, User: kubeapi.Readonly})
		metrics, journal := exported(t, c)
		watchPrintsEachChange(t, c)
		metricsAreWhatTheClusterSays(t, metrics)
		keepsTheJournal(t, metrics, journal)
		metricsOutlastTheServers(t, c, metrics)
		for _, r := range c.Kube.Requests() {
			if r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && r.User == kubeapi.Readonly && !strings.Contains(r.Path, "selfsubject") {
				t.Errorf("the watch or the exporter wrote: %s %s", r.Verb, r.Path)
			}
		}
	})
}

// Without a screen, each thing that changes is a line: how everything stands first, then a node from stage to stage, its instances, and
// what comes to need somebody.
func watchPrintsEachChange(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	flags := []string{"--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName}
	out, errs := watchedUntil(t, p, func(out string) bool {
		return strings.Contains(out, " node ") && strings.Contains(out, " migration ") && strings.Contains(out, "URGENT")
	}, flags...)
	first, _, _ := strings.Cut(out, "\n")
	if !hasMoment.MatchString(first) || !strings.Contains(first, " watch     the update to 21.0.0") || strings.Contains(errs, "error") {
		t.Errorf("it begins with %q; %s", first, errs)
	}
	out, _ = watchedUntil(t, p, func(out string) bool { return strings.Contains(out, `"kind":"entry"`) }, append(flags, "-o", "json")...)
	types := readTypes(t)
	for _, raw := range strings.Split(strings.TrimSpace(out), "\n") {
		types.holds(t, "watch", "news.Line", raw, "")
		var l news.Line
		if err := json.Unmarshal([]byte(raw), &l); err != nil || l.Format != news.Format || l.Kind == "" || l.Cluster != "mos" {
			t.Errorf("%v: %s", err, raw)
		}
	}
}

// codeFile names the file for the exit code of a watch in a process of its own, whose standard output nobody reads.
const codeFile = "LOCKSTEP_TEST_CODE_FILE"

// `lockstep watch | head -1` ends in order when head has gone: not by a signal, which would cut a recording off.
func TestAWatchEndsInOrderWhenNobodyReadsIt(t *testing.T) {
	if path := os.Getenv(codeFile); path != "" {
		bubble.Alone(t, func(t *testing.T) {
			c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Timing: brief})
			var errs lines
			code := execute(t.Context(), placeOn(t, c), []string{"watch", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName},
				os.Stdin, os.Stdout, &errs)
			if err := os.WriteFile(path, fmt.Appendf(nil, "%d %s", code, errs.String()), 0o600); err != nil {
				t.Error(err)
			}
		})
		return
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	path := filepath.Join(t.TempDir(), "code")
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count", "1")
	var errs bytes.Buffer
	// What the test itself prints at its end has no reader either: it does not come to removing its own folder.
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), codeFile+"="+path, "TMPDIR="+t.TempDir()), writer, &errs
	how := cmd.Run()
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("it did not end in order: %v %s", how, errs.String())
	}
	if string(code) != "0 " {
		t.Errorf("it ended with %s", code)
	}
}

// fullDisk has no room for any line.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A watch whose output finds no room still has the operator called, and tells once that lines are missing. Without a command it ends, as it
// does when nobody reads it any more.
func TestAWatchWithoutRoomForItsLinesStillCalls(t *testing.T) {
	line := news.Line{Kind: news.KindEntry, Text: "cmp-01 waits"}
	for name, tt := range map[string]struct {
		calls bool
		out   io.Writer
		goOn  bool
	}{
		"with a command":    {true, fullDisk{}, true},
		"without a command": {false, fullDisk{}, false},
		"room":              {false, io.Discard, true},
	} {
		var errs bytes.Buffer
		called := 0
		w := watchOutput{print: watchPrinters[formatText], out: tt.out, stderr: &errs, log: ownLog(t)}
		if tt.calls {
			w.call = func(news.Call) { called++ }
		}
		for range 2 {
			if goOn := w.take([]news.Line{line, line}, []news.Call{{Line: line}}); goOn != tt.goOn {
				t.Fatalf("%s: it goes on: %v", name, goOn)
			}
			if !tt.goOn {
				break
			}
		}
		if told := strings.Count(errs.String(), "lines are missing"); tt.calls && (called != 2 || told != 1) {
			t.Errorf("%s: %d calls, told %d times: %s", name, called, told, errs.String())
		}
	}
}

// A watch knows what is written down while it runs: it reminds of a promise that was made elsewhere.
func watchRemindsOfANoteThatIsWrittenMeanwhile(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Clock = nil
	flags := []string{"--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName}
	noted := false
	out, errs := watchedUntil(t, p, func(out string) bool {
		if !noted && out != "" {
			noted = true
			if code, _, errs := runIn(t, p, append([]string{"note", "ring Erna", "--until", "+1m"}, flags...)...); code != exitFine {
				t.Error(errs)
			}
		}
		return strings.Contains(out, "promised: ring Erna")
	}, flags...)
	if !strings.Contains(out, " warning   the update: promised: ring Erna (until ") {
		t.Errorf("%s%s", out, errs)
	}
}

// The command is run for what is urgent, with the call on its standard input. What it says when it fails is told, and it does not hold up
// the next one.
func TestTheNotifyCommandIsRun(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got := filepath.Join(dir, "got")
	for name, tt := range map[string]struct {
		command []string
		failed  string
	}{
		"it works":                   {[]string{script("ok", `cat >> "$1"`), got}, ""},
		"it fails":                   {[]string{script("fails", "echo no network >&2; exit 3")}, "exit status 3: no network"},
		"it is not there":            {[]string{filepath.Join(dir, "nothing")}, "no such file"},
		"it leaves a process behind": {[]string{script("behind", "sleep 2 & exit 0")}, ""},
		"it reads nothing":           {[]string{script("deaf", "exit 0")}, ""},
	} {
		told := make(chan string, 10)
		c := newCallCommand(tt.command, ownLog(t), func(text string) { told <- text })
		call := news.Call{Line: news.Line{ID: "node-waits/1", Text: "a\nb"}, Held: 2}
		if tt.failed == "" {
			if err := c.one(t.Context(), call); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { c.run(ctx); close(ended) }()
		c.make(call)
		c.make(call)
		for range 2 { // the first failure does not hold up the next call
			if text := <-told; !strings.Contains(text, tt.failed) || strings.Contains(text, "\n") {
				t.Errorf("%s: %q", name, text)
			}
		}
		stop()
		<-ended
	}
	var call news.Call
	if raw, err := os.ReadFile(got); err != nil || json.Unmarshal(raw, &call) != nil || call.ID != "node-waits/1" || call.Held != 2 {
		t.Errorf("it got %s, %v", raw, err)
	}
}

// What is wrong in the section is said, with what is right.
func TestTheSectionNotifyIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"notify: {from: sometimes}":                   `from: "sometimes": want notice, urgent, warning`,
		"notify: {only: [node-waits, no-rule]}":       `only: there is no rule "no-rule"`,
		"notify: {never: [x]}":                        "never: there is no rule",
		"notify: {after: 2h}":                         "after: want 0s to 1h",
		"notify: {quiet: 48h}":                        "quiet: want 0s to 24h",
		"notify: {limit: -1}":                         "limit: want 0",
		"notify: {terminal: [smoke]}":                 "terminal: want some of title, bell",
		"notify: {command: [\"\"]}":                   "command: its first word",
		"notify: {loud: true}":                        "is not a field",
		"notify: {from: warning, terminal: [bell]}":   "",
		"notify: {only: [node-waits], command: [ls]}": "",
	} {
		var c config
		err := c.read(configDefaults)
		if err == nil {
			err = c.read([]byte(text))
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if len(attention.Rules()) < 60 {
		t.Errorf("only %d rules are known", len(attention.Rules()))
	}
}
