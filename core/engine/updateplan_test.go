package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/scene"
)

// Right before commence is written the server itself is asked, and afterwards the plan shows what came of it.
func TestCommenceIsCheckedOnTheServer(t *testing.T) {
	plan := core.Ref{Kind: core.KindUpdatePlan, Name: "mos-1", UID: "p"}
	on := core.SetCommence{Plan: plan, Index: 1, ID: "ceph", Name: "Ceph", Status: core.PlanNotStarted, On: true}
	off := on
	off.On = false
	at := func(commence bool, status string) core.PlanStep {
		return core.PlanStep{ID: "ceph", Name: "Ceph", Status: status, Commence: commence}
	}
	for _, tt := range []struct {
		name   string
		change core.SetCommence
		past   bool
		step   core.PlanStep
		firing []string
		after  string // status that LCM gives the step before anybody looks
		why    string // the check refuses for; empty: it does not
		want   core.OperationState
	}{
		{"commence", on, false, at(false, core.PlanNotStarted), nil, core.PlanScheduled, "", core.OperationDone},
		{"it has begun meanwhile", on, false, at(false, core.PlanInProgress), nil, "", "is InProgress now", ""},
		{"somebody was faster", on, false, at(true, core.PlanNotStarted), nil, "", "commence is true already", ""},
		{"another step is there", on, false, core.PlanStep{ID: "masters"}, nil, "", "another one", ""},
		{"an alert fires by now", on, false, at(false, core.PlanNotStarted), []string{"A"}, "", "an alert fires", ""},
		{"an alert fires, past it", on, true, at(false, core.PlanNotStarted), []string{"A"}, "", "", core.OperationDone},
		{"withdraw", off, false, at(true, core.PlanNotStarted), []string{"A"}, core.PlanNotStarted, "", core.OperationDone},
		{"withdraw, and it has begun", off, false, at(true, core.PlanNotStarted), nil, core.PlanInProgress, "", core.OperationFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &core.UpdatePlan{Source: "a", Target: "b", Status: core.PlanInProgress,
				Steps: []core.PlanStep{{ID: "openstack", Status: core.PlanCompleted}, tt.step}}
			server := &fakeManagement{objects: map[core.Kind]core.Object{core.KindUpdatePlan: p,
				core.KindCluster:   &core.ManagedCluster{Release: "a", Target: "b"},
				core.KindAutoPause: &core.AutoPause{Firing: tt.firing}}}
			e := New(Config{Management: server, Writers: Writers{Management: server}})
			w := checkerOf(e, core.Step{Intent: core.Intent{PastStops: tt.past}}, tt.change)
			err := w.check(t.Context())
			if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
				t.Fatalf("the check says %v, want %q", err, tt.why)
			}
			if err != nil {
				return
			}
			if err := server.Write(t.Context(), permittest.For(t, tt.change), tt.change); err != nil {
				t.Fatal(err)
			}
			if tt.after != "" {
				p.Steps[1].Status = tt.after
			}
			if o := w.outcome(t.Context(), sent{began: scene.Noon, accepted: true}); o.state != tt.want {
				t.Errorf("the outcome is %+v, want %s", o, tt.want)
			}
		})
	}
	p := &core.UpdatePlan{Source: "a", Target: "b", Steps: []core.PlanStep{{ID: "openstack", Status: core.PlanStuck},
		at(false, core.PlanNotStarted)}}
	c := &core.ManagedCluster{Release: "a", Target: "b"}
	server := &fakeManagement{objects: map[core.Kind]core.Object{core.KindUpdatePlan: p, core.KindCluster: c}}
	w := checkerOf(New(Config{Management: server}), core.Step{}, on)
	if err := w.check(t.Context()); err == nil || !strings.Contains(err.Error(), "openstack is Stuck") {
		t.Errorf("a step that is Stuck by now: %v", err)
	}
	w = checkerOf(New(Config{Management: server}), core.Step{Intent: core.Intent{PastStops: true}}, on)
	for _, is := range []struct {
		cluster core.ManagedCluster
		why     string
	}{
		{core.ManagedCluster{Release: "a", Target: "b"}, ""},
		{core.ManagedCluster{Release: "a", Target: "c"}, "at a, to be at c now"},
		{core.ManagedCluster{Release: "b", Target: "b"}, "at b, to be at b now"},
		{core.ManagedCluster{Release: "a", Target: "b", InMaintenance: true}, "maintenance mode"},
	} {
		*c = is.cluster
		if err := w.check(t.Context()); (err == nil) != (is.why == "") || err != nil && !strings.Contains(err.Error(), is.why) {
			t.Errorf("past what stops it, %+v: %v", is.cluster, err)
		}
	}
}

