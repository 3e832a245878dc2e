package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
)

// `lockstep check` on a cluster at rest, and on one where instances hold their nodes: verdicts, exit codes, JSON.
func TestCheck(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		cloud := started(t, sim.Options{Scenario: told(t, "smooth"), Paused: true})
		flags := []string{"check", "--management-context", "management"}
		code, out, errs := runOn(t, cloud, flags...)
		if code != exitFine || errs != "" || !strings.Contains(out, "nothing that is known stops it") {
			t.Errorf("at rest: exit %d, %s\n%s", code, errs, out)
		}
		code, out, _ = runOn(t, cloud, "check", "--no-room")
		if code != exitUnseen || !strings.Contains(out, "the management cluster is not connected") {
			t.Errorf("without the management cluster: exit %d\n%s", code, out)
		}
		if code, _, errs := runOn(t, cloud, "check", "-o", "xml"); code != exitError || !strings.Contains(errs, "table or json") {
			t.Errorf("-o xml: exit %d, %s", code, errs)
		}
		if code, _, errs := runOn(t, cloud, "check", "--against", "/nowhere"); code != exitError || !strings.Contains(errs, "/nowhere") {
			t.Errorf("--against: exit %d, %s", code, errs)
		}
	})
}

// What holds its node fails, in the document for scripts and in words.
func TestCheckOfInstancesThatNothingMoves(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		cloud := started(t, sim.Options{Scenario: told(t, "verify-resize"), Paused: true})
		code, out, errs := runOn(t, cloud, "check", "-o", "json")
		var doc checklist.Report
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitAttention {
			t.Fatalf("exit %d, %v, %s\n%s", code, err, errs, out)
		}
		i := slices.IndexFunc(doc.Points, func(p checklist.Point) bool { return p.ID == "states" })
		if i < 0 {
			t.Fatalf("no point is about the states:\n%s", out)
		}
		if p := doc.Points[i]; p.Verdict != checklist.Fail || len(p.Findings) == 0 || p.Impact == "" || p.Page == "" {
			t.Errorf("states: %+v", p)
		}
		if _, out, _ := runOn(t, cloud, "check", "-v"); !strings.Contains(out, "VERIFY_RESIZE") || !strings.Contains(out, "must be: ") {
			t.Errorf("-v:\n%s", out)
		}
	})
}

// onePoint is what a report has at least: without a point it is none.
var onePoint = []checklist.Point{{ID: "nodes", Verdict: checklist.Pass}}

