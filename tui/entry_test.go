package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/sim/bubble/lane"
)

// withoutController is the managed fixture with an OpenStack controller that is scaled to 0: a node does not come back, so the
// plan's step is Stuck.
func withoutController() *core.Snapshot {
	s := managedWorld()
	s.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "rockoon"},
		Image: "registry/openstack/rockoon:1.2.3"}
	name := "kaas-node-cmp06"
	s.NodeRequests[name][0].Deleting = before(27 * time.Minute)
	n := s.Nodes[name]
	s.History.Stages[n.UID] = core.StageRecord{Stage: core.StageReturning, Since: seen(27 * time.Minute)}
	p := s.Management.Plan()
	p.Steps[2].Status, p.Steps[2].Message = core.PlanStuck, "takes longer than estimated"
	for _, v := range s.Management.Machines {
		v.Failing, v.Drain = nil, nil
	}
	s.Management.LCM.Stuck = false
	return s
}

// unreachable is the fixture whose OpenStack answers neither the controller nor Lockstep.
func unreachable() *core.Snapshot {
	s := world()
	for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations, core.SourceComputeServices, core.SourceNetworkAgents} {
		s.Sources[id] = core.Source{ID: id, State: core.SourceFailed, Since: fixtureWall.Add(-9 * time.Minute),
			AsOf: fixtureWall.Add(-9 * time.Minute), Next: fixtureWall.Add(20 * time.Second),
			Err: &core.APIError{Kind: core.ErrServer, Server: core.ServerOpenStack, Status: 503, Call: "list " + string(id),
				Message: "Service Unavailable: no server is available to handle this request",
				Remedy:  "look at keystone's pods"}}
	}
	s.NodeLock("kaas-node-cmp11", core.ControllerOpenStack).Message = "2026-03-14 16:35:00.000000 Retrying migrate instances from host. " +
		"Cannot execute openstack commands, error: 503 Service Unavailable"
	return s
}

// paused is the fixture in which a batch over the whole cluster has paused itself: it belongs to no node.
func paused() *core.Snapshot {
	s := world()
	s.Operations = []core.Operation{{ID: "op-2", Step: "restart-pods/tf/vrouter",
		Intent: core.Intent{Kind: core.IntentRestartPods, Workload: "tf/vrouter"}, Title: "restart the old pods of vrouter",
		State: core.OperationPaused, Text: "1 of 3 failed", Started: before(4 * time.Minute),
		Items: []core.OperationItem{{Label: "vrouter-1", State: core.OperationFailed, Text: "pod vrouter-1 did not become ready within 5 m",
			Started: before(4 * time.Minute), Ended: before(time.Minute)},
			{Label: "vrouter-2", State: core.OperationQueued}, {Label: "vrouter-3", State: core.OperationQueued}}}}
	return s
}

// entry opens the page of the first entry of a rule.
func (d *driver) entry(t *testing.T, rule string) *driver {
	t.Helper()
	for _, a := range attention.Of(d.snap) {
		if string(a.Rule) == rule {
			d.keys("1")
			d.needs.Choose(a.ID)
			return d.keys("enter")
		}
	}
	t.Fatalf("there is no entry %s", rule)
	return d
}

func TestScreensOfEntries(t *testing.T) {
	for _, size := range sizes {
		for _, tt := range []struct {
			name, rule string
			world      func() *core.Snapshot
		}{
			{"controller", "controller-away", withoutController}, {"follows", "node-slow", withoutController}, {"plan", "plan-stuck",
				withoutController},
			{"node", "node-waits", world}, {"outage", "outage", unreachable}, {"sources", "sources", unreachable}, {"drain", "drain-blocked",
				managedWorld},
			{"batch", "operation", paused},
		} {
			name := fmt.Sprintf("entry-%s-%dx%d", tt.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				d := drive(tt.world(), size.w, size.h).entry(t, tt.rule)
				checkFrame(t, d.shows(), size.w, size.h)
				golden(t, name, stripped(d.shows()))
			})
		}
		t.Run(fmt.Sprintf("needs-caused-%dx%d", size.w, size.h), func(t *testing.T) {
			golden(t, fmt.Sprintf("needs-caused-%dx%d", size.w, size.h), stripped(drive(withoutController(), size.w, size.h).keys("1").shows()))
		})
	}
}

