package attention

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
)

var updateCauses = flag.Bool("update", false, "write docs/causes.md anew")

const (
	causesFile = "../../docs/causes.md"
	domainFile = "../../docs/" + domain
	domain     = "mosk.md"
)

// headings are the anchors of a document.
func headings(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if title, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && strings.HasPrefix(line, "#") {
			title = strings.TrimSpace(title)
			out["#"+strings.ReplaceAll(strings.ToLower(title), " ", "-")] = title
		}
	}
	return out
}

// Every row says what is seen, by what it is told, why it is so and what to do, cites sections that there are, and has its scenario.
func TestEveryRowOfTheTableOfCausesIsWhole(t *testing.T) {
	sections := headings(t, domainFile)
	seen := map[core.DiagnosisID]bool{}
	for _, d := range diagnoses {
		told := d.told()
		if seen[d.id] || d.id == "" {
			t.Errorf("there are two rows %q", d.id)
		}
		seen[d.id] = true
		for what, text := range map[string]string{"symptom": d.symptom, "evidence": d.reads, "cause": told.Cause, "remedy": told.Remedy,
			"section": d.at} {
			if text == "" {
				t.Errorf("%s has no %s", d.id, what)
			}
		}
		if (d.cause == "") != (d.remedy == "") || d.text == "" && d.cause == "" {
			t.Errorf("%s has a cause or a remedy, and not both", d.id)
		}
		if d.lookedUp() == (d.words == "") {
			t.Errorf("%s is told by a log without words, or by words of no log", d.id)
		}
		if len(d.rules) == 0 || len(d.scenarios) == 0 {
			t.Errorf("%s: at entries of %q, in the scenarios %q", d.id, d.rules, d.scenarios)
		}
		for _, rule := range d.rules {
			if _, there := rows[rule]; !there {
				t.Errorf("%s: there is no rule %s", d.id, rule)
			}
		}
		for _, at := range strings.Split(d.at, ", ") {
			if sections[at] == "" {
				t.Errorf("%s: %s has no section %s", d.id, domainFile, at)
			}
		}
	}
}

// No row hides one that stands below it: each can be the first that fits.
func TestNoCauseHidesAnother(t *testing.T) {
	for i, d := range diagnoses {
		for _, before := range diagnoses[:i] {
			if before.fits != nil || before.text != "" || before.lookedUp() {
				continue
			}
			for _, rule := range d.rules {
				if slices.Contains(before.rules, rule) {
					t.Errorf("%s is never told at %s: %s always fits there", d.id, rule, before.id)
				}
			}
		}
	}
}

const causesHead = `# Why an update does not go on

From what is seen to why it is so, and to what can be done. Lockstep tells a cause only where its evidence was read; then the entry's page
(enter in "Needs you") and ` + "`lockstep status --details`" + ` show the row. It is a known cause, and need not be the only one.

**This page is written by a test** (core/attention/diagnoses.go has the table). ` +
	"`go test ./core/attention -run TestTheDocumentOfCauses -update`" + ` writes it anew. Another test plays each row's scenario in the
simulated cloud until the row is told, and looks that no other scenario has it told.

- *read*: the objects and fields by which it is told.
- *forbidden*: what the documents or the controllers' code rule out.
- *from*: the sections of [mosk.md](mosk.md) with the sources, and the page of the documents.
- *texts A to U* are what the OpenStack controller writes into locks ([Texts](mosk.md#texts)).

Errors that the documents do not describe are for Mirantis' support: the operator's guide asks to contact it at once.
`

// causesDocument is docs/causes.md.
func causesDocument(t *testing.T) string {
	t.Helper()
	sections := headings(t, domainFile)
	var b strings.Builder
	b.WriteString(causesHead)
	for _, d := range diagnoses {
		told := d.told()
		fmt.Fprintf(&b, "\n## %s\n\n", d.id)
		line := func(what, text string) {
			if text != "" {
				fmt.Fprintf(&b, "- *%s*: %s\n", what, text)
			}
		}
		line("seen", d.symptom)
		line("read", d.reads)
		if d.words != "" {
			by := "a line of that log"
			if d.events != nil {
				by = "one of these events"
			}
			line("told by", by+" with `"+d.words+"`; it is read when the entry's page is opened, or by `lockstep status --details`")
		}
		line("cause", told.Cause)
		line("to do", told.Remedy)
		line("forbidden", d.forbidden)
		var from []string
		if d.issue != "" {
			from = append(from, "known issue "+d.issue+" of the release notes")
		}
		for _, at := range strings.Split(d.at, ", ") {
			from = append(from, "["+sections[at]+"]("+domain+at+")")
		}
		if page := consequences[d.rules[0]].page; page != core.PageNone {
			name := page.Section
			if name == "" {
				name = "the documents' page"
			}
			from = append(from, "["+name+"]("+page.URL()+")")
		}
		line("from", strings.Join(from, ", "))
		var rules []string
		for _, rule := range d.rules {
			rules = append(rules, "`"+string(rule)+"`")
		}
		line("told at", "entries "+strings.Join(rules, ", "))
		line("try it", "`lockstep demo "+d.scenarios[0]+"`")
	}
	b.WriteString("\n## What is not told\n\n| what | why |\n|---|---|\n")
	for _, l := range leftOut {
		fmt.Fprintf(&b, "| %s | %s |\n", l.what, l.why)
	}
	return b.String()
}

// The document matches the table.
func TestTheDocumentOfCauses(t *testing.T) {
	got := causesDocument(t)
	if *updateCauses {
		if err := os.WriteFile(causesFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(causesFile)
	if err != nil {
		t.Fatalf("%v (run the tests with -update)", err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the table says; look at it and run with -update.\n--- is\n%s", causesFile, got)
	}
}
