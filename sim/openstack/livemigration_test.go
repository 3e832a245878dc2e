package openstack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/instanceactions"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/migrations"

	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
)

const running = 3 * time.Second // after which a live migration runs and has figures

func TestLiveMigrationRunsThroughItsStates(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Flavor: "medium"})
	c := w.compute("sim", "2.34")
	w.act(c, id, "os-migrateLive", live, 202, "")
	w.wantState(id, "MIGRATING n1 migrating")
	w.advance(200 * time.Millisecond)
	if got := w.record(id); !strings.HasPrefix(got, "preparing n1→") {
		t.Errorf("record is %q", got)
	}
	w.act(c, id, "os-migrateLive", live, 409, "Cannot 'os-migrateLive' instance "+id+" while it is in task_state migrating")
	w.act(c, id, "os-stop", nil, 409, "Cannot 'stop' instance "+id+" while it is in task_state migrating")
	w.advance(running)
	if got := w.record(id); !strings.HasPrefix(got, "running n1→") {
		t.Errorf("record is %q", got)
	}
	// The server arrives a quarter of a second before its record says so.
	seconds := 3
	for ; seconds < 120 && strings.HasPrefix(w.state(id), "MIGRATING"); seconds++ {
		w.advance(time.Second)
	}
	if seconds < 40 || seconds > 60 {
		t.Errorf("4 GiB took %d s, want 40 to 60", seconds)
	}
	w.advance(time.Second)
	s, _ := w.Server(id)
	if s.Status != "ACTIVE" || s.Task != "" || s.Host == "n1" {
		t.Errorf("%+v", s)
	}
	if got := w.record(id); got != "completed n1→"+s.Host {
		t.Errorf("record is %q", got)
	}
}

func TestTheServerIsThereBeforeItsRecordSaysCompleted(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	w.act(w.compute("sim", "2.30"), id, "os-migrateLive", live, 202, "")
	for range 3000 {
		if w.state(id) != "MIGRATING n1 migrating" {
			break
		}
		w.advance(20 * time.Millisecond)
	}
	if got := w.record(id); !strings.HasPrefix(w.state(id), "ACTIVE n") || !strings.HasPrefix(got, "running ") {
		t.Fatalf("server %q, record %q: want ACTIVE on the target and running", w.state(id), got)
	}
	w.advance(250 * time.Millisecond)
	if got := w.record(id); !strings.HasPrefix(got, "completed ") {
		t.Errorf("record is %q", got)
	}
}

// progress is servers/{id}/migrations of a server.
type progress struct {
	ID                            int
	Status                        string
	Total, Processed, Remaining   *int64
	DiskTotal, DiskDone, DiskLeft *int64
}

