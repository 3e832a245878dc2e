package inventory

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/pseudonym"
	"lockstep/core"
	"lockstep/sim/scenario"
)

var taken = time.Date(2026, 11, 21, 19, 30, 0, 0, time.UTC)

// small is a cloud with one master and two computes, before its update.
func small() *core.Inventory {
	node := func(name string, roles ...core.Role) core.InventoryNode {
		return core.InventoryNode{Node: &core.Node{Meta: core.Meta{Name: name, Created: taken.Add(-time.Hour)}, Roles: roles, Ready: "True",
			KubeletVersion: "v1.30.14"}}
	}
	inv := &core.Inventory{Taken: taken, Cluster: "mos"}
	inv.Nodes = []core.InventoryNode{node("ctl", core.RoleMaster), node("n1", core.RoleCompute), node("n2", core.RoleCompute)}
	inv.ControllerRelease, inv.Controller = "17.4.0+25.1", &core.Deployment{Replicas: 1, Ready: 1, Image: "registry/rockoon:1.0.7"}
	inv.Services = []*core.ComputeService{{Host: "n1.example.com", Enabled: true, Up: true, Zone: "nova"},
		{Host: "n2.example.com", Enabled: true, Up: true, Zone: "nova"}}
	inv.Hypervisors = []core.Hypervisor{{Host: "n1.example.com", VCPUs: 8, RAMMiB: 8192, DiskGiB: 10},
		{Host: "n2.example.com", VCPUs: 8, RAMMiB: 8192, DiskGiB: 10}}
	inv.Projects = []*core.Project{{ID: "p1", Name: "shop"}, {ID: "p2", Name: "shop"}}
	return inv
}

func instance(id string, change func(*core.Instance)) *core.Instance {
	in := &core.Instance{ID: id, Name: "web", ProjectID: "p1", Host: "n1.example.com", Status: "ACTIVE", VMState: "active",
		Power:        core.PowerRunning,
		SharedFlavor: &core.Flavor{Name: "m1", VCPUs: 2, RAMMiB: 4096, DiskGiB: 20}, Created: taken.Add(-time.Hour)}
	if change != nil {
		change(in)
	}
	return in
}

// parsed returns the scenario of an inventory, read again from its file.
func parsed(t *testing.T, inv *core.Inventory) *scenario.Scenario {
	t.Helper()
	var file strings.Builder
	if err := Scenario(inv, "test").Write(&file); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse([]byte(file.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, file.String())
	}
	return s
}

func assumes(s *scenario.Scenario, field, why string) bool {
	return slices.ContainsFunc(s.Found.Assumed, func(a scenario.Assumed) bool { return a.Field == field && strings.Contains(a.Why, why) })
}

