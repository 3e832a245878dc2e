package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The run that saw the request go knows the end of an update to the minute; a run that came later does not.
func TestTheEndOfAnUpdateIsSeenOrFound(t *testing.T) {
	sources := map[core.SourceID]core.Source{core.SourceClusterRequests: {ID: core.SourceClusterRequests, State: core.SourceLive,
		AsOf: scene.Noon}}
	runs := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources,
		ClusterRequests: []*core.MaintenanceRequest{{Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2",
			Meta: core.Meta{Name: "mos", UID: "cmr", Created: scene.Ago(3e12)}}}}}
	over := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources}}
	saw := New(Config{})
	h := saw.observeUpdate(runs, core.History{}, true)
	if h.Update.UID != "cmr" || !h.Update.Ended.IsZero() {
		t.Fatalf("while it runs: %+v", h.Update)
	}
	if end := saw.observeUpdate(over, h, true).Update; !end.EndSeen || !end.Ended.Equal(scene.Noon) {
		t.Errorf("seen: %+v", end)
	}
	if end := saw.observeUpdate(over, h, false).Update; end.EndSeen { // it slept when the update ended
		t.Errorf("found after a gap: %+v", end)
	}
	if end := New(Config{}).observeUpdate(over, h, true).Update; end.EndSeen || !end.Ended.Equal(scene.Noon) {
		t.Errorf("found: %+v", end)
	}
	// Another one runs already: by the time of its request, the one before was over.
	next := *runs.ClusterRequests[0]
	next.UID, next.Created = "cmr-2", scene.Ago(time.Minute)
	e := New(Config{})
	now := e.observeUpdate(&core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources,
		ClusterRequests: []*core.MaintenanceRequest{&next}}}, h, false).Update
	if now.UID != "cmr-2" || len(e.seen) != 2 {
		t.Fatalf("%+v, told by %d records", now, len(e.seen))
	}
	if end := e.seen[0].Update; end.UID != "cmr" || end.EndSeen || !end.Ended.Equal(next.Created) || e.seen[1].Update.UID != "cmr-2" {
		t.Errorf("found as the next one ran: %+v", end)
	}
}

// An update is told with the time of its request, also where nobody looked when it began; and where nobody looked when it ended, with the
// time at which its plan was complete, once. A plan that does not tell of its whole end tells nothing.
func TestAnUpdateThatNobodySawIsToldByItsPlan(t *testing.T) {
	sources := map[core.SourceID]core.Source{core.SourceClusterRequests: {ID: core.SourceClusterRequests, State: core.SourceLive,
		AsOf: scene.Noon}}
	requested := scene.Ago(3 * time.Hour)
	runs := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources,
		ClusterRequests: []*core.MaintenanceRequest{{Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2",
			Meta: core.Meta{Name: "mos", UID: "cmr", Created: requested}}}}}
	for _, watched := range []bool{true, false} {
		e := New(Config{})
		e.observeUpdate(runs, core.History{}, watched)
		if r := e.seen[0]; !r.At.Equal(requested) || (r.Reconstructed == "") != watched {
			t.Errorf("watched %v: told at %s, reconstructed by %q", watched, r.At, r.Reconstructed)
		}
	}
	step := func(id string, began time.Duration, took string) core.PlanStep {
		return core.PlanStep{ID: id, Status: core.PlanCompleted, Started: requested.Add(began), Duration: took}
	}
	whole := []core.PlanStep{step("openstack", 0, "1h"), step("workers", time.Hour, "30m")}
	found := core.UpdateRecord{UID: "cmr", Started: requested, Ended: scene.Noon}
	seen := found
	seen.EndSeen = true
	for name, c := range map[string]struct {
		steps []core.PlanStep
		u     core.UpdateRecord
		ended time.Duration // after the request; 0: it is not told
	}{
		"by its plan":              {whole, found, 90 * time.Minute},
		"it was seen":              {whole, seen, 0},
		"a step tells no end":      {append(whole, step("finish", 2*time.Hour, "")), found, 0},
		"its end is still to come": {append(whole, step("finish", 2*time.Hour, "5h")), found, 0},
	} {
		e := New(Config{})
		e.plan.plan = "plan"
		s := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Management: &core.Management{
			Plans: []*core.UpdatePlan{{Meta: core.Meta{UID: "plan"}, Steps: c.steps}}}}}
		u := e.pastEnd(s, core.History{Update: c.u})
		if again := e.pastEnd(s, core.History{Update: u}); again != u {
			t.Errorf("%s: told again: %+v", name, again)
		}
		switch {
		case c.ended == 0 && (u != c.u || len(e.seen) > 0):
			t.Errorf("%s: %+v", name, u)
		case c.ended > 0 && (len(e.seen) != 1 || !u.Reconstructed || !u.Ended.Equal(requested.Add(c.ended)) || !e.seen[0].At.Equal(u.Ended)):
			t.Errorf("%s: %+v; it told %+v", name, u, e.seen)
		}
	}
}

