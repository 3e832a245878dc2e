package core

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// stateful adds a StatefulSet with a ready pod on each of the nodes; an empty name is a pod without a node.
func (sc scene) stateful(namespace, name string, nodes ...string) *StatefulSet {
	set := &StatefulSet{Meta: Meta{Namespace: namespace, Name: name, UID: namespace + "/" + name}, Replicas: len(nodes), Selector: "app=" + name}
	sc.StatefulSets = append(sc.StatefulSets, set)
	if sc.DaemonPods == nil {
		sc.DaemonPods = map[string][]*DaemonPod{}
	}
	sc.DaemonPods[set.UID] = members(set, nodes...)
	return set
}

// members are the pods of a StatefulSet on the nodes, all ready but those whose node is marked: "!ctl-02" is not ready, "-ctl-02"
// is being removed.
func members(set *StatefulSet, nodes ...string) []*DaemonPod {
	var out []*DaemonPod
	for i, node := range nodes {
		p := &DaemonPod{Meta: Meta{Namespace: set.Namespace, Name: set.Name + "-" + itoa(i), UID: "pod-" + set.Name + "-" + itoa(i)}, Owner: set.UID, Set: set.Name,
			Node: strings.TrimLeft(node, "!-"), Ready: node != "" && !strings.HasPrefix(node, "!")}
		if strings.HasPrefix(node, "-") {
			p.Deleting = noon
		}
		out = append(out, p)
	}
	return out
}

// is_node_locked of the OpenStack controller (docs/mosk.md#quorum): True if ready pods < replicas-1, or pods on other nodes <
// replicas-1, or other pods not ready.
func TestWhetherAStatefulSetHoldsANode(t *testing.T) {
	for name, tt := range map[string]struct {
		replicas int
		pods     []string // their nodes; see members
		node     string
		want     quorumLock
	}{
		"all are ready":                           {3, []string{"a", "b", "c"}, "a", quorumFree},
		"a node that none is on":                  {3, []string{"a", "b", "c"}, "d", quorumFree},
		"the one there is not ready":              {3, []string{"!a", "b", "c"}, "a", quorumFree},
		"the one there is gone":                   {3, []string{"b", "c"}, "a", quorumFree},
		"one elsewhere is not ready":              {3, []string{"a", "!b", "c"}, "a", quorumOthersDown},
		"one elsewhere is being removed":          {3, []string{"a", "-b", "c"}, "a", quorumOthersDown},
		"seen from where none is":                 {3, []string{"a", "!b", "c"}, "d", quorumOthersDown},
		"one elsewhere is gone":                   {3, []string{"a", "c"}, "a", quorumTooFewElse},
		"one elsewhere is on no node":             {3, []string{"a", "", "c"}, "a", quorumTooFewElse},
		"two are on the node":                     {3, []string{"a", "a", "c"}, "a", quorumTooFewElse},
		"two are on another node":                 {3, []string{"a", "c", "c"}, "a", quorumFree},
		"two are not ready":                       {3, []string{"!a", "!b", "c"}, "a", quorumTooFew},
		"two are not ready, seen from the others": {3, []string{"!a", "!b", "c"}, "c", quorumTooFew},
		"none is there":                           {3, nil, "a", quorumTooFew},
		"five, and one elsewhere is not ready":    {5, []string{"a", "!b", "c", "d", "e"}, "a", quorumOthersDown},
		"five, and two are not ready":             {5, []string{"a", "!b", "!c", "d", "e"}, "a", quorumTooFew},
		"two replicas":                            {2, []string{"a", "b"}, "a", quorumFree},
		"two replicas, the other not ready":       {2, []string{"a", "!b"}, "a", quorumOthersDown},
		"one replica never holds its node":        {1, []string{"!a"}, "a", quorumFree},
		"none is wanted":                          {0, nil, "a", quorumFree},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isNodeLocked(tt.replicas, members(&StatefulSet{Meta: Meta{Name: "db"}}, tt.pods...), tt.node); got != tt.want {
				t.Errorf("it holds %s by rule %d, want %d", tt.node, got, tt.want)
			}
		})
	}
}

