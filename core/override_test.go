package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// What was set by hand is watched: the state and the text, with a request and without one, and also where the answer was
// lost.
func TestWhatIsSaidOfAnOverrideThatIsUndone(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given func(sc scene, l *WorkloadLock, o *Override)
		says  string // empty: nothing
		how   Severity
	}{
		{"it says what was set", func(_ scene, l *WorkloadLock, _ *Override) { l.RawState = LockInactive }, "", SeverityNotice},
		{"nobody asks, and it is set back", func(scene, *WorkloadLock, *Override) {}, "the lock says active again", SeverityWarning},
		{"nobody asked, and now somebody does", func(sc scene, _ *WorkloadLock, _ *Override) { sc.update(time.Hour); sc.request("cmp-01", time.Minute) }, "the lock says active again", SeverityUrgent},
		{"nobody asked, and a maintenance went over it", func(sc scene, _ *WorkloadLock, o *Override) {
			sc.History.Rounds["uid-cmp-01"] = Round{Started: o.At.Add(time.Minute), Ended: o.At.Add(5 * time.Minute)}
		}, "", SeverityNotice},
		{"nobody asked, a day ago", func(_ scene, _ *WorkloadLock, o *Override) { o.At = ago(25 * time.Hour) }, "", SeverityNotice},
		{"the maintenance comes to its end", func(sc scene, _ *WorkloadLock, _ *Override) {
			sc.update(time.Hour)
			sc.request("cmp-01", time.Minute).Deleting = noon
		}, "", SeverityNotice},
		{"in its request", func(sc scene, _ *WorkloadLock, o *Override) {
			sc.update(time.Hour)
			o.Request = sc.request("cmp-01", time.Minute).UID
		}, "the lock says active again", SeverityUrgent},
		{"its request is gone", func(_ scene, _ *WorkloadLock, o *Override) { o.Request = "nmr" }, "", SeverityNotice},
		{"its text was cleared", func(_ scene, l *WorkloadLock, o *Override) {
			l.RawState, o.To, o.Text = LockFailed, LockFailed, "a fan"
		}, "its text is gone", SeverityWarning},
		{"its text is another's", func(_ scene, l *WorkloadLock, o *Override) {
			l.RawState, o.To, o.Text, l.Message = LockFailed, LockFailed, "a fan", "working"
		}, "its text is another: working", SeverityWarning},
		{"its owner writes a text where there was none", func(_ scene, l *WorkloadLock, _ *Override) { l.RawState, l.Message = LockInactive, "working" }, "", SeverityNotice},
		{"the answer was lost", func(_ scene, _ *WorkloadLock, o *Override) { o.Unsure = true }, "is not there: the lock says active again", SeverityWarning},
	} {
		sc := healthy()
		l := sc.NodeLock("cmp-01", ControllerOpenStack)
		o := Override{Lock: l.Ref(), Was: LockActive, To: LockInactive, At: ago(30 * time.Minute), By: "anna"}
		tc.given(sc, l, &o)
		sc.History.Overrides = map[string]Override{l.UID: o}
		var got []Attention
		for _, a := range sc.Attention() {
			if strings.HasPrefix(a.ID, "override/") {
				got = append(got, a)
			}
		}
		switch {
		case tc.says == "" && len(got) > 0:
			t.Errorf("%s: told of: %s", tc.name, got[0].Reason)
		case tc.says != "" && (len(got) != 1 || !strings.Contains(got[0].Reason, tc.says) || got[0].Severity != tc.how):
			t.Errorf("%s: %+v, want %q, %s", tc.name, got, tc.says, tc.how)
		}
	}
}

