package evacuation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// evacuationScene is four computes with room for some GiB each, and facts of all kinds about them.
type evacuationScene struct {
	scene.Scene
	facts core.EvacuationFacts
}

func newEvacuationScene(hosts int) *evacuationScene {
	e := &evacuationScene{Scene: scene.NewScene(), facts: core.EvacuationFacts{Microversion: 93, Traits: map[string][]string{}}}
	for i := range hosts {
		name := fmt.Sprintf("cmp-%02d", i+1)
		e.Node(name, core.RoleCompute)
		e.facts.Inventories = append(e.facts.Inventories,
			core.HostInventory{Host: name, Allocations: map[string]map[string]int{}, Classes: map[string]core.ClassInventory{
				"VCPU":      {Total: 16, MaxUnit: 16, Ratio: 4},
				"MEMORY_MB": {Total: 33 << 10, Reserved: 1 << 10, MaxUnit: 33 << 10, Ratio: 1},
				"DISK_GB":   {Total: 1000, MaxUnit: 1000, Ratio: 1},
			}})
	}
	return e
}

// guest adds an instance with this much memory, and Placement's allocation for it.
func (e *evacuationScene) guest(host, name string, gib int, tags ...string) *core.Instance {
	in := e.Instance(host, name, tags...)
	in.SharedFlavor = &core.Flavor{Name: fmt.Sprintf("m%d", gib), VCPUs: 2, RAMMiB: gib << 10, DiskGiB: 10, ExtraSpecs: map[string]string{}}
	e.allocate(in)
	return in
}

func (e *evacuationScene) allocate(in *core.Instance) {
	for _, inv := range e.facts.Inventories {
		if inv.Host == in.Host {
			f := in.Flavor()
			inv.Allocations[in.ID] = map[string]int{"VCPU": f.VCPUs, "MEMORY_MB": f.RAMMiB, "DISK_GB": f.DiskGiB}
		}
	}
}

