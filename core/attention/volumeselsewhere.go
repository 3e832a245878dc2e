package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// remoteUsers are the instances on other hosts that lose a volume with the node. Once the node is back, those that Nova has changed since
// are left out: a reboot is such a change.
func (f *facts) remoteUsers(n *core.NodeView) []progress.RemoteUser {
	if n.Node == nil || len(f.s.VolumeServicesOn(n.Name)) == 0 || n.Request != nil && !progress.MaintenanceOf(f.s, n.Name).Reboot {
		return nil
	}
	users, _ := progress.RemoteUsers(f.s, n.Name)
	if n.Stage != core.StageDone {
		return users
	}
	round := f.s.History.Rounds[n.Node.UID]
	if round.Ended.IsZero() || n.Node.Ready == "True" && !n.Node.ReadySince.After(round.Started) {
		return nil // nobody saw it go down
	}
	return slices.DeleteFunc(users, func(u progress.RemoteUser) bool { return u.In != nil && u.In.Updated.After(round.Ended) })
}

// volumesElsewhere finds instances on other hosts whose volumes are on the node's own disks: nobody moves or stops them, no lock waits for
// them, and each needs a reboot afterwards (docs/mosk.md#before-the-update).
func (f *facts) volumesElsewhere(n nodeFacts) {
	users := f.remoteUsers(n.NodeView)
	if len(users) == 0 || f.request == nil && n.Request == nil {
		return
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.Text(f.s)
	}
	which := wording.Count(len(users), "instance") + " elsewhere: " + wording.Some(names, 4)
	a := n.entry(core.RuleVolumesElsewhere)
	switch {
	case n.leaving() && (n.own == nil || n.own.State() != core.LockInactive):
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created, Exact: true}
		a.Reason = "when it goes down, its disks are gone for " + which
		a.Detail = "Nobody moves or stops them, and no lock waits for them. Tell their owners, and stop them or take the volumes off " +
			"before the node is let go."
	case n.Request != nil:
		a.Severity, a.Since = core.SeverityWarning, core.Since{At: n.Request.Created, Exact: true}
		a.Reason = "its disks are gone, or about to be, for " + which
		a.Detail = "Each of them that loses a volume needs a reboot once the node is back."
	case n.Stage == core.StageDone:
		a.Severity, a.Since = core.SeverityWarning, returnedSince(f.s, n)
		a.Reason = "its disks were gone, and may need a reboot to have them again: " + which
		a.Detail = "Nova shows no change of them since the node is back. Set the entry aside once each was seen to."
	default:
		a.Severity, a.Since = core.SeverityNotice, core.Since{}
		a.Reason = "when its turn comes, its disks are gone for " + which
		a.Detail = "The documents want mode manual here, so that the node waits for you."
	}
	f.add(a)
}

func seenRemoteUsers(f *facts, a core.Attention) []core.Evidence {
	v, ok := progress.NodeView(f.s, a.Node)
	if !ok {
		return nil
	}
	var out []core.Evidence
	for _, u := range f.remoteUsers(v) {
		says := "not in Nova's list"
		if u.In != nil {
			says = u.In.Status + ", " + u.In.PowerWord()
		}
		out = append(out, core.Evidence{Of: wording.OneLine(u.Text(f.s), 60), Says: wording.OneLine(says, saysMost)})
	}
	return out[:min(len(out), 8)]
}

// stopRemoteUsers stops the instances, or reboots them once the node was down.
func stopRemoteUsers(f *facts, a core.Attention) []core.Command {
	v, ok := progress.NodeView(f.s, a.Node)
	if !ok {
		return nil
	}
	what, verb := "stop it before", "stop"
	if l := f.s.NodeLock(a.Node, core.ControllerOpenStack); v.Stage == core.StageDone || v.Request != nil && (!v.Request.Deleting.IsZero() ||
		l != nil && l.State() == core.LockInactive) {
		what, verb = "reboot it once the node is back", "reboot"
	}
	var out []core.Command
	for _, u := range f.remoteUsers(v) {
		out = append(out, procedure.ToChange(what, wording.ShellCommand("openstack", "server", verb, u.ID)))
	}
	return out[:min(len(out), 4)]
}
