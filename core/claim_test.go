package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// claims gives each pod of a set a claim on a disk of the node that is named for it; "pending" is a claim without a volume, "nfs" one
// whose volume is on no node, "lost" one whose volume is not there, "none" no claim of that name; "a+b" are two claims.
func (sc scene) claims(set *StatefulSet, nodes ...string) {
	if sc.Claims == nil {
		sc.Snapshot.Claims, sc.Snapshot.LocalVolumes = map[string]*VolumeClaim{}, map[string]*PersistentVolume{}
	}
	for i, node := range nodes {
		pod := sc.DaemonPods[set.UID][i]
		for j, at := range strings.Split(node, "+") {
			name := "data-" + pod.Name
			if j > 0 {
				name += "-" + itoa(j)
			}
			pod.Claims = append(pod.Claims, name)
			claim := &VolumeClaim{Meta: Meta{Namespace: set.Namespace, Name: name, UID: "uid-" + name}, Volume: "pv-" + name}
			volume := &PersistentVolume{Meta: Meta{Name: claim.Volume}, Nodes: []string{at}}
			switch at {
			case "none":
				continue
			case "pending":
				claim.Volume = ""
			case "nfs":
				volume.Nodes = nil
			}
			sc.Claims[claim.Key()] = claim
			if at != "lost" && at != "pending" {
				sc.LocalVolumes[volume.Name] = volume
			}
		}
	}
}

// goneController is a cluster that ctl-09 has left, on whose disks the volumes of members are; Lockstep plays its OpenStack controller.
func goneController(at ...string) scene {
	sc := healthy()
	sc.Settings = playsOpenStack()
	sc.Controller = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	l := sc.lock("ctl-09", ControllerOpenStack, LockActive)
	l.Deleting, l.Finalizers = ago(time.Minute), []string{usualFinalizer}
	set := sc.stateful(namespaceOpenStack, "mariadb-server", "", "ctl-02", "ctl-03")
	sc.claims(set, append(at, "ctl-02", "ctl-03")...)
	return sc
}

