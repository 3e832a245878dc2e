package cli

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/scenario"
)

// player is Lockstep in an application controller's place. It is killed and restarted as often as a test wants.
type player struct {
	*story
	did     []string // titles of the finished steps, in order
	restart int      // it is killed after this many steps; 0: never
}

// play begins a scenario in which Lockstep plays the named controllers.
func play(t *testing.T, told *scenario.Scenario, actAs ...string) *player {
	t.Helper()
	p := &player{story: newStory(t, sim.Options{Scenario: told, Timing: brief, Speed: quickly}, actAs...)}
	p.begin()
	p.arm()
	return p
}

// next returns the first step of the kinds, of the cluster or of any node, that can be confirmed now.
func (p *player) next(s *core.Snapshot, kinds ...core.IntentKind) (core.Step, bool) {
	keys := []core.ProcedureKey{{Kind: core.ProcedureCluster}}
	for _, name := range s.NodeNames() {
		keys = append(keys, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
	}
	for _, key := range keys {
		proc, _ := procedure.Of(s, key)
		for _, st := range proc.Steps {
			if st.Doable() && (st.State == core.StepReady || st.State == core.StepFailed) && slices.Contains(kinds, st.Intent.Kind) {
				return st, true
			}
		}
	}
	return core.Step{}, false
}

// do confirms a step, and waits until it is done and the Snapshot shows it.
func (p *player) do(st core.Step) {
	p.t.Helper()
	if op := p.execute(st); op.State != core.OperationDone {
		p.t.Fatalf("%s ended as %s: %s", st.Title, op.State, op.Text)
	}
	p.until(st.Title+" shows", func(s *core.Snapshot) bool {
		now := step.Plan(s, st.Intent)
		return !now.Doable() || !reflect.DeepEqual(now.Change, st.Change)
	})
	p.did = append(p.did, st.Title)
	if p.restart > 0 && len(p.did)%p.restart == 0 {
		p.stop()
		p.begin()
		p.arm()
	}
}

// The OpenStack controller is switched off, and LCM updates three computes with instances. Lockstep plays the controller to the
// end. It is killed and restarted after every third step, gets through an outage of Nova, and no instance stops on the way.
func TestLockstepPlaysTheOpenStackControllerThroughAnUpdate(t *testing.T) {
	bubble.Story(t, playsTheOpenStackController)
}

func playsTheOpenStackController(t *testing.T) {
	p := play(t, told(t, "act-as"), "openstack")
	p.restart = 3
	running := map[string]string{}
	for id, in := range p.last.Instances.All() {
		running[id] = in.Name
	}
	if len(running) != 3 {
		t.Fatalf("the scenario has the instances %v", running)
	}
	acts := []core.IntentKind{core.IntentActCreateLock, core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentLiveMigrateAll,
		core.IntentLiveMigrate,
		core.IntentActRelease, core.IntentActIntoScheduling, core.IntentActRearm, core.IntentActFinish, core.IntentActHold, core.IntentActLetGo,
		core.IntentActVolumeOut, core.IntentActVolumeIn}
	computes := []string{"cmp-01", "cmp-02", "cmp-03"}
	through := func(s *core.Snapshot) bool {
		done := 0
		for _, v := range progress.NodeViews(s) {
			l := s.NodeLock(v.Name, core.ControllerOpenStack)
			if slices.Contains(computes, v.Label) && v.Stage == core.StageDone && l != nil && l.State() == core.LockActive &&
				l.InnerState != core.InnerActive {
				done++
			}
		}
		return done == len(computes)
	}
	outage := false
	for steps := 0; ; steps++ {
		if steps > 200 {
			t.Fatalf("it does not come to an end; done so far: %q", p.did)
		}
		var st core.Step
		found := false
		p.until("there is something to do, or all is done", func(s *core.Snapshot) bool {
			for id, name := range running {
				if in := s.Instances.At(id); in != nil && in.Status != "ACTIVE" && in.Status != "MIGRATING" {
					t.Fatalf("%s is %s", name, in.Status)
				}
			}
			if st, found = p.next(s, acts...); found {
				return true
			}
			return through(s)
		})
		if !found {
			break
		}
		if !outage && len(p.did) == 4 {
			outage = true
			p.outOfNova()
			continue
		}
		p.do(st)
	}
	for _, label := range computes {
		for _, want := range []string{"begin to prepare", "take nova-compute out of scheduling on", "release the lock on",
			"put nova-compute back into scheduling on", "take the lock back on", "end the work on"} {
			title := want + " " + label
			if n := countText(p.did, title); n != 1 {
				t.Errorf("%q was done %d times", title, n)
			}
		}
	}
	for _, title := range []string{"take cinder-volume lvm out of scheduling on cmp-02",
		"put cinder-volume lvm back into scheduling on cmp-02"} {
		if n := countText(p.did, title); n != 1 {
			t.Errorf("%q was done %d times", title, n)
		}
	}
	for _, svc := range p.last.Services {
		if !svc.Enabled {
			t.Errorf("nova-compute of %s was left disabled: %s", svc.Host, svc.DisabledReason)
		}
	}
	if !outage {
		t.Error("there was no outage")
	}
}

func countText(all []string, text string) int {
	n := 0
	for _, s := range all {
		if s == text {
			n++
		}
	}
	return n
}

// outOfNova takes Nova away: every step that rests on it is blocked, and says so. Then Nova comes back.
func (p *player) outOfNova() {
	p.t.Helper()
	if err := p.Faults.On(fault.Setting{Server: fault.OpenStack, Kind: "refused"}); err != nil {
		p.t.Fatal(err)
	}
	p.until("Nova is away, and nothing that rests on it can be confirmed", func(s *core.Snapshot) bool {
		if s.Sources[core.SourceInstances].State == core.SourceLive {
			return false
		}
		_, found := p.next(s, core.IntentActRelease, core.IntentLiveMigrate, core.IntentLiveMigrateAll)
		return !found
	})
	p.Faults.Clear()
	p.until("Nova is there again", sessiontest.AllKnown)
}

// Lockstep begins a node in the OpenStack controller's place, and is gone when the request is withdrawn. The request waits until
// the controller runs again, which takes the node back as if it had begun it.
func TestWhoeverFinishesTakesTheNodeBack(t *testing.T) {
	bubble.Story(t, whoeverFinishes)
}

func whoeverFinishes(t *testing.T) {
	p := play(t, told(t, "node-deletion", func(s *scenario.Scenario) {
		s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
	}), "openstack")
	name := ""
	for _, n := range p.last.Nodes {
		if n.Label() == "cmp-01" {
			name = n.Name
		}
	}
	confirm := func(i core.Intent, object func(s *core.Snapshot) *core.MaintenanceRequest) {
		t.Helper()
		var st core.Step
		p.until(string(i.Kind)+" can be confirmed", func(s *core.Snapshot) bool {
			if object != nil {
				r := object(s)
				if r == nil {
					return false
				}
				i.Object = r.Ref()
			}
			st = step.Plan(s, i)
			return st.Doable()
		})
		p.do(st)
	}
	request := func(s *core.Snapshot) *core.MaintenanceRequest { return s.NodeRequest(name) }
	confirm(core.Intent{Kind: core.IntentAskCluster}, nil)
	confirm(core.Intent{Kind: core.IntentActHold, Controller: core.ControllerOpenStack}, (*core.Snapshot).ClusterRequest)
	confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack}, nil)
	confirm(core.Intent{Kind: core.IntentAskNode, Node: name, Scope: core.ScopeOS}, nil)
	confirm(core.Intent{Kind: core.IntentActHold, Controller: core.ControllerOpenStack}, request)
	confirm(core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: name}, nil)
	confirm(core.Intent{Kind: core.IntentActOutOfScheduling, Controller: core.ControllerOpenStack, Node: name}, nil)
	confirm(core.Intent{Kind: core.IntentWithdraw}, request)
	p.until("the request waits in its removal", func(s *core.Snapshot) bool {
		r := s.NodeRequest(name)
		return r != nil && !r.Deleting.IsZero()
	})
	p.stop()
	kube := kubernetesOf(t, p.Cloud)
	if _, err := kube.AppsV1().Deployments("osh-system").Patch(t.Context(), "rockoon", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.begin()
	p.until("the controller has taken the node back, and nothing is left over", func(s *core.Snapshot) bool {
		l, svc := s.NodeLock(name, core.ControllerOpenStack), s.Services[s.HostOf(name)]
		return s.NodeRequest(name) == nil && l != nil && l.State() == core.LockActive && l.InnerState != core.InnerActive && svc != nil &&
			svc.Enabled
	})
}

