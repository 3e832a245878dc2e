package core

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/sim/bubble"
)

// lvmOf is the volume service of a host's own disks.
func lvmOf(host string) Ref { return (&VolumeService{Host: host + "@lvm"}).Ref() }

// outOf takes a service of the scene out of scheduling.
func (v *VolumeService) outOf(reason string) *VolumeService {
	v.Enabled, v.DisabledReason = false, reason
	return v
}

// anyVolumeService gives cmp-01 a volume service that can be otherwise, or none.
func anyVolumeService(t *rapid.T, sc scene) {
	if rapid.IntRange(0, 4).Draw(t, "no volume service") == 4 {
		return
	}
	v := sc.volumeService("cmp-01@lvm")
	v.Up = rapid.IntRange(0, 3).Draw(t, "volume service down") != 3
	if rapid.Bool().Draw(t, "volume service disabled") {
		v.outOf(rapid.SampledFrom([]string{DisabledReasonMaintenance, "a dead disk", ""}).Draw(t, "why"))
	}
	if rapid.IntRange(0, 9).Draw(t, "volume source") == 9 {
		sc.source(SourceVolumeServices, SourceState(rapid.SampledFrom([]string{"stale", "forbidden", "absent", "failed", "off"}).Draw(t, "volume source state")))
	}
}

// A service runs as the node whose name stands before its back end; those of Ceph run as none.
func TestWhoseVolumeServiceItIs(t *testing.T) {
	sc := healthy()
	for _, host := range []string{"cmp-01@lvm", "cmp-01@nvme", "cmp-02.domain.example@lvm", "gtw-01", "cinder-volume-0@volumes-hdd"} {
		sc.volumeService(host)
	}
	for node, want := range map[string]string{"cmp-01": "cmp-01@lvm cmp-01@nvme", "cmp-02": "cmp-02.domain.example@lvm", "gtw-01": "gtw-01", "cmp-03": "", "ctl-01": ""} {
		var got []string
		for _, v := range sc.VolumeServicesOn(node) {
			got = append(got, v.Host)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", node, got, want)
		}
	}
	for host, want := range map[string][2]string{"cmp-04@lvm#lvm": {"cmp-04", "lvm"}, "cmp-04@lvm": {"cmp-04", "lvm"}, "cmp-04": {"cmp-04", ""}, "cmp-04#pool": {"cmp-04", ""}, "": {"", ""}} {
		if got := [2]string{volumeMachine(host), volumeBackend(host)}; got != want {
			t.Errorf("%q is %q", host, got)
		}
	}
}

// The played OpenStack controller's flow with volumes on a host's own disks, started anew before each step: nova-compute, then
// the back end that the controller reaches; on the way back the other way round (docs/mosk.md#services).
func TestTheFlowOfANodeWithVolumesOfItsOwn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), atRest()
		clear(cloud.instances)
		cloud.volumeService("cmp-1@nvme").Behind = true
		cloud.volumeService("cmp-1@lvm")
		cloud.volumeService("cmp-1@old").outOf("a dead disk")
		cloud.volumeService("cmp-2@lvm")
		cloud.volumes["cmp-1@old"].Up = false
		request := &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeDrain}
		run := func(want ...string) {
			t.Helper()
			for _, title := range want {
				b := newBenchWith(t, dir, cloud, playsOpenStack())
				b.arm()
				p, _ := b.engine.Snapshot().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-1"})
				i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.State == StepReady })
				if i < 0 || p.Steps[i].Title != title {
					t.Fatalf("ready is none, or not first %q: %q", title, outline(p))
				}
				id, err := b.confirm(p.Steps[i].Intent)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != OperationDone {
					t.Fatalf("%s ended as %s: %s", title, op.State, op.Text)
				}
				b.end()
			}
		}
		cloud.requests["cmp-1"] = request
		run("begin to prepare cmp-1", "take nova-compute out of scheduling on cmp-1", "take cinder-volume lvm out of scheduling on cmp-1", "release the lock on cmp-1")
		for host, want := range map[string]string{"cmp-1@lvm": DisabledReasonMaintenance, "cmp-1@nvme": "", "cmp-1@old": "a dead disk", "cmp-2@lvm": ""} {
			if v := cloud.volumes[host]; v.DisabledReason != want || v.Enabled != (want == "") {
				t.Errorf("%s is %s", host, v.text())
			}
		}
		delete(cloud.requests, "cmp-1")
		run("put cinder-volume lvm back into scheduling on cmp-1", "put nova-compute back into scheduling on cmp-1", "take the lock back on cmp-1", "end the work on cmp-1")
		if v := cloud.volumes["cmp-1@old"]; v.Enabled || v.DisabledReason != "a dead disk" {
			t.Errorf("what somebody else disabled is %s", v.text())
		}
		want := []string{"set-inner openstack-cmp-1=active", "service svc-cmp-1 false", "volume-service cmp-1@lvm false", "set-lock openstack-cmp-1=inactive",
			"volume-service cmp-1@lvm true", "service svc-cmp-1 true", "set-lock openstack-cmp-1=active", "set-inner openstack-cmp-1=inactive"}
		if got := cloud.written(); !slices.Equal(got, want) {
			t.Errorf("the servers received\n%q, want\n%q", got, want)
		}
	})
}

