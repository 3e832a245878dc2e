package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// shownOf is all that is said of cmp-01: its stage, its page, what its locks mean, and what needs a person.
func shownOf(s *Snapshot) string {
	v, _ := s.NodeView("cmp-01")
	out := []string{"stage: " + v.Reason}
	p, _ := s.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	for _, line := range p.Summary {
		out = append(out, "page: "+line)
	}
	for _, st := range p.Steps {
		out = append(out, "step: "+st.Title+" | "+st.Status+" | "+st.Why+" | "+st.Then)
	}
	for _, a := range s.Attention() {
		id, _, _ := strings.Cut(a.ID, "/")
		out = append(out, a.Severity.String()+": "+id+": "+a.Reason+" | "+a.Detail+" | "+a.Hint)
	}
	return strings.Join(out, "\n")
}

// What the controller has noted is told where its next try is guessed otherwise, and where no lock says that it fails.
func TestAccountIsTold(t *testing.T) {
	const outage = "Unable to establish connection to http://nova/v2.1/servers/detail: HTTPConnectionPool(host='nova')"
	unseen := func(sc scene) *MaintenanceRequest {
		sc.NodeRequest("cmp-01").Finalizers = nil
		return sc.NodeRequest("cmp-01")
	}
	lock := func(sc scene) *WorkloadLock { return sc.NodeLock("cmp-01", ControllerOpenStack) }
	said := func(sc scene, text string) {
		lock(sc).Message = ago(time.Minute).Format("2006-01-02 15:04:05.000000") + " " + text
	}
	tests := []struct {
		name  string
		given func(sc scene)
		told  []string
		not   []string
	}{
		{"a request without a scope", func(sc scene) {
			sc.NodeRequest("cmp-01").Scope = ""
			sc.tried(failed(2, "'scope'"))
		}, []string{
			"stage: its request has no scope: the OpenStack controller fails on it without a word; it tries again at 12:00:40, failed twice: 'scope'\n",
			"step: the request gets its scope",
			"urgent: node-waits: its request has no scope: the OpenStack controller fails on it without a word | It takes",
			"The OpenStack controller tries again at 12:00:40, failed twice: 'scope'",
		}, []string{"within 60 s", "controller-fails"}},
		{"a request without a scope, and nothing noted", func(sc scene) {
			sc.NodeRequest("cmp-01").Scope = ""
		}, []string{"stage: its request has no scope: the OpenStack controller fails on it without a word\n"}, []string{"tries again at"}},
		{"an outage that the lock says", func(sc scene) {
			said(sc, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage)
			sc.tried(failed(2, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage))
		}, []string{
			"the OpenStack API did not answer while instances were being moved; the controller tries again at 12:00:40, failed twice\n",
			"warning: outage: the OpenStack controller gets no answer from OpenStack: cmp-01 |", "| wait: retried at 12:00:40",
		}, []string{"within 60 s"}},
		{"an outage that the lock says, and nothing noted", func(sc scene) {
			said(sc, "Retrying migrate instances from host. Cannot execute openstack commands, error: "+outage)
		}, []string{"the controller tries again within 60 s", "| wait: retried within 60 s"}, []string{"tries again at"}},
		{"an outage that no lock says", func(sc scene) {
			said(sc, "Starting migration for "+idA)
			sc.tried(failed(3, outage))
		}, []string{
			"page: the OpenStack controller tries again at 12:00:40, failed 3 times: Unable to establish connection to http://nova/",
			"(an API does not answer it)",
			"warning: outage: the OpenStack controller gets no answer from OpenStack: cmp-01 | No lock says it: the OpenStack controller tries again at 12:00:40",
			"| wait: retried at 12:00:40",
		}, []string{"within 60 s", "controller-fails"}},
		{"what nobody knows, once", func(sc scene) { sc.tried(failed(1, "'NoneType' object is not subscriptable")) },
			[]string{"tries again at 12:00:40, failed once: 'NoneType' object"}, []string{"controller-fails"}},
		{"what nobody knows, again and again", func(sc scene) { sc.tried(failed(2, "'NoneType' object is not subscriptable")) },
			[]string{"warning: controller-fails: the OpenStack controller fails, and no lock says it: it tries again at 12:00:40, failed twice: 'NoneType' object is not subscriptable |"}, nil},
		{"what the lock says too", func(sc scene) {
			said(sc, "Some new words of a later release")
			sc.tried(failed(4, "Some new words of a later release"))
		}, []string{"page: the OpenStack controller tries again at 12:00:40, failed 4 times\n"}, []string{"controller-fails"}},
		{"it gave up", func(sc scene) { sc.tried(&Tries{Failed: 1, Words: "no", GaveUp: true}) },
			[]string{"warning: controller-fails: the OpenStack controller fails, and no lock says it: it gave up on its request, failed once: no |"}, nil},
		{"instances are left, and it looks again soon", func(sc scene) {
			sc.emptied("cmp-01")
			said(sc, stillPresent)
			sc.tried(failed(2, stillPresent))
		}, []string{
			"stage: nothing holds the lock any more; the controller looks again at 12:00:40",
			"step: the OpenStack controller releases its lock | at its next look, at 12:00:40 |",
			"page: the OpenStack controller tries again at 12:00:40, failed twice\n",
		}, []string{"within 60 s"}},
		{"instances are left, and it looks now", func(sc scene) {
			sc.emptied("cmp-01")
			said(sc, stillPresent)
			tries := failed(2, stillPresent)
			tries.Next = ago(time.Second)
			sc.tried(tries)
		}, []string{"at its next look, 60 s after the try that runs now", "page: the OpenStack controller is at work on its request since 11:59:59, failed twice\n"}, []string{"within 60 s"}},
		{"a lock in deletion while its node is there", func(sc scene) {
			delete(sc.NodeRequests, "cmp-01")
			l := lock(sc)
			l.InnerState, l.Deleting = InnerInactive, ago(time.Hour)
			l.Kept.Delete = failed(60, "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.")
		}, []string{"tries again at 12:00:40, failed 60 times: The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal. (the node still exists, and it cleans up only behind one that is gone)"},
			[]string{"controller-fails"}},
		{"a compute without its service", func(sc scene) {
			delete(sc.Services, "cmp-01")
			sc.tried(failed(3, "list index out of range"))
		}, []string{"stage: Nova has no nova-compute service of it: the OpenStack controller fails on it without a word; it tries again at 12:00:40, failed 3 times: list index out of range (Nova knows no nova-compute of the node)"},
			[]string{"controller-fails"}},

		{"never seen, the controller away", func(sc scene) {
			unseen(sc)
			lock(sc).InnerState = InnerInactive
			sc.away()
		}, []string{
			"stage: the OpenStack controller has never seen its request: it does not run",
			"never seen by the OpenStack controller |",
			"urgent: controller-away:",
			"It has never seen the request of cmp-01: withdrawn before it is back, it leaves behind what was done for it.",
		}, []string{"request-unseen"}},
		{"never seen, the controller runs", func(sc scene) {
			unseen(sc)
			lock(sc).InnerState = InnerInactive
		}, []string{"warning: request-unseen: the OpenStack controller has never seen its request, which is there since 11:40 |"}, nil},
		{"never seen, and its lock is inactive", func(sc scene) {
			unseen(sc)
			lock(sc).RawState = LockInactive
		}, []string{"urgent: request-unseen: its lock is inactive, and the OpenStack controller has never seen its request: it has prepared nothing for it |"}, nil},
		{"never seen, and a person released it", func(sc scene) {
			r := unseen(sc)
			l := lock(sc)
			l.RawState = LockInactive
			sc.History.Overrides = map[string]Override{l.UID: {Lock: l.Ref(), Was: LockActive, To: LockInactive, Request: r.UID, At: ago(time.Minute)}}
		}, nil, []string{"request-unseen"}},
		{"never seen, and withdrawn", func(sc scene) {
			r := unseen(sc)
			r.Deleting, r.Finalizers = ago(time.Minute), []string{"example.org/x"}
			lock(sc).RawState = LockInactive
		}, []string{
			"stage: its request is being removed since 11:59; the OpenStack controller has never seen its request, so it takes nothing back",
			"urgent: request-unseen: its request is being removed, and the OpenStack controller has never seen it: it does not take the node back |",
		}, nil},
		{"the return is at its first try for long", func(sc scene) {
			r := sc.NodeRequest("cmp-01")
			r.Deleting, r.Kept = ago(time.Hour), Bookkeeping{Handled: true, Marked: true}
			lock(sc).RawState = LockInactive
		}, []string{"node-slow: does not get back into service:", "| The OpenStack controller is at work on its request, at its first try. | "}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sc := bookkept()
			test.given(sc)
			text := shownOf(sc.again().Snapshot) + "\n"
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
	sc := bookkept()
	l := sc.lock("", ControllerOpenStack, LockActive)
	sc.ClusterRequest().Kept = Bookkeeping{Marked: true, Change: failed(3, "429 Client Error: Too Many Requests for url: https://10.0.0.1/openstackdeployments")}
	s := sc.again().Snapshot
	const text = "tries again at 12:00:40, failed 3 times: 429 Client Error: Too Many Requests for url: https://10.0.0.1/openstackdeployments" +
		" (the API server turns it away, for it is asked too much)"
	if p, _ := s.Procedure(*clusterProcedure()); !slices.Contains(p.Summary, "the OpenStack controller "+text) {
		t.Errorf("the page says %q", p.Summary)
	}
	if !slices.ContainsFunc(s.Attention(), func(a Attention) bool {
		return a.Severity == SeverityWarning && strings.Contains(a.Reason, "no lock says it: it "+text)
	}) {
		t.Errorf("it needs nobody: %+v", s.Attention())
	}
	if s.AccountOf(l).State != AccountRetries || s.AccountOf(&WorkloadLock{Controller: ControllerCeph}).State != AccountNone {
		t.Error("a lock does not have the account of its own controller")
	}
}

// Who plays the controller is told what the controller itself has noted, and nothing of it is waited for.
func TestAccountBesideAPlayedController(t *testing.T) {
	for _, test := range []struct {
		name  string
		given func(sc scene)
		want  string
	}{
		{"it has failed", func(sc scene) { sc.tried(failed(2, "'scope'")) },
			"the OpenStack controller itself failed twice: 'scope'; it was to try again at 12:00:40 and does not run (its request had no scope then)"},
		{"it was at work", func(scene) {}, "the OpenStack controller itself has not come to the end of a try on its request; its finalizer is on it"},
		{"it was through", func(sc scene) { sc.NodeRequest("cmp-01").Kept = Bookkeeping{Handled: true, Marked: true} },
			"the OpenStack controller itself was through with its request"},
		{"it never saw it", func(sc scene) { sc.NodeRequest("cmp-01").Finalizers = nil },
			"the OpenStack controller itself has never seen its request: it does not run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sc := bookkept()
			sc.away()
			sc.Settings.ActAs = []ActAs{{Controller: ControllerOpenStack, Roles: []Role{RoleCompute}}}
			test.given(sc)
			s := sc.again().Snapshot
			p, _ := s.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
			if !slices.Contains(p.Summary, test.want) {
				t.Errorf("the page says %q", p.Summary)
			}
			if v, _ := s.NodeView("cmp-01"); strings.Contains(v.Reason, "controller itself") || strings.Contains(v.Reason, "tries again") {
				t.Errorf("its stage says %q", v.Reason)
			}
		})
	}
}

// A lock that was left inactive by a request which the controller never saw says so.
func TestALockLeftByARequestThatWasNeverSeen(t *testing.T) {
	sc := left()
	sc.History.Rounds = map[string]Round{"uid-cmp-01": {Request: "nmr", Ended: ago(time.Hour), Unseen: true}}
	if text := shownOf(sc.again().Snapshot); !strings.Contains(text, "Its request went 11:00, and the OpenStack controller had never seen it") {
		t.Error(text)
	}
	sc = left()
	sc.History.Rounds = map[string]Round{"uid-cmp-01": {Request: "nmr", Ended: ago(time.Hour)}}
	if text := shownOf(sc.again().Snapshot); strings.Contains(text, "had never seen it") {
		t.Error(text)
	}
}

// An outage that no lock says is as old as it was first seen; that the next try has begun does not end it.
func TestOutageThatNoLockSaysHasAnAge(t *testing.T) {
	sc := bookkept()
	l := sc.NodeLock("cmp-01", ControllerOpenStack)
	outages := map[string]OutageRecord{}
	for minute := range 8 {
		sc = sc.again()
		sc.Now = noon.Add(time.Duration(minute) * time.Minute)
		l.Message = sc.Now.Format("2006-01-02 15:04:05.000000") + " Starting migration for " + idA
		tries := failed(minute+1, "Unable to establish connection to http://nova/v2.1/servers/detail")
		tries.Next = sc.Now.Add(40 * time.Second)
		sc.tried(tries)
		clone := cloneOnWrite[string, OutageRecord]{m: outages}
		sc.observeOutage(l, &clone)
		outages = clone.m
		sc.History.Outages = outages
		want := SeverityWarning
		if minute > 5 {
			want = SeverityUrgent
		}
		i := slices.IndexFunc(sc.Attention(), func(a Attention) bool { return a.ID == "outage" })
		if i < 0 {
			t.Fatalf("minute %d: nothing is said", minute)
		}
		if a := sc.Attention()[i]; a.Severity != want || !a.Since.At.Equal(noon) {
			t.Errorf("minute %d: %s since %s", minute, a.Severity, a.Since.At)
		}
	}
}

// A node that holds a place for nothing is cleared, and the next one begins when the controller looks at it.
func TestTheNextNodeBeginsWhenItIsLookedAt(t *testing.T) {
	sc := bookkept()
	sc.node("cmp-02", RoleCompute)
	stale := sc.NodeLock("cmp-02", ControllerOpenStack)
	stale.InnerState = InnerActive
	l := sc.NodeLock("cmp-01", ControllerOpenStack)
	l.InnerState = InnerInactive
	clear := func() string {
		return Plan(sc.again().Snapshot, Intent{Kind: IntentClearInner, Object: stale.Ref()}).Then
	}
	if then := clear(); !strings.Contains(then, "within 60 s") {
		t.Error(then)
	}
	l.Message = "2026-03-14 11:59:40.0 Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"
	sc.tried(failed(2, "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"))
	if then := clear(); !strings.Contains(then, "At its next look, at 12:00:40, the OpenStack controller takes up the next node") {
		t.Error(then)
	}
}
