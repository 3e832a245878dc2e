package openstack

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// serviceView shows a compute service with the fields of the microversion.
func (k *call) serviceView(s *service) object {
	v := object{"binary": s.binary, "host": s.host.Name, "id": s.number, "zone": s.zone, "status": s.status(), "state": k.stateOf(s),
		"updated_at": stamp(s.seen(k.now)), "disabled_reason": orNull(s.reason)}
	if k.mv.atLeast(53) {
		v["id"] = s.uuid
	}
	if k.mv.atLeast(11) {
		v["forced_down"] = s.forcedDown
	}
	return v
}

func (s *service) status() string {
	if s.disabled {
		return "disabled"
	}
	return "enabled"
}

func (k *call) stateOf(s *service) string {
	if k.c.up(s, k.now) {
		return "up"
	}
	return "down"
}

func listServices(k *call) reply {
	if no := k.onlyQuery(75, "host", "binary"); no != nil {
		return *no
	}
	hostName, binary := k.query.Get("host"), k.query.Get("binary")
	items := []object{}
	for _, s := range k.c.services {
		if (hostName == "" || s.host.Name == hostName) && (binary == "" || s.binary == binary) {
			items = append(items, k.serviceView(s))
		}
	}
	return ok(object{"services": items})
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$`)

var (
	serviceSchema = schema{properties: map[string]property{"status": oneOf("enabled", "disabled"), "disabled_reason": lengthOf(1, 255, nil),
		"forced_down": booleanProperty},
		order: []string{"status", "disabled_reason", "forced_down"}}
	serviceByHostSchema = schema{properties: map[string]property{"host": textProperty, "binary": lengthOf(1, 255, nil),
		"disabled_reason": lengthOf(1, 255, nil),
		"forced_down":     booleanProperty}, order: []string{"host", "binary", "disabled_reason", "forced_down"},
		required: []string{"host", "binary"}}
)

func updateService(k *call) reply {
	if !k.mv.atLeast(53) {
		return k.updateByHost()
	}
	args, no := serviceSchema.check("", k.body)
	if no != nil {
		return *no
	}
	id := k.r.PathValue("id")
	if !uuidForm.MatchString(id) {
		return badRequest("Invalid uuid %s", id)
	}
	i := slices.IndexFunc(k.c.services, func(s *service) bool { return s.uuid == id })
	status, forced := text(args["status"]), args["forced_down"]
	reason, reasoned := args["disabled_reason"]
	switch {
	case i < 0:
		return missing("Service %s could not be found.", id)
	case k.c.services[i].binary != "nova-compute":
		return onlyCompute(k.c.services[i].binary)
	case status == "" && forced == nil:
		return badRequest("No updates were requested. Fields 'status' or 'forced_down' should be specified.")
	case reasoned && status != "disabled":
		return badRequest("Specifying 'disabled_reason' with status '%s' is invalid.", status)
	}
	s := k.c.services[i]
	if forced != nil {
		if no := k.force(s, truthy(forced)); no != nil {
			return *no
		}
	}
	if status != "" {
		s.disabled, s.reason = status == "disabled", text(reason)
	}
	return ok(object{"service": k.serviceView(s)})
}

// force sets or clears forced_down of a service. Clearing is refused if servers were evacuated from its host and its
// nova-compute has not started since.
func (k *call) force(s *service, down bool) *reply {
	if s.forcedDown && !down && k.c.evacuatedFrom(s.host) {
		r := badRequest("Unable to force up host %s as `done` evacuation migration records remain associated with the host. "+
			"Ensure the compute service has been restarted, allowing these records to move to `completed` before retrying this request.",
			s.host.Name)
		return &r
	}
	s.forcedDown = down
	return nil
}

func onlyCompute(binary string) reply {
	return badRequest("Updating a %s service is not supported. Only nova-compute services can be updated.", binary)
}

// updateByHost is PUT /os-services/enable, disable, disable-log-reason and force-down, as before 2.53.
func (k *call) updateByHost() reply {
	args, no := serviceByHostSchema.check("", k.body)
	if no != nil {
		return *no
	}
	verb, binary, name := k.r.PathValue("id"), text(args["binary"]), text(args["host"])
	reason, reasoned := args["disabled_reason"]
	forced, given := args["forced_down"]
	switch {
	case verb != "enable" && verb != "disable" && verb != "disable-log-reason" && (verb != "force-down" || !k.mv.atLeast(11)):
		return missing("Unknown action")
	case verb == "disable-log-reason" && !reasoned:
		return badRequest("Missing disabled reason field")
	case verb == "force-down" && !given:
		return badRequest("Missing forced_down field")
	case binary != "nova-compute":
		return onlyCompute(binary)
	case !k.c.isCompute(name):
		return missing("Host '%s' is not mapped to any cell", name)
	}
	s := k.c.hosts[name].compute
	v := object{"host": name, "binary": binary}
	switch verb {
	case "force-down":
		if no := k.force(s, truthy(forced)); no != nil {
			return *no
		}
		v["forced_down"] = s.forcedDown
	case "enable":
		s.disabled, s.reason = false, ""
		v["status"] = "enabled"
	default:
		s.disabled, s.reason = true, text(reason)
		v["status"] = "disabled"
		if reasoned {
			v["disabled_reason"] = s.reason
		}
	}
	return ok(object{"service": v})
}

// deleteService removes a compute service if its host is empty and no migration from or to it is open. For Nova the host is removed, too.
func deleteService(k *call) reply {
	id := k.r.PathValue("id")
	i := slices.IndexFunc(k.c.services, func(s *service) bool {
		return k.mv.atLeast(53) && s.uuid == id || !k.mv.atLeast(53) && fmt.Sprint(s.number) == id
	})
	if i < 0 {
		return missing("Service %s not found.", id)
	}
	s := k.c.services[i]
	if h := s.host; s == h.compute {
		switch {
		case len(h.servers) > 0:
			return conflict("Unable to delete compute service that is hosting instances. Migrate or delete the instances first.")
		case k.c.migrates(h):
			return conflict("Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances " +
				"first.")
		}
	}
	k.c.forget(s)
	return reply{status: http.StatusNoContent}
}
