package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// goneWithClaims is a cloud that cmp-1 has left; the volume of a MariaDB member is on it.
func goneWithClaims() *testCloud {
	c := toBeRemoved()
	clear(c.instances)
	c.leave()
	delete(c.services, "cmp-1")
	set := &core.StatefulSet{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "mariadb-server", UID: "sts"}, Replicas: 3,
		Selector: "app=db"}
	c.stateful = []*core.StatefulSet{set}
	c.daemons.pods = scene.Members(set, "", "cmp-2", "cmp-3")
	for i, node := range []string{"cmp-1", "cmp-2", "cmp-3"} {
		name := "data-mariadb-server-" + wording.Itoa(i)
		c.daemons.pods[i].Claims = []string{name}
		c.claims = append(c.claims, &core.VolumeClaim{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: name, UID: "uid-" + name},
			Volume: "pv-" + name})
		c.localVolumes = append(c.localVolumes, &core.PersistentVolume{Meta: core.Meta{Name: "pv-" + name}, Nodes: []string{node}})
	}
	return c
}

// deleteClaim is the step that deletes the member's claim.
func deleteClaim(c *testCloud) core.Intent {
	return core.Intent{Kind: core.IntentActDeleteClaim, Controller: core.ControllerOpenStack, Node: "cmp-1", Object: c.claims[0].Ref()}
}

// A claim is deleted, and the step ends when the new member is ready elsewhere; any other end is reported. The lock goes last.
func TestAClaimIsDeletedAndItsMemberComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(c *testCloud, pod *core.DaemonPod) // once the claim is gone
		state core.OperationState
		says  string
	}{
		"ready elsewhere": {func(_ *testCloud, pod *core.DaemonPod) { pod.Node, pod.Ready = "cmp-2", true }, core.OperationDone,
			"mariadb-server-0 is ready on cmp-2, with a new volume"},
		"it claims another": {func(c *testCloud, pod *core.DaemonPod) {
			pod.Claims = append(pod.Claims, "logs")
			c.claims = append(c.claims, &core.VolumeClaim{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "logs", UID: "logs"},
				Volume: "pv-data-mariadb-server-0"})
		}, core.OperationDone, "waits for another of its own, bound to the node: logs"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := goneWithClaims()
				c.onClaimGone = func(core.Ref) { tt.then(c, c.daemons.pods[0]) }
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
				st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentActDropLock, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if other := name == "it claims another"; st.Doable() == other {
					t.Errorf("the lock's step is %s: %s", st.State, st.Blocker())
				}
			})
		})
	}
}

// While the new member is not ready, the step goes on for as long as a member may take. It ends sooner when no node can take the
// member.
func TestAMemberThatDoesNotComeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		then     func(c *testCloud, pod *core.DaemonPod)
		patience time.Duration
		says     string
	}{
		"no node has it": {func(_ *testCloud, pod *core.DaemonPod) { pod.Waits = "Unschedulable" }, placePatience,
			"the claim is gone; mariadb-server-0 is on no node (Unschedulable)"},
		"not made": {func(c *testCloud, _ *core.DaemonPod) { c.daemons.pods = c.daemons.pods[1:] }, placePatience,
			"mariadb-server-0 is not there yet"},
		"not ready": {func(_ *testCloud, pod *core.DaemonPod) { pod.Node, pod.Waits = "cmp-2", "CrashLoopBackOff" }, memberPatience,
			"mariadb-server-0 on cmp-2 is CrashLoopBackOff"},
		"the old one": {func(_ *testCloud, pod *core.DaemonPod) { pod.Node, pod.Ready = "cmp-1", true }, memberPatience,
			"the old mariadb-server-0 is still said to be on the node"},
		"in use elsewhere": {func(c *testCloud, pod *core.DaemonPod) { c.claims[0].Deleting, pod.Node = worldTime, "cmp-2" }, memberPatience,
			"mariadb-server-0 still uses it"},
		"held": {func(c *testCloud, _ *core.DaemonPod) {
			c.claims[0].Deleting, c.claims[0].Finalizers = worldTime, []string{"kubernetes.io/pvc-protection"}
		}, memberPatience, "held by kubernetes.io/pvc-protection"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := goneWithClaims()
				b := played(t, c)
				w := &claimChecker{e: b.engine, change: core.DeleteClaim{Claim: c.claims[0].Ref(), Node: "cmp-1", Set: "mariadb-server",
					Pod: "mariadb-server-0"}}
				if tt.then(c, c.daemons.pods[0]); c.claims[0].Deleting.IsZero() {
					c.claims = c.claims[1:]
				}
				for began, want := range map[time.Time]core.OperationState{worldTime: core.OperationVerifying,
					worldTime.Add(-tt.patience):               core.OperationVerifying,
					worldTime.Add(-tt.patience - time.Second): core.OperationFailed} {
					if o := w.outcome(t.Context(), sent{began: began}); o.state != want || o.moving != (want == core.OperationVerifying) ||
						!strings.Contains(o.text, tt.says) {
						t.Errorf("after %s it is %s: %s", worldTime.Sub(began), o.state, o.text)
					}
				}
			})
		})
	}
}

