package core

import (
	"slices"
	"strings"
)

// The documents recommend mode manual for a node with a gateway, so that the operator can move its virtual routers first. Today's OpenStack
// controller looks at modes of computes only: it releases such a node at once (docs/mosk.md#modes-elsewhere). Who plays the controller
// keeps the documents' promise: the node waits for the operator's word.

// modeCounts tells whether the mode of the node decides anything: of a compute, and of any node where Lockstep plays the controller.
func (s *Snapshot) modeCounts(name string) bool {
	n := s.Nodes[name]
	return n == nil || n.Is(RoleCompute) || s.playsOn(ControllerOpenStack, name)
}

// modeIgnored is why a mode on a node that is no compute decides nothing, and what holds the node instead.
const (
	modeIgnored = "the OpenStack controller of today looks at the modes of computes only"
	holdInstead = "hold it by a lock of your own, or do not commence its update group"
)

// awaitsWord tells whether the node is no compute, is asked for, and waits for the operator's word under a played controller: its mode is
// manual, or none that means anything.
func (s *Snapshot) awaitsWord(name string) bool {
	n, r := s.Nodes[name], s.NodeRequest(name)
	if n == nil || n.Is(RoleCompute) || r == nil || !r.Deleting.IsZero() || !s.playsOn(ControllerOpenStack, name) {
		return false
	}
	mode := MigrationMode(textOr(n.annotation(AnnotationMigrationMode), string(ModeLive)))
	return mode == ModeManual || !mode.Known()
}

// guardModeCounts holds where the mode decides something.
func (p *planner) guardModeCounts(name string, set bool) {
	g := Guard{ID: GuardModeCounts, Text: "somebody goes by the node's mode", Holds: !set || p.s.modeCounts(name), Answer: "it does",
		Remedy: holdInstead}
	switch {
	case !set:
		g.Answer = "it is taken away"
	case !g.Holds:
		g.Answer = "it is no compute: " + modeIgnored
	}
	p.guard(g)
}

// guardWord holds when the operator has said that a node which is no compute may go.
func (p *planner) guardWord(node string) {
	n := p.s.Nodes[node]
	if n == nil || n.Is(RoleCompute) {
		return
	}
	p.hostModeFact(n)
	g := Guard{ID: GuardOperatorsWord, Text: "the operator has said that it may go", Holds: !p.s.awaitsWord(node),
		Answer: "its migration mode is " + textOr(n.annotation(AnnotationMigrationMode), "not set"),
		Remedy: "declare it safe, once what has to go first is gone"}
	p.guard(g)
}

// HostsWithRoutersToWatch are the hosts whose L3 and DHCP agents are asked for what they serve: those of nodes that are no computes and
// have a migration mode.
func HostsWithRoutersToWatch(s *Snapshot) []string {
	var hosts []string
	for name, n := range s.Nodes {
		if n.annotation(AnnotationMigrationMode) != nil && !n.Is(RoleCompute) {
			hosts = append(hosts, s.HostOf(name))
		}
	}
	slices.Sort(hosts)
	return hosts
}

// The kinds of Neutron's agents that serve something which a node takes down with it.
const (
	agentL3   = "L3 agent"
	agentDHCP = "DHCP agent"
)

// servingAgents are the L3 and DHCP agents on the node.
func (s *Snapshot) servingAgents(node string) []*NetworkAgent {
	return slices.DeleteFunc(slices.Clone(s.Agents[s.HostOf(node)]),
		func(a *NetworkAgent) bool { return a.Type != agentL3 && a.Type != agentDHCP })
}

// servedText is what an agent serves: "3 routers, 1 of them with HA", and whether all that can be said of it is known.
func (a *NetworkAgent) servedText() (text string, known bool) {
	switch {
	case a.Load == nil:
		return "what it serves is not known yet", false
	case a.Load.Err != "":
		return "what it serves is not known: " + oneLine(a.Load.Err, 200), false
	case a.Type == agentDHCP:
		return count(len(a.Load.Networks), "network"), true
	}
	ha := 0
	for _, r := range a.Load.Routers {
		if r.HA {
			ha++
		}
	}
	text = count(len(a.Load.Routers), "router")
	if ha > 0 {
		text += ", " + itoa(ha) + " of them with HA"
	}
	return text, true
}

// leftToGo are the names of what an agent serves that nobody else takes over by itself.
func (a *NetworkAgent) leftToGo() []string {
	var names []string
	if a.Load == nil {
		return nil
	}
	for _, r := range a.Load.Routers {
		if !r.HA {
			names = append(names, oneLine(textOf(r.Name, shortID(r.ID)), 64))
		}
	}
	for _, n := range a.Load.Networks {
		names = append(names, oneLine(textOf(n.Name, shortID(n.ID)), 64))
	}
	return names
}

// servedShort is what the agents on a node serve, in a few words: "2 routers, 3 networks"; empty when they serve nothing.
func (s *Snapshot) servedShort(node string) string {
	var parts []string
	for _, a := range s.servingAgents(node) {
		if text, known := a.servedText(); !known || len(a.Load.Routers)+len(a.Load.Networks) > 0 {
			parts = append(parts, strings.TrimSuffix(a.Type, " agent")+": "+text)
		}
	}
	return strings.Join(parts, "; ")
}

