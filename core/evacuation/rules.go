package evacuation

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// ReasonKind says what a reason is about.
type ReasonKind string

// The kinds of reasons.
const (
	KindAction       ReasonKind = "action"        // the rules leave it to a person
	KindState        ReasonKind = "state"         // nothing live-migrates an instance in this state
	KindLocked       ReasonKind = "locked"        // its user has locked it
	KindFailed       ReasonKind = "failed"        // its last migration from here failed
	KindDevice       ReasonKind = "device"        // PCI, vGPU, accelerator, persistent memory
	KindPort         ReasonKind = "port"          // SR-IOV and the like
	KindTopology     ReasonKind = "topology"      // pinned CPUs, NUMA, huge pages
	KindConfidential ReasonKind = "confidential"  // vTPM, encrypted memory
	KindVolume       ReasonKind = "volume"        // encrypted, or on a host's own disks
	KindDisk         ReasonKind = "disk"          // its disks made from an image are the host's own
	KindAffinity     ReasonKind = "affinity"      // its server group must be together
	KindAntiAffinity ReasonKind = "anti-affinity" // its server group must be apart
	KindZone         ReasonKind = "zone"          // no other host in its zone
	KindAggregate    ReasonKind = "aggregate"     // no host with the aggregate or trait that its flavor asks for
	KindRoom         ReasonKind = "room"          // no host with room for it
	KindUnchecked    ReasonKind = "unchecked"
)

// The policies of server groups that the scheduler enforces.
const (
	policyAffinity     = "affinity"
	policyAntiAffinity = "anti-affinity"
)

// The newest microversion of each release, by which releases of Nova are told apart. A cloud whose microversions are not known counts
// as an older one.
const (
	novaTrain    = 79  // 2.79: live migration takes NUMA topology along
	novaCaracal  = 96  // 2.96: vGPUs can be live-migrated
	novaEpoxy    = 100 // 2.100: PCI aliases can say live_migratable
	novaGazpacho = 103 // 2.103: a vTPM whose secret is the host's can be live-migrated
)

// candidate is an instance that is to leave its host, with everything that rules look at.
type candidate struct {
	e      *evacuation
	in     *core.Instance
	host   string
	action core.MaintenanceAction
	origin core.ActionOrigin
	mode   core.MigrationMode
}

func (c *candidate) spec(key string) string { return c.in.Flavor().ExtraSpecs[key] }

// rule is one reason why an instance may not be able to leave its host.
type rule struct {
	kind   ReasonKind
	find   func(c *candidate) (Level, string) // no text: it does not apply
	remedy string
}

const (
	remedyByHand = "cold-migrate it (it stops for that), stop it, or let it go down with the host"
	remedyStop   = "stop it, or let it go down with the host"
)

