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
		if took := time.Since(began); took > lastEvents+callTimeout {
			t.Errorf("it left after %s", took)
		}
	})
}
