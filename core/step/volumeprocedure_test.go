package step

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The commands are python-openstackclient's, and the guards are those of the nova-compute service: the operator enables it unless
// the controller will.
func TestAnOperatorsStepsOnVolumeServices(t *testing.T) {
	disable := core.Intent{Kind: core.IntentDisableVolume, Node: "cmp-01", Object: scene.LvmOf("cmp-01"), Reason: "a dead disk"}
	enable := core.Intent{Kind: core.IntentEnableVolume, Node: "cmp-01", Object: scene.LvmOf("cmp-01")}
	with := func(reason string) core.Intent { i := disable; i.Reason = reason; return i }
	cannotEnable := func(sc scene.Scene) {
		scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance)
		sc.Maintained("cmp-01", "Can not enable block-storage service on the host cmp-01.").RawState = core.LockInactive
		sc.NodeRequest("cmp-01").Deleting = scene.Noon
	}
	for _, tt := range []struct {
		name   string
		given  func(sc scene.Scene)
		intent core.Intent
		fails  []core.GuardID
		want   string // the command
	}{
		{"disable", func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") }, disable, nil,
			"openstack volume service set --disable --disable-reason 'a dead disk' cmp-01@lvm cinder-volume"},
		{"disable for a reason that looks like an option", func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") }, with("--disk"), nil,
			"openstack volume service set --disable --disable-reason=--disk cmp-01@lvm cinder-volume"},
		{"disable: no reason", func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") }, with(""), []core.GuardID{"reason"}, ""},
		{"disable: the literal", func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") }, with(core.DisabledReasonMaintenance),
			[]core.GuardID{"not-literal"}, ""},
		{"disable: disabled", func(sc scene.Scene) { scene.OutOf(sc.VolumeService("cmp-01@lvm"), "mine") }, disable, []core.GuardID{"enabled"},
			""},
		{"disable: another back end only", func(sc scene.Scene) { sc.VolumeService("cmp-01@nvme") }, disable, []core.GuardID{"exists"}, ""},
		{"disable: of another node", func(sc scene.Scene) { sc.VolumeService("cmp-02@lvm") },
			core.Intent{Kind: core.IntentDisableVolume, Node: "cmp-01", Object: scene.LvmOf("cmp-02"), Reason: "x"}, []core.GuardID{"exists"}, ""},
		{"disable: no Cinder", func(sc scene.Scene) { sc.Source(core.SourceVolumeServices, core.SourceAbsent) }, disable,
			[]core.GuardID{"fresh", "exists"}, ""},
		{"enable", func(sc scene.Scene) { scene.OutOf(sc.VolumeService("cmp-01@lvm"), "a dead disk") }, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: enabled", func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm") }, enable, []core.GuardID{"disabled"}, ""},
		{"enable: the controller's, left over", func(sc scene.Scene) {
			scene.OutOf(sc.VolumeService("cmp-01@lvm"),
				core.DisabledReasonMaintenance)
		}, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: the controller's, in maintenance", func(sc scene.Scene) {
			scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance)
			sc.Maintained("cmp-01", "")
		}, enable, []core.GuardID{"not-owned"}, ""},
		{"enable: another's, in maintenance", func(sc scene.Scene) {
			scene.OutOf(sc.VolumeService("cmp-01@lvm"), "mine")
			sc.Maintained("cmp-01",
				"")
		}, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: to be removed", func(sc scene.Scene) { scene.OutOf(sc.VolumeService("cmp-01@lvm"), "mine"); sc.Removes("cmp-01") }, enable,
			[]core.GuardID{"stays-up"}, ""},
		{"enable: the controller said that it cannot, and is asked anew", func(sc scene.Scene) {
			cannotEnable(sc)
			sc.NodeRequest("cmp-01").Deleting = time.Time{}
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockActive
		}, enable, []core.GuardID{"not-owned"}, ""},
		{"enable: the controller says that it cannot", cannotEnable, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			st := Plan(sc.Snapshot, tt.intent)
			if got := scene.Failing(st); !slices.Equal(got, tt.fails) {
				t.Errorf("guards that do not hold: %q, want %q (%s)", got, tt.fails, st.Blocker())
			}
			if st.Doable() != (len(tt.fails) == 0) {
				t.Errorf("doable %v", st.Doable())
			}
			if tt.want != "" && (len(st.Commands) != 1 || st.Commands[0] != tt.want) {
				t.Errorf("the commands are %q, want %q", st.Commands, tt.want)
			}
		})
	}
}
