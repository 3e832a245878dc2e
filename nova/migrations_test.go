package nova

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/sim/bubble"
)

const migrationBody = `{"id": 2, "uuid": "dde90a82-3059-4369-8bda-e0ba92713c54", "instance_uuid": "a", "migration_type": "live-migration",
	"status": "error", "source_compute": "kaas-node-001", "dest_compute": null, "source_node": "kaas-node-001",
	"dest_node": null, "dest_host": null,
	"old_instance_type_id": 1, "new_instance_type_id": 1, "created_at": "2026-01-16T15:25:37.000000", "updated_at": null}`

func TestAMigrationRecord(t *testing.T) {
	var page migrationPage
	if err := decode([]byte(`{"migrations": [`+migrationBody+`]}`), &page); err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 1, 16, 15, 25, 37, 0, time.UTC)
	want := &core.Migration{ID: 2, UUID: "dde90a82-3059-4369-8bda-e0ba92713c54", InstanceID: "a", Type: core.MigrationLive, Status: "error",
		SourceHost: "kaas-node-001", Created: created, Updated: created}
	if diff := cmp.Diff(want, page.Migrations[0].migration()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressMayBeUnknown(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tt := range []struct {
			fields string
			memory *core.Progress
			disk   *core.Progress
		}{
			{`"memory_total_bytes": 123456, "memory_processed_bytes": 12345, "memory_remaining_bytes": 111111, "disk_total_bytes": 0, ` +
				`"disk_processed_bytes": 0, "disk_remaining_bytes": 0`,
				&core.Progress{Total: 123456, Processed: 12345, Remaining: 111111}, &core.Progress{}},
			{`"memory_total_bytes": null, "memory_processed_bytes": null, "memory_remaining_bytes": null`, nil, nil},
			{`"memory_total_bytes": 10, "memory_processed_bytes": null, "memory_remaining_bytes": 5`, &core.Progress{Total: 10, Remaining: 5}, nil},
			{`"memory_total_bytes": "many", "memory_remaining_bytes": 5`, &core.Progress{Remaining: 5}, nil}, // no total, no percentage
			{`"status": "running"`, nil, nil},
		} {
			f := newFakeCloud(t)
			f.answer("GET /compute/v2.1/servers/a/migrations", 200,
				`{"migrations": [{"id": 4, "server_uuid": "a", "status": "running", `+tt.fields+`}]}`)
			list, err := f.client().liveProgress(context.Background(), "a")
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			m := list[0]
			if m.InstanceID != "a" || m.Type != core.MigrationLive || cmp.Diff(tt.memory, m.Memory)+cmp.Diff(tt.disk, m.Disk) != "" {
				t.Errorf("%s: memory %+v, disk %+v", tt.fields, m.Memory, m.Disk)
			}
		}
	})
}

func TestMigrationsArePagedByMarker(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/os-migrations", func(w http.ResponseWriter, r *http.Request) {
			record := func(id int) string {
				return fmt.Sprintf(`{"id": %d, "uuid": "u%d", "instance_uuid": "i", "status": "completed", "created_at": "2026-01-16T15:00:%02d"}`, id,
					id, id)
			}
			next := `"migrations_links": [{"rel": "next", "href": "http://inside/?marker=x"}]`
			switch r.URL.Query().Get("marker") {
			case "":
				reply(w, 200, `{"migrations": [`+record(9)+`,`+record(8)+`], `+next+`}`)
			case "u8":
				reply(w, 200, `{"migrations": [`+record(7)+`,`+record(6)+`], `+next+`}`)
			default:
				reply(w, 200, `{"migrations": [`+record(5)+`, {"id": 4, "status": "belongs to nothing"}]}`)
			}
		})
		for limit, want := range map[int][]int{0: {9, 8, 7, 6, 5}, 3: {9, 8, 7}, 2: {9, 8}, 50: {9, 8, 7, 6, 5}} {
			all, err := f.client().listMigrations(context.Background(), migrationQuery{limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, m := range all {
				got = append(got, m.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("limit %d (-want +got):\n%s", limit, diff)
			}
		}
	})
}

func TestWhyAMigrationFailed(t *testing.T) {
	actions := `{"instanceActions": [
		{"action": "live-migration", "request_id": "req-later", "start_time": "2026-01-16T16:00:00.000000", "message": "Error"},
		{"action": "stop", "request_id": "req-stop", "start_time": "2026-01-16T15:25:36.000000", "message": null},
		{"action": "live-migration", "request_id": "req-it", "start_time": "2026-01-16T15:25:36.000000", "message": "Error"},
		{"action": "live-migration", "request_id": "req-before", "start_time": "2026-01-16T15:00:00.000000", "message": null}]}`
	event := func(result, finish, details, traceback string) string {
		return fmt.Sprintf(`{"event": "x", "result": %q, "finish_time": %q, "details": %s, "traceback": %s}`, result, finish, details, traceback)
	}
	tests := []struct {
		name, action, server, want string
	}{
		{"the details of the first event that failed",
			`[` + event("Error", "2026-01-16T15:25:40.000000", `"Migration pre-check error."`, "null") + `,` +
				event("Error", "2026-01-16T15:25:39.000000", `"CPU doesn't have compatibility."`, "null") + `,` +
				event("Success", "2026-01-16T15:25:38.000000", "null", "null") + `]`, "", "CPU doesn't have compatibility."},
		{"the exception of a traceback", `[` + event("Error", "2026-01-16T15:25:40.000000", "null",
			`"  File \"/nova/conductor/manager.py\", line 1, in x\n    raise y\nnova.exception.NoValidHost: No valid host was found. \n"`) + `]`, "",
			"nova.exception.NoValidHost: No valid host was found."},
		{"the fault of the instance", `[]`,
			`{"id": "a", ` + somewhere + `, "status": "ERROR", "fault": {"message": "qemu went away", "created": "2026-01-16T15:25:41Z"}}`,
			"qemu went away"},
		{"an old fault is not the reason", `[]`,
			`{"id": "a", ` + somewhere + `, "status": "ERROR", "fault": {"message": "long ago", "created": "2025-01-16T15:25:41Z"}}`, ""},
		{"nothing is told", `null`, `{"id": "a", ` + somewhere + `, "status": "ACTIVE"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": [`+migrationBody+`]}`)
				f.answer("GET /compute/v2.1/servers/a/os-instance-actions", 200, actions)
				f.answer("GET /compute/v2.1/servers/a/os-instance-actions/req-it", 200,
					`{"instanceAction": {"action": "live-migration", "message": "Error", "events": `+tt.action+`}}`)
				f.answer("GET /compute/v2.1/servers/a", 200, `{"server": `+tt.server+`}`)
				list, err := writes(t, f.client(), nil).MigrationsOf(context.Background(), "a")
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				if list[0].Failure != tt.want {
					t.Errorf("failure %q, want %q", list[0].Failure, tt.want)
				}
				if v := f.seen("os-instance-actions/req-it")[0].microversion; v != "2.84" {
					t.Errorf("events asked for at %s", v)
				}
			})
		})
	}
}

func TestAMigrationWhoseReasonCannotBeReadIsStillListed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.answer("GET /compute/v2.1/os-migrations", 200, `{"migrations": [`+migrationBody+`]}`)
		f.answer("GET /compute/v2.1/servers/a/os-instance-actions", 403, `{"forbidden": {"message": "no"}}`)
		list, err := writes(t, f.client(), nil).MigrationsOf(context.Background(), "a")
		if err != nil || len(list) != 1 || list[0].Failure != "" {
			t.Error(list, err)
		}
	})
}