// A cluster without an update, whose OpenStack controller lives, one thing after the other: a node is to be removed, and then is not;
// nodes are maintained by hand; and the controller fails on what it is asked.
func TestACourseOfAClusterWithoutAnUpdate(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "node-deletion"))
		removalWithdrawn(t, p)
		maintenanceByHand(t, p)
		controllersNotes(t, p)
	})
}

// Maintenance without an update, by hand, on a cluster whose controllers live: they answer Lockstep's requests as they answer
// LCM's. The instances leave the node, and every lock is taken back in the end.
func maintenanceByHand(t *testing.T, p *player) {
	t.Helper()
	const node = "cmp-01"
	name := ""
	for _, n := range p.last.Nodes {
		if n.Label() == node {
			name = n.Name
		}
	}
	if name == "" || len(p.last.InstancesOn(name)) == 0 {
		t.Fatalf("there is no %s with instances", node)
	}
	inactive := func(locks []*core.WorkloadLock, want core.LockState) bool {
		return len(locks) > 0 && !slices.ContainsFunc(locks, func(l *core.WorkloadLock) bool { return l.State() != want })
	}
	confirm := func(i core.Intent) {
		t.Helper()
		var st core.Step
		p.until(string(i.Kind)+" can be confirmed", func(s *core.Snapshot) bool {
			if i.Kind == core.IntentWithdraw {
				r := s.ClusterRequest()
				if i.Node != "" {
					r = s.NodeRequest(i.Node)
				}
				if r == nil {
					return false
				}
				i.Object = r.Ref()
			}
			st = step.Plan(s, i)
			return st.Doable()
		})
		p.do(st)
	}
	confirm(core.Intent{Kind: core.IntentAskCluster})
	p.until("all cluster locks are released", func(s *core.Snapshot) bool { return inactive(s.ClusterLocks, core.LockInactive) })
	if u := progress.Update(p.last); u.Running || !u.ByHand {
		t.Errorf("a maintenance by hand counts as an update: %+v", u)
	}
	confirm(core.Intent{Kind: core.IntentAskNode, Node: name, Scope: core.ScopeOS})
	p.until("the node is released, and nothing runs on it", func(s *core.Snapshot) bool {
		return inactive(s.NodeLocks.At(name), core.LockInactive) && len(s.InstancesOn(name)) == 0
	})
	confirm(core.Intent{Kind: core.IntentWithdraw, Node: name})
	p.until("the node's locks are taken back, and it is in scheduling", func(s *core.Snapshot) bool {
		svc := s.Services[s.HostOf(name)]
		return s.NodeRequest(name) == nil && inactive(s.NodeLocks.At(name), core.LockActive) && svc != nil && svc.Enabled
	})
	confirm(core.Intent{Kind: core.IntentWithdraw})
	p.until("the cluster's locks are taken back", func(s *core.Snapshot) bool {
		return s.ClusterRequest() == nil && inactive(s.ClusterLocks, core.LockActive)
	})
}
