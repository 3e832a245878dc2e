package checklist

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func ofNode(name string) *core.ProcedureKey {
	return &core.ProcedureKey{Kind: core.ProcedureNode, Subject: name}
}

func label(s *core.Snapshot, node string) string { return wording.OneLine(s.Label(node), 64) }

// seen finds that OpenStack is not configured, which is no failure of a source and so no entry. That the management cluster is not, the
// points that need it say.
func seen(l *look) {
	if l.s.Sources[core.SourceInstances].State == core.SourceOff {
		l.fail("OpenStack", "not configured: neither instances nor room are seen", &core.ProcedureKey{Kind: core.ProcedureSource,
			Subject: string(core.SourceInstances)})
	}
}

// byPeople is a point that no API shows.
func byPeople(l *look) { l.unknown = "no API that Lockstep reads shows it: " + l.row.remedy }

// usersWrites says how many there are to be told.
func usersWrites(l *look) {
	byPeople(l)
	projects := map[string]bool{}
	for _, on := range l.s.ByHost {
		for _, in := range on {
			projects[in.ProjectID] = true
		}
	}
	if len(projects) > 0 {
		l.unknown += "; " + wording.Count(len(projects), "project") + wording.Verb(len(projects), " has", " have") + " instances here"
	}
}

// everyOwnerCommand writes a note for each project.
func everyOwnerCommand(*core.Snapshot) []string { return []string{"lockstep owners --all"} }

func ownersCommand(*core.Snapshot) []string { return []string{"lockstep owners"} }

func planCommand(*core.Snapshot) []string { return []string{"lockstep plan"} }

// backups looks for nodes that have no room for a backup; how much is free no API tells.
func backups(l *look) {
	for _, name := range l.s.NodeNames() {
		if n := l.s.Nodes[name]; slices.Contains(n.Pressure, "DiskPressure") {
			l.fail(label(l.s, name), "DiskPressure: its disk is nearly full", ofNode(name))
		}
	}
	l.unknown = "how much is free under /srv no API tells: look on the nodes"
}

func backupCommands(s *core.Snapshot) []string {
	for _, name := range s.NodeNames() {
		if s.Nodes[name].Is(core.RoleMaster) {
			return []string{wording.ShellCommand("kubectl", "debug", "node/"+name, "-it", "--image=busybox", "--", "df", "-h", "/host/srv")}
		}
	}
	return nil
}

func managementRelease(l *look) {
	switch v := progress.ManagementVersion(l.s); {
	case v.Problem != "":
		l.fail("", v.Text, &core.ProcedureKey{Kind: core.ProcedureCluster})
		l.key("release")
	case v.Latest():
		l.note = v.Text
	default:
		l.unknown = strings.TrimPrefix(v.Text, "not known: ")
	}
}

func releaseCommands(s *core.Snapshot) []string {
	return []string{s.Place.Kubectl("get", "kaasreleases", "-l", progress.LabelReleaseActive),
		s.Place.Kubectl("get", "mccupgrades", core.UpgradeName, "-o", "yaml")}
}

// notReady are the conditions that speak against a cluster or a machine.
func notReady(conditions []core.Condition) string {
	var out []string
	for _, c := range conditions {
		if !c.Ready {
			out = append(out, wording.OneLine(c.Type, 40)+wording.Prefixed(": ", wording.OneLine(c.Message, 200)))
		}
	}
	return wording.Some(out, 3)
}

func machines(l *look) {
	if c := l.s.Management.Cluster; c != nil && c.ReadyKnown && !c.Ready {
		l.fail("the cluster", "not ready"+wording.Prefixed(": ", notReady(c.Conditions)), &core.ProcedureKey{Kind: core.ProcedureCluster})
	}
	for _, v := range l.s.Management.Machines {
		if m := v.Machine; m != nil && !m.ReadyKnown {
			l.unknown = "whether " + wording.OneLine(v.Name, 64) + " is ready its status does not say"
		} else if m != nil && !m.Ready {
			l.fail(wording.OneLine(wording.TextOf(m.Name, v.Name), 64), "not ready"+wording.InBrackets(wording.OneLine(m.Status, 40))+
				wording.Prefixed(": ", notReady(m.Conditions)), ofNode(v.Node))
		}
	}
}

