package attention_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/scene"
)

// waiting is a node that waits for the operator, because of its mode, and the entry that says so.
func waiting(t *testing.T) (scene.Scene, core.Attention) {
	t.Helper()
	sc := scene.Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Instance("cmp-01", "db-1")
	sc.Maintained("cmp-01", "")
	for _, a := range attention.Of(sc.Again().Snapshot) {
		if a.Rule == core.RuleNodeWaits {
			return sc, a
		}
	}
	t.Fatal("no node waits")
	return sc, core.Attention{}
}

// An entry that waits for somebody else comes last and is not counted, until its time comes, it becomes more severe, or it is about
// another matter. It stays what it is for whoever asks whether the update may go on.
func TestAnEntryIsSetAside(t *testing.T) {
	_, a := waiting(t)
	until := scene.Noon.Add(time.Hour)
	n := attention.SetAside(core.Note{ID: "1", On: core.NoteOn{Entry: a.ID}, Text: "the owner stops it", At: scene.Noon}, a, until)
	for _, tt := range []struct {
		name   string
		change func(sc scene.Scene, n *core.Note)
		aside  bool
	}{
		{"as it is", func(scene.Scene, *core.Note) {}, true},
		{"a moment before", func(sc scene.Scene, _ *core.Note) { sc.Now = until.Add(-1) }, true},
		{"its time has come", func(sc scene.Scene, _ *core.Note) { sc.Now = until }, false},
		{"one instance less", func(sc scene.Scene, _ *core.Note) {
			in := sc.ByHost["cmp-01"][0]
			sc.ByHost["cmp-01"] = sc.ByHost["cmp-01"][1:]
			in.Host = "cmp-02"
		}, true},
		{"done", func(_ scene.Scene, n *core.Note) { n.Done = true }, false},
		{"about another entry", func(_ scene.Scene, n *core.Note) { n.On.Entry += "x" }, false},
		{"a note beside", func(_ scene.Scene, n *core.Note) { n.Aside = false }, false},
		{"it was a warning", func(_ scene.Scene, n *core.Note) { n.Severity = "warning" }, false},
		{"of a severity that nobody knows", func(_ scene.Scene, n *core.Note) { n.Severity = "" }, false},
		{"another matter", func(_ scene.Scene, n *core.Note) { n.Matter = "its lock is failed" }, false},
		{"for too long", func(sc scene.Scene, n *core.Note) {
			n.At, n.Until = scene.Noon.Add(-core.MostAside), scene.Noon.Add(time.Hour)
		}, false},
	} {
		sc, _ := waiting(t)
		n := n
		tt.change(sc, &n)
		sc = sc.Again()
		sc.Notes = []core.Note{n}
		all := attention.Of(sc.Snapshot)
		now, aside := attention.Now(all)
		got, found := attention.ByID(sc.Snapshot, a.ID)
		if !found || (got.Aside != nil) != tt.aside || (len(aside) == 1) != tt.aside || len(now)+len(aside) != len(all) {
			t.Errorf("%s: found %v, by %+v; %d now, %d aside", tt.name, found, got.Aside, len(now), len(aside))
			continue
		}
		if got.Severity != a.Severity || len(attention.Stops(sc.Snapshot)) != 1 {
			t.Errorf("%s: it is %s, and %d stop the update", tt.name, got.Severity, len(attention.Stops(sc.Snapshot)))
		}
		urgent, needs := 1, core.SeverityUrgent
		if tt.aside {
			urgent, needs = 0, 0
		}
		if attention.Urgent(all) != urgent || attention.NodeNeeds(sc.Snapshot, "cmp-01") != needs {
			t.Errorf("%s: %d are urgent, the node needs %s", tt.name, attention.Urgent(all), attention.NodeNeeds(sc.Snapshot, "cmp-01"))
		}
	}
}

// What is set aside calls nobody, and keeps nothing else of its node from doing so.
func TestWhatIsSetAsideKeepsNothingElseFromBeingUrgent(t *testing.T) {
	both := func() scene.Scene {
		sc, _ := waiting(t)
		sc.Operations = []core.Operation{{ID: "7", Title: "move all", Node: "cmp-01", State: core.OperationPaused,
			Started: scene.Ago(time.Minute)}}
		return sc.Again()
	}
	var urgent, lowered []core.Attention
	for _, a := range attention.Of(both().Snapshot) {
		switch {
		case a.Node != "cmp-01":
		case a.Severity == core.SeverityUrgent:
			urgent = append(urgent, a)
		case a.Severity == core.SeverityWarning && (a.Rule == core.RuleNodeWaits || a.Rule == core.RuleOperation):
			lowered = append(lowered, a)
		}
	}
	if len(urgent) != 1 || len(lowered) != 1 {
		t.Fatalf("of the node, these are urgent: %+v; and these are not: %+v", urgent, lowered)
	}
	sc := both()
	sc.Notes = []core.Note{attention.SetAside(core.Note{ID: "1", On: core.NoteOn{Entry: urgent[0].ID}, Text: "x", At: scene.Noon}, urgent[0],
		scene.Noon.Add(time.Hour))}
	if got, _ := attention.ByID(sc.Snapshot, lowered[0].ID); got.Severity != core.SeverityUrgent {
		t.Errorf("%s is %s beside what is set aside", got.ID, got.Severity)
	}
	if n := attention.Urgent(attention.Of(sc.Snapshot)); n != 1 {
		t.Errorf("%d are urgent", n)
	}
}

