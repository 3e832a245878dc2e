package progress

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// ownDisksWatched is how many hosts with volumes on their own disks are watched all the time, as these may matter to instances elsewhere;
// if there are more, only those in maintenance are.
const ownDisksWatched = 32

// RemoteUser is an instance that uses volumes on a node's own disks from another host.
type RemoteUser struct {
	ID      string
	In      *core.Instance // nil when Nova has not shown it
	Volumes []core.Volume
}

// Text names the instance, its host and its volumes: "web-1 on cmp-02 (data-1)".
func (u RemoteUser) Text(s *core.Snapshot) string {
	name := core.ShortID(u.ID)
	if u.In != nil {
		name = InstanceLabel(u.In) + " on " + HostLabel(s, u.In.Host)
	}
	names := make([]string, len(u.Volumes))
	for i := range u.Volumes {
		names[i] = VolumeName(&u.Volumes[i])
	}
	return name + wording.InBrackets(wording.Some(names, 2))
}

// RemoteUsers are the instances elsewhere that lose a volume while the node is down: the node serves it from its own disks, by
// iSCSI (docs/mosk.md#before-the-update). An instance that is stopped, or on no host, loses nothing. False while that is not
// known.
func RemoteUsers(s *core.Snapshot, node string) ([]RemoteUser, bool) {
	volumes, known := s.VolumesOn(node)
	if !known || !s.Known(core.SourceInstances) {
		return nil, false
	}
	byID := map[string]*RemoteUser{}
	for _, v := range volumes {
		for _, id := range v.Instances {
			in := s.Instances.At(id)
			if in != nil && (in.Host == s.HostOf(node) || in.Host == "" || in.VMState == "stopped") {
				continue
			}
			if byID[id] == nil {
				byID[id] = &RemoteUser{ID: id, In: in}
			}
			byID[id].Volumes = append(byID[id].Volumes, v)
		}
	}
	var out []RemoteUser
	for _, u := range byID {
		out = append(out, *u)
	}
	name := func(u RemoteUser) string {
		if u.In == nil {
			return ""
		}
		return u.In.Name
	}
	slices.SortFunc(out, func(a, b RemoteUser) int {
		return cmp.Or(strings.Compare(name(a), name(b)), strings.Compare(a.ID, b.ID))
	})
	return out, true
}

// RemoteLoss says which instances elsewhere lose a volume when the node goes down; empty for none.
func RemoteLoss(s *core.Snapshot, node string) string {
	users, _ := RemoteUsers(s, node)
	if len(users) == 0 {
		return ""
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.Text(s)
	}
	return wording.Count(len(users), "instance") + " elsewhere " + wording.Verb(len(users), "loses", "lose") +
		" volumes that it serves, and " + wording.Verb(len(users), "needs", "need") +
		" a reboot afterwards: " + wording.Some(names, 3) + "."
}
