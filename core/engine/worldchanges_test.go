package engine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/derivedtest"
	"lockstep/core/forecast"
	"lockstep/core/progress"
	"lockstep/scene"
	"lockstep/sim/bubble/lane"
	"pgregory.net/rapid"
)

// A Snapshot is made from the one before and what has changed, and so is what is derived from it. Both are the same as what is made of all
// facts: whatever comes, goes, moves, or has the name of another.
func TestWhatIsMadeOfChangesIsWhatIsMadeOfAllFacts(t *testing.T) {
	lane.Fewer(t)
	rapid.Check(t, func(t *rapid.T) {
		now := worldTime
		e := New(Config{Barred: "a test of changes", Wall: func() time.Time { return now }})
		for _, id := range slices.Concat(slices.Collect(maps.Keys(scene.NewScene().Sources)), core.ManagementSources()) {
			e.take(core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true})
		}
		if rapid.Bool().Draw(t, "managed") {
			takeManaged(e)
		}
		for range rapid.IntRange(1, 12).Draw(t, "snapshots") {
			now = now.Add(core.Beat)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				e.take(anyChange(t))
			}
			e.publish()
			s := e.Snapshot()
			anew := projected(e.world, nil)
			differ := func(what string, kept, anew any) {
				if !reflect.DeepEqual(kept, anew) {
					t.Fatalf("the %s are %v, and of all facts %v", what, kept, anew)
				}
			}
			differ("nodes", s.Nodes, anew.Nodes)
			differ("services", s.Services, anew.Services)
			differ("agents", s.Agents, anew.Agents)
			differ("pods", s.DaemonPods, anew.DaemonPods)
			differ("names", fmt.Sprint(progress.NodeNames(s)), fmt.Sprint(progress.NodeNames(anew)))
			kept, _ := forecast.Order(s)
			fresh, _ := forecast.Order(anew)
			differ("places in the order", fmt.Sprint(kept), fmt.Sprint(fresh))
			for _, d := range derivedtest.Differ(s) {
				t.Fatal(d)
			}
		}
	})
}

// takeManaged has the Engine see the nodes with their machines, all handed over to LCM.
func takeManaged(e *Engine) {
	for _, key := range []string{"a", "b", "c"} {
		for src, o := range map[core.SourceID]core.Object{
			core.SourceNodes: &core.Node{Meta: core.Meta{Name: key, UID: key}, Ready: "True", Roles: []core.Role{core.RoleCompute}},
			core.SourceNodeRequests: &core.MaintenanceRequest{Kind: core.KindNodeMaintenanceRequest,
				Meta: core.Meta{Name: key, UID: "nmr-" + key, Created: worldTime}, Node: key, Release: "21.0.0"},
			core.SourceNodeLocks: &core.WorkloadLock{Meta: core.Meta{Name: key, UID: "lock-" + key}, Node: key,
				Controller: core.ControllerOpenStack, RawState: core.LockInactive},
			core.SourceMachines: &core.ManagedMachine{Meta: core.Meta{Namespace: "p", Name: key, UID: "machine-" + key}, Cluster: "mos", Node: key},
			core.SourceLCMMachines: &core.LCMMachine{Meta: core.Meta{Namespace: "p", Name: key, UID: "lcm-" + key}, Cluster: "mos",
				Hostname: key, State: core.LCMReady},
		} {
			e.take(core.Delta{Source: src, At: worldTime, State: core.SourceLive, Upserts: []core.Object{o}})
		}
	}
}

