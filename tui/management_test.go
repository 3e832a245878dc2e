package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/core"
)

// managedWorld is the fixture with a management cluster: cmp-11 has been handed to LCM, whose drain a budget blocks; a state item
// fails on cmp-06; the plan is at its workers.
func managedWorld() *core.Snapshot {
	s := world()
	for _, id := range core.ManagementSources() {
		s.Sources[id] = core.Source{ID: id, State: core.SourceLive, Since: fixtureWall.Add(-time.Hour), AsOf: fixtureWall.Add(-3 * time.Second)}
	}
	s.Place = core.ManagementPlace{Context: "mgmt"}
	meta := func(name string) core.Meta {
		return core.Meta{Name: name, Namespace: "prod", UID: "mgmt-" + name, Created: before(2000 * time.Hour)}
	}
	no := false
	objects := []core.Object{
		&core.ManagedCluster{Meta: meta("mos"), Release: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2", Maintenance: &no, Ready: true,
			ReadyKnown: true,
			Conditions: []core.Condition{{Type: "Kubernetes", Ready: true},
				{Type: "LCMOperation", Message: "machine cmp-11: drain failed 4 times"}}},
		&core.LCMCluster{Meta: meta("mos"), Requested: 17, ReadyNodes: 15, Stuck: true, StuckMessage: "machine ctl-09: not Ready"},
		&core.MachineGroup{Meta: meta("mos-default"), Cluster: "mos", Index: 1, Concurrent: 2, Reboot: true},
		&core.MachineGroup{Meta: meta("late"), Cluster: "mos", Index: 2},
		&core.AutoPause{Meta: meta("mos"), Alerts: []string{"CephClusterHealthCritical"}},
		&core.UpdatePlan{Meta: meta("mos-21.0.0"), Cluster: "mos", Source: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2",
			Status:  core.PlanInProgress,
			Started: before(161 * time.Minute), Steps: []core.PlanStep{
				{ID: "openstack", Name: "Update OpenStack and Tungsten Fabric", Status: core.PlanCompleted, Started: before(160 * time.Minute),
					Duration: "1h12m0s", Commence: true},
				{ID: "k8s-controllers", Name: "Update masters", Status: core.PlanCompleted, Started: before(87 * time.Minute), Duration: "36m0s",
					Commence: true},
				{ID: "k8s-workers-mos-default", Name: "Update workers, group mos-default", Status: core.PlanInProgress,
					Started:  before(51 * time.Minute),
					Estimate: "8h0m0s", Commence: true, Message: "2 of 14 machines updated", Users: "major", Workloads: "major", Granularity: "machine"},
				{ID: "k8s-workers-late", Name: "Update workers, group late", Status: core.PlanNotStarted, Estimate: "8h0m0s"},
				{ID: "mcc-components", Name: "Auxiliary components update", Status: core.PlanNotStarted, Estimate: "1h30m0s"},
			}},
		&core.DrainState{Meta: meta("cd-cmp-11"), Cluster: "mos", Type: core.DrainKubernetes, Machine: "cmp-11", Wanted: "true",
			Value: "false", Attempt: 4,
			Message: `error when evicting pods/"exporter-0" -n "stacklight": Cannot evict pod as it would violate the pod's disruption budget. ` +
				"The disruption budget exporter needs 2 healthy pods and has 2 currently"},
	}
	for _, n := range s.Nodes {
		lcm := &core.LCMMachine{Meta: meta(n.ShortName), Cluster: "mos", Hostname: n.Name, State: core.LCMReady,
			Release: "mosk-17-4-0-25-1", AgentVersion: "1.43.0"}
		machine := &core.ManagedMachine{Meta: meta(n.ShortName), Cluster: "mos", Node: n.Name, Status: "Ready", Ready: true,
			ReadyKnown: true, Group: "mos-default", Maintenance: &no}
		switch n.ShortName {
		case "cmp-11":
			lcm.Drain = core.CordonDraining
			for _, l := range s.NodeLocks.At(n.Name) {
				l.RawState = core.LockInactive
			}
			n.Cordoned = true
			for _, in := range s.ByHost[n.Name] { // they have left
				s.Instances.Remove(in.ID)
			}
			delete(s.ByHost, n.Name)
			delete(s.History.Stages, n.UID)
		case "cmp-06":
			machine.Status, machine.Ready, machine.Reboot, machine.RebootReason = "Deploy", false, true, "kernel"
			lcm.State, lcm.Drain = core.LCMDeploy, core.CordonDrained
			lcm.Items = []core.StateItem{
				{Name: "download-images", Phase: "prepare", Attempt: 1, Started: before(30 * time.Minute), Finished: before(28 * time.Minute)},
				{Name: "host-packages", Phase: "deploy", ExitCode: 100, Attempt: 3, Message: "E: Failed to fetch linux-image\x1b[31m 503",
					Started: before(5 * time.Minute), Finished: before(4 * time.Minute)},
				{Name: "kubernetes", Phase: "deploy"},
			}
		}
		objects = append(objects, lcm, machine)
	}
	s.Management = core.JoinManagement(s.Place, s.Nodes, objects...)
	return s
}