// Which claims go with a node, and what holds them; the lock's finalizer waits for all of them and says which are there.
func TestTheClaimsOfANodeThatIsGone(t *testing.T) {
	const claim = "data-mariadb-server-0"
	pod := func(sc scene, i int) *DaemonPod { return sc.DaemonPods["openstack/mariadb-server"][i] }
	for name, tt := range map[string]struct {
		at    string
		with  func(sc scene)
		claim string // what holds the claim's step; "-": there is no such step, "": nothing
		lock  string // what holds the lock's last step; empty: nothing
	}{
		"bound to it":                       {"ctl-09", nil, "", "still there: data-mariadb-server-0 in openstack"},
		"bound to another":                  {"ctl-02", nil, "-", ""},
		"without a volume":                  {"pending", nil, "-", ""},
		"on no node's own disks":            {"nfs", nil, "-", ""},
		"deleted already":                   {"none", nil, "-", ""},
		"its volume is not there":           {"lost", nil, "its volume pv-data-mariadb-server-0 is not there", "still there: data-mariadb-server-0"},
		"its pod runs on another node":      {"ctl-09", func(sc scene) { pod(sc, 0).Node, pod(sc, 0).Ready = "ctl-01", true }, "-", ""},
		"its pod is still said to be on it": {"ctl-09", func(sc scene) { pod(sc, 0).Node = "ctl-09" }, "mariadb-server-0 is still said to be there", "still there"},
		"another member is not ready":       {"ctl-09", func(sc scene) { pod(sc, 1).Ready = false }, "mariadb-server does not hold the node: mariadb-server: 1 of 3 ready", "still there"},
		"another member is missing": {"ctl-09", func(sc scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][:2]
		}, "mariadb-server does not hold the node", "still there"},
		"its own pod is not made yet": {"ctl-09", func(sc scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][1:]
		}, "-", "not known: mariadb-server has 2 of 3 pods: what the other claims is not known"},
		"the set is gone": {"ctl-09", func(sc scene) { sc.Snapshot.StatefulSets = nil }, "-", ""},
		"the claims are forbidden": {"ctl-09", func(sc scene) {
			sc.source(SourceClaims, SourceForbidden)
			src := sc.Sources[SourceClaims]
			src.Err = &APIError{Kind: ErrForbidden, Call: "list persistentvolumeclaims in namespace openstack"}
			sc.Sources[SourceClaims] = src
			sc.Snapshot.Claims = nil
		}, "-", "you may not list persistentvolumeclaims in namespace openstack (deploy/rbac-maintenance.yaml)"},
		"the volumes are forbidden":              {"ctl-09", func(sc scene) { sc.source(SourceLocalVolumes, SourceForbidden) }, "-", "persistentvolumes: you may not"},
		"no Redis, and its claims are forbidden": {"pending", func(sc scene) { sc.source(SourceRedisClaims, SourceForbidden) }, "-", ""},
		"the sets are not known":                 {"ctl-09", func(sc scene) { sc.source(SourceStatefulSets, SourceForbidden) }, "-", "not known: statefulsets: forbidden"},
		"the volumes are old": {"ctl-09", func(sc scene) {
			src := sc.Sources[SourceLocalVolumes]
			src.AsOf = ago(2 * time.Minute)
			sc.Sources[SourceLocalVolumes] = src
		}, "persistentvolumes 2 m old", "persistentvolumes 2 m old"},
		"two claims of one pod": {"ctl-09+ctl-09", nil, "", "data-mariadb-server-0 in openstack, data-mariadb-server-0-1 in openstack"},
		"the controller is back": {"ctl-09", func(sc scene) {
			sc.Snapshot.Controller = &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: 1, Ready: 1}
		}, "the controller itself does not run", "the controller itself does not run"},
		"its machine is disabled": {"ctl-09", func(sc scene) { sc.Disablings["ctl-09"] = &NodeNotice{Meta: Meta{Name: "d"}, Node: "ctl-09"} }, "-", "it is the time for it"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := goneController(tt.at)
			if tt.with != nil {
				tt.with(sc)
			}
			p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "ctl-09"})
			found := "-"
			for _, st := range p.Steps {
				if st.Intent.Kind == IntentActDeleteClaim && st.Intent.Object.Name == claim {
					found = st.Blocker()
				}
			}
			if tt.claim == "-" && found != "-" || tt.claim == "" && found != "" || !strings.Contains(found, tt.claim) {
				t.Errorf("the claim's step is held by %q, want %q", found, tt.claim)
			}
			l := sc.NodeLock("ctl-09", ControllerOpenStack)
			st := Plan(sc.again().Snapshot, Intent{Kind: IntentActLetGo, Controller: ControllerOpenStack, Object: l.Ref()})
			if got := st.Blocker(); tt.lock == "" && got != "" || !strings.Contains(got, tt.lock) {
				t.Errorf("the lock is held by %q, want %q", got, tt.lock)
			}
			if held := st.Blocker() != ""; held && strings.Contains(st.Why, "that is done.") && tt.claim != "-" {
				t.Errorf("it says %q", st.Why)
			}
		})
	}
}

// The claims of every set of the controller's, and in its order: its services from the last to the first, OVN's after Cinder's.
func TestTheClaimsOfEverySet(t *testing.T) {
	sc := goneController("ctl-09")
	for _, q := range []quorumSet{quorumSets[4], quorumSets[1], quorumSets[2], quorumSets[3]} {
		sc.claims(sc.stateful(q.namespace, q.name, "", "ctl-02", "ctl-03"), "ctl-09", "ctl-02", "ctl-03")
	}
	other := sc.stateful(namespaceOpenStack, "rabbitmq-server", "", "ctl-02", "ctl-03")
	sc.claims(other, "ctl-09", "ctl-02", "ctl-03")
	names := func() (out []string) {
		p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "ctl-09"})
		for _, st := range p.Steps {
			if st.Intent.Kind == IntentActDeleteClaim {
				out = append(out, strings.TrimPrefix(st.Label, "data-"))
			}
		}
		return out
	}
	want := []string{"openstack-prometheus-server-0", "rfr-openstack-redis-0", "etcd-etcd-0", "mariadb-server-0", "openvswitch-ovn-db-0"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("the claims are those of %q, want %q", got, want)
	}
	for backend, is := range map[string]bool{"": true, "ml2/ovn": true, "ml2": false, "tungstenfabric": false} {
		sc.Snapshot.Deployments = []*OpenStackDeployment{{Meta: Meta{Name: "osh"}, Network: backend}}
		if got := slices.Contains(names(), "openvswitch-ovn-db-0"); got != is {
			t.Errorf("with %q OVN's claim is among them: %t", backend, got)
		}
	}
	sc.Snapshot.Deployments = nil
	var said string
	for _, a := range sc.again().Attention() {
		if a.Node == "ctl-09" {
			said += a.Reason
		}
	}
	if !strings.Contains(said, "5 volume claims on its disks, its lock and what OpenStack knows of it wait for you") {
		t.Errorf("it is told as %q", said)
	}
}

