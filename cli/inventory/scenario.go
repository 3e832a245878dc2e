// Package inventory makes a scenario from an inventory of a live cloud, so that its next update can be rehearsed in simulation.
package inventory

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/sim/scenario"
)

// Scenario returns the scenario that begins with the inventory's cloud as it was; version is the program's. What the cloud did
// not show is filled in, and listed under found.assumed. scenario.Parse accepts the result if the inventory has at least one node
// or compute host.
func Scenario(inv *core.Inventory, version string) *scenario.Scenario {
	b := &builder{inv: inv, s: &scenario.Scenario{
		Format: scenario.Format, Name: fallback(oneLine(inv.Cluster, 80), "cluster"), Seed: 1,
		Found: &scenario.Found{At: moment(clusterTime(inv)), From: oneLine(inv.Server, 200), By: version},
	}}
	b.s.Title = titleOf(b.s.Name)
	b.s.Teaches = "Your own fleet: what tonight's update will ask of you. Nothing here touches the real cloud."
	for _, m := range inv.Missing {
		b.s.Found.Missing = append(b.s.Found.Missing, scenario.Missing{What: m.What, Why: oneLine(m.Err.Error(), 300)})
	}
	b.nodes()
	b.releases()
	b.deployment()
	b.locks()
	b.requests()
	b.sets()
	b.update()
	b.management()
	b.flavors()
	b.projects()
	b.groups()
	b.aggregates()
	b.volumes()
	b.agents()
	b.instances()
	b.overcommit()
	return b.s
}

// builder makes one scenario.
type builder struct {
	inv *core.Inventory
	s   *scenario.Scenario

	machines map[string]string // machine names by the names of nodes
	hosts    map[string]string // machine names by the names of Nova's hosts
	node     map[string]int    // places in s.Nodes by machine name

	flavorNames  map[string]string // by flavorKey
	projectNames map[string]string // the scenario's name for a project, by ID
	groupOf      map[string]string // the scenario's name for the server group of an instance, by the instance's ID
}

// assume notes that a field was filled in.
func (b *builder) assume(field, format string, args ...any) {
	b.s.Found.Assumed = append(b.s.Found.Assumed, scenario.Assumed{Field: field, Why: fmt.Sprintf(format, args...)})
}

// assumeOf notes that something was left out or filled in for the things of the cloud that it names.
func (b *builder) assumeOf(field, why, names string) {
	names = ": " + names
	b.s.Found.Assumed = append(b.s.Found.Assumed, scenario.Assumed{Field: field, Why: why + names, Names: names})
}

// clusterTime is the time in the cluster: this machine's, unless a server's timestamp is later.
func clusterTime(inv *core.Inventory) time.Time {
	now := inv.Taken
	later := func(t time.Time) {
		if t.After(now) {
			now = t
		}
	}
	for _, n := range inv.Nodes {
		later(n.Created)
		later(n.ReadySince)
	}
	for _, list := range [][]*core.WorkloadLock{inv.ClusterLocks, inv.NodeLocks} {
		for _, l := range list {
			later(l.Created)
			later(progress.ReadLockMessage(l.Message).At)
		}
	}
	for _, list := range [][]*core.MaintenanceRequest{inv.ClusterRequests, inv.NodeRequests} {
		for _, r := range list {
			later(r.Created)
			later(r.Deleting)
		}
	}
	for _, s := range inv.Services {
		later(s.Updated)
	}
	return now
}

// moment is a time to the second, as in the file.
func moment(t time.Time) scenario.Moment {
	if t.IsZero() {
		return scenario.Moment{}
	}
	return scenario.Moment(t.UTC().Truncate(time.Second))
}

