package inventory

import (
	"fmt"
	"strings"

	"lockstep/sim/scenario"
)

// Header is the comment at the head of the file: what it is, and what it leaves out. file is the file's name.
func Header(s *scenario.Scenario, file string) []string {
	f := s.Found
	whose := s.Name
	if f.From != "" {
		whose += " (" + f.From + ")"
	}
	lines := []string{
		"A live cloud as `lockstep snapshot` found it: " + s.Rehearsal() + ".",
		"Whose: " + whose + ". It holds " + Contents(s) + ".",
		"Rehearse its update: lockstep demo --from " + file,
		"",
		"Nodes are named by their machines. Times are the cluster's. The UIDs of Kubernetes are not kept: a rehearsal's objects",
		"get their own. User data, metadata, addresses and key pairs of instances, Secrets and ConfigMaps are never recorded.",
	}
	lines = append(lines, ownText()...)
	if f.Pseudonymous {
		lines = append(lines, "Pseudonymous: names and IDs are made up; unknown tags, annotations and texts are left out.")
	}
	for _, m := range f.Missing {
		lines = append(lines, fmt.Sprintf("COULD NOT BE READ: %s: %s", m.What, m.Why))
	}
	for _, a := range f.Assumed {
		lines = append(lines, fmt.Sprintf("Assumed: %s: %s", a.Field, a.Why))
	}
	return append(lines, "")
}

// Contents counts what the scenario holds: "12 nodes, 80 instances and 3 server groups".
func Contents(s *scenario.Scenario) string {
	f := s.Found
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{len(s.Nodes), "1 node", "%d nodes"},
		{len(f.ClusterLocks) + len(f.NodeLocks), "1 lock", "%d locks"},
		{len(f.ClusterRequests) + len(f.NodeRequests), "1 maintenance request", "%d maintenance requests"},
		{len(f.StatefulSets), "1 StatefulSet", "%d StatefulSets"},
		{len(f.Plans), "1 update plan", "%d update plans"},
		{len(f.UpdateGroups), "1 update group", "%d update groups"},
		{len(s.Instances), "1 instance", "%d instances"},
		{len(s.Projects), "1 project", "%d projects"},
		{len(s.Flavors), "1 flavor", "%d flavors"},
		{len(f.Aggregates), "1 aggregate", "%d aggregates"},
		{len(f.ServerGroups), "1 server group", "%d server groups"},
		{len(f.VolumeServices), "1 volume service", "%d volume services"},
	} {
		if c.n > 0 {
			parts = append(parts, count(c.n, c.one, c.many))
		}
	}
	if len(parts) < 2 {
		return strings.Join(append(parts, "nothing else"), " and ")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