// controllerThere asks that the Deployment was seen at all: without it there is no entry either.
func controllerThere(l *look) {
	if l.s.Controller == nil {
		l.unknown = "the Deployment rockoon is not in osh-system"
	}
}

func rebootRequest(l *look) {
	if r := l.s.Management.Reboot; r != nil {
		what := "all machines"
		if len(r.Machines) > 0 {
			what = wording.Count(len(r.Machines), "machine")
		}
		l.fail("GracefulRebootRequest "+wording.OneLine(r.Name, 64), "asks for "+what, &core.ProcedureKey{Kind: core.ProcedureMaintenance})
	}
}

func autoPause(l *look) {
	switch p := l.s.Management.Pause; {
	case p == nil:
		l.note = "there is no UpdateAutoPause: no alert will pause the update"
	case len(p.Firing) > 0:
		l.fail("UpdateAutoPause "+wording.OneLine(p.Name, 64), "fires now: "+wording.OneLine(wording.Some(p.Firing, 4), 200), nil)
	default:
		l.note = wording.Count(len(p.Alerts), "alert") + wording.Verb(len(p.Alerts), " pauses", " pause") + " it: " +
			wording.OneLine(wording.Some(p.Alerts, 4), 200)
	}
}

func removals(l *look) {
	notices := map[string]map[string]*core.NodeNotice{"NodeDeletionRequest": l.s.Deletions, "NodeDisableNotification": l.s.Disablings}
	for kind, all := range notices {
		for node, n := range all {
			l.fail(label(l.s, node), "has a "+kind+wording.TextIf(n.Deleting.IsZero(), "", ", which is being removed"), ofNode(node))
			l.key(kind, node)
		}
	}
	slices.SortFunc(l.found, func(a, b Finding) int { return strings.Compare(a.Of+a.Says, b.Of+b.Says) })
}

// inDeletion finds locks that are being removed and do not go: a finalizer keeps them.
func inDeletion(l *look) {
	find := func(lock *core.WorkloadLock, of string, resolve *core.ProcedureKey) {
		if !lock.Deleting.IsZero() && progress.StuckLock(l.s, lock.Node) != lock {
			l.fail(of, "its lock of "+wording.OneLine(lock.Controller, 40)+" is being removed, and kept by "+
				wording.TextOf(wording.OneLine(wording.Some(lock.Finalizers, 3), 200), "nothing"), resolve)
			l.key("in deletion", lock.Controller, of)
		}
	}
	for _, lock := range l.s.ClusterLocks {
		find(lock, "the cluster", &core.ProcedureKey{Kind: core.ProcedureCluster})
	}
	for _, name := range progress.NodeNames(l.s) {
		for _, lock := range l.s.NodeLocks.At(name) {
			find(lock, label(l.s, name), ofNode(name))
		}
	}
}

func pressure(l *look) {
	for _, name := range l.s.NodeNames() {
		for _, p := range l.s.Nodes[name].Pressure {
			if p == "DiskPressure" {
				l.fail(label(l.s, name), wording.OneLine(p, 40), ofNode(name))
			} else {
				l.warn(label(l.s, name), wording.OneLine(p, 40), ofNode(name))
			}
			l.key(p, name)
		}
	}
}

func quorums(l *look) {
	for _, q := range progress.QuorumSets {
		v, there := progress.Quorum(l.s, q)
		if why := progress.QuorumUnknown(l.s, q); why != "" { // its pods may be what was not read: they are not missing by that
			l.unknown = why
			continue
		}
		if !there {
			continue
		}
		serve := 0
		for _, p := range v.Pods {
			if progress.Serves(p) {
				serve++
			}
		}
		if serve == v.Replicas {
			continue
		}
		found := l.fail
		if v.Replicas-serve <= l.away(hasMembers) {
			found = l.warn // each comes back with its node
		}
		found("", progress.QuorumText(l.s, v, ""), nil)
		l.key(q.Namespace, q.Name)
	}
}

