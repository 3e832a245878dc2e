package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core/engine"
	"lockstep/e2e/cluster"
	"lockstep/sim/openstack"
)

// administrator is the session of another administrator with Nova.
func (w *world) administrator(t *testing.T) *gophercloud.ServiceClient {
	t.Helper()
	session, err := w.sim.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session.Compute
}

// openOn opens the dialog of an action by its title, on the row that the name finds in the pane.
func (p *program) openOn(pane, name, title string) {
	p.t.Helper()
	p.Find(pane, name)
	p.Press(":")
	p.Wants(" Find ")
	p.Type(title)
	p.WantsRow("▌", cut(title, 40))
	p.Press("enter")
	p.WantsGone(" Find ")
}

// chooseManual opens the dialog that sets the mode manual on a node without a migration mode.
func (p *program) chooseManual(machine string) {
	p.t.Helper()
	p.Find("3", machine)
	p.Press("e")
	p.Wants("Migration mode of " + machine)
	p.Press("up", "up")
	p.WantsRow("▌ manual")
	p.Press("enter")
}

// What changes while its dialog is open cannot be confirmed unread: the dialog says what has changed.
func TestWhatChangesUnderAnOpenDialogIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{})
	p.WantsRow("cmp-01", "waiting for you")
	p.Wants("web-1")
	p.Arm()

	// An instance. The program asks Nova every half minute while nothing moves.
	p.openOn("4", "web-1", "Live-migrate the instance")
	p.Wants("Ready.")
	if err := servers.Stop(t.Context(), w.administrator(t), w.instance(t, "web-1").ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	p.Wants("Changed since you opened it.", "status: ACTIVE → SHUTOFF", "Not yet: ")
	p.Press("tab", "enter") // this reads it again, and confirms nothing
	p.Wants("Not yet: ")
	p.Press("esc")

	// An annotation.
	p.chooseManual("cmp-03")
	p.Wants("Ready.", "dry-run on the server: accepted")
	w.annotate(t, w.node(t, "cmp-03"), modeAnnotation, "skip")
	p.Wants("Changed since you opened it.", "instance_migration_mode: (not set) → skip", "[ Cancel ]")
	p.Press("esc")

	// A lock.
	p.openOn("3", "cmp-01", "Declare the node safe")
	p.Wants("Not yet: ")
	lock := "openstack-" + w.node(t, "cmp-01")
	_, err := as(t, w.Cluster, cluster.Admin).Resource(nodeLocks).Patch(t.Context(), lock, types.MergePatchType,
		[]byte(`{"status":{"state":"inactive"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	p.Wants("Changed since you opened it.", "lock: active", "→ inactive")
	p.Press("esc")

	for _, r := range w.written(t) {
		if !r.DryRun {
			t.Errorf("Kubernetes received %v", r)
		}
	}
	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
}

// What the screen cannot know yet, the engine itself asks right before it writes.
func TestAGrantOnWhatIsNoLongerSoIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{})
	p.WantsRow("cmp-01", "waiting for you")
	p.Wants("web-1")
	p.Arm()
	p.openOn("4", "web-1", "Live-migrate the instance")
	p.Wants("Ready.")

	// The engine's question is on its way while the instance is stopped.
	nova, id, asked := w.administrator(t), w.instance(t, "web-1").ID, make(chan struct{}, 1)
	answer := w.sim.OpenStack.SetFault(openstack.Fault{Method: http.MethodGet, Path: regexp.MustCompile(`/servers/` + id + `$`),
		User: operatorInNova, Hang: true, Match: func(*http.Request) bool {
			select {
			case asked <- struct{}{}:
			default:
			}
			return true
		}})
	p.Confirm()
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatalf("the engine does not ask:\n%s", p.Screen())
	}
	if err := servers.Stop(t.Context(), nova, id).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	w.sim.Clock.Advance(10 * time.Second) // a guest needs some of them
	await(t, "web-1 is stopped", func() bool { return w.instance(t, "web-1").Status == "SHUTOFF" })
	answer()
	p.Press("6")
	p.Wants("web-1 is SHUTOFF now, not ACTIVE")

	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
	refused := false
	for _, r := range p.Records() {
		refused = refused || r.Kind == engine.RecordRefused && strings.Contains(r.Error, "web-1 is SHUTOFF now, not ACTIVE")
		if r.Kind == engine.RecordBefore {
			t.Errorf("the journal has a record of a write: %+v", r)
		}
	}
	if !refused {
		t.Error("the journal does not say that the step was refused, and why")
	}
}