func (e *evacuationScene) forecast(t testing.TB, nodes ...string) Forecast {
	t.Helper()
	p, err := NewForecast(e.Again().Snapshot, e.facts, Request{Nodes: nodes, Made: scene.Noon})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func theInstance(t *testing.T, p Forecast, name string) InstanceForecast {
	t.Helper()
	for _, n := range p.Nodes {
		for _, x := range n.Instances {
			if x.Name == name {
				return x
			}
		}
	}
	t.Fatalf("%s is not in the plan", name)
	return InstanceForecast{}
}

// One row for each obstacle to an instance's move.
func TestWhatStandsInTheWayOfAnInstance(t *testing.T) {
	spec := func(key, value string) func(*evacuationScene, *core.Instance) {
		return func(_ *evacuationScene, in *core.Instance) { in.SharedFlavor.ExtraSpecs[key] = value }
	}
	status := func(status, vm string) func(*evacuationScene, *core.Instance) {
		return func(_ *evacuationScene, in *core.Instance) { in.Status, in.VMState = status, vm }
	}
	nova := func(microversion int, then func(*evacuationScene, *core.Instance)) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, in *core.Instance) { e.facts.Microversion = microversion; then(e, in) }
	}
	missing := func(what string) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, _ *core.Instance) {
			e.facts.Missing = append(e.facts.Missing,
				core.MissingFacts{What: what, Err: &core.APIError{Kind: core.ErrForbidden, Call: "list " + what}})
		}
	}
	port := func(kind string) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, in *core.Instance) {
			e.facts.Ports = append(e.facts.Ports, core.Port{ID: "p", Instance: in.ID, VNICType: kind})
		}
	}
	volume := func(v core.Volume) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, in *core.Instance) {
			v.Instances = []string{in.ID}
			e.facts.Volumes = append(e.facts.Volumes, v)
		}
	}
	group := func(policy string, others ...string) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, in *core.Instance) {
			g := core.ServerGroup{ID: "g1", Name: "db", Policy: policy, Members: []string{in.ID}}
			for _, host := range others {
				g.Members = append(g.Members, e.guest(host, "other-"+host, 1).ID)
			}
			e.facts.ServerGroups = append(e.facts.ServerGroups, g)
		}
	}
	otherHosts := func(change func(e *evacuationScene, host string)) func(*evacuationScene, *core.Instance) {
		return func(e *evacuationScene, _ *core.Instance) { change(e, "cmp-02"); change(e, "cmp-03") }
	}
	for _, tc := range []struct {
		name string
		set  func(*evacuationScene, *core.Instance)
		fate Fate
		kind ReasonKind // of the worst reason; empty: there is none
		text string     // within it
	}{
		{"nothing", func(*evacuationScene, *core.Instance) {}, FateMoves, "", ""},
		{"paused", status("PAUSED", "paused"), FateMoves, "", ""},
		{"stopped", func(_ *evacuationScene, in *core.Instance) {
			in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
		}, FateStays, KindState, "stopped"},
		{"locked", func(_ *evacuationScene, in *core.Instance) { in.Locked = true }, FateMoves, KindLocked, "lets an administrator"},
		{"ERROR", status("ERROR", "error"), FateBlocks, KindState, "status ERROR"},
		{"VERIFY_RESIZE", status("VERIFY_RESIZE", "resized"), FateBlocks, KindState, "nothing moves it"},
		{"RESCUE", status("RESCUE", "rescued"), FateBlocks, KindState, "status RESCUE"},
		{"busy", func(_ *evacuationScene, in *core.Instance) { in.TaskState = "image_snapshot" }, FateMayFail, KindState, "image_snapshot"},
		{"on its way", func(_ *evacuationScene, in *core.Instance) { in.Status, in.TaskState = "MIGRATING", "migrating" }, FateMoves, KindState,
			"already"},
		{"failed before", func(e *evacuationScene, in *core.Instance) {
			e.Migration(in, "error", "", time.Hour).Failure = "No valid host was found."
		}, FateMayFail, KindFailed, "No valid host was found"},
		{"failed elsewhere before", func(e *evacuationScene, in *core.Instance) {
			e.Migration(in, "error", "", time.Hour).SourceHost = "cmp-03"
		}, FateMoves, "", ""},
		{"size unknown", func(_ *evacuationScene, in *core.Instance) { in.SharedFlavor.RAMMiB = 0 }, FateUnknown, KindState, "2.47"},

		{"tag poweroff", func(_ *evacuationScene, in *core.Instance) {
			in.Tags = []string{core.TagMaintenanceAction + "poweroff"}
		}, FateDown, KindAction, "its tag"},
		{"tag notify", func(_ *evacuationScene, in *core.Instance) { in.Tags = []string{core.TagMaintenanceAction + "notify"} }, FateBlocks,
			KindAction, "its owner decides"},
		{"mode skip", func(e *evacuationScene, _ *core.Instance) { e.Mode("cmp-01", core.ModeSkip) }, FateDown, KindAction, "the node's mode"},
		{"mode manual", func(e *evacuationScene, _ *core.Instance) { e.Mode("cmp-01", core.ModeManual) }, FateBlocks, KindAction,
			"the operator moves it"},
		{"mode manual, tag live_migrate", func(e *evacuationScene, in *core.Instance) {
			e.Mode("cmp-01", core.ModeManual)
			in.Tags = []string{core.TagMaintenanceAction + "live_migrate"}
		}, FateMoves, "", ""},
		{"mode nobody knows", func(e *evacuationScene, _ *core.Instance) { e.Mode("cmp-01", "cold") }, FateBlocks, KindAction, `"cold"`},
		{"request of scope drain", func(e *evacuationScene, _ *core.Instance) { e.Request("cmp-01", time.Minute).Scope = core.ScopeDrain },
			FateStays, "", ""},

		{"pinned CPUs", spec("hw:cpu_policy", "dedicated"), FateMayFail, KindTopology, "pinned CPUs"},
		{"pinned CPUs before Train", nova(72, spec("hw:cpu_policy", "dedicated")), FateBlocks, KindTopology, "older than Train"},
		{"pinned CPUs by their resource class", spec("resources:PCPU", "2"), FateMayFail, KindTopology, "pinned CPUs"},
		{"pinned CPUs that its image asks for", func(e *evacuationScene, in *core.Instance) {
			for i := range e.facts.Inventories {
				e.facts.Inventories[i].Classes["PCPU"] = core.ClassInventory{Total: 16, MaxUnit: 16, Ratio: 1}
			}
			e.facts.Inventories[0].Allocations[in.ID] = map[string]int{"PCPU": 2, "MEMORY_MB": 8 << 10, "DISK_GB": 10}
		}, FateMayFail, KindTopology, "pinned CPUs"},
		{"pinned CPUs of another", func(e *evacuationScene, _ *core.Instance) {
			e.facts.Inventories[0].Allocations["another"] = map[string]int{"PCPU": 2}
		}, FateMoves, "", ""},
		{"shared CPUs", spec("hw:cpu_policy", "shared"), FateMoves, "", ""},
		{"NUMA", spec("hw:numa_nodes", "2"), FateMayFail, KindTopology, "NUMA"},
		{"huge pages", spec("hw:mem_page_size", "1GB"), FateMayFail, KindTopology, "huge pages"},
		{"small pages", spec("hw:mem_page_size", "small"), FateMoves, "", ""},
		{"PCI", spec("pci_passthrough:alias", "a100:1"), FateBlocks, KindDevice, "a100:1"},
		{"PCI from Epoxy on", nova(100, spec("pci_passthrough:alias", "a100:1")), FateMayFail, KindDevice, "live_migratable"},
		{"accelerator", spec("accel:device_profile", "fpga"), FateBlocks, KindDevice, "fpga"},
		{"vGPU", spec("resources:VGPU", "1"), FateBlocks, KindDevice, "vGPU"},
		{"persistent memory", spec("hw:pmem", "6GB"), FateMayFail, KindDevice, "persistent memory"},
		{"vTPM", spec("hw:tpm_version", "2.0"), FateBlocks, KindConfidential, "vTPM"},
		{"SEV", spec("hw:mem_encryption", "true"), FateBlocks, KindConfidential, "SEV"},
		{"SR-IOV port", port("direct"), FateMayFail, KindPort, "direct"},
		{"accelerated port", port("accelerator-direct"), FateBlocks, KindPort, "refuses"},

		{"encrypted volume", volume(core.Volume{ID: "v", Name: "secrets", Host: "cinder@ceph#ceph", Encrypted: true}), FateMayFail, KindVolume,
			"secrets is encrypted"},
		{"volume on its own host's disks", volume(core.Volume{ID: "v", Name: "data", Host: "cmp-01@lvm#lvm"}), FateMayFail, KindVolume,
			"its volume cannot"},
		{"volume on another host's disks", volume(core.Volume{ID: "v", Name: "data", Host: "cmp-02@lvm#lvm"}), FateMoves, KindVolume,
			"disks of cmp-02"},
		{"volume in Ceph", volume(core.Volume{ID: "v", Host: "cinder@ceph#ceph"}), FateMoves, "", ""},

		{"affinity with another", group("affinity", "cmp-01"), FateBlocks, KindAffinity, "2 members together"},
		{"affinity alone", group("affinity"), FateMayFail, KindAffinity, "policy affinity"},
		{"soft affinity", group("soft-affinity", "cmp-01"), FateMoves, "", ""},
		{"anti-affinity, a host is left", group("anti-affinity", "cmp-02"), FateMoves, "", ""},
		{"anti-affinity, no host is left", group("anti-affinity", "cmp-02", "cmp-03"), FateBlocks, KindAntiAffinity,
			"2 have a member of its server group db"},
		{"anti-affinity, two may be together", func(e *evacuationScene, in *core.Instance) {
			group("anti-affinity", "cmp-02", "cmp-03")(e, in)
			e.facts.ServerGroups[0].MaxPerHost = 2
		}, FateMoves, "", ""},
		{"soft anti-affinity", group("soft-anti-affinity", "cmp-02", "cmp-03"), FateMoves, "", ""},

		{"no memory", otherHosts(func(e *evacuationScene, host string) { e.guest(host, "big-"+host, 30) }), FateBlocks, KindRoom,
			"2 short of memory (8 GiB wanted, at most 2 GiB free)"},
		{"no disk", otherHosts(func(e *evacuationScene, host string) {
			in := e.guest(host, "big-"+host, 1)
			in.SharedFlavor.DiskGiB = 995
			e.allocate(in)
		}), FateBlocks, KindRoom, "short of disk"},
		{"more CPUs than any host has", func(e *evacuationScene, in *core.Instance) { in.SharedFlavor.VCPUs = 17; e.allocate(in) }, FateBlocks,
			KindRoom, "short of vCPUs"},
		{"other hosts disabled", otherHosts(func(e *evacuationScene, host string) { e.Services[host].Enabled = false }), FateBlocks, KindZone,
			"no other host of the cloud takes instances"},
		{"other hosts down", otherHosts(func(e *evacuationScene, host string) { e.Services[host].Up = false }), FateBlocks, KindZone,
			"no other host"},
		{"zone without another host", func(e *evacuationScene, in *core.Instance) {
			in.Zone, e.Services["cmp-01"].Zone = "az-1", "az-1"
		}, FateBlocks, KindZone, "zone az-1 takes instances; 2 hosts of other zones would have room"},
		{"zone that it is not bound to", func(e *evacuationScene, in *core.Instance) {
			in.Zone, e.Services["cmp-01"].Zone = "az-1", "az-1"
			e.facts.PinnedZones = map[string]string{in.ID: ""}
		}, FateMoves, "", ""},
		{"aggregate that no other host is in", func(e *evacuationScene, in *core.Instance) {
			in.SharedFlavor.ExtraSpecs["aggregate_instance_extra_specs:ssd"] = "true"
			e.facts.Aggregates = []core.Aggregate{{ID: 1, Name: "ssd", Hosts: []string{"cmp-01"}, Metadata: map[string]string{"ssd": "true"}}}
		}, FateBlocks, KindAggregate, "2 not in an aggregate"},
		{"aggregate of another host", func(e *evacuationScene, in *core.Instance) {
			in.SharedFlavor.ExtraSpecs["aggregate_instance_extra_specs:ssd"] = "true"
			e.facts.Aggregates = []core.Aggregate{{ID: 1, Name: "ssd", Hosts: []string{"cmp-03"}, Metadata: map[string]string{"ssd": "true"}}}
		}, FateMoves, "", ""},
		{"aggregate of another host, among other values", func(e *evacuationScene, in *core.Instance) {
			in.SharedFlavor.ExtraSpecs["aggregate_instance_extra_specs:disk"] = "nvme"
			e.facts.Aggregates = []core.Aggregate{{ID: 1, Name: "fast", Hosts: []string{"cmp-03"}, Metadata: map[string]string{"disk": "ssd, nvme"}}}
		}, FateMoves, "", ""},
		{"aggregate compared by an operator", spec("aggregate_instance_extra_specs:gen", "s>= 4"), FateUnknown, KindAggregate, "operator"},
		{"trait that no host has", spec("trait:CUSTOM_FAST", "required"), FateBlocks, KindAggregate, "without a trait"},
		{"trait that another host has", func(e *evacuationScene, in *core.Instance) {
			in.SharedFlavor.ExtraSpecs["trait:CUSTOM_FAST"] = "required"
			e.facts.Traits["CUSTOM_FAST"] = []string{"cmp-02"}
		}, FateMoves, "", ""},
		{"trait that all others have and it must not", func(e *evacuationScene, in *core.Instance) {
			in.SharedFlavor.ExtraSpecs["trait:CUSTOM_SLOW"] = "forbidden"
			e.facts.Traits["CUSTOM_SLOW"] = []string{"cmp-02", "cmp-03"}
		}, FateBlocks, KindAggregate, "2 without a trait"},

		{"room not known", missing(core.FactsRoom), FateUnknown, KindRoom, "not checked"},
		{"room of some hosts not known", func(e *evacuationScene, in *core.Instance) {
			e.facts.Inventories = e.facts.Inventories[:1]
		}, FateUnknown, KindRoom, "some hosts are missing from the answer"},
		{"which hosts are up not known", func(e *evacuationScene, _ *core.Instance) {
			e.Source(core.SourceComputeServices, core.SourceForbidden)
			e.Services = map[string]*core.ComputeService{}
		}, FateUnknown, KindRoom, "not checked"},
		{"server groups not known", missing(core.FactsGroups), FateUnknown, KindAntiAffinity, "not checked"},
		{"volumes not known", missing(core.FactsVolumes), FateUnknown, KindVolume, "not checked"},
		{"ports not known", missing(core.FactsPorts), FateUnknown, KindPort, "not checked"},
		{"aggregates not known, and it asks for none", missing(core.FactsAggregates), FateMoves, "", ""},
		{"aggregates not known, and it asks for one", func(e *evacuationScene, in *core.Instance) {
			missing(core.FactsAggregates)(e, in)
			in.SharedFlavor.ExtraSpecs["aggregate_instance_extra_specs:ssd"] = "true"
		}, FateUnknown, KindAggregate, "not checked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEvacuationScene(3)
			in := e.guest("cmp-01", "web", 8)
			tc.set(e, in)
			x := theInstance(t, e.forecast(t, "cmp-01"), "web")
			var kind ReasonKind
			text := ""
			if len(x.Reasons) > 0 {
				kind, text = x.Reasons[0].Kind, x.Reasons[0].Text
			}
			if x.Fate != tc.fate || kind != tc.kind || !strings.Contains(text, tc.text) {
				t.Errorf("it is %q because of %+v, want %q because of %s %q", x.Fate, x.Reasons, tc.fate, tc.kind, tc.text)
			}
			if moved := x.Target != ""; x.Fate == FateMoves && !moved && tc.name != "on its way" {
				t.Error("it moves, and no host is named")
			}
		})
	}
}

