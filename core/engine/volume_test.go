package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// The played OpenStack controller's flow with volumes on a host's own disks, restarted before each step: nova-compute first, then
// the back end that the controller reaches; on the way back the other way round (docs/mosk.md#services).
func TestTheFlowOfANodeWithVolumesOfItsOwn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), atRest()
		clear(cloud.instances)
		cloud.volumeService("cmp-1@nvme").Behind = true
		cloud.volumeService("cmp-1@lvm")
		scene.OutOf(cloud.volumeService("cmp-1@old"), "a dead disk")
		cloud.volumeService("cmp-2@lvm")
		cloud.volumes["cmp-1@old"].Up = false
		request := &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeDrain}
		run := func(want ...string) {
			t.Helper()
			for _, title := range want {
				b := newBenchWith(t, dir, cloud, scene.PlaysOpenStack())
				b.arm()
				p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
				i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.State == core.StepReady })
				if i < 0 || p.Steps[i].Title != title {
					t.Fatalf("ready is none, or not first %q: %q", title, scene.Outline(p))
				}
				id, err := b.confirm(p.Steps[i].Intent)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationDone {
					t.Fatalf("%s ended as %s: %s", title, op.State, op.Text)
				}
				b.end()
			}
		}
		cloud.requests["cmp-1"] = request
		run("begin to prepare cmp-1", "take nova-compute out of scheduling on cmp-1", "take cinder-volume lvm out of scheduling on cmp-1",
			"release the lock on cmp-1")
		for host, want := range map[string]string{"cmp-1@lvm": core.DisabledReasonMaintenance, "cmp-1@nvme": "", "cmp-1@old": "a dead disk",
			"cmp-2@lvm": ""} {
			if v := cloud.volumes[host]; v.DisabledReason != want || v.Enabled != (want == "") {
				t.Errorf("%s is %s", host, v.Text())
			}
		}
		delete(cloud.requests, "cmp-1")
		run("put cinder-volume lvm back into scheduling on cmp-1", "put nova-compute back into scheduling on cmp-1",
			"take the lock back on cmp-1", "end the work on cmp-1")
		if v := cloud.volumes["cmp-1@old"]; v.Enabled || v.DisabledReason != "a dead disk" {
			t.Errorf("what somebody else disabled is %s", v.Text())
		}
		want := []string{"set-inner openstack-cmp-1=active", "service svc-cmp-1 false", "volume-service cmp-1@lvm false",
			"set-lock openstack-cmp-1=inactive",
			"volume-service cmp-1@lvm true", "service svc-cmp-1 true", "set-lock openstack-cmp-1=active", "set-inner openstack-cmp-1=inactive"}
		if got := cloud.written(); !slices.Equal(got, want) {
			t.Errorf("the servers received\n%q, want\n%q", got, want)
		}
	})
}

// takesVolumes tells whether the scheduler puts volumes on the host. The caller holds the cloud's lock.
func (m *actMachine) takesVolumes(host string) bool {
	for _, v := range m.cloud.volumes {
		if v.Machine() == host && v.Enabled {
			return true
		}
	}
	return false
}

// Cinder itself is asked right before the lock is released: the known facts can be older.
func TestAReleaseAsksCinderItself(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(c *testCloud)
		says   string
	}{
		"enabled meanwhile": {func(c *testCloud) { c.volumes["cmp-1@lvm"].Enabled = true },
			"Cinder still shows on cmp-1: cinder-volume lvm is enabled"},
		"a new back end": {func(c *testCloud) { c.volumeService("cmp-1@nvme") }, "cinder-volume nvme is enabled"},
		"Cinder does not answer": {func(c *testCloud) {
			c.fail["list-volumes"] = &core.APIError{Kind: core.ErrServer, Call: "list volume services", Message: "away", Status: 503}
		}, "away"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				clear(cloud.instances)
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
				cloud.locks["cmp-1"].InnerState = core.InnerActive
				cloud.services["cmp-1"].Enabled, cloud.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
				scene.OutOf(cloud.volumeService("cmp-1@lvm"), core.DisabledReasonMaintenance)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				i := core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"}
				st := step.Plan(b.engine.Snapshot(), i)
				if !st.Doable() {
					t.Fatal(st.Blocker())
				}
				g, err := b.engine.Grant(st, st.Type)
				if err != nil {
					t.Fatal(err)
				}
				cloud.mu.Lock()
				tt.before(cloud)
				cloud.mu.Unlock()
				if _, err := b.engine.Execute(context.Background(), g); err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(g.ID); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the servers received %q", got)
				}
			})
		})
	}
}

