package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// A write that changes only the text is seen by the text; one that changes the state, by the state: the lock's controller may
// have written another text since.
func TestALockIsSeenAsSet(t *testing.T) {
	for _, tc := range []struct {
		was, to core.LockStatus
		is      core.LockStatus
		done    bool
	}{
		{core.LockStatus{State: core.LockActive}, core.LockStatus{State: core.LockInactive}, core.LockStatus{State: core.LockInactive}, true},
		{core.LockStatus{State: core.LockActive}, core.LockStatus{State: core.LockInactive}, core.LockStatus{State: core.LockActive}, false},
		{core.LockStatus{State: core.LockActive}, core.LockStatus{State: core.LockInactive},
			core.LockStatus{State: core.LockInactive, Message: "later"}, true},
		{core.LockStatus{State: core.LockFailed}, core.LockStatus{State: core.LockFailed, Message: "a fan"},
			core.LockStatus{State: core.LockFailed}, false},
		{core.LockStatus{State: core.LockFailed}, core.LockStatus{State: core.LockFailed, Message: "a fan"},
			core.LockStatus{State: core.LockFailed, Message: "a fan"}, true},
	} {
		o := lockSeen(core.SetLock{Was: tc.was.State, To: tc.to}, &core.WorkloadLock{RawState: tc.is.State, Message: tc.is.Message})
		if (o.state == core.OperationDone) != tc.done {
			t.Errorf("%v over %v, and it is %v: %s, %s", tc.to, tc.was, tc.is, o.state, o.text)
		}
	}
}

// A request counts as made when its scope and release are as asked.
func TestARequestIsSeenAsMade(t *testing.T) {
	asked := core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "cmp-01", Node: "cmp-01", Scope: core.ScopeOS, Release: "21.0.0"}
	is := func(change func(r *core.MaintenanceRequest)) *core.MaintenanceRequest {
		r := &core.MaintenanceRequest{Kind: asked.Kind, Node: asked.Node, Scope: asked.Scope, Release: asked.Release, MadeBy: core.MadeByLockstep}
		change(r)
		return r
	}
	for name, tc := range map[string]struct {
		change func(r *core.MaintenanceRequest)
		done   bool
	}{
		"as asked":        {func(*core.MaintenanceRequest) {}, true},
		"another scope":   {func(r *core.MaintenanceRequest) { r.Scope = core.ScopeDrain }, false},
		"another release": {func(r *core.MaintenanceRequest) { r.Release = "" }, false},
		"LCM's":           {func(r *core.MaintenanceRequest) { r.MadeBy = "" }, false},
	} {
		if o := requestSeen(asked, is(tc.change)); (o.state == core.OperationDone) != tc.done {
			t.Errorf("%s: %s, %s", name, o.state, o.text)
		}
	}
}