// A write of which only the text was to change is seen by the text; one that changed the state, by the state: its controller
// may have written beside it since.
func TestALockIsSeenAsSet(t *testing.T) {
	for _, tc := range []struct {
		was, to LockStatus
		is      LockStatus
		done    bool
	}{
		{LockStatus{State: LockActive}, LockStatus{State: LockInactive}, LockStatus{State: LockInactive}, true},
		{LockStatus{State: LockActive}, LockStatus{State: LockInactive}, LockStatus{State: LockActive}, false},
		{LockStatus{State: LockActive}, LockStatus{State: LockInactive}, LockStatus{State: LockInactive, Message: "later"}, true},
		{LockStatus{State: LockFailed}, LockStatus{State: LockFailed, Message: "a fan"}, LockStatus{State: LockFailed}, false},
		{LockStatus{State: LockFailed}, LockStatus{State: LockFailed, Message: "a fan"}, LockStatus{State: LockFailed, Message: "a fan"}, true},
	} {
		o := lockSeen(SetLock{Was: tc.was.State, To: tc.to}, &WorkloadLock{RawState: tc.is.State, Message: tc.is.Message})
		if (o.state == OperationDone) != tc.done {
			t.Errorf("%v over %v, and it is %v: %s, %s", tc.to, tc.was, tc.is, o.state, o.text)
		}
	}
}

// A request is the one that was asked for when its scope and release are.
func TestARequestIsSeenAsMade(t *testing.T) {
	asked := NewRequest{Kind: KindNodeMaintenanceRequest, Name: "cmp-01", Node: "cmp-01", Scope: ScopeOS, Release: "21.0.0"}
	is := func(change func(r *MaintenanceRequest)) *MaintenanceRequest {
		r := &MaintenanceRequest{Kind: asked.Kind, Node: asked.Node, Scope: asked.Scope, Release: asked.Release, MadeBy: MadeByLockstep}
		change(r)
		return r
	}
	for name, tc := range map[string]struct {
		change func(r *MaintenanceRequest)
		done   bool
	}{
		"as asked":        {func(*MaintenanceRequest) {}, true},
		"another scope":   {func(r *MaintenanceRequest) { r.Scope = ScopeDrain }, false},
		"another release": {func(r *MaintenanceRequest) { r.Release = "" }, false},
		"LCM's":           {func(r *MaintenanceRequest) { r.MadeBy = "" }, false},
	} {
		if o := requestSeen(asked, is(tc.change)); (o.state == OperationDone) != tc.done {
			t.Errorf("%s: %s, %s", name, o.state, o.text)
		}
	}
}

// An override says when its owner looks, and what becomes of the text that its owner wrote.
func TestWhatAnOverrideSaysOfItsOwner(t *testing.T) {
	sc := healthy()
	l := sc.maintained("cmp-01", "Waiting servers migration is completed: ['a']")
	plan := func(text string) string {
		return Plan(sc.again().Snapshot, Intent{Kind: IntentOverrideLock, Object: l.Ref(), State: LockInactive, Reason: text}).Then
	}
	if then := plan(""); !strings.Contains(then, "At its next look, within 60 s") || !strings.Contains(then, `The text that its owner wrote is removed: "`) {
		t.Errorf("then %q", then)
	}
	if then := plan("the guests may go down"); !strings.Contains(then, "Your text takes the place of its owner's") {
		t.Errorf("then %q", then)
	}
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", UID: "d"}, Replicas: 1}
	if then := plan(""); !strings.Contains(then, "nobody looks until it is up") {
		t.Errorf("with the controller down: %q", then)
	}
}

// An override whose answer was lost and of which nothing was seen is remembered too, over a restart.
func TestAnOverrideOfUnknownOutcomeIsRemembered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		e := b.engine
		l := e.Snapshot().NodeLock("cmp-1", ControllerOpenStack)
		c := SetLock{Lock: l.Ref(), Was: l.RawState, To: LockStatus{State: LockInactive, Message: "x"}}
		o := rememberOverride(e, Step{Intent: Intent{Kind: IntentOverrideLock}}, c, nil)
		b.end()
		var before Record
		if o.before(&before); before.Override == nil || before.Override.Text != "x" {
			t.Fatalf("%+v", before.Override)
		}
		for _, tc := range []struct {
			state OperationState
			want  []bool // remembered, unsure
		}{{OperationDone, []bool{true, false}}, {OperationUnknown, []bool{true, true}}, {OperationFailed, []bool{false, false}}} {
			var end Record
			note := o.ends(&end, tc.state)
			r := end.Override
			if got := []bool{r != nil, r != nil && r.Unsure}; !slices.Equal(got, tc.want) || (note != nil) != tc.want[0] {
				t.Errorf("%s: %v, want %v", tc.state, got, tc.want)
			}
		}
	})
}