// Right before the release is set, the server is asked whether it is still as it was, and offered.
func TestTheReleaseIsCheckedOnTheServer(t *testing.T) {
	change := core.SetRelease{Cluster: core.Ref{Kind: core.KindCluster, Name: "mos"}, Old: "a", New: "b"}
	for _, tt := range []struct {
		name    string
		cluster core.ManagedCluster
		why     string
	}{
		{"as it was", core.ManagedCluster{Target: "a", Available: []core.OfferedRelease{{Name: "b"}}}, ""},
		{"set by somebody else", core.ManagedCluster{Target: "c", Available: []core.OfferedRelease{{Name: "b"}}}, "is c now"},
		{"not offered any more", core.ManagedCluster{Target: "a"}, "not offered any more"},
		{"on its way by now", core.ManagedCluster{Release: "0", Target: "a", Available: []core.OfferedRelease{{Name: "b"}}}, "on its way to a"},
		{"in maintenance mode by now", core.ManagedCluster{Target: "a", Maintenance: new(true), Available: []core.OfferedRelease{{Name: "b"}}},
			"maintenance mode"},
	} {
		server := &fakeManagement{objects: map[core.Kind]core.Object{core.KindCluster: &tt.cluster}}
		w := checkerOf(New(Config{Management: server}), core.Step{}, change)
		err := w.check(t.Context())
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationVerifying {
			t.Errorf("before it is set: %+v", o)
		}
		if err := server.Write(t.Context(), permittest.For(t, change), change); err != nil {
			t.Fatal(err)
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationDone {
			t.Errorf("%+v", o)
		}
	}
}

// Right before the alerts are set, the server is asked whether they are as they were; afterwards it shows them.
func TestWhatPausesTheUpdateIsCheckedOnTheServer(t *testing.T) {
	pause := core.Ref{Kind: core.KindAutoPause, Name: "mos", UID: "made"}
	is := &core.AutoPause{Meta: core.Meta{UID: "made"}, Alerts: []string{"A"}}
	for _, tt := range []struct {
		name   string
		has    *core.AutoPause
		change core.SetAutoPause
		why    string
	}{
		{"changed", is, core.SetAutoPause{Pause: pause, Old: []string{"A"}, New: []string{"B"}}, ""},
		{"removed", is, core.SetAutoPause{Pause: pause, Old: []string{"A"}}, ""},
		{"made", nil, core.SetAutoPause{Pause: core.Ref{Kind: core.KindAutoPause, Name: "mos"}, New: []string{"B"}}, ""},
		{"made meanwhile", is, core.SetAutoPause{Pause: core.Ref{Kind: core.KindAutoPause, Name: "mos"}, New: []string{"B"}}, "made or removed"},
		{"changed meanwhile", is, core.SetAutoPause{Pause: pause, Old: []string{"C"}, New: []string{"B"}}, "its alerts are A now"},
	} {
		server := &fakeManagement{objects: map[core.Kind]core.Object{}}
		if tt.has != nil {
			server.objects[core.KindAutoPause] = tt.has
		}
		w := checkerOf(New(Config{Management: server}), core.Step{}, tt.change)
		err := w.check(t.Context())
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		if err := server.Write(t.Context(), permittest.For(t, tt.change), tt.change); err != nil {
			t.Fatal(err)
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationDone {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
}

// What became of commence is read at the step that was meant, wherever the plan has it by then. A lost answer is not judged by commence
// alone: an automatic pause takes it away too, and a step that has gone on meanwhile tells nothing of the write.
func TestTheOutcomeOfCommenceIsReadAtItsStep(t *testing.T) {
	on := core.SetCommence{Plan: core.Ref{Kind: core.KindUpdatePlan, Name: "mos-1"}, Index: 1, ID: "ceph", Name: "Ceph",
		Status: core.PlanNotStarted, On: true}
	off := on
	off.On = false
	step := func(id string, commence bool, status string) core.PlanStep {
		return core.PlanStep{ID: id, Name: strings.ToUpper(id[:1]) + id[1:], Commence: commence, Status: status}
	}
	first, none, masters := step("openstack", true, core.PlanCompleted), core.PlanNotStarted, step("masters", false, core.PlanNotStarted)
	begun := step("ceph", false, none)
	begun.Started = scene.Noon
	workers := step("ceph", false, core.PlanAutoPaused)
	workers.Granularity = "machine"
	for _, tt := range []struct {
		name     string
		change   core.SetCommence
		accepted bool
		plan     string // its status
		steps    []core.PlanStep
		want     core.OperationState
		says     string
	}{
		{"the steps have shifted", on, true, "", []core.PlanStep{first, masters, step("ceph", true, none)}, core.OperationDone, "commenced"},
		{"the steps have shifted, off", off, true, "", []core.PlanStep{step("ceph", false, none)}, core.OperationDone, "not commenced"},
		{"its step is gone", on, true, "", []core.PlanStep{first, masters}, core.OperationUnknown, "no step ceph"},
		{"its name is there twice", on, true, "", []core.PlanStep{step("ceph", true, none), step("ceph", true, none)}, core.OperationUnknown,
			"no step ceph"},
		{"not seen yet", on, true, "", []core.PlanStep{first, step("ceph", false, none)}, core.OperationVerifying, ""},
		{"an alert was faster", on, true, core.PlanAutoPaused, []core.PlanStep{first, step("ceph", false, none)}, core.OperationFailed,
			"taken that away again"},
		{"lost, and done", on, false, "", []core.PlanStep{first, step("ceph", true, none)}, core.OperationDone, "commenced"},
		{"lost, and nothing shows", on, false, "", []core.PlanStep{first, step("ceph", false, none)}, core.OperationVerifying, ""},
		{"lost, and it has another status", on, false, "", []core.PlanStep{first, step("ceph", false, core.PlanInProgress)},
			core.OperationUnknown, "InProgress"},
		{"lost, and it has begun", on, false, "", []core.PlanStep{first, begun}, core.OperationUnknown, "not known"},
		{"lost, and the plan is paused", on, false, core.PlanAutoPaused, []core.PlanStep{first, step("ceph", false, none)},
			core.OperationUnknown, "automatic pause"},
		{"lost, and the pause took it away", off, false, core.PlanAutoPaused, []core.PlanStep{first, workers}, core.OperationUnknown,
			"automatic pause"},
	} {
		server := &fakeManagement{objects: map[core.Kind]core.Object{core.KindUpdatePlan: &core.UpdatePlan{Status: tt.plan, Steps: tt.steps}}}
		w := checkerOf(New(Config{Management: server}), core.Step{}, tt.change)
		if o := w.outcome(t.Context(), sent{accepted: tt.accepted}); o.state != tt.want || o.err != nil || !strings.Contains(o.text, tt.says) {
			t.Errorf("%s: %+v, want %s", tt.name, o, tt.want)
		}
	}
}

// The journal says of a long or hostile name what was done with it: its line is cut, and the value must not be what is cut off.
func TestAJournaledValueOutlivesALongName(t *testing.T) {
	for _, name := range []string{strings.Repeat("long", 3000), "a\nb\x1b[2J"} {
		for _, change := range []core.Change{core.SetCommence{ID: name, On: true}, core.SetCommence{Name: name, On: true},
			core.SetGroup{Group: core.Ref{Name: name}, New: &core.GroupSettings{Index: 1}}} {
			from, to := checkerOf(New(Config{Management: &fakeManagement{}}), core.Step{}, change).values()
			raw, err := encodeRecord(Record{From: from, To: to})
			if text := string(raw); err != nil || strings.ContainsAny(text, "\x1b") ||
				!strings.Contains(text, "commence=true") && !strings.Contains(text, "index=1") {
				t.Errorf("%T: %.300q, %v", change, raw, err)
			}
		}
	}
}

// A lost answer about the release or the alerts is not taken for a refusal when somebody else has set another value meanwhile.
func TestAnotherValueMeanwhileLeavesTheOutcomeUnknown(t *testing.T) {
	pause := core.Ref{Kind: core.KindAutoPause, Name: "mos", UID: "made"}
	for _, tt := range []struct {
		name   string
		change core.Change
		is     core.Object
		want   core.OperationState
	}{
		{"the release is as it was", core.SetRelease{Old: "a", New: "b"}, &core.ManagedCluster{Target: "a"}, core.OperationVerifying},
		{"another release", core.SetRelease{Old: "a", New: "b"}, &core.ManagedCluster{Target: "c"}, core.OperationUnknown},
		{"the alerts are as they were", core.SetAutoPause{Pause: pause, Old: []string{"A"}, New: []string{"B"}},
			&core.AutoPause{Meta: core.Meta{UID: "made"}, Alerts: []string{"A"}}, core.OperationVerifying},
		{"other alerts", core.SetAutoPause{Pause: pause, Old: []string{"A"}, New: []string{"B"}},
			&core.AutoPause{Meta: core.Meta{UID: "made"}, Alerts: []string{"C"}}, core.OperationUnknown},
		{"another object, with the same alerts", core.SetAutoPause{Pause: pause, Old: []string{"A"}, New: []string{"B"}},
			&core.AutoPause{Meta: core.Meta{UID: "else"}, Alerts: []string{"B"}}, core.OperationUnknown},
		{"removed, and made again", core.SetAutoPause{Pause: pause, Old: []string{"A"}},
			&core.AutoPause{Meta: core.Meta{UID: "else"}, Alerts: []string{"A"}}, core.OperationDone},
	} {
		ref := core.Ref{Kind: core.KindAutoPause}
		if _, ok := tt.is.(*core.ManagedCluster); ok {
			ref.Kind = core.KindCluster
		}
		if c, ok := tt.change.(core.SetRelease); ok {
			c.Cluster = ref
			tt.change = c
		}
		server := &fakeManagement{objects: map[core.Kind]core.Object{ref.Kind: tt.is}}
		if o := checkerOf(New(Config{Management: server}), core.Step{}, tt.change).outcome(t.Context(), sent{}); o.state != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, o, tt.want)
		}
	}
}