// quorate is a cluster that LCM asks for ctl-01 and cmp-01 of, whose OpenStack controller Lockstep plays; the members of
// mariadb-server are on the nodes.
func quorate(nodes ...string) scene {
	sc := healthy()
	sc.Settings = playsOpenStack()
	sc.update(2 * time.Hour)
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}} // scaled to 0
	for _, node := range []string{"ctl-01", "cmp-01"} {
		sc.request(node, 20*time.Minute)
	}
	sc.stateful(namespaceOpenStack, "mariadb-server", nodes...)
	sc.stateful(namespaceOpenStack, "etcd-etcd", "ctl-01", "ctl-02", "ctl-03")
	sc.stateful(namespaceRedis, "rfr-openstack-redis", "ctl-01", "ctl-02", "ctl-03")
	return sc
}

// A played controller neither begins a node nor releases its lock while one of the StatefulSets cannot do without the node; what
// is not known counts as that, and only nodes that such a pod belongs on are asked about.
func TestAQuorumHoldsANodeOfAPlayedController(t *testing.T) {
	all := []string{"ctl-01", "ctl-02", "ctl-03"}
	const short = "mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not"
	for name, tt := range map[string]struct {
		pods []string
		node string
		with func(sc scene)
		says string // empty: nothing is in the way
	}{
		"all are ready":                  {all, "ctl-01", nil, ""},
		"its own pod is not ready":       {[]string{"!ctl-01", "ctl-02", "ctl-03"}, "ctl-01", nil, ""},
		"a pod elsewhere is not":         {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "ctl-01", nil, short},
		"a pod elsewhere crashes":        {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "ctl-01", func(sc scene) { sc.DaemonPods["openstack/mariadb-server"][1].Waits = "CrashLoopBackOff" }, "is not (CrashLoopBackOff)"},
		"a compute is no part of it":     {[]string{"ctl-01", "!ctl-02", "ctl-03"}, "cmp-01", nil, ""},
		"a compute that has a pod of it": {[]string{"cmp-01", "!ctl-02", "ctl-03"}, "cmp-01", nil, short},
		"its own pod is away":            {[]string{"", "!ctl-02", "ctl-03"}, "ctl-01", nil, "1 of 3 ready; mariadb-server-0 is not (on no node), mariadb-server-1 on ctl-02 is not"},
		"a pod is missing": {all, "ctl-01", func(sc scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][:2]
		}, "2 of 3 ready; 1 pod missing"},
		"two are on the node":               {[]string{"ctl-01", "ctl-01", "ctl-03"}, "ctl-01", nil, "3 of 3 ready; 2 of its pods run on ctl-01"},
		"etcd":                              {all, "ctl-01", func(sc scene) { sc.DaemonPods["openstack/etcd-etcd"][2].Ready = false }, "etcd-etcd-2 on ctl-03 is not"},
		"Redis, in its own namespace":       {all, "ctl-01", func(sc scene) { sc.DaemonPods["openstack-redis/rfr-openstack-redis"][1].Ready = false }, "rfr-openstack-redis-1 on ctl-02 is not"},
		"Prometheus":                        {all, "ctl-01", func(sc scene) { sc.stateful(namespaceOpenStack, "openstack-prometheus-server", "ctl-01", "!ctl-02") }, "openstack-prometheus-server: 1 of 2 ready"},
		"OVN's database is not asked first": {all, "ctl-01", func(sc scene) { sc.stateful(namespaceOpenStack, "openvswitch-ovn-db", "ctl-01", "!ctl-02", "ctl-03") }, ""},
		"another's set":                     {all, "ctl-01", func(sc scene) { sc.stateful(namespaceOpenStack, "rabbitmq", "ctl-01", "!ctl-02", "ctl-03") }, ""},
		"the name in another namespace":     {all, "ctl-01", func(sc scene) { sc.stateful("stacklight", "mariadb-server", "ctl-01", "!ctl-02", "ctl-03") }, ""},
		"no Redis":                          {all, "ctl-01", func(sc scene) { sc.StatefulSets = sc.StatefulSets[:2] }, ""},
		"the sets are forbidden":            {all, "ctl-01", func(sc scene) { sc.source(SourceStatefulSets, SourceForbidden) }, "statefulsets: forbidden"},
		"the pods are forbidden":            {all, "ctl-01", func(sc scene) { sc.source(SourceDaemonPods, SourceForbidden) }, "daemonset pods: forbidden"},
		"the pods are stale":                {all, "ctl-01", func(sc scene) { sc.source(SourceDaemonPods, SourceStale) }, "daemonset pods: stale"},
		"Redis' pods were not seen for long": {all, "ctl-01", func(sc scene) {
			src := sc.Sources[SourceRedisPods]
			src.AsOf = ago(2 * time.Minute)
			sc.Sources[SourceRedisPods] = src
		}, "statefulset pods of redis 2 m old"},
		"a compute rests on none of them": {all, "cmp-01", func(sc scene) {
			for _, id := range []SourceID{SourceStatefulSets, SourceRedisSets, SourceRedisPods} {
				sc.source(id, SourceForbidden)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []IntentKind{IntentActBegin, IntentActRelease} {
				sc := quorate(tt.pods...)
				sc.Instances, sc.ByHost = map[string]*Instance{}, map[string][]*Instance{}
				if kind == IntentActRelease {
					l := sc.NodeLock(tt.node, ControllerOpenStack)
					l.InnerState = InnerActive
					if svc := sc.Services[tt.node]; svc != nil {
						svc.Enabled, svc.DisabledReason = false, DisabledReasonMaintenance
					}
				}
				if tt.with != nil {
					tt.with(sc)
				}
				st := Plan(sc.again().Snapshot, Intent{Kind: kind, Controller: ControllerOpenStack, Node: tt.node})
				if (tt.says == "") != st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
					t.Errorf("%s is %s, blocked by %q; want %q", st.Title, st.State, st.Blocker(), tt.says)
				}
			}
		})
	}
}

