package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// wordSteps adds what has to leave a node that waits for the operator's word first, and the step that gives it.
func (b *nodeSteps) wordSteps() {
	s, name := b.s, b.v.Name
	if n := b.v.Node; n == nil || n.Is(core.RoleCompute) || !b.v.ModeSet {
		return
	}
	if progress.AwaitsWord(s, name) {
		b.servedSteps()
	}
	if progress.AwaitsWord(s, name) || b.v.Mode == core.ModeSkip {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentDeclareSafe, Node: name}))
	}
}

// servedSteps adds a step for each agent on the node that serves something, with the commands that move it.
func (b *nodeSteps) servedSteps() {
	for _, a := range progress.ServingAgents(b.s, b.v.Name) {
		what, flag, why := "routers", "--l3",
			"A router without HA is down for up to ten minutes when its agent goes. One with HA goes on elsewhere within a minute."
		if a.Type == core.AgentDHCP {
			what, flag, why = "networks", "--dhcp", "Instances of a network get no answer to DHCP when the only agent that serves it goes."
		}
		text, known := a.ServedText()
		st := b.other("serves", "move the "+what+" off the "+a.Type+" of "+b.v.Label, why, core.StepWaiting, text)
		st.ID += "/" + a.ID
		left := a.LeftToGo()
		switch {
		case known && len(left) == 0:
			st.State = core.StepDone
		case known:
			st.Status = text + ": " + wording.Some(left, 6)
			st.Commands = b.moveCommands(a, flag)
		default:
			st.Commands = []string{wording.ShellCommand("openstack", "router", "list", "--agent", a.ID)}
			if a.Type == core.AgentDHCP {
				st.Commands = []string{wording.ShellCommand("openstack", "network", "list", "--agent", a.ID)}
			}
		}
		b.add(st)
	}
}

// moveCommands move what an agent serves to another live agent, on a node that nobody asks for; where there is none, they only take it
// off.
func (b *nodeSteps) moveCommands(a *core.NetworkAgent, flag string) []string {
	s := b.s
	other := ""
	for _, name := range s.NodeNames() {
		i := slices.IndexFunc(s.Agents[s.HostOf(name)], func(o *core.NetworkAgent) bool { return o.Type == a.Type && o.Alive && o.AdminUp })
		if name != b.v.Name && i >= 0 && s.NodeRequest(name) == nil {
			other = s.Agents[s.HostOf(name)][i].ID
			break
		}
	}
	const most = 8
	var commands []string
	move := func(what, id string) {
		commands = append(commands, wording.ShellCommand("openstack", "network", "agent", "remove", what, flag, a.ID, id))
		if other != "" {
			commands = append(commands, wording.ShellCommand("openstack", "network", "agent", "add", what, flag, other, id))
		}
	}
	for _, r := range a.Load.Routers {
		if !r.HA && len(commands) < most {
			move("router", r.ID)
		}
	}
	for _, n := range a.Load.Networks {
		if len(commands) < most {
			move("network", n.ID)
		}
	}
	return commands
}

// ignoredModeSteps say what else holds a node whose migration mode nobody reads.
func (b *nodeSteps) ignoredModeSteps() {
	if b.v.Node == nil || !b.v.ModeSet || progress.ModeCounts(b.s, b.v.Name) {
		return
	}
	st := b.other("hold-instead", "hold "+b.v.Label+" by something that counts", "Its migration mode is "+wording.OneLine(string(b.v.Mode),
		40)+", and "+progress.ModeIgnored+
		". A lock of your own holds it: LCM waits for every lock, whoever made it. So does "+progress.UpdateGroupText(b.s, b.v.Name)+
		", as long as it is not commenced.", core.StepWaiting, "yours to make, if it is to wait for you")
	st.Commands = []string{step.CreateLockCommand(progress.OwnLock(b.v.Name))}
	if held := progress.HeldOtherwise(b.s, b.v.Name); held != nil {
		st.State, st.Status, st.Commands = core.StepDone, wording.OneLine(held.Name, 80)+" holds it", nil
	}
	b.add(st)
	b.servedSteps()
	b.add(step.Plan(b.s, core.Intent{Kind: core.IntentSetMode, Nodes: []string{b.v.Name}}))
}
