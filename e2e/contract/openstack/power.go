package openstack

import "lockstep/core"

// inState is Nova's refusal of an action that the state of a server does not allow.
const inState = "Cannot '%s' instance %s while it is in vm_state %s"

// inTask is Nova's refusal of an action that would disturb another task.
const inTask = "Cannot '%s' instance %s while it is in task_state %s"

// change is an action and the states that it leads through.
type change struct {
	action string
	args   any
	states []string
}

var powerCases = []testCase{
	{"a server is stopped and started; what its state does not allow is refused with 409", func(d *desk) {
		s := d.boot(d.room(), order{})
		w := d.writer()
		s.act("2.1", "os-start", nil).refused(409, inState, "start", s.ID, "active")
		if err := w.does(core.IntentStop, s, 0); err != nil {
			d.Fatal(err)
		}
		s.passes("ACTIVE powering-off", "SHUTOFF")
		if got := s.look(); got["OS-EXT-STS:vm_state"] != "stopped" || got["OS-EXT-STS:power_state"] != 4.0 {
			d.Errorf("stopped: %v, power state %v", got["OS-EXT-STS:vm_state"], got["OS-EXT-STS:power_state"])
		}
		for action, c := range map[string]struct {
			args any
			name string
		}{
			"os-stop": {nil, "stop"}, "pause": {nil, "pause"}, "suspend": {nil, "suspend"}, "reboot": {object{"type": "SOFT"}, "reboot"},
			"os-migrateLive": {live(""), "os-migrateLive"}, "resume": {nil, "resume"}, "unpause": {nil, "unpause"},
			"confirmResize": {nil, "confirmResize"},
		} {
			s.act("2.68", action, c.args).refused(409, inState, c.name, s.ID, "stopped")
		}
		if err := w.does(core.IntentStart, s, 0); err != nil {
			d.Fatal(err)
		}
		s.passes("SHUTOFF powering-on", "ACTIVE")
	}},
	{"a server is paused, suspended and rebooted, and comes back", func(d *desk) {
		s := d.boot(d.room(), order{})
		for _, c := range []change{
			{"pause", nil, []string{"ACTIVE pausing", "PAUSED"}},
			{"unpause", nil, []string{"PAUSED unpausing", "ACTIVE"}},
			{"suspend", nil, []string{"ACTIVE suspending", "SUSPENDED"}},
			{"resume", nil, []string{"SUSPENDED resuming", "ACTIVE"}},
			{"reboot", object{"type": "SOFT"}, []string{"REBOOT rebooting", "REBOOT reboot_pending", "REBOOT reboot_started", "ACTIVE"}},
			{"reboot", object{"type": "HARD"}, []string{"HARD_REBOOT rebooting_hard", "HARD_REBOOT reboot_pending_hard",
				"HARD_REBOOT reboot_started_hard", "ACTIVE"}},
			{"os-stop", nil, []string{"ACTIVE powering-off", "SHUTOFF"}},
			{"reboot", object{"type": "HARD"}, []string{"SHUTOFF rebooting_hard", "SHUTOFF reboot_pending_hard", "SHUTOFF reboot_started_hard",
				"ACTIVE"}},
		} {
			s.act("2.1", c.action, c.args).is(202)
			s.passes(c.states...)
			switch last := c.states[len(c.states)-1]; last {
			case "PAUSED", "SUSPENDED":
				vm := map[string]string{"PAUSED": "paused", "SUSPENDED": "suspended"}[last]
				s.act("2.1", "os-stop", nil).refused(409, inState, "stop", s.ID, vm)
				s.act("2.1", "migrate", nil).refused(409, inState, "migrate", s.ID, vm)
				s.act("2.1", c.action, c.args).refused(409, inState, c.action, s.ID, vm)
			}
		}
		s.act("2.1", "reboot", object{"type": "GENTLE"}).
			refused(400,
				"Invalid input for field/attribute type. Value: GENTLE. 'GENTLE' is not one of ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft']")
		s.act("2.1", "reboot", object{}).refused(400, "Invalid input for field/attribute reboot. Value: {}. 'type' is a required property")
	}},
	{"a rescued server comes back", func(d *desk) {
		s := d.boot(d.room(), order{})
		if password := text(s.act("2.1", "rescue", object{}).is(200).at("adminPass")); password == "" {
			d.Error("rescue tells no password")
		}
		s.passes("ACTIVE rescuing", "RESCUE")
		s.act("2.1", "migrate", nil).refused(409, inState, "migrate", s.ID, "rescued")
		s.act("2.1", "unrescue", nil).is(202)
		s.passes("RESCUE unrescuing", "ACTIVE")
	}},
	{"a locked server is its owner's to leave alone, not the administrator's", func(d *desk) {
		s := d.boot(d.room(), order{as: d.member})
		s.actAs(d.member, "2.73", "lock", object{"locked_reason": "do not touch"}).is(202)
		if got := s.look(); got["locked"] != true || got["locked_reason"] != "do not touch" {
			d.Errorf("locked %v, %v", got["locked"], got["locked_reason"])
		}
		s.actAs(d.member, "2.1", "os-stop", nil).refused(409, "Instance %s is locked", s.ID)
		s.act("2.1", "os-stop", nil).is(202)
		s.settles("SHUTOFF")
		s.actAs(d.member, "2.73", "unlock", nil).is(202)
		s.act("2.1", "lock", nil).is(202)
		s.actAs(d.member, "2.1", "unlock", nil).refused(403, policy, "os_compute_api:os-lock-server:unlock:unlock_override")
		s.act("2.1", "unlock", nil).is(202)
		if got := s.look(); got["locked"] != false || got["locked_reason"] != nil {
			d.Errorf("unlocked: %v, %v", got["locked"], got["locked_reason"])
		}
	}},
	{"an administrator resets a state", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.act("2.1", "os-resetState", object{"state": "error"}).is(202)
		if got := s.settles("ERROR"); got["OS-EXT-STS:power_state"] != 1.0 || got["OS-EXT-SRV-ATTR:host"] == nil {
			d.Errorf("a reset state takes the guest or its host away: power state %v on %v", got["OS-EXT-STS:power_state"],
				got["OS-EXT-SRV-ATTR:host"])
		}
		s.act("2.1", "migrate", nil).refused(409, inState, "migrate", s.ID, "error")
		s.act("2.25", "os-migrateLive", live("")).refused(409, inState, "os-migrateLive", s.ID, "error")
		s.act("2.1", "os-resetState", object{"state": "active"}).is(202)
		if got := s.settles("ACTIVE"); got["OS-EXT-STS:power_state"] != 1.0 || got["OS-EXT-STS:vm_state"] != "active" {
			d.Errorf("reset: %v, power state %v", got["OS-EXT-STS:vm_state"], got["OS-EXT-STS:power_state"])
		}
		s.act("2.1", "os-resetState", object{"state": "asleep"}).
			refused(400, "Invalid input for field/attribute state. Value: asleep. 'asleep' is not one of ['active', 'error']")
	}},
}

