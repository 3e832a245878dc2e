package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// shownOf is everything shown about cmp-01: its stage, its page, its locks' meanings, and its entries in attention.
func shownOf(s *core.Snapshot) string {
	v, _ := progress.NodeView(s, "cmp-01")
	out := []string{"stage: " + v.Reason}
	p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	for _, line := range p.Summary {
		out = append(out, "page: "+line)
	}
	for _, st := range p.Steps {
		out = append(out, "step: "+st.Title+" | "+st.Status+" | "+st.Why+" | "+st.Then)
	}
	for _, a := range Of(s) {
		id, _, _ := strings.Cut(a.ID, "/")
		out = append(out, a.Severity.String()+": "+id+": "+a.Reason+" | "+a.Detail+" | "+a.Hint)
	}
	return strings.Join(out, "\n")
}

// The controller's account is shown where its next try would otherwise be a guess, and where no lock shows its failure.
func TestAccountIsTold(t *testing.T) {
	const outage = "Unable to establish connection to http://nova/v2.1/servers/detail: HTTPConnectionPool(host='nova')"
	unseen := func(sc scene.Scene) *core.MaintenanceRequest {
		sc.NodeRequest("cmp-01").Finalizers = nil
		return sc.NodeRequest("cmp-01")
	}
	lock := func(sc scene.Scene) *core.WorkloadLock { return sc.NodeLock("cmp-01", core.ControllerOpenStack) }
	said := func(sc scene.Scene, text string) {
		lock(sc).Message = scene.Ago(time.Minute).Format("2006-01-02 15:04:05.000000") + " " + text
	}
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		told  []string
		not   []string
	}{
		{"a request without a scope", func(sc scene.Scene) {
			sc.NodeRequest("cmp-01").Scope = ""
			sc.Tried(scene.Failed(2, "'scope'"))
		}, []string{
			"stage: its request has no scope: the OpenStack controller fails on it without a word; it tries again at 12:00:40, failed twice: " +
				"'scope'\n",
			"step: the request gets its scope",
			"urgent: node-waits: its request has no scope: the OpenStack controller fails on it without a word | It takes",
			"The OpenStack controller tries again at 12:00:40, failed twice: 'scope'",
		}, []string{"within 60 s", "controller-fails"}},
		{"a request without a scope, and nothing noted", func(sc scene.Scene) {
			sc.NodeRequest("cmp-01").Scope = ""
		}, []string{"stage: its request has no scope: the OpenStack controller fails on it without a word\n"}, []string{"tries again at"}},
		{"an outage that the lock says", func(sc scene.Scene) {
			said(sc, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage)
			sc.Tried(scene.Failed(2, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage))
		}, []string{
			"the OpenStack API did not answer while instances were being moved; the controller tries again at 12:00:40, failed twice\n",
			"warning: outage: the OpenStack controller gets no answer from OpenStack: cmp-01 |", "| wait: retried at 12:00:40",
		}, []string{"within 60 s"}},
		{"an outage that the lock says, and nothing noted", func(sc scene.Scene) {
			said(sc, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage)
		}, []string{"the controller tries again within 60 s", "| wait: retried within 60 s"}, []string{"tries again at"}},
		{"an outage that no lock says", func(sc scene.Scene) {
			said(sc, "Starting migration for "+scene.IDA)
			sc.Tried(scene.Failed(3, outage))
		}, []string{
			"page: the OpenStack controller tries again at 12:00:40, failed 3 times: Unable to establish connection to http://nova/",
			"(an API does not answer it)",
			"warning: outage: the OpenStack controller gets no answer from OpenStack: cmp-01 | No lock says so: the OpenStack controller tries " +
				"again at 12:00:40",
			"| wait: retried at 12:00:40",
		}, []string{"within 60 s", "controller-fails"}},
		{"what nobody knows, once", func(sc scene.Scene) { sc.Tried(scene.Failed(1, "'NoneType' object is not subscriptable")) },
			[]string{"tries again at 12:00:40, failed once: 'NoneType' object"}, []string{"controller-fails"}},
		{"what nobody knows, again and again", func(sc scene.Scene) { sc.Tried(scene.Failed(2, "'NoneType' object is not subscriptable")) },
			[]string{"warning: controller-fails: the OpenStack controller fails, and no lock says so: it tries again at 12:00:40, failed twice: " +
				"'NoneType' object is not subscriptable |"}, nil},
		{"what the lock says too", func(sc scene.Scene) {
			said(sc, "Some new words of a later release")
			sc.Tried(scene.Failed(4, "Some new words of a later release"))
		}, []string{"page: the OpenStack controller tries again at 12:00:40, failed 4 times\n"}, []string{"controller-fails"}},
		{"it gave up", func(sc scene.Scene) { sc.Tried(&core.Tries{Failed: 1, Words: "no", GaveUp: true}) },
			[]string{"warning: controller-fails: the OpenStack controller fails, and no lock says so: it gave up on its request, failed once: no |"},
			nil},
		{"instances are left, and it looks again soon", func(sc scene.Scene) {
			sc.Emptied("cmp-01")
			said(sc, scene.StillPresent)
			sc.Tried(scene.Failed(2, scene.StillPresent))
		}, []string{
			"stage: nothing holds the lock any more; the controller looks again at 12:00:40",
			"step: the OpenStack controller releases its lock | at its next look, at 12:00:40 |",
			"page: the OpenStack controller tries again at 12:00:40, failed twice\n",
		}, []string{"within 60 s"}},
		{"instances are left, and it looks now", func(sc scene.Scene) {
			sc.Emptied("cmp-01")
			said(sc, scene.StillPresent)
			tries := scene.Failed(2, scene.StillPresent)
			tries.Next = scene.Ago(time.Second)
			sc.Tried(tries)
		}, []string{"at its next look, 60 s after the try that runs now",
			"page: the OpenStack controller is at work on its request since 11:59:59, failed twice\n"}, []string{"within 60 s"}},
		{"a lock in deletion while its node is there", func(sc scene.Scene) {
			delete(sc.NodeRequests, "cmp-01")
			l := lock(sc)
			l.InnerState, l.Deleting = core.InnerInactive, scene.Ago(time.Hour)
			l.Kept.Delete = scene.Failed(60, "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.")
		}, []string{"tries again at 12:00:40, failed 60 times: The kubernetes node {node_name} still exists. Deffer OpenStack service " +
			"metadata removal. (the node still exists, and it cleans up only behind one that is gone)"},
			[]string{"controller-fails"}},
		{"a compute without its service", func(sc scene.Scene) {
			delete(sc.Services, "cmp-01")
			sc.Tried(scene.Failed(3, "list index out of range"))
		}, []string{"stage: Nova has no nova-compute service of it: the OpenStack controller fails on it without a word; it tries again at " +
			"12:00:40, failed 3 times: list index out of range (Nova knows no nova-compute of the node)"},
			[]string{"controller-fails"}},

		{"never seen, the controller away", func(sc scene.Scene) {
			unseen(sc)
			lock(sc).InnerState = core.InnerInactive
			sc.Away()
		}, []string{
			"stage: the OpenStack controller has never seen its request: it does not run",
			"never seen by the OpenStack controller |",
			"urgent: controller-away:",
			"It has never seen the request of cmp-01: withdrawn before it is back, it leaves behind what was done for it.",
		}, []string{"request-unseen"}},
		{"never seen, the controller runs", func(sc scene.Scene) {
			unseen(sc)
			lock(sc).InnerState = core.InnerInactive
		}, []string{"warning: request-unseen: the OpenStack controller has never seen its request of 11:40 |"}, nil},
		{"never seen, and its lock is inactive", func(sc scene.Scene) {
			unseen(sc)
			lock(sc).RawState = core.LockInactive
		}, []string{"urgent: request-unseen: its lock is inactive, and the OpenStack controller has never seen its request: it has prepared " +
			"nothing for it |"}, nil},
		{"never seen, and a person released it", func(sc scene.Scene) {
			r := unseen(sc)
			l := lock(sc)
			l.RawState = core.LockInactive
			sc.History.Overrides = map[string]core.Override{l.UID: {Lock: l.Ref(), Was: core.LockActive, To: core.LockInactive, Request: r.UID,
				At: scene.Ago(time.Minute)}}
		}, nil, []string{"request-unseen"}},
		{"never seen, and withdrawn", func(sc scene.Scene) {
			r := unseen(sc)
			r.Deleting, r.Finalizers = scene.Ago(time.Minute), []string{"example.org/x"}
			lock(sc).RawState = core.LockInactive
		}, []string{
			"stage: its request is being removed since 11:59; the OpenStack controller has never seen its request, so it takes nothing back",
			"urgent: request-unseen: its request is being removed, and the OpenStack controller has never seen it: it does not take the node back |",
		}, nil},
		{"the return is at its first try for long", func(sc scene.Scene) {
			r := sc.NodeRequest("cmp-01")
			r.Deleting, r.Kept = scene.Ago(time.Hour), core.Bookkeeping{Handled: true, Marked: true}
			lock(sc).RawState = core.LockInactive
		}, []string{"node-slow: does not get back into service:", "| The OpenStack controller is at work on its request, at its first try. | "},
			nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sc := scene.Bookkept()
			test.given(sc)
			text := shownOf(sc.Again().Snapshot) + "\n"
			for _, want := range test.told {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			for _, no := range test.not {
				if strings.Contains(text, no) {
					t.Errorf("it says %q:\n%s", no, text)
				}
			}
		})
	}
}