// reads returns the text of the screen, with its lines joined.
func (d *driver) reads() string {
	d.dirty = true
	return strings.Join(strings.Fields(stripped(d.shows())), " ")
}

// Enter on any entry opens its own page. Its cause is one key away, and esc comes back step by step.
func TestFromAnEntryToItsCauseAndBack(t *testing.T) {
	d := drive(withoutController(), 120, 40).entry(t, "node-slow")
	if text := d.reads(); !strings.Contains(text, "because of rockoon: the OpenStack controller is scaled to 0") {
		t.Fatalf("it does not name its cause:\n%s", stripped(d.shows()))
	}
	d.keys("b")
	if p, ok := d.entryShown(); !ok || p.id != "controller-away" {
		t.Fatalf("b does not lead to the cause:\n%s", stripped(d.shows()))
	}
	if text := d.reads(); !strings.Contains(text, "change scale it up kubectl -n osh-system scale deployment rockoon --replicas=1") ||
		!strings.Contains(text, "follows cmp-06 does not get back into service") {
		t.Errorf("the cause does not say what to do, and what follows:\n%s", stripped(d.shows()))
	}
	p, _ := d.entryShown()
	d.keys("G")
	for range len(p.ways.Rows()) {
		if w, _ := p.ways.Current(); w.what == "cmp-06" {
			break
		}
		d.keys("up")
	}
	d.keys("enter")
	if p, ok := d.entryShown(); !ok || p.a.Rule != "node-slow" || len(d.layers) != 1 {
		t.Errorf("what follows is opened a second time: %d pages", len(d.layers))
	}
	d.keys("esc")
	if d.top() != nil {
		t.Errorf("esc does not lead back:\n%s", stripped(d.shows()))
	}
	d.entry(t, "node-slow").keys("enter") // its first way is the cause
	if p, ok := d.entryShown(); !ok || p.id != "controller-away" {
		t.Errorf("enter does not lead to the cause:\n%s", stripped(d.shows()))
	}
	d.keys("b")
	if text := d.reads(); !strings.Contains(text, "no cause of it is known") {
		t.Errorf("b at the cause says nothing:\n%s", stripped(d.shows()))
	}
	d.keys("esc", "esc")
	if d.top() != nil {
		t.Errorf("esc does not lead back:\n%s", stripped(d.shows()))
	}
}

// If there is a step, enter goes on to it; pressing it again and again grants and does nothing.
func TestEnterGoesOnToTheStep(t *testing.T) {
	s := world()
	s.Write.Armed, s.Write.Mine = true, true
	d := drive(s, 120, 40).entry(t, "node-waits").keys("enter")
	page, ok := d.top().(*procedurePage)
	if !ok || page.key != (core.ProcedureKey{Kind: core.ProcedureNode, Subject: "kaas-node-cmp07"}) {
		t.Fatalf("enter does not open the steps:\n%s", stripped(d.shows()))
	}
	d.keys("enter", "enter", "enter")
	if len(d.fake.granted) > 0 || len(d.fake.executed) > 0 {
		t.Errorf("pressing enter again has done something: %+v", d.fake.granted)
	}
	for d.top() != nil {
		d.keys("esc")
	}
	if d.focus != ScopeNeeds {
		t.Errorf("the focus is in pane %s", d.focus)
	}
}

// A command is copied as it is, and nothing else happens.
func TestACommandOfAnEntryIsCopied(t *testing.T) {
	d := drive(withoutController(), 80, 24).entry(t, "controller-away")
	for _, key := range []string{"enter", "c"} {
		d.keys(key)
		if text := d.reads(); !strings.Contains(text, "copied: kubectl -n osh-system scale deployment rockoon") {
			t.Errorf("%s: %s", key, stripped(d.shows()))
		}
	}
	if len(d.fake.granted) > 0 || len(d.layers) != 1 {
		t.Error("copying did something else")
	}
}