func TestAForecastIsClearOnlyWhenAllOfItCouldBeChecked(t *testing.T) {
	e := newEvacuationScene(2)
	e.guest("cmp-01", "web", 8)
	if p := e.forecast(t, "cmp-01"); !p.Clear() {
		t.Errorf("%+v", p)
	}
	e.facts.Missing = []core.MissingFacts{{What: core.FactsAggregates, Err: &core.APIError{Kind: core.ErrForbidden, Call: "list aggregates"}}}
	if p := e.forecast(t, "cmp-01"); p.Clear() || len(p.Unknown) != 1 || p.Unknown[0].What != core.FactsAggregates {
		t.Errorf("%+v", p.Unknown)
	}
}

// Instances that leave the first node land on the others, and have to leave those when their turn comes.
func TestAWholeUpdateTakesEarlierMovesIntoAccount(t *testing.T) {
	e := newEvacuationScene(2)
	e.guest("cmp-01", "web", 8)
	p := e.forecast(t)
	if len(p.Nodes) != 2 || p.Counts.Moves != 2 {
		t.Fatalf("%+v", p.Counts)
	}
	back := p.Nodes[1].Instances
	if len(back) != 1 || back[0].Name != "web" || back[0].From != "cmp-01" || back[0].Target != "cmp-01" {
		t.Errorf("on the second node it is %+v", back)
	}
	both, err := NewForecast(e.Again().Snapshot, e.facts, Request{AtOnce: 2})
	if err != nil || both.Counts.Blocks != 1 || both.Nodes[0].Wave != both.Nodes[1].Wave {
		t.Errorf("with both at once there is no host for it: %+v, %v", both.Counts, err)
	}
}

