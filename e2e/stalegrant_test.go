package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/e2e/cluster"
	"lockstep/sim"
	"lockstep/sim/controller"
	"lockstep/sim/openstack"
)

// administrator is another administrator's session with Nova.
func (w *world) administrator(t *testing.T) *gophercloud.ServiceClient {
	t.Helper()
	session, err := controller.Connect(t.Context(), w.sim.CloudsYAMLPath, sim.CloudName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session.Compute
}

// find goes to the only row of a pane that has the text.
func (p *program) find(pane, text string) {
	p.t.Helper()
	p.press(pane, "/", "esc", "/") // esc clears an earlier filter
	p.Type(text)
	p.press("enter")
	p.wantsRow("▌", text)
}

// openOn opens the dialog of an action by its title, on the row that the name finds in the pane.
func (p *program) openOn(pane, name, title string) {
	p.t.Helper()
	p.find(pane, name)
	p.press(":")
	p.wants(" Find ")
	p.Type(title)
	p.wantsRow("▌", cut(title, 40))
	p.press("enter")
	p.wantsGone(" Find ")
}

// What changes while its dialog is open cannot be confirmed unread: the dialog says what has changed.
func TestWhatChangesUnderAnOpenDialogIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{})
	p.wantsRow("cmp-01", "waiting for you")
	p.wants("web-1")
	p.arm()

	// An instance. Nova is asked every half minute while nothing moves.
	p.openOn("4", "web-1", "Live-migrate the instance")
	p.wants("Ready.")
	if err := servers.Stop(t.Context(), w.administrator(t), w.instance(t, "web-1").ID).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	p.wants("Changed since you opened it.", "status: ACTIVE → SHUTOFF", "Not yet: ")
	p.press("tab", "enter") // this reads it again, and confirms nothing
	p.wants("Not yet: ")
	p.press("esc")

	// An annotation.
	p.find("3", "cmp-03")
	p.press("e")
	p.wants("Migration mode of cmp-03")
	p.press("up", "up")
	p.wantsRow("▌ manual")
	p.press("enter")
	p.wants("Ready.", "dry-run on the server: accepted")
	w.annotate(t, w.node(t, "cmp-03"), modeAnnotation, "skip")
	p.wants("Changed since you opened it.", "instance_migration_mode: (not set) → skip", "[ Cancel ]")
	p.press("esc")

	// A lock.
	p.openOn("3", "cmp-01", "Declare the node safe")
	p.wants("Not yet: ")
	lock := "openstack-" + w.node(t, "cmp-01")
	_, err := as(t, w.Cluster, cluster.Admin).Resource(nodeLocks).Patch(t.Context(), lock, types.MergePatchType,
		[]byte(`{"status":{"state":"inactive"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	p.wants("Changed since you opened it.", "lock: active", "→ inactive")
	p.press("esc")

	for _, r := range w.written(t) {
		if !r.DryRun {
			t.Errorf("Kubernetes received %v", r)
		}
	}
	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
}

// What the screen cannot know yet, the executor asks for itself, right before it writes.
func TestAGrantOnWhatIsNoLongerSoIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{})
	p.wantsRow("cmp-01", "waiting for you")
	p.wants("web-1")
	p.arm()
	p.openOn("4", "web-1", "Live-migrate the instance")
	p.wants("Ready.")

	// From now on the operator's lists do not arrive; they are fresh for some time yet.
	w.sim.OpenStack.SetFault(openstack.Fault{Method: http.MethodGet, Path: regexp.MustCompile(`/servers/detail$`), User: operatorInNova, Hang: true})
	id := w.instance(t, "web-1").ID
	if err := servers.Stop(t.Context(), w.administrator(t), id).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	await(t, "web-1 is stopped", func() bool { return w.instance(t, "web-1").Status == "SHUTOFF" })
	p.confirm()
	p.press("6")
	p.wants("web-1 is SHUTOFF now, not ACTIVE")

	for _, r := range w.done() {
		t.Errorf("Nova received %s %s %s", r.Method, r.Path, r.Body)
	}
	refused := false
	for _, r := range p.records() {
		refused = refused || r.Kind == core.RecordRefused && strings.Contains(r.Error, "web-1 is SHUTOFF now, not ACTIVE")
		if r.Kind == core.RecordBefore {
			t.Errorf("the journal has a record of a write: %+v", r)
		}
	}
	if !refused {
		t.Error("the journal does not say that the step was refused, and why")
	}
}
