package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// What was set by hand is watched: the state and the text, with and without a request, and also when the answer was lost.
func TestWhatIsSaidOfAnOverrideThatIsUndone(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given func(sc scene.Scene, l *core.WorkloadLock, o *core.Override)
		says  string // empty: no entry
		how   core.Severity
	}{
		{"it says what was set", func(_ scene.Scene, l *core.WorkloadLock, _ *core.Override) { l.RawState = core.LockInactive }, "",
			core.SeverityNotice},
		{"nobody asks, and it is set back", func(scene.Scene, *core.WorkloadLock, *core.Override) {}, "the lock says active again",
			core.SeverityWarning},
		{"nobody asked, and now somebody does", func(sc scene.Scene, _ *core.WorkloadLock, _ *core.Override) {
			sc.Update(time.Hour)
			sc.Request("cmp-01", time.Minute)
		}, "the lock says active again", core.SeverityUrgent},
		{"nobody asked, and a maintenance went over it", func(sc scene.Scene, _ *core.WorkloadLock, o *core.Override) {
			sc.History.Rounds["uid-cmp-01"] = core.Round{Started: o.At.Add(time.Minute), Ended: o.At.Add(5 * time.Minute)}
		}, "", core.SeverityNotice},
		{"nobody asked, a day ago", func(_ scene.Scene, _ *core.WorkloadLock, o *core.Override) { o.At = scene.Ago(25 * time.Hour) }, "",
			core.SeverityNotice},
		{"the maintenance comes to its end", func(sc scene.Scene, _ *core.WorkloadLock, _ *core.Override) {
			sc.Update(time.Hour)
			sc.Request("cmp-01", time.Minute).Deleting = scene.Noon
		}, "", core.SeverityNotice},
		{"in its request", func(sc scene.Scene, _ *core.WorkloadLock, o *core.Override) {
			sc.Update(time.Hour)
			o.Request = sc.Request("cmp-01", time.Minute).UID
		}, "the lock says active again", core.SeverityUrgent},
		{"its request is gone", func(_ scene.Scene, _ *core.WorkloadLock, o *core.Override) { o.Request = "nmr" }, "", core.SeverityNotice},
		{"its text was cleared", func(_ scene.Scene, l *core.WorkloadLock, o *core.Override) {
			l.RawState, o.To, o.Text = core.LockFailed, core.LockFailed, "a fan"
		}, "its text is gone", core.SeverityWarning},
		{"its text is another's", func(_ scene.Scene, l *core.WorkloadLock, o *core.Override) {
			l.RawState, o.To, o.Text, l.Message = core.LockFailed, core.LockFailed, "a fan", "working"
		}, "its text is another: working", core.SeverityWarning},
		{"its owner writes a text where there was none", func(_ scene.Scene, l *core.WorkloadLock, _ *core.Override) {
			l.RawState, l.Message = core.LockInactive, "working"
		}, "", core.SeverityNotice},
		{"the answer was lost", func(_ scene.Scene, _ *core.WorkloadLock, o *core.Override) { o.Unsure = true },
			"is not there: the lock says active again", core.SeverityWarning},
	} {
		sc := scene.Healthy()
		l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		o := core.Override{Lock: l.Ref(), Was: core.LockActive, To: core.LockInactive, At: scene.Ago(30 * time.Minute), By: "anna"}
		tc.given(sc, l, &o)
		sc.History.Overrides = map[string]core.Override{l.UID: o}
		var got []core.Attention
		for _, a := range Of(sc.Snapshot) {
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

// What undid an override came after it: when, is known where the lock's state was seen to change, and not where only its text did.
func TestSinceWhenAnOverrideIsUndone(t *testing.T) {
	at, back := scene.Ago(30*time.Minute), scene.Ago(10*time.Minute)
	for name, tt := range map[string]struct {
		to   core.LockState
		was  core.Since
		want core.Since
	}{
		"its state, and that was seen": {core.LockInactive, core.Since{At: back, Exact: true}, core.Since{At: back, Exact: true}},
		"its state, unseen":            {core.LockInactive, core.Since{}, core.NotBefore(at)},
		"its text only":                {core.LockActive, core.Since{At: at.Add(time.Second), Exact: true}, core.NotBefore(at)},
	} {
		sc := scene.Healthy()
		l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		l.Message = "working"
		sc.History.Locks = map[string]*core.LockRecord{l.UID: {State: core.LockActive, Since: tt.was}}
		sc.History.Overrides = map[string]core.Override{l.UID: {Lock: l.Ref(), Was: core.LockActive, To: tt.to, Text: "a fan", At: at,
			By: "anna"}}
		if a, told := entryAbout(sc.Snapshot, "override", "cmp-01"); !told || a.Since != tt.want {
			t.Errorf("%s: told %v, undone since %+v, want %+v", name, told, a.Since, tt.want)
		}
	}
}