func TestTheOrderOfAWholeUpdate(t *testing.T) {
	e := newEvacuationScene(4)
	p, err := NewForecast(e.Again().Snapshot, e.facts, Request{Order: []string{"cmp-03", "cmp-01"}})
	var got []string
	for _, n := range p.Nodes {
		got = append(got, n.Node)
	}
	if want := []string{"cmp-03", "cmp-01", "cmp-02", "cmp-04"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q (%v)", got, want, err)
	}
}

// A node that is disabled for its maintenance takes instances again when the maintenance is over; a node that somebody else
// disabled does not.
func TestAHostThatReturnsTakesInstances(t *testing.T) {
	for reason, moves := range map[string]int{core.DisabledReasonMaintenance: 1, "disk is broken": 0} {
		e := newEvacuationScene(2)
		e.Services["cmp-01"].Enabled, e.Services["cmp-01"].DisabledReason = false, reason
		e.guest("cmp-02", "web", 8)
		if p := e.forecast(t); p.Counts.Moves != moves {
			t.Errorf("disabled for %q: %+v", reason, p.Counts)
		}
	}
}

func TestARemedyIsThatOfTheState(t *testing.T) {
	e := newEvacuationScene(2)
	in := e.guest("cmp-01", "web", 8)
	in.Status, in.VMState = "VERIFY_RESIZE", "resized"
	if x := theInstance(t, e.forecast(t, "cmp-01"), "web"); x.Reasons[0].Remedy != progress.NothingMoves[in.Status] {
		t.Errorf("%+v", x.Reasons)
	}
}

