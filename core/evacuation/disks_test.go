package evacuation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
	"lockstep/scene"
)

// The place of disks made from images is a reason for each instance that has one, by the OpenStackDeployment (docs/mosk.md#tags).
func TestDisksOfAHostsOwn(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    []*core.OpenStackDeployment
		disk int
		want Level
		fate Fate
		note string
	}{
		{"lvm", []*core.OpenStackDeployment{{Disks: "lvm"}}, 20, LevelRisk, FateMayFail, "own storage (lvm)"},
		{"lvm, and it was started from a volume", []*core.OpenStackDeployment{{Disks: "lvm"}}, 0, "", FateMoves, "own storage (lvm)"},
		{"qcow2", []*core.OpenStackDeployment{{Disks: "qcow2"}}, 20, LevelNote, FateMoves, "own storage (qcow2)"},
		{"local", []*core.OpenStackDeployment{{Disks: "local"}}, 20, LevelNote, FateMoves, "own storage (local)"},
		{"ceph", []*core.OpenStackDeployment{{Disks: "ceph"}}, 20, "", FateMoves, "lie in Ceph"},
		{"another for some nodes", []*core.OpenStackDeployment{{Disks: "ceph", NodeDisks: map[string]string{"disks::local": "lvm"}}}, 20,
			LevelUnknown, FateUnknown, "not known per node"},
		{"the same for some nodes", []*core.OpenStackDeployment{{Disks: "ceph", NodeDisks: map[string]string{"disks::local": "ceph"}}}, 20, "",
			FateMoves, "lie in Ceph"},
		{"nobody says", []*core.OpenStackDeployment{{}}, 20, "", FateMoves, "is not known"},
		{"there is none", nil, 20, "", FateMoves, "is not known"},
	} {
		sc := scene.Healthy()
		sc.Deployments = tc.d
		for _, in := range sc.Instances.All() {
			in.SharedFlavor = &core.Flavor{Name: "m1", VCPUs: 1, RAMMiB: 1024, DiskGiB: tc.disk}
		}
		p, err := NewForecast(sc.Snapshot, core.EvacuationFacts{Microversion: 96}, Request{Nodes: []string{"cmp-01"}})
		if err != nil {
			t.Fatal(err)
		}
		x := p.Nodes[0].Instances[0]
		i := slices.IndexFunc(x.Reasons, func(r Reason) bool { return r.Kind == KindDisk })
		got := Level("")
		if i >= 0 {
			got = x.Reasons[i].Level
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q (%+v)", tc.name, got, tc.want, x.Reasons)
		}
		if !slices.ContainsFunc(p.Otherwise, func(n string) bool { return strings.Contains(n, tc.note) }) {
			t.Errorf("%s: notes %q, want %q", tc.name, p.Otherwise, tc.note)
		}
	}
}

// Many moves at once take as long as the place that is full the longest.
func TestMakespan(t *testing.T) {
	m := Span(time.Minute)
	for _, tc := range []struct {
		times  []Span
		atOnce int
		want   Span
	}{
		{nil, 1, 0}, {[]Span{3 * m, m, 2 * m}, 1, 6 * m}, {[]Span{3 * m, m, 2 * m}, 0, 6 * m}, {[]Span{3 * m, m, 2 * m}, 2, 3 * m},
		{[]Span{3 * m, m, 2 * m}, 9, 3 * m},
	} {
		if got := makespan(tc.times, tc.atOnce); got != tc.want {
			t.Errorf("%v, %d at once: %v, want %v", tc.times, tc.atOnce, got, tc.want)
		}
	}
}

// The time of a node counts the moves at once of the one who moves: one for the OpenStack controller, the setting for Lockstep.
// The forecast says which.
func TestTheForecastCountsWithTheSettingOfWhoMoves(t *testing.T) {
	plan := func(sc scene.Scene) Forecast {
		sc.Settings.MigrateAtOnce = 2
		for n := range 3 {
			sc.Instance("cmp-01", "extra-"+wording.Itoa(n))
		}
		for _, in := range sc.Instances.All() {
			in.SharedFlavor = &core.Flavor{Name: "m1", VCPUs: 1, RAMMiB: 6000}
		}
		done := sc.Migration(sc.Named("web-2"), "completed", "cmp-03", 4*time.Minute)
		done.Updated = done.Created.Add(time.Minute) // 100 MiB a second: 70 s each
		p, err := NewForecast(sc.Snapshot, core.EvacuationFacts{Microversion: 96}, Request{Nodes: []string{"cmp-01"}})
		if err != nil || p.Time == nil {
			t.Fatalf("%v, %+v", err, p)
		}
		return p
	}
	p := plan(scene.Healthy())
	if got := time.Duration(*p.Time); got != 280*time.Second ||
		!strings.Contains(p.TimeText(), "instance_migrate_concurrency is 1 unless it was set") {
		t.Errorf("the controller moves them: %s, %s", got, p.TimeText())
	}
	sc := scene.Healthy()
	sc.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack, Roles: []core.Role{core.RoleCompute}}}
	if !progress.PlaysOn(sc.Snapshot, core.ControllerOpenStack, "cmp-01") {
		t.Fatal("it is not played")
	}
	p = plan(sc)
	if got := time.Duration(*p.Time); got != 140*time.Second ||
		!strings.Contains(p.TimeText(), "2 at a time on a node, as Lockstep's migrateAtOnce says") {
		t.Errorf("Lockstep moves them: %s, %s", got, p.TimeText())
	}
}
