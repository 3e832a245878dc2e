package progress_test

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A lock leads to the logs of the application whose it is, on the node that it is about, and to the choice among its pods.
func TestALockLeadsToTheLogsOfItsApplication(t *testing.T) {
	for _, test := range []struct {
		controller string
		logs       []string
		pods       []string
	}{
		{core.ControllerCeph, []string{"Ceph's osd on cmp-01", "Ceph's mon on cmp-01", "Ceph's mgr on cmp-01", "rook-ceph-operator", "Ceph's mon",
			"Ceph's mgr"}, []string{core.NamespaceCeph, "ceph-lcm-mirantis"}},
		{core.ControllerTungstenFabric, []string{"vRouter on cmp-01"}, []string{core.NamespaceFabric}},
		{core.ControllerStackLight, nil, []string{"stacklight"}},
	} {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		lock := sc.Lock("cmp-01", test.controller, core.LockActive)
		looks := progress.LooksAtLock(sc.Snapshot, lock)
		var logs, pods []string
		for _, l := range looks {
			switch {
			case l.Kind == core.LookLog:
				logs = append(logs, l.Log.Label)
			case l.Kind == core.LookPods && l.Pods.Node == "":
				pods = append(pods, l.Pods.Namespace)
			}
		}
		if len(logs) < len(test.logs) || !slices.Equal(logs[:len(test.logs)], test.logs) || !slices.Equal(pods, test.pods) {
			t.Errorf("%s: logs %q, pods of %q", test.controller, logs, pods)
		}
		for _, namespace := range pods {
			if !slices.Contains(core.PodNamespaces(core.ServerKubernetes), namespace) {
				t.Errorf("%s is none of MOSK's namespaces that are asked one by one", namespace)
			}
		}
	}
}

// A node that stores, and one of a cluster with Tungsten Fabric, lead to the logs of what runs there. Any pod can be chosen.
func TestANodeLeadsToWhatRunsThere(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute, core.RoleStorage)
	sc.DaemonSets = append(sc.DaemonSets,
		&core.DaemonSet{Meta: core.Meta{Namespace: core.NamespaceFabric, Name: "tf-vrouter-agent"}, Desired: 1})
	looks := progress.LooksAtNode(sc.Snapshot, "cmp-01")
	for _, want := range append(progress.CephLogs(sc.Snapshot, "cmp-01"), progress.FabricLog(sc.Snapshot, "cmp-01")) {
		if !slices.ContainsFunc(looks, func(l core.Look) bool { return l.Kind == core.LookLog && l.Log == want }) {
			t.Errorf("there is no log of %s", want.Label)
		}
	}
	if !slices.ContainsFunc(looks, func(l core.Look) bool { return l.Pods == progress.PodsOn(sc.Snapshot, "cmp-01") }) {
		t.Error("there are no pods of the node")
	}
	if !slices.ContainsFunc(progress.LooksAtUpdate(sc.Snapshot), func(l core.Look) bool {
		return l.Pods == progress.AnyPod(core.ServerKubernetes)
	}) {
		t.Error("the update does not lead to any pod")
	}
}

// Every object that the pages of the update and of Ceph's locks rest on can be looked at: the update groups and what pauses the update,
// and how Ceph is by Rook.
func TestTheUpdateLeadsToItsGroupsAndToCeph(t *testing.T) {
	m := scene.Resting()
	sc := m.Join(&core.MachineGroup{Meta: core.Meta{Name: "rack-a", Namespace: "prod", UID: "g"}, Cluster: "mos"},
		&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}})
	sc.Ceph = []*core.CephCluster{{Meta: core.Meta{Name: "rook-ceph", Namespace: core.NamespaceCeph}}}
	shown := func(looks []core.Look) (all []string) {
		for _, l := range looks {
			if l.Kind == core.LookYAML {
				all = append(all, l.Object.Kind+" "+l.Object.Name)
			}
		}
		return all
	}
	all := shown(progress.LooksAtUpdate(sc.Snapshot))
	for _, want := range []string{"UpdateGroup rack-a", "UpdateAutoPause mos", "CephCluster rook-ceph"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not among %q", want, all)
		}
	}
	lock := sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
	if all := shown(progress.LooksAtLock(sc.Snapshot, lock)); len(all) < 2 || all[1] != "CephCluster rook-ceph" {
		t.Errorf("Ceph's lock leads to %q", all)
	}
}
