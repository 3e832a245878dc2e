package core

import (
	"cmp"
	"slices"
	"strings"
)

// ownDisksWatched is how many hosts with volumes on their own disks are looked at all the time; of more, those in maintenance are.
const ownDisksWatched = 32

// hostsWithOwnDisks are the hosts of nodes whose volumes on disks of their own matter to instances elsewhere: of all such nodes where
// there are few, else of those in maintenance.
func (s *Snapshot) hostsWithOwnDisks() []string {
	var all, now []string
	for _, v := range s.NodeViews() {
		if v.Node == nil || len(s.VolumeServicesOn(v.Name)) == 0 {
			continue
		}
		all = append(all, s.volumeHostOf(v.Name))
		if v.Active() {
			now = append(now, s.volumeHostOf(v.Name))
		}
	}
	if len(all) <= ownDisksWatched {
		return all
	}
	return now
}

// remoteUser is an instance that uses volumes on a node's own disks, and is elsewhere.
type remoteUser struct {
	ID      string
	In      *Instance // nil where Nova has not shown it
	Volumes []Volume
}

func (u remoteUser) text(s *Snapshot) string {
	name := shortID(u.ID)
	if u.In != nil {
		name = instanceLabel(u.In) + " on " + s.hostLabel(u.In.Host)
	}
	names := make([]string, len(u.Volumes))
	for i := range u.Volumes {
		names[i] = volumeName(&u.Volumes[i])
	}
	return name + inBrackets(some(names, 2))
}

// remoteUsers are the instances elsewhere that lose a volume while the node is down: it serves the volume from its own disks, by iSCSI
// (docs/mosk.md#before-the-update). One that is stopped, or on no host, loses nothing. False while that is not known.
func (s *Snapshot) remoteUsers(node string) ([]remoteUser, bool) {
	volumes, known := s.VolumesOn(node)
	if !known || !s.known(SourceInstances) {
		return nil, false
	}
	byID := map[string]*remoteUser{}
	for _, v := range volumes {
		for _, id := range v.Instances {
			in := s.Instances[id]
			if in != nil && (in.Host == s.HostOf(node) || in.Host == "" || in.VMState == "stopped") {
				continue
			}
			if byID[id] == nil {
				byID[id] = &remoteUser{ID: id, In: in}
			}
			byID[id].Volumes = append(byID[id].Volumes, v)
		}
	}
	var out []remoteUser
	for _, u := range byID {
		out = append(out, *u)
	}
	name := func(u remoteUser) string {
		if u.In == nil {
			return ""
		}
		return u.In.Name
	}
	slices.SortFunc(out, func(a, b remoteUser) int {
		return cmp.Or(strings.Compare(name(a), name(b)), strings.Compare(a.ID, b.ID))
	})
	return out, true
}

// remoteUsers names the instances elsewhere that use volumes on the node's own disks. Neither Nova nor the OpenStack controller looks at
// them: what is done for them is the operator's part.
func (b *nodeSteps) remoteUsers() {
	s := b.s
	if len(s.VolumeServicesOn(b.v.Name)) == 0 || b.v.Node == nil {
		return
	}
	st := b.other("elsewhere", "see to the instances elsewhere that use volumes on its disks", "", StepWaiting, "")
	users, known := s.remoteUsers(b.v.Name)
	if !known {
		if b.v.Request == nil {
			return
		}
		why := "they are being listed"
		for _, id := range []SourceID{SourceVolumes, SourceInstances} {
			if !s.known(id) {
				why = s.whyUnknown(id)
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
		names[i] = u.text(s)
	}
	label := b.v.Label
	st.Title = "see to " + count(len(users), "instance") + " elsewhere that " + verb(len(users), "uses", "use") + " volumes on its disks"
	st.Status = some(names, 3)
	st.Why = label + " serves these volumes from its own disks (LVM, iSCSI). While it is down they are gone for " + some(names, 12) + ". " +
		"Nobody moves or stops these instances: no lock waits for them."
	verbOf := "stop"
	switch {
	case b.v.Stage == StageDone:
		verbOf = "reboot"
		st.Why = join(st.Why, "It was down: those that lost a volume, and were not rebooted since, need a reboot to have it again.")
	case b.v.Request != nil && (!b.v.Request.Deleting.IsZero() || b.released()):
		verbOf = "reboot"
		st.Why = join(st.Why, "Those that lost a volume need a reboot to have it again.")
	default:
		st.Why = join(st.Why, "Tell their owners, and stop them or take the volumes off before "+label+" goes down: else each needs a reboot afterwards. "+
			"The documents want mode manual here, so that the node waits for you.")
		if b.v.Request == nil {
			st.State = StepLater
		}
	}
	for _, u := range users[:min(len(users), 8)] {
		st.Commands = append(st.Commands, shellCommand("openstack", "server", verbOf, u.ID))
	}
	b.add(st)
}

// remoteLoss says of a node that goes down which instances elsewhere lose a volume with it; empty for none.
func (s *Snapshot) remoteLoss(node string) string {
	users, _ := s.remoteUsers(node)
	if len(users) == 0 {
		return ""
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.text(s)
	}
	return count(len(users), "instance") + " elsewhere " + verb(len(users), "loses", "lose") + " volumes that it serves, and " + verb(len(users), "needs", "need") +
		" a reboot afterwards: " + some(names, 3) + "."
}

// released tells whether the OpenStack controller has let the node go.
func (b *nodeSteps) released() bool { return b.lock != nil && b.lock.State() == LockInactive }