// wordSteps are what has to go first from a node that waits for the operator's word, and the word.
func (b *nodeSteps) wordSteps() {
	s, name := b.s, b.v.Name
	if n := b.v.Node; n == nil || n.Is(RoleCompute) || !b.v.ModeSet {
		return
	}
	if s.awaitsWord(name) {
		b.servedSteps()
	}
	if s.awaitsWord(name) || b.v.Mode == ModeSkip {
		b.add(Plan(s, Intent{Kind: IntentDeclareSafe, Node: name}))
	}
}

// servedSteps are the agents on the node with what they serve, each with the commands that move it.
func (b *nodeSteps) servedSteps() {
	for _, a := range b.s.servingAgents(b.v.Name) {
		what, flag, why := "routers", "--l3", "A router without HA is down for up to ten minutes when its agent goes. One with HA goes on elsewhere within a minute."
		if a.Type == agentDHCP {
			what, flag, why = "networks", "--dhcp", "Instances of a network get no answer to DHCP when the only agent that serves it goes."
		}
		text, known := a.servedText()
		st := b.other("serves", "move the "+what+" off the "+a.Type+" of "+b.v.Label, why, StepWaiting, text)
		st.ID += "/" + a.ID
		left := a.leftToGo()
		switch {
		case known && len(left) == 0:
			st.State = StepDone
		case known:
			st.Status = text + ": " + some(left, 6)
			st.Commands = b.moveCommands(a, flag)
		default:
			st.Commands = []string{shellCommand("openstack", "router", "list", "--agent", a.ID)}
			if a.Type == agentDHCP {
				st.Commands = []string{shellCommand("openstack", "network", "list", "--agent", a.ID)}
			}
		}
		b.add(st)
	}
}

// moveCommands move what an agent serves to another that is alive on a node of which nobody asks anything; where there is none, they
// only take it off.
func (b *nodeSteps) moveCommands(a *NetworkAgent, flag string) []string {
	s := b.s
	other := ""
	for _, name := range s.NodeNames() {
		i := slices.IndexFunc(s.Agents[s.HostOf(name)], func(o *NetworkAgent) bool { return o.Type == a.Type && o.Alive && o.AdminUp })
		if name != b.v.Name && i >= 0 && s.NodeRequest(name) == nil {
			other = s.Agents[s.HostOf(name)][i].ID
			break
		}
	}
	const most = 8
	var commands []string
	move := func(what, id string) {
		commands = append(commands, shellCommand("openstack", "network", "agent", "remove", what, flag, a.ID, id))
		if other != "" {
			commands = append(commands, shellCommand("openstack", "network", "agent", "add", what, flag, other, id))
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

// modeElsewhere is an operator's mode on a node that is no compute: he takes it for held, and it is not.
func (f *attentionFacts) modeElsewhere(n nodeAttention) {
	if n.Node == nil || !n.ModeSet || n.Mode != ModeManual || f.s.modeCounts(n.Name) || n.leaving() && n.own != nil && n.own.State() == LockInactive {
		return
	}
	a := n.entry(RuleModeElsewhere)
	a.Severity, a.Since = SeverityWarning, Since{}
	a.Reason = "mode manual does not hold it: " + modeIgnored
	switch {
	case n.leaving():
		a.Severity, a.Since = SeverityUrgent, Since{At: n.Request.Created, Exact: true}
	case f.request == nil:
		return // its steps and its inspection say it
	}
	a.Detail = "To hold it, make a lock of your own, or do not commence " + f.s.groupOf(n.Name) + "."
	f.add(a)
}

// groupOf names the update group of a node.
func (s *Snapshot) groupOf(node string) string {
	if v := s.MachineOf(node); v != nil && v.Machine != nil && v.Machine.Group != "" {
		return "its update group " + oneLine(v.Machine.Group, 60)
	}
	return "its update group"
}

// ignoredModeSteps say what holds a node on which a mode was set that decides nothing.
func (b *nodeSteps) ignoredModeSteps() {
	if b.v.Node == nil || !b.v.ModeSet || b.s.modeCounts(b.v.Name) {
		return
	}
	st := b.other("hold-instead", "hold "+b.v.Label+" by something that counts", "Its migration mode is "+oneLine(string(b.v.Mode),
		40)+", and "+modeIgnored+
		". A lock of your own holds it: LCM waits for every lock, whoever made it. So does "+b.s.groupOf(b.v.Name)+", as long as it is not commenced.", StepWaiting, "yours to make, if it is to wait for you")
	st.Commands = []string{createLockCommand(ownLock(b.v.Name))}
	if held := b.s.heldOtherwise(b.v.Name); held != nil {
		st.State, st.Status, st.Commands = StepDone, oneLine(held.Name, 80)+" holds it", nil
	}
	b.add(st)
	b.servedSteps()
	b.add(Plan(b.s, Intent{Kind: IntentSetMode, Nodes: []string{b.v.Name}}))
}
