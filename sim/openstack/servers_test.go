package openstack_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/tags"

	"lockstep/sim/openstack"
)

const notify = "openstack.lcm.mirantis.com:maintenance_action=notify"

func TestServersArePagedNewestFirst(t *testing.T) {
	w := newWorld(t, openstack.Options{PageLimit: 4})
	var want []string
	for i := range 12 {
		name := fmt.Sprintf("vm-%02d", i)
		w.server(name, openstack.ServerSpec{Host: "n" + fmt.Sprint(i%4+1), Created: start.Add(time.Duration(i-100) * time.Hour)})
		want = append([]string{name}, want...)
	}
	c := w.compute("sim", "2.26")
	if diff := cmp.Diff(want, listNames(t, c, servers.ListOpts{AllTenants: true, Limit: 1000})); diff != "" {
		t.Error(diff)
	}
	var pages int
	for _, r := range w.Requests() {
		if strings.HasSuffix(r.Path, "/servers/detail") {
			pages++
		}
	}
	if pages != 4 { // the third page is full, so Nova offers a fourth, which is empty
		t.Errorf("%d pages were read, want 4", pages)
	}
	if diff := cmp.Diff([]string{"vm-08", "vm-04", "vm-00"},
		listNames(t, c, servers.ListOpts{AllTenants: true, Host: "n1", Limit: 2})); diff != "" {
		t.Errorf("of one host: %s", diff)
	}
	if status, body := do(t.Context(), c, http.MethodGet, "servers/detail?marker=nobody", nil); status != 400 ||
		!strings.Contains(body, "marker [nobody] not found") {
		t.Errorf("unknown marker: %d %s", status, body)
	}
}

func TestServerFilters(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if _, err := w.AddProject("shop"); err != nil {
		t.Fatal(err)
	}
	w.server("web", openstack.ServerSpec{Tags: []string{"a", "b"}, Created: start.Add(-3 * time.Hour)})
	w.server("db", openstack.ServerSpec{Host: "n2", Status: "SHUTOFF", Tags: []string{"a"}, Created: start.Add(-2 * time.Hour)})
	w.server("shop", openstack.ServerSpec{Host: "n2", Project: "shop", Status: "ERROR", Created: start.Add(-time.Hour)})
	c := w.compute("sim", "2.73")
	for _, test := range []struct {
		opts servers.ListOpts
		want []string
	}{
		{servers.ListOpts{}, []string{}}, // the admin's own project is empty
		{servers.ListOpts{AllTenants: true}, []string{"shop", "db", "web"}},
		{servers.ListOpts{AllTenants: true, Host: "n2"}, []string{"shop", "db"}},
		{servers.ListOpts{AllTenants: true, Host: "nowhere"}, []string{}},
		{servers.ListOpts{AllTenants: true, Status: "SHUTOFF"}, []string{"db"}},
		{servers.ListOpts{AllTenants: true, Status: "error"}, []string{"shop"}},
		{servers.ListOpts{AllTenants: true, Name: "^d"}, []string{"db"}},
		{servers.ListOpts{AllTenants: true, Tags: "a,b"}, []string{"web"}},
		{servers.ListOpts{AllTenants: true, TagsAny: "b,c"}, []string{"web"}},
		{servers.ListOpts{AllTenants: true, NotTags: "a,b"}, []string{"shop", "db"}},
		{servers.ListOpts{AllTenants: true, NotTagsAny: "a,b"}, []string{"shop"}},
		{servers.ListOpts{AllTenants: true, ChangesSince: start.Add(-90 * time.Minute).Format(time.RFC3339)}, []string{"shop"}},
	} {
		if diff := cmp.Diff(test.want, listNames(t, c, test.opts)); diff != "" {
			t.Errorf("%+v: %s", test.opts, diff)
		}
	}
}

