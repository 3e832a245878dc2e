package core

import (
	"strings"
	"testing"
	"time"
)

// next is the time of the next try in these tests: 12:00:40 by the scene's clock.
var next = noon.Add(40 * time.Second)

// failed is a note of tries that failed.
func failed(n int, words string) *Tries {
	return &Tries{Purpose: "create", Failed: n, Words: words, Started: ago(5 * time.Minute), Next: next}
}

// bookkept is a cluster whose OpenStack controller runs and keeps its books, with cmp-01 asked for and begun.
func bookkept() scene {
	sc := healthy()
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Existing: 1, Ready: 1}
	sc.maintained("cmp-01", "")
	for _, list := range sc.NodeLocks {
		for _, l := range list {
			l.Kept, l.Finalizers = Bookkeeping{Handled: true, Marked: true}, heldBy
		}
	}
	return sc
}

func (sc scene) away() { sc.Controller.Replicas, sc.Controller.Existing, sc.Controller.Ready = 0, 0, 0 }

// tried notes tries of the change of cmp-01's request.
func (sc scene) tried(t *Tries) { sc.NodeRequest("cmp-01").Kept = Bookkeeping{Marked: true, Change: t} }

func TestAccountOfWhatIsAskedOfANode(t *testing.T) {
	unseen := func(sc scene) { sc.NodeRequest("cmp-01").Finalizers = nil }
	returns := func(sc scene) *MaintenanceRequest {
		r := sc.NodeRequest("cmp-01")
		r.Deleting = ago(time.Minute)
		return r
	}
	removed := func(sc scene, kept Bookkeeping) {
		delete(sc.NodeRequests, "cmp-01")
		sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Name: "cmp-01", UID: "d", Created: ago(time.Minute)}, Kind: KindNodeDeletionRequest, Node: "cmp-01", Kept: kept}
	}
	tests := []struct {
		name  string
		given func(sc scene)
		state AccountState
		text  string
	}{
		{"nothing is noted, by a controller of which nothing is known", func(sc scene) {
			for _, list := range sc.NodeLocks {
				for _, l := range list {
					l.Kept = Bookkeeping{}
				}
			}
		}, AccountNone, ""},
		{"it waits for its next try", func(sc scene) { sc.tried(failed(2, "'scope'")) }, AccountRetries, "tries again at 12:00:40, failed twice: 'scope'"},
		{"it waits for its first retry", func(sc scene) { sc.tried(failed(1, "list index out of range")) }, AccountRetries,
			"tries again at 12:00:40, failed once: list index out of range"},
		{"tomorrow", func(sc scene) { sc.tried(&Tries{Failed: 1, Next: noon.Add(13 * time.Hour)}) }, AccountRetries, "tries again at Mar 15 01:00:00, failed once"},
		{"its time has come", func(sc scene) {
			tries := failed(3, "x")
			tries.Next = ago(20 * time.Second)
			sc.tried(tries)
		}, AccountWorks, "is at work on its request since 11:59:40, failed 3 times: x"},
		{"it does not say when", func(sc scene) { sc.tried(&Tries{Failed: 1, Words: "x"}) }, AccountWorks, "is at work on its request, failed once: x"},
		{"it gave up", func(sc scene) { sc.tried(&Tries{Failed: 1, Words: "x", GaveUp: true}) }, AccountGaveUp, "gave up on its request, failed once: x"},
		{"it does not run", func(sc scene) { sc.tried(failed(2, "'scope'")); sc.away() }, AccountStopped,
			"failed twice: 'scope'; it was to try again at 12:00:40 and does not run"},
		{"it is at its first try", func(scene) {}, AccountFirst, "is at work on its request, at its first try"},
		{"it was stopped at its first try", func(sc scene) { sc.away() }, AccountHeld, "has not come to the end of a try on its request; its finalizer is on it"},
		{"it was through with it", func(sc scene) { sc.NodeRequest("cmp-01").Kept = Bookkeeping{Handled: true, Marked: true} }, AccountHandled, "was through with its request"},
		{"never seen, and it runs", unseen, AccountUnseen, "has never seen its request"},
		{"never seen, and it does not run", func(sc scene) { unseen(sc); sc.away(); sc.NodeRequest("cmp-01").Created = noon }, AccountUnseen,
			"has never seen its request: it does not run"},
		{"made just now, and it runs", func(sc scene) { unseen(sc); sc.NodeRequest("cmp-01").Created = ago(20 * time.Second) }, AccountNone, ""},
		{"no finalizer, and another's notes", func(sc scene) { unseen(sc); sc.NodeRequest("cmp-01").Kept = Bookkeeping{Marked: true} }, AccountNone, ""},
		{"no finalizer of its, and another's", func(sc scene) { sc.NodeRequest("cmp-01").Finalizers = []string{"example.org/x"} }, AccountUnseen, "has never seen its request"},
		{"no finalizer of its, and one of an older release's form", func(sc scene) {
			sc.NodeRequest("cmp-01").Finalizers = []string{"lcm.mirantis.com/openstack-controller.nodemaintenancerequest-finalizer"}
		}, AccountNone, ""},
		{"the requests are not seen as they are", func(sc scene) { unseen(sc); sc.source(SourceNodeRequests, SourceStale) }, AccountNone, ""},

		{"the return has failed", func(sc scene) { returns(sc).Kept = Bookkeeping{Handled: true, Marked: true, Delete: failed(1, "x")} }, AccountRetries,
			"tries again at 12:00:40, failed once: x"},
		{"the return is at its first try", func(sc scene) { returns(sc).Kept = Bookkeeping{Handled: true, Marked: true} }, AccountFirst,
			"is at work on its request, at its first try"},
		{"what was tried before the deletion is over", func(sc scene) { returns(sc).Kept = Bookkeeping{Marked: true, Change: failed(4, "'scope'")} }, AccountFirst,
			"is at work on its request, at its first try"},
		{"it is through with the return", func(sc scene) {
			r := returns(sc)
			r.Finalizers, r.Kept = []string{"example.org/x"}, Bookkeeping{Handled: true, Marked: true, Delete: failed(1, "x")}
		}, AccountNone, ""},
		{"the return of what it never saw", func(sc scene) { returns(sc).Finalizers = []string{"example.org/x"} }, AccountUnseen, "has never seen its request"},

		{"a removal that fails", func(sc scene) { removed(sc, Bookkeeping{Marked: true, Change: failed(2, "x")}) }, AccountRetries, "tries again at 12:00:40, failed twice: x"},
		{"a removal that it is through with", func(sc scene) { removed(sc, Bookkeeping{Handled: true, Marked: true}) }, AccountHandled, "was through with the request for its removal"},
		{"a removal of which nothing is noted", func(sc scene) { removed(sc, Bookkeeping{}) }, AccountNone, ""},
		{"a lock in deletion", func(sc scene) {
			delete(sc.NodeRequests, "cmp-01")
			l := sc.NodeLock("cmp-01", ControllerOpenStack)
			l.Deleting, l.Kept.Delete = ago(time.Minute), failed(1, "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.")
		}, AccountRetries, "tries again at 12:00:40, failed once: The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal."},
		{"a lock in deletion, and a request that is ignored", func(sc scene) {
			sc.NodeRequest("cmp-01").Kept = Bookkeeping{Handled: true, Marked: true}
			l := sc.NodeLock("cmp-01", ControllerOpenStack)
			l.Deleting, l.Kept.Delete = ago(time.Minute), failed(1, "x")
		}, AccountRetries, "tries again at 12:00:40, failed once: x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sc := bookkept()
			test.given(sc)
			s := sc.again().Snapshot
			a := s.NodeAccount("cmp-01")
			if a.State != test.state || s.AccountText(a, true) != test.text {
				t.Errorf("it is %q: %q", a.State, s.AccountText(a, true))
			}
		})
	}
}

