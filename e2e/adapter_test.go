package e2e

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/permittest"
	"lockstep/e2e/cluster"
	"lockstep/kube"
)

const modeAnnotation = "openstack.lcm.mirantis.com/instance_migration_mode"

// patience is how long a test waits; only a failing test waits that long.
const patience = 5 * time.Minute

// adapter is the program's own client, logged in as the user.
func adapter(t *testing.T, c *cluster.Cluster, user cluster.User) *kube.Client {
	t.Helper()
	path, err := c.WriteKubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kube.Load(kube.Options{Kubeconfig: path, UserAgent: "lockstep"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// sources watches with the client until the states of all sources are as wanted.
func sources(t *testing.T, client *kube.Client, wanted map[core.SourceID]core.SourceState, podsOf ...core.PodsOf) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	states := map[core.SourceID]core.SourceState{}
	errs := map[core.SourceID]error{}
	watcher := kube.NewWatcher(client, func(d core.Delta) {
		if d.State != "" {
			states[d.Source] = d.State
			delete(errs, d.Source)
			if d.Err != nil {
				errs[d.Source] = d.Err
			}
		}
		if maps.Equal(states, wanted) {
			cancel()
		}
	}, kube.WatchOptions{})
	watcher.SetPodNodes(podsOf)
	watcher.Run(ctx)
	if !maps.Equal(states, wanted) {
		t.Errorf("the sources are %v, want %v; the errors: %v", states, wanted, errs)
	}
}

func TestAWatcherSeesEverythingWithTheReadOnlyManifest(t *testing.T) {
	c := ownCluster(t)
	create(t, c, nodes, `{apiVersion: v1, kind: Node, metadata: {name: watched}}`)
	client := adapter(t, c, cluster.ReadOnly)
	if version, err := client.Login(t.Context()); err != nil || version != "v1.36.3" {
		t.Errorf("the login answers %q, %v", version, err)
	}

	live := map[core.SourceID]core.SourceState{}
	for _, source := range kube.Sources() {
		live[source] = core.SourceLive
	}
	live[core.SourceOpenStackDeployment] = core.SourceOff // for operators only
	sources(t, client, live, core.PodsOf{Node: "watched"})

	access := kube.NewAccess(client)
	if err := access.Review(t.Context(), kube.WatchPermissions()...); err != nil {
		t.Fatal(err)
	}
	if missing := access.Missing(kube.WatchPermissions()...); len(missing) > 0 {
		t.Errorf("missing are %v", missing)
	}

	requests, err := c.Requests()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range requests {
		if r.User != string(cluster.ReadOnly) {
			continue
		}
		seen++
		if r.Code >= http.StatusBadRequest && !strings.Contains(r.String(), "openstackdeployments") {
			t.Errorf("refused: %v", r)
		}
		if r.Write() {
			t.Errorf("watching writes: %v", r)
		}
		if r.UserAgent != "lockstep" {
			t.Errorf("the program calls itself %q: %v", r.UserAgent, r)
		}
	}
	if want := len(kube.Sources()); seen < want {
		t.Errorf("the server has seen %d requests for %d sources", seen, want)
	}
}

func TestAWatcherWithoutRightsSaysSoForEachSource(t *testing.T) {
	forbidden := map[core.SourceID]core.SourceState{}
	for _, source := range kube.Sources() {
		forbidden[source] = core.SourceForbidden
	}
	forbidden[core.SourceOpenStackDeployment] = core.SourceOff
	sources(t, adapter(t, shared, cluster.Nobody), forbidden, core.PodsOf{Node: "any"})
}

func TestAWatcherWithAnExpiredTokenFails(t *testing.T) {
	failed := map[core.SourceID]core.SourceState{}
	for _, source := range kube.Sources() {
		failed[source] = core.SourceFailed
	}
	sources(t, adapter(t, shared, cluster.Expired), failed, core.PodsOf{Node: "any"})
}

// kindOf is the kind of the adapter's error; "" for none.
func kindOf(t *testing.T, err error) core.ErrorKind {
	t.Helper()
	if err == nil {
		return ""
	}
	var described *core.APIError
	if !errors.As(err, &described) {
		t.Fatalf("an error of the adapter that is not described: %v", err)
	}
	return described.Kind
}

// writer reads, dry-runs and writes with the Permits of tests.
type writer struct {
	*kube.Checker
	t      *testing.T
	writer *kube.Writer
}

func writes(t *testing.T, client *kube.Client) writer {
	return writer{kube.NewChecker(client), t, kube.NewWriter(client)}
}

// write makes a change.
func (w writer) write(change core.Change) error {
	w.t.Helper()
	return w.writer.Write(w.t.Context(), permittest.For(w.t, change), change)
}

// do makes a change, or only dry-runs it.
func (w writer) do(dryRun bool, change core.Change) error {
	w.t.Helper()
	if dryRun {
		return w.DryRun(w.t.Context(), change)
	}
	return w.write(change)
}

func TestTheModeOfANodeIsSetOnlyOverTheValueThatWasSeen(t *testing.T) {
	rights(t, shared)
	writer := writes(t, adapter(t, shared, cluster.Operator))
	text := func(s string) *string { return &s }

	tests := []struct {
		name        string
		annotations string // of the node before the write
		uid         string // of the node meant, if it is another one
		old, new    *string
		dryRun      bool
		want        core.ErrorKind
		after       *string
	}{
		{"over the value", `{` + modeAnnotation + `: manual}`, "", text("manual"), text("skip"), false, "", text("skip")},
		{"tried only", `{` + modeAnnotation + `: manual}`, "", text("manual"), text("skip"), true, "", text("manual")},
		{"removed", `{` + modeAnnotation + `: skip}`, "", text("skip"), nil, false, "", nil},
		{"over nothing, beside another", `{other: x}`, "", nil, text("manual"), false, "", text("manual")},
		{"over nothing, on a bare node", `{}`, "", nil, text("manual"), false, "", text("manual")},
		{"over another value", `{` + modeAnnotation + `: live}`, "", text("manual"), text("skip"), false, core.ErrConflict, text("live")},
		{"over a value that has gone", `{}`, "", text("manual"), text("skip"), false, core.ErrConflict, nil},
		{"over nothing, where something has come", `{` + modeAnnotation + `: live}`, "", nil, text("skip"), false, core.ErrConflict,
			text("live")},
		{"on a node made again", `{` + modeAnnotation + `: manual}`, "00000000-0000-0000-0000-000000000000", text("manual"), text("skip"), false,
			core.ErrConflict, text("manual")},
		{"a removal, tried on another value", `{` + modeAnnotation + `: live}`, "", text("skip"), nil, true, core.ErrConflict, text("live")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := create(t, shared, nodes, `{apiVersion: v1, kind: Node, metadata: {name: mode, annotations: `+test.annotations+`}}`)
			uid := string(node.GetUID())
			if test.uid != "" {
				uid = test.uid
			}
			ref := core.Ref{Kind: core.KindNode, Name: "mode", UID: uid}
			err := writer.do(test.dryRun, core.SetNodeAnnotation{Node: ref, Key: modeAnnotation, Old: test.old, New: test.new})
			if kind := kindOf(t, err); kind != test.want {
				t.Errorf("the error is %q (%v), want %q", kind, err, test.want)
			}
			now, err := as(t, shared, cluster.Admin).Resource(nodes).Get(t.Context(), "mode", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got, set := now.GetAnnotations()[modeAnnotation]; set != (test.after != nil) || set && got != *test.after {
				t.Errorf("the annotation is %q (set: %v)", got, set)
			}
		})
	}
}

func TestAWriteWithoutTheRightIsRefused(t *testing.T) {
	rights(t, shared)
	node := create(t, shared, nodes, `{apiVersion: v1, kind: Node, metadata: {name: forbidden, annotations: {`+modeAnnotation+`: manual}}}`)
	ref := core.Ref{Kind: core.KindNode, Name: node.GetName(), UID: string(node.GetUID())}
	manual, skip := "manual", "skip"
	err := writes(t, adapter(t, shared, cluster.ReadOnly)).write(core.SetNodeAnnotation{Node: ref, Key: modeAnnotation, Old: &manual,
		New: &skip})
	if kind := kindOf(t, err); kind != core.ErrForbidden {
		t.Errorf("the error is %q: %v", kind, err)
	}
}

func TestTheOperatorLeaseHasOneHolder(t *testing.T) {
	c := ownCluster(t)
	client := adapter(t, c, cluster.Operator)
	anna := kube.NewLease(client, kube.LeaseOptions{Identity: "anna@jump01/1/a"})
	bert := kube.NewLease(client, kube.LeaseOptions{Identity: "bert@jump02/2/b"})

	if err := anna.Acquire(t.Context(), ""); err != nil || !anna.Held() {
		t.Fatalf("the first has not got it: %v", err)
	}
	err := bert.Acquire(t.Context(), "")
	if kind := kindOf(t, err); kind != core.ErrConflict || !strings.Contains(err.Error(), "anna@jump01") || bert.Held() {
		t.Errorf("the second gets %v", err)
	}
	if err := bert.Acquire(t.Context(), "anna@jump01"); err != nil || !bert.Held() {
		t.Errorf("the second could not take it over: %v", err)
	}
	// The first one learns it when it looks next.
	looking, cancel := context.WithCancel(t.Context())
	defer cancel()
	go anna.Run(looking)
	deadline := time.After(patience)
	for anna.Held() {
		select {
		case <-deadline:
			t.Fatal("the first still thinks that it holds what was taken over")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := bert.Release(t.Context()); err != nil {
		t.Error(err)
	}
	lease, err := as(t, c, cluster.Admin).Resource(leases).Namespace("default").Get(t.Context(), "lockstep-operator", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if holder, set, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); set {
		t.Errorf("after the release it is held by %q", holder)
	}

	requests, err := c.Requests()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if r.User == string(cluster.Operator) &&
			(r.Code == http.StatusForbidden || !slices.Contains([]string{"get", "list", "create", "update"}, r.Verb)) {
			t.Errorf("the lease needs another right: %v", r)
		}
	}
}

// Locks and requests are changed with only the rights of deploy/rbac-maintenance.yaml: by compare-and-swap, and on the status
// without touching the rest. Dry-runs change nothing.
func TestLocksAndRequestsAreChangedOnTheRealServer(t *testing.T) {
	c := ownCluster(t)
	writer := writes(t, adapter(t, c, cluster.Maintainer))
	made := core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "backup-n1", Controller: "backup", Node: "n1"}
	check := func(what string, err error, want core.ErrorKind) {
		t.Helper()
		if kind := kindOf(t, err); kind != want {
			t.Fatalf("%s: the error is %q (%v), want %q", what, kind, err, want)
		}
	}
	check("a lock is tried", writer.DryRun(t.Context(), core.CreateLock{Lock: made}), "")
	_, err := writer.Lock(t.Context(), made.Ref())
	check("a lock that was only tried", err, core.ErrNotFound)
	check("a lock is made", writer.write(core.CreateLock{Lock: made}), "")
	check("and made again", writer.write(core.CreateLock{Lock: made}), core.ErrConflict)
	lock, err := writer.Lock(t.Context(), made.Ref())
	check("it is read", err, "")
	ref := lock.Ref()

	check("without a status it is set", writer.write(core.SetLock{Lock: ref, To: core.LockStatus{State: core.LockActive, Message: "why",
		Release: "1.0"}}), "")
	check("to no state of the API", writer.DryRun(t.Context(), core.SetLock{Lock: ref, Was: core.LockActive,
		To: core.LockStatus{State: "asleep"}}), core.ErrInvalid)
	check("released, tried", writer.DryRun(t.Context(), core.SetLock{Lock: ref, Was: core.LockActive,
		To: core.LockStatus{State: core.LockInactive}}), "")
	check("over another state", writer.write(core.SetLock{Lock: ref, Was: core.LockFailed, To: core.LockStatus{State: core.LockInactive}}),
		core.ErrConflict)
	check("of another lock", writer.write(core.SetLock{Lock: core.Ref{Kind: ref.Kind, Name: ref.Name, UID: "another"}, Was: core.LockActive,
		To: core.LockStatus{State: core.LockInactive}}), core.ErrConflict)
	check("worked on", writer.write(core.SetInnerState{Lock: ref, To: core.InnerActive}), "")
	check("worked on by another", writer.write(core.SetInnerState{Lock: ref, To: core.InnerActive}), core.ErrConflict)
	is, err := writer.Lock(t.Context(), ref)
	check("read again", err, "")
	if is.RawState != core.LockActive || is.Message != "why" || is.Release != "1.0" || is.InnerState != core.InnerActive ||
		is.Controller != "backup" || is.Node != "n1" {
		t.Errorf("the lock is %+v", is)
	}
	check("released", writer.write(core.SetLock{Lock: ref, Was: core.LockActive, To: core.LockStatus{State: core.LockInactive}}), "")
	check("worked on no more", writer.write(core.SetInnerState{Lock: ref, Was: core.InnerActive, To: core.InnerInactive}), "")
	if is, err = writer.Lock(t.Context(), ref); err != nil || is.RawState != core.LockInactive || is.Message != "" || is.Release != "1.0" ||
		is.InnerState != core.InnerInactive {
		t.Errorf("the lock is %+v, %v", is, err)
	}
	locks, err := writer.NodeLocks(t.Context())
	if err != nil || len(locks) != 1 || locks[0].UID != ref.UID {
		t.Errorf("the locks are %v, %v", locks, err)
	}

	asked := core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n1", Node: "n1", Scope: core.ScopeDrain, Release: "21.0.0"}
	check("a request of no scope of the API", writer.write(core.CreateRequest{Request: core.NewRequest{Kind: asked.Kind, Name: "n2",
		Node: "n2", Scope: "all"}}), core.ErrInvalid)
	check("a request", writer.write(core.CreateRequest{Request: asked}), "")
	request, err := writer.Request(t.Context(), asked.Ref())
	if err != nil || !request.ByHand() || request.Scope != core.ScopeDrain || request.Release != "21.0.0" {
		t.Fatalf("the request is %+v, %v", request, err)
	}
	requests, err := writer.Requests(t.Context())
	if err != nil || len(requests) != 1 || requests[0].UID != request.UID || requests[0].Node != "n1" {
		t.Errorf("the requests are %v, %v", requests, err)
	}
	const finalizer = "lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"
	check("held as another", writer.write(core.AddFinalizer{Object: core.Ref{Kind: request.Kind, Name: request.Name, UID: "another"},
		Finalizer: finalizer}), core.ErrConflict)
	check("held, tried", writer.DryRun(t.Context(), core.AddFinalizer{Object: request.Ref(), Finalizer: finalizer}), "")
	check("held", writer.write(core.AddFinalizer{Object: request.Ref(), Finalizer: finalizer}), "")
	check("held once more", writer.write(core.AddFinalizer{Object: request.Ref(), Finalizer: finalizer}), core.ErrConflict)
	check("held by another, too", writer.write(core.AddFinalizer{Object: request.Ref(), Finalizer: "example.org/other"}), "")
	check("let go by the other", writer.write(core.RemoveFinalizer{Object: request.Ref(), Finalizer: "example.org/other"}), "")
	check("deleted as another", writer.write(core.DeleteObject{Object: core.Ref{Kind: request.Kind, Name: request.Name, UID: "another"}}),
		core.ErrConflict)
	check("deleted, tried", writer.DryRun(t.Context(), core.DeleteObject{Object: request.Ref()}), "")
	check("deleted", writer.write(core.DeleteObject{Object: request.Ref()}), "")
	if request, err = writer.Request(t.Context(), request.Ref()); err != nil || request.Deleting.IsZero() {
		t.Fatalf("its finalizer does not keep it: %+v, %v", request, err)
	}
	check("held while it is removed", writer.write(core.AddFinalizer{Object: request.Ref(), Finalizer: "example.org/late"}), core.ErrConflict)
	check("let go by another finalizer", writer.write(core.RemoveFinalizer{Object: request.Ref(), Finalizer: "other/one"}), core.ErrConflict)
	check("let go", writer.write(core.RemoveFinalizer{Object: request.Ref(), Finalizer: finalizer}), "")
	_, err = writer.Request(t.Context(), request.Ref())
	check("it is gone", err, core.ErrNotFound)
	check("the lock is deleted", writer.write(core.DeleteObject{Object: ref}), "")

	for _, user := range []cluster.User{cluster.Operator, cluster.ReadOnly} {
		other := writes(t, adapter(t, c, user))
		check(string(user)+" makes a request", other.DryRun(t.Context(), core.CreateRequest{Request: asked}), core.ErrForbidden)
		check(string(user)+" makes a lock", other.DryRun(t.Context(), core.CreateLock{Lock: made}), core.ErrForbidden)
	}
}

// What was done is an Event on the real server, with the right of deploy/rbac-events.yaml; without it that is told, and nothing else
// happens.
func TestEventsAreMadeOnTheRealServer(t *testing.T) {
	t.Parallel()
	c := ownCluster(t)
	node := create(t, c, nodes, `{apiVersion: v1, kind: Node, metadata: {name: announced}}`)
	what := engine.Announcement{On: core.Ref{Kind: core.KindNode, Name: "announced", UID: string(node.GetUID())}, Title: "set mode skip",
		State: core.OperationDone, By: "anna@jump", Ended: time.Now()}
	for _, user := range []cluster.User{cluster.Operator, cluster.ReadOnly} {
		told := make(chan string, 10)
		a := kube.NewAnnouncer(adapter(t, c, user), kube.AnnouncerOptions{Trouble: func(text string) { told <- text }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		a.Announce(what)
		a.Announce(what)
		if user == cluster.ReadOnly {
			if text := <-told; !strings.Contains(text, "deploy/rbac-events.yaml") {
				t.Errorf("it says %q", text)
			}
		}
		await(t, "the server has answered both", func() bool {
			requests, err := c.Requests()
			answered := slices.DeleteFunc(requests, func(r cluster.Request) bool {
				return r.User != string(user) || r.Verb != "create" || r.Resource != "events" || r.Code == 0
			})
			return err == nil && len(answered) == 2
		})
		stop()
		<-done
		if len(told) > 0 {
			t.Errorf("%s: it is told again: %q", user, <-told)
		}
	}
	all, err := as(t, c, cluster.Admin).Resource(events).Namespace("default").List(t.Context(), metav1.ListOptions{
		FieldSelector: "involvedObject.uid=" + what.On.UID})
	if err != nil || len(all.Items) != 2 {
		t.Errorf("%v, %d Events, want those of the one who may", err, len(all.Items))
	}
}
