package cli

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// planStepSays is the status of a step of the plan.
func planStepSays(s *core.Snapshot, key string) string {
	p := s.Management.Plan()
	if p == nil || p.StepAt(key) < 0 {
		return ""
	}
	return p.Steps[p.StepAt(key)].Status
}

// A whole planned update, driven from its first step to its end by confirmed steps: one is commenced ahead and withdrawn, the workers are
// held between two nodes and go on, and LCM does each time what is asked for.
func TestAPlannedUpdateIsDrivenByItsSteps(t *testing.T) {
	bubble.Story(t, plannedUpdate)
}

func plannedUpdate(t *testing.T) {
	const openstack, masters, workers, rest = "openstack", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"
	st := newStory(t, sim.Options{Scenario: told(t, "drive-it"), Timing: brief, Speed: quickly})
	st.place.Management = simManagement(st.Cloud)
	st.begin()
	commence := func(key string) core.Intent { return core.Intent{Kind: core.IntentCommence, PlanStep: key} }
	uncommence := func(key string) core.Intent { return core.Intent{Kind: core.IntentUncommence, PlanStep: key} }
	comesNext := func(key string) {
		t.Helper()
		st.until("the page proposes "+key, func(s *core.Snapshot) bool {
			p, ok := procedure.Of(s, *procedure.UpdateKey())
			next, _ := p.Next()
			return ok && next.Intent.Kind == core.IntentCommence && next.Intent.PlanStep == key
		})
	}
	st.arm()
	st.until("the plan is there", func(s *core.Snapshot) bool { return live(s, core.ServerManagement) && s.Management.Plan() != nil })
	comesNext(openstack)
	st.confirm(commence(openstack))
	st.until("LCM has begun", func(s *core.Snapshot) bool {
		return planStepSays(s, openstack) == core.PlanInProgress && s.Management.Cluster.Target == s.Management.Plan().Target
	})
	if stp := step.Plan(st.last, uncommence(openstack)); stp.Doable() || !strings.Contains(stp.Blocker(), "it has not begun") {
		t.Errorf("what has begun could be withdrawn: %q", stp.Blocker())
	}
	st.confirm(commence(masters))
	st.until("the masters are Scheduled", func(s *core.Snapshot) bool { return planStepSays(s, masters) == core.PlanScheduled })
	st.confirm(uncommence(masters))
	st.until("they are not any more", func(s *core.Snapshot) bool { return planStepSays(s, masters) == core.PlanNotStarted })
	st.until("OpenStack is updated", func(s *core.Snapshot) bool { return planStepSays(s, openstack) == core.PlanCompleted })
	st.until("the plan waits", func(s *core.Snapshot) bool {
		a := needs(s, "plan-waits")
		return a != nil && *a.Resolve == *procedure.UpdateKey()
	})
	comesNext(masters)
	st.confirm(commence(masters))
	st.until("the masters are updated", func(s *core.Snapshot) bool { return planStepSays(s, masters) == core.PlanCompleted })
	comesNext(workers)
	st.confirm(commence(workers))
	var first string
	st.until("a worker is in maintenance", func(s *core.Snapshot) bool {
		for _, v := range progress.NodeViews(s) {
			if v.Request != nil && strings.HasPrefix(v.Label, "cmp-") {
				first = v.Name
			}
		}
		return first != ""
	})
	st.confirm(uncommence(workers))
	st.until("the worker under way is finished", func(s *core.Snapshot) bool { return s.NodeRequest(first) == nil })
	end := time.Now().Add(3 * time.Minute / quickly)
	st.until("nothing more is begun", func(s *core.Snapshot) bool {
		if len(s.NodeRequests) > 0 {
			t.Fatalf("a node is in maintenance although the workers are held: %v", s.NodeRequests)
		}
		return time.Now().After(end)
	})
	if a := needs(st.last, "plan-waits"); a == nil || !strings.Contains(a.Reason, "is held") {
		t.Errorf("nobody says that the workers are held: %+v", attention.Of(st.last))
	}
	comesNext(workers)
	st.confirm(commence(workers))
	st.until("the workers are updated", func(s *core.Snapshot) bool { return planStepSays(s, workers) == core.PlanCompleted })
	comesNext(rest)
	st.confirm(commence(rest))
	st.until("the update is over", func(s *core.Snapshot) bool {
		return s.Management.Plan().Status == core.PlanCompleted && s.ClusterRequest() == nil
	})
}

// takesTheRelease gives a cluster without a plan the release that is offered, by the step that is next.
func (st *story) takesTheRelease() (next core.Step) {
	st.t.Helper()
	st.until("a release is offered", func(s *core.Snapshot) bool {
		p, _ := procedure.Of(s, *procedure.UpdateKey())
		next, _ = p.Next()
		return live(s, core.ServerManagement) && next.Intent.Kind == core.IntentSetRelease
	})
	st.confirm(next.Intent)
	return next
}

// A cluster without an update plan is given the release that is offered, and LCM updates all of it.
func TestAClusterWithoutAPlanIsDrivenByItsSteps(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "release-offered"), Timing: brief, Speed: quickly})
		st.place.Management = simManagement(st.Cloud)
		st.begin()
		st.arm()
		next := st.takesTheRelease()
		st.until("the cluster is at it, and its maintenance is over", func(s *core.Snapshot) bool {
			c := s.Management.Cluster
			return c.Release == next.Intent.Release && c.Target == c.Release && s.ClusterRequest() == nil && len(s.NodeRequests) == 0
		})
		if again := step.Plan(st.last, next.Intent); again.Doable() || again.State != core.StepDone {
			t.Errorf("it could be set again: %s, %s", again.State, again.Blocker())
		}
	})
}

// Of several releases that are offered, the one whose name is typed is set, and the cluster comes to that one.
func TestTheReleaseThatIsTypedIsTheOneThatTheClusterComesTo(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		const patch, major = "mosk-17-4-6-25-1-1", "mosk-21-0-0-25-2"
		st := newStory(t, sim.Options{Scenario: told(t, "releases-offered"), Timing: brief, Speed: quickly})
		st.place.Management = simManagement(st.Cloud)
		st.begin()
		st.arm()
		give := func(release string) core.Step {
			return step.Plan(st.last, core.Intent{Kind: core.IntentSetRelease, Release: release})
		}
		st.until("both are offered", func(s *core.Snapshot) bool {
			return live(s, core.ServerManagement) && s.Management.Cluster != nil && len(s.Management.Cluster.Available) == 2 &&
				give(patch).Doable() && give(major).Doable()
		})
		for _, release := range []string{patch, major} {
			if got := give(release); got.Type != release || strings.Contains(got.Then, "rebooted") != (release == major) {
				t.Errorf("to set %s one types %q: %s", release, got.Type, got.Then)
			}
		}
		st.confirm(core.Intent{Kind: core.IntentSetRelease, Release: patch})
		st.until("the cluster is on its way", func(s *core.Snapshot) bool { return progress.UpdateRequest(s) != nil })
		if got := progress.UpdateRequest(st.last).Release; got != "17.4.6+25.1.1" {
			t.Errorf("it is on its way to %s", got)
		}
		if got := give(major); got.Doable() {
			t.Error("the other one could be set meanwhile")
		}
		st.until("the cluster is at it", func(s *core.Snapshot) bool {
			return s.Management.Cluster.Release == patch && s.ClusterRequest() == nil && len(s.NodeRequests) == 0
		})
		for _, n := range st.last.Nodes {
			if n.KubeletVersion != "v1.30.15" {
				t.Errorf("%s runs %s", n.Name, n.KubeletVersion)
			}
		}
	})
}
