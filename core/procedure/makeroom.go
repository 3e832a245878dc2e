package procedure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// roomSteps say why an instance finds no host, and offer to enable hosts that an operator has disabled. They are about the largest of
// the instances without room; empty when there is none.
func roomSteps(s *core.Snapshot, views []core.InstanceView) []core.Step {
	var without []core.InstanceView
	for _, v := range views {
		if step.NoRoom(v) && !progress.Moving(s, v.Instance) {
			without = append(without, v)
		}
	}
	if len(without) == 0 {
		return nil
	}
	// The largest one needs most.
	in := slices.MaxFunc(without, func(a, b core.InstanceView) int {
		return cmp.Or(cmp.Compare(a.Instance.Flavor().RAMMiB, b.Instance.Flavor().RAMMiB), cmp.Compare(b.Instance.ID, a.Instance.ID))
	}).Instance
	names := make([]string, len(without))
	for i, v := range without {
		names[i] = progress.InstanceLabel(v.Instance)
	}
	zone := in.Zone
	if own := s.Services[in.Host]; own != nil && own.Zone != "" {
		zone = own.Zone
	}
	hosts := otherHostsOf(s, in.Host, zone)
	st := core.Step{ID: "make-room/" + in.ID, Target: in.Ref(), Label: progress.InstanceLabel(in), State: core.StepWaiting,
		Title: "make room for " + wording.Some(names, 2), Status: hosts.short()}
	if n := s.NodeOfHost(in.Host); n != nil {
		st.Node = n.Name
	}
	st.Why = wording.Join("The scheduler finds no host for "+progress.InstanceLabel(in)+sizeText(in.Flavor())+inZone(zone)+".", hosts.text(s),
		hosts.remedy(s))
	st.Commands = []string{wording.ShellCommand("openstack", "--os-compute-api-version", "2.87", "hypervisor", "list", "--long"),
		wording.ShellCommand("openstack", "compute", "service", "list", "--service", "nova-compute")}
	steps := []core.Step{st}
	for _, svc := range hosts.disabled {
		if n := s.NodeOfHost(svc.Host); n != nil {
			steps = append(steps, step.Plan(s, core.Intent{Kind: core.IntentEnableCompute, Node: n.Name}))
		}
	}
	return steps
}

// otherHosts are the other compute services of a host's zone, by why the scheduler uses them or not, each list by host.
type otherHosts struct {
	usable      []*core.ComputeService // enabled and up: it found no room there
	maintenance []*core.ComputeService // disabled for a maintenance, or on a node that is in one or is to be removed: nothing goes there
	disabled    []*core.ComputeService // disabled by somebody
	down        []*core.ComputeService
}

func otherHostsOf(s *core.Snapshot, host, zone string) otherHosts {
	var o otherHosts
	for h, svc := range s.Services {
		switch {
		case h == host || zone != "" && svc.Zone != zone:
		case !svc.Up || svc.ForcedDown:
			o.down = append(o.down, svc)
		case svc.Enabled:
			o.usable = append(o.usable, svc)
		case svc.DisabledReason == core.DisabledReasonMaintenance || leavesNow(s, h):
			o.maintenance = append(o.maintenance, svc)
		default:
			o.disabled = append(o.disabled, svc)
		}
	}
	for _, list := range [][]*core.ComputeService{o.usable, o.maintenance, o.disabled, o.down} {
		slices.SortFunc(list, func(a, b *core.ComputeService) int {
			return cmp.Compare(progress.HostLabel(s, a.Host), progress.HostLabel(s, b.Host))
		})
	}
	return o
}

// leavesNow tells whether the host's node is asked for a maintenance, or to be removed: what is put there has to leave it again.
func leavesNow(s *core.Snapshot, host string) bool {
	n := s.NodeOfHost(host)
	return n != nil && (s.NodeRequest(n.Name) != nil || step.LeavesCluster(s, n.Name))
}

// short is "2 hosts full or unfit, 1 disabled".
func (o otherHosts) short() string {
	var parts []string
	say := func(list []*core.ComputeService, word string) {
		if len(list) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(list), word))
		}
	}
	say(o.usable, "full or unfit")
	say(o.maintenance, "in maintenance")
	say(o.disabled, "disabled")
	say(o.down, "down")
	if len(parts) == 0 {
		return "no other host in its zone"
	}
	return "other hosts of its zone: " + strings.Join(parts, ", ")
}

// roomNamed is how many hosts are named of each kind.
const roomNamed = 4

// text says for the other hosts why the instance is not there.
func (o otherHosts) text(s *core.Snapshot) string {
	var sentences []string
	say := func(list []*core.ComputeService, what string, each func(*core.ComputeService) string) {
		if len(list) == 0 {
			return
		}
		names := make([]string, len(list))
		for i, svc := range list {
			names[i] = wording.OneLine(progress.HostLabel(s, svc.Host), 64) + wording.InBrackets(each(svc))
		}
		sentences = append(sentences, what+": "+wording.Some(names, roomNamed)+".")
	}
	say(o.usable, "Enabled and up, but full or unfit for it", func(svc *core.ComputeService) string { return holdsText(s, svc.Host) })
	say(o.maintenance, "In maintenance", func(*core.ComputeService) string { return "" })
	say(o.disabled, "Disabled", func(svc *core.ComputeService) string { return wording.OneLine(svc.DisabledReason, 80) })
	say(o.down, "Down", func(*core.ComputeService) string { return "" })
	if len(sentences) == 0 {
		return "There is no other host in its zone."
	}
	return strings.Join(sentences, " ")
}

// holdsText is what the instances on a host take up: a stopped one keeps its place.
func holdsText(s *core.Snapshot, host string) string {
	vcpus, memory, stopped := 0, 0, 0
	for _, in := range s.ByHost[host] {
		vcpus += in.Flavor().VCPUs
		memory += in.Flavor().RAMMiB
		if in.Status == "SHUTOFF" {
			stopped++
		}
	}
	text := fmt.Sprintf("%s take %d vCPU, %d GiB", wording.Count(len(s.ByHost[host]), "instance"), vcpus, (memory+1023)/1024)
	if stopped > 0 {
		text += fmt.Sprintf("; %d of them stopped", stopped)
	}
	return text
}

// remedy says what makes room, the easiest first.
func (o otherHosts) remedy(s *core.Snapshot) string {
	var ways []string
	if len(o.disabled) > 0 {
		ways = append(ways, "enable a disabled host")
	}
	if len(o.maintenance) > 0 {
		ways = append(ways, "wait for a host that returns")
	}
	if len(o.down) > 0 {
		ways = append(ways, "bring a host up")
	}
	if len(o.usable) > 0 {
		ways = append(ways, "with their owners' word, shelve or delete instances on the others (a stopped one keeps its place)")
	}
	ways = append(ways, "or let it stop, go down with its host, or be shelved")
	return "What helps: " + strings.Join(ways, "; ") + "."
}

// sizeText is " (16 vCPU, 96 GiB)"; empty where the size is not known.
func sizeText(f core.Flavor) string {
	if f.VCPUs == 0 && f.RAMMiB == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d vCPU, %d GiB)", f.VCPUs, (f.RAMMiB+1023)/1024)
}

func inZone(zone string) string {
	if zone == "" {
		return ""
	}
	return " in zone " + wording.OneLine(zone, 40)
}