// What volume services keep a played controller from, one condition each; and that a cloud without Cinder keeps it from nothing.
func TestAPlayedControllerSeesToVolumes(t *testing.T) {
	begun := func(sc scene) {
		l := sc.maintained("cmp-01", "")
		l.InnerState = InnerActive
		sc.NodeRequest("cmp-01").Scope = ScopeDrain
	}
	back := func(sc scene) {
		l := sc.NodeLock("cmp-01", ControllerOpenStack)
		l.RawState, l.InnerState = LockInactive, InnerActive
		sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
	}
	returned := func(sc scene) {
		back(sc)
		sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
	}
	lvm := func(sc scene) *VolumeService { return sc.volumeService("cmp-01@lvm") }
	for _, tt := range []struct {
		name  string
		given func(sc scene)
		kind  IntentKind
		says  string // empty: it can be done; "nothing": there is nothing to do
	}{
		{"out: nova-compute comes first", func(sc scene) { begun(sc); sc.Services["cmp-01"].Enabled = true; lvm(sc) }, IntentActVolumeOut, "nova-compute is out of scheduling before"},
		{"out: in order", func(sc scene) { begun(sc); lvm(sc) }, IntentActVolumeOut, ""},
		{"out: not begun", func(sc scene) {
			begun(sc)
			lvm(sc)
			sc.NodeLock("cmp-01", ControllerOpenStack).InnerState = InnerInactive
		}, IntentActVolumeOut, "was begun"},
		{"out: another's reason is left alone", func(sc scene) { begun(sc); lvm(sc).outOf("a dead disk") }, IntentActVolumeOut, "nothing"},
		{"out: no service", begun, IntentActVolumeOut, "Cinder knows no cinder-volume"},
		{"out: nobody asks", func(sc scene) { lvm(sc) }, IntentActVolumeOut, "it is the time for it"},
		{"out: not fresh", func(sc scene) { begun(sc); lvm(sc); sc.aged(SourceVolumeServices, 2*time.Minute) }, IntentActVolumeOut, "what is known is fresh"},
		{"release: volumes come to it", func(sc scene) { begun(sc); lvm(sc) }, IntentActRelease, "cinder-volume lvm is enabled"},
		{"release: the back end that the controller does not reach", func(sc scene) {
			begun(sc)
			lvm(sc).outOf(DisabledReasonMaintenance)
			sc.volumeService("cmp-01@nvme").Behind = true
		}, IntentActRelease, ""},
		{"release: one back end of two", func(sc scene) { begun(sc); lvm(sc).outOf(DisabledReasonMaintenance); sc.volumeService("cmp-01@nvme") }, IntentActRelease, "cinder-volume nvme is enabled"},
		{"release: out", func(sc scene) { begun(sc); lvm(sc).outOf(DisabledReasonMaintenance) }, IntentActRelease, ""},
		{"release: out for another reason", func(sc scene) { begun(sc); lvm(sc).outOf("a dead disk") }, IntentActRelease, ""},
		{"release: no service of its own", func(sc scene) { begun(sc); sc.volumeService("cinder-volume-0@ceph") }, IntentActRelease, ""},
		{"release: Cinder refuses to tell", func(sc scene) { begun(sc); sc.source(SourceVolumeServices, SourceForbidden) }, IntentActRelease, "volume services: forbidden"},
		{"release: no Cinder", func(sc scene) { begun(sc); sc.source(SourceVolumeServices, SourceAbsent) }, IntentActRelease, ""},
		{"release: Cinder left the catalog", func(sc scene) { begun(sc); lvm(sc); sc.source(SourceVolumeServices, SourceAbsent) }, IntentActRelease, "volume services"},
		{"in: down", func(sc scene) { back(sc); lvm(sc).outOf(DisabledReasonMaintenance).Up = false }, IntentActVolumeIn, "the service is up: down"},
		{"in: in order", func(sc scene) { back(sc); lvm(sc).outOf(DisabledReasonMaintenance) }, IntentActVolumeIn, ""},
		{"in: another's reason stays", func(sc scene) { back(sc); lvm(sc).outOf("a dead disk") }, IntentActVolumeIn, "nothing"},
		{"in: the node is not back", func(sc scene) { back(sc); lvm(sc).outOf(DisabledReasonMaintenance); sc.Nodes["cmp-01"].Ready = "False" }, IntentActVolumeIn, "Ready"},
		{"nova-compute: volumes come first", func(sc scene) { back(sc); lvm(sc).outOf(DisabledReasonMaintenance) }, IntentActIntoScheduling, "its volume services are back before"},
		{"nova-compute: volumes are back", func(sc scene) { back(sc); lvm(sc) }, IntentActIntoScheduling, ""},
		{"nova-compute: Cinder refuses to tell", func(sc scene) { back(sc); sc.source(SourceVolumeServices, SourceForbidden) }, IntentActIntoScheduling, ""},
		{"rearm: still out", func(sc scene) { returned(sc); lvm(sc).outOf(DisabledReasonMaintenance) }, IntentActRearm, "back in scheduling, and up"},
		{"rearm: down", func(sc scene) { returned(sc); lvm(sc).Up = false }, IntentActRearm, "back in scheduling, and up"},
		{"rearm: out for another reason, and down", func(sc scene) { returned(sc); lvm(sc).outOf("a dead disk").Up = false }, IntentActRearm, ""},
		{"rearm: back", func(sc scene) { returned(sc); lvm(sc) }, IntentActRearm, ""},
		{"rearm: no Cinder", func(sc scene) { returned(sc); sc.source(SourceVolumeServices, SourceAbsent) }, IntentActRearm, ""},
		{"rearm: Cinder refuses to tell", func(sc scene) { returned(sc); sc.source(SourceVolumeServices, SourceForbidden) }, IntentActRearm, "volume services: forbidden"},
		{"finish: still out", func(sc scene) {
			returned(sc)
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockActive
			lvm(sc).outOf(DisabledReasonMaintenance)
		}, IntentActFinish, "its volume services are back before"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			sc.Settings = playsOpenStack()
			sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
			sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01"}
			tt.given(sc)
			st := Plan(sc.Snapshot, Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: "cmp-01", Object: lvmOf("cmp-01")})
			if tt.says == "nothing" {
				if st.Change != nil || st.State != StepDone {
					t.Errorf("it is %s, and would change %v", st.State, st.Change)
				}
				return
			}
			if (tt.says == "") != st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
				t.Errorf("it is %s, blocked by %q; want %q", st.State, st.Blocker(), tt.says)
			}
		})
	}
}