// rules are Nova's and the OpenStack controller's, each with its source.
var rules = []rule{
	// The OpenStack controller's action for it (docs/mosk.md#tags).
	{KindAction, func(c *candidate) (Level, string) {
		switch {
		case c.action == core.ActionUnknown:
			return LevelBlocks, fmt.Sprintf("the node's mode %q is not one that the OpenStack controller knows",
				core.Tidy(wording.Clip(string(c.mode), 40)))
		case c.action == core.ActionNotify && c.origin == core.OriginTag:
			return LevelBlocks, "notify: its owner decides"
		case c.action == core.ActionNotify:
			return LevelBlocks, "manual: the operator moves it"
		}
		return "", ""
	}, "migrate it by hand, stop it, or have it tagged poweroff"},

	// Rockoon migrates only ACTIVE and PAUSED instances, and so does Nova (compute/api.py: check_instance_state).
	{KindState, func(c *candidate) (Level, string) {
		switch {
		case c.in.Status != "ACTIVE" && c.in.Status != "PAUSED":
			return LevelBlocks, "status " + core.Tidy(c.in.Status) + ": it " + c.in.PowerWord() + ", and nothing moves it"
		case c.in.TaskState != "":
			return LevelRisk, "busy: " + core.Tidy(c.in.TaskState)
		case c.in.Flavor().RAMMiB <= 0:
			return LevelUnknown, "its size is not known: Nova tells it from 2.47 on"
		}
		return "", ""
	}, ""}, // nothingMoves says what to do

	// Nova lets an administrator pass a lock (compute/api.py: check_instance_lock asks for context.is_admin).
	{KindLocked, func(c *candidate) (Level, string) {
		if !c.in.Locked {
			return "", ""
		}
		return LevelNote, "locked: Nova lets an administrator, and so the OpenStack controller, migrate it all the same"
	}, "ask its owner why it is locked"},

	// What failed before may fail again.
	{KindFailed, func(c *candidate) (Level, string) {
		r := c.e.s.LatestMigration(c.in.ID)
		if r == nil || !r.Failed() || r.SourceHost != c.host {
			return "", ""
		}
		return LevelRisk, "its last migration from here failed" + wording.Because(core.Tidy(wording.OneLine(r.Failure, core.LongestTidy)))
	}, "see why it failed, or cold-migrate it"},

	// conductor/tasks/live_migrate.py: _check_can_migrate_pci.
	{KindDevice, func(c *candidate) (Level, string) {
		alias := c.spec("pci_passthrough:alias")
		switch {
		case alias == "":
			return "", ""
		case c.e.facts.Microversion >= novaEpoxy:
			return LevelRisk, "PCI device " + core.Tidy(alias) + ": Nova moves it only if its alias is live_migratable"
		}
		return LevelBlocks, "PCI device " + core.Tidy(alias) + ": Nova refuses to live-migrate it"
	}, remedyByHand},

	// compute/api.py: block_accelerators.
	{KindDevice, func(c *candidate) (Level, string) {
		if p := c.spec("accel:device_profile"); p != "" {
			return LevelBlocks, "accelerator " + core.Tidy(p) + ": Nova refuses to live-migrate it"
		}
		return "", ""
	}, remedyStop},

	// Nova's admin guide, "Attaching virtual GPU devices to guests": from Caracal on, if libvirt and QEMU are new enough.
	{KindDevice, func(c *candidate) (Level, string) {
		switch class := deviceClass(c.in); {
		case class == "":
			return "", ""
		case class != classVGPU:
			return LevelRisk, "custom resource " + core.Tidy(class) + ": if it is a mediated device (vGPU), Nova may refuse to live-migrate it"
		case c.e.facts.Microversion >= novaCaracal:
			return LevelRisk, "vGPU: moves only with libvirt 8.6, QEMU 8.1 and the same type on both hosts"
		}
		return LevelBlocks, "vGPU: a Nova older than 2024.1 does not live-migrate it"
	}, remedyByHand},

	// conductor/tasks/live_migrate.py: _check_can_migrate_specific_resources.
	{KindDevice, func(c *candidate) (Level, string) {
		if c.spec("hw:pmem") != "" {
			return LevelRisk, "persistent memory: all hosts must have a Nova that can move it"
		}
		return "", ""
	}, remedyByHand},

	// conductor/tasks/live_migrate.py: _check_instance_has_no_numa. From Train on the target must have what it asks for, in its
	// NUMA cells, which no API tells.
	{KindTopology, func(c *candidate) (Level, string) {
		what := c.topology()
		switch {
		case what == "":
			return "", ""
		case c.e.facts.Microversion >= novaTrain:
			return LevelRisk, what + ": moves only to a host with the same free in its NUMA cells"
		}
		return LevelBlocks, what + ": a Nova older than Train refuses to live-migrate it"
	}, remedyByHand},

	// compute/api.py: reject_legacy_vtpm_live_migration.
	{KindConfidential, func(c *candidate) (Level, string) {
		switch {
		case c.spec("hw:tpm_version") == "" && c.spec("hw:tpm_model") == "":
			return "", ""
		case c.spec("hw:tpm_secret_security") == "host" && c.e.facts.Microversion >= novaGazpacho:
			return LevelRisk, "vTPM: moves only between hosts that all can take its secret"
		}
		return LevelBlocks, "vTPM: Nova refuses to live-migrate it"
	}, remedyStop},

	// compute/api.py: reject_sev_instances.
	{KindConfidential, func(c *candidate) (Level, string) {
		if truthy(c.spec("hw:mem_encryption")) {
			return LevelBlocks, "encrypted memory (SEV): Nova refuses to live-migrate it"
		}
		return "", ""
	}, remedyByHand},

	// Ports: compute/api.py block_port_accelerators and reject_vdpa_instances; the rest is unplugged for the way
	// (conductor/tasks/live_migrate.py: _check_can_migrate_pci).
	{KindPort, func(c *candidate) (Level, string) {
		level, text := Level(""), ""
		for _, p := range c.e.ports[c.in.ID] {
			switch t := core.Tidy(p.VNICType); {
			case strings.HasPrefix(t, "accelerator-direct"):
				return LevelBlocks, "port of type " + t + ": Nova refuses to live-migrate it"
			case text == "":
				level, text = LevelRisk, "SR-IOV port ("+t+"): is unplugged on the way, and needs a free device on the target"
			}
		}
		return level, text
	}, "see that the guest bears to lose the port for a while, or cold-migrate it"},

	// A volume that the node's own cinder-volume serves is gone while the node is down, wherever the instance is (docs/mosk.md#removal).
	{KindVolume, func(c *candidate) (Level, string) {
		for _, v := range c.e.volumes[c.in.ID] {
			host, _, _ := strings.Cut(v.Host, "@")
			if host == c.host || sameHost(host, c.host) {
				return LevelRisk, "volume " + progress.VolumeName(v) + " lies on this host's own disks: the instance can leave, its volume cannot"
			}
			if c.e.computes[host] {
				return LevelNote, "volume " + progress.VolumeName(v) + " lies on the disks of " + c.e.label(host) + ", and goes away with that host"
			}
		}
		return "", ""
	}, "migrate the volume to another back end first, or stop the instance"},

	// Documented by MOSK as live-migration unfriendly (docs/mosk.md#tags).
	{KindVolume, func(c *candidate) (Level, string) {
		for _, v := range c.e.volumes[c.in.ID] {
			if v.Encrypted {
				return LevelRisk, "volume " + progress.VolumeName(v) + " is encrypted: the target needs its key, and MOSK warns of live-migrating it"
			}
		}
		if truthy(c.spec("hw:ephemeral_encryption")) {
			return LevelRisk, "its local disks are encrypted: MOSK warns of live-migrating them"
		}
		return "", ""
	}, "see that Barbican answers, or cold-migrate it"},

	hostDisksRule,

	// scheduler/filters/affinity_filter.py: only the members' hosts are allowed, and that is the host it has to leave.
	{KindAffinity, func(c *candidate) (Level, string) {
		g := c.e.groups[c.in.ID]
		switch {
		case g == nil || g.Policy != policyAffinity:
			return "", ""
		case len(g.Members) > 1:
			return LevelBlocks, fmt.Sprintf("server group %s keeps its %d members together: the scheduler lets none of them leave alone",
				core.Tidy(g.Name), len(g.Members))
		}
		return LevelRisk, "server group " + core.Tidy(g.Name) + " has the policy affinity: the scheduler may hold it to its present host"
	}, "stop all members, or let them go down with the host"},

	// scheduler/filters/aggregate_instance_extra_specs.py: Lockstep compares plain words only.
	{KindAggregate, func(c *candidate) (Level, string) {
		for key, value := range c.in.Flavor().ExtraSpecs {
			if strings.HasPrefix(key, aggregateScope) && hasOperator(value) {
				return LevelUnknown, "its flavor compares the metadata of aggregates with an operator: not checked"
			}
		}
		return "", ""
	}, ""},
}