// A controller that is not OpenStack's has no such rule.
func TestOnlyTheOpenStackControllerAsksForQuorums(t *testing.T) {
	sc := quorate("ctl-01", "!ctl-02", "ctl-03")
	sc.Settings.ActAs = []ActAs{{Controller: "storage", Roles: []Role{RoleController}}}
	sc.lock("ctl-01", "storage", LockActive)
	if st := Plan(sc.again().Snapshot, Intent{Kind: IntentActBegin, Controller: "storage", Node: "ctl-01"}); !st.Doable() {
		t.Errorf("it is %s, blocked by %q", st.State, st.Blocker())
	}
}

// What Lockstep sees of the sets by which the OpenStack controller defers a node or keeps it, in the words of texts G and U.
func TestWhatHoldsANodeIsSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		with func(sc scene)
		want []string
	}{
		"G": {"Some services blocks nmr handling {'compute': True, 'database': False, 'redis': False}. Deferring processing for node ctl-01", nil,
			[]string{"mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not", "rfr-openstack-redis: 3 of 3 ready: it can do without the node now"}},
		"U":                          {"The node ctl-01 is hard locked by mariadb.", nil, []string{"mariadb-server-1 on ctl-02 is not"}},
		"U of a set that is gone":    {"The node ctl-01 is hard locked by openvswitch-ovn.", nil, []string{"there is no openvswitch-ovn-db"}},
		"U of a set one may not see": {"The node ctl-01 is hard locked by redis.", func(sc scene) { sc.source(SourceRedisSets, SourceForbidden) }, []string{"rfr-openstack-redis is not known: statefulsets of redis: forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := quorate("ctl-01", "!ctl-02", "ctl-03")
			sc.Settings = DefaultSettings()
			l := sc.NodeLock("ctl-01", ControllerOpenStack)
			l.Message = "2026-10-14 11:59:00.000000 " + tt.text
			if tt.with != nil {
				tt.with(sc)
			}
			s := sc.again().Snapshot
			for _, want := range tt.want {
				if got := s.Seen(l, ReadLockMessage(l.Message)); !strings.Contains(got, want) {
					t.Errorf("it sees %q, want %q in it", got, want)
				}
			}
		})
	}
	// Redis is looked at where it is.
	sc := quorate("ctl-01", "ctl-02", "ctl-03")
	l := sc.NodeLock("ctl-01", ControllerOpenStack)
	look := sc.look(l, ReadLockMessage("2026-10-14 11:59:00.000000 The node ctl-01 is hard locked by redis."))
	if !slices.Contains(look, "kubectl -n openstack-redis get statefulset rfr-openstack-redis") {
		t.Errorf("it is looked at with %q", look)
	}
}