// A host of another zone is not a loss.
func TestTheHostThatIsLostIsOneThatCouldTakeSomething(t *testing.T) {
	e := newEvacuationScene(4)
	e.Services["cmp-04"].Zone = "az-2"
	e.guest("cmp-01", "web", 8)
	e.guest("cmp-02", "full", 1)
	e.guest("cmp-03", "full", 2)
	if n := e.forecast(t, "cmp-01").Nodes[0]; n.Spare == nil || n.Spare.Host != "cmp-02" || !n.Spare.Fits {
		t.Errorf("%+v", n.Spare)
	}
}

func TestOneMoreHostLost(t *testing.T) {
	e := newEvacuationScene(3)
	e.guest("cmp-01", "db", 20)
	e.guest("cmp-01", "web", 4)
	e.guest("cmp-02", "full", 25) // 7 GiB are left
	n := e.forecast(t, "cmp-01").Nodes[0]
	if n.Spare == nil || n.Spare.Host != "cmp-03" || n.Spare.Fits || n.Spare.Left != 1 || n.Counts.Moves != 2 {
		t.Errorf("spare %+v, counts %+v", n.Spare, n.Counts)
	}
	e = newEvacuationScene(4)
	e.guest("cmp-01", "db", 20)
	if n := e.forecast(t, "cmp-01").Nodes[0]; n.Spare == nil || !n.Spare.Fits {
		t.Errorf("spare %+v", n.Spare)
	}
}

