package progress

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

func TestAccountOfWhatIsAskedOfANode(t *testing.T) {
	unseen := func(sc scene.Scene) { sc.NodeRequest("cmp-01").Finalizers = nil }
	returns := func(sc scene.Scene) *core.MaintenanceRequest {
		r := sc.NodeRequest("cmp-01")
		r.Deleting = scene.Ago(time.Minute)
		return r
	}
	removed := func(sc scene.Scene, kept core.Bookkeeping) {
		delete(sc.NodeRequests, "cmp-01")
		sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "d", Created: scene.Ago(time.Minute)},
			Kind: core.KindNodeDeletionRequest, Node: "cmp-01", Kept: kept}
	}
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		state AccountState
		text  string
	}{
		{"nothing is noted, by a controller of which nothing is known", func(sc scene.Scene) {
			for _, list := range sc.NodeLocks.All() {
				for _, l := range list {
					l.Kept = core.Bookkeeping{}
				}
			}
		}, AccountNone, ""},
		{"it waits for its next try", func(sc scene.Scene) { sc.Tried(scene.Failed(2, "'scope'")) }, AccountRetries,
			"tries again at 12:00:40, failed twice: 'scope'"},
		{"it waits for its first retry", func(sc scene.Scene) { sc.Tried(scene.Failed(1, "list index out of range")) }, AccountRetries,
			"tries again at 12:00:40, failed once: list index out of range"},
		{"tomorrow", func(sc scene.Scene) { sc.Tried(&core.Tries{Failed: 1, Next: scene.Noon.Add(13 * time.Hour)}) }, AccountRetries,
			"tries again at Mar 15 01:00:00, failed once"},
		{"its time has come", func(sc scene.Scene) {
			tries := scene.Failed(3, "x")
			tries.Next = scene.Ago(20 * time.Second)
			sc.Tried(tries)
		}, AccountWorks, "is at work on its request since 11:59:40, failed 3 times: x"},
		{"it does not say when", func(sc scene.Scene) { sc.Tried(&core.Tries{Failed: 1, Words: "x"}) }, AccountWorks,
			"is at work on its request, failed once: x"},
		{"it gave up", func(sc scene.Scene) { sc.Tried(&core.Tries{Failed: 1, Words: "x", GaveUp: true}) }, AccountGaveUp,
			"gave up on its request, failed once: x"},
		{"it does not run", func(sc scene.Scene) { sc.Tried(scene.Failed(2, "'scope'")); sc.Away() }, AccountStopped,
			"failed twice: 'scope'; it was to try again at 12:00:40 and does not run"},
		{"it is at its first try", func(scene.Scene) {}, AccountFirst, "is at work on its request, at its first try"},
		{"it was stopped at its first try", func(sc scene.Scene) { sc.Away() }, AccountHeld,
			"has not come to the end of a try on its request; its finalizer is on it"},
		{"it was through with it", func(sc scene.Scene) { sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Handled: true, Marked: true} },
			AccountHandled, "was through with its request"},
		{"never seen, and it runs", unseen, AccountUnseen, "has never seen its request"},
		{"never seen, and it does not run", func(sc scene.Scene) { unseen(sc); sc.Away(); sc.NodeRequest("cmp-01").Created = scene.Noon },
			AccountUnseen,
			"has never seen its request: it does not run"},
		{"made just now, and it runs", func(sc scene.Scene) { unseen(sc); sc.NodeRequest("cmp-01").Created = scene.Ago(20 * time.Second) },
			AccountNone, ""},
		{"no finalizer, and another's notes", func(sc scene.Scene) { unseen(sc); sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Marked: true} },
			AccountNone, ""},
		{"no finalizer of its, and another's", func(sc scene.Scene) { sc.NodeRequest("cmp-01").Finalizers = []string{"example.org/x"} },
			AccountUnseen, "has never seen its request"},
		{"no finalizer of its, and one of an older release's form", func(sc scene.Scene) {
			sc.NodeRequest("cmp-01").Finalizers = []string{"lcm.mirantis.com/openstack-controller.nodemaintenancerequest-finalizer"}
		}, AccountNone, ""},
		{"the requests are not seen as they are", func(sc scene.Scene) { unseen(sc); sc.Source(core.SourceNodeRequests, core.SourceStale) },
			AccountNone, ""},

		{"the return has failed", func(sc scene.Scene) {
			returns(sc).Kept = core.Bookkeeping{Handled: true, Marked: true, Delete: scene.Failed(1, "x")}
		}, AccountRetries,
			"tries again at 12:00:40, failed once: x"},
		{"the return is at its first try", func(sc scene.Scene) { returns(sc).Kept = core.Bookkeeping{Handled: true, Marked: true} },
			AccountFirst,
			"is at work on its request, at its first try"},
		{"what was tried before the deletion is over", func(sc scene.Scene) {
			returns(sc).Kept = core.Bookkeeping{Marked: true, Change: scene.Failed(4, "'scope'")}
		}, AccountFirst,
			"is at work on its request, at its first try"},
		{"it is through with the return", func(sc scene.Scene) {
			r := returns(sc)
			r.Finalizers, r.Kept = []string{"example.org/x"}, core.Bookkeeping{Handled: true, Marked: true, Delete: scene.Failed(1, "x")}
		}, AccountNone, ""},
		{"the return of what it never saw", func(sc scene.Scene) { returns(sc).Finalizers = []string{"example.org/x"} }, AccountUnseen,
			"has never seen its request"},

		{"a removal that fails", func(sc scene.Scene) { removed(sc, core.Bookkeeping{Marked: true, Change: scene.Failed(2, "x")}) },
			AccountRetries, "tries again at 12:00:40, failed twice: x"},
		{"a removal that it is through with", func(sc scene.Scene) { removed(sc, core.Bookkeeping{Handled: true, Marked: true}) }, AccountHandled,
			"was through with the request for its removal"},
		{"a removal of which nothing is noted", func(sc scene.Scene) { removed(sc, core.Bookkeeping{}) }, AccountNone, ""},
		{"a lock in deletion", func(sc scene.Scene) {
			delete(sc.NodeRequests, "cmp-01")
			l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
			l.Deleting, l.Kept.Delete = scene.Ago(time.Minute),
				scene.Failed(1, "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.")
		}, AccountRetries,
			"tries again at 12:00:40, failed once: The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal."},
		{"a lock in deletion, and a request that is ignored", func(sc scene.Scene) {
			sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Handled: true, Marked: true}
			l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
			l.Deleting, l.Kept.Delete = scene.Ago(time.Minute), scene.Failed(1, "x")
		}, AccountRetries, "tries again at 12:00:40, failed once: x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sc := scene.Bookkept()
			test.given(sc)
			s := sc.Again().Snapshot
			a := NodeAccount(s, "cmp-01")
			if a.State != test.state || AccountText(s, a, true) != test.text {
				t.Errorf("it is %q: %q", a.State, AccountText(s, a, true))
			}
		})
	}
}

