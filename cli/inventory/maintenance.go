package inventory

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/sim/scenario"
)

// deployment takes over the status of OpenStack.
func (b *builder) deployment() {
	if labels := b.inv.RoleLabels; len(labels) > 0 && !labels.IsDefault() {
		b.s.Cloud.NodeLabels = map[string]string{}
		for role, label := range labels {
			b.s.Cloud.NodeLabels[string(role)] = label.String()
		}
	}
	if len(b.inv.OpenStack) == 0 {
		return
	}
	o := b.inv.OpenStack[0]
	b.s.Cloud.Deployment, b.s.Cloud.Version = o.Name, o.OpenStackVersion
	d := &scenario.FoundDeployment{
		State: o.State, Release: o.Release, Version: o.ControllerVersion, Health: o.Health, Progress: o.LCMProgress,
		Cause: o.Cause, Since: moment(o.Timestamp), Unhealthy: o.Unhealthy,
	}
	for _, s := range o.Services {
		b.s.Cloud.Services = append(b.s.Cloud.Services, s.Name)
		d.Services = append(d.Services, scenario.FoundService{Name: s.Name, State: s.State, Release: s.Release, Since: moment(s.Since)})
	}
	b.s.Found.Deployment = d
}

// fabricLock is the name of a TFOperator's lock (docs/mosk.md#locks).
const fabricLock = "tf-"

func (b *builder) locks() {
	f := b.s.Found
	for _, l := range b.inv.ClusterLocks {
		f.ClusterLocks = append(f.ClusterLocks, b.lock(l))
		if l.Controller == core.ControllerTungstenFabric {
			b.s.Cloud.Fabric = strings.TrimPrefix(l.Name, fabricLock)
		}
	}
	for _, l := range b.inv.NodeLocks {
		f.NodeLocks = append(f.NodeLocks, b.lock(l))
	}
}

func (b *builder) lock(l *core.WorkloadLock) scenario.FoundLock {
	m := progress.ReadLockMessage(l.Message)
	found := scenario.FoundLock{
		Name: l.Name, Controller: l.Controller, Node: b.machineName(l.Node), State: string(l.RawState), Release: l.Release, Inner: l.InnerState,
		Message: oneLine(m.Text, 4000), Said: moment(m.At), Deletion: l.NodeDeletionRequestSupported, Created: moment(l.Created),
	}
	if l.Progress != nil {
		found.Progress, found.Percentage = oneLine(l.Progress.Description, 300), l.Progress.Percentage
	}
	return found
}

// machineName is the scenario's name for a node; a node that is gone keeps its own name.
func (b *builder) machineName(node string) string { return cmp.Or(b.machines[node], node) }

func (b *builder) requests() {
	f := b.s.Found
	request := func(r *core.MaintenanceRequest) scenario.FoundRequest {
		return scenario.FoundRequest{Name: r.Name, Node: b.machineName(r.Node), Release: r.Release, Scope: string(r.Scope),
			Created: moment(r.Created), Deleted: moment(r.Deleting), Finalizers: r.Finalizers}
	}
	for _, r := range b.inv.ClusterRequests {
		f.ClusterRequests = append(f.ClusterRequests, request(r))
	}
	for _, r := range b.inv.NodeRequests {
		if b.machines[r.Node] != "" { // a node that is gone has nothing to rehearse
			f.NodeRequests = append(f.NodeRequests, request(r))
		}
	}
	notice := func(n *core.NodeNotice) scenario.FoundNotice {
		return scenario.FoundNotice{Name: n.Name, Node: b.machineName(n.Node), Created: moment(n.Created)}
	}
	for _, n := range b.inv.Deletions {
		f.Deletions = append(f.Deletions, notice(n))
	}
	for _, n := range b.inv.Disablings {
		f.Disablings = append(f.Disablings, notice(n))
	}
}

var notInName = regexp.MustCompile(`[^a-z0-9-]+`)

// update is the order in which LCM updates the nodes: by groups and indexes, those under way or done first.
func (b *builder) update() {
	s, inv := b.s, b.inv
	s.Cluster = strings.Trim(notInName.ReplaceAllString(strings.ToLower(inv.Cluster), "-"), "-")
	working, drains := 0, len(inv.NodeRequests) > 0
	for _, r := range inv.NodeRequests {
		if n := b.at(b.machines[r.Node]); n != nil && !n.Has(scenario.RoleMaster) {
			working++
		}
		drains = drains && r.Scope == core.ScopeDrain
	}
	if m := inv.Management; m != nil {
		s.Cluster = m.Cluster
		for _, g := range m.Groups {
			s.Found.UpdateGroups = append(s.Found.UpdateGroups,
				scenario.FoundUpdateGroup{Name: g.Name, Index: g.Index, Concurrency: g.Concurrency, Reboot: g.Reboot})
			if !strings.HasSuffix(g.Name, "-control") {
				working = max(working, g.Concurrency)
			}
		}
		b.plans(m)
	}
	if len(inv.ClusterRequests) > 0 {
		s.Cluster = inv.ClusterRequests[0].Name
	}
	s.Cluster = cmp.Or(s.Cluster, "cluster")
	s.Update.Concurrency = max(working, 1)
	if drains {
		s.Update.Scope = string(core.ScopeDrain)
	}

	s.Update.Order = workersInOrder(s)
}

// workersInOrder are the workers' machines in LCM's order: those that are done, those under way, then by update group, upgrade
// index and name.
func workersInOrder(s *scenario.Scenario) []string {
	busy, group := map[string]bool{}, map[string]int{}
	for _, r := range s.Found.NodeRequests {
		busy[r.Node] = true
	}
	for _, g := range s.Found.UpdateGroups {
		group[g.Name] = g.Index
	}
	turn := func(n scenario.Node) int {
		switch {
		case busy[n.Machine]:
			return 1
		case n.Kubelet == s.Kubelet.To:
			return 0
		}
		return 2
	}
	var workers []scenario.Node
	for _, n := range s.Nodes {
		if !n.Has(scenario.RoleMaster) {
			workers = append(workers, n)
		}
	}
	slices.SortStableFunc(workers, func(x, y scenario.Node) int {
		return cmp.Or(turn(x)-turn(y), group[x.Group]-group[y.Group], x.Index-y.Index, compareNames(x.Machine, y.Machine))
	})
	var order []string
	for _, n := range workers {
		order = append(order, n.Machine)
	}
	return order
}

func (b *builder) plans(m *core.ManagementInventory) {
	for _, p := range m.Plans {
		found := scenario.FoundPlan{Name: p.Name, Source: p.Source, Target: p.Target, Status: p.Status, Started: moment(p.Started),
			Completed: moment(p.Completed)}
		for _, st := range p.Steps {
			found.Steps = append(found.Steps, scenario.FoundStep{
				ID: st.ID, Name: oneLine(st.Name, 200), Commence: st.Commence, Estimate: st.Estimate, Status: st.Status,
				Message: oneLine(st.Message, 1000), Started: moment(st.Started), Took: st.Duration,
			})
		}
		b.s.Found.Plans = append(b.s.Found.Plans, found)
	}
}
