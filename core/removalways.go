package core

import (
	"slices"
	"strings"
)

// removalWays is what takes an instance off a node for good, by its status, while nova-compute there is up: stopping it is no
// help, for text S counts every instance.
var removalWays = map[string][]IntentKind{
	"ACTIVE":        {IntentLiveMigrate, IntentColdMigrate, IntentShelve},
	"PAUSED":        {IntentLiveMigrate, IntentShelve},
	"SHUTOFF":       {IntentColdMigrate, IntentShelve},
	"SUSPENDED":     {IntentResume, IntentShelve},
	"VERIFY_RESIZE": {IntentConfirmResize, IntentRevertResize},
}

// removalWaysOf are the steps that take the instance off its node for good, the best first; none where Nova has no such step.
func (s *Snapshot) removalWaysOf(in *Instance) []IntentKind {
	switch {
	case s.hostDown(in.Host) && slices.Contains(instanceRules[IntentEvacuate].statuses, in.Status):
		return []IntentKind{IntentEvacuate}
	case s.hostDown(in.Host):
		return nil // it takes no other call
	case in.Status == "ERROR" && in.Power == PowerRunning:
		return []IntentKind{IntentResetState}
	}
	return removalWays[in.Status]
}

// removalAdvice is what is to be done with an instance that holds the removal of its node where Lockstep has no step for it:
// the text, and the words of the command around its ID. SHELVED_OFFLOADED is on no host.
type removalAdvice struct {
	text    string
	command []string // may be nil
}

// removalAdvices are by the instance's status, while nova-compute there is up.
var removalAdvices = map[string]removalAdvice{
	"ERROR":         {"its guest does not run: its owner rebuilds it, and it can be migrated then; or its owner deletes it", []string{"openstack", "server", "rebuild"}},
	"RESCUE":        {"end its rescue first", []string{"openstack", "server", "unrescue"}},
	"SHELVED":       {"take it off its host: it stays shelved", []string{"openstack", "server", "shelve", "--offload"}},
	"SOFT_DELETED":  {"Nova removes it for good by itself; sooner, by hand", []string{"openstack", "server", "delete", "--force"}},
	"REVERT_RESIZE": {"wait until its migration is reverted", nil},
}

// deadHostAdvice is for a host whose nova-compute is down, and an instance that Nova does not evacuate in its status.
var deadHostAdvice = removalAdvice{"its host is down, and Nova evacuates what is " + strings.Join(instanceRules[IntentEvacuate].statuses, ", ") +
	": written down as ERROR it can be evacuated, from its disks", []string{"openstack", "server", "set", "--state", "error"}}

// holdsRemoval tells whether the instance is on a node that is to be removed, of which nothing else is asked.
func (s *Snapshot) holdsRemoval(m hostMaintenance) bool {
	return m.request == nil && s.Deletions[m.name] != nil
}

// removalWhy says of an instance that it holds the removal of its node.
func (s *Snapshot) removalWhy(in *Instance) string {
	text := "holds the removal of its node: it is " + in.Status
	if in.TaskState != "" {
		text += ", " + in.TaskState
	}
	if s.hostDown(in.Host) {
		text += "; nova-compute of its host is down"
	}
	return text
}

// removalStep takes one instance off a node that is to be removed.
func (s *Snapshot) removalStep(v InstanceView) Step {
	in := v.Instance
	if s.moving(in) {
		return s.movingStep(v)
	}
	ways := s.removalWaysOf(in)
	if len(ways) == 0 {
		return s.removalAdvised(v)
	}
	st := Plan(s, Intent{Kind: ways[0], Instance: in.ID})
	st.Why = join("Its node is to be removed, and goes only without it.", st.Why)
	for _, kind := range ways[1:] {
		st.Alternatives = append(st.Alternatives, Plan(s, Intent{Kind: kind, Instance: in.ID}))
	}
	return st
}

// removalAdvised is an instance on a node that is to be removed for which Lockstep has no step.
func (s *Snapshot) removalAdvised(v InstanceView) Step {
	in := v.Instance
	a := removalAdvices[in.Status]
	if s.hostDown(in.Host) {
		a = deadHostAdvice
	}
	st := s.noWayStep(v)
	st.Title = "get " + st.Label + " off the node"
	st.Why = join("Its node is to be removed, and goes only without it.", s.ownerText(v), s.lockedText(in))
	st.Status = in.Status
	switch {
	case in.TaskState != "":
		st.Status += ", " + in.TaskState
	default:
		st.Status += dashed(textOf(a.text, "wait until Nova is done with it"))
	}
	if a.command != nil {
		st.Commands = []string{shellCommand(append(slices.Clone(a.command), in.ID)...)}
	}
	return st
}
