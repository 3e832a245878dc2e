package attention

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A service that reports was not left disabled when it reported last, a few seconds ago. It was when its node's maintenance ended, as
// far as anybody knows when that was.
func TestAServiceWasLeftDisabledAtTheEndOfTheMaintenance(t *testing.T) {
	ended := scene.Ago(20 * time.Minute)
	for _, tt := range []struct {
		name  string
		round core.Round
		want  core.Since
	}{
		{"nobody saw the maintenance", core.Round{}, core.Since{}},
		{"its end was seen", core.Round{Request: "r", Ended: ended}, core.Since{At: ended, Exact: true}},
		{"its end was found later", core.Round{Request: "r", Ended: ended, EndUnseen: true}, core.Since{At: ended}},
	} {
		sc := scene.Healthy()
		sc.History.Rounds["uid-cmp-01"] = tt.round
		svc := sc.Services["cmp-01"]
		svc.Enabled, svc.DisabledReason, svc.Updated = false, core.DisabledReasonMaintenance, scene.Ago(3*time.Second)
		sc.VolumeServices["cmp-01"] = []*core.VolumeService{{Host: "cmp-01@lvm", DisabledReason: core.DisabledReasonMaintenance, Up: true,
			Updated: scene.Ago(3 * time.Second)}}
		found := map[core.AttentionRule]core.Since{}
		for _, a := range Of(sc.Again().Snapshot) {
			found[a.Rule] = a.Since
		}
		for _, rule := range []core.AttentionRule{core.RuleComputeLeft, core.RuleVolumesLeft} {
			if got, there := found[rule]; !there || got != tt.want {
				t.Errorf("%s: %s has %+v, there %t; want %+v", tt.name, rule, got, there, tt.want)
			}
		}
	}
}