// A lock that was found in another state is told with the time at which whoever keeps its state wrote to it last, where that lies between
// what was seen before and the look that found it.
func TestALockThatNobodySawIsToldByItsLastWrite(t *testing.T) {
	at := func(minute int) time.Time { return scene.Noon.Add(time.Duration(minute) * time.Minute) }
	u := core.UpdateRecord{UID: "cmr", Started: at(-60)}
	known := core.LockRecord{State: core.LockInactive, Since: core.Since{At: at(-90), Exact: true}}
	for name, c := range map[string]struct {
		written time.Time
		state   core.LockState
		first   bool // nobody saw it before
		was     core.LockRecord
		exact   bool // it was seen to come into its state since
		text    string
		told    bool
	}{
		"between":                    {written: at(-10), state: core.LockInactive, told: true},
		"nothing tells":              {state: core.LockInactive},
		"before it was seen":         {written: at(-40), state: core.LockInactive},
		"after it was found":         {written: at(1), state: core.LockInactive},
		"it has another state now":   {written: at(-10), state: core.LockActive},
		"it was seen since":          {written: at(-10), state: core.LockInactive, exact: true},
		"at the first look":          {written: at(-40), state: core.LockInactive, first: true, told: true},
		"before the update":          {written: at(-70), state: core.LockInactive, first: true, told: true},
		"since an earlier one":       {written: at(-40), state: core.LockInactive, first: true, was: known, told: true},
		"seen since, and before":     {written: at(-10), state: core.LockInactive, first: true, was: known, exact: true},
		"written after the look":     {written: at(1), state: core.LockInactive, first: true, was: known},
		"a text was written to it":   {written: at(-40), state: core.LockInactive, first: true, was: known, text: "its text now"},
		"not since an earlier one":   {written: at(-90), state: core.LockInactive, first: true, was: known},
		"nor by a clock that is off": {written: at(-90).Add(wroteWithin), state: core.LockInactive, first: true, was: known},
	} {
		e := New(Config{})
		lock := core.Ref{Kind: core.KindNodeWorkloadLock, Name: "openstack-cmp-1", UID: "l"}
		found := Record{Kind: RecordLock, Node: "cmp-1", Object: &lock, From: "active", To: "inactive", Began: at(-30), Text: "its text now"}
		if c.first {
			found.From, found.Began, found.Text = "", time.Time{}, c.text
		}
		e.past.missLock(found, c.was)
		e.past.states, e.past.looked = map[string]time.Time{"l": c.written}, at(0)
		want := core.Since{At: at(0), Exact: c.exact}
		if c.was.State != "" && !c.exact {
			want = c.was.Since
		}
		h := core.History{Update: u, Locks: map[string]*core.LockRecord{"l": {State: c.state, Since: want}}}
		h = e.pastLocks(h)
		if c.told {
			want = core.Since{At: core.Earlier(c.written, at(0))}
		}
		if got := h.Lock("l").Since; (len(e.seen) == 1) != c.told || got != want {
			t.Errorf("%s: told %+v, since %+v, want %+v", name, e.seen, got, want)
		}
		if c.told {
			r := e.seen[0]
			l, _ := r.line()
			if !r.At.Equal(want.At) || r.Exact || r.Text != "" || !strings.HasPrefix(l.Why, "reconstructed by NodeWorkloadLock metadata.managed") {
				t.Errorf("%s: %+v, shown as %+v", name, r, l)
			}
		}
	}
}

// Without a plan an update of which nobody saw the end had ended when the first controller set its lock of the cluster active again.
func TestWithoutAPlanTheLocksTellTheEnd(t *testing.T) {
	at := func(minute int) time.Time { return scene.Noon.Add(time.Duration(minute) * time.Minute) }
	type lock struct {
		kind  core.Kind
		to    core.LockState
		wrote time.Time
	}
	cluster, active := core.KindClusterWorkloadLock, core.LockActive
	found := core.UpdateRecord{UID: "u", Started: at(-90), Ended: at(-1)}
	seen := found
	seen.EndSeen = true
	for name, c := range map[string]struct {
		u     core.UpdateRecord
		locks []lock
		node  time.Time // the last maintenance began
		want  time.Time
	}{
		"the first of two":               {found, []lock{{cluster, active, at(-9)}, {cluster, active, at(-10)}}, at(-40), at(-10)},
		"it was seen":                    {seen, []lock{{cluster, active, at(-10)}}, at(-40), time.Time{}},
		"a lock of a node tells nothing": {found, []lock{{core.KindNodeWorkloadLock, active, at(-10)}}, at(-40), time.Time{}},
		"nor does one that is inactive":  {found, []lock{{cluster, core.LockInactive, at(-10)}}, at(-40), time.Time{}},
		"nor one without a time":         {found, []lock{{cluster, active, time.Time{}}}, at(-40), time.Time{}},
		"nor one from before":            {found, []lock{{cluster, active, at(-70)}}, at(-80), time.Time{}},
		"a node came after it":           {found, []lock{{cluster, active, at(-10)}}, at(-5), time.Time{}},
	} {
		e := New(Config{})
		e.past.states = map[string]time.Time{}
		for i, l := range c.locks {
			uid := fmt.Sprint(i)
			e.past.missLock(Record{Kind: RecordLock, Object: &core.Ref{Kind: l.kind, UID: uid}, To: string(l.to), Began: at(-60)},
				core.LockRecord{})
			e.past.states[uid] = l.wrote
		}
		s := &core.Snapshot{Facts: core.Facts{Now: scene.Noon}}
		u := e.pastEnd(s, core.History{Update: c.u, Rounds: map[string]core.Round{"n": {Update: "u", Started: c.node}}})
		switch {
		case c.want.IsZero() && (u != c.u || len(e.seen) > 0):
			t.Errorf("%s: %+v, told %+v", name, u, e.seen)
		case !c.want.IsZero() && (!u.Ended.Equal(c.want) || u.EndSeen || len(e.seen) != 1 || e.seen[0].Reconstructed != fieldCluster):
			t.Errorf("%s: %+v, told %+v", name, u, e.seen)
		}
	}
}
