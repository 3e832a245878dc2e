package e2e

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/e2e/cluster"
	"lockstep/sim/controller"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// The complete main job: one node goes through by itself. The next one waits for the operator, who moves its instances by hand,
// declares it safe, sees it return, and restores its migration mode.
func TestManualNode(t *testing.T) {
	t.Parallel()
	w := newWorldHoldingReboots(t, func(s *scenario.Scenario, _ *controller.Timing) {
		for i := range s.Nodes {
			if s.Nodes[i].Machine == "cmp-02" {
				s.Nodes[i].Done = 0
			}
		}
		neverConverges(s, "web-1")
	})
	p := w.launch(t, start{})
	node := w.node(t, "cmp-01")

	// The first node needs nobody.
	p.Wants("● kubernetes", "● openstack")
	p.WantsRow("cmp-02", "rebooting")
	w.comeBack(t)
	p.WantsRow("cmp-02", "done")

	// The second node waits, and the screen says what the operator has to do.
	p.WantsRow("cmp-01", "manual mode: 3 instances")
	p.WantsRow("cmp-01", "waiting for you", "manual")
	p.Press("1", "g") // the most urgent entry
	p.WantsRow("▌", "cmp-01", "manual mode: 3 instances")
	p.Press("enter") // its page: its age, its evidence, the ways on
	p.Wants("Ways on", "openstack server list --all-projects")
	p.Press("enter")
	p.Wants("Take cmp-01 through its maintenance")
	p.WantsRow("blocked", "declare cmp-01 safe", "no running instance")
	p.Arm()

	// It cannot be declared safe too early.
	p.OpenStep("declare cmp-01 safe")
	p.Wants("no running instance is left on the host", "3 left: ", "Not yet: 1 condition does not hold.", "kubectl annotate node "+node)
	p.Press("tab", "enter")
	p.Wants("Not yet: 1 condition does not hold.")
	p.Press("esc")

	// One instance moves at the first try.
	p.OpenStep("live-migrate web-1")
	p.Wants("openstack --os-compute-api-version 2.30 server migrate --live-migration", "web-1, uid ")
	p.Confirm()
	p.WantsRow("running", "live-migrate web-1", " %, to cmp-0")
	p.WantsRow("blocked", "declare cmp-01 safe", "nothing else is being done there")
	w.forceComplete(t, "web-1")
	p.WantsGone("live-migrate web-1")

	// Another fails: Nova's own message stays until the instance is moved in another way.
	p.OpenStep("live-migrate db-2")
	p.Confirm()
	p.WantsRow("failed", "live-migrate db-2", "the migration failed")
	p.Wants("migration of disk vda failed: Input/output")
	p.Press("esc")
	p.Wants("Ways on")
	p.Press("esc")
	p.WantsRow("db-2", "the migration failed: Live Migration failure: ", "x: acknowledge")
	p.Press("3", "enter")
	p.OpenStep("live-migrate db-2", "cold-migrate db-2")
	p.ConfirmTyped("db-2")
	p.WantsRow("ready", "confirm the migration of db-2")
	p.OpenStep("confirm the migration of db-2")
	p.Confirm()
	p.WantsGone("confirm the migration of db-2")

	// The owner of the third one has to be told, and agrees that it is stopped. Once the host is empty, the OpenStack controller
	// releases its lock at its next look, whatever the mode: the fault keeps it from looking before the operator has declared the
	// node safe.
	look := w.sim.OpenStack.SetFault(openstack.Fault{
		Method: http.MethodGet, Path: regexp.MustCompile(`/servers/detail$`), User: controllersInNova, Hang: true,
	})
	p.OpenStep("live-migrate batch-17", "cold-migrate batch-17", "stop batch-17")
	p.Wants("Its owner asked")
	p.ConfirmTyped("batch-17")
	p.WantsRow("done", "no running instance is left", "safe: ")

	// Now the node is safe. The lock is released, and LCM goes on.
	p.WantsRow("ready", "declare cmp-01 safe")
	p.OpenStep("declare cmp-01 safe")
	p.ConfirmTyped("cmp-01")
	await(t, "cmp-01 is declared safe", func() bool { return w.get(t, nodes, node).GetAnnotations()[modeAnnotation] == "skip" })
	look()
	p.WantsRow("done", "the OpenStack controller releases its lock")
	p.Press("esc")
	p.WantsRow("cmp-01", "rebooting")
	w.comeBack(t)
	p.WantsRow("cmp-01", "done", "skip")

	// Lockstep offers to undo what it changed.
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.OpenStep("give cmp-01 its migration mode back")
	p.Confirm()
	p.Press("esc")
	p.WantsRow("cmp-01", "done", "manual")
	await(t, "LCM goes on with the next node", func() bool {
		request, err := as(t, w.Cluster, cluster.Admin).Resource(lcm("nodemaintenancerequests")).Get(t.Context(), w.node(t, "cmp-03"),
			metav1.GetOptions{})
		return err == nil && request.GetName() != ""
	})
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	w.sawOnlyTheModeChange(t, node)
	w.sawTheseActions(t, "web-1 os-migrateLive", "db-2 os-migrateLive", "db-2 migrate", "db-2 confirmResize", "batch-17 os-stop")
	p.wroteItAllDown(t)
	p.KeepsNoSecret(append(w.secrets, w.Config(cluster.Operator).BearerToken))
}

