package openstack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// serverActionSpec is one action of POST /servers/{id}/action.
type serverActionSpec struct {
	since     int      // its first microversion
	admin     string   // the policy rule that only an admin passes; "" if the owner may, too
	vm        []string // states it is allowed in; nil for any
	anyTask   bool     // allowed during any task
	freely    bool     // allowed on a locked server
	stateName string   // its name in conflicts; "" for its own name
	do        func(k *call, s *server, args json.RawMessage) reply
}

// serverActions holds all actions by their name in a request.
func serverActions() map[string]serverActionSpec {
	const rule = "os_compute_api:"
	movable := []string{vmActive, vmStopped}
	return map[string]serverActionSpec{
		"os-start": {vm: []string{vmStopped}, stateName: "start", do: startServer},
		"os-stop":  {vm: []string{vmActive, vmError}, stateName: "stop", do: stopServer},
		"reboot":   {vm: []string{vmActive, vmStopped, vmPaused, vmSuspended, vmError}, do: rebootServer},
		"pause": {vm: []string{vmActive},
			do: changeTo("pause", "compute_pause_instance", "pausing", time.Second, vmPaused, powerPaused)},
		"unpause": {vm: []string{vmPaused},
			do: changeTo("unpause", "compute_unpause_instance", "unpausing", time.Second, vmActive, powerRunning)},
		"suspend": {vm: []string{vmActive},
			do: changeTo("suspend", "compute_suspend_instance", "suspending", 8*time.Second, vmSuspended, powerShutdown)},
		"resume": {vm: []string{vmSuspended},
			do: changeTo("resume", "compute_resume_instance", "resuming", 4*time.Second, vmActive, powerRunning)},
		"rescue": {vm: []string{vmActive, vmStopped, vmError}, do: rescueServer},
		"unrescue": {vm: []string{vmRescued},
			do: changeTo("unrescue", "compute_unrescue_instance", "unrescuing", 6*time.Second, vmActive, powerRunning)},
		"lock":                {freely: true, anyTask: true, do: lockServer},
		"unlock":              {freely: true, anyTask: true, do: unlockServer},
		"shelve":              {vm: []string{vmActive, vmStopped, vmPaused, vmSuspended}, do: shelveServer},
		"shelveOffload":       {admin: rule + "os-shelve:shelve_offload", vm: []string{vmShelved}, do: offloadServer},
		"unshelve":            {vm: []string{vmShelved, vmOffloaded}, do: unshelveServer},
		"os-resetState":       {admin: rule + "os-admin-actions:reset_state", freely: true, anyTask: true, do: resetState},
		"createImage":         {vm: []string{vmActive, vmStopped, vmPaused, vmSuspended}, do: snapshotServer},
		"os-getConsoleOutput": {anyTask: true, freely: true, do: consoleOutput},
		"forceDelete": {anyTask: true, do: func(k *call, _ *server, _ json.RawMessage) reply {
			r := deleteServer(k)
			r.status = accepted().status
			return r
		}},
		"evacuate": {admin: rule + "os-evacuate", vm: []string{vmActive, vmStopped, vmError}, anyTask: true, freely: true,
			do: evacuateServer},
		"migrate":        {admin: rule + "os-migrate-server:migrate", vm: movable, do: migrateServer},
		"resize":         {vm: movable, do: resizeServer},
		"confirmResize":  {vm: []string{vmResized}, do: confirmResize},
		"revertResize":   {vm: []string{vmResized}, do: revertResize},
		"os-migrateLive": {admin: rule + "os-migrate-server:migrate_live", vm: []string{vmActive, vmPaused}, do: migrateLive},
	}
}

// serverAction is POST /servers/{id}/action.
func serverAction(k *call) reply {
	if trimmed := bytes.TrimSpace(k.body); json.Valid(trimmed) && trimmed[0] != '{' {
		return notFound(nova) // as in Nova, which looks up the action's name
	}
	var body map[string]json.RawMessage
	if no := k.decode(&body); no != nil {
		return *no
	}
	if len(body) != 1 {
		return badRequest("Malformed request body")
	}
	for name, args := range body {
		spec, known := k.c.actions[name]
		if !known {
			return badRequest("There is no such action: %s", name)
		}
		if k.mv.minor < spec.since {
			return notFound(nova)
		}
		s, no := k.findServer()
		if no != nil {
			return *no
		}
		if spec.admin != "" && !k.token.admin() {
			return forbidden(nova, spec.admin)
		}
		if s.locked && !spec.freely && !k.token.admin() {
			return conflict("Instance %s is locked", s.id)
		}
		stateName := cmp.Or(spec.stateName, name)
		if s.vm == vmOffloaded && (name == "os-start" || name == "os-stop") {
			return conflict("Instance %s is not ready", s.id)
		}
		if no := s.check(stateName, spec.vm, spec.anyTask); no != nil {
			return *no
		}
		return spec.do(k, s, args)
	}
	return badRequest("Malformed request body")
}

