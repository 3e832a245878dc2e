package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// nodes takes over the nodes, and adds the compute hosts that only Nova knows.
func (b *builder) nodes() {
	b.machines, b.hosts, b.node = map[string]string{}, map[string]string{}, map[string]int{}
	count := map[string]int{}
	for _, n := range b.inv.Nodes {
		count[n.ShortName]++
	}
	for _, n := range b.inv.Nodes {
		machine := n.ShortName
		if machine == "" || count[machine] > 1 {
			machine = n.Name
		}
		b.machines[n.Name], b.hosts[n.Name] = machine, machine
		b.add(scenario.Node{Machine: machine, Name: n.Name, Roles: rolesOf(n), Annotations: maps.Clone(n.Annotations),
			FoundNode: scenario.FoundNode{
				Kubelet: n.KubeletVersion, Cordoned: n.Cordoned, Created: moment(n.Created), ReadySince: moment(n.ReadySince),
				Ready: unless(n.Ready, "True", "Unknown"), ReadyReason: oneLine(unless(n.ReadyReason, "KubeletReady", ""), 100),
			}})
	}
	if b.inv.Management != nil {
		for _, m := range b.inv.Management.Machines {
			if n := b.at(b.machines[m.Node]); n != nil {
				n.Group, n.Index = m.Group, m.Index
			}
		}
	}
	b.computes()
	slices.SortStableFunc(b.s.Nodes, func(x, y scenario.Node) int {
		return cmp.Or(rank(x)-rank(y), compareNames(x.Machine, y.Machine))
	})
	for i, n := range b.s.Nodes {
		b.node[n.Machine] = i
	}
}

func (b *builder) add(n scenario.Node) {
	b.node[n.Machine] = len(b.s.Nodes)
	b.s.Nodes = append(b.s.Nodes, n)
}

// at returns the node of a machine; nil when there is none. The pointer is valid until the next add.
func (b *builder) at(machine string) *scenario.Node {
	i, ok := b.node[machine]
	if !ok {
		return nil
	}
	return &b.s.Nodes[i]
}

// unless is a value, or empty when it is the usual one; otherwise stands for an empty value.
func unless(value, usual, empty string) string {
	switch value {
	case usual:
		return ""
	case "":
		return empty
	}
	return value
}

func rolesOf(n core.InventoryNode) []string {
	var roles []string
	for _, r := range n.Roles {
		roles = append(roles, string(r))
	}
	if n.VRouter {
		roles = append(roles, scenario.RoleVRouter)
	}
	return roles
}

// rank orders nodes as people list them: masters, then controllers, computes, gateways, the rest.
func rank(n scenario.Node) int {
	for i, role := range []string{scenario.RoleMaster, scenario.RoleController, scenario.RoleCompute, scenario.RoleGateway} {
		if n.Has(role) {
			return i
		}
	}
	return 4
}

var digits = regexp.MustCompile(`\d+|\D+`)

// compareNames orders cmp-2 before cmp-10.
func compareNames(a, b string) int {
	x, y := digits.FindAllString(a, -1), digits.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		m, errX := strconv.ParseUint(x[i], 10, 64)
		n, errY := strconv.ParseUint(y[i], 10, 64)
		if errX == nil && errY == nil && m != n {
			return cmp.Compare(m, n)
		}
		if c := strings.Compare(x[i], y[i]); (errX != nil || errY != nil) && c != 0 {
			return c
		}
	}
	return cmp.Or(len(x)-len(y), strings.Compare(a, b))
}

// computes takes over what Nova knows about the hosts.
func (b *builder) computes() {
	served := map[string]bool{}
	var strangers []string
	host := func(name string) *scenario.Node {
		machine := b.machineOf(name)
		if machine == "" {
			machine = name
			b.hosts[name] = name
			b.add(scenario.Node{Machine: name, Name: name})
			strangers = append(strangers, name)
		}
		n := b.at(machine)
		if !n.Has(scenario.RoleCompute) {
			n.Roles = append(n.Roles, scenario.RoleCompute)
		}
		return n
	}
	for _, s := range b.inv.Services {
		n := host(s.Host)
		served[n.Machine] = true
		n.Zone = unless(s.Zone, "nova", "")
		n.Disabled, n.DisabledReason, n.Down, n.ForcedDown = !s.Enabled, oneLine(s.DisabledReason, 255), !s.Up && !s.ForcedDown, s.ForcedDown
	}
	for _, in := range b.inv.Instances {
		if in.Host != "" {
			served[host(in.Host).Machine] = true
		}
	}
	sized := map[string]bool{}
	for _, h := range b.inv.Hypervisors {
		machine := cmp.Or(b.machineOf(h.Host), b.machineOf(h.Name))
		if n := b.at(machine); n != nil {
			sized[machine] = h.VCPUs > 0 && h.RAMMiB > 0
			n.VCPUs, n.DiskGiB = h.VCPUs, h.DiskGiB
			n.MemoryGiB, n.MemoryMiB = inGiB(h.RAMMiB)
		}
	}
	unsized := 0
	known := len(b.inv.Services) > 0 || len(b.inv.Instances) > 0
	for i := range b.s.Nodes {
		n := &b.s.Nodes[i]
		if !n.Has(scenario.RoleCompute) {
			continue
		}
		n.NoService = known && !served[n.Machine]
		if !sized[n.Machine] && !n.NoService {
			unsized++
		}
	}
	if unsized > 0 {
		b.assume("nodes", "%s not told by Nova: 64 vCPUs, 256 GiB and 4000 GiB of disk each",
			count(unsized, "the size of 1 compute is", "the sizes of %d computes are"))
	}
	if len(strangers) > 0 {
		b.assumeOf("nodes", count(len(strangers), "1 compute is", "%d computes are")+" known to Nova only", some(strangers))
	}
}

// inGiB is a size in GiB when it is a whole number of them, else in MiB.
func inGiB(mib int) (gib, rest int) {
	if mib%1024 == 0 {
		return mib / 1024, 0
	}
	return 0, mib
}

// machineOf is the machine with Nova's host name, which may have a domain; empty when no node has it.
func (b *builder) machineOf(host string) string {
	if machine, ok := b.hosts[host]; ok {
		return machine
	}
	short, _, _ := strings.Cut(host, ".")
	machine := b.hosts[short]
	if machine == "" && b.at(short) != nil {
		machine = short
	}
	if machine != "" {
		b.hosts[host] = machine
	}
	return machine
}

func count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// some lists the first names, and counts the rest.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
