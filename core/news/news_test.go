package news_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/news"
	"lockstep/scene"
)

// told are the lines of a story: each act changes the scene, and what is new is told.
func told(t *testing.T, acts ...func(sc scene.Scene)) [][]string {
	t.Helper()
	sc := scene.Healthy()
	sc.Source(core.SourceMigrations, core.SourceLive)
	var r news.Reporter
	var out [][]string
	for _, act := range append([]func(scene.Scene){func(scene.Scene) {}}, acts...) {
		sc = sc.Again()
		sc.Now, sc.Wall = sc.Now.Add(time.Minute), sc.Wall.Add(time.Minute)
		for id, src := range sc.Sources {
			if !src.AsOf.IsZero() {
				src.AsOf = sc.Wall.Add(-time.Second)
				sc.Sources[id] = src
			}
		}
		sc.Migrations = maps.Clone(sc.Migrations) // which is never changed in place
		act(sc)
		var lines []string
		for _, l := range r.Next(sc.Snapshot) {
			lines = append(lines, fmt.Sprintf("%-9s %s", l.Mark(), l.Says()))
		}
		out = append(out, lines)
	}
	return out
}

// A line is told for each thing that changes, once, when it changes.
func TestEachChangeIsALine(t *testing.T) {
	var in *core.Instance
	for _, tt := range []struct {
		name string
		acts []func(scene.Scene)
		want [][]string // what each act's lines begin with, after the time
	}{
		{"nothing", []func(scene.Scene){func(scene.Scene) {}}, [][]string{{"watch     no update runs; nothing needs you"}, nil}},
		{"an entry comes and is settled", []func(scene.Scene){
			func(sc scene.Scene) { sc.Mode("cmp-01", "livee") },
			func(scene.Scene) {},
			func(sc scene.Scene) { delete(sc.Nodes["cmp-01"].Annotations, core.AnnotationMigrationMode) },
		}, [][]string{nil, {"warning   cmp-01: "}, nil, {"settled   cmp-01: "}}},
		{"an entry is set aside and comes back", []func(scene.Scene){
			func(sc scene.Scene) { sc.Mode("cmp-01", "livee") },
			func(sc scene.Scene) {
				for _, a := range attention.Of(sc.Again().Snapshot) {
					sc.Notes = append(sc.Notes, attention.SetAside(core.Note{ID: a.ID, On: core.NoteOn{Entry: a.ID}, Text: "bert asks",
						At: sc.Now}, a, sc.Now.Add(90*time.Second)))
				}
			},
			func(scene.Scene) {},
			func(scene.Scene) {},
		}, [][]string{nil, {"warning   cmp-01: "}, {"aside     cmp-01: until "}, nil, {"warning   cmp-01: "}}},
		{"what an entry follows from is over, and it is not", []func(scene.Scene){
			func(sc scene.Scene) {
				sc.Update(4 * time.Hour)
				sc.Returning("cmp-01", 3*time.Hour, "")
			},
			func(sc scene.Scene) {
				sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}}
			},
			func(scene.Scene) {},
			func(sc scene.Scene) {
				sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, Existing: 1, Ready: 1}
			},
			func(scene.Scene) {},
		}, [][]string{nil, {"warning   cmp-01: "}, {"URGENT    ", "follows   cmp-01: "}, nil, {"warning   cmp-01: ", "settled   "}, nil}},
		{"an update", []func(scene.Scene){
			func(sc scene.Scene) { sc.Update(0) },
			func(sc scene.Scene) { sc.ClusterRequests = nil },
		}, [][]string{nil, {"update    the update", "phase "}, {"update    the update is over ("}}},
		{"a node", []func(scene.Scene){
			func(sc scene.Scene) {
				sc.Update(0)
				sc.Maintained("cmp-01", "")
			},
			func(scene.Scene) {},
		}, [][]string{nil, {"node      cmp-01: idle → "}, nil}},
		{"a node goes", []func(scene.Scene){
			func(sc scene.Scene) { sc.Nodes["cmp-02"].ShortName = "machine-02" },
			func(sc scene.Scene) {
				delete(sc.Nodes, "cmp-02")
				sc.NodeLocks = sc.NodeLocks.Without("cmp-02")
			},
		}, [][]string{nil, nil, {"node      machine-02: is not there any more"}}},
		{"a migration", []func(scene.Scene){
			func(sc scene.Scene) {
				in = sc.ByHost["cmp-01"][0]
				sc.Migration(in, "running", "cmp-02", 0)
			},
			func(sc scene.Scene) { sc.Migrations[in.ID][0].Status = "post-migrating" },
			func(sc scene.Scene) { sc.Migrations[in.ID][0].Status = "completed" },
			func(sc scene.Scene) { sc.Migrations[in.ID][0].Status = "completed" },
		}, [][]string{nil, {"migration web-1: live-migration from cmp-01 to cmp-02, running"}, nil,
			{"migration web-1: live-migration from cmp-01 to cmp-02, completed"}, nil}},
		{"a migration that is over at once", []func(scene.Scene){
			func(sc scene.Scene) {
				sc.Migration(sc.ByHost["cmp-01"][0], "error", "cmp-02", 0).Updated = sc.Now.Add(-10 * time.Second)
			},
			func(sc scene.Scene) { sc.Migration(sc.ByHost["cmp-02"][0], "completed", "cmp-01", 2*time.Hour) }, // listed for its host
		}, [][]string{nil, {"migration web-1: live-migration from cmp-01 to cmp-02, error"}, nil}},
		{"a source that connects, and fails", []func(scene.Scene){
			func(sc scene.Scene) { sc.Source(core.SourceNetworkAgents, core.SourceFailed) },
		}, [][]string{nil, {"source    network agents: failed"}}},
		{"a source", []func(scene.Scene){
			func(sc scene.Scene) { sc.Source(core.SourceNetworkAgents, core.SourceFailed) },
			func(sc scene.Scene) { sc.Source(core.SourceNetworkAgents, core.SourceConnecting) },
			func(sc scene.Scene) {
				sc.Sources[core.SourceNetworkAgents] = core.Source{ID: core.SourceNetworkAgents, State: core.SourceLive, AsOf: sc.Wall}
			},
		}, [][]string{nil, {"source    network agents: failed: list network agents: forbidden: no"}, nil,
			{"source    network agents: can be seen"}}},
	} {
		got := told(t, tt.acts...)
		for i, want := range tt.want {
			for _, text := range want {
				found := false
				for _, line := range got[i] {
					found = found || strings.HasPrefix(line, text)
				}
				if !found {
					t.Errorf("%s, act %d: %q is not among %q", tt.name, i, text, got[i])
				}
			}
			if want == nil && i > 0 && len(got[i]) > 0 {
				t.Errorf("%s, act %d: %q, want nothing", tt.name, i, got[i])
			}
		}
	}
}