// Before a node's turn its procedure says which set has to be mended, and who will wait for it.
func TestAShortQuorumIsToldBeforeTheNodesTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		node string
		pods []string
		with func(sc scene)
		why  string // empty: nothing is told
	}{
		"one elsewhere is not ready":  {"ctl-02", []string{"!ctl-01", "ctl-02", "ctl-03"}, nil, "versions of it only count the pods"},
		"two are not ready":           {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, nil, "The OpenStack controller defers the node until then."},
		"a compute":                   {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, nil, "The OpenStack controller defers the node until then."},
		"its own pod is not ready":    {"ctl-02", []string{"ctl-01", "!ctl-02", "ctl-03"}, nil, ""},
		"Lockstep plays":              {"ctl-02", []string{"!ctl-01", "ctl-02", "ctl-03"}, func(sc scene) { sc.Settings = playsOpenStack() }, "Lockstep, in the OpenStack controller's place"},
		"Lockstep plays on a compute": {"cmp-02", []string{"!ctl-01", "ctl-02", "ctl-03"}, func(sc scene) { sc.Settings = playsOpenStack() }, ""},
		"no update, a controller":     {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) { sc.ClusterRequests = nil }, "defers the node"},
		"no update, a compute":        {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) { sc.ClusterRequests = nil }, ""},
		"the pods may not be seen":    {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) { sc.source(SourceDaemonPods, SourceForbidden) }, ""},
		"it is to leave": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) {
			sc.Deletions["ctl-02"] = &NodeNotice{Meta: Meta{Name: "ctl-02", UID: "ndr", Created: ago(time.Minute)}, Node: "ctl-02"}
		}, "its lock does not say so"},
		"it was let go":                 {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) { sc.NodeLock("ctl-02", ControllerOpenStack).RawState = LockInactive }, ""},
		"a node the controller has not": {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene) { delete(sc.NodeLocks, "cmp-02") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := quorate(tt.pods...)
			sc.Settings = DefaultSettings()
			clear(sc.NodeRequests)
			if tt.with != nil {
				tt.with(sc)
			}
			p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: tt.node})
			i := slices.IndexFunc(p.Steps, func(st Step) bool { return strings.HasPrefix(st.Title, "mend mariadb-server before the node") })
			switch {
			case i < 0 && tt.why != "":
				t.Errorf("nothing is told in\n%s", strings.Join(outline(p), "\n"))
			case i >= 0 && tt.why == "":
				t.Errorf("it is told: %s", p.Steps[i].Why)
			case i >= 0:
				st := p.Steps[i]
				if !strings.Contains(st.Why, tt.why) || !strings.Contains(st.Status, "mariadb-server-0 on ctl-01 is not") || len(st.Commands) != 2 || st.State != StepWaiting {
					t.Errorf("%s, %s, %s, %q", st.State, st.Why, st.Status, st.Commands)
				}
			}
		})
	}
}