// Times are told in the operator's zone.
func TestAccountInTheOperatorsZone(t *testing.T) {
	sc := bookkept()
	sc.tried(failed(2, "x"))
	livingIn(t, time.FixedZone("CET", 3600))
	s := sc.again().Snapshot
	if text := s.AccountText(s.NodeAccount("cmp-01"), true); !strings.HasPrefix(text, "tries again at 13:00:40") {
		t.Error(text)
	}
}

// What the words of a failure come of, where no lock says it.
func TestFailuresWithoutAWord(t *testing.T) {
	tests := []struct {
		words string
		given func(sc scene)
		kind  failureKind
		means string
	}{
		{"'scope'", func(sc scene) { sc.NodeRequest("cmp-01").Scope = "" }, failureScope, "its request has no scope"},
		{"'scope'", nil, failureScope, "its request had no scope then"},
		{"'live+cold'", func(sc scene) { sc.mode("cmp-01", "live+cold") }, failureMode, "its migration mode is none that the controller knows"},
		{"'live+cold'", nil, failureOther, ""},
		{"''", nil, failureOther, ""},
		{"invalid literal for int() with base 10: 'many'", nil, failureTries, "its number of migration attempts is none"},
		{"list index out of range", func(sc scene) { delete(sc.Services, "cmp-01") }, failureService, "Nova knows no nova-compute of the node"},
		{"list index out of range", nil, failureOther, ""},
		{"list index out of range", func(sc scene) { delete(sc.Services, "cmp-01"); sc.source(SourceComputeServices, SourceOff) }, failureOther, ""},
		{"The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.", nil, failureExists,
			"the node still exists, and it cleans up only behind one that is gone"},
		{"429 Client Error: Too Many Requests for url: https://10.0.0.1/openstackdeployments", nil, failureBusy, "the API server turns it away, for it is asked too much"},
		{"Unable to establish connection to http://nova/v2.1/servers/detail: HTTPConnectionPool(host='nova', port=8774): Max retries exceeded", nil, failureOutage, "an API does not answer it"},
		{"HttpException: 503: Server Error for url: http://nova/v2.1/servers/detail, Service Unavailable", nil, failureOutage, "an API does not answer it"},
		{stillPresent, nil, failureText, ""},
		{"Services are not healthy", nil, failureText, ""},
		{"Can not bring node back to scheduling. Cannot execute openstack commands, error: x", nil, failureText, ""},
		{"'NoneType' object is not subscriptable", nil, failureOther, ""},
	}
	for _, test := range tests {
		sc := bookkept()
		sc.tried(failed(1, test.words))
		if test.given != nil {
			test.given(sc)
		}
		s := sc.again().Snapshot
		kind, means := s.failure(s.NodeAccount("cmp-01"), "cmp-01")
		if kind != test.kind || means != test.means {
			t.Errorf("%s: %d, %q", test.words, kind, means)
		}
	}
}