// What was so before the watch began is not told as new: neither an update that could not be seen at first, nor how long a node has been
// in a stage that nobody saw it come into.
func TestWhatWasBeforeIsNotNew(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(3 * time.Hour)
	sc.Maintained("cmp-01", "")
	requests := sc.Sources[core.SourceClusterRequests]
	sc.Sources[core.SourceClusterRequests] = core.Source{ID: core.SourceClusterRequests, State: core.SourceConnecting}
	var r news.Reporter
	r.Next(sc.Snapshot)
	next := func() (out []string) {
		for _, l := range r.Next(sc.Snapshot) {
			if l.Kind == news.KindUpdate || l.Kind == news.KindNode {
				out = append(out, l.Says())
			}
		}
		return out
	}
	sc = sc.Again()
	sc.Now, sc.Sources[core.SourceClusterRequests] = sc.Now.Add(30*time.Second), requests
	if got, want := next(), []string{"the update to 21.0.0+25.2 runs (3 h)"}; !slices.Equal(got, want) {
		t.Errorf("the update is seen: %q, want %q", got, want)
	}
	sc = sc.Again()
	sc.Now = sc.Now.Add(30 * time.Second)
	scene.OwnLockOf(sc, "cmp-01").RawState = core.LockInactive
	if got := next(); len(got) != 1 || !strings.HasPrefix(got[0], "cmp-01: ") || strings.Contains(got[0], "(") {
		t.Errorf("the node is released: %q, want one line without a length", got)
	}
}

// As JSON a line has all that a script needs to act on.
func TestALineAsJSON(t *testing.T) {
	sc := scene.Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", "")
	var r news.Reporter
	for _, l := range r.Next(sc.Snapshot) {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if l.Kind != news.KindEntry {
			continue
		}
		for field, want := range map[string]any{"format": 1.0, "kind": "entry", "what": "came", "severity": "urgent", "cluster": "mos",
			"subject": "cmp-01", "rule": "node-waits", "node": "cmp-01", "id": "node-waits/uid-cmp-01", "at": "2026-03-14T12:00:00Z"} {
			if m[field] != want {
				t.Errorf("%s is %v, want %v, in %s", field, m[field], want, raw)
			}
		}
		return
	}
	t.Error("there is no entry")
}

func line(id, what string, severity core.Severity) news.Line {
	return news.Entry(core.Attention{ID: id, Rule: core.AttentionRule(strings.SplitN(id, "/", 2)[0]), Severity: severity, Label: id}, what)
}

func setAside(id, what string) news.Line {
	return news.Entry(core.Attention{ID: id, Rule: "a", Severity: core.SeverityUrgent, Label: id, Aside: &core.Note{Until: scene.Noon}}, what)
}

