package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A plan that is stuck: the commands that are told for it, and notes.
func TestCommandsAndNotesOfAPlanThatIsStuck(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "plan-stuck")})
		time.Sleep(20 * time.Minute)
		commandsNameWhatTheFlagsName(t, c)
		notesAreRefused(t, c)
		notesNeedTheirJournal(t, c)
		notesSetEntriesAside(t, c)
	})
}

// A note that is written on the command line is listed, sets its entry aside in a status, and is done.
func notesSetEntriesAside(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	call := func(args ...string) (code int, out, errs string) {
		t.Helper()
		return runIn(t, p, append(args, "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)...)
	}
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := call(args...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		return out
	}
	status := func() (s Status, code int) {
		t.Helper()
		code, out, errs := call("status", "-o", "json")
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		return s, code
	}
	before, code := status()
	if code != exitAttention || len(before.NeedsYou) == 0 {
		t.Fatalf("exit %d with %+v", code, before.NeedsYou)
	}
	if out := run("notes"); out != "There are no notes.\n" {
		t.Errorf("%q", out)
	}
	run("note", "the", "window", "ends", "at", "six")
	for _, a := range before.NeedsYou {
		if out := run("note", "bert asks", "--entry", a.ID, "--until", "+45m", "--aside"); !strings.Contains(out, "set aside until") {
			t.Errorf("%q", out)
		}
	}
	s, code := status()
	if code != 0 || len(s.NeedsYou) != len(before.NeedsYou) || s.NeedsYou[0].Aside == nil || s.NeedsYou[0].Aside.Text != "bert asks" {
		t.Errorf("exit %d with %+v", code, s.NeedsYou)
	}
	if out := run("status"); !strings.Contains(out, "SET ASIDE") || !strings.Contains(out, "Nothing needs you now.") {
		t.Errorf("the table does not tell it:\n%s", out)
	}
	var list struct{ Notes []core.Note }
	if err := json.Unmarshal([]byte(run("notes", "-o", "json")), &list); err != nil || len(list.Notes) != 1+len(before.NeedsYou) {
		t.Fatalf("%v, %+v", err, list.Notes)
	}
	if list.Notes[0].Text != "the window ends at six" {
		t.Errorf("the first note is %+v", list.Notes[0])
	}
	var done struct{ Notes []core.Note }
	if err := json.Unmarshal([]byte(run("note", "--done", list.Notes[0].ID, "-o", "json")), &done); err != nil || len(done.Notes) != 1 ||
		!done.Notes[0].Done || done.Notes[0].ID != list.Notes[0].ID {
		t.Errorf("the note that is done: %v, %+v", err, done.Notes)
	}
	if out := run("notes"); strings.Contains(out, "six") || !strings.Contains(out, "bert asks") {
		t.Errorf("what is done is listed:\n%s", out)
	}
	if out := run("notes", "--all"); !strings.Contains(out, "six") {
		t.Errorf("what is done is not listed with all:\n%s", out)
	}
	time.Sleep(46 * time.Minute)
	if s, code := status(); code != exitAttention || s.NeedsYou[0].Aside != nil {
		t.Errorf("it does not come back: exit %d with %+v", code, s.NeedsYou[0])
	}
}

// What cannot be noted is an error that says why.
func notesAreRefused(t *testing.T, c *sim.Cloud) {
	t.Helper()
	for _, tt := range []struct{ args, says string }{
		{"note", "a note needs a text"},
		{"note x --aside", "--aside needs --entry"},
		{"note x --entry a --aside", "--aside needs --until"},
		{"note x --node nowhere", `no node is called "nowhere"`},
		{"note x --instance nobody", `no instance is called "nobody"`},
		{"note x --entry none", "no entry of"},
		{"note x --until soon", "is not a time"},
		{"note x --done 1", "--done takes no text"},
		{"note --done 1", "there is no note 1"},
		{"note x --node a --entry b", "none of the others can be"},
		{"notes -o yaml", "it takes text or json"},
	} {
		if code, out, errs := runOn(t, c, strings.Fields(tt.args)...); code != 1 || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: exit %d, %q, %q; want %q", tt.args, code, out, errs, tt.says)
		}
	}
}

// Without the cluster there is no journal of it, and a journal that cannot be read does not say that there are no notes.
func notesNeedTheirJournal(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Name = ""
	call := func(args string) (code int, out, errs string) {
		t.Helper()
		return runIn(t, p, append(strings.Fields(args), "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)...)
	}
	for _, args := range []string{"note the window ends at six --context gone", "notes --context gone", "note --done 1 --context gone"} {
		if code, out, errs := call(args); code != exitError || out != "" || !strings.Contains(errs, "gone") {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
	if there, err := filepath.Glob(filepath.Join(p.Journal, "journal", "*")); err != nil || len(there) > 0 {
		t.Fatalf("a journal of no cluster: %v, %v", there, err)
	}
	if code, _, errs := call("note x"); code != exitFine {
		t.Fatalf("exit %d, %s", code, errs)
	}
	kept, err := filepath.Glob(filepath.Join(p.Journal, "journal", "*.jsonl"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(kept[0], 0o700); err != nil { // no file that can be read
		t.Fatal(err)
	}
	for _, args := range []string{"notes", "note x"} {
		if code, out, errs := call(args); code != exitError || out != "" || !strings.Contains(errs, "the journal cannot be used") {
			t.Errorf("%s without its journal: exit %d, %q, %q", args, code, out, errs)
		}
	}
}