// anyChange draws a Delta of objects with few keys at few places.
func anyChange(t *rapid.T) core.Delta {
	letter := func(what string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, what) }
	src := rapid.SampledFrom([]core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests,
		core.SourceComputeServices, core.SourceNetworkAgents,
		core.SourceDaemonPods, core.SourceFabricPods, core.SourceClusterRequests, core.SourceOpenStackController,
		core.SourceMachines, core.SourceLCMMachines, core.SourceDrains, core.SourceGroups}).Draw(t, "source")
	d := core.Delta{Source: src, At: worldTime, State: core.SourceLive, Replace: rapid.IntRange(0, 5).Draw(t, "replace") == 0}
	for range rapid.IntRange(0, 3).Draw(t, "objects") {
		key := letter("key")
		switch src {
		case core.SourceNodes:
			n := &core.Node{Meta: core.Meta{Name: key, UID: key + rapid.SampledFrom([]string{"", "", "", "x"}).Draw(t, "uid")},
				Labels:         map[string]string{"role": letter("label")},
				KubeletVersion: "v1.3" + rapid.SampledFrom([]string{"0", "1"}).Draw(t, "version"), Ready: "True"}
			if rapid.Bool().Draw(t, "has a role") {
				n.Roles = []core.Role{rapid.SampledFrom([]core.Role{core.RoleMaster, core.RoleCompute}).Draw(t, "role")}
			}
			d.Upserts = append(d.Upserts, n)
		case core.SourceNodeLocks:
			d.Upserts = append(d.Upserts, &core.WorkloadLock{Meta: core.Meta{Name: key, UID: "lock-" + key}, Node: letter("node"),
				Controller: core.ControllerOpenStack,
				RawState:   rapid.SampledFrom([]core.LockState{core.LockActive, core.LockInactive}).Draw(t, "state")})
		case core.SourceNodeRequests:
			d.Upserts = append(d.Upserts, &core.MaintenanceRequest{Kind: core.KindNodeMaintenanceRequest,
				Meta: core.Meta{Name: key, UID: "nmr-" + key + letter("uid"), Created: worldTime}, Node: letter("node"), Release: "21.0.0"})
		case core.SourceClusterRequests:
			d.Upserts = append(d.Upserts, &core.MaintenanceRequest{Kind: core.KindClusterMaintenanceRequest,
				Meta: core.Meta{Name: "cmr", UID: "cmr", Created: worldTime}, Release: "21.0.0"})
		case core.SourceComputeServices:
			d.Upserts = append(d.Upserts, &core.ComputeService{ID: key, Host: letter("host"), Up: rapid.Bool().Draw(t, "up")})
		case core.SourceNetworkAgents:
			d.Upserts = append(d.Upserts, &core.NetworkAgent{ID: key, Host: letter("host"), Binary: letter("binary")})
		case core.SourceDaemonPods, core.SourceFabricPods:
			d.Upserts = append(d.Upserts, &core.DaemonPod{Meta: core.Meta{Namespace: fmt.Sprint(src), Name: key}, Owner: letter("owner")})
		case core.SourceMachines:
			d.Upserts = append(d.Upserts, &core.ManagedMachine{Meta: core.Meta{Namespace: "p", Name: key, UID: "machine-" + key},
				Cluster: rapid.SampledFrom([]string{"mos", "mos", "mos", "other"}).Draw(t, "cluster"),
				Node:    rapid.SampledFrom([]string{key, key, "", "b"}).Draw(t, "node"), Group: letter("group"),
				UpgradeIndex: rapid.IntRange(0, 1).Draw(t, "index"), Status: letter("status"),
				InMaintenance: rapid.Bool().Draw(t, "in maintenance")})
		case core.SourceLCMMachines:
			d.Upserts = append(d.Upserts, &core.LCMMachine{Meta: core.Meta{Namespace: "p", Name: key, UID: "lcm-" + key}, Cluster: "mos",
				Hostname: rapid.SampledFrom([]string{key, key, key, "a"}).Draw(t, "hostname"),
				State:    rapid.SampledFrom([]string{core.LCMReady, core.LCMDeploy, core.LCMReboot}).Draw(t, "state"),
				Drain:    rapid.SampledFrom([]string{"", core.CordonDraining, core.CordonDrained}).Draw(t, "drain"),
				Release:  rapid.SampledFrom([]string{"21.0.0", "20.0.0"}).Draw(t, "release")})
		case core.SourceDrains:
			d.Upserts = append(d.Upserts, &core.DrainState{Meta: core.Meta{Namespace: "p", Name: key, UID: "drain-" + key}, Cluster: "mos",
				Machine: letter("machine"), Type: rapid.SampledFrom([]string{core.DrainKubernetes, "swarm-drain"}).Draw(t, "type"),
				Message: letter("message")})
		case core.SourceGroups:
			d.Upserts = append(d.Upserts, &core.MachineGroup{Meta: core.Meta{Namespace: "p", Name: key, UID: "group-" + key}, Cluster: "mos",
				Index: rapid.IntRange(1, 2).Draw(t, "index of the group")})
		case core.SourceOpenStackController: // says by which labels nodes have their roles
			d.Upserts = append(d.Upserts, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, RoleLabels: fmt.Sprintf(
				`{"controller":{"role":"x"},"compute":{"role":%q},"gateway":{"role":"y"}}`, letter("role of computes"))})
		}
	}
	if !d.Replace && rapid.Bool().Draw(t, "deletes") {
		d.Deletes = append(d.Deletes, letter("gone"))
	}
	return d
}