func TestChangesSinceShowsWhatChangedAndWhatWasDeleted(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	old := start.Add(-time.Hour)
	w.server("quiet", openstack.ServerSpec{Created: old})
	stopped := w.server("stopped", openstack.ServerSpec{Created: old.Add(time.Minute)})
	deleted := w.server("deleted", openstack.ServerSpec{Created: old.Add(2 * time.Minute)})
	c := w.compute("sim", "2.1")
	w.advance(time.Minute)
	if err := servers.Stop(t.Context(), c, stopped).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if err := servers.Delete(t.Context(), c, deleted).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	w.wantState(deleted, "gone")
	got := listNames(t, c, servers.ListOpts{AllTenants: true, ChangesSince: start.Format(time.RFC3339)})
	if diff := cmp.Diff([]string{"deleted", "stopped"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := servers.Get(t.Context(), c, deleted).Extract(); statusOf(err) != http.StatusNotFound {
		t.Errorf("deleted server: %v, want 404", err)
	}
	if got := listNames(t, c, servers.ListOpts{AllTenants: true}); slices.Contains(got, "deleted") {
		t.Error("a deleted server is listed without changes-since")
	}
}

func TestFieldsGrowWithTheMicroversion(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("web", openstack.ServerSpec{Tags: []string{notify}, Locked: true, LockedReason: "owner asked"})
	for _, test := range []struct {
		field string
		since int // 0: always
	}{
		{"OS-EXT-SRV-ATTR:host", 0}, {"OS-EXT-STS:power_state", 0}, {"OS-EXT-AZ:availability_zone", 0}, {`"locked":true`, 9},
		{`"host_status":"UP"`, 16}, {`"tags":["` + notify + `"]`, 26}, {`"original_name":"small"`, 47}, {`"server_groups":[]`, 71},
		{`"locked_reason":"owner asked"`, 73},
	} {
		if test.since > 0 {
			_, body := do(t.Context(), w.compute("sim", fmt.Sprintf("2.%d", test.since-1)), http.MethodGet, "servers/"+id, nil)
			if strings.Contains(body, test.field) {
				t.Errorf("%s is there before 2.%d", test.field, test.since)
			}
		}
		_, body := do(t.Context(), w.compute("sim", fmt.Sprintf("2.%d", max(test.since, 1))), http.MethodGet, "servers/"+id, nil)
		if !strings.Contains(body, test.field) {
			t.Errorf("%s is missing at 2.%d: %s", test.field, test.since, body)
		}
	}
}

func TestMicroversionNegotiation(t *testing.T) {
	w := newWorld(t, openstack.Options{MaxMicroversion: "2.60"})
	for _, test := range []struct {
		asked  string
		status int
		text   string
	}{
		{"2.60", 200, ""},
		{"2.61", 406, "Version 2.61 is not supported by the API. Minimum is 2.1 and maximum is 2.60."},
		{"3.0", 406, "Version 3.0 is not supported by the API."},
		{"banana", 400, "API Version String banana is of invalid format. Must be of format MajorNum.MinorNum."},
		{"latest", 200, ""},
	} {
		status, body := do(t.Context(), w.compute("sim", test.asked), http.MethodGet, "servers", nil)
		if status != test.status || !strings.Contains(body, test.text) {
			t.Errorf("%s: %d %s, want %d with %q", test.asked, status, body, test.status, test.text)
		}
	}
	c := w.compute("sim", "2.53")
	resp, err := c.Get(t.Context(), c.ServiceURL("servers"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("OpenStack-API-Version"); got != "compute 2.53" {
		t.Errorf("answered with %q", got)
	}
	if got := resp.Header.Values("Vary"); !slices.Contains(got, "OpenStack-API-Version") {
		t.Errorf("Vary is %v", got)
	}
	if status, _ := do(t.Context(), w.compute("sim", "2.22"), http.MethodGet, "servers/x/migrations", nil); status != 404 {
		t.Errorf("servers/x/migrations before 2.23: %d, want 404", status)
	}
}

func TestAMemberSeesOnlyItsProjectAndNoHosts(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	mine := w.server("mine", openstack.ServerSpec{})
	theirs := w.server("theirs", openstack.ServerSpec{Project: "admin"})
	c := w.compute("sim-demo", "2.53")
	if diff := cmp.Diff([]string{"mine"}, listNames(t, c, servers.ListOpts{Host: "n4"})); diff != "" { // the filter is dropped
		t.Error(diff)
	}
	s, err := servers.Get(t.Context(), c, mine).Extract()
	if err != nil || s.Host != "" {
		t.Errorf("own server: host %q, %v; want none", s.Host, err)
	}
	for _, test := range []struct {
		method, path string
		status       int
		text         string
	}{
		{http.MethodGet, "servers/" + theirs, 404, "Instance " + theirs + " could not be found."},
		{http.MethodGet, "servers/detail?all_tenants=True", 403,
			"Policy doesn't allow os_compute_api:servers:detail:get_all_tenants to be performed."},
		{http.MethodGet, "os-services", 403, "Policy doesn't allow os_compute_api:os-services:list to be performed."},
		{http.MethodGet, "os-hypervisors/detail", 403, "Policy doesn't allow os_compute_api:os-hypervisors:list-detail to be performed."},
		{http.MethodGet, "os-migrations", 403, "Policy doesn't allow os_compute_api:os-migrations:index to be performed."},
	} {
		if status, body := do(t.Context(), c, test.method, test.path, nil); status != test.status || !strings.Contains(body, test.text) {
			t.Errorf("%s: %d %s, want %d with %q", test.path, status, body, test.status, test.text)
		}
	}
	w.act(c, mine, "os-migrateLive", live, 403, "Policy doesn't allow os_compute_api:os-migrate-server:migrate_live to be performed.")
	w.act(c, mine, "lock", nil, 202, "")
	w.act(c, mine, "os-stop", nil, 409, "Instance "+mine+" is locked")
	w.act(w.compute("sim", "2.53"), mine, "os-stop", nil, 202, "") // an admin passes the lock
}

func TestTags(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("web", openstack.ServerSpec{})
	c := w.compute("sim", "2.26")
	ctx := t.Context()
	if err := tags.Add(ctx, c, id, notify).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if has, err := tags.Check(ctx, c, id, notify).Extract(); !has || err != nil {
		t.Fatalf("check: %v, %v", has, err)
	}
	got, err := tags.ReplaceAll(ctx, c, id, tags.ReplaceAllOpts{Tags: []string{"y", "x", "y"}}).Extract()
	if diff := cmp.Diff([]string{"x", "y"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if err := tags.Delete(ctx, c, id, "x").ExtractErr(); err != nil {
		t.Fatal(err)
	}
	if err := tags.Delete(ctx, c, id, "x").ExtractErr(); statusOf(err) != 404 || !strings.Contains(err.Error(), "has no tag 'x'") {
		t.Errorf("deleting it twice: %v", err)
	}
	w.advance(time.Minute)
	since := w.clock.Now()
	w.advance(time.Minute)
	if err := errors.Join(tags.Add(ctx, c, id, "a").ExtractErr(), tags.Delete(ctx, c, id, "y").ExtractErr(), w.SetTags(id, "b"),
		tags.DeleteAll(ctx, c, id).ExtractErr()); err != nil {
		t.Fatal(err)
	}
	if _, err := tags.ReplaceAll(ctx, c, id, tags.ReplaceAllOpts{Tags: []string{"z"}}).Extract(); err != nil {
		t.Fatal(err)
	}
	if s, err := servers.Get(ctx, c, id).Extract(); err != nil || s.Updated.After(since) || !slices.Equal(*s.Tags, []string{"z"}) {
		t.Errorf("changed tags: updated %s, tags %v, %v", s.Updated, *s.Tags, err)
	}
	if names := listNames(t, c, servers.ListOpts{AllTenants: true, ChangesSince: since.Format(time.RFC3339)}); len(names) > 0 {
		t.Errorf("changed since: %v", names)
	}
	broken := w.server("broken", openstack.ServerSpec{Status: "ERROR"})
	if err := tags.Add(ctx, c, broken, "x").ExtractErr(); statusOf(err) != 409 || !strings.Contains(err.Error(), "vm_state error") {
		t.Errorf("on a server in ERROR: %v", err)
	}
}

func TestPowerActions(t *testing.T) {
	for _, test := range []struct {
		from, action string
		args         any
		during, to   string
	}{
		{"ACTIVE", "os-stop", nil, "ACTIVE n1 powering-off", "SHUTOFF n1"},
		{"SHUTOFF", "os-start", nil, "SHUTOFF n1 powering-on", "ACTIVE n1"},
		{"ACTIVE", "reboot", map[string]string{"type": "SOFT"}, "REBOOT n1 rebooting", "ACTIVE n1"},
		{"SHUTOFF", "reboot", map[string]string{"type": "HARD"}, "SHUTOFF n1 rebooting_hard", "ACTIVE n1"},
		{"ACTIVE", "pause", nil, "ACTIVE n1 pausing", "PAUSED n1"},
		{"PAUSED", "unpause", nil, "PAUSED n1 unpausing", "ACTIVE n1"},
		{"ACTIVE", "suspend", nil, "ACTIVE n1 suspending", "SUSPENDED n1"},
		{"SUSPENDED", "resume", nil, "SUSPENDED n1 resuming", "ACTIVE n1"},
		{"ACTIVE", "shelve", nil, "ACTIVE n1 shelving", "SHELVED_OFFLOADED"},
		{"SHELVED", "shelveOffload", nil, "SHELVED n1 shelving_offloading", "SHELVED_OFFLOADED"},
	} {
		t.Run(test.from+" "+test.action, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			id := w.server("vm", openstack.ServerSpec{Status: test.from})
			c := w.compute("sim", "2.1")
			w.act(c, id, test.action, test.args, 202, "")
			w.wantState(id, test.during)
			w.act(c, id, test.action, test.args, 409, "while it is in task_state "+strings.Fields(test.during)[2])
			w.advance(30 * time.Second)
			w.wantState(id, test.to)
		})
	}
}

func TestActionsThatTheStateForbids(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	stopped := w.server("stopped", openstack.ServerSpec{Status: "SHUTOFF"})
	active := w.server("active", openstack.ServerSpec{})
	c := w.compute("sim", "2.30")
	w.act(c, stopped, "os-migrateLive", live, 409, "Cannot 'os-migrateLive' instance "+stopped+" while it is in vm_state stopped")
	w.act(c, active, "os-start", nil, 409, "Cannot 'start' instance "+active+" while it is in vm_state active")
	w.act(c, active, "confirmResize", nil, 409, "Cannot 'confirmResize' instance "+active+" while it is in vm_state active")
	w.act(c, active, "fly", nil, 400, "There is no such action: fly")
	w.act(c, "nobody", "os-stop", nil, 404, "Instance nobody could not be found.")
	w.act(c, active, "os-resetState", map[string]string{"state": "error"}, 202, "")
	w.wantState(active, "ERROR n1")
}

func TestUnshelveFindsAHost(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Status: "SHELVED"})
	c := w.compute("sim", "2.1")
	w.act(c, id, "shelveOffload", nil, 202, "")
	w.advance(10 * time.Second)
	w.act(c, id, "unshelve", nil, 202, "")
	w.advance(time.Minute)
	if s, _ := w.Server(id); s.Status != "ACTIVE" || s.Host == "" {
		t.Errorf("%+v", s)
	}
}

func TestAnInstanceOfAHostThatIsDownIsDeletedAtOnce(t *testing.T) {
	for _, test := range []struct {
		name string
		down func(*world) error
		gone bool // at once; otherwise nova-compute does it
	}{
		{"the host is up", func(*world) error { return nil }, false},
		{"nova-compute is silent, and Nova has not noticed", func(w *world) error { return w.StopCompute("n1") }, false},
		{"nova-compute is down", func(w *world) error { defer w.advance(2 * time.Minute); return w.StopCompute("n1") }, true},
		{"the host is off", func(w *world) error { defer w.advance(2 * time.Minute); return w.CrashHost("n1") }, true},
	} {
		for _, how := range []string{"DELETE", "forceDelete"} {
			t.Run(test.name+", "+how, func(t *testing.T) {
				w := newWorld(t, openstack.Options{})
				id := w.server("vm", openstack.ServerSpec{})
				c := w.compute("sim", "2.53")
				if err := test.down(w); err != nil {
					t.Fatal(err)
				}
				ask := func() {
					t.Helper()
					if how == "forceDelete" {
						w.act(c, id, how, nil, 202, "")
					} else if status, body := do(t.Context(), c, http.MethodDelete, "servers/"+id, nil); status != 204 {
						t.Fatalf("%d %s", status, body)
					}
				}
				ask()
				if s, there := w.Server(id); there == test.gone {
					t.Fatalf("it is there: %v, %+v", there, s)
				}
				if test.gone {
					if _, body := do(t.Context(), w.compute("sim", "2.1"), http.MethodGet, "os-hypervisors/1", nil); !strings.Contains(body,
						`"vcpus_used":0`) {
						t.Errorf("its room is not free: %s", body)
					}
					return
				}
				w.wantState(id, "ACTIVE n1 deleting")
				ask() // a second one is ignored
				w.advance(2 * time.Second)
				if !strings.Contains(test.name, "silent") {
					w.wantState(id, "gone")
					return
				}
				w.wantState(id, "ACTIVE n1 deleting")
				if err := w.StartCompute("n1"); err != nil {
					t.Fatal(err)
				}
				w.advance(time.Second)
				w.wantState(id, "gone")
			})
		}
	}
}
