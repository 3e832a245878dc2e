package cli

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// Evicted pods hold the return of their node forever, and the controller does not say so. Lockstep names them and deletes them
// under one confirmation; then the node comes back by itself.
func TestEvictedPodsHoldANode(t *testing.T) {
	bubble.Story(t, func(t *testing.T) { evictedPods(t, false) })
}

// Where Lockstep plays the controller, it waits for them as well.
func TestEvictedPodsHoldANodeThatLockstepTakesBack(t *testing.T) {
	bubble.Story(t, func(t *testing.T) { evictedPods(t, true) })
}

func evictedPods(t *testing.T, played bool) {
	var p *player
	if played {
		p = play(t, told(t, "evicted-pods", func(s *scenario.Scenario) {
			s.Troubles = append(s.Troubles, scenario.Trouble{Kind: scenario.TroubleController})
		}), "openstack")
	} else {
		p = play(t, told(t, "evicted-pods"))
	}
	name := ""
	for _, n := range p.last.Nodes {
		if n.Label() == "cmp-01" {
			name = n.Name
		}
	}
	entry := func(s *core.Snapshot) string {
		for _, a := range attention.Of(s) {
			if strings.HasPrefix(a.ID, "ended-pods/") && a.Node == name && a.Severity == core.SeverityUrgent {
				return a.Reason
			}
		}
		return ""
	}
	acts := []core.IntentKind{core.IntentActHold, core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentLiveMigrate,
		core.IntentLiveMigrateAll,
		core.IntentActRelease}
	for said := ""; said == ""; {
		var st core.Step
		found := false
		p.until("the pods are named, or there is something to do", func(s *core.Snapshot) bool {
			if said = entry(s); said != "" {
				if !strings.Contains(said, "openstack/octavia-api-") || !strings.Contains(said, "openstack/placement-api-") ||
					!strings.Contains(said, "Failed (Evicted), since") {
					t.Errorf("it says %q", said)
				}
				return true
			}
			if played {
				st, found = p.next(s, acts...)
			}
			return found
		})
		if found {
			p.do(st)
		}
	}
	if played {
		back := core.Intent{Kind: core.IntentActIntoScheduling, Controller: core.ControllerOpenStack, Node: name}
		p.until("they block the way back", func(s *core.Snapshot) bool {
			st := step.Plan(s, back)
			if st.Doable() {
				t.Fatal("the way back is free")
			}
			// Until the pods are listed after the node is back, that is what blocks it.
			return strings.Contains(st.Blocker(), "ended, and never ready again: openstack/octavia-api-")
		})
	}
	var all core.Step
	p.until("their deletion can be confirmed", func(s *core.Snapshot) bool {
		var found bool
		all, found = p.next(s, core.IntentDeletePods)
		return found
	})
	if len(all.Commands) != 2 || !slices.ContainsFunc(all.Commands,
		func(c string) bool { return strings.HasPrefix(c, "kubectl -n openstack delete pod octavia-api-") }) {
		t.Errorf("the commands are %q", all.Commands)
	}
	p.do(all)
	p.until("nothing is said of pods any more", func(s *core.Snapshot) bool { return entry(s) == "" })
	if played {
		p.until("the way back is free", func(s *core.Snapshot) bool {
			return step.Plan(s, core.Intent{Kind: core.IntentActIntoScheduling, Controller: core.ControllerOpenStack, Node: name}).Doable()
		})
		return
	}
	p.until("the node is back", func(s *core.Snapshot) bool {
		l := s.NodeLock(name, core.ControllerOpenStack)
		v, _ := progress.NodeView(s, name)
		return v.Stage == core.StageDone && l.State() == core.LockActive && l.InnerState != core.InnerActive
	})
}
