package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
)

// Every point is done while nothing is left over, open when its own fact shows it, and unknown without its source.
func TestPointsAfterTheUpdate(t *testing.T) {
	if left, ended := procedure.AfterUpdateLeft(scene.Over().Snapshot); left != 0 || !ended {
		t.Fatalf("%d points are left of an update of which nothing is, ended %v: %+v", left, ended, procedure.AfterUpdate(scene.Over().Snapshot))
	}
	cases := []struct {
		id, says string
		source   core.SourceID
		leave    func(sc scene.Scene)
	}{
		{"node-requests", "cmp-01 (being removed)", core.SourceNodeRequests,
			func(sc scene.Scene) { sc.Request("cmp-01", time.Hour).Deleting = scene.Noon }},
		{"cluster-locks", "ceph (inactive)", core.SourceClusterLocks, func(sc scene.Scene) { sc.ClusterLocks[1].RawState = core.LockInactive }},
		{"node-locks", "gtw-01: openstack (inactive)", core.SourceNodeLocks,
			func(sc scene.Scene) { sc.NodeLock("gtw-01", core.ControllerOpenStack).RawState = core.LockInactive }},
		{"nodes", "cmp-02 (KubeletNotReady)", core.SourceNodes,
			func(sc scene.Scene) { n := sc.Nodes["cmp-02"]; n.Ready, n.ReadyReason = "False", "KubeletNotReady" }},
		{"cordons", "cmp-02", core.SourceNodes, func(sc scene.Scene) { sc.Nodes["cmp-02"].Cordoned = true }},
		{"versions", "cmp-03 (v1.29.1)", core.SourceNodes, func(sc scene.Scene) { sc.Nodes["cmp-03"].KubeletVersion = "v1.29.1" }},
		{"compute", "cmp-01", core.SourceComputeServices, func(sc scene.Scene) {
			s := sc.Services["cmp-01"]
			s.Enabled, s.DisabledReason = false, core.DisabledReasonMaintenance
		}},
		{"compute-up", "cmp-01", core.SourceComputeServices, func(sc scene.Scene) { sc.Services["cmp-01"].Up = false }},
		{"volumes", "cmp-01: cinder-volume lvm", core.SourceVolumeServices, func(sc scene.Scene) {
			v := sc.VolumeService("cmp-01@lvm")
			v.Enabled, v.DisabledReason = false, core.DisabledReasonMaintenance
		}},
		{"volumes-up", "cmp-01: cinder-volume lvm", core.SourceVolumeServices,
			func(sc scene.Scene) { sc.VolumeService("cmp-01@lvm").Up = false }},
		{"agents", "cmp-01: Open vSwitch agent", core.SourceNetworkAgents, func(sc scene.Scene) { sc.Agents["cmp-01"][0].Alive = false }},
		{"agents", "cmp-01: Open vSwitch agent", core.SourceNetworkAgents, func(sc scene.Scene) {
			sc.Agents["cmp-01"][0].Alive, sc.Agents["cmp-01"][0].AdminUp = false, false
		}},
		{"openstack", "osh-dev (APPLYING)", core.SourceOpenStackStatus, func(sc scene.Scene) { sc.OpenStack[0].State = "APPLYING" }},
		{"health", "nova/compute", core.SourceOpenStackStatus, func(sc scene.Scene) { sc.OpenStack[0].Unhealthy = []string{"nova/compute"} }},
		{"daemonsets", "neutron-ovs-agent-default (1 pod of an older revision)", core.SourceFabricSets,
			func(sc scene.Scene) { sc.Old(scene.OvsAgents, "cmp-02") }},
		{"old/ds-tf-vrouter-agent", "cmp-03", core.SourceFabricPods, func(sc scene.Scene) { sc.Old(scene.VRouters, "cmp-03") }},
		{"annotations", "cmp-01 (skip)", "", func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeSkip); sc.Changed("cmp-01", "manual", "skip") }},
		{"tags", "web-2", "", func(sc scene.Scene) {
			in := sc.Named("web-2")
			in.Tags = []string{core.TagMaintenanceAction + "poweroff"}
			sc.History.Tags = map[string]core.TagChange{in.ID: {Instance: "web-2", New: []core.MaintenanceAction{core.ActionPowerOff},
				At: scene.Ago(2 * time.Hour)}}
		}},
		{"stopped", "web-3", "", func(sc scene.Scene) {
			in := sc.Named("web-3")
			in.Status = "SHELVED_OFFLOADED"
			sc.History.Stopped = map[string]core.StopRecord{in.ID: {Name: "web-3", At: scene.Ago(2 * time.Hour)}}
		}},
		{"stopped", "web-1", "", func(sc scene.Scene) {
			in := sc.Named("web-1")
			in.Status = "SHUTOFF"
			sc.History.Stopped = map[string]core.StopRecord{in.ID: {Name: "web-1", At: scene.Ago(2 * time.Hour)}}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.id, func(t *testing.T) {
			sc := scene.Over()
			tc.leave(sc)
			if p := scene.PointOf(procedure.AfterUpdate(sc.Again().Snapshot), tc.id); len(p.Open) != 1 || p.OpenTexts()[0] != tc.says || p.Done() {
				t.Errorf("%+v, want %q", p, tc.says)
			}
			if left, _ := procedure.AfterUpdateLeft(sc.Again().Snapshot); left != 1 {
				t.Errorf("%d points are left, want this one", left)
			}
			found := slices.ContainsFunc(Of(sc.Again().Snapshot),
				func(a core.Attention) bool { return a.ID == "after-update" && a.Resolve.Kind == core.ProcedureAfter })
			if !found {
				t.Error("nothing leads to it")
			}
			if tc.source == "" {
				return
			}
			sc = scene.Over()
			sc.Source(tc.source, core.SourceForbidden)
			if p := scene.PointOf(procedure.AfterUpdate(sc.Again().Snapshot), tc.id); p.Done() || p.Unknown == "" {
				t.Errorf("without %s: %+v", tc.source, p)
			}
		})
	}
}

