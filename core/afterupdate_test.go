package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// over is a cluster whose update has ended, with nothing left over.
func over() scene {
	sc := healthy()
	sc.History.Update = UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: ago(5 * time.Hour), Ended: ago(time.Hour)}
	sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev", UID: "osdplst"}, State: "APPLIED"}}
	sc.Agents["cmp-01"] = []*NetworkAgent{{ID: "a", Host: "cmp-01", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent", Alive: true, AdminUp: true}}
	sc.daemonSet(vRouters, "vrouter", true, "cmp-01", "cmp-02", "cmp-03")
	sc.daemonSet(ovsAgents, "neutron-ovs-agent", false, "cmp-01", "cmp-02", "cmp-03")
	return sc
}

func pointOf(points []AfterPoint, id string) AfterPoint {
	for _, p := range points {
		if p.ID == id {
			return p
		}
	}
	return AfterPoint{}
}

// Every point is done while nothing is left, open when its own fact says so, and unknown without its source.
func TestPointsAfterTheUpdate(t *testing.T) {
	if left, ended := over().AfterUpdateLeft(); left != 0 || !ended {
		t.Fatalf("%d points are left of an update of which nothing is, ended %v: %+v", left, ended, over().AfterUpdate())
	}
	cases := []struct {
		id, says string
		source   SourceID
		leave    func(sc scene)
	}{
		{"node-requests", "cmp-01 (being removed)", SourceNodeRequests, func(sc scene) { sc.request("cmp-01", time.Hour).Deleting = noon }},
		{"cluster-locks", "ceph (inactive)", SourceClusterLocks, func(sc scene) { sc.ClusterLocks[1].RawState = LockInactive }},
		{"node-locks", "gtw-01: openstack (inactive)", SourceNodeLocks, func(sc scene) { sc.NodeLock("gtw-01", ControllerOpenStack).RawState = LockInactive }},
		{"nodes", "cmp-02 (KubeletNotReady)", SourceNodes, func(sc scene) { n := sc.Nodes["cmp-02"]; n.Ready, n.ReadyReason = "False", "KubeletNotReady" }},
		{"cordons", "cmp-02 is", SourceNodes, func(sc scene) { sc.Nodes["cmp-02"].Cordoned = true }},
		{"versions", "cmp-03 (v1.29.1)", SourceNodes, func(sc scene) { sc.Nodes["cmp-03"].KubeletVersion = "v1.29.1" }},
		{"compute", "cmp-01", SourceComputeServices, func(sc scene) {
			s := sc.Services["cmp-01"]
			s.Enabled, s.DisabledReason = false, DisabledReasonMaintenance
		}},
		{"compute-up", "cmp-01", SourceComputeServices, func(sc scene) { sc.Services["cmp-01"].Up = false }},
		{"volumes", "cmp-01: cinder-volume lvm", SourceVolumeServices, func(sc scene) {
			v := sc.volumeService("cmp-01@lvm")
			v.Enabled, v.DisabledReason = false, DisabledReasonMaintenance
		}},
		{"volumes-up", "cmp-01: cinder-volume lvm", SourceVolumeServices, func(sc scene) { sc.volumeService("cmp-01@lvm").Up = false }},
		{"agents", "cmp-01: Open vSwitch agent", SourceNetworkAgents, func(sc scene) { sc.Agents["cmp-01"][0].Alive = false }},
		{"agents", "cmp-01: Open vSwitch agent", SourceNetworkAgents, func(sc scene) {
			sc.Agents["cmp-01"][0].Alive, sc.Agents["cmp-01"][0].AdminUp = false, false
		}},
		{"openstack", "osh-dev is APPLYING", SourceOpenStackStatus, func(sc scene) { sc.OpenStack[0].State = "APPLYING" }},
		{"health", "nova/compute", SourceOpenStackStatus, func(sc scene) { sc.OpenStack[0].Unhealthy = []string{"nova/compute"} }},
		{"daemonsets", "neutron-ovs-agent-default (1 pod of an older revision)", SourceFabricSets, func(sc scene) { sc.old(ovsAgents, "cmp-02") }},
		{"old/ds-tf-vrouter-agent", "cmp-03", SourceFabricPods, func(sc scene) { sc.old(vRouters, "cmp-03") }},
		{"annotations", "cmp-01 (skip)", "", func(sc scene) { sc.mode("cmp-01", ModeSkip); sc.changed("cmp-01", "manual", "skip") }},
		{"tags", "web-2", "", func(sc scene) {
			in := sc.named("web-2")
			in.Tags = []string{TagMaintenanceAction + "poweroff"}
			sc.History.Tags = map[string]TagChange{in.ID: {Instance: "web-2", New: []MaintenanceAction{ActionPowerOff}, At: ago(2 * time.Hour)}}
		}},
		{"stopped", "web-3", "", func(sc scene) {
			in := sc.named("web-3")
			in.Status = "SHELVED_OFFLOADED"
			sc.History.Stopped = map[string]StopRecord{in.ID: {Name: "web-3", At: ago(2 * time.Hour)}}
		}},
		{"stopped", "web-1", "", func(sc scene) {
			in := sc.named("web-1")
			in.Status = "SHUTOFF"
			sc.History.Stopped = map[string]StopRecord{in.ID: {Name: "web-1", At: ago(2 * time.Hour)}}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.id, func(t *testing.T) {
			sc := over()
			tc.leave(sc)
			if p := pointOf(sc.again().AfterUpdate(), tc.id); len(p.Open) != 1 || p.Open[0] != tc.says || p.Done() {
				t.Errorf("%+v, want %q", p, tc.says)
			}
			if left, _ := sc.again().AfterUpdateLeft(); left != 1 {
				t.Errorf("%d points are left, want this one", left)
			}
			found := slices.ContainsFunc(sc.again().Attention(), func(a Attention) bool { return a.ID == "after-update" && a.Resolve.Kind == ProcedureAfter })
			if !found {
				t.Error("nothing leads to it")
			}
			if tc.source == "" {
				return
			}
			sc = over()
			sc.source(tc.source, SourceForbidden)
			if p := pointOf(sc.again().AfterUpdate(), tc.id); p.Done() || p.Unknown == "" {
				t.Errorf("without %s: %+v", tc.source, p)
			}
		})
	}
}

// An update that runs is not over, and one that nobody saw end asks for nothing but its old pods.
func TestWhatLeadsToTheStepsAfterAnUpdate(t *testing.T) {
	reason := func(sc scene) string {
		for _, a := range sc.again().Attention() {
			if a.ID == "after-update" {
				return a.Reason
			}
		}
		return ""
	}
	sc := over()
	sc.old(vRouters, "cmp-01", "cmp-02")
	if got := reason(sc); got != "pods run an older revision until you restart them: tf-vrouter-agent (2 of 3)" {
		t.Errorf("%q", got)
	}
	sc.History.Update = UpdateRecord{}
	sc.Nodes["cmp-02"].Cordoned = true
	if got := reason(sc); !strings.Contains(got, "tf-vrouter-agent (2 of 3)") {
		t.Errorf("without history: %q", got)
	}
	sc.update(time.Hour)
	if got := reason(sc); got != "" {
		t.Errorf("while an update runs: %q", got)
	}
	sc = over()
	sc.DaemonSets[1].OnDelete = true
	sc.old(ovsAgents, "cmp-01")
	sc.History.Update = UpdateRecord{}
	for made, want := range map[time.Duration]string{20 * time.Minute: "", 40 * time.Minute: "pods run an older revision until you restart them: neutron-ovs-agent-default (1 of 3)"} {
		sc.DaemonRevisions[sc.DaemonSets[1].UID][1].Created = ago(made)
		if got := reason(sc); got != want {
			t.Errorf("pods that the OpenStack controller restarts itself, after %s: %q", made, got)
		}
	}
	sc = over()
	sc.History.Update = UpdateRecord{}
	sc.Nodes["cmp-02"].Cordoned = true
	if got := reason(sc); got != "" {
		t.Errorf("a cordon without an update: %q", got)
	}
}

// Each open point is followed by the steps that see to it, and none of a point that is done.
func TestStepsAfterTheUpdate(t *testing.T) {
	kinds := func(sc scene) (out []IntentKind) {
		p, ok := sc.again().Procedure(ProcedureKey{Kind: ProcedureAfter})
		if !ok {
			t.Fatal("there is no procedure")
		}
		for _, st := range p.Steps {
			if st.Intent.Kind != "" {
				out = append(out, st.Intent.Kind)
			}
		}
		return out
	}
	if got := kinds(over()); !slices.Equal(got, []IntentKind{IntentAddTempest}) {
		t.Errorf("with nothing left over: %v", got)
	}
	sc := over()
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
	sc.Services["cmp-02"].Enabled, sc.Services["cmp-02"].DisabledReason = false, "a fan"
	sc.Agents["cmp-01"][0].Alive = false
	sc.old(vRouters, "cmp-01", "cmp-03")
	sc.mode("cmp-01", ModeSkip)
	sc.changed("cmp-01", "manual", "skip")
	sc.mode("cmp-03", ModeManual) // somebody else's, as the attempts are
	sc.Nodes["cmp-03"].Annotations[AnnotationMigrationAttempts] = "7"
	sc.named("web-1").Status = "SHUTOFF"
	sc.named("web-2").Tags = []string{TagMaintenanceAction + "poweroff"}
	sc.History.Tags = map[string]TagChange{sc.named("web-2").ID: {Instance: "web-2", New: []MaintenanceAction{ActionPowerOff}}}
	sc.named("web-3").Status = "SHELVED_OFFLOADED"
	sc.History.Stopped = map[string]StopRecord{web1: {At: ago(2 * time.Hour)}, sc.named("web-3").ID: {At: ago(2 * time.Hour)}}
	want := []IntentKind{IntentEnableCompute, IntentRestartAgents, IntentRestartPods, IntentRestartPod, IntentRestartPod, IntentRestoreMode, IntentRestoreTags, IntentStart, IntentUnshelve, IntentSetMode, IntentSetAttempts, IntentAddTempest}
	if got := kinds(sc); !slices.Equal(got, want) {
		t.Errorf("%v,\nwant %v", got, want)
	}
	if p := pointOf(sc.again().AfterUpdate(), "compute"); p.Note != "disabled for another reason: cmp-02" {
		t.Errorf("%q", p.Note)
	}
}

// An instance counts as stopped for the update until Lockstep has started it, also after a restart of Lockstep.
func TestStoppedInstancesAreRemembered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentStop, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" || r.By != "anna@jump01" {
			t.Errorf("%+v", r)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" {
			t.Errorf("after a restart: %+v", r)
		}
		b.arm()
		if id, err = b.confirm(Intent{Kind: IntentStart, Instance: "id-web-1"}); err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if stopped := b.engine.Snapshot().History.Stopped; len(stopped) != 0 {
			t.Errorf("after its start: %v", stopped)
		}
	})
}
