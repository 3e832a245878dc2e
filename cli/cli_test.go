package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// run is one call of the program without a terminal. It sets the log of the whole process; parallel tests call runIn.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	code = begin(options{}, append([]string{"--log-file", filepath.Join(t.TempDir(), "log")}, args...), stdin, &o, &e)
	return code, o.String(), e.String()
}

func TestWhatCannotBeDoneSaysWhatToDo(t *testing.T) {
	cases := []struct {
		name string
		args []string
		want []string
	}{
		{"no kubeconfig", []string{"status"}, []string{"kubeconfig", "--kubeconfig"}},
		{"a kubeconfig that is not there", []string{"status", "--kubeconfig", "/nowhere/config"}, []string{"/nowhere/config"}},
		{"no terminal", nil, []string{"needs a terminal", "lockstep status"}},
		{"an unknown format", []string{"status", "-o", "xml"}, []string{`"xml"`, "table, json or yaml"}},
		{"a speed that is none", []string{"demo", "--speed", "0"}, []string{"--speed", "above 0"}},
		{"an unknown scenario", []string{"demo", "--scenario", "nonesuch"}, []string{"nonesuch"}},
		{"an unknown scenario by its name alone", []string{"demo", "nonesuch"}, []string{"nonesuch", "--list"}},
		{"two scenarios", []string{"demo", "smooth", "--scenario", "two-tags"}, []string{"named twice"}},
		{"read-only and armed", []string{"--read-only", "--write"}, []string{"read-only", "write"}},
		{"an unknown flag", []string{"--colour"}, []string{"--colour"}},
		{"help for an unknown command", []string{"help", "bogus"}, []string{`unknown command "bogus"`}},
		{"completion for an unknown shell", []string{"completion", "nosuch"}, []string{`unknown command "nosuch"`}},
		{"a demo without a terminal", []string{"demo"}, []string{"needs a terminal", "lockstep sim"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := run(t, tc.args...)
			if code != exitError || out != "" {
				t.Errorf("exit %d, output %q", code, out)
			}
			if !strings.HasPrefix(errs, "lockstep: ") {
				t.Errorf("the message is %q", errs)
			}
			for _, want := range tc.want {
				if !strings.Contains(errs, want) {
					t.Errorf("the message does not say %q:\n%s", want, errs)
				}
			}
		})
	}
}

func TestVersionAndScenarios(t *testing.T) {
	if code, out, _ := run(t, "version"); code != exitFine || !strings.HasPrefix(out, "lockstep ") {
		t.Errorf("exit %d: %q", code, out)
	}
	if code, out, _ := run(t, "demo", "--list"); code != exitFine || !strings.Contains(out, "manual-nodes") {
		t.Errorf("exit %d: %q", code, out)
	}
}

// What is seen of a simulated cloud that stands still at the beginning of its scenario, with an update under way, by somebody who may only
// read.
func TestCommandsOnACloudThatStandsStill(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{User: kubeapi.Readonly, Paused: true})
		statusIsADocument(t, c)
		statusForPeopleAndForYAML(t, c)
		statusOfWhatCanBeSeen(t, c)
		statusTellsACauseOnce(t, c)
		statusOfAServerThatIsAway(t, c)
		ownersOfANode(t, c)
		ownersWithoutKeystonesLists(t, c)
		passwordsOfOthersAreHidden(t, c)
	})
}

func statusIsADocument(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "status", "-o", "json")
	if code != exitAttention && code != exitFine {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(s.Nodes) != 13 || len(s.Phases) != 5 || !s.Update.Running || len(s.Locks) == 0 {
		t.Errorf("%d nodes, %d phases, %d locks, update %+v", len(s.Nodes), len(s.Phases), len(s.Locks), s.Update)
	}
	for _, src := range s.Sources {
		want := core.SourceLive
		if core.SourceID(src.ID).Server() == core.ServerManagement {
			want = core.SourceOff // no flag names one
		}
		if src.State != string(want) {
			t.Errorf("%s is %s: %s", src.ID, src.State, src.Error)
		}
	}
	if (len(s.NeedsYou) > 0) != (code == exitAttention) {
		t.Errorf("exit %d with %d things that need a person", code, len(s.NeedsYou))
	}
	instances := 0
	for _, n := range s.Nodes {
		if n.Instances != nil {
			instances += *n.Instances
		}
	}
	if instances == 0 {
		t.Error("no node has an instance")
	}
	for _, w := range c.Kube.Requests() {
		if w.Verb != "get" && w.Verb != "list" && w.Verb != "watch" && w.User == kubeapi.Readonly && !strings.Contains(w.Path, "selfsubject") {
			t.Errorf("status wrote: %s %s", w.Verb, w.Path)
		}
	}
}

