package procedure

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// On a host whose kubelet reports, the way out of a silent nova-compute is to restart it: its guests live. On a dead host the way
// out is to evacuate them.
func TestASilentNovaComputeOnALivingHost(t *testing.T) {
	for name, sn := range map[string]func() scene.Scene{"a maintenance": scene.InMaintenance,
		"a removal": func() scene.Scene { sc := scene.Healthy(); sc.Removes("cmp-01"); return sc }} {
		for _, dead := range []bool{false, true} {
			sc := sn()
			sc.DaemonSet("openstack/nova-compute-default", "compute", false, "cmp-01").Application = "nova"
			sc.Dies("cmp-01")
			if !dead {
				sc.Nodes["cmp-01"].Ready = "True"
			}
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			doable := func(kind core.IntentKind) bool {
				return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == kind && st.Doable() })
			}
			if got := doable(core.IntentRestartAgent); got == dead {
				t.Errorf("%s, dead %t: nova-compute can be started anew: %t; %q", name, dead, got, scene.Outline(p))
			}
			if got := doable(core.IntentEvacuate); got != dead {
				t.Errorf("%s, dead %t: evacuated: %t; %q", name, dead, got, scene.Outline(p))
			}
		}
	}
}