// An entry that is over says so, and enter does nothing. The cursor stays on its way while others come and go.
func TestAnEntryThatIsOver(t *testing.T) {
	d := drive(withoutController(), 120, 40).entry(t, "controller-away").keys("down", "down")
	p, _ := d.entryShown()
	chosen, _ := p.ways.Current()
	was := chosen.id
	s := withoutController()
	s.Revision++
	s.NodeRequests["kaas-node-cmp06"][0].Deleting = time.Time{} // one entry less follows
	d.send(snapshotMsg{s})
	if w, _ := p.ways.Current(); w.id != was {
		t.Errorf("the cursor was on %s, and is on %s", was, w.id)
	}
	s = withoutController()
	s.Revision += 2
	s.Controller.Replicas, s.Controller.Ready = 1, 1
	d.send(snapshotMsg{s})
	if text := d.reads(); !strings.Contains(text, "it is over: this is how it was last seen") {
		t.Errorf("it does not say that it is over:\n%s", stripped(d.shows()))
	}
	d.keys("enter")
	if text := d.reads(); !strings.Contains(text, "it is over: esc goes back") || strings.Contains(text, "copied") {
		t.Errorf("enter did something:\n%s", stripped(d.shows()))
	}
	d.keys("i")
	if text := d.reads(); !strings.Contains(text, "this is how it was last seen") {
		t.Errorf("all of it does not say that it is over:\n%s", stripped(d.shows()))
	}
}

// That an entry is over is said in 80 columns, too: what was urgent about it gives way.
func TestAnEntryThatIsOverInEightyColumns(t *testing.T) {
	d := drive(withoutController(), 80, 24).entry(t, "controller-away")
	s := withoutController()
	s.Revision++
	s.Controller.Replicas, s.Controller.Ready = 1, 1
	d.send(snapshotMsg{s})
	if text := d.reads(); !strings.Contains(text, "it is over: this is how it was last seen") || strings.Contains(text, "urgent, impact") {
		t.Errorf("it does not say that it is over:\n%s", stripped(d.shows()))
	}
}

// On the page of an entry, x acknowledges that entry's own failure, and not that of the row below the page.
func TestAcknowledgingOnThePageOfAnEntry(t *testing.T) {
	s := world()
	s.Operations = []core.Operation{
		{ID: "one", Title: "live-migrate app-1", State: core.OperationFailed, Started: before(2 * time.Minute), Ended: before(time.Minute)},
		{ID: "two", Title: "live-migrate app-2", State: core.OperationFailed, Started: before(3 * time.Minute), Ended: before(2 * time.Minute)},
	}
	d := drive(s, 120, 40).keys("1")
	d.needs.Choose("operation/one")
	d.keys("enter")
	d.needs.Choose("operation/two")
	p, _ := d.entryShown()
	p.ways.Choose("do/seen")
	d.keys("enter")
	d.keys("x")
	if got := strings.Join(d.fake.seen, " "); got != "one one" {
		t.Errorf("acknowledged: %q", got)
	}
	d = drive(world(), 120, 40).entry(t, "node-waits").keys("x")
	if len(d.fake.seen) > 0 {
		t.Error("something was acknowledged on the page of a node")
	}
}

// A batch that has paused itself is resumed or stopped from its own page.
func TestAPausedBatchIsControlledOnItsPage(t *testing.T) {
	d := drive(paused(), 80, 24).entry(t, "operation")
	if d.keys("enter", "enter"); len(d.fake.controls) > 0 {
		t.Fatalf("a second enter does %v", d.fake.controls)
	}
	p, _ := d.entryShown()
	p.ways.Choose("do/resume")
	d.keys("enter", "down", "enter", "down", "enter")
	if got := fmt.Sprint(d.fake.controls); got != "[resume skip stop]" {
		t.Errorf("the controls are %s:\n%s", got, stripped(d.shows()))
	}
}

