package handover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/record"
	"lockstep/scene"
)

// The next shift reads by whom an entry is set aside and until when, which times rest on no pace that was seen, and the journal's seal.
func TestTheNoteSaysWhatItRestsOn(t *testing.T) {
	when := func(hour int) *time.Time { return new(time.Date(2026, 11, 22, hour, 0, 0, 0, time.UTC)) }
	h := Handover{Cluster: "mos", At: *when(2), Open: []Open{{Severity: "urgent", Label: "cmp-07", Reason: "erp-db fits nowhere",
		Aside: &Promise{Text: "its owner stops it", By: "anna", Until: when(7)}, Hint: "Make room."}},
		Next:  []Next{{What: "cmp-08 begins", At: when(3), Unlearned: true}},
		Seals: []record.Seal{{File: "/x/mos.jsonl", Seq: 184, Sum: strings.Repeat("7c12ab49ab2fc6c8", 4)}}}
	text := strings.Join(h.Text(time.UTC, false), "\n")
	for _, want := range []string{"- cmp-07: erp-db fits nowhere; set aside by anna until 07:00: its owner stops it. Make room.\n",
		"\nNext, by the times of plan and documents until a pace is known\n- about 03:00: cmp-08 begins\n",
		"\nJournal mos.jsonl, seal 184:7c12ab49ab2fc6c8 ("} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	if h.Next[0].Unlearned = false; strings.Contains(strings.Join(h.Text(time.UTC, false), "\n"), "plan and documents") {
		t.Error("a pace that was seen is told to be the documents'")
	}
}

// What is set aside comes last, and yet the next shift does not read that everything goes by itself while it waits for somebody. Journals
// of the same name are told apart.
func TestTheNoteDoesNotHideWhatIsSetAside(t *testing.T) {
	until := time.Date(2026, 11, 22, 7, 0, 0, 0, time.Local)
	h := Handover{Open: []Open{{Severity: "notice", Reason: "a little thing"},
		{Severity: "urgent", Label: "cmp-07", Reason: "erp-db fits nowhere", Aside: &Promise{Until: &until}}},
		Seals: []record.Seal{{File: "/a/mos.jsonl", Seq: 1}, {File: "/b/mos.jsonl", Seq: 2}}}
	if got, want := h.first(), "What was set aside until 07:00: cmp-07: erp-db fits nowhere."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := strings.Join(h.Text(time.UTC, false), "\n"); !strings.Contains(text, "Journal /b/mos.jsonl, seal 2:") {
		t.Errorf("its journals cannot be told apart:\n%s", text)
	}
	h.Open = h.Open[:1]
	if got, want := h.first(), "Nothing urgent: a little thing."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	h.Open = nil
	if got := h.first(); !strings.HasPrefix(got, "Nothing: ") {
		t.Errorf("%q", got)
	}
}

// What is urgent is looked at first, then the promise whose time has come, with what it is about. What is set aside needs nobody now: the
// exit code is that of status.
func TestWhatIsLookedAtFirst(t *testing.T) {
	promise := Promise{Of: "cmp-04", Text: "the owner stops it", Past: true}
	urgent := Open{Severity: "urgent", Label: "cmp-07", Reason: "erp-db fits nowhere"}
	h := Handover{Open: []Open{urgent}, Promise: []Promise{promise}}
	if got, want := h.first(), "cmp-07: erp-db fits nowhere."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	h.Open[0].Severity = "warning"
	if got, want := h.first(), "The time of a promise has come: cmp-04: the owner stops it."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	urgent.Aside = &promise
	if h = (Handover{Open: []Open{urgent}}); h.NeedsSomebody() {
		t.Error("what is set aside needs somebody")
	}
}

