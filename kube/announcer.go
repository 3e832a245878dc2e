package kube

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
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
	told   map[*Client]bool // trouble with it is told once; only Run touches it
}

// AnnouncerOptions say how an Announcer works.
type AnnouncerOptions struct {
	Management *Client // of the management cluster, whose objects have their Events there; nil: none is connected
	Log        *slog.Logger
	Trouble    func(string) // told once for each cluster why Events are not written; it must not wait; may be nil
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

// ManagementAnnouncePermissions are the same on the management cluster, in the cluster's project (deploy/rbac-management-events.yaml).
func ManagementAnnouncePermissions(project string) []Permission {
	return []Permission{{Verb: "create", Resource: gvrEvents.Resource, Namespace: project}}
}

// NewAnnouncer makes an Announcer. It writes while Run runs.
func NewAnnouncer(client *Client, opts AnnouncerOptions) *Announcer {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Announcer{client: client, opts: opts, queue: make(chan engine.Announcement, mostAnnounced),
		told: map[*Client]bool{}}
}

// Announce has an Event written. It does not wait.
func (a *Announcer) Announce(what engine.Announcement) {
	select {
	case a.queue <- what:
	default:
		a.opts.Log.Warn("an Event is left out: too many wait", "operation", what.Title)
	}
}

// Run writes Events until ctx is done. The one being written then, and those that wait, have lastEvents more.
func (a *Announcer) Run(ctx context.Context) {
	writing, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	context.AfterFunc(ctx, func() {
		select {
		case <-time.After(lastEvents):
			giveUp()
		case <-writing.Done():
		}
	})
	for {
		select {
		case what := <-a.queue:
			a.write(writing, what)
		case <-ctx.Done():
			for len(a.queue) > 0 && writing.Err() == nil {
				a.write(writing, <-a.queue)
			}
			return
		}
	}
}

func (a *Announcer) write(ctx context.Context, what engine.Announcement) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	event, client, manifest := eventOf(what), a.client, "deploy/rbac-events.yaml"
	if announced[what.On.Kind].management {
		client, manifest = a.opts.Management, "deploy/rbac-management-events.yaml"
	}
	_, err := client.resource(gvrEvents, event.GetNamespace()).Create(ctx, event, metav1.CreateOptions{FieldManager: fieldManager})
	if err == nil {
		return
	}
	e := Describe(err, "write an Event about "+what.On.String())
	a.opts.Log.Warn("an Event was not written", "about", what.On.String(), "err", e)
	if a.opts.Trouble == nil || a.told[client] {
		return
	}
	a.told[client] = true
	text := "Events are not written: " + e.Error()
	if e.Kind == core.ErrForbidden {
		text = "Events are not written: the login has no right to (" + manifest + "); all else works"
	}
	a.opts.Trouble(text)
}

// announced are the kinds that have Events. Those of the MOSK cluster are in no namespace; those of the management cluster are in the
// cluster's project, and so are their Events.
var announced = map[core.Kind]struct {
	version    string // of their API
	management bool
}{
	core.KindNode: {"v1", false}, core.KindClusterWorkloadLock: {"lcm.mirantis.com/v1alpha1", false},
	core.KindNodeWorkloadLock:          {"lcm.mirantis.com/v1alpha1", false},
	core.KindClusterMaintenanceRequest: {"lcm.mirantis.com/v1alpha1", false},
	core.KindNodeMaintenanceRequest:    {"lcm.mirantis.com/v1alpha1", false},
	core.KindCluster:                   {gvrClusters.GroupVersion().String(), true},
	core.KindMachine:                   {gvrMachines.GroupVersion().String(), true},
	core.KindUpdatePlan:                {gvrUpdatePlans.GroupVersion().String(), true},
	core.KindUpdateGroup:               {gvrUpdateGroups.GroupVersion().String(), true},
	core.KindAutoPause:                 {gvrAutoPauses.GroupVersion().String(), true},
	core.KindRebootRequest:             {gvrReboots.GroupVersion().String(), true},
}

// On tells whether an Event can be made on the object. One of the management cluster has a namespace; the Cluster without one is the MOSK
// cluster as a whole, which is no object.
func (a *Announcer) On(object core.Ref) bool {
	of := announced[object.Kind]
	return of.version != "" && object.UID != "" && (!of.management || a.opts.Management != nil && object.Namespace != "")
}

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
	namespace := announceNamespace
	if announced[what.On.Kind].management {
		namespace = what.On.Namespace
	}
	at := what.Ended.UTC().Format(time.RFC3339)
	name := what.On.Name
	if len(name) > 200 {
		name = name[:200]
	}
	involved := map[string]any{"apiVersion": announced[what.On.Kind].version, "kind": string(what.On.Kind), "name": what.On.Name,
		"uid": what.On.UID}
	if what.On.Namespace != "" {
		involved["namespace"] = what.On.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{"namespace": namespace,
			"name": fmt.Sprintf("%s.%x", strings.TrimRight(name, ".-"), time.Now().UnixNano())},
		"involvedObject": involved,
		"type":           r.kind, "reason": r.reason, "message": text, "count": int64(1), "firstTimestamp": at, "lastTimestamp": at,
		"source": map[string]any{"component": "lockstep"}, "reportingComponent": "lockstep", "reportingInstance": "",
	}}
}