// hasMembers tells whether members of the sets with a quorum run on such a node: on those of the control plane, and of StackLight.
func hasMembers(n *core.Node) bool {
	others := []core.Role{core.RoleMaster, core.RoleGateway, core.RoleCompute, core.RoleStorage}
	return n.Is(core.RoleController) || !slices.ContainsFunc(others, n.Is)
}

// away is how many nodes of a kind are in maintenance, with what runs on them.
func (l *look) away(kind func(*core.Node) bool) int {
	n := 0
	for name, requests := range l.s.NodeRequests {
		if node := l.s.Nodes[name]; node != nil && len(requests) > 0 && kind(node) {
			n++
		}
	}
	return n
}

func quorumCommands(s *core.Snapshot) []string {
	var out []string
	for _, q := range progress.QuorumSets {
		if _, there := progress.Quorum(s, q); there {
			out = append(out, q.Look()...)
		}
	}
	return out
}

// ceph judges Ceph by its own health. A flag that a maintenance sets is nothing while nodes are in maintenance, and a warning of Ceph is
// no more than that while one of its nodes is: its disks are away, and their data is copied or caught up with.
func ceph(l *look) {
	switch {
	case absent(l.s, core.SourceCeph):
		l.note = "no CephCluster is known here: another storage, or one outside of this cluster"
	case len(l.s.Ceph) == 0:
		l.note = "there is no CephCluster"
	}
	for _, c := range l.s.Ceph {
		if c.Health == "" {
			l.unknown = "Rook has not told yet how healthy Ceph is"
		}
		if c.Health == "" || c.Health == core.CephOK {
			continue
		}
		found := l.fail
		if c.Flagged() || c.Health == core.CephWarn && l.away(func(n *core.Node) bool { return n.Is(core.RoleStorage) }) > 0 {
			found = l.warn
		}
		health := wording.OneLine(c.Health, 40)
		for _, h := range c.Checks {
			found("", health+" — "+wording.OneLine(h.Name, 40)+wording.Prefixed(": ", wording.OneLine(h.Message, 200)), nil)
			l.key(c.Namespace, c.Name, h.Name)
		}
		if len(c.Checks) == 0 {
			found("", health, nil)
			l.key(c.Namespace, c.Name)
		}
	}
}

func cephCommands(s *core.Snapshot) []string {
	if len(s.Ceph) == 0 {
		return nil
	}
	return []string{
		wording.ShellCommand("kubectl", "-n", core.NamespaceCeph, "exec", "deploy/rook-ceph-tools", "--", "ceph", "health", "detail")}
}

// states finds instances that run in a state in which nothing moves them, node by node.
func states(l *look) {
	for _, v := range progress.NodeViews(l.s) {
		m := progress.MaintenanceOf(l.s, v.Name)
		by := map[string][]*core.Instance{} // by status
		for _, in := range l.s.InstancesOn(v.Name) {
			if progress.NothingMoves[in.Status] != "" && core.Blocks(in, progress.ViewInstance(l.s, in, m).Action) {
				by[in.Status] = append(by[in.Status], in)
			}
		}
		for _, status := range sortedKeys(by) {
			names := make([]string, len(by[status]))
			for i, in := range by[status] {
				names[i] = wording.OneLine(progress.InstanceLabel(in), 64)
			}
			key := ofNode(v.Name)
			if len(names) == 1 {
				key = &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: by[status][0].ID}
			}
			l.fail(v.Label, fmt.Sprintf("%s in %s: %s", wording.Count(len(names), "instance"), wording.OneLine(status, 40),
				wording.Some(names, 4)), key)
			f := &l.found[len(l.found)-1]
			f.Remedy = progress.WayOut(by[status][0])
			l.key(v.Name, status)
			for _, in := range by[status] {
				f.Each = append(f.Each, in.ID)
			}
		}
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// migrations finds what migrates although nothing is in maintenance. One that takes long is told as what it is.
func migrations(l *look) {
	for _, id := range sortedKeys(l.s.Migrations) {
		m, in := l.s.LatestMigration(id), l.s.Instances.At(id)
		if m == nil || in == nil || !m.Running() {
			continue
		}
		says := wording.OneLine(m.Type, 40) + " " + progress.MovingText(l.s, in)
		if !m.Created.IsZero() && l.s.Longer(m.Created, progress.MigrationLong) {
			says += ", begun " + progress.DayText(l.s, m.Created)
		}
		l.fail(wording.OneLine(progress.InstanceLabel(in), 64), says, &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: id})
		l.key(id)
	}
}