// with is the line of an entry that only follows from another.
func with(cause string, l news.Line) news.Line {
	l.Cause = cause
	return l
}

// Somebody is called about what becomes urgent: once, not again and again, and not more often than the limit allows. What the limit holds
// back is made up for, and told as a number; what was settled meanwhile is not.
func TestWhoeverIsCalled(t *testing.T) {
	type act struct {
		after time.Duration
		lines []news.Line
		want  []string
	}
	urgent, warning := core.SeverityUrgent, core.SeverityWarning
	follows := with("a/1", line("c/1", news.Came, urgent))
	for name, tt := range map[string]struct {
		rules news.Rules
		acts  []act
	}{
		"urgent alone": {news.Rules{}, []act{{0, []news.Line{line("a/1", news.Came, warning), line("b/1", news.Came, urgent)},
			[]string{"urgent: b/1: "}}, {time.Minute, []news.Line{line("a/1", news.Worse, urgent)}, []string{"urgent: a/1: "}}}},
		"warnings, too": {news.Rules{From: warning}, []act{{0, []news.Line{line("a/1", news.Came, warning)}, []string{"warning: a/1: "}}}},
		"not what follows, nor what gets better, nor what is settled": {news.Rules{}, []act{{0, []news.Line{follows,
			line("d/1", news.Better, urgent), line("e/1", news.Settled, urgent)}, nil}}},
		"what is set aside does not call, until it is back": {news.Rules{After: 30 * time.Second}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent), setAside("b/1", news.Came)}, nil},
			{10 * time.Second, []news.Line{setAside("a/1", news.Aside)}, nil},
			{time.Minute, []news.Line{setAside("a/1", news.Worse)}, nil},
			{time.Minute, []news.Line{line("a/1", news.Back, urgent)}, nil},
			{time.Minute, nil, []string{"urgent: a/1: "}}}},
		"only and never": {news.Rules{Only: []core.AttentionRule{"a", "b"}, Never: []core.AttentionRule{"b"}}, []act{{0, []news.Line{
			line("a/1", news.Came, urgent), line("b/1", news.Came, urgent), line("c/1", news.Came, urgent)}, []string{"urgent: a/1: "}}}},
		"quiet": {news.Rules{Quiet: 10 * time.Minute}, []act{{0, []news.Line{line("a/1", news.Came, urgent)}, []string{"urgent: a/1: "}},
			{5 * time.Minute, []news.Line{line("a/1", news.Came, urgent)}, nil},
			{6 * time.Minute, []news.Line{line("a/1", news.Came, urgent)}, []string{"urgent: a/1: "}}}},
		"quiet is over, and it is still there": {news.Rules{Quiet: 10 * time.Minute}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent), line("b/1", news.Came, urgent)}, []string{"urgent: a/1: ", "urgent: b/1: "}},
			{time.Minute, []news.Line{line("a/1", news.Settled, urgent), line("b/1", news.Settled, urgent)}, nil},
			{time.Minute, []news.Line{line("a/1", news.Came, urgent), line("b/1", news.Came, urgent)}, nil},
			{7 * time.Minute, []news.Line{line("b/1", news.Settled, urgent)}, nil},
			{time.Minute, nil, []string{"urgent: a/1: "}}}},
		"quiet, but it is worse": {news.Rules{From: warning, After: 30 * time.Second, Quiet: 10 * time.Minute}, []act{
			{0, []news.Line{line("a/1", news.Came, warning)}, nil},
			{time.Minute, nil, []string{"warning: a/1: "}},
			{time.Minute, []news.Line{line("a/1", news.Worse, urgent)}, nil},
			{time.Minute, nil, []string{"urgent: a/1: "}},
			{time.Minute, []news.Line{line("a/1", news.Better, warning)}, nil},
			{time.Minute, []news.Line{line("a/1", news.Worse, urgent)}, nil},
			{7 * time.Minute, nil, nil},
			{time.Minute, nil, []string{"urgent: a/1: "}}}},
		"told as it is when the call is made": {news.Rules{From: warning, After: 30 * time.Second}, []act{
			{0, []news.Line{line("a/1", news.Came, warning), line("b/1", news.Came, urgent)}, nil},
			{10 * time.Second, []news.Line{line("a/1", news.Worse, urgent), line("b/1", news.Better, warning)}, nil},
			{20 * time.Second, nil, []string{"urgent: a/1: ", "warning: b/1: "}}}},
		"it is no longer severe enough": {news.Rules{After: 30 * time.Second}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent)}, nil},
			{10 * time.Second, []news.Line{line("a/1", news.Better, warning)}, nil},
			{time.Minute, nil, nil}}},
		"a reminder, though it is a warning": {news.Rules{}, []act{
			{0, []news.Line{line("promise/1", news.Came, warning)}, []string{"warning: promise/1: "}}}},
		"a reminder, though only others are called about": {news.Rules{Only: []core.AttentionRule{"a"}}, []act{
			{0, []news.Line{line("promise/1", news.Came, warning)}, []string{"warning: promise/1: "}}}},
		"a reminder that nobody wants": {news.Rules{Never: []core.AttentionRule{core.RulePromise}}, []act{
			{0, []news.Line{line("promise/1", news.Came, warning)}, nil}}},
		"a limit holds back what is less severe": {news.Rules{From: warning, Limit: 2}, []act{
			{0, []news.Line{line("a/1", news.Came, warning), line("a/2", news.Came, warning), line("a/3", news.Came, urgent)},
				[]string{"urgent: a/3: ", "warning: a/1:  (and 1 other, held back by the limit)"}}}},
		"what follows from what has called, and stays when that is over": {news.Rules{After: 30 * time.Second}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent), line("c/1", news.Came, urgent)}, nil},
			{10 * time.Second, []news.Line{with("a/1", line("c/1", news.Follows, urgent))}, nil},
			{time.Minute, nil, []string{"urgent: a/1: "}},
			{time.Minute, []news.Line{line("a/1", news.Settled, urgent), line("c/1", news.Alone, urgent)}, nil},
			{time.Minute, nil, []string{"urgent: c/1: "}}}},
		"what lasts": {news.Rules{After: 30 * time.Second}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent), line("b/1", news.Came, urgent)}, nil},
			{10 * time.Second, []news.Line{line("a/1", news.Settled, urgent)}, nil},
			{20 * time.Second, nil, []string{"urgent: b/1: "}}}},
		"a limit": {news.Rules{Limit: 2}, []act{
			{0, []news.Line{line("a/1", news.Came, urgent), line("a/2", news.Came, urgent), line("a/3", news.Came, urgent),
				line("a/4", news.Came, urgent)}, []string{"urgent: a/1: ", "urgent: a/2:  (and 2 others, held back by the limit)"}},
			{time.Minute, []news.Line{line("a/5", news.Came, urgent), line("a/6", news.Came, urgent)}, nil},
			{time.Minute, []news.Line{line("a/5", news.Settled, urgent)}, nil},
			{time.Hour, nil, []string{"urgent: a/6: "}},
		}},
	} {
		c := news.Caller{Rules: tt.rules}
		wall := scene.Noon
		for i, a := range tt.acts {
			wall = wall.Add(a.after)
			var got []string
			for _, call := range c.Next(a.lines, wall) {
				got = append(got, call.Text())
			}
			if strings.Join(got, "|") != strings.Join(a.want, "|") {
				t.Errorf("%s, %d: called are %q, want %q", name, i, got, a.want)
			}
		}
	}
}