// check returns Nova's refusal if the server's state does not allow an action, or nil.
func (s *server) check(name string, vm []string, anyTask bool) *reply {
	var r reply
	switch {
	case vm != nil && !slices.Contains(vm, s.vm):
		r = conflict("Cannot '%s' instance %s while it is in vm_state %s", name, s.id, s.vm)
	case !anyTask && s.task != "":
		r = conflict("Cannot '%s' instance %s while it is in task_state %s", name, s.id, s.task)
	default:
		return nil
	}
	return &r
}

// begin records the instance action of this request.
func (k *call) begin(s *server, name string) *action {
	return k.c.begin(s, action{name: name, requestID: k.requestID, userID: k.token.user.id, projectID: k.token.projectID(), start: k.now})
}

func startServer(k *call, s *server, _ json.RawMessage) reply {
	k.c.startGuest(k.now, s, k.begin(s, "start"))
	return accepted()
}

func stopServer(k *call, s *server, _ json.RawMessage) reply {
	k.c.stopGuest(k.now, s, k.begin(s, "stop"))
	return accepted()
}

func rebootServer(k *call, s *server, raw json.RawMessage) reply {
	args, no := rebootSchema.check("reboot", raw)
	if no != nil {
		return *no
	}
	task := map[string]string{"SOFT": "rebooting", "HARD": "rebooting_hard"}[strings.ToUpper(text(args["type"]))]
	if task == "rebooting" && s.vm != vmActive {
		return conflict("Cannot 'reboot' instance %s while it is in vm_state %s", s.id, s.vm)
	}
	k.c.change(k.now, s, k.begin(s, "reboot"), "compute_reboot_instance", task, 6*time.Second, vmActive, powerRunning)
	return accepted()
}

// changeTo is an action that takes a while and ends in a state.
func changeTo(name, event, task string, length time.Duration, vm string, power int) func(*call, *server, json.RawMessage) reply {
	return func(k *call, s *server, _ json.RawMessage) reply {
		k.c.change(k.now, s, k.begin(s, name), event, task, length, vm, power)
		return accepted()
	}
}

func rescueServer(k *call, s *server, _ json.RawMessage) reply {
	k.c.change(k.now, s, k.begin(s, "rescue"), "compute_rescue_instance", "rescuing", 6*time.Second, vmRescued, powerRunning)
	return ok(object{"adminPass": k.password()})
}

func lockServer(k *call, s *server, raw json.RawMessage) reply {
	var args struct {
		Reason string `json:"locked_reason"`
	}
	if k.mv.atLeast(73) && string(raw) != "null" { // earlier microversions ignore the arguments
		if err := json.Unmarshal(raw, &args); err != nil {
			return badRequest("Invalid input for field/attribute lock. Value: %s. %s is not of type 'object'", unquoted(raw), python(raw))
		}
	}
	k.did(s, "lock", "api_lock")
	s.locked, s.lockedReason, s.lockedBy, s.updated = true, args.Reason, k.token.user, k.now
	return accepted()
}

func unlockServer(k *call, s *server, _ json.RawMessage) reply {
	if s.locked && !k.token.admin() && s.lockedBy != nil && s.lockedBy.id != s.userID {
		return forbidden(nova, "os_compute_api:os-lock-server:unlock:unlock_override")
	}
	k.did(s, "unlock", "api_unlock")
	s.locked, s.lockedReason, s.lockedBy, s.updated = false, "", nil, k.now
	return accepted()
}

// did records an action that the API itself carries out.
func (k *call) did(s *server, name, event string) {
	a := k.begin(s, name)
	a.finishEvent(a.event(event, k.now, k.c.control()), k.now, nil)
}

func shelveServer(k *call, s *server, _ json.RawMessage) reply {
	k.c.shelve(k.now, s, k.begin(s, "shelve"))
	return accepted()
}

func offloadServer(k *call, s *server, _ json.RawMessage) reply {
	a := k.begin(s, "shelveOffload")
	k.c.offload(k.now, s, a, a.event("compute_shelve_offload_instance", k.now, s.host))
	return accepted()
}

// unshelveServer accepts a zone from 2.77 on, for an offloaded server.
func unshelveServer(k *call, s *server, raw json.RawMessage) reply {
	if k.mv.atLeast(77) && string(raw) != "null" {
		args, no := schema{properties: map[string]property{"availability_zone": hostProperty, "host": textProperty},
			order: []string{"availability_zone", "host"}}.
			check("unshelve", raw)
		if no != nil {
			return *no
		}
		zone := text(args["availability_zone"])
		switch {
		case zone != "" && s.vm != vmOffloaded:
			return conflict("Cannot 'unshelve' instance %s while it is in vm_state %s", s.id, s.vm)
		case zone != "" && !k.c.zoneAvailable(zone):
			return badRequest("The requested availability zone is not available")
		case zone != "":
			s.zone = zone
		}
	}
	k.c.unshelve(k.now, s, k.begin(s, "unshelve"))
	return accepted()
}