const classVGPU = "VGPU"

// deviceClass is the resource class of a device that a flavor asks for: VGPU, else a custom class, which may be a device; empty when
// there is none.
func deviceClass(in *core.Instance) string {
	var found []string
	for key, value := range in.Flavor().ExtraSpecs {
		prefix, class, ok := strings.Cut(key, ":")
		switch {
		case !ok || !strings.HasPrefix(prefix, "resources") || value == "0":
		case class == classVGPU:
			return classVGPU
		case strings.HasPrefix(class, "CUSTOM_") && !strings.HasPrefix(class, "CUSTOM_PMEM_NAMESPACE_"):
			found = append(found, class)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// topology says what an instance asks for in CPUs, NUMA and pages; empty when nothing special. A flavor asks for pinned CPUs by a
// policy or by the resource class itself (virt/hardware.py: numa_get_constraints); an image can too, and that shows in what Placement
// has given it.
func (c *candidate) topology() string {
	var parts []string
	specs := c.in.Flavor().ExtraSpecs
	if p := specs["hw:cpu_policy"]; p == "dedicated" || p == "mixed" || asksFor(c.in, classPCPU) ||
		c.e.room.taken[c.in.Host][c.in.ID][classPCPU] > 0 {
		parts = append(parts, "pinned CPUs")
	}
	for key := range specs {
		if strings.HasPrefix(key, "hw:numa_") {
			parts = append(parts, "NUMA topology")
			break
		}
	}
	if size := specs["hw:mem_page_size"]; size != "" && size != "small" && size != "any" {
		parts = append(parts, "huge pages")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// asksFor tells whether a flavor asks for some of a resource class.
func asksFor(in *core.Instance, class string) bool {
	for key, value := range in.Flavor().ExtraSpecs {
		if prefix, of, ok := strings.Cut(key, ":"); ok && strings.HasPrefix(prefix, "resources") && of == class && value != "0" {
			return true
		}
	}
	return false
}

// truthy reads a flag of an extra spec as Nova does.
func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "1", "t", "true", "on", "y", "yes":
		return true
	}
	return false
}

// sameHost compares host names, of which one may have a domain.
func sameHost(a, b string) bool {
	x, _, _ := strings.Cut(a, ".")
	y, _, _ := strings.Cut(b, ".")
	return a != "" && x == y
}

// uncheckedFacts is a list of facts without which something about an instance is not known.
type uncheckedFacts struct {
	what    string
	kind    ReasonKind
	means   string
	matters func(c *candidate) bool // nil: of every instance that is to leave
	err     *core.APIError
}

// uncheckedRules say what is not known without each list of facts.
var uncheckedRules = []uncheckedFacts{
	{what: core.FactsRoom, kind: KindRoom, means: "whether any instance finds a host is not known"},
	{what: core.FactsGroups, kind: KindAntiAffinity, means: "an instance may be held by its server group"},
	{what: core.FactsVolumes, kind: KindVolume, means: "encrypted volumes, and volumes on a host's own disks, are not seen"},
	{what: core.FactsPorts, kind: KindPort, means: "SR-IOV ports are not seen"},
	{what: core.FactsAggregates, kind: KindAggregate, means: "an instance may find no host in the aggregates that its flavor asks for",
		matters: func(c *candidate) bool {
			return hasSpec(c.in, aggregateScope)
		}},
	{what: core.FactsTraits, kind: KindAggregate, means: "an instance may find no host with the traits that its flavor asks for",
		matters: func(c *candidate) bool {
			return hasSpec(c.in, "trait:")
		}},
	{what: core.FactsZones, kind: KindZone, means: "which instances are bound to their zones is not known: all are taken to be",
		matters: func(*candidate) bool { return false }},
}

func hasSpec(in *core.Instance, prefix string) bool {
	for key := range in.Flavor().ExtraSpecs {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