// The server itself is asked for changes right before the claim or the lock goes.
func TestAClaimsDeletionAsksLast(t *testing.T) {
	lock := core.Intent{Kind: core.IntentActDropLock, Controller: core.ControllerOpenStack, Node: "cmp-1"}
	for name, tt := range map[string]struct {
		seen func(c *testCloud) // before it is seen
		then func(c *testCloud)
		lock bool
		says string
	}{
		"a member elsewhere is down": {nil, func(c *testCloud) { c.daemons.pods[1].Ready = false }, false, "mariadb-server holds the node"},
		"the claim is another":       {nil, func(c *testCloud) { c.claims[0].UID = "another" }, false, "gone, or is another one now"},
		"the claim is gone":          {nil, func(c *testCloud) { c.claims = c.claims[1:] }, false, "gone, or is another one now"},
		"it is bound elsewhere": {nil, func(c *testCloud) {
			c.localVolumes[0] = &core.PersistentVolume{Meta: c.localVolumes[0].Meta, Nodes: []string{"cmp-2"}}
		}, false, "gone, or is another one now"},
		"its pod runs elsewhere": {nil, func(c *testCloud) { c.daemons.pods[0].Node = "cmp-2" }, false, "gone, or is another one now"},
		"it is being deleted":    {nil, func(c *testCloud) { c.claims[0].Deleting = worldTime }, false, "being deleted already"},
		"the set is gone":        {nil, func(c *testCloud) { c.stateful = nil }, false, "StatefulSet mariadb-server is gone"},
		"the node is back":       {nil, func(c *testCloud) { c.uids["cmp-1"] = "again" }, false, "a node of this name again"},
		"the controller is back": {nil, func(c *testCloud) {
			c.rockoon = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1}
		}, false, "not out of the way"},
		"the claims are forbidden": {nil, func(c *testCloud) {
			c.noClaims = &core.APIError{Kind: core.ErrForbidden, Call: "list persistentvolumeclaims", Message: "you may not"}
		}, false, "forbidden: you may not"},
		"the lock: a claim is there": {func(c *testCloud) { c.claims[0].Volume = "" },
			func(c *testCloud) { c.claims[0].Volume = "pv-data-mariadb-server-0" }, true,
			"a volume claim is bound to its disks: data-mariadb-server-0"},
		"the lock: a pod is not made": {func(c *testCloud) { c.claims[0].Volume = "" },
			func(c *testCloud) { c.daemons.pods = c.daemons.pods[1:] }, true, "mariadb-server has 2 of 3 pods"},
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
				if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) || len(c.written()) > 0 {
					t.Errorf("it ended as %s: %s, after %q", op.State, op.Text, c.written())
				}
			})
		})
	}
}