// What is shown of a claim before it is deleted: the pod, the volume, the node, the command with the UID as its condition.
func TestWhatIsShownOfAClaim(t *testing.T) {
	sc := goneController("ctl-09")
	st := Plan(sc.again().Snapshot, Intent{Kind: IntentActDeleteClaim, Controller: ControllerOpenStack, Node: "ctl-09", Object: sc.Claims["openstack/data-mariadb-server-0"].Ref()})
	if st.State != StepReady || st.Risk != RiskHigh || st.Type != "data-mariadb-server-0" || st.Undo != "" ||
		st.Status != "mariadb-server-0, volume pv-data-mariadb-server-0" {
		t.Errorf("it is %s (%s), risk %s, types %q: %s", st.State, st.Blocker(), st.Risk, st.Type, st.Status)
	}
	want := []string{`echo '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"uid-data-mariadb-server-0"}}' | kubectl delete --raw /api/v1/namespaces/openstack/persistentvolumeclaims/data-mariadb-server-0 -f -`}
	if !slices.Equal(st.Commands, want) {
		t.Errorf("the commands are %q, want %q", st.Commands, want)
	}
	sc.Claims["openstack/data-mariadb-server-0"].Deleting = ago(time.Minute)
	sc.Claims["openstack/data-mariadb-server-0"].Finalizers = []string{"kubernetes.io/pvc-protection"}
	st = Plan(sc.again().Snapshot, st.Intent)
	if st.State != StepWaiting || st.Change != nil || !strings.Contains(st.Status, "held by kubernetes.io/pvc-protection: mariadb-server-0 is on no node") {
		t.Errorf("in its removal it is %s: %s", st.State, st.Status)
	}
	again := *sc.Claims["openstack/data-mariadb-server-0"]
	again.UID = "another"
	sc.Claims["openstack/data-mariadb-server-0"] = &again
	if st = Plan(sc.again().Snapshot, st.Intent); st.Doable() || !strings.Contains(st.Blocker(), "it was made anew") {
		t.Errorf("made anew it is %s: %s", st.State, st.Blocker())
	}
}

// As long as claims are there, nothing says that the clean-up is done; a member without a node is told, and holds nothing.
func TestTheProcedureOfClaims(t *testing.T) {
	sc := goneController("ctl-09")
	stage := func() string {
		v, _ := sc.again().NodeView("ctl-09")
		return string(v.Stage) + ": " + v.Reason
	}
	if got := stage(); got != "waiting for you: it is gone, and you play the OpenStack controller: 1 volume claim on its disks, its lock and what OpenStack knows of it wait for you" {
		t.Errorf("its stage is %s", got)
	}
	lines := func() string {
		p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "ctl-09"})
		return strings.Join(append(outline(p), p.Summary...), "\n")
	}
	if got := lines(); !strings.Contains(got, "1 volume claim is bound to its disks") || strings.Contains(got, "done: no volume claim") ||
		!strings.Contains(got, "ready: delete claim data-mariadb-server-0 | mariadb-server-0, volume pv-data-mariadb-server-0") {
		t.Errorf("with a claim:\n%s", got)
	}
	sc = goneController("pending")
	if got := lines(); !strings.Contains(got, "waiting: mariadb-server-0 finds a node | mariadb-server: 2 of 3 ready; mariadb-server-0 is not (on no node)") ||
		!strings.Contains(got, "done: no volume claim is bound to the disks of ctl-09 | none is any more") || !strings.Contains(got, "ready: let the lock go") {
		t.Errorf("without:\n%s", got)
	}
	sc.Snapshot.Operations = []Operation{{ID: "op", Step: "act-delete-claim/gone", Intent: Intent{Kind: IntentActDeleteClaim}, Title: "delete claim x", Node: "ctl-09", State: OperationVerifying, Text: "its member starts"}}
	if got := lines(); !strings.Contains(got, "running: delete claim x | its member starts") || strings.Contains(got, "ready: let the lock go") {
		t.Errorf("while one is under way:\n%s", got)
	}
}

