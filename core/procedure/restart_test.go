package procedure

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The OpenStack controller's texts P and Q lead to the agents' pods on the node.
func TestTextsOfSilentAgentsOfferTheirRestart(t *testing.T) {
	for id, text := range map[string]string{
		"P": "Timeout waiting for network agents on the host cmp-01.",
		"Q": "Got error while waiting for network agents. Cannot execute openstack commands, error: 503.",
		"M": "Timeout waiting for compute services up on the host.",
	} {
		sc := scene.Healthy()
		sc.DaemonSet(scene.OvsAgents, "neutron-ovs-agent", false, "cmp-01")
		sc.Agents["cmp-01"] = []*core.NetworkAgent{{ID: "a", Host: "cmp-01", Binary: "neutron-openvswitch-agent", AdminUp: true}}
		sc.Maintained("cmp-01", text).RawState = core.LockInactive
		sc.NodeRequest("cmp-01").Deleting = scene.Ago(8 * time.Minute)
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(s core.Step) bool { return s.Intent.Kind == core.IntentRestartAgents })
		if offered := i >= 0 && p.Steps[i].Doable(); offered != (id != "M") {
			t.Errorf("%s: offered %v in %s", id, offered, fmt.Sprint(p.Steps))
		}
	}
}