func statusForPeopleAndForYAML(t *testing.T, c *sim.Cloud) {
	t.Helper()
	_, out, _ := runOn(t, c, "status")
	for _, want := range []string{"PHASE", "worker nodes", "NODE", "\ncmp-03 ",
		"\n12 more nodes: 7 idle, 5 done; nothing is wrong there (--all shows them)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table does not show %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\nctl-01 ") {
		t.Errorf("the table shows a node where nothing happens:\n%s", out)
	}
	if _, out, _ = runOn(t, c, "status", "--all"); !strings.Contains(out, "\nctl-01 ") || strings.Contains(out, "more nodes") {
		t.Errorf("not every node is shown:\n%s", out)
	}
	if _, out, _ = runOn(t, c, "status", "-o", "yaml"); !strings.Contains(out, "\nphases:\n") {
		t.Errorf("no YAML:\n%s", out)
	}
}

// Without a cloud, and without some of the rights, status reports what it can see.
func statusOfWhatCanBeSeen(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.CloudsYAML = nil
	code, out, errs := runIn(t, p, "status", "--kubeconfig", c.KubeconfigPath, "-o", "json")
	if code != exitAttention {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 13 {
		t.Errorf("%d nodes", len(s.Nodes))
	}
	for _, n := range s.Nodes {
		if n.Instances != nil {
			t.Fatalf("%s is said to have %d instances, and nobody was asked", n.Label, *n.Instances)
		}
	}
	off := false
	for _, src := range s.Sources {
		off = off || src.ID == string(core.SourceInstances) && src.State == string(core.SourceOff)
	}
	if !off {
		t.Errorf("the instances' source does not say that it is off: %+v", s.Sources)
	}
}

// A server that cannot be reached is an error with a reason, not an empty page.
func statusOfAServerThatIsAway(t *testing.T, c *sim.Cloud) {
	t.Helper()
	if err := c.Kube.Outage(true); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runOn(t, c, "status")
	if code != exitError || out != "" || !strings.Contains(errs, string(core.ErrUnreachable)) {
		t.Errorf("exit %d, output %q, message %q", code, out, errs)
	}
	if err := c.Kube.Outage(false); err != nil {
		t.Fatal(err)
	}
}

func TestTextsFromServersAreMadeHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		"two\nlines\tand a tab":      "two lines and a tab",
		"\x1b[31mred\x1b[0m":         "[31mred[0m",
		"bell\a and \u202ebidi":      "bell and bidi",
		"\u009b31mC1":                "31mC1",
		"":                           "",
		" spaces \r\n at the edges ": "spaces at the edges",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) is %q, want %q", in, got, want)
		}
	}
	if got := oneLine(strings.Repeat("x", 3*maxLine)); len(got) > maxLine+20 || !strings.HasSuffix(got, "…(cut)") {
		t.Errorf("an endless text became %d bytes", len(got))
	}
}

func TestJournalNamesAreSafe(t *testing.T) {
	a := session.JournalPath("/s", "../../etc/passwd", "https://one")
	if filepath.Dir(a) != "/s/journal" {
		t.Errorf("the journal is %s", a)
	}
	if a == session.JournalPath("/s", "../../etc/passwd", "https://two") {
		t.Error("two servers share a journal because their clusters are called alike")
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "-", 41 * time.Second: "41 s", 12 * time.Minute: "12 m", 161 * time.Minute: "2 h 41 m", 76 * time.Hour: "3 d 4 h",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%s) is %q, want %q", d, got, want)
		}
	}
}