// For hosts that are only targets, it is enough to know how much of them is taken.
func TestWhatIsTakenOfAHostNeedNotBeToldByConsumer(t *testing.T) {
	e := newEvacuationScene(2)
	e.guest("cmp-01", "web", 8)
	e.facts.Inventories[1].Allocations, e.facts.Inventories[1].Used = nil, map[string]int{"MEMORY_MB": 25 << 10}
	x := theInstance(t, e.forecast(t, "cmp-01"), "web")
	if x.Fate != FateBlocks || !strings.Contains(x.Reasons[0].Text, "at most 7 GiB free") {
		t.Errorf("%+v", x)
	}
	e.facts.Inventories[1].Used["MEMORY_MB"] = 24 << 10
	if x := theInstance(t, e.forecast(t, "cmp-01"), "web"); x.Target != "cmp-02" {
		t.Errorf("%+v", x)
	}
}

func TestHowLongAnEvacuationTakes(t *testing.T) {
	e := newEvacuationScene(2)
	e.guest("cmp-01", "web", 8)
	p := e.forecast(t, "cmp-01")
	if p.Time != nil || p.Nodes[0].Time != nil || !strings.Contains(p.TimeText(), "not known") {
		t.Errorf("nothing was seen, and it takes %v: %s", p.Time, p.TimeText())
	}
	moved := e.guest("cmp-02", "api", 4)
	m := e.Migration(moved, "completed", "cmp-02", 80*time.Second) // 40 s for 4 GiB: half of the time since it began
	if took := m.Updated.Sub(m.Created); took != 40*time.Second {
		t.Fatal(took)
	}
	e.Migration(moved, "error", "cmp-02", time.Hour) // failures count for nothing
	p = e.forecast(t, "cmp-01")
	if want := Span(90 * time.Second); p.Time == nil || *p.Time != want || p.Speed.Observations != 1 {
		t.Errorf("8 GiB take %v, want 80 s and the pauses: %+v", p.Time, p.Speed)
	}
	for _, want := range []string{"102 MiB", "1 completed live migration"} {
		if !strings.Contains(p.TimeText(), want) {
			t.Errorf("%q does not say %q", p.TimeText(), want)
		}
	}
}

// Lockstep's own record may still show what Nova has forgotten; what both show counts once.
func TestOwnMigrationsAreObservations(t *testing.T) {
	e := newEvacuationScene(2)
	in := e.guest("cmp-01", "web", 8)
	e.Operations = []core.Operation{{ID: "op", Step: "live-migrate/" + in.ID, Intent: core.Intent{Kind: core.IntentLiveMigrate},
		Instance: in.ID, State: core.OperationDone, Started: scene.Ago(3 * time.Minute), Ended: scene.Ago(time.Minute)},
		{ID: "all", Step: "live-migrate-all/cmp-02", State: core.OperationDone,
			Items: []core.OperationItem{{Instance: in.ID, State: core.OperationFailed, Started: scene.Ago(time.Hour),
				Ended: scene.Ago(time.Minute)}}}}
	if p := e.forecast(t, "cmp-01"); p.Speed.Observations != 1 || p.Speed.MiBPerSecond != float64(8<<10)/120 {
		t.Errorf("%+v", p.Speed)
	}
	e.Migration(in, "completed", "cmp-01", 2*time.Minute)
	if p := e.forecast(t, "cmp-01"); p.Speed.Observations != 1 || p.Speed.MiBPerSecond != float64(8<<10)/60 {
		t.Errorf("%+v", p.Speed)
	}
}

func TestAForecastNeedsInstancesAndNodes(t *testing.T) {
	e := newEvacuationScene(1)
	e.Source(core.SourceInstances, core.SourceForbidden)
	if _, err := NewForecast(e.Again().Snapshot, e.facts, Request{}); err == nil ||
		!strings.Contains(err.Error(), "instances are not known") {
		t.Error(err)
	}
	if _, err := NewForecast(scene.NewScene().Snapshot, core.EvacuationFacts{}, Request{}); err == nil ||
		!strings.Contains(err.Error(), "no compute node") {
		t.Error(err)
	}
}