func TestScreensWithAManagementCluster(t *testing.T) {
	for _, size := range sizes {
		for _, screen := range []struct {
			name string
			keys []string
		}{
			{"dashboard", nil}, {"steps-drain", []string{"3", "/", "cmp-11", "enter", "enter"}}, {"inspect-drain",
				[]string{"3", "/", "cmp-11", "enter", "i"}},
			{"inspect-item", []string{"3", "/", "cmp-06", "enter", "i"}}, {"steps-plan", []string{"2", "enter"}}, {"inspect-plan",
				[]string{"2", "i", "pgdown"}}, {"maintenance", []string{"2", "m"}},
		} {
			name := fmt.Sprintf("managed-%s-%dx%d", screen.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name, stripped(drive(managedWorld(), size.w, size.h).keys(screen.keys...).shows()))
			})
		}
	}
}

// The confirmation of a reboot: its guards that do not hold, and the request that it makes.
func TestConfirmingAReboot(t *testing.T) {
	for _, size := range sizes {
		s := managedWorld()
		s.Write.Armed, s.Write.Mine = true, true
		d := drive(s, size.w, size.h)
		d.run(d.confirm(core.Intent{Kind: core.IntentReboot, Nodes: []string{"kaas-node-cmp09", "kaas-node-cmp10"}}, ""))
		golden(t, fmt.Sprintf("managed-confirm-reboot-%dx%d", size.w, size.h), stripped(d.shows()))
	}
}

// Alerts are added behind those that pause the update already, of which none is lost, however many they are.
func TestAlertsAreAddedBehindThoseThatThereAre(t *testing.T) {
	for _, n := range []int{1, 12, 120} {
		s := managedWorld()
		var alerts []string
		for i := range n {
			alerts = append(alerts, fmt.Sprintf("CephClusterHealthCritical%03d", i))
		}
		s.Management.Pause.Alerts = alerts
		d := drive(s, 120, 40).keys("2", ":").keys("alerts that pause").keys("enter")
		d.asks(t)
		d.keys(" NodeDown", "enter")
		if got := d.asked(t).Alerts; !slices.Equal(got, append(alerts, "NodeDown")) {
			t.Errorf("after %d alerts, %d are asked for: %q", n, len(got), got)
		}
	}
}

// Without a management cluster, actions that need one stay visible and say why they are off.
func TestWithoutAManagementClusterTheActionsSayWhy(t *testing.T) {
	d := drive(world(), 120, 40)
	for _, id := range []string{"cluster.maintenance", "cluster.maintenance.enter", "cluster.maintenance.leave", "node.maintenance.enter",
		"node.maintenance.leave", "node.reboot"} {
		a := d.called(id)
		if got := a.Blocked(d.Model); got != "the management cluster is not connected" {
			t.Errorf("%s: %q", a.ID, got)
		}
	}
}