// takesVolumes tells whether the scheduler puts volumes on the host; the cloud is locked.
func (m *actMachine) takesVolumes(host string) bool {
	for _, v := range m.cloud.volumes {
		if v.Machine() == host && v.Enabled {
			return true
		}
	}
	return false
}

// Cinder itself is asked right before the lock is released: what is known can be older.
func TestAReleaseAsksCinderItself(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(c *testCloud)
		says   string
	}{
		"enabled meanwhile": {func(c *testCloud) { c.volumes["cmp-1@lvm"].Enabled = true }, "Cinder still shows on cmp-1: cinder-volume lvm is enabled"},
		"a new back end":    {func(c *testCloud) { c.volumeService("cmp-1@nvme") }, "cinder-volume nvme is enabled"},
		"Cinder does not answer": {func(c *testCloud) {
			c.fail["list-volumes"] = &APIError{Kind: ErrServer, Call: "list volume services", Message: "away", Status: 503}
		}, "away"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				clear(cloud.instances)
				cloud.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
				cloud.locks["cmp-1"].InnerState = InnerActive
				cloud.services["cmp-1"].Enabled, cloud.services["cmp-1"].DisabledReason = false, DisabledReasonMaintenance
				cloud.volumeService("cmp-1@lvm").outOf(DisabledReasonMaintenance)
				b := newBenchWith(t, t.TempDir(), cloud, playsOpenStack())
				defer b.end()
				b.arm()
				i := Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "cmp-1"}
				st := Plan(b.engine.Snapshot(), i)
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
				if op := b.awaitEnd(g.ID); op.State != OperationFailed || !strings.Contains(op.Text, tt.says) {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if got := cloud.written(); len(got) > 0 {
					t.Errorf("the servers received %q", got)
				}
			})
		})
	}
}

