package openstack

import (
	"fmt"
	"net/http"
	"slices"

	"lockstep/core"
)

// liveOrder is the order of the states in the record of a live migration that succeeds.
var liveOrder = []string{"accepted", "queued", "preparing", "running", "post-migrating", "completed"}

// migration makes a request about a server's migrations, or about one of them.
func (s *server) migration(microversion, method string, id int, body any) *answer {
	s.Helper()
	path := fmt.Sprintf("/servers/%s/migrations/%d", s.ID, id)
	if method == http.MethodPost {
		path += "/action"
	}
	return s.compute(microversion, method, path, body)
}

var forceComplete = object{"force_complete": nil}

var liveCases = []testCase{
	{"the adapter moves a server and sees it go, with progress, and arrive", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		e, w := d.watch(r.a, r.b)
		e.sees("the server", s, func(i core.Instance, _ core.Migration) bool { return i.Status == "ACTIVE" && i.Host == r.a })
		if err := w.does(core.IntentLiveMigrate, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("the migration", s, func(i core.Instance, m core.Migration) bool {
			return m.Type == core.MigrationLive && m.SourceHost == r.a && (m.DestHost == r.b || m.DestHost == "" && m.Running())
		})
		e.sees("it arrive", s, func(i core.Instance, m core.Migration) bool {
			return i.Host == r.b && i.Status == "ACTIVE" && i.TaskState == "" && m.Status == "completed" && m.DestHost == r.b
		})
		s.steer(Behaviour{Endless: true})
		if err := w.does(core.IntentLiveMigrate, s, 0); err != nil {
			d.Fatal(err)
		}
		e.sees("progress", s, func(_ core.Instance, m core.Migration) bool {
			return m.Status == "running" && m.Memory != nil && m.Memory.Total > 0 && m.Memory.Remaining <= m.Memory.Total && m.Percent() >= 0 &&
				m.Percent() <= 100
		})
		if err := w.does(core.IntentAbortMigration, s, s.migrationID("running")); err != nil {
			d.Fatal(err)
		}
		e.sees("it end", s, func(i core.Instance, m core.Migration) bool {
			return m.Status == "cancelled" && i.Status == "ACTIVE" && i.TaskState == "" && i.Host == r.b
		})
	}},
	{"a server is MIGRATING until it is ACTIVE on the target; its record goes through its states in order", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		for _, microversion := range []string{"2.25", "2.30", "2.34", "2.68"} {
			from := s.host()
			s.act(microversion, "os-migrateLive", live(r.other(from))).is(202)
			var seen, hosts []string
			reached := 0
			s.until("the record is completed", func() bool {
				now := s.look()
				records := s.records()
				record := text(records[0]["status"])
				hosts = append(hosts, text(now["OS-EXT-SRV-ATTR:host"]))
				if st := state(now); st != "MIGRATING migrating" && st != "ACTIVE" {
					d.Fatalf("at %s the server was %s", microversion, st)
				} else if st == "MIGRATING migrating" && record == "completed" && text(now["OS-EXT-SRV-ATTR:host"]) == r.other(from) {
					d.Fatalf("the record was completed while the server was %s on its target", st)
				}
				seen = append(seen, record)
				i := slices.Index(liveOrder[reached:], record)
				if i < 0 {
					d.Fatalf("at %s the record passed through %q", microversion, seen)
				}
				reached += i
				return record == "completed"
			})
			if last := s.settles("ACTIVE"); last["OS-EXT-SRV-ATTR:host"] != r.other(from) {
				d.Fatalf("at %s the server went over %q to %v", microversion, hosts, last["OS-EXT-SRV-ATTR:host"])
			}
			s.recorded("live-migration", from, r.other(from), "completed")
		}
	}},
	{"a migration under way is shown with its figures, and no more when it is over", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{Endless: true})
		s.act("2.34", "os-migrateLive", live("")).is(202)
		id := s.migrationID("running")
		d.until("there are figures", func() bool {
			return s.migration("2.23", http.MethodGet, id, nil).is(200).at("migration", "memory_total_bytes") != nil
		})
		shown, _ := s.migration("2.80", http.MethodGet, id, nil).is(200).at("migration").(object)
		for name, want := range map[string]any{
			"id": float64(id), "server_uuid": s.ID, "status": "running", "source_compute": r.a, "dest_compute": r.b, "source_node": r.a,
			"dest_node": r.b,
			"dest_host": nil, "user_id": d.admin.userID, "project_id": d.admin.projectID,
		} {
			if shown[name] != want {
				d.Errorf("%s is %v, want %v", name, shown[name], want)
			}
		}
		if total, left := number(shown["memory_total_bytes"]), number(shown["memory_remaining_bytes"]); total < 1<<30 || left < 0 ||
			left > total {
			d.Errorf("%d of %d bytes of memory remain", left, total)
		}
		listed := s.ask("2.23", "/migrations").is(200).list("migrations")
		if len(listed) != 1 || number(listed[0]["id"]) != id || listed[0]["uuid"] != nil || listed[0]["user_id"] != nil {
			d.Errorf("at 2.23 the server's migrations are %v", listed)
		}
		s.act("2.34", "os-migrateLive", live("")).refused(409, inTask, "os-migrateLive", s.ID, "migrating")
		for action, name := range map[string]string{"os-stop": "stop", "migrate": "migrate", "pause": "pause", "shelve": "shelve"} {
			s.act("2.1", action, nil).refused(409, inTask, name, s.ID, "migrating")
		}
		s.act("2.1", "lock", nil).is(202)
		s.act("2.1", "unlock", nil).is(202)

		s.migration("2.22", http.MethodPost, id, forceComplete).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
		s.settles("ACTIVE")
		s.migration("2.23", http.MethodGet, id, nil).refused(404, "Live migration %d for server %s is not in progress.", id, s.ID)
		s.migration("2.23", http.MethodGet, 99999, nil).refused(404, "In-progress live migration 99999 is not found for server %s.", s.ID)
		if listed := s.ask("2.23", "/migrations").is(200).list("migrations"); len(listed) != 0 {
			d.Errorf("when it is over the server's migrations are %v", listed)
		}
		if got := events(s.lastAction("live_migration_force_complete")); !slices.Equal(got,
			[]string{"compute_live_migration_force_complete Success"}) {
			d.Errorf("events of forcing it: %q", got)
		}
	}},
	{"a migration under way is aborted, and the server stays where it is", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.steer(Behaviour{Endless: true})
		s.act("2.34", "os-migrateLive", live("")).is(202)
		id := s.migrationID("running")
		s.migration("2.23", http.MethodDelete, id, nil).refused(404, "The resource could not be found.")
		s.migration("2.24", http.MethodDelete, id, nil).is(202)
		s.recorded("live-migration", r.a, r.b, "cancelled")
		if host := s.settles("ACTIVE")["OS-EXT-SRV-ATTR:host"]; host != r.a {
			d.Errorf("it is on %v, want %s", host, r.a)
		}
		d.until("the abort is over", func() bool {
			return slices.Equal(events(s.lastAction("live_migration_cancel")), []string{"compute_live_migration_abort Success"})
		})
		const over = "Instance %s is in an invalid state for '%s'"
		s.migration("2.65", http.MethodDelete, id, nil).refused(409, over, s.ID, "abort live migration")
		s.migration("2.65", http.MethodPost, id, forceComplete).refused(409, over, s.ID, "force_complete")
		s.migration("2.65", http.MethodPost, id, object{"force_complete": object{}}).
			refused(400, "Invalid input for field/attribute force_complete. Value: {}. {} is not of type 'null'")
	}},
	{"a host migrates one server at a time: the second one is queued, and can be aborted from 2.65 on", func(d *desk) {
		r := d.room()
		made := d.boots(r, order{host: r.a}, order{host: r.a})
		first, second := made[0], made[1]
		first.steer(Behaviour{Endless: true})
		first.act("2.34", "os-migrateLive", live("")).is(202)
		running := first.migrationID("running")
		second.act("2.34", "os-migrateLive", live("")).is(202)
		queued := second.migrationID("queued")
		if got := state(second.look()); got != "MIGRATING migrating" {
			d.Errorf("the queued server is %s", got)
		}
		const cannot = "Migration %d state of instance %s is queued. Cannot %s while the migration is in this state."
		second.migration("2.64", http.MethodDelete, queued, nil).refused(400, cannot, queued, second.ID, "abort live migration")
		second.migration("2.65", http.MethodPost, queued, forceComplete).refused(400, cannot, queued, second.ID, "force complete")
		second.migration("2.65", http.MethodDelete, running, nil).refused(404, "Migration %d not found for instance %s", running, second.ID)
		second.migration("2.65", http.MethodDelete, queued, nil).is(202)
		second.recorded("live-migration", r.a, r.b, "cancelled")
		second.settles("ACTIVE")

		second.act("2.34", "os-migrateLive", live("")).is(202)
		second.migrationID("queued")
		first.migration("2.65", http.MethodDelete, running, nil).is(202)
		second.recorded("live-migration", r.a, r.b, "completed")
		first.recorded("live-migration", r.a, r.b, "cancelled")
	}},
	{"a paused server moves paused", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.1", "pause", nil).is(202)
		s.settles("PAUSED")
		s.act("2.68", "os-migrateLive", live(r.b)).is(202)
		s.passes("MIGRATING migrating", "PAUSED")
		s.recorded("live-migration", r.a, r.b, "completed")
		if host := s.host(); host != r.b {
			d.Errorf("it is on %s, want %s", host, r.b)
		}
	}},
	{"a host can be forced from 2.30 to 2.67, past the scheduler", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		d.setService(r.b, object{"status": "disabled"})
		forced := live(r.b)
		forced["force"] = true
		s.act("2.29", "os-migrateLive", forced).is(400)
		s.act("2.68", "os-migrateLive", forced).is(400)
		s.act("2.67", "os-migrateLive", forced).is(202)
		s.recorded("live-migration", r.a, r.b, "completed")
	}},
}