// What colleagues have under way, and what they changed, is in the note by their journals: one's own tells nothing of it. What was set back
// since, and what the holder of the lease tells already, is not told again.
func TestTheNoteTellsWhatColleaguesDo(t *testing.T) {
	text := func(s *core.Snapshot, records ...engine.Record) string {
		r := &record.Reader{}
		update := engine.Record{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21"}}
		for i, rec := range append([]engine.Record{update}, records...) {
			rec.At, rec.By = scene.Ago(time.Hour), "bob"
			r.Add(engine.JournalLine{Record: rec, File: "/b/mos.jsonl", Line: i + 1, Seq: int64(i) + 1})
		}
		a, err := r.Account("")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(Of(s, a).Text(time.UTC, false), "\n")
	}
	grant := func(id, title string) engine.Record {
		return engine.Record{Kind: engine.RecordGrant, Operation: id, Title: title}
	}
	before := func(id string) engine.Record { return engine.Record{Kind: engine.RecordBefore, Operation: id} }
	node := func(name, mode string, kind engine.RecordKind) engine.Record {
		return engine.Record{Kind: kind, Operation: "mode", State: string(core.OperationDone), Title: "set the mode",
			Intent: &core.Intent{Kind: core.IntentSetMode, Node: name}, Object: &core.Ref{Kind: core.KindNode, Name: name, UID: "uid-" + name},
			Change: &core.AnnotationChange{Node: name, Key: core.AnnotationMigrationMode, New: &mode}}
	}
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.Node("cmp-02", core.RoleCompute)
	sc.Mode("cmp-01", core.ModeSkip)
	got := text(sc.Snapshot, grant("1", "drain cmp-07"), before("1/3"), grant("2", "not begun"), grant("3", "over"), before("3"),
		engine.Record{Kind: engine.RecordEnded, Operation: "3", State: string(core.OperationDone)},
		node("cmp-01", "skip", engine.RecordVerified), node("cmp-02", "manual", engine.RecordVerified))
	for _, want := range []string{"\n- drain cmp-07, by bob, since 11:00: its end is in no journal",
		"\n- cmp-01: instance_migration_mode: skip → none"} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
	for _, no := range []string{"not begun", "over,", "cmp-02", "Nothing that"} {
		if strings.Contains(got, no) {
			t.Errorf("it has %q:\n%s", no, got)
		}
	}
	sc.Write = core.WriteMode{Lease: "bob", Other: core.Doing{Said: true, Now: "drain cmp-07 (3 of 12 done)"}}
	got = text(sc.Again().Snapshot, grant("1", "drain cmp-07"), before("1/3"))
	if strings.Count(got, "drain cmp-07") != 2 { // it is to be looked at first, too
		t.Errorf("it is told twice:\n%s", got)
	}
	// The lease has more of a long title than the note looks for.
	const long = "delete pod openstack/libvirt-libvirt-default-x7k2pq, which has ended on cmp-07"
	sc.Write.Other.Now = long
	if got = text(sc.Again().Snapshot, grant("1", long), before("1/3")); strings.Contains(got, "its end is in no journal") {
		t.Errorf("a long title is told twice:\n%s", got)
	}
	if got = text(sc.Again().Snapshot, grant("1", ""), before("1/3")); !strings.Contains(got, "its end is in no journal") {
		t.Errorf("a step without a title is not told:\n%s", got)
	}
}

// A step goes on when the window that began it is closed: the next shift reads that it runs, by whom, and how it goes. It is not told to
// have gone wrong while it runs, nor when it was seen to end well.
func TestTheNoteTellsWhatRunsWithoutItsWindow(t *testing.T) {
	r := &record.Reader{}
	for i, rec := range []engine.Record{{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21"}},
		{Kind: engine.RecordGrant, Operation: "1", Title: "live-migrate erp-db"}, {Kind: engine.RecordBefore, Operation: "1"},
		{Kind: engine.RecordVerified, Operation: "1", State: string(core.OperationUnknown), Error: "the result was not seen"}} {
		rec.At, rec.By = scene.Ago(time.Hour), "anna"
		r.Add(engine.JournalLine{Record: rec, File: "/a/mos.jsonl", Line: i + 1, Seq: int64(i) + 1})
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	const runs = "\n- live-migrate erp-db, by anna, since 11:00: the window that began it is closed; it is migrating"
	const wrong = "the result was not seen"
	for _, c := range []struct {
		name  string
		op    core.Operation
		a     *record.Account
		want  []string
		never []string
	}{
		{"it runs", core.Operation{ID: "1", State: core.OperationVerifying, Text: "it is migrating"}, a,
			[]string{runs, "Look first at: What runs: live-migrate erp-db."}, []string{wrong, "Nothing that cannot be left alone runs."}},
		{"it runs, and no journal can be read", core.Operation{ID: "1", State: core.OperationVerifying}, nil,
			[]string{"\n- live-migrate erp-db, by an earlier window, since 11:00: the window that began it is closed\n"}, nil},
		{"it went well", core.Operation{ID: "1", State: core.OperationDone}, a,
			[]string{"Nothing that cannot be left alone runs."}, []string{wrong, "since 11:00"}},
		{"it failed", core.Operation{ID: "1", State: core.OperationFailed}, a, []string{wrong}, []string{runs}},
		{"nobody knows", core.Operation{ID: "1", State: core.OperationUnknown}, a, []string{wrong}, []string{runs}},
		{"nothing is known of it", core.Operation{ID: "2", State: core.OperationDone}, a, []string{wrong}, []string{runs}},
	} {
		sc := scene.NewScene()
		c.op.Past, c.op.Title, c.op.Started = true, "live-migrate erp-db", scene.Ago(time.Hour)
		sc.Operations = []core.Operation{c.op}
		text := strings.Join(Of(sc.Snapshot, c.a).Text(time.UTC, false), "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it has no %q:\n%s", c.name, want, text)
			}
		}
		for _, no := range c.never {
			if strings.Contains(text, no) {
				t.Errorf("%s: it has %q:\n%s", c.name, no, text)
			}
		}
	}
}

// A promise whose time has come stands among what was promised, and not among what is open, too; and it needs somebody.
func TestADuePromiseIsToldOnce(t *testing.T) {
	sc := scene.NewScene()
	n := core.Note{ID: "n", Text: "the owner stops it himself", By: "anna", At: scene.Ago(time.Hour), Until: scene.Ago(time.Minute)}
	sc.Notes = []core.Note{n}
	r := &record.Reader{}
	for i, rec := range []engine.Record{{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21"}},
		{Kind: engine.RecordNote, Note: &n}} {
		rec.At = scene.Ago(time.Hour)
		r.Add(engine.JournalLine{Record: rec, File: "/x/mos.jsonl", Line: i + 1, Seq: int64(i) + 1})
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	h := Of(sc.Snapshot, a)
	text := strings.Join(h.Text(time.UTC, false), "\n")
	if !h.NeedsSomebody() || len(h.Open) > 0 || !strings.Contains(text, "until 11:59: its time has come") ||
		!strings.Contains(text, "Look first at: The time of a promise has come: the owner stops it himself.") {
		t.Errorf("needs somebody: %t\n%s", h.NeedsSomebody(), text)
	}
	if h := Of(sc.Again().Snapshot, nil); len(h.Open) > 0 || len(h.Promise) != 1 || !h.NeedsSomebody() {
		t.Errorf("without a journal to read it is told as %+v and %+v", h.Open, h.Promise)
	}
}

// What was promised before the update began is told while it runs, and what a colleague's journal has; what is done by either is not.
func TestPromisesOfEarlierAndOfColleagues(t *testing.T) {
	note := func(id string, ago time.Duration) core.Note {
		return core.Note{ID: id, Text: id, By: "anna", At: scene.Ago(ago)}
	}
	earlier, theirs := note("before the update", 3*time.Hour), note("by a colleague", time.Hour)
	both, done := note("known to both", 30*time.Minute), note("done by a colleague", 20*time.Minute)
	sc := scene.NewScene()
	sc.Notes = []core.Note{earlier, both, done}
	r := &record.Reader{}
	over := done
	over.Done = true
	for i, rec := range []engine.Record{{Kind: engine.RecordUpdate, Update: &core.UpdateRecord{UID: "u", Release: "21"}},
		{Kind: engine.RecordNote, Note: &theirs}, {Kind: engine.RecordNote, Note: &both}, {Kind: engine.RecordNote, Note: &over}} {
		rec.At = scene.Ago(2*time.Hour - time.Duration(i)*time.Minute)
		r.Add(engine.JournalLine{Record: rec, File: "/x/mos.jsonl", Line: i + 1, Seq: int64(i) + 1})
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range Of(sc.Snapshot, a).Promise {
		texts = append(texts, p.Text)
	}
	if want := []string{earlier.Text, theirs.Text, both.Text}; !slices.Equal(texts, want) {
		t.Errorf("told are %q, want %q", texts, want)
	}
}

// While the update stands still the note says so and why, where it stands. What is to be commenced comes before the nodes that wait for
// it, and their times are those if it goes on now.
func TestTheNoteSaysThatTheUpdateStandsStill(t *testing.T) {
	note := func(change func(*core.UpdatePlan)) Handover {
		sc := scene.Healthy()
		sc.Update(3 * time.Hour)
		m := sc.Managed()
		change(m.Planned(3))
		return Of(m.Join().Snapshot, nil)
	}
	goes := note(func(p *core.UpdatePlan) {
		p.Steps[3].Status, p.Steps[3].Commence, p.Steps[3].Started = core.PlanInProgress, true, scene.Ago(time.Minute)
	})
	if text := strings.Join(goes.Text(time.UTC, false), "\n"); goes.Held != "" || strings.Contains(text, "does not go on") {
		t.Errorf("it goes on:\n%s", text)
	}
	still := note(func(*core.UpdatePlan) {})
	text := strings.Join(still.Text(time.UTC, false), "\n")
	for _, want := range []string{"; it is held up (group mos-default is not commenced), and when it is done nobody can say.\n",
		"\nNext, if it goes on now", "\n- commence group mos-default\n- "} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	sc := scene.Healthy()
	sc.Update(3 * time.Hour)
	sc.Maintained("cmp-01", "")
	m := sc.Managed()
	m.Planned(3).Steps[3].Status = core.PlanAutoPaused
	if next := Of(m.Join().Snapshot, nil).Next; len(next) < 2 || next[0].What != "cmp-01 is through" ||
		next[1].What != "commence group mos-default again" {
		t.Errorf("while a machine is finished comes %+v", next)
	}
	held := note(func(p *core.UpdatePlan) { p.Steps[3].Status = core.PlanAutoPaused })
	if len(held.Next) == 0 || held.Next[0].What != "commence group mos-default again" {
		t.Errorf("after a pause comes %+v", held.Next)
	}
}

// What is ahead stands in the order of the update: the commence of a step stands before the nodes that wait for it, and after those of the
// steps before it. Groups of one index are commenced together. Where the nodes before it take all the room, the next commence is told yet.
func TestACommenceStandsBeforeItsNodes(t *testing.T) {
	next := func(inFirst int, index int, change func(*core.UpdatePlan)) []Next {
		sc := scene.NewScene()
		for _, name := range []string{"cmp-01", "cmp-02", "cmp-03", "cmp-04", "cmp-05", "cmp-06", "cmp-07", "cmp-08"}[:inFirst+2] {
			sc.Node(name, core.RoleCompute)
		}
		sc.Update(3 * time.Hour)
		m := sc.Managed()
		p := m.Planned(3)
		rest := p.Steps[4]
		p.Steps = append(p.Steps[:4], p.Steps[3], rest)
		p.Steps[3].ID, p.Steps[4].ID = "k8s-workers-rack-a", "k8s-workers-rack-b"
		p.Steps[3].Status, p.Steps[3].Commence, p.Steps[3].Started = core.PlanInProgress, true, scene.Ago(time.Minute)
		change(p)
		n := 0
		for _, name := range m.NodeNames() {
			if m.Machines[name].Group = "rack-b"; n < inFirst {
				m.Machines[name].Group = "rack-a"
			}
			n++
		}
		group := func(name string, index int) *core.MachineGroup {
			return &core.MachineGroup{Meta: core.Meta{Name: name, Namespace: "prod", UID: "uid-" + name}, Cluster: "mos", Index: index,
				Concurrent: 1}
		}
		return Of(m.Join(group("rack-a", 1), group("rack-b", index)).Snapshot, nil).Next
	}
	as := func(all []Next) (out []string) {
		for _, n := range all {
			out = append(out, n.What)
		}
		return out
	}
	for _, c := range []struct {
		name    string
		inFirst int
		index   int
		change  func(*core.UpdatePlan)
		want    []string
	}{
		{"a later group", 1, 2, func(*core.UpdatePlan) {},
			[]string{"cmp-01 begins", "commence group rack-b", "cmp-02 begins", "cmp-03 begins", "commence step mcc-components"}},
		{"the first is held", 1, 2, func(p *core.UpdatePlan) { p.Steps[3].Commence = false },
			[]string{"commence group rack-a again", "cmp-01 begins", "commence group rack-b", "cmp-02 begins", "cmp-03 begins"}},
		{"beside one another", 1, 1, func(p *core.UpdatePlan) { p.Steps[3] = p.Steps[4]; p.Steps[3].ID = "k8s-workers-rack-a" },
			[]string{"commence group rack-a", "commence group rack-b", "cmp-01 begins", "cmp-02 begins", "cmp-03 begins"}},
		{"beside one another, all commenced", 3, 1,
			func(p *core.UpdatePlan) { p.Steps[4].Commence, p.Steps[4].Status = true, core.PlanScheduled },
			[]string{"cmp-01 begins", "cmp-04 begins", "cmp-02 begins", "cmp-05 begins", "cmp-03 begins", "commence step mcc-components"}},
		{"more than there is room for", 6, 2, func(*core.UpdatePlan) {},
			[]string{"cmp-01 begins", "cmp-02 begins", "cmp-03 begins", "cmp-04 begins", "cmp-05 begins", "commence group rack-b"}},
		{"all is commenced", 1, 2, func(p *core.UpdatePlan) { p.Steps[4].Commence, p.Steps[5].Commence = true, true },
			[]string{"cmp-01 begins", "cmp-02 begins", "cmp-03 begins"}},
		{"nothing runs, and nothing says that it was commenced", 1, 2, func(p *core.UpdatePlan) {
			p.Steps[3] = core.PlanStep{ID: p.Steps[3].ID, Status: core.PlanNotStarted}
			for i := range p.Steps {
				p.Steps[i].Commence = false
			}
		}, []string{"commence group rack-a", "cmp-01 begins", "commence group rack-b", "cmp-02 begins", "cmp-03 begins"}},
		{"it goes as a whole", 1, 2, func(p *core.UpdatePlan) {
			for i := range p.Steps {
				p.Steps[i].Commence = false
			}
		}, []string{"cmp-01 begins", "cmp-02 begins", "cmp-03 begins"}},
	} {
		got := next(c.inFirst, c.index, c.change)
		if !slices.Equal(as(got), c.want) {
			t.Errorf("%s: %q, want %q", c.name, as(got), c.want)
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].At != nil && got[i].At != nil && got[i].At.Before(*got[i-1].At) {
				t.Errorf("%s: %q at %v stands behind %q at %v", c.name, got[i].What, got[i].At, got[i-1].What, got[i-1].At)
			}
		}
	}
	if late := next(6, 2, func(*core.UpdatePlan) {}); late[5].At == nil || !late[5].At.After(*late[4].At) {
		t.Errorf("the commence behind the nodes has no time of its own: %+v", late)
	}
}

// Nobody reads that nothing is left to set back while nobody could look.
func TestTheNoteDoesNotSayNothingIsLeftWhenNobodyCouldLook(t *testing.T) {
	sc := scene.Healthy()
	in := sc.ByHost["cmp-01"][0]
	sc.History.Stopped = map[string]core.StopRecord{in.ID: {At: scene.Ago(time.Hour)}}
	if got := Of(sc.Snapshot, nil).SetBack; len(got) > 0 {
		t.Fatalf("it runs, and yet is told: %+v", got)
	}
	sc = sc.Again()
	delete(sc.Sources, core.SourceInstances)
	sc.Sources[core.SourceInstances] = core.Source{ID: core.SourceInstances, State: core.SourceFailed,
		Err: &core.APIError{Call: "list instances", Message: "no"}}
	sc.Instances = core.Instances{}
	text := strings.Join(Of(sc.Snapshot, nil).Text(time.UTC, false), "\n")
	if !strings.Contains(text, "- 1 instance: stopped or shelved by Lockstep: not known whether it is still so (instances: ") ||
		strings.Contains(text, "Nothing that Lockstep changed is left") {
		t.Error(text)
	}
}

// A service that an operator took out of scheduling is in the note, a volume service too, and whichever update it was disabled for.
func TestTheNoteTellsOfServicesThatAreDisabled(t *testing.T) {
	r := &record.Reader{}
	disabled := func(kind core.IntentKind, ref core.Ref) {
		r.Add(engine.JournalLine{Record: engine.Record{Kind: engine.RecordVerified, At: scene.Ago(time.Hour), By: "bob", Operation: ref.UID,
			State: string(core.OperationDone), Intent: &core.Intent{Kind: kind}, Object: &ref}})
	}
	disabled(core.IntentDisableVolume, core.Ref{Kind: core.KindVolumeService, Name: "cmp-01@lvm", UID: "cmp-01@lvm"})
	disabled(core.IntentDisableCompute, core.Ref{Kind: core.KindComputeService, Name: "cmp-01", UID: "svc-cmp-01"})
	disabled(core.IntentDisableCompute, core.Ref{Kind: core.KindComputeService, Name: "cmp-02", UID: "svc-cmp-02"})
	sc := scene.NewScene()
	for _, node := range []string{"cmp-01", "cmp-02"} {
		sc.Node(node, core.RoleCompute)
		sc.Services[node] = &core.ComputeService{ID: "svc-" + node, Host: node, Enabled: node == "cmp-02", Up: true}
	}
	sc.VolumeServices["cmp-01"] = []*core.VolumeService{{Host: "cmp-01@lvm", Up: true}}
	got := strings.Join(Of(sc.Snapshot, r.Changes()).Text(time.UTC, false), "\n")
	for _, want := range []string{"cmp-01@lvm: cinder-volume is disabled, by bob", "cmp-01: nova-compute is disabled, by bob"} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "cmp-02") {
		t.Errorf("it tells of a service that is enabled again:\n%s", got)
	}
	sc.Source(core.SourceVolumeServices, core.SourceForbidden)
	sc.VolumeServices = nil
	if got := strings.Join(Of(sc.Snapshot, r.Changes()).Text(time.UTC, false), "\n"); !strings.Contains(got,
		"cmp-01@lvm: cinder-volume was disabled, by bob: not known whether it is still so") {
		t.Errorf("it does not say that this is not known:\n%s", got)
	}
}