// hasRoom reads the forecast: which nodes would be held by an instance, and why.
func hasRoom(l *look) {
	f := l.room.Forecast
	if f == nil {
		l.unknown = wording.TextOf(l.room.Why, "no forecast was made")
		return
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		var blocks, may []string
		for _, in := range n.Instances {
			switch in.Fate {
			case evacuation.FateBlocks:
				blocks = append(blocks, in.Name+wording.InBrackets(in.Why()))
			case evacuation.FateMayFail:
				may = append(may, in.Name)
			}
		}
		key := ofNode(n.Node)
		if len(blocks) > 0 {
			l.fail(n.Label, fmt.Sprintf("held by %s: %s", wording.Count(len(blocks), "instance"), wording.Some(blocks, 2)), key)
			l.key("held", n.Node)
		}
		if len(may) > 0 {
			l.warn(n.Label, fmt.Sprintf("%s may fail to move: %s", wording.Count(len(may), "instance"), wording.Some(may, 3)), key)
			l.key("may fail", n.Node)
		}
		if n.Spare != nil && !n.Spare.Fits {
			l.warn(n.Label, fmt.Sprintf("with %s lost, too, %s would find no room", n.Spare.Host, wording.Count(n.Spare.Left, "instance")), key)
			l.key("spare", n.Node)
		}
	}
	for _, u := range f.Unknown {
		l.unknown = u.What + ": " + u.Why
	}
	l.note = strings.TrimPrefix(f.Headline(), f.Cluster+": ")
}

// toCome are the compute nodes that the update has yet to go through.
func toCome(s *core.Snapshot) []*core.NodeView {
	return slices.DeleteFunc(slices.Clone(progress.NodeViews(s)), func(v *core.NodeView) bool {
		return v.Node == nil || !v.Node.Is(core.RoleCompute) || s.ClusterRequest() != nil && v.Stage == core.StageDone
	})
}

// skipped finds nodes whose instances go down with them.
func skipped(l *look) {
	for _, v := range toCome(l.s) {
		if v.Mode != core.ModeSkip {
			continue
		}
		n := 0
		for _, in := range l.s.InstancesOn(v.Name) {
			if in.Power == core.PowerRunning {
				n++
			}
		}
		if n > 0 {
			l.fail(v.Label, "mode skip: "+wording.Count(n, "running instance")+wording.Verb(n, " goes", " go")+" down with it", ofNode(v.Name))
		}
	}
}

func manual(l *look) {
	for _, v := range toCome(l.s) {
		told := slices.ContainsFunc(attention.List(l.s), func(a core.Attention) bool { return a.Rule == core.RuleWillHold && a.Node == v.Name })
		if v.Mode == core.ModeManual && l.s.NodeRequest(v.Name) == nil && !told {
			l.fail(v.Label, "mode manual: it waits until its instances are off and it is declared safe", ofNode(v.Name))
		}
	}
}

func ownDisks(l *look) {
	for _, v := range progress.NodeViews(l.s) {
		users, known := progress.RemoteUsers(l.s, v.Name)
		if !known && v.Node != nil && len(l.s.VolumeServicesOn(v.Name)) > 0 {
			l.unknown = "the volumes on the disks of " + v.Label + " were not listed"
		}
		if len(users) == 0 {
			continue
		}
		names := make([]string, len(users))
		for i, u := range users {
			names[i] = u.Text(l.s)
		}
		l.fail(v.Label, "its disks are used by "+wording.Some(names, 3), ofNode(v.Name))
	}
}
