package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lockstep/core"
)

// labelVRouter is the label of nodes with a vRouter (docs/mosk.md#tungsten-fabric).
const labelVRouter = "tfvrouter"

// notRecorded are the facts of a snapshot that a recording never has: Lockstep does not watch them.
var notRecorded = []string{"sizes of nodes and compute hosts", "aggregates", "server groups"}

// Recorded is the inventory of the cloud at one moment of a recording: a snapshot, as far as Lockstep watched it. What a source did not
// show then is missing in it, and so is what is in no recording.
func Recorded(s *core.Snapshot) *core.Inventory {
	inv := &core.Inventory{Taken: s.Now, Cluster: s.Cluster}
	c := &inv.ClusterInventory
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		c.Nodes = append(c.Nodes, core.InventoryNode{Node: n, VRouter: n.Labels[labelVRouter] == "enabled"})
	}
	c.ClusterLocks, c.ClusterRequests, c.OpenStack, c.Controller = s.ClusterLocks, s.ClusterRequests, s.OpenStack, s.Controller
	c.NodeLocks, c.NodeRequests = flat(maps.Collect(s.NodeLocks.All())), flat(s.NodeRequests)
	c.Deletions, c.Disablings = values(s.Deletions), values(s.Disablings)
	c.StatefulSets, c.DaemonSets, c.DaemonRevisions, c.DaemonPods = s.StatefulSets, s.DaemonSets, s.DaemonRevisions, s.DaemonPods
	c.RoleLabels, c.ControllerRelease = s.RoleLabels, controllerRelease(s)

	o := &inv.CloudInventory
	o.Services, o.VolumeServices, o.Agents = values(s.Services), flat(s.VolumeServices), flat(s.Agents)
	for _, id := range slices.Sorted(maps.Keys(s.Projects)) {
		o.Projects = append(o.Projects, &core.Project{ID: id, Name: s.Projects[id]})
	}
	for _, in := range s.Instances.All() {
		o.Instances = append(o.Instances, in)
		if m := s.LatestMigration(in.ID); m != nil {
			o.Migrations = append(o.Migrations, m)
		}
	}
	slices.SortFunc(o.Instances, func(a, b *core.Instance) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(o.Migrations, func(a, b *core.Migration) int { return a.ID - b.ID })
	inv.Management = recordedManagement(s.Management)

	for _, id := range slices.Sorted(maps.Keys(s.Sources)) {
		if src := s.Sources[id]; src.State == core.SourceOff || src.State == core.SourceAbsent || s.Known(id) || owned(id) {
			continue
		}
		inv.Missing = append(inv.Missing, core.MissingFacts{What: string(id), Err: &core.APIError{Kind: core.ErrUnsupported,
			Call: "read the recording", Message: s.WhyUnknown(id)}})
	}
	for _, what := range notRecorded {
		inv.Missing = append(inv.Missing, core.MissingFacts{What: what, Err: &core.APIError{Kind: core.ErrUnsupported,
			Call: "read the recording", Message: "a recording does not have them"}})
	}
	return inv
}

// owned tells whether a rehearsal makes the facts of the source itself.
func owned(id core.SourceID) bool {
	return slices.ContainsFunc(Owns, func(o Own) bool { return slices.Contains(o.Sources, id) })
}

// values are those of a map, by its keys.
func values[T any](m map[string]T) []T {
	var out []T
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

func flat[T any](m map[string][]T) []T { return slices.Concat(values(m)...) }

// controllerRelease is the release that Rockoon is of, which no watched object tells: that of the status that it wrote, where the running
// image wrote it; another image is the target's, and has not written yet.
func controllerRelease(s *core.Snapshot) string {
	r := s.ClusterRequest()
	switch {
	case s.Controller == nil || len(s.OpenStack) == 0:
		return ""
	case r == nil || strings.HasSuffix(s.Controller.Image, ":"+s.OpenStack[0].ControllerVersion):
		return s.OpenStack[0].Release
	}
	return r.Release
}

func recordedManagement(m *core.Management) *core.ManagementInventory {
	if m == nil || !m.Found {
		return nil
	}
	inv := &core.ManagementInventory{Namespace: m.Namespace, Cluster: m.Name}
	if m.Cluster != nil {
		inv.Release = cmp.Or(m.Cluster.Release, m.Cluster.Target)
	}
	for _, v := range m.Machines {
		if v.Machine != nil {
			inv.Machines = append(inv.Machines, core.Machine{Name: v.Name, Node: v.Node, Group: v.Machine.Group, Index: v.Machine.UpgradeIndex})
		}
	}
	for _, g := range m.Groups {
		inv.Groups = append(inv.Groups, core.UpdateGroup{Name: g.Name, Index: g.Index, Concurrency: g.Concurrent, Reboot: g.Reboot})
	}
	for _, p := range m.Plans {
		inv.Plans = append(inv.Plans, core.InventoryPlan{Name: p.Name, Source: p.Source, Target: p.Target, Status: p.Status, Started: p.Started,
			Completed: p.Completed, Steps: p.Steps})
	}
	return inv
}