// An entry that was there when the watch began, or when a source could be seen again, has lasted at least since then; one that was gone
// when a source came back at most until then. What came and went in between is known exactly.
func TestHowLongAnEntryLasted(t *testing.T) {
	const none, wrong, blind, unseen = "none", "wrong", "none, and a source is away", "wrong, and a source is away"
	for _, tt := range []struct {
		looks []string
		says  string
	}{
		{[]string{wrong, wrong, none}, "(>2 m)"},
		{[]string{none, wrong, none}, "(60 s)"},
		{[]string{none, blind, wrong, none}, "(>60 s)"},
		{[]string{none, wrong, unseen, none}, "(<2 m)"},
		{[]string{none, blind, wrong, unseen, none}, "(~2 m)"},
		{[]string{none, wrong, unseen, wrong, none}, "(3 m)"},
	} {
		var r news.Reporter
		var last news.Line
		sc := scene.Healthy()
		for _, look := range tt.looks {
			sc = sc.Again()
			sc.Now, sc.Wall = sc.Now.Add(time.Minute), sc.Wall.Add(time.Minute)
			delete(sc.Nodes["cmp-01"].Annotations, core.AnnotationMigrationMode)
			if look == wrong || look == unseen {
				sc.Mode("cmp-01", "livee")
			}
			sc.Source(core.SourceVolumes, core.SourceLive)
			if look == blind || look == unseen {
				sc.Source(core.SourceVolumes, core.SourceFailed)
			}
			for _, l := range r.Next(sc.Snapshot) {
				if l.Kind == news.KindEntry && l.Subject == "cmp-01" {
					last = l
				}
			}
		}
		if last.What != news.Settled || !strings.HasSuffix(last.Says(), tt.says) {
			t.Errorf("%q: %+v, which says %q, want %s", tt.looks, last, last.Says(), tt.says)
		}
	}
}