// lockText is what the OpenStack controller says about the node, with the time at which it said so.
func (w *world) lockText(t *testing.T, node string) string {
	t.Helper()
	text, _, err := unstructured.NestedString(w.get(t, nodeLocks, "openstack-"+node).Object, "status", "errorMessage")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// jsonPatch is the body of a JSON patch.
type jsonPatch []struct {
	Op, Path string
	Value    any
}

// sawOnlyTheModeChange fails the test unless the API server received exactly this from the operator: the lease, and the node's
// mode from manual to skip and back, each write after a dry-run and bound to the node and the value that were shown.
func (w *world) sawOnlyTheModeChange(t *testing.T, node string) {
	t.Helper()
	uid := string(w.get(t, nodes, node).GetUID())
	const path = "/metadata/annotations/openstack.lcm.mirantis.com~1instance_migration_mode"
	change := func(old, new string) jsonPatch {
		return jsonPatch{{"test", "/metadata/uid", uid}, {"test", path, old}, {"replace", path, new}}
	}
	var done []jsonPatch
	var tried jsonPatch
	for _, r := range w.written(t) {
		if r.Verb != "patch" || r.Resource != "nodes" || r.Subresource != "" || r.Name != node || r.Code != http.StatusOK {
			t.Errorf("Kubernetes received %v", r)
			continue
		}
		if !strings.Contains(r.URI, "fieldManager=lockstep") {
			t.Errorf("a write names no field manager: %s", r.URI)
		}
		patch := decoded[jsonPatch](t, r.Body)
		if r.DryRun {
			tried = patch
			continue
		}
		if !slices.Equal(patch, tried) {
			t.Errorf("it was not tried first: %v", r)
		}
		done, tried = append(done, patch), nil
	}
	if want := []jsonPatch{change("manual", "skip"), change("skip", "manual")}; !reflect.DeepEqual(done, want) {
		t.Errorf("Kubernetes received %v, want %v", done, want)
	}

	all, err := w.Writes(cluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Resource == "leases" && (r.Namespace != "default" || r.Verb != "create" && r.Name != "lockstep-operator" ||
			r.Code >= http.StatusBadRequest) {
			t.Errorf("Kubernetes received %v", r)
		}
	}
}

// sawTheseActions fails the test unless Nova received exactly these actions from the operator, as "instance action", in this
// order.
func (w *world) sawTheseActions(t *testing.T, want ...string) {
	t.Helper()
	names := map[string]string{}
	for _, n := range w.sim.Scenario.Nodes {
		for _, s := range w.sim.OpenStack.ServersOn(n.Name) {
			names[s.ID] = s.Name
		}
	}
	var got []string
	for _, r := range w.done() {
		id, found := strings.CutSuffix(strings.TrimPrefix(r.Path, "/compute/v2.1/servers/"), "/action")
		if !found || r.Method != http.MethodPost || r.Status >= http.StatusBadRequest {
			t.Errorf("Nova received %s %s %s and answered %d", r.Method, r.Path, r.Body, r.Status)
			continue
		}
		for action, argument := range decoded[map[string]any](t, []byte(r.Body)) {
			got = append(got, names[id]+" "+action)
			if action == "os-migrateLive" && !reflect.DeepEqual(argument, map[string]any{"host": nil, "block_migration": "auto"}) {
				t.Errorf("a live migration was asked for with %v", argument)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Nova received %q, want %q", got, want)
	}
}

// wroteItAllDown fails the test unless the journal has the story of TestManualNode.
func (p *program) wroteItAllDown(t *testing.T) {
	t.Helper()
	records := p.Records()
	if len(records) == 0 {
		t.Fatal("there is no journal")
	}
	if first, last := records[0], records[len(records)-1]; first.Kind != engine.RecordStart || last.Kind != engine.RecordStop {
		t.Errorf("the journal begins with %s and ends with %s", first.Kind, last.Kind)
	}
	kinds := map[string][]engine.RecordKind{} // by operation
	results := map[string]engine.Record{}     // by title and try
	for _, r := range records {
		if r.Operation == "" {
			continue
		}
		kinds[r.Operation] = append(kinds[r.Operation], r.Kind)
		if r.By == "" || r.Wall.IsZero() {
			t.Errorf("a record does not say who and when: %+v", r)
		}
		if r.Kind == engine.RecordVerified {
			results[r.Title] = r
		}
	}
	for id, got := range kinds {
		if want := []engine.RecordKind{engine.RecordGrant, engine.RecordBefore, engine.RecordAfter, engine.RecordVerified,
			engine.RecordEnded}; !slices.Equal(got, want) {
			t.Errorf("operation %s has the records %q, want %q", id, got, want)
		}
	}
	for title, state := range map[string]core.OperationState{
		"live-migrate web-1":                  core.OperationDone,
		"live-migrate db-2":                   core.OperationFailed,
		"cold-migrate db-2":                   core.OperationDone,
		"confirm the migration of db-2":       core.OperationDone,
		"stop batch-17":                       core.OperationDone,
		"declare cmp-01 safe":                 core.OperationDone,
		"give cmp-01 its migration mode back": core.OperationDone,
	} {
		if got := results[title]; got.State != string(state) {
			t.Errorf("%s was verified as %q (%s), want %q", title, got.State, got.Error, state)
		}
	}
	if text := results["live-migrate db-2"].Error; !strings.Contains(text, "migration of disk vda failed: Input/output error") {
		t.Errorf("the journal does not have Nova's words: %q", text)
	}
	if change := results["declare cmp-01 safe"].Change; change == nil || change.Old == nil || *change.Old != "manual" {
		t.Errorf("the journal does not know what the mode was: %+v", change)
	}
}
