package openstack

import (
	"net/http"
	"slices"
)

// wantEvents waits until an action has ended with these events. Of several such actions the newest counts.
func (s *server) wantEvents(action string, want ...string) {
	s.Helper()
	var got []string
	defer func() {
		if s.Failed() {
			s.Logf("the events of %s were %q", action, got)
		}
	}()
	s.until(action+" has its events", func() bool {
		got = events(s.lastAction(action))
		return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
	})
}

var actionCases = []testCase{
	{"what was done with a server is listed, the newest first, with who asked for it", func(d *desk) {
		s := d.boot(d.room(), order{as: d.member})
		s.act("2.1", "os-stop", nil).is(202)
		s.settles("SHUTOFF")
		all := s.ask("2.58", "/os-instance-actions").is(200).list("instanceActions")
		if got := field(all, "action"); !slices.Equal(got, []string{"stop", "create"}) {
			d.Fatalf("actions %q", got)
		}
		for i, by := range []*login{d.admin, d.member} {
			if all[i]["user_id"] != by.userID || all[i]["project_id"] != by.projectID || all[i]["message"] != nil ||
				all[i]["instance_uuid"] != s.ID {
				d.Errorf("action %v, want it by %s", all[i], by.name)
			}
		}
		one := s.ask("2.58", "/os-instance-actions?limit=1").is(200)
		if got := field(one.list("instanceActions"), "action"); !slices.Equal(got, []string{"stop"}) || len(list(one.at("links"))) != 1 {
			d.Errorf("the first page is %s", one.raw)
		}
		rest := s.ask("2.58", "/os-instance-actions?marker="+text(all[0]["request_id"])).is(200)
		if got := field(rest.list("instanceActions"), "action"); !slices.Equal(got, []string{"create"}) {
			d.Errorf("after the marker: %q", got)
		}
		s.ask("2.58", "/os-instance-actions?changes-since=yesterday").
			refused(400, "Invalid input for query parameters changes-since. Value: yesterday. 'yesterday' is not a 'date-time'")
		s.ask("2.58", "/os-instance-actions/req-none").refused(404, "Action req-none not found")
	}},
	{"events tell what happened where, to an administrator more than to the owner", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{as: d.member})
		request := text(s.lastAction("create")["request_id"])
		path := "/servers/" + s.ID + "/os-instance-actions/" + request
		as := func(l *login, microversion string) object {
			events := d.call(d.Context(), l, "compute", microversion, http.MethodGet, path, nil).is(200).at("instanceAction", "events")
			if len(list(events)) == 0 {
				return nil
			}
			return list(events)[0]
		}
		var event object
		d.until("the event has ended", func() bool { // an instance is ACTIVE a moment before
			event = as(d.admin, "2.84")
			return event["finish_time"] != nil
		})
		if event["event"] != "compute__do_build_and_run_instance" || event["result"] != "Success" || event["host"] != s.host() ||
			event["details"] != nil || event["finish_time"] == nil {
			d.Errorf("event %v", event)
		}
		if as(d.member, "2.50") != nil {
			d.Error("before 2.51 the owner sees events")
		}
		own := as(d.member, "2.84")
		for _, name := range []string{"host", "traceback", "details"} {
			if value, shown := own[name]; shown && value != nil {
				d.Errorf("the owner sees %s: %v", name, value)
			}
		}
		if text(own["hostId"]) == "" {
			d.Errorf("the owner sees no hostId: %v", own)
		}
		if event := as(d.admin, "2.1"); event["host"] != nil || event["hostId"] != nil {
			d.Errorf("at 2.1 the event is %v", event)
		}
	}},
	{"a live migration that succeeds has the events of everybody who takes part", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		for microversion, first := range map[string]string{"2.25": "conductor_migrate_server", "2.34": "conductor_live_migrate_instance"} {
			s.act(microversion, "os-migrateLive", live("")).is(202)
			s.recorded("live-migration", r.a, r.b, "completed")
			s.wantEvents("live-migration", first+" Success", "compute_check_can_live_migrate_destination Success",
				"compute_check_can_live_migrate_source Success",
				"compute_live_migration Success", "compute_pre_live_migration Success", "compute_post_live_migration_at_destination Success")
			r.a, r.b = r.b, r.a
		}
	}},
	{"a cold migration and its confirmation or revert have theirs", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		moved := []string{"conductor_migrate_server Success", "cold_migrate Success", "compute_prep_resize Success",
			"compute_resize_instance Success", "compute_finish_resize Success"}
		s.act("2.1", "migrate", nil).is(202)
		s.settles("VERIFY_RESIZE")
		s.wantEvents("migrate", moved...)
		s.act("2.1", "revertResize", nil).is(202)
		s.settles("ACTIVE")
		s.wantEvents("revertResize", "compute_revert_resize Success", "compute_finish_revert_resize Success")
		s.act("2.1", "migrate", nil).is(202)
		s.settles("VERIFY_RESIZE")
		s.act("2.1", "confirmResize", nil).is(204)
		s.settles("ACTIVE")
		s.wantEvents("confirmResize", "compute_confirm_resize Success")
	}},
	{"each thing done has its own", func(d *desk) {
		s := d.boot(d.room(), order{})
		for _, c := range []struct {
			action, status, name string
			args                 any
			events               []string
		}{
			{"os-stop", "SHUTOFF", "stop", nil, []string{"compute_stop_instance Success"}},
			{"os-start", "ACTIVE", "start", nil, []string{"compute_start_instance Success"}},
			{"lock", "ACTIVE", "lock", nil, []string{"api_lock Success"}},
			{"unlock", "ACTIVE", "unlock", nil, []string{"api_unlock Success"}},
			{"pause", "PAUSED", "pause", nil, []string{"compute_pause_instance Success"}},
			{"unpause", "ACTIVE", "unpause", nil, []string{"compute_unpause_instance Success"}},
			{"reboot", "ACTIVE", "reboot", object{"type": "HARD"}, []string{"compute_reboot_instance Success"}},
			{"shelve", "SHELVED_OFFLOADED", "shelve", nil, []string{"compute_shelve_instance Success"}},
			{"unshelve", "ACTIVE", "unshelve", nil, []string{"get_image_info Success", "schedule_instances Success",
				"compute_unshelve_instance Success"}},
		} {
			s.act("2.1", c.action, c.args).is(202)
			s.settles(c.status)
			s.wantEvents(c.name, c.events...)
		}
	}},
	{"the actions of a deleted server are kept, and shown from 2.21 on", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.remove()
		s.ask("2.20", "/os-instance-actions").refused(404, "Instance %s could not be found.", s.ID)
		if got := field(s.ask("2.21", "/os-instance-actions").is(200).list("instanceActions"), "action"); !slices.Equal(got,
			[]string{"delete", "create"}) {
			d.Errorf("actions %q", got)
		}
	}},
}