// A service that went down after the step was confirmed is not put back into scheduling.
func TestAVolumeServiceThatIsDownByNowStaysOut(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		cloud.locks["cmp-1"].InnerState, cloud.locks["cmp-1"].RawState = core.InnerActive, core.LockInactive
		v := scene.OutOf(cloud.volumeService("cmp-1@lvm"), core.DisabledReasonMaintenance)
		b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
		defer b.end()
		b.arm()
		st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentActVolumeIn, Controller: core.ControllerOpenStack, Node: "cmp-1",
			Object: scene.LvmOf("cmp-1")})
		g, err := b.engine.Grant(st, st.Type)
		if err != nil {
			t.Fatal(err)
		}
		cloud.mu.Lock()
		v.Up = false
		cloud.mu.Unlock()
		if _, err := b.engine.Execute(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(g.ID); op.State != core.OperationFailed || !strings.Contains(op.Text, "cmp-1@lvm is down now") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) > 0 {
			t.Errorf("the servers received %q", got)
		}
	})
}

// A volume service is written to once, while it is still as it was shown; how the write ends is read from Cinder.
func TestWritingToAVolumeService(t *testing.T) {
	disable := core.Intent{Kind: core.IntentDisableVolume, Node: "cmp-1", Object: scene.LvmOf("cmp-1"), Reason: "a dead disk"}
	for name, tt := range map[string]struct {
		meanwhile func(c *testCloud)
		state     core.OperationState
		text      string
		writes    int
	}{
		"done": {func(*testCloud) {}, core.OperationDone, "cinder-volume is disabled: a dead disk", 1},
		"disabled by somebody meanwhile": {func(c *testCloud) { scene.OutOf(c.volumes["cmp-1@lvm"], "mine") }, core.OperationFailed,
			"has changed: disabled: mine", 0},
		"gone meanwhile": {func(c *testCloud) { delete(c.volumes, "cmp-1@lvm") }, core.OperationFailed, "no such service", 0},
		"the answer is lost, and it is done": {func(c *testCloud) { c.lose["volume-service"] = true }, core.OperationDone,
			"disabled: a dead disk", 1},
		"the answer is lost, and it is not": {func(c *testCloud) {
			c.fail["volume-service"] = &core.APIError{Kind: core.ErrTimeout, Call: "disable", Message: "no answer"}
		}, core.OperationFailed, "not done", 1},
		"Cinder refuses": {func(c *testCloud) {
			c.fail["volume-service"] = &core.APIError{Kind: core.ErrForbidden, Call: "disable", Message: "Policy doesn't allow it.", Status: 403}
		}, core.OperationFailed, "Policy doesn't allow it.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				cloud.volumeService("cmp-1@lvm")
				cloud.volumeService("cmp-1@nvme")
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				st := step.Plan(b.engine.Snapshot(), disable)
				g, err := b.engine.Grant(st, st.Type)
				if err != nil {
					t.Fatal(err)
				}
				cloud.mu.Lock()
				tt.meanwhile(cloud)
				cloud.mu.Unlock()
				if _, err := b.engine.Execute(context.Background(), g); err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(g.ID); op.State != tt.state || !strings.Contains(op.Text, tt.text) {
					t.Errorf("it ended as %s: %s; want %s and %q", op.State, op.Text, tt.state, tt.text)
				}
				if got := cloud.written(); len(got) != tt.writes {
					t.Errorf("the cloud received %q", got)
				}
				if v := cloud.volumes["cmp-1@nvme"]; !v.Enabled {
					t.Error("another back end was disabled")
				}
				recorded := slices.ContainsFunc(b.journal(), func(r Record) bool { return r.From == "enabled" && r.To == "disabled: a dead disk" })
				if recorded != (tt.writes > 0) {
					t.Errorf("recorded %v: %+v", recorded, b.journal())
				}
			})
		})
	}
}