func TestNodesAreFoundByTheirLabels(t *testing.T) {
	sc := scene.Healthy()
	sc.Nodes["cmp-01"].ShortName, sc.Nodes["cmp-02"].ShortName, sc.Nodes["cmp-03"].ShortName = "a", "b", "b"
	if got, err := ResolveNodes(sc.Snapshot, []string{"a", "cmp-02", "cmp-01"}); err != nil ||
		!slices.Equal(got, []string{"cmp-01", "cmp-02"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"b", "cmp-99"} {
		if _, err := ResolveNodes(sc.Snapshot, []string{name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Names come from APIs: no document of a forecast may contain anything that a terminal or a table would interpret.
func TestADocumentCarriesNoEscapes(t *testing.T) {
	e := newEvacuationScene(2)
	in := e.guest("cmp-01", "we\x1b[2Jb|<b>\u202e`x`", 8)
	in.Status = "ODD\x07\n# head"
	p := e.forecast(t, "cmp-01")
	raw, err := p.JSON()
	if err != nil || !json.Valid(raw) {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Markdown": p.Markdown(), "JSON": string(raw)} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") || strings.Contains(text, "\n# head") {
			t.Errorf("%s carries an escape: %q", name, text)
		}
	}
	if !strings.Contains(p.Markdown(), `we[2Jb\|&lt;b>`) && !strings.Contains(p.Markdown(), `we\[2Jb\|&lt;b>`) {
		t.Errorf("%s", p.Markdown())
	}
	if name := p.FileName("md"); name != "plan-cmp-01-20260314T120000Z.md" {
		t.Errorf("the file is %s", name)
	}
}

// anyEvacuation draws a cloud with hosts, zones, groups and instances of all sizes.
func anyEvacuation(t *rapid.T) *evacuationScene {
	hosts := rapid.IntRange(1, 6).Draw(t, "hosts")
	e := newEvacuationScene(hosts)
	for i := range hosts {
		svc := e.Services[fmt.Sprintf("cmp-%02d", i+1)]
		svc.Zone = rapid.SampledFrom([]string{"nova", "nova", "az-1"}).Draw(t, "zone")
		svc.Enabled = rapid.IntRange(0, 9).Draw(t, "enabled") < 9
		svc.Up = rapid.IntRange(0, 9).Draw(t, "up") < 9
		if rapid.IntRange(0, 9).Draw(t, "mode") == 9 {
			e.Mode(svc.Host, core.ModeManual)
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "groups") {
		e.facts.ServerGroups = append(e.facts.ServerGroups,
			core.ServerGroup{ID: fmt.Sprintf("g%d", i), Name: fmt.Sprintf("g%d", i), Policy: policyAntiAffinity,
				MaxPerHost: rapid.IntRange(0, 2).Draw(t, "most")})
	}
	for i := range rapid.IntRange(0, 24).Draw(t, "instances") {
		host := fmt.Sprintf("cmp-%02d", rapid.IntRange(1, hosts).Draw(t, "host"))
		in := e.guest(host, fmt.Sprintf("vm-%02d", i), rapid.IntRange(1, 16).Draw(t, "gib"))
		in.Zone = e.Services[host].Zone
		if rapid.IntRange(0, 7).Draw(t, "status") == 7 {
			in.Status = "ERROR"
		}
		if n := len(e.facts.ServerGroups); n > 0 && rapid.Bool().Draw(t, "grouped") {
			g := &e.facts.ServerGroups[rapid.IntRange(0, n-1).Draw(t, "group")]
			g.Members = append(g.Members, in.ID)
		}
	}
	return e
}

// Follows a forecast move by move: no host ever takes more than it has, nor more members of a group than it may; and every
// instance that has to leave has found a host or has a reason.
func TestAForecastKeepsCapacityAndGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvacuation(t)
		atOnce := rapid.IntRange(1, 3).Draw(t, "at once")
		p, err := NewForecast(e.Again().Snapshot, e.facts, Request{AtOnce: atOnce})
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]string{}
		for id, in := range e.Instances.All() {
			at[id] = in.Host
		}
		memory := func(host string) int {
			n := 0
			for id, h := range at {
				if h == host {
					n += e.Instances.At(id).Flavor().RAMMiB
				}
			}
			return n
		}
		for first := 0; first < len(p.Nodes); {
			end := first
			for end < len(p.Nodes) && p.Nodes[end].Wave == p.Nodes[first].Wave {
				end++
			}
			var closed []string
			for _, n := range p.Nodes[first:end] {
				closed = append(closed, n.Node)
			}
			grew := map[string]bool{}
			for _, n := range p.Nodes[first:end] {
				here := map[string]bool{}
				for _, x := range n.Instances {
					here[x.ID] = true
					if at[x.ID] != n.Node {
						t.Fatalf("%s is planned for on %s, and is on %s", x.Name, n.Node, at[x.ID])
					}
					switch {
					case x.Target == "" && x.Fate != FateStays && x.Fate != FateDown && len(x.Reasons) == 0:
						t.Fatalf("%s has neither a host nor a reason", x.Name)
					case x.Target == "":
						continue
					case slices.Contains(closed, x.Target):
						t.Fatalf("%s goes to %s, which is in maintenance itself", x.Name, x.Target)
					case !e.Services[x.Target].Enabled || !e.Services[x.Target].Up:
						t.Fatalf("%s goes to %s, which takes nothing", x.Name, x.Target)
					case e.Services[x.Target].Zone != e.Services[n.Node].Zone:
						t.Fatalf("%s leaves its zone", x.Name)
					}
					at[x.ID] = x.Target
					grew[x.Target] = true
				}
				for id, host := range at {
					if host == n.Node && !here[id] {
						t.Fatalf("%s is on %s, and not in its plan", id, n.Node)
					}
				}
			}
			for host := range grew {
				if got := memory(host); got > 32<<10 {
					t.Fatalf("%s has %d MiB on it", host, got)
				}
				for _, g := range e.facts.ServerGroups {
					members, came := 0, false
					for _, id := range g.Members {
						if at[id] == host {
							members++
							came = came || e.Instances.At(id).Host != host
						}
					}
					if came && members > max(g.MaxPerHost, 1) {
						t.Fatalf("%s has %d members of %s", host, members, g.Name)
					}
				}
			}
			first = end
		}
	})
}

// The same facts in another order give the same forecast.
func TestAForecastDoesNotDependOnTheOrderOfFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvacuation(t)
		nodes := rapid.Permutation(slices.Sorted(maps.Keys(e.Nodes))).Draw(t, "nodes")
		first, err := NewForecast(e.Again().Snapshot, e.facts, Request{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		other := e.facts
		other.Inventories = rapid.Permutation(other.Inventories).Draw(t, "inventories")
		other.ServerGroups = slices.Clone(other.ServerGroups)
		for i := range other.ServerGroups {
			other.ServerGroups[i].Members = rapid.Permutation(other.ServerGroups[i].Members).Draw(t, "members")
		}
		other.ServerGroups = rapid.Permutation(other.ServerGroups).Draw(t, "groups")
		again := e.Again()
		for host, list := range again.ByHost {
			again.ByHost[host] = rapid.Permutation(list).Draw(t, "instances")
		}
		second, err := NewForecast(again.Snapshot, other, Request{Nodes: rapid.Permutation(nodes).Draw(t, "nodes again")})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := first.JSON()
		b, _ := second.JSON()
		if string(a) != string(b) {
			t.Fatalf("two plans:\n%s\n%s", a, b)
		}
	})
}