func TestFromWhereToWhere(t *testing.T) {
	tests := []struct {
		name     string
		change   func(*core.Inventory)
		from, to string
		assumed  string
	}{
		{"at rest", func(*core.Inventory) {}, "17.4.0+25.1", "next", "release.to"},
		{"planned", func(inv *core.Inventory) {
			inv.Management = &core.ManagementInventory{Namespace: "prod", Cluster: "mos", Plans: []core.InventoryPlan{
				{Name: "old", Source: "mosk-17-3-0-24-3", Target: "mosk-17-4-0-25-1", Status: "Completed"},
				{Name: "new", Source: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2", Status: "NotStarted"}}}
		}, "17.4.0+25.1", "21.0.0+25.2", ""},
		{"requested", func(inv *core.Inventory) {
			inv.ClusterRequests = []*core.MaintenanceRequest{{Meta: core.Meta{Name: "mos"}, Release: "21.0.0+25.2"}}
		}, "17.4.0+25.1", "21.0.0+25.2", ""},
		{"in its workers", func(inv *core.Inventory) {
			inv.ClusterRequests = []*core.MaintenanceRequest{{Meta: core.Meta{Name: "mos"}, Release: "21.0.0+25.2"}}
			inv.ControllerRelease = "21.0.0+25.2"
		}, "previous", "21.0.0+25.2", "release.from"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inv := small()
			test.change(inv)
			s := parsed(t, inv)
			if s.Release.From != test.from || s.Release.To != test.to {
				t.Errorf("it goes from %s to %s, want %s to %s", s.Release.From, s.Release.To, test.from, test.to)
			}
			for _, field := range []string{"release.from", "release.to"} {
				if assumes(s, field, "") != (field == test.assumed) {
					t.Errorf("assumed are %+v", s.Found.Assumed)
				}
			}
		})
	}
}

func TestInstancesOfEveryKind(t *testing.T) {
	inv := small()
	inv.Instances = []*core.Instance{
		instance("i1", nil),
		// a flavor with its own definition, a project of another domain
		instance("i2", func(in *core.Instance) { in.SharedFlavor.RAMMiB = 512; in.ProjectID = "p2" }),
		instance("i3", func(in *core.Instance) { in.SharedFlavor = nil }), // a cloud before 2.47
		instance("i4", func(in *core.Instance) { in.Status, in.TaskState = "REBOOT", "rebooting" }),
		instance("i5", func(in *core.Instance) { in.Status, in.VMState = "SOFT_DELETED", "soft-delete" }),
		instance("i6", func(in *core.Instance) { in.Status, in.VMState, in.Host = "BUILD", "building", "" }),
		instance("i7", func(in *core.Instance) { in.Status, in.VMState, in.Host = "ERROR", "error", "" }),
		instance("i8", func(in *core.Instance) { in.Status, in.VMState = "VERIFY_RESIZE", "resized" }),
		instance("i9", func(in *core.Instance) {
			in.Tags = []string{"team=a", tagPrefix + "notify", tagPrefix + "unheard-of"}
			in.Host = "elsewhere"
		}),
	}
	s := parsed(t, inv)
	got := map[string]scenario.Instance{}
	for _, in := range s.Instances {
		got[in.ID] = in
	}
	if len(got) != 7 || got["i5"].ID != "" || got["i6"].ID != "" {
		t.Errorf("the instances are %v", got)
	}
	if got["i1"].Flavor == got["i2"].Flavor || got["i1"].Project == got["i2"].Project {
		t.Errorf("two flavors or projects of one name became one: %+v, %+v", got["i1"], got["i2"])
	}
	if got["i4"].Status != "ACTIVE" || (got["i8"].CameFrom == "" || got["i8"].CameFrom == "n1") || got["i1"].Host != "n1" ||
		got["i7"].Host != "" {
		t.Errorf("rebooting %+v, resized %+v, broken %+v", got["i4"], got["i8"], got["i7"])
	}
	if in := got["i9"]; !slices.Equal(in.Actions, []string{"notify"}) ||
		!slices.Equal(in.Tags, []string{tagPrefix + "unheard-of", "team=a"}) || in.Host != "elsewhere" {
		t.Errorf("the tagged one is %+v", in)
	}
	for _, a := range [][2]string{{"flavors", "1 instance"}, {"instances", "REBOOT rebuilt as ACTIVE"}, {"instances", "SOFT_DELETED"},
		{"instances", "BUILD without a host"},
		{"instances", "VERIFY_RESIZE"}, {"nodes", "elsewhere"}, {"nodes", "not told by Nova"}} {
		if !assumes(s, a[0], a[1]) {
			t.Errorf("nobody says %q of %s: %+v", a[1], a[0], s.Found.Assumed)
		}
	}
	if o := s.Found.Overcommit; o.Disk <= 1 || o.VCPUs != 0 { // 10 GiB of disk with some 20 GiB flavors on it
		t.Errorf("the overcommit is %+v", o)
	}
}

func TestNumbersInNamesAreNumbers(t *testing.T) {
	names := []string{"cmp-10", "cmp-2", "cmp-1", "cmp", "cmp-2b", "ctl-1"}
	slices.SortFunc(names, compareNames)
	if want := []string{"cmp", "cmp-1", "cmp-2", "cmp-2b", "cmp-10", "ctl-1"}; !slices.Equal(names, want) {
		t.Errorf("the order is %v", names)
	}
	versions := []string{"v1.31.9", "v1.9.1", "v1.30.14"}
	slices.SortFunc(versions, compareVersions)
	if want := []string{"v1.9.1", "v1.30.14", "v1.31.9"}; !slices.Equal(versions, want) {
		t.Errorf("the order is %v", versions)
	}
	for release, want := range map[string]string{"mosk-21-0-0-25-2": "21.0.0+25.2", "mosk-21-0-0-25-2-rc": "mosk-21-0-0-25-2-rc", "": ""} {
		if got := releaseOf(release); got != want {
			t.Errorf("%q stands for %q, want %q", release, got, want)
		}
	}
}

// Other servers' texts in a lock do not stay in a pseudonymous file; Rockoon's known texts do.
func TestPseudonymousTexts(t *testing.T) {
	const id, node = "0b9f1c52-8a1c-4b0e-9b1d-3f2a5c6d7e8f", "storage-node-seven"
	p := &pseudonyms{Names: pseudonym.New(), objects: map[string]string{node: "node-x", "n1": "node-y"}}
	for text, want := range map[string]string{
		"": "",
		"Some servers are still present on the host. Notify owners of the following server: ['" + id +
			"']": "Some servers are still present on the host. Notify owners of the following server: ['" + p.ID(id) + "']",
		"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node " +
			node: "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node node-x",
		"Got error while trying to migrate server " + id +
			": No route to 10.1.2.3": "Got error while trying to migrate server " + p.ID(id) + ": (left out)",
		"Retrying migrate instances from host. Cannot execute openstack commands, error: " +
			"https://keystone.acme.example/v3 refused": "Retrying migrate instances from host. Cannot execute openstack commands, error: (left out)",
		"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node " +
			"n1": "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node node-y",
		"The node n1 is hard locked by mariadb.": "The node node-y is hard locked by mariadb.",
		"the vault of acme is closed":            pseudonym.LeftOut,
	} {
		if got := p.message(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Assumptions name things of the cloud for its owner, and for nobody else.
func TestPseudonymousAssumptionsNameNothing(t *testing.T) {
	s := Scenario(&core.Inventory{Cluster: "acme-prod"}, "test")
	b := &builder{s: s}
	b.assumeOf("management.plan", "steps that the simulation does not know are left out", "k8s-workers-acme-rack-b")
	last := func() scenario.Assumed { return s.Found.Assumed[len(s.Found.Assumed)-1] }
	if why := last().Why; why != "steps that the simulation does not know are left out: k8s-workers-acme-rack-b" {
		t.Errorf("to its owner it says %q", why)
	}
	Pseudonymise(s)
	if why := last().Why; why != "steps that the simulation does not know are left out" {
		t.Errorf("to others it says %q", why)
	}
}