// The cluster's request has a page and an entry of its own.
func TestAccountOfTheClustersRequestIsTold(t *testing.T) {
	sc := scene.Bookkept()
	l := sc.Lock("", core.ControllerOpenStack, core.LockActive)
	sc.ClusterRequest().Kept = core.Bookkeeping{Marked: true,
		Change: scene.Failed(3, "429 Client Error: Too Many Requests for url: https://10.0.0.1/openstackdeployments")}
	s := sc.Again().Snapshot
	const text = "tries again at 12:00:40, failed 3 times: 429 Client Error: Too Many Requests for url: " +
		"https://10.0.0.1/openstackdeployments (the API server refuses it: too many requests)"
	if p, _ := procedure.Of(s, *clusterProcedure()); !slices.Contains(p.Summary, "the OpenStack controller "+text) {
		t.Errorf("the page says %q", p.Summary)
	}
	if !slices.ContainsFunc(Of(s), func(a core.Attention) bool {
		return a.Severity == core.SeverityWarning && strings.Contains(a.Reason, "no lock says so: it "+text)
	}) {
		t.Errorf("it needs nobody: %+v", Of(s))
	}
	if progress.AccountOf(s, l).State != progress.AccountRetries ||
		progress.AccountOf(s, &core.WorkloadLock{Controller: core.ControllerCeph}).State != progress.AccountNone {
		t.Error("a lock does not have the account of its own controller")
	}
}