func (w *world) progress(c *gophercloud.ServiceClient, id string) []progress {
	w.t.Helper()
	status, body := do(w.t.Context(), c, http.MethodGet, "servers/"+id+"/migrations", nil)
	if status != 200 {
		w.t.Fatalf("progress: %d %s", status, body)
	}
	var list struct {
		Migrations []struct {
			ID        int    `json:"id"`
			Status    string `json:"status"`
			Total     *int64 `json:"memory_total_bytes"`
			Processed *int64 `json:"memory_processed_bytes"`
			Remaining *int64 `json:"memory_remaining_bytes"`
			DiskTotal *int64 `json:"disk_total_bytes"`
			DiskDone  *int64 `json:"disk_processed_bytes"`
			DiskLeft  *int64 `json:"disk_remaining_bytes"`
		} `json:"migrations"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		w.t.Fatal(err)
	}
	var out []progress
	for _, m := range list.Migrations {
		out = append(out, progress(m))
	}
	return out
}

func TestProgressShrinksInRipples(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Flavor: "medium"})
	c := w.compute("sim", "2.30")
	w.act(c, id, "os-migrateLive", live, 202, "")
	w.advance(time.Second)
	if p := w.progress(c, id); len(p) != 1 || p[0].Total != nil {
		t.Errorf("at first there are no byte counts: %+v", p)
	}
	rises, falls := 0, 0
	var last int64 = -1
	for {
		w.advance(2 * time.Second)
		p := w.progress(c, id)
		if len(p) == 0 {
			break
		}
		if p[0].Total == nil {
			continue
		}
		if *p[0].Remaining > *p[0].Total || *p[0].Total < 4<<30 || *p[0].DiskTotal != 0 {
			t.Fatalf("%+v", p[0])
		}
		if last >= 0 && *p[0].Remaining > last {
			rises++
		} else if last >= 0 {
			falls++
		}
		last = *p[0].Remaining
	}
	if falls < 10 || rises < 1 || rises > falls/2 {
		t.Errorf("remaining rose %d times and fell %d times", rises, falls)
	}
	if last > 1<<29 {
		t.Errorf("%d bytes were left right before the end", last)
	}
}

func TestALocalDiskIsCopiedFirst(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Behaviour: openstack.Behaviour{LocalDisk: true}})
	c := w.compute("sim", "2.30")
	w.act(c, id, "os-migrateLive", live, 202, "")
	w.advance(20 * time.Second)
	p := w.progress(c, id)
	if len(p) != 1 || *p[0].DiskTotal != 10<<30 || *p[0].DiskDone == 0 || *p[0].Processed != 0 {
		t.Errorf("%+v", p)
	}
}

func TestOneLiveMigrationPerSourceAtATime(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	a, b, other := w.server("a", openstack.ServerSpec{}), w.server("b", openstack.ServerSpec{}),
		w.server("other", openstack.ServerSpec{Host: "n2"})
	c := w.compute("sim", "2.65")
	for _, id := range []string{a, b, other} {
		w.act(c, id, "os-migrateLive", live, 202, "")
	}
	w.advance(running)
	for id, want := range map[string]string{a: "running", b: "queued", other: "running"} {
		if got := w.record(id); !strings.HasPrefix(got, want+" ") {
			t.Errorf("record is %q, want %s", got, want)
		}
	}
	w.wantState(b, "MIGRATING n1 migrating")
	w.advance(time.Minute)
	for _, id := range []string{a, b, other} {
		if got := w.record(id); !strings.HasPrefix(got, "completed ") {
			t.Errorf("record is %q", got)
		}
	}
}

func TestLiveMigrationRefusals(t *testing.T) {
	for _, test := range []struct {
		name     string
		args     map[string]any
		mv       string
		status   int
		text     string
		record   string
		unusable bool // disable all the other hosts first
	}{
		{"no valid host, asked and answered", live, "2.30", 400, "No valid host was found. There are not enough hosts available.", "error n1→",
			true},
		{"no valid host, only the record tells", live, "2.34", 202, "", "error n1→", true},
		{"to a disabled host", liveTo("n2"), "2.30", 400, "No valid host was found.", "error n1→", true},
		{"to the same host", liveTo("n1"), "2.30", 400, "No valid host was found.", "error n1→", false},
		{"to an unknown host", liveTo("nowhere"), "2.34", 400, "Compute host nowhere could not be found.", "none", false},
		{"forced to the same host", map[string]any{"host": "n1", "block_migration": "auto", "force": true}, "2.30", 400, "to current host (n1)",
			"error n1→", false},
		{"forced nowhere", map[string]any{"host": nil, "block_migration": "auto", "force": true}, "2.30", 400,
			"Can't force to a non-provided destination", "none", false},
		{"force is gone", map[string]any{"host": "n2", "block_migration": "auto", "force": true}, "2.68", 400, "'force' was unexpected", "none",
			false},
		{"auto is too new", live, "2.24", 400,
			"Invalid input for field/attribute block_migration. Value: auto. 'auto' is not one of [True, 'True',", "none", false},
		{"no disk_over_commit", map[string]any{"host": nil, "block_migration": false}, "2.24", 400, "'disk_over_commit' is a required property",
			"none", false},
		{"no block_migration", map[string]any{"host": nil}, "2.25", 400, "'block_migration' is a required property", "none", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			id := w.server("vm", openstack.ServerSpec{})
			c := w.compute("sim", test.mv)
			if test.unusable {
				for _, h := range []string{"n2", "n3", "n4"} {
					if status, body := do(t.Context(), w.compute("sim", "2.1"), http.MethodPut, "os-services/disable",
						map[string]string{"host": h, "binary": "nova-compute"}); status != 200 {
						t.Fatal(body)
					}
				}
			}
			w.act(c, id, "os-migrateLive", test.args, test.status, test.text)
			w.advance(time.Second)
			w.wantState(id, "ACTIVE n1")
			if got := w.record(id); got != test.record {
				t.Errorf("record is %q, want %q", got, test.record)
			}
		})
	}
}

func TestTwoFailuresThenSuccess(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	const why = "operation failed: guest CPU doesn't match specification: missing features: avx512f"
	id := w.server("vm", openstack.ServerSpec{Behaviour: openstack.Behaviour{FailLive: openstack.Failure{Times: 2, Text: why}}})
	c := w.compute("sim", "2.84")
	for i := 1; i <= 3; i++ {
		w.act(c, id, "os-migrateLive", live, 202, "")
		w.advance(time.Minute)
		got := w.record(id)
		if i < 3 {
			w.wantState(id, "ACTIVE n1")
			if !strings.HasPrefix(got, "failed n1→") {
				t.Fatalf("try %d: record is %q", i, got)
			}
			if detail := w.lastAction(c, id); detail != "live-migration Error: "+why {
				t.Errorf("try %d: the instance action says %q", i, detail)
			}
		} else if !strings.HasPrefix(got, "completed n1→") {
			t.Fatalf("try %d: record is %q", i, got)
		}
	}
	if got := w.lastAction(c, id); got != "live-migration : " {
		t.Errorf("after success the instance action says %q", got)
	}
}

// lastAction is "name message: details" of the newest instance action of a server.
func (w *world) lastAction(c *gophercloud.ServiceClient, id string) string {
	w.t.Helper()
	pages, err := instanceactions.List(c, id, nil).AllPages(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := instanceactions.ExtractInstanceActions(pages)
	if err != nil || len(list) == 0 {
		w.t.Fatalf("%v %v", list, err)
	}
	status, body := do(w.t.Context(), c, http.MethodGet, "servers/"+id+"/os-instance-actions/"+list[0].RequestID, nil)
	if status != 200 {
		w.t.Fatal(body)
	}
	var a struct {
		InstanceAction struct {
			Events []struct {
				Details string `json:"details"`
			} `json:"events"`
		} `json:"instanceAction"`
	}
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		w.t.Fatal(err)
	}
	details := ""
	for _, e := range a.InstanceAction.Events {
		details += e.Details
	}
	return list[0].Action + " " + list[0].Message + ": " + details
}

func TestAbort(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	first, second := w.server("first", openstack.ServerSpec{Flavor: "medium"}), w.server("second", openstack.ServerSpec{})
	c := w.compute("sim", "2.65")
	w.act(c, first, "os-migrateLive", live, 202, "")
	w.act(c, second, "os-migrateLive", live, 202, "")
	w.advance(running)
	abort := func(mv, id string, number, want int, text string) {
		t.Helper()
		status, body := do(t.Context(), w.compute("sim", mv), http.MethodDelete, fmt.Sprintf("servers/%s/migrations/%d", id, number), nil)
		if status != want || !strings.Contains(body, text) {
			t.Errorf("abort of %d at %s: %d %s, want %d with %q", number, mv, status, body, want, text)
		}
	}
	abort("2.64", second, 2, 400, "is queued. Cannot abort live migration while the migration is in this state.")
	abort("2.65", second, 2, 202, "")
	abort("2.24", first, 2, 404, "Migration 2 not found for instance "+first)
	abort("2.24", first, 1, 202, "")
	w.advance(time.Second)
	for _, id := range []string{first, second} {
		w.wantState(id, "ACTIVE n1")
		if got := w.record(id); !strings.HasPrefix(got, "cancelled ") {
			t.Errorf("record is %q", got)
		}
	}
	abort("2.24", first, 1, 409, "is in an invalid state for 'abort live migration'")
	// Nothing is left behind: the source's queue is free, and so are the claims.
	w.act(c, second, "os-migrateLive", live, 202, "")
	w.advance(time.Minute)
	if got := w.record(second); !strings.HasPrefix(got, "completed ") {
		t.Errorf("record is %q", got)
	}
}

func TestForceCompleteEndsWhatNeverConverges(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("busy", openstack.ServerSpec{Flavor: "medium", Behaviour: openstack.Behaviour{NeverConverges: true}})
	c := w.compute("sim", "2.30")
	w.act(c, id, "os-migrateLive", live, 202, "")
	w.advance(20 * time.Minute)
	p := w.progress(c, id)
	if len(p) != 1 || p[0].Status != "running" || *p[0].Remaining <= 0 || *p[0].Processed < *p[0].Total {
		t.Fatalf("after 20 minutes: %+v", p)
	}
	status, body := do(t.Context(), c, http.MethodPost, fmt.Sprintf("servers/%s/migrations/%d/action", id, p[0].ID),
		map[string]any{"force_complete": nil})
	if status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	w.advance(time.Minute)
	if got := w.record(id); !strings.HasPrefix(got, "completed ") {
		t.Errorf("record is %q", got)
	}
	status, body = do(t.Context(), c, http.MethodPost, fmt.Sprintf("servers/%s/migrations/%d/action", id, p[0].ID),
		map[string]any{"force_complete": nil})
	if status != 409 {
		t.Errorf("once more: %d %s", status, body)
	}
}

func TestNovaGivesUpOnWhatNeverConverges(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("busy", openstack.ServerSpec{Flavor: "medium", Behaviour: openstack.Behaviour{NeverConverges: true}})
	w.act(w.compute("sim", "2.30"), id, "os-migrateLive", live, 202, "")
	w.advance(800*4*time.Second + running)
	w.wantState(id, "ACTIVE n1")
	if got := w.record(id); !strings.HasPrefix(got, "cancelled ") {
		t.Errorf("record is %q", got)
	}
}

func TestSchedulerHonoursRoomZonesAndGroups(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if err := w.AddHost(openstack.HostSpec{Name: "z1", Zone: "rack2", VCPUs: 32, RAM: 65536, Disk: 4000}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddServerGroup(openstack.GroupSpec{Name: "pair", Policy: "anti-affinity"}); err != nil {
		t.Fatal(err)
	}
	c := w.compute("sim", "2.30")
	pinned := w.server("pinned", openstack.ServerSpec{Zone: "nova"})
	free := w.server("free", openstack.ServerSpec{Host: "n2"})
	for _, h := range []string{"n3", "n4"} { // full
		w.server("big-"+h, openstack.ServerSpec{Host: h, Flavor: "medium"})
		w.server("bigger-"+h, openstack.ServerSpec{Host: h, Flavor: "medium"})
	}
	w.act(c, pinned, "os-migrateLive", live, 202, "")
	w.act(c, free, "os-migrateLive", live, 202, "")
	w.advance(time.Minute)
	w.wantState(pinned, "ACTIVE n2") // the only one of its zone with room
	w.wantState(free, "ACTIVE z1")   // may go anywhere, and z1 has the most memory
	member := w.server("member", openstack.ServerSpec{Host: "n1", Zone: "nova", Group: "pair"})
	w.server("other member", openstack.ServerSpec{Host: "n2", Zone: "nova", Group: "pair"})
	w.act(c, member, "os-migrateLive", live, 400, "No valid host was found.")
	picky := w.server("picky", openstack.ServerSpec{Behaviour: openstack.Behaviour{NoValidHost: true}})
	w.act(c, picky, "os-migrateLive", live, 400, "No valid host was found.")
}

func TestMigrationsArePagedByMarkerNewestFirst(t *testing.T) {
	w := newWorld(t, openstack.Options{PageLimit: 2})
	var ids []string
	c := w.compute("sim", "2.59")
	for i := range 5 {
		id := w.server(fmt.Sprintf("vm-%d", i), openstack.ServerSpec{})
		w.act(c, id, "os-migrateLive", live, 202, "")
		w.advance(time.Minute)
		ids = append(ids, id)
	}
	var seen []string
	marker := ""
	for {
		opts := migrations.ListOpts{}
		if marker != "" {
			opts.Marker = &marker
		}
		page := w.records(opts)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			seen = append(seen, m.InstanceID)
		}
		marker = page[len(page)-1].UUID
	}
	if want := []string{ids[4], ids[3], ids[2], ids[1], ids[0]}; strings.Join(seen, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, want %v", seen, want)
	}
	done, n1, since := "completed", "n1", start.Add(3*time.Minute)
	if got := w.records(migrations.ListOpts{Status: &done, Host: &n1, ChangesSince: &since}); len(got) != 2 {
		t.Errorf("filtered: %d records, want 2", len(got))
	}
	if status, body := do(t.Context(), c, http.MethodGet, "os-migrations?colour=red", nil); status != 400 ||
		!strings.Contains(body, "Additional properties are not allowed ('colour' was unexpected)") {
		t.Errorf("unknown filter: %d %s", status, body)
	}
	if err := w.DeleteServer(ids[4]); err != nil {
		t.Fatal(err)
	}
	if got := w.record(ids[4]); got != "none" {
		t.Errorf("the record of a deleted server is %q", got)
	}
}

func TestARunningClockCarriesAMigrationThrough(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		cloud, err := openstack.New(openstack.Options{Clock: clock.New(start, 1), Network: network})
		if err != nil {
			t.Fatal(err)
		}
		if err := cloud.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cloud.Close() })
		w := &world{Cloud: cloud, t: t, network: network}
		if _, err := w.AddFlavor(openstack.FlavorSpec{Name: "small", VCPUs: 1, RAM: 1024, Disk: 1}); err != nil {
			t.Fatal(err)
		}
		for _, h := range []string{"n1", "n2"} {
			if err := w.AddHost(openstack.HostSpec{Name: h, VCPUs: 4, RAM: 8192, Disk: 100}); err != nil {
				t.Fatal(err)
			}
		}
		id := w.server("vm", openstack.ServerSpec{})
		w.act(w.compute("sim", "2.30"), id, "os-migrateLive", live, 202, "")
		bubble.Until(t, "the server is on n2", func() bool { return w.state(id) == "ACTIVE n2" })
	})
}

// Nova's database has no time of a change until the record is changed.
func TestARecordThatWasNeverChangedIsNoChange(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	w.act(w.compute("sim", "2.56"), id, "os-migrateLive", live, 202, "")
	list := func(filter string) string {
		t.Helper()
		status, body := do(t.Context(), w.compute("sim", "2.66"), http.MethodGet, "os-migrations"+filter, nil)
		if status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		return body
	}
	if body := list(""); !strings.Contains(body, `"status":"accepted"`) || !strings.Contains(body, `"updated_at":null`) {
		t.Errorf("asked for: %s", body)
	}
	const layout = "2006-01-02T15:04:05"
	since, before := "?changes-since="+start.Format(layout), "?changes-before="+start.Add(time.Hour).Format(layout)
	for _, filter := range []string{since, before} {
		if body := list(filter); strings.Contains(body, id) {
			t.Errorf("%s shows what has not changed: %s", filter, body)
		}
	}
	w.advance(time.Second)
	for _, filter := range []string{since, before} {
		if body := list(filter); !strings.Contains(body, id) || strings.Contains(body, `"updated_at":null`) {
			t.Errorf("%s, once it has changed: %s", filter, body)
		}
	}
}

// A host keeps 512 MiB for itself: of 8 GiB, instances get 7.5.
func TestTheSchedulerAndPlacementCountTheSameRoom(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	for i := range 6 {
		w.server(fmt.Sprint("there-", i), openstack.ServerSpec{Host: "n2"})
	}
	c := w.compute("sim", "2.30")
	candidate := func() bool {
		t.Helper()
		_, body := w.answer("placement", "1.29", "/allocation_candidates?resources=VCPU:1,MEMORY_MB:1024,DISK_GB:10")
		_, providers := w.answer("placement", "1.29", "/resource_providers?name=n2")
		summaries, _ := body["provider_summaries"].(map[string]any)
		return summaries[objects(providers["resource_providers"])[0]["uuid"].(string)] != nil
	}
	id := w.server("vm", openstack.ServerSpec{})
	if !candidate() {
		t.Error("with 1.5 GiB free, Placement does not name the host")
	}
	w.act(c, id, "os-migrateLive", liveTo("n2"), 202, "")
	w.advance(time.Minute)
	w.wantState(id, "ACTIVE n2")
	if candidate() {
		t.Error("with half a GiB free, Placement names the host")
	}
	w.act(c, w.server("one more", openstack.ServerSpec{}), "os-migrateLive", liveTo("n2"), 400, "No valid host was found.")
}