// goneWithClaims is a cloud that cmp-1 has left, with a member of MariaDB whose volume is on it.
func goneWithClaims() *testCloud {
	c := toBeRemoved()
	clear(c.instances)
	c.leave()
	delete(c.services, "cmp-1")
	set := &StatefulSet{Meta: Meta{Namespace: namespaceOpenStack, Name: "mariadb-server", UID: "sts"}, Replicas: 3, Selector: "app=db"}
	c.stateful = []*StatefulSet{set}
	c.daemons.pods = members(set, "", "cmp-2", "cmp-3")
	for i, node := range []string{"cmp-1", "cmp-2", "cmp-3"} {
		name := "data-mariadb-server-" + itoa(i)
		c.daemons.pods[i].Claims = []string{name}
		c.claims = append(c.claims, &VolumeClaim{Meta: Meta{Namespace: namespaceOpenStack, Name: name, UID: "uid-" + name}, Volume: "pv-" + name})
		c.localVolumes = append(c.localVolumes, &PersistentVolume{Meta: Meta{Name: "pv-" + name}, Nodes: []string{node}})
	}
	return c
}

// deleteClaim is the step of the member's claim.
func deleteClaim(c *testCloud) Intent {
	return Intent{Kind: IntentActDeleteClaim, Controller: ControllerOpenStack, Node: "cmp-1", Object: c.claims[0].Ref()}
}

// A claim is deleted, and the step ends when the new member is ready elsewhere; what becomes of it otherwise is said. The lock goes
// last.
func TestAClaimIsDeletedAndItsMemberComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(c *testCloud, pod *DaemonPod) // once the claim is gone
		state OperationState
		says  string
	}{
		"ready elsewhere": {func(_ *testCloud, pod *DaemonPod) { pod.Node, pod.Ready = "cmp-2", true }, OperationDone, "mariadb-server-0 is ready on cmp-2, with a new volume"},
		"it claims another": {func(c *testCloud, pod *DaemonPod) {
			pod.Claims = append(pod.Claims, "logs")
			c.claims = append(c.claims, &VolumeClaim{Meta: Meta{Namespace: namespaceOpenStack, Name: "logs", UID: "logs"}, Volume: "pv-data-mariadb-server-0"})
		}, OperationDone, "waits for another of its own, bound to the node: logs"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := goneWithClaims()
				c.onClaimGone = func(Ref) { tt.then(c, c.daemons.pods[0]) }
				b := played(t, c)
				id, err := b.confirm(deleteClaim(c))
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != tt.state || !strings.Contains(op.Text, tt.says) {
					t.Errorf("it ended as %s: %s", op.State, op.Text)
				}
				if want := []string{"delete-claim data-mariadb-server-0"}; !slices.Equal(c.written(), want) {
					t.Errorf("the server received %q, want %q", c.written(), want)
				}
				b.sync()
				st := Plan(b.engine.Snapshot(), Intent{Kind: IntentActDropLock, Controller: ControllerOpenStack, Node: "cmp-1"})
				if other := name == "it claims another"; st.Doable() == other {
					t.Errorf("the lock's step is %s: %s", st.State, st.Blocker())
				}
			})
		})
	}
}

// While it is not ready the step goes on, for as long as a new member may take; a member that no node can have ends it sooner.
func TestAMemberThatDoesNotComeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		then     func(c *testCloud, pod *DaemonPod)
		patience time.Duration
		says     string
	}{
		"no node has it":   {func(_ *testCloud, pod *DaemonPod) { pod.Waits = "Unschedulable" }, placePatience, "the claim is gone; mariadb-server-0 is on no node (Unschedulable)"},
		"not made":         {func(c *testCloud, _ *DaemonPod) { c.daemons.pods = c.daemons.pods[1:] }, placePatience, "mariadb-server-0 is not there yet"},
		"not ready":        {func(_ *testCloud, pod *DaemonPod) { pod.Node, pod.Waits = "cmp-2", "CrashLoopBackOff" }, memberPatience, "mariadb-server-0 on cmp-2 is CrashLoopBackOff"},
		"the old one":      {func(_ *testCloud, pod *DaemonPod) { pod.Node, pod.Ready = "cmp-1", true }, memberPatience, "the old mariadb-server-0 is still said to be on the node"},
		"in use elsewhere": {func(c *testCloud, pod *DaemonPod) { c.claims[0].Deleting, pod.Node = worldTime, "cmp-2" }, memberPatience, "mariadb-server-0 still uses it"},
		"held": {func(c *testCloud, _ *DaemonPod) {
			c.claims[0].Deleting, c.claims[0].Finalizers = worldTime, []string{"kubernetes.io/pvc-protection"}
		}, memberPatience, "held by kubernetes.io/pvc-protection"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := goneWithClaims()
				b := played(t, c)
				w := &claimChecker{e: b.engine, change: DeleteClaim{Claim: c.claims[0].Ref(), Node: "cmp-1", Set: "mariadb-server",
					Pod: "mariadb-server-0"}}
				if tt.then(c, c.daemons.pods[0]); c.claims[0].Deleting.IsZero() {
					c.claims = c.claims[1:]
				}
				for began, want := range map[time.Time]OperationState{worldTime: OperationVerifying, worldTime.Add(-tt.patience): OperationVerifying,
					worldTime.Add(-tt.patience - time.Second): OperationFailed} {
					if o := w.outcome(t.Context(), sent{began: began}); o.state != want || o.moving != (want == OperationVerifying) ||
						!strings.Contains(o.text, tt.says) {
						t.Errorf("after %s it is %s: %s", worldTime.Sub(began), o.state, o.text)
					}
				}
			})
		})
	}
}

