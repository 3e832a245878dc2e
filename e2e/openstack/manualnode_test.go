//go:build openstack

package openstack

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// otherCPU is the driver's text when the target's CPU cannot take a live migration.
const otherCPU = "Unacceptable CPU info: CPU doesn't have compatibility"

// A node in manual mode waits for the operator, who deals with its instances in every way, with the answers of a real Nova: one
// moves at once; one is refused by its target, and moves cold; one breaks off half-way, and moves at the second try; one finds no
// valid host, and is stopped. Then the node is declared safe, and LCM goes on.
func TestManualNode(t *testing.T) {
	t.Parallel()
	c := newPart(t, hosts)
	c.ownZone(t, "manual", hosts)
	node, target, other := hosts[0], hosts[1], hosts[2]
	for _, name := range []string{"shop-1", "sql-2", "cache-3"} {
		c.boot(t, name, node, "m1.tiny")
	}
	c.boot(t, "huge-4", node, "m1.huge", "notify")
	c.boot(t, "huge-5", target, "m1.huge") // leaves neither of the other hosts with room for huge-4
	c.boot(t, "huge-6", other, "m1.huge")
	c.awaitRunning(t, "shop-1", "sql-2", "cache-3", "huge-4", "huge-5", "huge-6")
	w := newWorld(t, c, "manual-node.yaml", timing)
	w.begin()
	o := w.sitDown(t)
	o.WantsRow("cmp-01", "manual mode: 4 instances")
	o.WantsRow("cmp-01", "waiting for you", "manual")
	o.Arm()

	// A host that shall get no instances is taken out of scheduling, with a reason, before anything moves.
	o.Find("3", "cmp-03")
	o.Act("Take the node's nova-compute out")
	o.Wants("Disable nova-compute of cmp-03", "reason:")
	o.Type("disk 3 is failing")
	o.Press("enter")
	o.Wants("openstack compute service set --disable --disable-reason", "disk 3 is failing", other)
	o.Confirm()
	await(t, "Nova has disabled "+other, func() bool {
		s := c.service(t, other)
		return s.Status == "disabled" && s.DisabledReason == "disk 3 is failing"
	})

	o.Find("3", "cmp-01")
	o.Press("enter")
	o.Wants("Take cmp-01 through its maintenance")

	// One moves at the first try, to the only host that is left.
	c.order(t, node, map[string]any{"live_to": 0.1})
	o.OpenStep("live-migrate shop-1")
	o.Confirm()
	o.WantsProgress("live-migrate shop-1", "cmp-02", 1)
	c.order(t, node, map[string]any{"live_to": 0.45})
	o.WantsProgress("live-migrate shop-1", "cmp-02", 40)
	c.order(t, node, nil)
	o.WantsGone("live-migrate shop-1")

	// One is refused by its target. Nova's message stays on the screen until the instance is moved in another way.
	c.order(t, target, map[string]any{"fail_prelive": otherCPU, "only": []string{"sql-2"}})
	o.OpenStep("live-migrate sql-2")
	o.Confirm()
	o.WantsRow("failed", "live-migrate sql-2")
	o.WantsText(otherCPU)
	o.Press("esc")
	o.WantsRow("sql-2", "Unacceptable CPU info", "x: acknowledge")
	o.Find("3", "cmp-01")
	o.Press("enter")
	o.OpenStep("live-migrate sql-2", "cold-migrate sql-2")
	o.ConfirmTyped("sql-2")
	o.WantsRow("ready", "confirm the migration of sql-2")
	o.OpenStep("confirm the migration of sql-2")
	o.Confirm()
	o.WantsGone("confirm the migration of sql-2")
	c.order(t, target, nil)

	// One breaks off half-way.
	const jobFailed = "operation failed: migration job: unexpectedly failed"
	c.order(t, node, map[string]any{"live_to": 0.4, "fail_live": jobFailed})
	o.OpenStep("live-migrate cache-3")
	o.Confirm()
	o.WantsRow("running", "live-migrate cache-3", " %, to cmp-02")
	c.order(t, node, map[string]any{"fail_live": jobFailed})
	o.WantsRow("failed", "live-migrate cache-3")
	c.order(t, node, nil)
	o.OpenStep("live-migrate cache-3")
	o.Confirm()
	o.WantsGone("live-migrate cache-3")

	// One finds no valid host: the screen says so, and offers what helps before another try.
	o.OpenStep("live-migrate huge-4")
	o.Confirm()
	o.WantsRow("waiting", "make room for huge-4", "disabled")
	o.WantsRow("ready", "enable nova-compute of cmp-03")
	o.WantsRow("failed", "live-migrate huge-4") // the chosen way stays on its row until the page is left
	o.Press("esc")
	o.WantsRow("huge-4", "No valid host was found")

	// The broken host is repaired.
	o.Find("3", "cmp-03")
	o.Act("Put the node's nova-compute back")
	o.Wants("openstack compute service set --enable " + other)
	o.Confirm()
	await(t, "Nova has enabled "+other, func() bool { return c.service(t, other).Status == "enabled" })
	o.Find("3", "cmp-01")
	o.Press("enter")

	// Its owner agrees that it is stopped. Once the host is empty, the controller would release its lock by itself, whatever the mode: after
	// one look it does not look again before the operator has declared the node safe.
	said := w.lockText(t, node)
	await(t, "the controller has looked again", func() bool { return w.lockText(t, node) != said })
	w.pause()
	o.OpenStep("stop huge-4")
	o.ConfirmTyped("huge-4")
	o.WantsRow("done", "no running instance is left", "safe: huge-4")
	o.WantsRow("ready", "declare cmp-01 safe")
	o.OpenStep("declare cmp-01 safe")
	o.ConfirmTyped("cmp-01")
	w.begin()
	o.WantsRow("done", "the OpenStack controller releases its lock")
	o.Press("esc")
	o.WantsRow("cmp-01", "done", "skip")

	// Lockstep offers to undo what it changed, and LCM goes on with the next node.
	o.Find("3", "cmp-01")
	o.Press("enter")
	o.OpenStep("give cmp-01 its migration mode back")
	o.Confirm()
	o.Press("esc")
	o.WantsRow("cmp-01", "done", "manual")
	await(t, "LCM goes on with the next node", func() bool {
		_, err := w.admin.Resource(lcm("nodemaintenancerequests")).Get(t.Context(), other, metav1.GetOptions{})
		return err == nil
	})
	if code := o.Leave(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}

	c.says(t, "shop-1", target, "ACTIVE", []string{"live-migration"}, "live-migration "+node+" "+target+" completed")
	c.says(t, "sql-2", target, "ACTIVE", []string{"live-migration failed", "migrate", "confirmResize"},
		"live-migration "+node+" "+target+" failed", "migration "+node+" "+target+" confirmed")
	c.says(t, "cache-3", target, "ACTIVE", []string{"live-migration", "live-migration"}, // Nova's action does not show the failure
		"live-migration "+node+" "+target+" failed", "live-migration "+node+" "+target+" completed")
	c.says(t, "huge-4", node, "SHUTOFF", []string{"live-migration failed", "stop"}, "live-migration "+node+" nowhere error")
	await(t, "the controller has enabled nova-compute of "+node, func() bool { return c.service(t, node).Status == "enabled" })
}

// says fails the test unless Nova reports this of the server: its host and status, what the operator asked for (the oldest
// first), and its migrations.
func (c *cloud) says(t *testing.T, name, host, status string, actions []string, migrations ...string) {
	t.Helper()
	if s := c.server(t, name); s.Host != host || s.Status != status {
		t.Errorf("%s is %s on %s, want %s on %s", name, s.Status, s.Host, status, host)
	}
	if got := c.done(t, name); !slices.Equal(got, actions) {
		t.Errorf("%s: Nova was asked for %q, want %q", name, got, actions)
	}
	if got := c.migrations(t, name); !slices.Equal(got, migrations) {
		t.Errorf("%s: Nova's migrations are %q, want %q", name, got, migrations)
	}
}