// Every entry of every screen of these tests opens a page of its own, at every size, and has a way on.
func TestEveryEntryOpensItsPage(t *testing.T) {
	lane.Single(t)
	for _, w := range []func() *core.Snapshot{world, managedWorld, withoutController, unreachable, paused} {
		for _, size := range []struct{ w, h int }{{80, 24}, {120, 40}, {40, 12}, {36, 9}, {200, 60}} {
			s := w()
			for _, a := range attention.Of(s) {
				d := drive(s, size.w, size.h).keys("1")
				d.needs.Choose(a.ID)
				d.keys("enter")
				p, ok := d.entryShown()
				if !ok || p.id != a.ID || len(p.ways.Rows()) == 0 {
					t.Fatalf("%s at %dx%d opens:\n%s", a.ID, size.w, size.h, stripped(d.shows()))
				}
				checkFrame(t, d.shows(), size.w, size.h)
				for _, k := range []string{"down", "G", "i", "esc", "?", "esc", "pgup", "g"} {
					d.keys(k)
					checkFrame(t, d.shows(), size.w, size.h)
				}
			}
		}
	}
}

// After everything on the page of steps is done, the way back leads to the dashboard, and not to an entry that is over.
func TestBackFromTheStepsPastAnEntryThatIsOver(t *testing.T) {
	for over, pages := range map[bool]int{true: 0, false: 1} {
		d := drive(world(), 120, 40).entry(t, "node-waits").keys("enter")
		s := world()
		if s.Revision++; over {
			s.NodeRequests["kaas-node-cmp07"][0].Deleting = before(time.Second)
			s.NodeLock("kaas-node-cmp07", core.ControllerOpenStack).RawState = core.LockInactive
		}
		d.send(snapshotMsg{s})
		if d.keys("esc"); len(d.layers) != pages {
			t.Errorf("over %t: %d pages are left:\n%s", over, len(d.layers), stripped(d.shows()))
		}
	}
}

// An entry leads to the same step whether writing is on or off, and not to what others do before it.
func TestAnEntryLeadsToTheStepThatComesNextOnceWritingIsOn(t *testing.T) {
	others := core.Step{ID: "others", State: core.StepWaiting, Commands: []string{"look"}}
	yours := core.Step{ID: "yours", Intent: core.Intent{Kind: core.IntentRestartAgents}, Change: core.Batch{}}
	at := func(state core.StepState, guards ...core.Guard) string {
		st := yours
		st.State, st.Guards = state, guards
		proc := core.Procedure{Steps: []core.Step{others, st}}
		return proc.Steps[(&entryPage{a: core.Attention{Subject: core.Ref{Kind: core.KindNode}}}).stepOf(proc)].ID
	}
	unarmed := core.Guard{ID: core.GuardArmed, Text: "writing is armed", Answer: "read-only"}
	if got := at(core.StepReady); got != "yours" {
		t.Errorf("writing is on: it leads to %q", got)
	}
	if got := at(core.StepBlocked, unarmed); got != "yours" {
		t.Errorf("writing is off: it leads to %q", got)
	}
	if got := at(core.StepBlocked, unarmed, core.Guard{ID: core.GuardExists, Text: "the pod exists"}); got != "others" {
		t.Errorf("something else is in its way: it leads to %q", got)
	}
}

// The entry of an instance that migrates leads to its migration, and not to what would end that; where nothing of it runs, to what the
// operator can do with it.
func TestAnEntryOfAnInstanceThatMigratesLeadsToTheMigration(t *testing.T) {
	of := core.Ref{Kind: core.KindInstance, UID: "web-1"}
	abort := core.Step{ID: "abort", State: core.StepReady, Optional: true, Target: of, Intent: core.Intent{Kind: core.IntentAbortMigration}}
	move := core.Step{ID: "move", State: core.StepRunning, Target: of, Intent: core.Intent{Kind: core.IntentLiveMigrate}}
	leads := func(steps ...core.Step) string {
		proc := core.Procedure{Steps: steps}
		return proc.Steps[(&entryPage{a: core.Attention{Subject: of}}).stepOf(proc)].ID
	}
	if got := leads(abort, move); got != "move" {
		t.Errorf("while it migrates: %q", got)
	}
	if got := leads(abort); got != "abort" {
		t.Errorf("with nothing else: %q", got)
	}
	move.State = core.StepReady
	if got := leads(abort, move); got != "move" {
		t.Errorf("before it migrates again: %q", got)
	}
}