func resetState(k *call, s *server, raw json.RawMessage) reply {
	args, no := resetSchema.check("os-resetState", raw)
	if no != nil {
		return *no
	}
	k.begin(s, "resetState")
	s.set(k.now, map[string]string{"active": vmActive, "error": vmError}[text(args["state"])], "", s.power)
	return accepted()
}

func confirmResize(k *call, s *server, _ json.RawMessage) reply {
	m := s.migration
	if m == nil || m.status != "finished" {
		return badRequest("Instance has not been resized.")
	}
	k.c.confirmCold(k.now, m, k.begin(s, "confirmResize"))
	return reply{status: http.StatusNoContent}
}

func revertResize(k *call, s *server, _ json.RawMessage) reply {
	m := s.migration
	if m == nil || m.status != "finished" {
		return badRequest("Instance has not been resized.")
	}
	k.c.revertCold(k.now, m, k.begin(s, "revertResize"))
	return accepted()
}

// migrateServer is the cold migration; from 2.56 on it accepts a target.
func migrateServer(k *call, s *server, raw json.RawMessage) reply {
	wanted := ""
	if k.mv.atLeast(56) && string(raw) != "null" {
		args, no := coldMigrationSchema.check("migrate", raw)
		if no != nil {
			return *no
		}
		wanted = text(args["host"])
	}
	if no := k.coldTarget(s, wanted); no != nil {
		return *no
	}
	k.c.coldMigrate(k.now, s, k.begin(s, "migrate"), s.flavor, wanted)
	return accepted()
}

// coldTarget refuses what the API itself can detect as impossible.
func (k *call) coldTarget(s *server, wanted string) *reply {
	var r reply
	switch {
	case s.host == nil || !k.c.up(s.host.compute, k.now):
		r = conflict("Service is unavailable at this time.")
	case wanted != "" && wanted == s.host.Name:
		r = badRequest("Cannot migrate to the host where the server exists.")
	case wanted != "" && !k.c.isCompute(wanted):
		r = badRequest("Compute host %s could not be found.", wanted)
	default:
		return nil
	}
	return &r
}

func (c *Cloud) isCompute(name string) bool {
	h := c.hosts[name]
	return h != nil && h.compute != nil
}

func resizeServer(k *call, s *server, raw json.RawMessage) reply {
	args, no := resizeSchema.check("resize", raw)
	if no != nil {
		return *no
	}
	f := k.c.flavors[lastPart(text(args["flavorRef"]))]
	switch {
	case f == nil:
		return badRequest("Flavor %s could not be found.", text(args["flavorRef"]))
	case f == s.flavor:
		return badRequest("When resizing, instances must change flavor!")
	}
	if no := k.coldTarget(s, ""); no != nil {
		return *no
	}
	k.c.coldMigrate(k.now, s, k.begin(s, "resize"), f, "")
	return accepted()
}

// migrateLive is the live migration. The fields of its body differ by microversion: disk_over_commit until 2.24,
// block_migration "auto" from 2.25, force from 2.30 to 2.67; from 2.34 on it is checked after the answer.
func migrateLive(k *call, s *server, raw json.RawMessage) reply {
	fields, refused := liveMigrationSchema(k.mv).check("os-migrateLive", raw)
	if refused != nil {
		return *refused
	}
	target := text(fields["host"])
	force := truthy(fields["force"]) || target != "" && !k.mv.atLeast(30)
	switch {
	case force && target == "":
		return badRequest("Can't force to a non-provided destination")
	case target != "" && !k.c.isCompute(target):
		return badRequest("Compute host %s could not be found.", target)
	case s.host == nil:
		return conflict("Instance %s is not ready", s.id)
	}
	no := k.c.liveMigrate(k.now, s, k.begin(s, "live-migration"), target, force, !k.mv.atLeast(34))
	switch {
	case no == nil:
		return accepted()
	case no.status == http.StatusConflict:
		return conflict("Cannot 'os-migrateLive' instance %s while it is in power_state %s", s.id, powerName(s.power))
	}
	return novaError(no.status, no.text)
}

func evacuateServer(k *call, s *server, raw json.RawMessage) reply {
	args, no := evacuationSchema(k.mv).check("evacuate", raw)
	if no != nil {
		return *no
	}
	target := text(args["host"])
	switch {
	case truthy(args["force"]) && target == "":
		return badRequest("Can't force to a non-provided destination")
	case target != "" && !k.c.isCompute(target):
		return missing("Compute host %s not found.", target)
	case s.host == nil || s.host.Name == target:
		return badRequest("The target host can't be the same one.")
	case k.c.up(s.host.compute, k.now):
		return badRequest("Compute service of %s is still in use.", s.host.Name)
	}
	k.c.evacuate(k.now, s, k.begin(s, "evacuate"), target)
	if !k.mv.atLeast(14) {
		return ok(object{"adminPass": k.password()})
	}
	return ok(nil)
}
