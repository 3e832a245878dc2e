package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// What the volume services keep a played controller from, one condition each. A cloud without Cinder keeps it from nothing.
func TestAPlayedControllerSeesToVolumes(t *testing.T) {
	begun := func(sc scene.Scene) {
		l := sc.Maintained("cmp-01", "")
		l.InnerState = core.InnerActive
		sc.NodeRequest("cmp-01").Scope = core.ScopeDrain
	}
	back := func(sc scene.Scene) {
		l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		l.RawState, l.InnerState = core.LockInactive, core.InnerActive
		sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
	}
	returned := func(sc scene.Scene) {
		back(sc)
		sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
	}
	lvm := func(sc scene.Scene) *core.VolumeService { return sc.VolumeService("cmp-01@lvm") }
	for _, tt := range []struct {
		name  string
		given func(sc scene.Scene)
		kind  core.IntentKind
		says  string // empty: it can be done; "nothing": there is nothing to do
	}{
		{"out: nova-compute comes first", func(sc scene.Scene) { begun(sc); sc.Services["cmp-01"].Enabled = true; lvm(sc) },
			core.IntentActVolumeOut, "nova-compute is out of scheduling before"},
		{"out: in order", func(sc scene.Scene) { begun(sc); lvm(sc) }, core.IntentActVolumeOut, ""},
		{"out: not begun", func(sc scene.Scene) {
			begun(sc)
			lvm(sc)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerInactive
		}, core.IntentActVolumeOut, "was begun"},
		{"out: another's reason is left alone", func(sc scene.Scene) { begun(sc); scene.OutOf(lvm(sc), "a dead disk") }, core.IntentActVolumeOut,
			"nothing"},
		{"out: no service", begun, core.IntentActVolumeOut, "Cinder knows no cinder-volume"},
		{"out: nobody asks", func(sc scene.Scene) { lvm(sc) }, core.IntentActVolumeOut, "it is the time for it"},
		{"out: not fresh", func(sc scene.Scene) { begun(sc); lvm(sc); sc.Aged(core.SourceVolumeServices, 2*time.Minute) },
			core.IntentActVolumeOut, "what is known is fresh"},
		{"release: volumes come to it", func(sc scene.Scene) { begun(sc); lvm(sc) }, core.IntentActRelease, "cinder-volume lvm is enabled"},
		{"release: the back end that the controller does not reach", func(sc scene.Scene) {
			begun(sc)
			scene.OutOf(lvm(sc), core.DisabledReasonMaintenance)
			sc.VolumeService("cmp-01@nvme").Behind = true
		}, core.IntentActRelease, ""},
		{"release: one back end of two", func(sc scene.Scene) {
			begun(sc)
			scene.OutOf(lvm(sc), core.DisabledReasonMaintenance)
			sc.VolumeService("cmp-01@nvme")
		}, core.IntentActRelease, "cinder-volume nvme is enabled"},
		{"release: out", func(sc scene.Scene) { begun(sc); scene.OutOf(lvm(sc), core.DisabledReasonMaintenance) }, core.IntentActRelease, ""},
		{"release: out for another reason", func(sc scene.Scene) { begun(sc); scene.OutOf(lvm(sc), "a dead disk") }, core.IntentActRelease, ""},
		{"release: no service of its own", func(sc scene.Scene) { begun(sc); sc.VolumeService("cinder-volume-0@ceph") }, core.IntentActRelease,
			""},
		{"release: Cinder refuses to tell", func(sc scene.Scene) { begun(sc); sc.Source(core.SourceVolumeServices, core.SourceForbidden) },
			core.IntentActRelease, "volume services: forbidden"},
		{"release: no Cinder", func(sc scene.Scene) { begun(sc); sc.Source(core.SourceVolumeServices, core.SourceAbsent) }, core.IntentActRelease,
			""},
		{"release: Cinder left the catalog", func(sc scene.Scene) { begun(sc); lvm(sc); sc.Source(core.SourceVolumeServices, core.SourceAbsent) },
			core.IntentActRelease, "volume services"},
		{"in: down", func(sc scene.Scene) { back(sc); scene.OutOf(lvm(sc), core.DisabledReasonMaintenance).Up = false }, core.IntentActVolumeIn,
			"the service is up: down"},
		{"in: in order", func(sc scene.Scene) { back(sc); scene.OutOf(lvm(sc), core.DisabledReasonMaintenance) }, core.IntentActVolumeIn, ""},
		{"in: another's reason stays", func(sc scene.Scene) { back(sc); scene.OutOf(lvm(sc), "a dead disk") }, core.IntentActVolumeIn, "nothing"},
		{"in: the node is not back", func(sc scene.Scene) {
			back(sc)
			scene.OutOf(lvm(sc), core.DisabledReasonMaintenance)
			sc.Nodes["cmp-01"].Ready = "False"
		}, core.IntentActVolumeIn, "Ready"},
		{"nova-compute: volumes come first", func(sc scene.Scene) { back(sc); scene.OutOf(lvm(sc), core.DisabledReasonMaintenance) },
			core.IntentActIntoScheduling, "its volume services are back before"},
		{"nova-compute: volumes are back", func(sc scene.Scene) { back(sc); lvm(sc) }, core.IntentActIntoScheduling, ""},
		{"nova-compute: Cinder refuses to tell", func(sc scene.Scene) { back(sc); sc.Source(core.SourceVolumeServices, core.SourceForbidden) },
			core.IntentActIntoScheduling, ""},
		{"rearm: still out", func(sc scene.Scene) { returned(sc); scene.OutOf(lvm(sc), core.DisabledReasonMaintenance) }, core.IntentActRearm,
			"back in scheduling, and up"},
		{"rearm: down", func(sc scene.Scene) { returned(sc); lvm(sc).Up = false }, core.IntentActRearm, "back in scheduling, and up"},
		{"rearm: out for another reason, and down", func(sc scene.Scene) { returned(sc); scene.OutOf(lvm(sc), "a dead disk").Up = false },
			core.IntentActRearm, ""},
		{"rearm: back", func(sc scene.Scene) { returned(sc); lvm(sc) }, core.IntentActRearm, ""},
		{"rearm: no Cinder", func(sc scene.Scene) { returned(sc); sc.Source(core.SourceVolumeServices, core.SourceAbsent) }, core.IntentActRearm,
			""},
		{"rearm: Cinder refuses to tell", func(sc scene.Scene) { returned(sc); sc.Source(core.SourceVolumeServices, core.SourceForbidden) },
			core.IntentActRearm, "volume services: forbidden"},
		{"finish: still out", func(sc scene.Scene) {
			returned(sc)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockActive
			scene.OutOf(lvm(sc), core.DisabledReasonMaintenance)
		}, core.IntentActFinish, "back in scheduling, and up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Settings = scene.PlaysOpenStack()
			sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
			sc.PodsOn("cmp-01")
			tt.given(sc)
			st := Plan(sc.Snapshot, core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-01", Object: scene.LvmOf("cmp-01")})
			if tt.says == "nothing" {
				if st.Change != nil || st.State != core.StepDone {
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
