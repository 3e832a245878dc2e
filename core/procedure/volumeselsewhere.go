package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// remoteUsers adds the step on instances elsewhere that use volumes on the node's own disks. Neither Nova nor the OpenStack controller
// looks at them: the operator has to.
func (b *nodeSteps) remoteUsers() {
	s := b.s
	if len(s.VolumeServicesOn(b.v.Name)) == 0 || b.v.Node == nil {
		return
	}
	st := b.other("elsewhere", "see to the instances elsewhere that use volumes on its disks", "", core.StepWaiting, "")
	users, known := progress.RemoteUsers(s, b.v.Name)
	if !known {
		if b.v.Request == nil {
			return
		}
		why := "they are being listed"
		for _, id := range []core.SourceID{core.SourceVolumes, core.SourceInstances} {
			if !s.Known(id) {
				why = s.WhyUnknown(id)
			}
		}
		st.Status = "not known: " + why
		b.add(st)
		return
	}
	if len(users) == 0 {
		return
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.Text(s)
	}
	label := b.v.Label
	st.Title = "see to " + wording.Count(len(users), "instance") + " elsewhere that " + wording.Verb(len(users), "uses", "use") +
		" volumes on its disks"
	st.Status = wording.Some(names, 3)
	st.Why = label + " serves these volumes from its own disks (LVM, iSCSI). While it is down they are gone for " + wording.Some(names, 12) +
		". Nobody moves or stops these instances: no lock waits for them."
	verbOf := "stop"
	switch {
	case b.v.Stage == core.StageDone:
		verbOf = "reboot"
		st.Why = wording.Join(st.Why, "It was down: those that lost a volume, and were not rebooted since, need a reboot to have it again.")
	case b.v.Request != nil && (!b.v.Request.Deleting.IsZero() || b.released()):
		verbOf = "reboot"
		st.Why = wording.Join(st.Why, "Those that lost a volume need a reboot to have it again.")
	default:
		st.Why = wording.Join(st.Why, "Tell their owners, and stop them or take the volumes off before "+label+
			" goes down: else each needs a reboot afterwards. "+
			"The documents want mode manual here, so that the node waits for you.")
		if b.v.Request == nil {
			st.State = core.StepLater
		}
	}
	for _, u := range users[:min(len(users), 8)] {
		st.Commands = append(st.Commands, wording.ShellCommand("openstack", "server", verbOf, u.ID))
	}
	b.add(st)
}

// released tells whether the OpenStack controller has released the node.
func (b *nodeSteps) released() bool { return b.lock != nil && b.lock.State() == core.LockInactive }
