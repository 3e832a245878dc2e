package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core/engine"
	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
	"lockstep/e2e/terminal"
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// leaseHolder is the holder of the operator lease; empty when nobody holds it.
func (w *world) leaseHolder(t *testing.T) string {
	t.Helper()
	lease, err := as(t, w.Cluster, cluster.Admin).Resource(leases).Namespace("default").Get(t.Context(), "lockstep-operator",
		metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the operator lease: %v", err)
	}
	holder, _, err := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	if err != nil {
		t.Fatal(err)
	}
	return holder
}

// leftInGoodOrder fails the test unless the journal ends with the program leaving, writing was disarmed before, and nothing was written
// after that. What only tells of the update, such as a forecast, may come in between.
func (p *program) leftInGoodOrder() {
	p.t.Helper()
	var kinds []engine.RecordKind
	for _, r := range p.Records() {
		kinds = append(kinds, r.Kind)
	}
	writing := []engine.RecordKind{engine.RecordArm, engine.RecordDisarm, engine.RecordGrant, engine.RecordBefore, engine.RecordAfter,
		engine.RecordVerified, engine.RecordEnded, engine.RecordControl, engine.RecordStop}
	end := slices.DeleteFunc(slices.Clone(kinds), func(k engine.RecordKind) bool { return !slices.Contains(writing, k) })
	left := []engine.RecordKind{engine.RecordDisarm, engine.RecordStop}
	if end = end[max(0, len(end)-2):]; !slices.Equal(end, left) || kinds[len(kinds)-1] != engine.RecordStop {
		p.t.Errorf("the journal ends with %q", kinds[max(0, len(kinds)-6):])
	}
}

// However the program ends, it gives the lease back and writes the journal's last line. If the terminal still exists, the program
// leaves it as it was.
func TestLeavingInGoodOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	signal := func(s syscall.Signal) func(*program) error {
		return func(p *program) error { return p.Signal(s) }
	}
	tests := []struct {
		name     string
		leave    func(*program) error
		terminal bool // there is still a terminal
	}{
		{"q", func(p *program) error { p.Press("q"); return nil }, true},
		{"ctrl+c", func(p *program) error { p.Press("ctrl+c"); return nil }, true},
		{"SIGTERM", signal(syscall.SIGTERM), true},
		{"SIGHUP", signal(syscall.SIGHUP), true},
		{"the session is lost", (*program).HangUp, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := w.launch(t, start{})
			p.WantsRow("cmp-01", "waiting for you")
			p.Arm()
			if w.leaseHolder(t) == "" {
				t.Fatal("it is armed without the lease")
			}
			if err := test.leave(p); err != nil {
				t.Fatal(err)
			}
			code := p.ExitCode()
			if holder := w.leaseHolder(t); holder != "" {
				t.Errorf("the lease is still held by %s", holder)
			}
			p.leftInGoodOrder()
			if !test.terminal {
				return
			}
			if code != 0 {
				t.Errorf("the exit code is %d", code)
			}
			if s := p.Screen(); s.AltScreen || s.CursorHidden || s.Keyboards != 0 || slices.Contains(s.Modes, 2004) ||
				slices.Contains(s.Modes, 1004) {
				t.Errorf("the terminal is left with alternate screen %v, cursor hidden %v, keyboards %d, modes %v", s.AltScreen, s.CursorHidden,
					s.Keyboards, s.Modes)
			}
		})
	}
}