// When a request that the controller never saw has left a lock inactive, the lock's entry says so.
func TestALockLeftByARequestThatWasNeverSeen(t *testing.T) {
	sc := scene.Left()
	sc.History.Rounds = map[string]core.Round{"uid-cmp-01": {Request: "nmr", Ended: scene.Ago(time.Hour), Unseen: true}}
	if text := shownOf(sc.Again().Snapshot); !strings.Contains(text,
		"Its request was removed at 11:00, and the OpenStack controller had never seen it") {
		t.Error(text)
	}
	sc = scene.Left()
	sc.History.Rounds = map[string]core.Round{"uid-cmp-01": {Request: "nmr", Ended: scene.Ago(time.Hour)}}
	if text := shownOf(sc.Again().Snapshot); strings.Contains(text, "had never seen it") {
		t.Error(text)
	}
}

// Somebody sets the lock active to hold LCM after the OpenStack controller has released it. The controller is through with the request and
// does not look again (docs/mosk.md#node-request): the node needs a person, and the way on is to make it look.
func TestALockThatWasSetActiveAfterTheControllerWasThrough(t *testing.T) {
	for name, tt := range map[string]struct {
		handled bool
		active  time.Duration // for so long
		held    bool
	}{
		"through":                 {true, 5 * time.Minute, true},
		"through a moment ago":    {true, 10 * time.Second, false},
		"the controller is at it": {false, 5 * time.Minute, false},
	} {
		sc := scene.Healthy()
		l := sc.Maintained("cmp-01", "")
		sc.Emptied("cmp-01")
		sc.NodeRequest("cmp-01").Created = scene.Ago(20 * time.Minute)
		sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Marked: true, Handled: tt.handled}
		sc.History.Locks = map[string]*core.LockRecord{l.UID: {State: core.LockActive, Since: core.Since{At: scene.Ago(tt.active)}}}
		s := sc.Again().Snapshot
		v, _ := progress.NodeView(s, "cmp-01")
		if held := v.Stage == core.StageWaiting && strings.Contains(v.Reason, "does not look at the lock again"); held != tt.held {
			t.Errorf("%s: it is %s: %s", name, v.Stage, v.Reason)
		}
		a, told := entryAbout(s, "node-waits", "cmp-01")
		if told != tt.held || told && (a.Severity != core.SeverityUrgent || !strings.Contains(a.Commands[0].Line, "lockstep/look-again")) {
			t.Errorf("%s: told %t: %+v", name, told, a)
		}
	}
}
