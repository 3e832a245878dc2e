package evacuation

import (
	"cmp"
	"fmt"
	"lockstep/core"
	"lockstep/core/progress"
	"slices"
	"strings"
	"time"
)

// Request says what a forecast is about.
type Request struct {
	Nodes  []string  // names of the nodes; none: every compute node that the update has still to go through
	Order  []string  // names of nodes in the order of the update; those that are not in it come after, by their labels
	AtOnce int       // how many nodes are in maintenance at the same time; 0 means 1
	Made   time.Time // wall time
}

// ResolveNodes is the names of the nodes with these names or labels, each once. A name that no node has, or that several have, is an
// error.
func ResolveNodes(s *core.Snapshot, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		var found []string
		for _, known := range s.NodeNames() {
			if known == name {
				found = []string{known}
				break
			}
			if s.Label(known) == name {
				found = append(found, known)
			}
		}
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("there is no node %q", name)
		case 1:
			if !slices.Contains(out, found[0]) {
				out = append(out, found[0])
			}
		default:
			return nil, fmt.Errorf("%q is the name of %d nodes: %s", name, len(found), strings.Join(found, ", "))
		}
	}
	return out, nil
}

// evacuated are the nodes that a forecast is about, in the order of their maintenance, and the labels of the nodes that the update is
// through with.
func evacuated(s *core.Snapshot, r Request) (nodes, done []string) {
	if len(r.Nodes) > 0 {
		for _, n := range r.Nodes {
			if s.Nodes[n] != nil && !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	} else {
		for _, n := range s.NodeNames() {
			v, _ := progress.NodeView(s, n)
			switch {
			case !s.Nodes[n].Is(core.RoleCompute):
			case v.Stage == core.StageDone:
				done = append(done, core.Tidy(s.Label(n)))
			default:
				nodes = append(nodes, n)
			}
		}
	}
	place := map[string]int{}
	for i, n := range r.Order {
		if _, ok := place[n]; !ok {
			place[n] = i + 1
		}
	}
	rank := func(n string) int {
		if at, ok := place[n]; ok {
			return at
		}
		return len(r.Order) + 1
	}
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(s.Label(a), s.Label(b)), strings.Compare(a, b))
	})
	return nodes, done
}

// Query is what OpenStack is asked before a forecast: about the hosts of its nodes, and the traits that flavors require or forbid. It
// has what is known of these hosts without asking.
func Query(s *core.Snapshot, r Request) core.EvacuationQuery {
	q := core.EvacuationQuery{Hosts: []string{}, Loads: map[string]core.HostLoad{}, Instances: s.Instances.Len()}
	nodes, _ := evacuated(s, r)
	for _, n := range nodes {
		host := s.HostOf(n)
		q.Hosts = append(q.Hosts, host)
		q.Loads[host] = loadOf(s, host)
	}
	addMigrations(s, q.Loads)
	seen := map[string]bool{}
	for _, in := range s.Instances.All() {
		for key, value := range in.Flavor().ExtraSpecs {
			if trait, ok := traitOf(key); ok && (value == "required" || value == "forbidden") {
				seen[trait] = true
			}
		}
	}
	for t := range seen {
		q.Traits = append(q.Traits, t)
	}
	slices.Sort(q.Traits)
	return q
}

// loadOf is what the instances of a host take there by their flavors.
func loadOf(s *core.Snapshot, host string) core.HostLoad {
	load := core.HostLoad{Instances: len(s.ByHost[host]), Takes: map[string]int{}}
	for _, in := range s.ByHost[host] {
		for class, n := range takes(in) {
			load.Takes[class] += n
		}
	}
	return load
}

// addMigrations adds what is held twice while an instance moves: on the host that it moves to, and, until its resize or cold
// migration is confirmed, on the host that it came from. A resize holds there what its former flavor took, which is not known: then the
// sum is wrong, and the host is asked.
func addMigrations(s *core.Snapshot, loads map[string]core.HostLoad) {
	for _, in := range s.Instances.All() {
		m := s.LatestMigration(in.ID)
		if m == nil {
			continue
		}
		also := ""
		switch {
		case m.Running():
			also = m.DestHost
		case in.Status == "VERIFY_RESIZE" && m.Status == "finished":
			also = m.SourceHost
		}
		if load, ok := loads[also]; ok && also != in.Host {
			for class, n := range takes(in) {
				load.Takes[class] += n
			}
		}
	}
}
