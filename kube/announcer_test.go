package kube

import (
	"context"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// An Event says on its object who did what, and how it ended: in one line, cut, without secrets.
func TestAnEventSaysWhatWasDone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		mayAnnounce := kubeapi.Rule{Namespaces: []string{"default"},
			PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}}}
		if err := c.SetRules(kubeapi.Operator, append(kubeapi.OperatorRules(), mayAnnounce)); err != nil {
			t.Fatal(err)
		}
		a := NewAnnouncer(c.client(kubeapi.Operator), AnnouncerOptions{Trouble: func(text string) { t.Error(text) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		ended := time.Date(2026, 3, 14, 2, 10, 0, 0, time.UTC)
		long := strings.Repeat("x", 300)
		for _, what := range []engine.Announcement{
			{On: core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "u1"}, Title: "set mode skip", State: core.OperationDone,
				By: "anna@jump", Ended: ended},
			{On: core.Ref{Kind: core.KindNodeWorkloadLock, Name: long, UID: "u2"}, Title: "set the lock\ninactive", State: core.OperationFailed,
				Text: "password=abcdef0123456789 " + strings.Repeat("é", 1<<20), By: "bert", Ended: ended},
		} {
			a.Announce(what)
			time.Sleep(time.Second)
		}
		stop()
		<-done
		for uid, want := range map[string]string{
			"u1": "v1 Normal LockstepDone anna@jump: set mode skip",
			"u2": "lcm.mirantis.com/v1alpha1 Warning LockstepFailed bert: set the lock inactive: password=",
		} {
			found := 0
			for _, o := range c.Objects("events") {
				e := fields(o.Object)
				if e.at("involvedObject").text("uid") != uid {
					continue
				}
				found++
				got := strings.Join([]string{e.at("involvedObject").text("apiVersion"), e.text("type"), e.text("reason"), e.text("message")}, " ")
				if !strings.HasPrefix(got, want) || len(got) > 1200 || strings.Contains(got, "abcdef") || strings.Contains(got, "\ufffd") {
					t.Errorf("%d bytes: %.200q, want %q", len(got), got, want)
				}
				if e.text("firstTimestamp") != "2026-03-14T02:10:00Z" {
					t.Errorf("it is of %s", e.text("firstTimestamp"))
				}
			}
			if found != 1 {
				t.Errorf("%d Events about %s", found, uid)
			}
		}
	})
}

// What was done to an object of the management cluster is an Event there, in the object's project. An object without a UID has none, nor
// has the MOSK cluster as a whole. Trouble is told once for each of the two clusters.
func TestAnEventIsWhereItsObjectIs(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		mosk, managed := newCluster(t, kubeapi.Options{}), newCluster(t, kubeapi.Options{})
		managed.create(`{apiVersion: v1, kind: Namespace, metadata: {name: mosk}}`)
		var told []string
		a := NewAnnouncer(mosk.client(kubeapi.Admin), AnnouncerOptions{Management: managed.client(kubeapi.Admin),
			Trouble: func(text string) { told = append(told, text) }})
		plan := core.Ref{Kind: core.KindUpdatePlan, Namespace: "mosk", Name: "mos-21", UID: "u1"}
		node := core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "u2"}
		if !a.On(plan) || !a.On(node) || a.On(core.Ref{Kind: core.KindCluster, Name: "mos", UID: "u"}) ||
			a.On(core.Ref{Kind: core.KindUpdateGroup, Namespace: "mosk", Name: "new"}) || NewAnnouncer(mosk.client(kubeapi.Admin),
			AnnouncerOptions{}).On(plan) {
			t.Error("it takes other objects for those that can have Events")
		}
		refused := kubeapi.Fault{Resource: "events", Verb: "create", Code: 500}
		faults := []func(){mosk.AddFault(refused), managed.AddFault(refused)}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		for range 2 {
			for _, on := range []core.Ref{plan, node} {
				a.Announce(engine.Announcement{On: on, Title: "commence step openstack", State: core.OperationDone, By: "anna", Ended: time.Now()})
			}
			time.Sleep(time.Minute)
			for _, end := range faults {
				end()
			}
			faults = nil
		}
		stop()
		<-done
		for name, where := range map[string]struct {
			c   *cluster
			ref core.Ref
			in  string
		}{"of the plan": {managed, plan, "mosk"}, "of the node": {mosk, node, "default"}} {
			all := where.c.Objects("events")
			if len(all) != 1 {
				t.Fatalf("%d Events %s; told %q", len(all), name, told)
			}
			involved := fields(all[0].Object).at("involvedObject")
			if all[0].GetNamespace() != where.in || involved.text("uid") != where.ref.UID || involved.text("namespace") != where.ref.Namespace {
				t.Errorf("the Event %s: %v", name, all[0].Object)
			}
		}
		if len(told) != 2 {
			t.Errorf("it told %q, want one for each cluster", told)
		}
	})
}

// Who announces never waits, whatever the server does; what waits when Lockstep leaves is written within two seconds.
func TestAnnouncingNeverWaits(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		remove := c.AddFault(kubeapi.Fault{Resource: "events", Hang: true})
		defer remove()
		a := NewAnnouncer(c.client(kubeapi.Operator), AnnouncerOptions{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		began := time.Now()
		for range 2 * mostAnnounced {
			a.Announce(engine.Announcement{On: core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "u"}, State: core.OperationDone})
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it waited %s", took)
		}
		stop()
		<-done
		if took := time.Since(began); took > lastEvents {
			t.Errorf("it left after %s", took)
		}
	})
}

// An Event that is being written when Lockstep leaves is written, and is no trouble.
func TestAnEventUnderWayIsWrittenBeforeLockstepLeaves(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		defer c.AddFault(kubeapi.Fault{Resource: "events", Verb: "create", Delay: time.Second})()
		a := NewAnnouncer(c.client(kubeapi.Admin), AnnouncerOptions{Trouble: func(text string) { t.Error(text) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		a.Announce(engine.Announcement{On: core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "u"}, State: core.OperationDone})
		time.Sleep(time.Second / 2)
		stop()
		<-done
		if all := c.Objects("events"); len(all) != 1 {
			t.Errorf("%d Events", len(all))
		}
	})
}
