package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A played controller neither begins a node nor releases its lock while one of the StatefulSets needs the node, or while that is
// unknown. Only nodes that such a pod belongs on are checked.
func TestAQuorumHoldsANodeOfAPlayedController(t *testing.T) {
	all := []string{"ctl-01", "ctl-02", "ctl-03"}
	const short = "mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not"
	for name, tt := range map[string]struct {
		pods []string
		node string
		with func(sc scene.Scene)
		says string // empty: nothing is in the way
	}{
		"all are ready":            {all, "ctl-01", nil, ""},
		"its own pod is not ready": {[]string{"!ctl-01", "ctl-02", "ctl-03"}, "ctl-01", nil, ""},
		"a pod elsewhere is not":   {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "ctl-01", nil, short},
		"a pod elsewhere crashes": {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "ctl-01",
			func(sc scene.Scene) { sc.DaemonPods["openstack/mariadb-server"][1].Waits = "CrashLoopBackOff" }, "is not (CrashLoopBackOff)"},
		"a pod is on a node that is to be removed and released": {all, "ctl-01", func(sc scene.Scene) {
			sc.Removes("ctl-02")
			sc.NodeLock("ctl-02", core.ControllerOpenStack).RawState = core.LockInactive
		}, "mariadb-server: 3 of 3 ready; ctl-02 is released and goes down"},
		"a pod is on a node that is to be removed, and held": {all, "ctl-01", func(sc scene.Scene) { sc.Removes("ctl-02") }, ""},
		"a released node whose pod is down already is counted once": {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "ctl-01", func(sc scene.Scene) {
			sc.Removes("ctl-02")
			sc.NodeLock("ctl-02", core.ControllerOpenStack).RawState = core.LockInactive
		}, short},
		"a compute is no part of it":     {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "cmp-01", nil, ""},
		"a compute that has a pod of it": {[]string{"cmp-01", "!ctl-02", "ctl-03"}, "cmp-01", nil, short},
		"its own pod is away": {[]string{"", "!ctl-02", "ctl-03"}, "ctl-01", nil,
			"1 of 3 ready; mariadb-server-0 is not (on no node), mariadb-server-1 on ctl-02 is not"},
		"a pod is missing": {all, "ctl-01", func(sc scene.Scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][:2]
		}, "2 of 3 ready; 1 pod missing"},
		"two are on the node": {[]string{"ctl-01", "ctl-01", "ctl-03"}, "ctl-01", nil, "3 of 3 ready; 2 of its pods run on ctl-01"},
		"etcd": {all, "ctl-01", func(sc scene.Scene) { sc.DaemonPods["openstack/etcd-etcd"][2].Ready = false },
			"etcd-etcd-2 on ctl-03 is not"},
		"Redis, in its own namespace": {all, "ctl-01",
			func(sc scene.Scene) { sc.DaemonPods["openstack-redis/rfr-openstack-redis"][1].Ready = false },
			"rfr-openstack-redis-1 on ctl-02 is not"},
		"Prometheus": {all, "ctl-01", func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "openstack-prometheus-server", "ctl-01", "!ctl-02")
		}, "openstack-prometheus-server: 1 of 2 ready"},
		"OVN's database is not asked first": {all, "ctl-01", func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "openvswitch-ovn-db", "ctl-01", "!ctl-02", "ctl-03")
		}, ""},
		"another's set": {all, "ctl-01",
			func(sc scene.Scene) { sc.Stateful(core.NamespaceOpenStack, "rabbitmq", "ctl-01", "!ctl-02", "ctl-03") }, ""},
		"the name in another namespace": {all, "ctl-01",
			func(sc scene.Scene) { sc.Stateful("stacklight", "mariadb-server", "ctl-01", "!ctl-02", "ctl-03") }, ""},
		"no Redis": {all, "ctl-01", func(sc scene.Scene) { sc.StatefulSets = sc.StatefulSets[:2] }, ""},
		"the sets are forbidden": {all, "ctl-01", func(sc scene.Scene) { sc.Source(core.SourceStatefulSets, core.SourceForbidden) },
			"statefulsets: forbidden"},
		"the pods are forbidden": {all, "ctl-01", func(sc scene.Scene) { sc.Source(core.SourceDaemonPods, core.SourceForbidden) },
			"daemonset pods: forbidden"},
		"the pods are stale": {all, "ctl-01", func(sc scene.Scene) { sc.Source(core.SourceDaemonPods, core.SourceStale) },
			"daemonset pods: stale"},
		"Redis' pods were not seen for long": {all, "ctl-01", func(sc scene.Scene) {
			src := sc.Sources[core.SourceRedisPods]
			src.AsOf = scene.Ago(2 * time.Minute)
			sc.Sources[core.SourceRedisPods] = src
		}, "statefulset pods of redis 2 m old"},
		"a compute rests on none of them": {all, "cmp-01", func(sc scene.Scene) {
			for _, id := range []core.SourceID{core.SourceStatefulSets, core.SourceRedisSets, core.SourceRedisPods} {
				sc.Source(id, core.SourceForbidden)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []core.IntentKind{core.IntentActBegin, core.IntentActRelease} {
				sc := scene.Quorate(tt.pods...)
				sc.Instances, sc.ByHost = core.Instances{}, map[string][]*core.Instance{}
				if kind == core.IntentActRelease {
					l := sc.NodeLock(tt.node, core.ControllerOpenStack)
					l.InnerState = core.InnerActive
					if svc := sc.Services[tt.node]; svc != nil {
						svc.Enabled, svc.DisabledReason = false, core.DisabledReasonMaintenance
					}
				}
				if tt.with != nil {
					tt.with(sc)
				}
				st := Plan(sc.Again().Snapshot, core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: tt.node})
				if (tt.says == "") != st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
					t.Errorf("%s is %s, blocked by %q; want %q", st.Title, st.State, st.Blocker(), tt.says)
				}
			}
		})
	}
}

// Only the OpenStack controller has this rule.
func TestOnlyTheOpenStackControllerAsksForQuorums(t *testing.T) {
	sc := scene.Quorate("ctl-01", "!ctl-02", "ctl-03")
	sc.Settings.ActAs = []core.ActAs{{Controller: "storage", Roles: []core.Role{core.RoleController}}}
	sc.Lock("ctl-01", "storage", core.LockActive)
	if st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActBegin, Controller: "storage", Node: "ctl-01"}); !st.Doable() {
		t.Errorf("it is %s, blocked by %q", st.State, st.Blocker())
	}
}
