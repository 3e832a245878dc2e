package tui

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
)

// Forms for the order in which machines are updated, and how many at a time. Each says while it is filled in what stands against it.

// groupChoices are the cluster's update groups, each with an intent about it.
func groupChoices(s *core.Snapshot, of func(*core.MachineGroup) (core.Intent, bool)) []choice {
	var all []choice
	in := s.Management.ByGroup()
	for _, g := range s.Management.Groups {
		if i, ok := of(g); ok {
			all = append(all, choice{g.Name, progress.GroupLine(g, in[g.Name]), i})
		}
	}
	return all
}

// newMoveForm asks for the update group that the machines of nodes are to belong to.
func newMoveForm(s *core.Snapshot, nodes []string) *form {
	m := s.Management
	f := &form{title: "Update group of " + aboutNodes(s, nodes), live: true,
		about: "Groups are updated by their index, the lowest first, and inside a group machine by machine. Masters stay in their own group."}
	f.choices = groupChoices(s, func(g *core.MachineGroup) (core.Intent, bool) {
		return core.Intent{Kind: core.IntentMoveMachines, Nodes: nodes, Group: g.Name}, g.Name != m.ControlGroup()
	})
	if len(f.choices) == 1 {
		f.about += " There is no other group of workers: make one first (\"Make an update group\" in the palette)."
	}
	if len(nodes) == 1 {
		if v := m.ByNode[nodes[0]]; v != nil && v.Machine != nil {
			for i := range f.choices {
				if f.choices[i].name == m.GroupNameOf(v.Machine) {
					f.at, f.choices[i].text = i, f.choices[i].text+" (it is there)"
				}
			}
		}
	}
	return f
}

// newUpgradeIndexForm asks for the place of a node's machine in its update group.
func newUpgradeIndexForm(s *core.Snapshot, node string) *form {
	m, value, about := s.Management, "", ""
	if v := m.ByNode[node]; v != nil && v.Machine != nil {
		if v.Machine.IndexAsked != nil {
			value = strconv.Itoa(*v.Machine.IndexAsked)
		}
		group := m.GroupNameOf(v.Machine)
		about = " In " + group + " the order is now: " + progress.MachineNames(m.InGroup(group)) + "."
	}
	return &form{title: "Upgrade index of " + s.Label(node), live: true,
		about: "Inside an update group the machine with the lowest index goes first. Empty removes it: LCM then gives one." + about,
		label: "index", input: newField(value),
		intent: func(text string) (core.Intent, error) {
			i := core.Intent{Kind: core.IntentSetUpgradeIndex, Node: node}
			if text == "" {
				return i, nil
			}
			n, err := wholeNumber(text)
			i.UpgradeIndex = n
			return i, err
		}}
}

// wholeNumber is a number from 1 that a person has typed.
func wholeNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number from 1", text)
	}
	return n, nil
}

// newGroupNumberForm asks for a number of one of the update groups.
func newGroupNumberForm(s *core.Snapshot, title, about, label string, kind core.IntentKind, set func(*core.GroupSettings, int)) *form {
	f := &form{title: title, about: about, label: label, input: newField(""), live: true,
		parse: func(i core.Intent, text string) (core.Intent, error) {
			n, err := wholeNumber(text)
			set(&i.GroupSettings, n)
			return i, err
		}}
	f.choices = groupChoices(s, func(g *core.MachineGroup) (core.Intent, bool) {
		return core.Intent{Kind: kind, Group: g.Name}, g.Name != s.Management.ControlGroup()
	})
	return f
}

func newConcurrencyForm(s *core.Snapshot) *form {
	return newGroupNumberForm(s, "Machines of an update group at a time",
		"So many of the group's machines are in maintenance at the same time at most, and the others need room for what runs on them.",
		"at a time", core.IntentSetGroupConcurrency, func(to *core.GroupSettings, n int) { to.Concurrent = n })
}

func newGroupIndexForm(s *core.Snapshot) *form {
	return newGroupNumberForm(s, "Index of an update group",
		"The workers' groups are updated by their index, the lowest first; those of one index at the same time.",
		"index", core.IntentSetGroupIndex, func(to *core.GroupSettings, n int) { to.Index = n })
}

// newGroupRebootForm asks for the update group whose machines are to be rebooted, or not to be: the other way round than now.
func newGroupRebootForm(s *core.Snapshot) *form {
	f := &form{title: "Reboot the machines of an update group, or do not", live: true,
		about: "rebootIfUpdateRequires of the chosen group is changed to the other value. Without reboots, what needs one waits for one that " +
			"you ask for; with a new distribution machines are rebooted in any case."}
	f.choices = groupChoices(s, func(g *core.MachineGroup) (core.Intent, bool) {
		return core.Intent{Kind: core.IntentSetGroupReboot, Group: g.Name, GroupSettings: core.GroupSettings{Reboot: !g.Reboot}}, true
	})
	return f
}