// releases finds out from where to where the update goes.
func (b *builder) releases() {
	inv, to := b.inv, ""
	for _, r := range slices.Concat(inv.ClusterRequests, inv.NodeRequests) {
		to = cmp.Or(to, r.Release)
	}
	plan := openPlan(inv.Management)
	if to == "" && plan != nil {
		to = releaseOf(plan.Target)
	}
	running := inv.ControllerRelease
	candidates := []string{running}
	for _, o := range inv.OpenStack {
		candidates = append(candidates, o.Release)
	}
	for _, l := range slices.Concat(inv.ClusterLocks, inv.NodeLocks) {
		candidates = append(candidates, l.Release)
	}
	if plan != nil {
		candidates = append(candidates, releaseOf(plan.Source))
	}
	from := ""
	for _, c := range candidates {
		if c != to {
			from = cmp.Or(from, c)
		}
	}
	if from == "" {
		from = "previous"
		b.assume("release.from", "the cluster shows no other release than the update's")
	}
	if to == "" {
		to = "next"
		b.assume("release.to", "no request and no update plan names a target")
	}
	b.s.Release = scenario.Change{From: from, To: to}
	b.kubelets(running == to)

	tag := "unknown"
	if c := inv.Controller; c != nil {
		if i := strings.LastIndexByte(c.Image, ':'); i >= 0 {
			tag = c.Image[i+1:]
		}
		b.s.Found.Controller = scenario.FoundController{Release: cmp.Or(running, from), Version: tag, Replicas: c.Replicas, Ready: c.Ready}
	}
	b.s.Rockoon = scenario.Change{From: tag, To: tag}
}

// kubelets finds the kubelets' versions before and after the update among those of the nodes.
func (b *builder) kubelets(updating bool) {
	var versions []string
	for _, n := range b.inv.Nodes {
		if v := n.KubeletVersion; v != "" && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, compareVersions)
	switch len(versions) {
	case 0:
		b.s.Kubelet = scenario.Change{From: "v0.0.1", To: "v0.0.2"}
		b.assume("kubelet", "no node tells its version")
	case 1:
		b.s.Kubelet = scenario.Change{From: versions[0], To: nextVersion(versions[0])}
		b.assume("kubelet.to", "all nodes run %s; the rehearsal tells an updated node by another version", versions[0])
	default:
		b.s.Kubelet = scenario.Change{From: versions[0], To: versions[len(versions)-1]}
		if len(versions) > 2 || !updating {
			b.assume("kubelet", "the nodes run %s; those at the newest count as updated", strings.Join(versions, ", "))
		}
	}
	for i := range b.s.Nodes {
		if n := &b.s.Nodes[i]; n.Kubelet == b.s.Kubelet.From {
			n.Kubelet = "" // as the scenario has it anyhow
		}
	}
}

var versionForm = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)`)

// compareVersions orders by numbers, not by text: v1.9 is older than v1.30.
func compareVersions(a, b string) int {
	x, y := versionForm.FindStringSubmatch(a), versionForm.FindStringSubmatch(b)
	for i := 1; i < len(x) && i < len(y); i++ {
		if c := cmp.Or(len(x[i])-len(y[i]), strings.Compare(x[i], y[i])); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

// nextVersion is a later version than v, for a target that nothing names.
func nextVersion(v string) string {
	var major, minor int
	if g := versionForm.FindStringSubmatch(v); g != nil {
		if _, err := fmt.Sscan(g[1], &major); err == nil {
			if _, err := fmt.Sscan(g[2], &minor); err == nil {
				return fmt.Sprintf("v%d.%d.0", major, minor+1)
			}
		}
	}
	return v + "-next"
}

// openPlan is the update plan that runs or comes next; nil when there is none.
func openPlan(m *core.ManagementInventory) *core.InventoryPlan {
	if m == nil {
		return nil
	}
	var found *core.InventoryPlan
	for i := range m.Plans {
		p := &m.Plans[i]
		running := p.Status != "" && p.Status != "NotStarted"
		if p.Status != "Completed" && (found == nil || running) {
			found = p
		}
	}
	return found
}

var clusterReleaseForm = regexp.MustCompile(`^mosk-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)$`)

// releaseOf is the release of a ClusterRelease's name: mosk-21-0-0-25-2 is 21.0.0+25.2. Any other name is returned as it is.
func releaseOf(clusterRelease string) string {
	if g := clusterReleaseForm.FindStringSubmatch(clusterRelease); g != nil {
		return fmt.Sprintf("%s.%s.%s+%s.%s", g[1], g[2], g[3], g[4], g[5])
	}
	return clusterRelease
}

func titleOf(name string) string { return "Rehearsal of the update of " + name }

func fallback(s, otherwise string) string { return cmp.Or(s, otherwise) }

// oneLine makes a text from a server fit for one line of a file: no control characters, limited length.
func oneLine(s string, limit int) string {
	var out strings.Builder
	n := 0
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f }) {
		if n > 0 {
			out.WriteByte(' ')
		}
		for _, r := range word {
			if n == limit {
				return out.String() + "…"
			}
			out.WriteRune(r)
			n++
		}
	}
	return out.String()
}