// A running update is not over. An update whose end was not seen asks only about its old pods.
func TestWhatLeadsToTheStepsAfterAnUpdate(t *testing.T) {
	reason := func(sc scene.Scene) string {
		for _, a := range Of(sc.Again().Snapshot) {
			if a.ID == "after-update" {
				return a.Reason
			}
		}
		return ""
	}
	sc := scene.Over()
	sc.Old(scene.VRouters, "cmp-01", "cmp-02")
	if got := reason(sc); got != "pods run an older revision until you restart them: tf-vrouter-agent (2 of 3)" {
		t.Errorf("%q", got)
	}
	sc.History.Update = core.UpdateRecord{}
	sc.Nodes["cmp-02"].Cordoned = true
	if got := reason(sc); !strings.Contains(got, "tf-vrouter-agent (2 of 3)") {
		t.Errorf("without history: %q", got)
	}
	sc.Update(time.Hour)
	if got := reason(sc); got != "" {
		t.Errorf("while an update runs: %q", got)
	}
	sc = scene.Over()
	sc.DaemonSets[1].OnDelete = true
	sc.Old(scene.OvsAgents, "cmp-01")
	sc.History.Update = core.UpdateRecord{}
	for made, want := range map[time.Duration]string{20 * time.Minute: "",
		40 * time.Minute: "pods run an older revision until you restart them: neutron-ovs-agent-default (1 of 3)"} {
		sc.DaemonRevisions[sc.DaemonSets[1].UID][1].Created = scene.Ago(made)
		if got := reason(sc); got != want {
			t.Errorf("pods that the OpenStack controller restarts itself, after %s: %q", made, got)
		}
	}
	sc = scene.Over()
	sc.History.Update = core.UpdateRecord{}
	sc.Nodes["cmp-02"].Cordoned = true
	if got := reason(sc); got != "" {
		t.Errorf("a cordon without an update: %q", got)
	}
}