// What has changed since it was last seen is asked of the server itself, right before the claim, or the lock, goes.
func TestAClaimsDeletionAsksLast(t *testing.T) {
	lock := Intent{Kind: IntentActDropLock, Controller: ControllerOpenStack, Node: "cmp-1"}
	for name, tt := range map[string]struct {
		seen func(c *testCloud) // before it is seen
		then func(c *testCloud)
		lock bool
		says string
	}{
		"a member elsewhere is down": {nil, func(c *testCloud) { c.daemons.pods[1].Ready = false }, false, "mariadb-server holds the node"},
		"the claim is another":       {nil, func(c *testCloud) { c.claims[0].UID = "another" }, false, "gone or another by now"},
		"the claim is gone":          {nil, func(c *testCloud) { c.claims = c.claims[1:] }, false, "gone or another by now"},
		"it is bound elsewhere": {nil, func(c *testCloud) {
			c.localVolumes[0] = &PersistentVolume{Meta: c.localVolumes[0].Meta, Nodes: []string{"cmp-2"}}
		}, false, "gone or another by now"},
		"its pod runs elsewhere": {nil, func(c *testCloud) { c.daemons.pods[0].Node = "cmp-2" }, false, "gone or another by now"},
		"it is being deleted":    {nil, func(c *testCloud) { c.claims[0].Deleting = worldTime }, false, "being deleted already"},
		"the set is gone":        {nil, func(c *testCloud) { c.stateful = nil }, false, "StatefulSet mariadb-server is gone"},
		"the node is back":       {nil, func(c *testCloud) { c.uids["cmp-1"] = "again" }, false, "a node of this name again"},
		"the controller is back": {nil, func(c *testCloud) {
			c.rockoon = &Deployment{Meta: Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1}
		}, false, "not out of the way"},
		"the claims are forbidden": {nil, func(c *testCloud) {
			c.noClaims = &APIError{Kind: ErrForbidden, Call: "list persistentvolumeclaims", Message: "you may not"}
		}, false, "forbidden: you may not"},
		"the lock: a claim is there":  {func(c *testCloud) { c.claims[0].Volume = "" }, func(c *testCloud) { c.claims[0].Volume = "pv-data-mariadb-server-0" }, true, "a volume claim is bound to its disks: data-mariadb-server-0"},
		"the lock: a pod is not made": {func(c *testCloud) { c.claims[0].Volume = "" }, func(c *testCloud) { c.daemons.pods = c.daemons.pods[1:] }, true, "mariadb-server has 2 of 3 pods"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := goneWithClaims()
				if tt.seen != nil {
					tt.seen(c)
				}
				b := played(t, c)
				i := deleteClaim(c)
				if tt.lock {
					i = lock
				}
				c.mu.Lock()
				tt.then(c)
				c.mu.Unlock()
				id, err := b.confirm(i)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, tt.says) || len(c.written()) > 0 {
					t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
				}
			})
		})
	}
}

// Redis' claims that one may not see are told only where there is a Redis: elsewhere the manifest has no namespace for the right.
func TestForbiddenClaimsOfARedisThatIsNotThere(t *testing.T) {
	for redis, want := range map[bool]int{true: 1, false: 0} {
		sc := goneController("pending")
		if redis {
			sc.stateful(namespaceRedis, "rfr-openstack-redis", "ctl-01", "ctl-02", "ctl-03")
		}
		sc.source(SourceRedisClaims, SourceForbidden)
		told := 0
		for _, a := range sc.again().Attention() {
			if strings.Contains(a.Reason, string(SourceRedisClaims)) {
				told++
			}
		}
		if told != want {
			t.Errorf("with a Redis (%t) it is told %d times", redis, told)
		}
	}
}
