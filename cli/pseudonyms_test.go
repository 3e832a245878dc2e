package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// originals returns all the names and IDs of a scenario.
func originals(s *scenario.Scenario) []string {
	f := s.Found
	names := []string{s.Name, s.Cluster, s.Cloud.Deployment, f.From}
	for _, n := range s.Nodes {
		names = append(names, n.Machine, n.Name, strings.TrimPrefix(n.Name, "kaas-node-"), n.Zone, n.DisabledReason)
	}
	for _, fl := range s.Flavors {
		names = append(names, fl.Name, fl.ID)
	}
	names = append(names, s.Projects...)
	for _, in := range s.Instances {
		names = append(names, in.Name, in.ID, in.Fault)
		names = append(names, in.Tags...)
	}
	for _, l := range slices.Concat(f.ClusterLocks, f.NodeLocks) {
		names = append(names, l.Name, l.Controller, l.Node)
		if l.Controller != core.ControllerOpenStack {
			names = append(names, l.Message, l.Progress)
		}
	}
	for _, r := range slices.Concat(f.ClusterRequests, f.NodeRequests) {
		names = append(names, r.Name)
	}
	for _, n := range slices.Concat(f.Deletions, f.Disablings) {
		names = append(names, n.Name, n.Node)
	}
	for _, a := range f.Aggregates {
		names = append(names, a.Name)
	}
	for _, g := range f.ServerGroups {
		names = append(names, g.Name, g.ID)
	}
	for _, p := range f.Projects {
		names = append(names, p.ID)
	}
	for _, set := range f.StatefulSets {
		if strings.HasPrefix(set.Name, "acme") {
			names = append(names, set.Name)
		}
	}
	for _, v := range f.VolumeServices {
		names = append(names, v.Host, v.DisabledReason)
		if v.Backend != "lvm" {
			names = append(names, v.Backend)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return len(name) < 3 || name == "nova" || name == "ceph" || name == "openstack" || name == core.DisabledReasonMaintenance ||
			name == "ceph-clusterworkloadlock"
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// A snapshot with --pseudonymise has no name and no ID of the cloud, has the cloud's structure, and cannot be matched with
// another snapshot.
func TestAPseudonymousSnapshot(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := rebuilt(t, foundYAML)
		file, code, out := takeSnapshot(t, c, "--pseudonymise")
		if code != exitFine {
			t.Fatalf("exit %d: %s", code, out)
		}
		namesNothing(t, file, c.Scenario)
		keepsTheStructure(t, file, c.Scenario)
		another, _, _ := takeSnapshot(t, c, "--pseudonymise")
		x, y := content(t, file), content(t, another)
		name := regexp.MustCompile(`compute-[0-9a-f]{10}`)
		if m := name.FindString(x); m == "" || strings.Contains(y, m) {
			t.Errorf("the name %q is in both files", m)
		}
	})
}

func namesNothing(t *testing.T, file string, was *scenario.Scenario) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := originals(was)
	if len(names) < 50 {
		t.Fatalf("only %d names to look for", len(names))
	}
	text := string(raw)
	for _, name := range names {
		word := regexp.MustCompile(`(^|[^\pL\pN])` + regexp.QuoteMeta(name) + `($|[^\pL\pN])`)
		if at := word.FindStringIndex(text); at != nil {
			start := max(strings.LastIndexByte(text[:at[0]], '\n'), 0)
			t.Errorf("%q is still there: %.300s", name, text[start:])
		}
	}
	if strings.Contains(text, file) {
		t.Error("the path of the file is in it, and may name the cloud")
	}
	for _, id := range []string{`id: "42"`, `id: "1"`} {
		if strings.Contains(text, id) {
			t.Errorf("a flavor still has its %s", id)
		}
	}
	if strings.Contains(text, "127.0.0.1") || strings.Contains(text, "billing") || strings.Contains(text, "LICENCE") {
		t.Errorf("a server, a tag or a trait is still there:\n%s", text)
	}
}

// One thing stays one thing, and the rebuilt cloud behaves as the real one.
func keepsTheStructure(t *testing.T, file string, was *scenario.Scenario) {
	t.Helper()
	is, err := scenario.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	shape := func(s *scenario.Scenario) map[string]int {
		m := map[string]int{}
		groups, hosts := map[string]int{}, map[string]int{}
		for _, in := range s.Instances {
			groups[in.ServerGroup]++
			hosts[in.Host]++
			m["status "+in.Status]++
			m["actions "+strings.Join(in.Actions, ",")]++
		}
		for _, n := range groups {
			m["group of "+strings.Repeat("i", n)]++
		}
		for _, n := range hosts {
			m["host of "+strings.Repeat("i", n)]++
		}
		for _, n := range s.Nodes {
			m["node "+strings.Join(n.Roles, ",")+n.Annotations[core.AnnotationMigrationMode]]++
		}
		for _, l := range s.Found.NodeLocks {
			node, known := s.Node(l.Node)
			m["lock "+l.State+l.Inner+strings.Join(node.Roles, ",")]++
			if !known { // it has left the cluster
				node.Name = l.Node
			}
			if l.Controller == core.ControllerOpenStack && l.Name != "openstack-"+node.Name {
				t.Errorf("the lock %s is not called as OpenStack's controller calls it", l.Name)
			}
			if l.Message != "" {
				said := progress.ReadLockMessage(l.Message)
				m["message "+string(said.ID)]++
				for _, id := range said.Instances {
					if !slices.ContainsFunc(s.Instances, func(in scenario.Instance) bool { return in.ID == id }) {
						t.Errorf("the message names %s, which is no instance of the file", id)
					}
				}
			}
		}
		return m
	}
	before, after := shape(was), shape(is)
	for what, n := range before {
		if after[what] != n {
			t.Errorf("%s: there were %d, and there are %d", what, n, after[what])
		}
	}
	if !is.Found.Pseudonymous || is.Found.ClusterRequests[0].Name != is.Cluster ||
		is.Found.ClusterLocks[2].Name != "openstack-"+is.Cloud.Deployment {
		t.Errorf("the cluster's own objects do not fit: %+v", is.Found.ClusterLocks)
	}
	rebuilt(t, file)
}