// What puts data at risk is never set aside, whatever the journal says.
func TestWhatPutsDataAtRiskIsNotSetAside(t *testing.T) {
	found := false
	for name, sc := range attention.EveryRule() {
		for _, a := range attention.Of(sc.Snapshot) {
			if a.Rule == core.RulePromise {
				continue // its note makes room below
			}
			why := attention.WhyNotAside(a)
			if (a.Impact == core.ImpactData) != (why != "") {
				t.Errorf("%s: %s suffers from %s, and %q", name, a.Impact, a.ID, why)
			}
			again := sc.Again()
			again.Notes = []core.Note{attention.SetAside(core.Note{ID: "1", On: core.NoteOn{Entry: a.ID}, Text: "x", At: sc.Now}, a,
				sc.Now.Add(time.Hour))}
			got, _ := attention.ByID(again.Snapshot, a.ID)
			if (got.Aside == nil) != (why != "") {
				t.Errorf("%s: %s is set aside by %v, and %q", name, a.ID, got.Aside, why)
			}
			found = found || a.Impact == core.ImpactData
		}
	}
	if !found {
		t.Error("no scene puts data at risk")
	}
}

// A note reminds at its time, until it is done.
func TestANoteReminds(t *testing.T) {
	sc, a := waiting(t)
	at := scene.Noon.Add(-time.Hour)
	past, to := scene.Noon.Add(-time.Minute), scene.Noon.Add(time.Minute)
	for _, tt := range []struct {
		name string
		note core.Note
		says string // empty: nothing
	}{
		{"no time", core.Note{}, ""},
		{"before", core.Note{Until: to}, ""},
		{"past", core.Note{Until: past}, "promised: owner of vm-17 stops it (until " + past.Local().Format("15:04") + ", now past)"},
		{"at its time", core.Note{Until: scene.Noon}, "promised: owner of vm-17 stops it (until "},
		{"done", core.Note{Until: past, Done: true}, ""},
		{"its entry is back", core.Note{Until: past, Aside: true, On: core.NoteOn{Entry: a.ID}}, "promised: "},
		{"its entry is settled", core.Note{Until: past, Aside: true, On: core.NoteOn{Entry: "node-waits/x"}}, ""},
	} {
		sc := sc.Again()
		tt.note.ID, tt.note.Text, tt.note.By, tt.note.At = "1", "owner of vm-17 stops it", "anna@jump01", at
		sc.Notes = []core.Note{tt.note}
		got, found := attention.ByID(sc.Snapshot, string(core.RulePromise)+"/1")
		if found != (tt.says != "") || !strings.HasPrefix(got.Reason, tt.says) || found && got.Severity != core.SeverityWarning {
			t.Errorf("%s: %v, %s, %q", tt.name, found, got.Severity, got.Reason)
		}
		if n, is := attention.NoteOf(sc.Snapshot, got); is != found || found && n.ID != "1" {
			t.Errorf("%s: it reminds of %+v", tt.name, n)
		}
	}
}

// The matter of an entry is the same while only numbers and times change, and while it says less.
func TestTheMatterOfAnEntry(t *testing.T) {
	same := func(was, is core.Attention) bool {
		return attention.SameMatter(attention.Matter(was), attention.Matter(is))
	}
	says := func(reason string) core.Attention { return core.Attention{Reason: reason} }
	for _, tt := range []struct {
		was, is string
		same    bool
	}{
		{"manual mode: 2 instances must leave first", "manual mode: 1 instance must leave first", true},
		{"2 instances must leave: web-1, web-2", "1 instance must leave: web-2", true},
		{"2 instances must leave: web-1, web-2", "2 instances must leave: web-2, db-1", false},
		{"late for 59 m", "late for 1 h 12 m", true},
		{"6 instances: web-1, web-2 and 4 more", "5 instances: web-1, web-2 and 3 more", true},
		{"6 instances: web-1, web-2 and 4 more", "16 instances: web-1, web-2 and 14 more", false},
		{"2 instances: web-1, web-2", "6 instances: web-1, web-2 and 4 more", false},
		{"6 instances: web-1, web-2 and 4 more", "2 instances: web-1, web-2", true},
		{"waits (3 of 12)", "waits (4 of 12)", true},
		{"manual mode: 2 instances must leave first", "its lock is failed", false},
		{"web-1 does not leave", "web-2 does not leave", false},
	} {
		if same(says(tt.was), says(tt.is)) != tt.same {
			t.Errorf("%q, then %q: is it the same matter: %v", tt.was, tt.is, !tt.same)
		}
	}
	known := says("late")
	known.Diagnosis = &core.Diagnosis{ID: "quorum"}
	if same(says("late"), known) {
		t.Error("a cause that becomes known is no other matter")
	}
	if attention.WhyNotAside(core.Attention{Rule: core.RulePromise}) == "" {
		t.Error("a reminder can be set aside")
	}
}