// What decides what LCM does with a lock that is set inactive is asked of the server right before: who else holds the node, and how it is
// asked for. A lock that is set to another state, with which LCM begins nothing, is set all the same.
func TestAnOverrideDoesNotDoMoreThanWasConfirmed(t *testing.T) {
	ceph := func(c *testCloud, state core.LockState) {
		c.locks["ceph/cmp-1"] = &core.WorkloadLock{Meta: core.Meta{Name: "ceph-cmp-1", UID: "lock-ceph", Created: worldTime},
			Kind: core.KindNodeWorkloadLock, Controller: core.ControllerCeph, Node: "cmp-1", RawState: state}
	}
	remove := func(c *testCloud) {
		clear(c.requests)
		c.deletions = []*core.NodeNotice{{Meta: core.Meta{Name: "ndr", UID: "uid-ndr", Created: worldTime}, Kind: core.KindNodeDeletionRequest,
			Node: "cmp-1"}}
	}
	for name, tc := range map[string]struct {
		to      core.LockState
		cluster bool
		is      func(c *testCloud)
		happens func(c *testCloud)
		want    string // empty: it is written
	}{
		"nothing happens": {core.LockInactive, false, nil, func(*testCloud) {}, ""},
		"another lock lets go": {core.LockInactive, false, nil, func(c *testCloud) { ceph(c, core.LockInactive) },
			"held by others: ceph → none"},
		"another lock is gone": {core.LockInactive, false, nil, func(c *testCloud) { delete(c.locks, "ceph/cmp-1") },
			"held by others: ceph → none"},
		"the host may reboot now": {core.LockInactive, false, func(c *testCloud) { c.requests["cmp-1"].Scope = core.ScopeDrain },
			func(c *testCloud) { c.requests["cmp-1"].Scope = core.ScopeOS }, "scope: drain → os"},
		"it is not by hand any more": {core.LockInactive, false, func(c *testCloud) { c.requests["cmp-1"].MadeBy = core.MadeByLockstep },
			func(c *testCloud) { c.requests["cmp-1"].MadeBy = "" }, "made by hand: true → false"},
		"the request is another": {core.LockInactive, false, nil, func(c *testCloud) { c.requests["cmp-1"].UID = "another" },
			"request: nmr-1 → another"},
		"somebody asks for the node": {core.LockInactive, false, func(c *testCloud) { clear(c.requests) }, func(c *testCloud) {
			c.requests["x"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "x", UID: "x"}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1"}
		}, "request: none → x"},
		"its removal is withdrawn": {core.LockInactive, false, remove, func(c *testCloud) { c.deletions = nil },
			"the request for the node's removal is gone"},
		"the cluster's lock":         {core.LockInactive, true, nil, func(*testCloud) {}, ""},
		"the cluster's request goes": {core.LockInactive, true, nil, func(c *testCloud) { c.cluster = nil }, "request: cmr → none"},
		"it is set to failed":        {core.LockFailed, false, nil, func(c *testCloud) { ceph(c, core.LockInactive) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newTestCloud()
				ceph(c, core.LockActive)
				c.clusterLock.RawState = core.LockActive
				if tc.is != nil {
					tc.is(c)
				}
				i := core.Intent{Kind: core.IntentOverrideLock, Object: c.locks["cmp-1"].Ref(), State: tc.to}
				if tc.cluster {
					i.Object = c.clusterLock.Ref()
				}
				why := confirmedBefore(t, c, i, tc.happens)
				written := len(c.written()) > 0
				if tc.want == "" && !written || tc.want != "" && (written || !strings.Contains(why, tc.want)) {
					t.Errorf("%q; written: %q", why, c.written())
				}
			})
		})
	}
}

// An override whose answer was lost and whose effect was not seen is remembered too, over a restart.
func TestAnOverrideOfUnknownOutcomeIsRemembered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		e := b.engine
		l := e.Snapshot().NodeLock("cmp-1", core.ControllerOpenStack)
		c := core.SetLock{Lock: l.Ref(), Was: l.RawState, To: core.LockStatus{State: core.LockInactive, Message: "x"}}
		o := rememberOverride(e, core.Step{Intent: core.Intent{Kind: core.IntentOverrideLock}}, c, nil)
		b.end()
		var before Record
		if o.before(&before); before.Override == nil || before.Override.Text != "x" {
			t.Fatalf("%+v", before.Override)
		}
		for _, tc := range []struct {
			state core.OperationState
			want  []bool // remembered, unsure
		}{{core.OperationDone, []bool{true, false}}, {core.OperationUnknown, []bool{true, true}}, {core.OperationFailed, []bool{false, false}}} {
			var end Record
			note := o.ends(&end, tc.state)
			r := end.Override
			if got := []bool{r != nil, r != nil && r.Unsure}; !slices.Equal(got, tc.want) || (note != nil) != tc.want[0] {
				t.Errorf("%s: %v, want %v", tc.state, got, tc.want)
			}
		}
	})
}
