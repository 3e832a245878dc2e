package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/engine"
)

// The command finds the journals by itself, says which line is damaged, and tells scripts by its exit code.
func TestJournalVerifyFindsADamagedLine(t *testing.T) {
	p := options{Place: session.Place{Journal: t.TempDir()}}
	run := func(args ...string) (code int, out, trouble string) {
		var stdout, stderr bytes.Buffer
		code = execute(t.Context(), p, append([]string{"journal"}, args...), nil, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	if code, _, trouble := run("verify"); code != exitError || !strings.Contains(trouble, "there is no journal in "+p.Journal) {
		t.Errorf("without a journal: %d, %s", code, trouble)
	}
	path := session.JournalPath(p.Journal, "mos", "https://mos")
	j, err := engine.OpenJournal(path, engine.JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"one", "two", "three"} {
		if err := j.Write(engine.Record{Kind: engine.RecordAfter, Title: title}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run(); code != exitFine || !strings.HasPrefix(out, path+"\n  no update, 3 lines, ") {
		t.Errorf("the list: %d, %q", code, out)
	}
	code, out, _ := run("verify")
	if code != exitFine || !strings.HasPrefix(out, path+": intact, 3 lines in 1 file\n  its seal is 3:") {
		t.Errorf("intact: %d, %s", code, out)
	}
	_, seal, _ := strings.Cut(out, "its seal is ")
	seal, _, _ = strings.Cut(seal, " ")
	if code, out, _ = run("verify", "--seal", seal); code != exitFine || !strings.Contains(out, "up to number 3 it is as the seal "+seal) {
		t.Errorf("by its seal: %d, %s", code, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := text[:bytes.LastIndexByte(bytes.TrimSpace(text), '\n')+1]
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run("verify", "--seal", seal); code != exitAttention || !strings.Contains(out, "lines were taken off its end") {
		t.Errorf("cut off the end: %d, %s", code, out)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("two"), []byte("2wo"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run("verify", path); code != exitAttention || !strings.Contains(out, ": DAMAGED, 3 lines") ||
		!strings.Contains(out, path+", line 2: changed: it is not as it was written") {
		t.Errorf("changed: %d, %s", code, out)
	}
	code, out, _ = run("verify", "-o", "json")
	var document struct {
		Format   int
		Journals []struct {
			Journal  string
			Intact   bool
			Findings []engine.JournalFinding
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || code != exitAttention || document.Format != 2 {
		t.Fatalf("%d, %v: %s", code, err, out)
	}
	if d := document.Journals; len(d) != 1 || d[0].Intact || len(d[0].Findings) != 1 || d[0].Findings[0].Damage != engine.DamageChanged {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{"verify", "-o", "yaml"}, {"-o", "yaml"}, {"show", "-o", "yaml"}, {"show", "--since", "noon"},
		{"show", "--kind", "grant,nosuch"}, {"show", "-n", "-1"},
		{"merge", path}, {"verify", "--seal", "3"}, {"verify", path, path, "--seal", seal}, {"verify", p.Journal}, {"verify", path + ".gone"}} {
		if code, _, trouble := run(args...); code != exitError || trouble == "" {
			t.Errorf("%q: %d, %s", args, code, trouble)
		}
	}
}

// A time of the day is meant by the cluster's clock, which may be ahead of the machine's.
func TestJournalShowSinceATimeOfTheClustersDay(t *testing.T) {
	p := options{Place: session.Place{Journal: t.TempDir()}}
	j, err := engine.OpenJournal(session.JournalPath(p.Journal, "mos", "https://mos"), engine.JournalOptions{Run: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Now().Local().AddDate(0, 0, 3)
	for _, hour := range []int{20, 22} {
		at := time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, time.Local)
		if err := j.Write(engine.Record{Kind: engine.RecordStage, At: at, Node: "cmp-07", To: fmt.Sprintf("stage %d", hour)}, false); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	var out, errs bytes.Buffer
	code := execute(t.Context(), p, []string{"journal", "show", "--since", "21:00"}, nil, &out, &errs)
	if code != exitFine || strings.Contains(out.String(), "stage 20") || !strings.Contains(out.String(), "stage 22") {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
}

// hasMoment finds when a printed line was, and in which zone that is: whoever gets the line may be elsewhere.
var hasMoment = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d) `)

// A journal's lines are printed one each, those that are wanted; several journals are printed, and merged, as one.
func TestJournalShowPrintsWhatIsWanted(t *testing.T) {
	p := options{Place: session.Place{Journal: t.TempDir()}}
	run := func(args ...string) (code int, out, trouble string) {
		var stdout, stderr bytes.Buffer
		code = execute(t.Context(), p, append([]string{"journal"}, args...), nil, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	at := time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	write := func(who, file string, records ...engine.Record) string {
		path := session.JournalPath(p.Journal, file, "https://"+file)
		j, err := engine.OpenJournal(path, engine.JournalOptions{Run: who})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for _, r := range records {
			r.By = who
			if err := j.Write(r, false); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	waits := engine.Record{Kind: engine.RecordStage, At: at, Node: "kaas-node-7", Label: "cmp-07", Object: &core.Ref{UID: "7"},
		From: "idle", To: "waiting for you"}
	late := waits
	late.At = at.Add(2 * time.Second)
	annas := write("anna", "a", waits, engine.Record{Kind: engine.RecordVerified,
		At: at.Add(time.Minute + 400*time.Millisecond), Title: "live-migrate web-1",
		Intent: &core.Intent{Kind: core.IntentLiveMigrate, Instance: "id-web-1"}, State: "done", Took: 61},
		engine.Record{Kind: engine.RecordEntry, At: at.Add(time.Second), Node: "kaas-node-7", Entry: &engine.EntryRecord{What: engine.EntryCame,
			Severity: "urgent", Label: "cmp-07", Reason: "kaas-node-7 waits"}})
	berts := write("bert", "b", late, engine.Record{Kind: engine.RecordGrant, At: at.Add(30 * time.Second), Title: "stop \x1b[2Jweb-2",
		Intent: &core.Intent{Kind: core.IntentStop, Instance: "id-web-2"}})
	both := []string{annas, berts}
	with := func(flags ...string) []string { return slices.Concat(both, flags) }
	lines := func(out string) []string { return strings.Split(strings.TrimSuffix(out, "\n"), "\n") }
	const entry = "entry      cmp-07: needs you, urgent: came: cmp-07 waits" // it was written last
	const stage, grant, verified = "stage      cmp-07: idle → waiting for you", "grant      confirmed: stop [2Jweb-2 (bert)",
		"verified   verified, done: live-migrate web-1, after 61 s"
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"all, as one":                 {both, []string{stage, entry, grant, verified}},
		"every line":                  {with("--all"), []string{stage, entry, stage, grant, verified}},
		"one":                         {[]string{annas}, []string{stage, entry, verified}},
		"a node":                      {with("--node", "cmp-07"), []string{stage, entry}},
		"the same, by its other name": {with("--node", "kaas-node-7"), []string{stage, entry}},
		"an instance":                 {with("--instance", "id-web-2"), []string{grant}},
		"a person":                    {with("--by", "bert"), []string{grant}},
		"kinds":                       {with("--kind", "grant,verified"), []string{grant, verified}},
		"the last one":                {with("-n", "1"), []string{verified}},
		"from then on":                {with("--since", at.Add(time.Minute).Local().Format(minutes)), []string{verified}},
		"from a printed time on":      {with("--since", "2026-11-22 22:01:00Z"), []string{verified}},
		"from one printed elsewhere":  {with("--since", "2026-11-22 23:01:00+01:00"), []string{verified}},
		"up to a printed time":        {with("--until", "2026-11-22 22:01:00Z"), []string{stage, entry, grant, verified}},
		"up to then":                  {with("--until", at.Local().Format(minutes)), []string{stage}},
	} {
		code, out, trouble := run(append([]string{"show"}, c.args...)...)
		got := lines(out)
		for i := range got {
			if !hasMoment.MatchString(got[i]) {
				t.Errorf("%s: when by which clock? %s", name, got[i])
			}
			got[i] = hasMoment.ReplaceAllString(got[i], "")
		}
		if code != exitFine || trouble != "" || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, %s\n%q, want\n%q", name, code, trouble, got, c.want)
		}
	}
	if code, out, trouble := run("show"); code == exitFine || out != "" || !strings.Contains(trouble, berts) {
		t.Errorf("two clusters are mixed: %d, %s%s", code, out, trouble)
	}
	if code, _, trouble := run("show", annas, "--since", "2026-11-22 22:01", "--until", "2026-11-22 22:00"); code == exitFine ||
		!strings.Contains(trouble, "is after") {
		t.Errorf("from a time to one before it: %d, %s", code, trouble)
	}
	_, out, _ := run("show", annas, "-o", "json", "--kind", "verified")
	var l struct {
		File  string
		Line  int
		Seq   int64
		Title string
		Took  float64 `json:"tookSeconds"`
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil || l.File != annas || l.Line != 2 || l.Seq != 2 || l.Took != 61 {
		t.Errorf("%v: %s", err, out)
	}
	merged := filepath.Join(t.TempDir(), "merged.jsonl")
	if code, out, trouble := run("merge", "-o", merged, annas, berts); code != exitFine || !strings.Contains(out, "4 lines of 2 journals") {
		t.Errorf("%d, %s%s", code, out, trouble)
	}
	if code, out, _ := run("verify", merged); code != exitFine || !strings.Contains(out, "intact, 4 lines") {
		t.Errorf("the merged one: %d, %s", code, out)
	}
}

// What a journal tells of the cluster is in the cluster's time, also where this machine's clock is another one: when its files begin and
// end, and which night is meant by a time of day.
func TestAJournalTellsTheTimeOfTheCluster(t *testing.T) {
	p := options{Place: session.Place{Journal: t.TempDir()}}
	wall := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	j, err := engine.OpenJournal(session.JournalPath(p.Journal, "a", "https://a"), engine.JournalOptions{Run: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	stage := func(to string, ahead, at time.Duration) {
		r := engine.Record{Kind: engine.RecordStage, Wall: wall, At: wall.Add(at), Node: "n", Object: &core.Ref{UID: "n"}, To: to}
		if ahead != at {
			r.Reconstructed = "a field"
		}
		if err := j.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	stage("queued", 3*time.Hour, 3*time.Hour)
	stage("updating", 5*time.Hour, 5*time.Hour)
	stage("released", 5*time.Hour, 4*time.Hour)
	var stdout, stderr bytes.Buffer
	from, to := wall.Add(3*time.Hour).Local().Format(minutes), wall.Add(5*time.Hour).Local().Format(minutes)
	if code := execute(t.Context(), p, []string{"journal"}, nil, &stdout, &stderr); code != exitFine ||
		!strings.Contains(stdout.String(), ", "+from+" to "+to+" ") || !strings.Contains(stdout.String(), ", 3 lines") {
		t.Errorf("%d, %s%s, want %s to %s", code, stdout.String(), stderr.String(), from, to)
	}
	var lines []engine.JournalLine
	if _, err := engine.ReadInOrder(p.journals(), func(l engine.JournalLine) { lines = append(lines, l) }); err != nil {
		t.Fatal(err)
	}
	f := journalFilter{since: "11:30", until: "14:30"} // in the cluster it is 13:05
	if err := f.read(clusterNow(lines, wall.Add(5*time.Minute))); err != nil {
		t.Fatal(err)
	}
	if want := wall.Add(3*time.Hour + 30*time.Minute - 24*time.Hour); !f.from.Equal(want) {
		t.Errorf("from %s on, want %s: it lies before the other", f.from, want)
	}
	if want := wall.Add(6*time.Hour + 30*time.Minute - 24*time.Hour); !f.to.Equal(want) {
		t.Errorf("up to %s, want %s: in the cluster that is ahead", f.to, want)
	}
}