// A service that went down since the step was confirmed is not put back into scheduling.
func TestAVolumeServiceThatIsDownByNowStaysOut(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		cloud.locks["cmp-1"].InnerState, cloud.locks["cmp-1"].RawState = InnerActive, LockInactive
		v := cloud.volumeService("cmp-1@lvm").outOf(DisabledReasonMaintenance)
		b := newBenchWith(t, t.TempDir(), cloud, playsOpenStack())
		defer b.end()
		b.arm()
		st := Plan(b.engine.Snapshot(), Intent{Kind: IntentActVolumeIn, Controller: ControllerOpenStack, Node: "cmp-1", Object: lvmOf("cmp-1")})
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
		if op := b.awaitEnd(g.ID); op.State != OperationFailed || !strings.Contains(op.Text, "cmp-1@lvm is down now") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) > 0 {
			t.Errorf("the servers received %q", got)
		}
	})
}

// A volume service is written to once, when it still is as it was shown, and how it ends is read from Cinder.
func TestWritingToAVolumeService(t *testing.T) {
	disable := Intent{Kind: IntentDisableVolume, Node: "cmp-1", Object: lvmOf("cmp-1"), Reason: "a dead disk"}
	for name, tt := range map[string]struct {
		meanwhile func(c *testCloud)
		state     OperationState
		text      string
		writes    int
	}{
		"done":                               {func(*testCloud) {}, OperationDone, "cinder-volume is disabled: a dead disk", 1},
		"disabled by somebody meanwhile":     {func(c *testCloud) { c.volumes["cmp-1@lvm"].outOf("mine") }, OperationFailed, "has changed: disabled: mine", 0},
		"gone meanwhile":                     {func(c *testCloud) { delete(c.volumes, "cmp-1@lvm") }, OperationFailed, "no such service", 0},
		"the answer is lost, and it is done": {func(c *testCloud) { c.lose["volume-service"] = true }, OperationDone, "disabled: a dead disk", 1},
		"the answer is lost, and it is not": {func(c *testCloud) {
			c.fail["volume-service"] = &APIError{Kind: ErrTimeout, Call: "disable", Message: "no answer"}
		}, OperationFailed, "not done", 1},
		"Cinder refuses": {func(c *testCloud) {
			c.fail["volume-service"] = &APIError{Kind: ErrForbidden, Call: "disable", Message: "Policy doesn't allow it.", Status: 403}
		}, OperationFailed, "Policy doesn't allow it.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := newTestCloud()
				cloud.volumeService("cmp-1@lvm")
				cloud.volumeService("cmp-1@nvme")
				b := newBench(t, t.TempDir(), cloud)
				defer b.end()
				b.arm()
				st := Plan(b.engine.Snapshot(), disable)
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
