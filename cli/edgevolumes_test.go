package cli

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/sim/bubble"
)

// Instances on other hosts use volumes on the disks of a node that waits for its operator. The node's steps name them before it
// goes down, and say that they need a reboot once it comes back.
func TestVolumesThatInstancesElsewhereUse(t *testing.T) {
	bubble.Story(t, volumesElsewhere)
}

func volumesElsewhere(t *testing.T) {
	p := play(t, told(t, "edge-volumes"))
	name := ""
	for _, n := range p.last.Nodes {
		if n.Label() == "cmp-01" {
			name = n.Name
		}
	}
	step := func(s *core.Snapshot) core.Step {
		proc, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
		for _, st := range proc.Steps {
			if strings.HasPrefix(st.ID, "elsewhere/") {
				return st
			}
		}
		return core.Step{}
	}
	p.until("they are named", func(s *core.Snapshot) bool {
		return strings.Contains(step(s).Title, "2 instances elsewhere") && strings.HasPrefix(step(s).Status, "db-1 on cmp-02 (db-")
	})
	if st := step(p.last); !strings.Contains(st.Status, "db-2 on cmp-03 (db-copy)") || strings.Contains(st.Why, "web-1") ||
		!strings.HasPrefix(st.Commands[0], "openstack server stop ") {
		t.Errorf("%+v", st)
	}
	var move core.Step
	p.until("its own instance can be moved", func(s *core.Snapshot) bool {
		var found bool
		move, found = p.next(s, core.IntentLiveMigrate)
		return found && move.Label == "web-1"
	})
	p.do(move)
	p.until("they need a reboot", func(s *core.Snapshot) bool {
		st := step(s)
		return strings.Contains(st.Why, "need a reboot") && strings.HasPrefix(st.Commands[0], "openstack server reboot ")
	})
	p.until("it is back", func(s *core.Snapshot) bool {
		v, _ := progress.NodeView(s, name)
		return v.Stage == core.StageDone && strings.Contains(step(s).Why, "were not rebooted since")
	})
}
