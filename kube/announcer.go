package kube

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/core/engine"
)

// Announcer writes Kubernetes Events about what confirmed operations came to, so that colleagues see it where they look: kubectl describe
// shows them. Nothing rests on them: one that cannot be written is left out.
type Announcer struct {
	client *Client
	opts   AnnouncerOptions
	queue  chan engine.Announcement
	once   sync.Once // trouble is told once
}

// AnnouncerOptions say how an Announcer works.
type AnnouncerOptions struct {
	Log     *slog.Logger
	Trouble func(string) // told once why Events are not written; it must not wait; may be nil
}

const (
	// announceNamespace has the Events of objects that are in no namespace.
	announceNamespace = metav1.NamespaceDefault
	// mostAnnounced is how many Events wait to be written; further ones are left out.
	mostAnnounced = 256
	// mostEventText is how long an Event's message is, in bytes: the API takes no longer one in its newer form.
	mostEventText = 1000
	// lastEvents is how long Lockstep stays for the last Events when it leaves.
	lastEvents = 2 * time.Second
)

// AnnouncePermissions are what writing Events needs (deploy/rbac-events.yaml).
func AnnouncePermissions() []Permission {
	return []Permission{{Verb: "create", Resource: gvrEvents.Resource, Namespace: announceNamespace}}
}

// NewAnnouncer makes an Announcer. It writes while Run runs.
func NewAnnouncer(client *Client, opts AnnouncerOptions) *Announcer {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Announcer{client: client, opts: opts, queue: make(chan engine.Announcement, mostAnnounced)}
}

// Announce has an Event written. It does not wait.
func (a *Announcer) Announce(what engine.Announcement) {
	select {
	case a.queue <- what:
	default:
		a.opts.Log.Warn("an Event is left out: too many wait", "operation", what.Title)
	}
}

// Run writes Events until ctx is done, and then those that wait.
func (a *Announcer) Run(ctx context.Context) {
	for {
		select {
		case what := <-a.queue:
			a.write(ctx, what)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastEvents)
			defer cancel()
			for len(a.queue) > 0 && last.Err() == nil {
				a.write(last, <-a.queue)
			}
			return
		}
	}
}

func (a *Announcer) write(ctx context.Context, what engine.Announcement) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := a.client.resource(gvrEvents, announceNamespace).Create(ctx, eventOf(what), metav1.CreateOptions{FieldManager: fieldManager})
	if err == nil {
		return
	}
	e := Describe(err, "write an Event about "+what.On.String())
	a.opts.Log.Warn("an Event was not written", "about", what.On.String(), "err", e)
	if a.opts.Trouble == nil {
		return
	}
	a.once.Do(func() {
		text := "Events are not written: " + e.Error()
		if e.Kind == core.ErrForbidden {
			text = "Events are not written: the login has no right to (deploy/rbac-events.yaml); all else works"
		}
		a.opts.Trouble(text)
	})
}

// announced are the kinds that have Events, with the version of their API. They are in no namespace.
var announced = map[core.Kind]string{core.KindNode: "v1", core.KindClusterWorkloadLock: "lcm.mirantis.com/v1alpha1",
	core.KindNodeWorkloadLock: "lcm.mirantis.com/v1alpha1", core.KindClusterMaintenanceRequest: "lcm.mirantis.com/v1alpha1",
	core.KindNodeMaintenanceRequest: "lcm.mirantis.com/v1alpha1"}

// Announces tells whether an object of the kind has Events of an Announcer.
func Announces(kind core.Kind) bool { return announced[kind] != "" }

// reasons are what an Event says of how an operation ended, and whether it is a warning.
var reasons = map[core.OperationState]struct{ reason, kind string }{
	core.OperationDone: {"LockstepDone", "Normal"}, core.OperationFailed: {"LockstepFailed", "Warning"},
	core.OperationUnknown: {"LockstepUnknown", "Warning"},
}

func eventOf(what engine.Announcement) *unstructured.Unstructured {
	r, ok := reasons[what.State]
	if !ok {
		r.reason, r.kind = "LockstepEnded", "Normal"
	}
	text := what.By + ": " + what.Title
	if what.Text != "" {
		text += ": " + what.Text
	}
	text = core.Redact(strings.Join(strings.Fields(text), " "))
	if len(text) > mostEventText {
		text = strings.ToValidUTF8(text[:mostEventText], "") + "…"
	}
	at := what.Ended.UTC().Format(time.RFC3339)
	name := what.On.Name
	if len(name) > 200 {
		name = name[:200]
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{"namespace": announceNamespace,
			"name": fmt.Sprintf("%s.%x", strings.TrimRight(name, ".-"), time.Now().UnixNano())},
		"involvedObject": map[string]any{"apiVersion": announced[what.On.Kind], "kind": string(what.On.Kind), "name": what.On.Name,
			"uid": what.On.UID},
		"type": r.kind, "reason": r.reason, "message": text, "count": int64(1), "firstTimestamp": at, "lastTimestamp": at,
		"source": map[string]any{"component": "lockstep"}, "reportingComponent": "lockstep", "reportingInstance": "",
	}}
}