// Times are shown in the operator's zone.
func TestAccountInTheOperatorsZone(t *testing.T) {
	sc := scene.Bookkept()
	sc.Tried(scene.Failed(2, "x"))
	scene.LivingIn(t, time.FixedZone("CET", 3600))
	s := sc.Again().Snapshot
	if text := AccountText(s, NodeAccount(s, "cmp-01"), true); !strings.HasPrefix(text, "tries again at 13:00:40") {
		t.Error(text)
	}
}

// Explains failures that no lock reports, by the words of the exception.
func TestFailuresWithoutAWord(t *testing.T) {
	tests := []struct {
		words string
		given func(sc scene.Scene)
		kind  FailureKind
		means string
	}{
		{"'scope'", func(sc scene.Scene) { sc.NodeRequest("cmp-01").Scope = "" }, FailureScope, "its request has no scope"},
		{"'scope'", nil, FailureScope, "its request had no scope then"},
		{"'live+cold'", func(sc scene.Scene) { sc.Mode("cmp-01", "live+cold") }, FailureMode,
			"the controller does not know its migration mode"},
		{"'live+cold'", nil, FailureOther, ""},
		{"''", nil, FailureOther, ""},
		{"invalid literal for int() with base 10: 'many'", nil, FailureTries, "its number of migration attempts is not a number"},
		{"list index out of range", func(sc scene.Scene) { delete(sc.Services, "cmp-01") }, FailureService,
			"Nova knows no nova-compute of the node"},
		{"list index out of range", nil, FailureOther, ""},
		{"list index out of range", func(sc scene.Scene) {
			delete(sc.Services, "cmp-01")
			sc.Source(core.SourceComputeServices, core.SourceOff)
		}, FailureOther, ""},
		{"The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.", nil, FailureExists,
			"the node still exists, and it cleans up only behind one that is gone"},
		{"429 Client Error: Too Many Requests for url: https://10.0.0.1/openstackdeployments", nil, FailureBusy,
			"the API server refuses it: too many requests"},
		{"Unable to establish connection to http://nova/v2.1/servers/detail: HTTPConnectionPool(host='nova', port=8774): Max retries exceeded",
			nil, FailureOutage, "an API does not answer it"},
		{"HttpException: 503: Server Error for url: http://nova/v2.1/servers/detail, Service Unavailable", nil, FailureOutage,
			"an API does not answer it"},
		{scene.StillPresent, nil, FailureText, ""},
		{"Services are not healthy", nil, FailureText, ""},
		{"Can not bring node back to scheduling. Cannot execute openstack commands, error: x", nil, FailureText, ""},
		{"'NoneType' object is not subscriptable", nil, FailureOther, ""},
	}
	for _, test := range tests {
		sc := scene.Bookkept()
		sc.Tried(scene.Failed(1, test.words))
		if test.given != nil {
			test.given(sc)
		}
		s := sc.Again().Snapshot
		kind, means := Failure(s, NodeAccount(s, "cmp-01"), "cmp-01")
		if kind != test.kind || means != test.means {
			t.Errorf("%s: %d, %q", test.words, kind, means)
		}
	}
}