// One of two operators can write. The other one sees who it is, and can take over after typing the confirmation; then the first
// can no longer write.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	anna := w.launch(t, start{})
	anna.WantsRow("cmp-01", "waiting for you")
	anna.Arm()
	holder, _, _ := strings.Cut(w.leaseHolder(t), "/") // user@host

	bert := w.launch(t, start{})
	bert.WantsRow("cmp-01", "waiting for you")
	bert.Wants(holder+" holds the lease", "READ-ONLY")
	bert.Press("w")
	bert.Wants("Switch writing on?", holder+" holds the lease.", "[ Cancel ]")
	bert.Press("tab", "tab", "enter") // nothing is taken over without the typed words
	bert.Wants("Switch writing on?")
	bert.Press("esc")
	bert.TakeOver()

	anna.Wants("Writing was switched off", "READ-ONLY")
	anna.PressTaken("esc", terminal.Hides("Writing was switched off"))
	taken := false
	for _, r := range bert.Records() {
		taken = taken || r.Kind == engine.RecordArm && r.State == "armed" && r.Exact
	}
	if !taken {
		t.Error("the journal does not say that the lease was taken over")
	}
	anna.Press("q")
	anna.ExitCode()
	if w.leaseHolder(t) == "" {
		t.Error("the first operator has given back what the second holds")
	}
}

// Killed in the middle of a migration and started again, the program shows how the migration goes and proposes what comes next:
// the cluster and Nova know all of it.
func TestKilledInTheMiddleOfAMigration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *scenario.Scenario, _ *controller.Timing) { neverConverges(s, "web-1") })
	p := w.launch(t, start{})
	p.WantsRow("cmp-01", "waiting for you")
	p.Arm()
	p.Find("3", "cmp-01")
	p.Press("enter")
	p.OpenStep("live-migrate web-1")
	p.Confirm()
	p.WantsRow("running", "live-migrate web-1")
	await(t, "web-1 is on its way", func() bool { return w.instance(t, "web-1").Status == "MIGRATING" })
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.ExitCode(); code != -1 {
		t.Fatalf("the exit code is %d", code)
	}

	again := w.launch(t, start{state: p.State})
	again.WantsRow("cmp-01", "waiting for you")
	again.Wants("READ-ONLY") // writing has to be armed again
	again.Find("3", "cmp-01")
	again.Press("enter")
	again.Wants("Take cmp-01 through its maintenance")
	// The migration goes on without the program, and the new run follows it to its end.
	again.WantsRow("migrat", "web-1", " %, to cmp-0")
	w.forceComplete(t, "web-1")
	again.Want(t, terminal.Hides(" %, to cmp-0"))
	if host := w.instance(t, "web-1").Host; host == w.node(t, "cmp-01") {
		t.Error("web-1 is not shown to move any more, and is still on cmp-01")
	}
	again.TakeOver() // the killed run never gave its lease back
	again.WantsRow("ready", "live-migrate db-2")
	again.OpenStep("live-migrate batch-17", "cold-migrate batch-17", "stop batch-17")
	again.ConfirmTyped("batch-17")
	await(t, "batch-17 is stopped", func() bool { return w.instance(t, "batch-17").Status == "SHUTOFF" })
	w.sawTheseActions(t, "web-1 os-migrateLive", "batch-17 os-stop")
}

// When the API server is away, the last state stays on the screen with its age, writing is switched off as the lease cannot be renewed,
// and nothing can be written until the server answers again.
func TestAnOutageKeepsTheLastStateAndBlocksWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := w.launch(t, start{})
	p.WantsRow("cmp-01", "waiting for you")
	p.Arm()
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Want(t, terminal.All(operator.Row("─ 3 Nodes", " old"), operator.Row("cmp-01", "waiting for you"), terminal.Hides("● kubernetes")))
	// Without its server, the lease is lost some time later. Until then the dialog about it could come between any two keys.
	p.Wants("Writing was switched off", "could not be renewed in time")
	p.PressTaken("esc", terminal.Hides("Writing was switched off"))
	p.chooseManual("cmp-03")
	p.Wants("Not yet: ", "○ what is known is fresh")
	p.Press("tab", "enter")
	p.Wants("Not yet: ")
	p.Press("esc")

	if err := w.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Want(t, terminal.All(terminal.Shows("● kubernetes"), operator.Row("cmp-03", "idle")))
	if got := w.written(t); len(got) > 0 {
		t.Errorf("Kubernetes received %v", got)
	}
	if code := p.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}