// A pod that falls after it was last seen stops the step right before the write: the server itself is asked. A server that does
// not answer the question stops it too.
func TestTheQuorumIsAskedOfTheServerRightBeforeTheWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		kind IntentKind
		fall func(c *testCloud)
		says string // empty: it is written
	}{
		"begin":               {IntentActBegin, nil, ""},
		"begin: a pod fell":   {IntentActBegin, func(c *testCloud) { c.daemons.pods[1].Ready = false }, "mariadb-server-1 on cmp-2 is not"},
		"release":             {IntentActRelease, nil, ""},
		"release: a pod fell": {IntentActRelease, func(c *testCloud) { c.daemons.pods[1].Ready = false }, "mariadb-server-1 on cmp-2 is not"},
		"release: the server does not say": {IntentActRelease, func(c *testCloud) {
			c.noQuorum = &APIError{Kind: ErrForbidden, Call: "list StatefulSet mariadb-server", Message: "not yours"}
		}, "forbidden: not yours"},
		"begin: the server does not say": {IntentActBegin, func(c *testCloud) {
			c.noQuorum = &APIError{Kind: ErrForbidden, Call: "list StatefulSet mariadb-server", Message: "not yours"}
		}, "forbidden: not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.roles = map[string][]Role{"cmp-1": {RoleController}}
				cloud.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
				if tt.kind == IntentActRelease {
					cloud.locks["cmp-1"].InnerState = InnerActive
				}
				set := &StatefulSet{Meta: Meta{Namespace: namespaceOpenStack, Name: "mariadb-server", UID: "sts"}, Replicas: 3, Selector: "app=mariadb"}
				cloud.stateful = []*StatefulSet{set}
				cloud.daemons.pods = members(set, "cmp-1", "cmp-2", "cmp-3")
				b := newBenchWith(t, t.TempDir(), cloud, playsOpenStack())
				defer b.end()
				b.arm()
				st := Plan(b.engine.Snapshot(), Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: "cmp-1"})
				g, err := b.engine.Grant(st, st.Type)
				if err != nil {
					t.Fatalf("%v: blocked by %q", err, st.Blocker())
				}
				if tt.fall != nil {
					cloud.mu.Lock()
					tt.fall(cloud)
					cloud.mu.Unlock()
				}
				id, err := b.engine.Execute(context.Background(), g)
				if err != nil {
					t.Fatal(err)
				}
				op := b.awaitEnd(id)
				if tt.says == "" && (op.State != OperationDone || len(cloud.written()) != 1) {
					t.Errorf("it ended as %s: %s; the cluster received %q", op.State, op.Text, cloud.written())
				}
				if tt.says != "" && (op.State != OperationFailed || !strings.Contains(op.Text, tt.says) || len(cloud.written()) > 0) {
					t.Errorf("it ended as %s: %s; the cluster received %q", op.State, op.Text, cloud.written())
				}
			})
		})
	}
}

// A plan for the node, and what needs a person where Lockstep plays, say it too; of a compute, which is no part of it, neither does.
func TestAShortQuorumIsInThePlanAndInWhatNeedsYou(t *testing.T) {
	const says = "It cannot go down now: mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not."
	s := quorate("ctl-01", "!ctl-02", "ctl-03").again().Snapshot
	for node, want := range map[string]bool{"ctl-01": true, "cmp-01": false} {
		plan, err := ForecastEvacuation(s, EvacuationFacts{}, EvacuationRequest{Nodes: []string{node}})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(plan.Nodes[0].Notes, says) != want {
			t.Errorf("the plan for %s notes %q", node, plan.Nodes[0].Notes)
		}
		i := slices.IndexFunc(s.Attention(), func(a Attention) bool { return a.Node == node && strings.HasPrefix(a.ID, "act/") })
		if i < 0 || (s.Attention()[i].Detail == says) != want {
			t.Errorf("%s needs somebody: %+v", node, s.Attention())
		}
	}
	// In assist a deferral that lasts tells what is seen.
	sc := quorate("ctl-01", "!ctl-02", "ctl-03")
	sc.Settings = DefaultSettings()
	delete(sc.NodeRequests, "ctl-01")
	sc.maintained("ctl-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node ctl-01")
	sc.NodeRequests["ctl-01"][0].Created = ago(5 * time.Hour)
	found := sc.again().Attention()
	if !slices.ContainsFunc(found, func(a Attention) bool {
		return a.Node == "ctl-01" && strings.Contains(a.Reason, "deferred for long: mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not; these")
	}) {
		t.Errorf("it does not tell what is seen: %+v", found)
	}
}