var shelvingCases = []testCase{
	{"a shelved server leaves its host and comes back where there is room", func(d *desk) {
		r := d.room()
		s := d.boot(r, order{host: r.a})
		s.act("2.1", "shelve", nil).is(202)
		s.passes("ACTIVE shelving", "ACTIVE shelving_image_pending_upload", "ACTIVE shelving_image_uploading", "SHELVED shelving_offloading",
			"SHELVED_OFFLOADED")
		// Nova first saves the status, and only then that the server has no host any more.
		d.until("the shelved server has no host", func() bool {
			got := s.look()
			return got["OS-EXT-SRV-ATTR:host"] == nil && got["hostId"] == "" && got["OS-EXT-STS:power_state"] == 4.0
		})
		for _, action := range []string{"migrate", "shelve", "shelveOffload"} {
			s.act("2.1", action, nil).refused(409, inState, action, s.ID, "shelved_offloaded")
		}
		s.act("2.1", "os-start", nil).refused(409, "Instance %s is not ready", s.ID)
		s.act("2.77", "unshelve", object{"availability_zone": "none-such"}).refused(400, "The requested availability zone is not available")
		d.setService(r.a, object{"status": "disabled"})
		s.act("2.77", "unshelve", nil).is(202)
		s.passes("SHELVED_OFFLOADED unshelving", "SHELVED_OFFLOADED spawning", "ACTIVE")
		if host := s.host(); host != r.b {
			d.Errorf("it runs on %s, want %s, as %s is disabled", host, r.b, r.a)
		}
	}},
	{"a server that nothing is shelved of cannot be unshelved", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.act("2.1", "unshelve", nil).refused(409, inState, "unshelve", s.ID, "active")
		s.act("2.1", "shelveOffload", nil).refused(409, inState, "shelveOffload", s.ID, "active")
	}},
}