// The checks of a cluster at rest are kept, the newest thirty; what is compared with is the last one before the update.
func TestChecksAreKept(t *testing.T) {
	store := checkStore{filepath.Join(t.TempDir(), "checks", "mos")}
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	before := func(began time.Time) (checklist.Report, bool) {
		return store.Before(checklist.Report{Began: began, AsOf: at.AddDate(2, 0, 0)})
	}
	for i := range mostChecks + 5 {
		r := checklist.Report{Format: 1, Points: onePoint, Cluster: "mos", AsOf: at.Add(time.Duration(i) * time.Hour)}
		if err := store.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Keep(checklist.Report{Format: 1, Points: onePoint, Update: true, AsOf: at}); err != nil {
		t.Fatal(err)
	}
	names := store.names()
	if len(names) != mostChecks || names[0] != at.Add(5*time.Hour).Format(checkName) {
		t.Errorf("kept %q", names)
	}
	if info, err := os.Stat(filepath.Join(store.folder, names[0])); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a check is %v, %v", info.Mode(), err)
	}
	if r, ok := before(at.Add(8*time.Hour + time.Minute)); !ok || !r.AsOf.Equal(at.Add(8*time.Hour)) {
		t.Errorf("before the update: %v, %v", r.AsOf, ok)
	}
	if _, ok := before(at); ok {
		t.Error("a check after the update's beginning was taken")
	}
	// However many follow an update, the one before it stays.
	began, last := at.Add(10*time.Hour+time.Minute), at.AddDate(0, 1, 0)
	for i := range mostChecks + 5 {
		r := checklist.Report{Format: 1, Points: onePoint, Cluster: "mos", Began: began, AsOf: last.Add(time.Duration(i) * time.Hour)}
		if err := store.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	if r, ok := before(began); !ok || !r.AsOf.Equal(at.Add(10*time.Hour)) || len(store.names()) != mostChecks+1 {
		t.Errorf("of %d checks, the one before the update is of %v, %v", len(store.names()), r.AsOf, ok)
	}
	r := checklist.Report{Format: 1, Points: onePoint, Cluster: "mos", Began: last.Add(35 * time.Hour), AsOf: last.Add(36 * time.Hour)}
	if err := store.Keep(r); err != nil {
		t.Fatal(err)
	}
	if names = store.names(); len(names) != mostChecks || !strings.HasPrefix(names[0], last.Add(6*time.Hour).Format("20060102")) {
		t.Errorf("the one before an older update is still there: %q", names)
	}
	if err := os.WriteFile(filepath.Join(store.folder, names[len(names)-1]), []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, ok := before(at.AddDate(1, 0, 0)); !ok || !r.AsOf.Equal(last.Add(34*time.Hour)) {
		t.Errorf("past a broken one: %v, %v", r.AsOf, ok)
	}
}

// Where neither a plan nor a journal tells when the update began, the check before it is the last one of another release. It is not removed
// while it is compared with, and the report is one after an update.
func TestACheckOfAnotherReleaseIsTheOneBeforeTheUpdate(t *testing.T) {
	store := checkStore{filepath.Join(t.TempDir(), "checks", "mos")}
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	of := func(hours int, release string) checklist.Report {
		return checklist.Report{Format: 1, Points: onePoint, Cluster: "mos", AsOf: at.Add(time.Duration(hours) * time.Hour), Release: release}
	}
	const old, now = "17.4.0+25.1", "21.0.0+25.2"
	for _, r := range []checklist.Report{of(0, "17.3.0"), of(1, old), of(2, old), of(3, ""), of(10, now), of(11, "21.0.0")} {
		if err := store.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		now  checklist.Report
		want int // hours; negative: none
	}{
		"after the update":               {of(12, now), 2},
		"before it":                      {of(4, old), 0},
		"the releases are unknown":       {of(12, ""), -1},
		"the first of all":               {of(0, old), -1},
		"a later update that is seen":    {checklist.Report{AsOf: at.Add(12 * time.Hour), Release: now, Began: at.Add(5 * time.Hour)}, 3},
		"an older update that was seen":  {checklist.Report{AsOf: at.Add(12 * time.Hour), Release: now, Began: at.Add(90 * time.Minute)}, 2},
		"an update that runs has none":   {checklist.Report{AsOf: at.Add(12 * time.Hour), Update: true}, -1},
		"an update that runs and is old": {checklist.Report{AsOf: at.Add(12 * time.Hour), Update: true, Began: at.Add(90 * time.Minute)}, 1},
	} {
		r, ok := store.Before(tt.now)
		if ok != (tt.want >= 0) || ok && !r.AsOf.Equal(at.Add(time.Duration(tt.want)*time.Hour)) {
			t.Errorf("%s: the check of %v, %v", name, r.AsOf, ok)
		}
	}
	after := of(12, now)
	if after.Compare(of(2, old)); after.After != now || !strings.Contains(after.Headline(), "after the update to "+now) {
		t.Errorf("after it: %q, %s", after.After, after.Headline())
	}
	same := of(12, now)
	if same.Compare(of(11, "21.0.0")); same.After != "" {
		t.Errorf("after no update: %q", same.After)
	}
	for i := range mostChecks + 5 {
		if err := store.Keep(of(20+i, now)); err != nil {
			t.Fatal(err)
		}
	}
	if r, ok := store.Before(of(90, now)); !ok || r.Release != old || len(store.names()) != mostChecks+1 {
		t.Errorf("of %d checks, the one before the update is of %v", len(store.names()), r.AsOf)
	}
}

// A point that the last check before the update did not know is compared with the last one that knew it, unless that was before an earlier
// update. What none of them knew is not compared, and the check says so.
func TestAPointIsComparedWithTheLastCheckThatKnewIt(t *testing.T) {
	store := checkStore{filepath.Join(t.TempDir(), "checks", "mos")}
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	of := func(hours int, release string, verdicts ...checklist.Verdict) checklist.Report {
		r := checklist.Report{Format: 1, Points: onePoint, Cluster: "mos", AsOf: at.Add(time.Duration(hours) * time.Hour), Release: release}
		for i, id := range []string{"ceph", "nodes", "agents", "room"} {
			p := checklist.Point{ID: id, Verdict: verdicts[i]}
			if p.Verdict == checklist.Unknown {
				p.Unknown = "it was not asked"
			}
			r.Points = append(r.Points, p)
		}
		return r
	}
	const none, pass, fail = checklist.Unknown, checklist.Pass, checklist.Fail
	const older, old, now = "17.3.0", "17.4.0+25.1", "21.0.0+25.2"
	for _, r := range []checklist.Report{of(0, older, pass, pass, pass, pass), of(1, old, pass, pass, fail, none),
		of(2, old, none, fail, pass, none), of(3, old, none, pass, none, none)} {
		if err := store.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	names := store.names()
	for i := range mostChecks + 5 { // those that tell something of it stay
		if err := store.Keep(of(20+i, now, fail, fail, fail, fail)); err != nil {
			t.Fatal(err)
		}
	}
	if kept := store.names(); !slices.Equal(kept[:3], names[1:]) {
		t.Errorf("kept %q of %q", kept[:3], names)
	}
	r := of(90, now, fail, fail, fail, fail)
	earlier, ok := store.Before(r)
	if !ok || !earlier.AsOf.Equal(at.Add(3*time.Hour)) {
		t.Fatalf("compared with the one of %v, %v", earlier.AsOf, ok)
	}
	c := r.With(&earlier)
	against := map[string]int{}
	for _, d := range c.Since {
		if !d.Broke() {
			continue
		}
		if against[d.ID] = 3; d.Against != nil {
			against[d.ID] = int(d.Against.Sub(at).Hours())
		}
	}
	if want := map[string]int{"ceph": 1, "nodes": 3, "agents": 2}; !maps.Equal(against, want) {
		t.Errorf("worse are %v, want %v", against, want)
	}
	if !slices.Equal(c.NotCompared, []string{"room"}) {
		t.Errorf("not compared: %q", c.NotCompared)
	}
	var out strings.Builder
	if err := printCheck(&out, c, checkFlags{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 points are worse:", "compared with 2026-03-14 21:00",
		"Not compared, as it was not known, or not wholly, before: room."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
}

// What was known before an earlier update is not asked, also where a check could not read the release.
func TestNoPointIsFilledFromBeforeAnEarlierUpdate(t *testing.T) {
	store := checkStore{filepath.Join(t.TempDir(), "checks", "mos")}
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	of := func(hours int, v checklist.Verdict) checklist.Report {
		return checklist.Report{Format: 1, Cluster: "mos", AsOf: at.Add(time.Duration(hours) * time.Hour), Points: []checklist.Point{
			{ID: "locks", Verdict: v}}}
	}
	last := of(10, checklist.Unknown)
	last.Began = at.Add(5 * time.Hour) // the update before: the older check is from before it
	for _, r := range []checklist.Report{of(0, checklist.Pass), last} {
		if err := store.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	now := of(30, checklist.Fail)
	now.Began = at.Add(20 * time.Hour)
	earlier, ok := store.Before(now)
	if !ok || !earlier.AsOf.Equal(last.AsOf) || earlier.Points[0].Verdict != checklist.Unknown {
		t.Errorf("compared with %+v, %v", earlier, ok)
	}
}

// A check that was interrupted has not seen everything: it is not kept to be compared with.
func TestAnInterruptedCheckIsNotKept(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := started(t, sim.Options{Scenario: told(t, "smooth"), Paused: true})
		if err := cloud.Faults.On(fault.Setting{Server: fault.OpenStack, Kind: "hang"}); err != nil {
			t.Fatal(err)
		}
		p := placeOn(t, cloud)
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, interrupt)
		var out, errs bytes.Buffer
		args := []string{"check", "--wait", "5m", "--kubeconfig", cloud.KubeconfigPath, "--os-cloud", cloud.CloudName}
		code := execute(ctx, p, args, nil, &out, &errs)
		if code != exitError || out.Len() > 0 {
			t.Errorf("exit %d: %s%s", code, &out, &errs)
		}
		if kept, err := filepath.Glob(filepath.Join(p.Journal, "checks", "*", "*")); err != nil || len(kept) > 0 {
			t.Errorf("it is kept: %v, %v", kept, err)
		}
	})
}

// Points that are not known for one reason are one line, where the first of them stands; -v has a line for each.
func TestWhatIsNotKnownForOneReasonIsOneLine(t *testing.T) {
	unknown := func(id, why string, impact core.Impact) checklist.Point {
		return checklist.Point{ID: id, Verdict: checklist.Unknown, Unknown: why, Impact: impact}
	}
	c := checklist.Compared{Report: checklist.Report{Points: []checklist.Point{{ID: "nodes", Verdict: checklist.Fail, Impact: core.ImpactTime},
		unknown("lcm", "not connected", core.ImpactTime), unknown("backups", "no API shows it", core.ImpactData),
		unknown("pause", "not connected", core.ImpactNone), unknown("machines", "not connected", core.ImpactTime)}}}
	lines := func(verbose bool) []string {
		var out strings.Builder
		if err := printCheck(&out, c, checkFlags{verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "not known") {
				rows = append(rows, strings.Join(strings.Fields(line), " "))
			}
		}
		return rows
	}
	if got, want := lines(false), []string{"not known 2 points time not connected (lcm, machines)", "not known backups data no API shows it",
		"not known pause nothing yet not connected"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := lines(true); len(got) != 4 {
		t.Errorf("with everything: %q", got)
	}
}

// The table says what is worse than in the earlier check, and after an update without one that there is none.
func TestTheCheckIsComparedInWords(t *testing.T) {
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	broke := checklist.Change{ID: "nodes", Was: checklist.Pass, Now: checklist.Fail,
		New: []checklist.Finding{{Key: "a", Of: "cmp-01", Says: "not Ready", Verdict: checklist.Fail}}}
	mended := checklist.Change{ID: "cordons", Was: checklist.Warn, Now: checklist.Pass,
		Mended: []checklist.Finding{{Key: "b", Of: "cmp-02", Says: "cordoned", Verdict: checklist.Warn}}}
	for _, tt := range []struct {
		given checklist.Compared
		want  string
	}{
		{checklist.Compared{}, ""},
		{checklist.Compared{Report: checklist.Report{Began: at}}, "No check from before the update is kept here"},
		{checklist.Compared{Against: &at}, "Nothing has changed since the check of"},
		{checklist.Compared{Against: &at, NotCompared: []string{"skip"}}, "Nothing that could be compared has changed since the check of"},
		{checklist.Compared{Against: &at, Since: []checklist.Change{mended}}, "nothing is worse:"},
		{checklist.Compared{Against: &at, Since: []checklist.Change{broke, mended}}, "1 point is worse:"},
	} {
		var out strings.Builder
		printSince(&out, tableOn(&out, false, false), tt.given)
		if got := out.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