// newMakeGroupForm asks for the name and the settings of a new update group.
func newMakeGroupForm(*core.Snapshot) *form {
	make := func(reboot bool) core.Intent {
		return core.Intent{Kind: core.IntentMakeGroup, GroupSettings: core.GroupSettings{Reboot: reboot}}
	}
	return &form{title: "Make an update group", live: true,
		about: "Its name, its index (the lowest is updated first), and how many of its machines at a time; 1 without a number. Machines are " +
			"moved into it afterwards, from the nodes.",
		label: "name index at-a-time", input: newField(""),
		choices: []choice{{"stay up", "machines are not rebooted, unless the distribution changes", make(false)},
			{"reboot", "machines are rebooted where the update requires it", make(true)}},
		parse: func(i core.Intent, text string) (core.Intent, error) {
			words := strings.Fields(text)
			if len(words) < 2 || len(words) > 3 {
				return i, fmt.Errorf("a name and an index are needed: rack-a 2, or rack-a 2 3")
			}
			i.Group, i.GroupSettings.Concurrent = words[0], 1
			var err error
			if i.GroupSettings.Index, err = wholeNumber(words[1]); err == nil && len(words) == 3 {
				i.GroupSettings.Concurrent, err = wholeNumber(words[2])
			}
			return i, err
		}}
}

// newDeleteGroupForm asks for the update group to remove.
func newDeleteGroupForm(s *core.Snapshot) *form {
	m := s.Management
	f := &form{title: "Remove an update group", live: true,
		about: "Only a group that no machine belongs to can be removed, and none that every cluster has."}
	f.choices = groupChoices(s, func(g *core.MachineGroup) (core.Intent, bool) {
		return core.Intent{Kind: core.IntentDeleteGroup, Group: g.Name}, g.Name != m.ControlGroup() && g.Name != m.DefaultGroup()
	})
	return f
}

// needGroups is why nothing can be done with update groups.
func (p *phasesPane) needGroups() string {
	if why := p.needManagement(); why != "" {
		return why
	}
	if len(p.snap.Management.Groups) == 0 {
		return "the management cluster shows no update group"
	}
	return ""
}

// needWorkersGroup is why nothing can be set of groups other than that of the control plane.
func (p *phasesPane) needWorkersGroup() string {
	if why := p.needGroups(); why != "" {
		return why
	}
	if len(newGroupIndexForm(p.snap).choices) == 0 {
		return "the management cluster shows no update group besides that of the control plane"
	}
	return ""
}

// needCustomGroup is why no update group can be removed.
func (p *phasesPane) needCustomGroup() string {
	if why := p.needGroups(); why != "" {
		return why
	}
	if len(newDeleteGroupForm(p.snap).choices) == 0 {
		return "there is no update group besides those that every cluster has"
	}
	return ""
}

// needGroups is why the machines of the marked nodes cannot be moved.
func (p *nodesPane) needGroups() string {
	if why := ofEach((*nodesPane).whyNoMachine)(p); why != "" {
		return why
	}
	if len(newMoveForm(p.snap, p.nodes()).choices) == 0 {
		return "the management cluster shows no update group of workers"
	}
	return ""
}

// groupActions change the update groups; they concern the cluster as a whole.
func groupActions() []Action {
	ask := func(id, title, short string, kind core.IntentKind, need func(*phasesPane) string, ask func(*core.Snapshot) *form) Action {
		return inPane(Action{ID: id, Title: title, Short: short, Scope: ScopePhases, Intent: []core.IntentKind{kind}}, need,
			func(p *phasesPane) request { return openForm{ask(p.snap)} })
	}
	concurrency := ask("group.concurrency", "Set how many machines of an update group are updated at a time", "at a time",
		core.IntentSetGroupConcurrency, (*phasesPane).needWorkersGroup, newConcurrencyForm)
	concurrency.Keys = []string{"n"}
	return []Action{
		concurrency,
		ask("group.index", "Set the index of an update group: which is updated first", "group's index", core.IntentSetGroupIndex,
			(*phasesPane).needWorkersGroup, newGroupIndexForm),
		ask("group.reboot", "Have the machines of an update group rebooted, or not", "group's reboots", core.IntentSetGroupReboot,
			(*phasesPane).needGroups, newGroupRebootForm),
		ask("group.make", "Make an update group", "new group", core.IntentMakeGroup, (*phasesPane).needManagement, newMakeGroupForm),
		ask("group.delete", "Remove an update group that no machine belongs to", "remove group", core.IntentDeleteGroup,
			(*phasesPane).needCustomGroup, newDeleteGroupForm),
	}
}