func BenchmarkForecastEvacuation(b *testing.B) {
	e := newEvacuationScene(500)
	for i := range e.facts.Inventories {
		memory := e.facts.Inventories[i].Classes["MEMORY_MB"]
		memory.Total, memory.MaxUnit = 257<<10, 257<<10
		e.facts.Inventories[i].Classes["MEMORY_MB"] = memory
	}
	for i := range 15_000 {
		e.guest(fmt.Sprintf("cmp-%02d", i%500+1), fmt.Sprintf("vm-%05d", i), 1+i%8)
	}
	for i := range 100 {
		g := core.ServerGroup{ID: fmt.Sprintf("g%03d", i), Name: "db", Policy: policyAntiAffinity}
		for n := range 3 {
			g.Members = append(g.Members, e.ByHost[fmt.Sprintf("cmp-%02d", i+n+1)][0].ID)
		}
		e.facts.ServerGroups = append(e.facts.ServerGroups, g)
	}
	s := e.Again().Snapshot
	progress.NodeViews(s)
	b.ReportAllocs()
	for b.Loop() {
		p, err := NewForecast(s, e.facts, Request{})
		if err != nil || p.Counts.Instances < 15_000 {
			b.Fatal(p.Counts, err)
		}
	}
}

// The slow end is left out when it reads as the usual time: "3 m, 3 m at the slow end" tells nobody anything.
func TestTheSlowEndIsToldWhereItDiffers(t *testing.T) {
	for slow, told := range map[time.Duration]bool{185 * time.Second: false, 9 * time.Minute: true} {
		usual, slow := Span(181*time.Second), Span(slow)
		p := &Forecast{Time: &usual, Slow: &slow, Speed: MigrationSpeed{MiBPerSecond: 84, Observations: 5}}
		if text := p.TimeText(); strings.Contains(text, "at the slow end") != told {
			t.Errorf("%s beside %s: %q", slow, usual, text)
		}
	}
}
