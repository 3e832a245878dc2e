package openstack

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// serviceView is a compute service with the fields that the microversion has.
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
	if k.mv.atLeast(75) {
		for name := range k.query {
			if name != "host" && name != "binary" {
				return badRequest("Additional properties are not allowed ('%s' was unexpected)", name)
			}
		}
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

// serviceUpdate is the body of PUT /os-services: what to change, and before 2.53 where.
type serviceUpdate struct {
	Host       string  `json:"host"`
	Binary     string  `json:"binary"`
	Status     *string `json:"status"`
	Reason     *string `json:"disabled_reason"`
	ForcedDown *bool   `json:"forced_down"`
}

func updateService(k *call) reply {
	var u serviceUpdate
	if no := k.decode(&u); no != nil {
		return *no
	}
	if u.Reason != nil && (*u.Reason == "" || len(*u.Reason) > 255) {
		return badRequest("Invalid input for field/attribute disabled_reason. Value: %s. '%s' is too %s", *u.Reason, *u.Reason,
			map[bool]string{true: "short", false: "long"}[*u.Reason == ""])
	}
	if !k.mv.atLeast(53) {
		return k.updateByHost(u)
	}
	id := k.r.PathValue("id")
	if !uuidForm.MatchString(id) {
		return badRequest("Invalid uuid %s", id)
	}
	i := slices.IndexFunc(k.c.services, func(s *service) bool { return s.uuid == id })
	switch {
	case i < 0:
		return missing("Service %s could not be found.", id)
	case k.c.services[i].binary != "nova-compute":
		return onlyCompute(k.c.services[i].binary)
	case u.Status == nil && u.ForcedDown == nil && u.Reason == nil:
		return badRequest("No updates were requested. Fields 'status' or 'forced_down' should be specified.")
	case u.Reason != nil && (u.Status == nil || *u.Status != "disabled"):
		return badRequest("Specifying disabled_reason is only allowed when status is disabled.")
	case u.Status != nil && *u.Status != "enabled" && *u.Status != "disabled":
		return badRequest("Invalid input for field/attribute status. Value: %s. '%s' is not one of ['enabled', 'disabled']", *u.Status, *u.Status)
	}
	s := k.c.services[i]
	if u.Status != nil {
		s.disabled, s.reason = *u.Status == "disabled", ""
		if u.Reason != nil {
			s.reason = *u.Reason
		}
	}
	if u.ForcedDown != nil {
		s.forcedDown = *u.ForcedDown
	}
	return ok(object{"service": k.serviceView(s)})
}

func onlyCompute(binary string) reply {
	return badRequest("Updating a %s service is not supported. Only nova-compute services can be updated.", binary)
}

// updateByHost is PUT /os-services/enable, disable, disable-log-reason and force-down, as it was before 2.53.
func (k *call) updateByHost(u serviceUpdate) reply {
	verb := k.r.PathValue("id")
	if u.Host == "" || u.Binary == "" {
		return badRequest("Invalid input for field/attribute service. 'host' and 'binary' are required properties")
	}
	if u.Binary != "nova-compute" {
		return onlyCompute(u.Binary)
	}
	h := k.c.hosts[u.Host]
	if h == nil || h.compute == nil {
		return missing("Host '%s' is not mapped to any cell", u.Host)
	}
	s := h.compute
	v := object{"host": u.Host, "binary": u.Binary}
	switch {
	case verb == "enable":
		s.disabled, s.reason = false, ""
		v["status"] = "enabled"
	case verb == "disable":
		s.disabled, s.reason = true, ""
		v["status"] = "disabled"
	case verb == "disable-log-reason" && u.Reason == nil:
		return badRequest("Missing disabled reason field")
	case verb == "disable-log-reason":
		s.disabled, s.reason = true, *u.Reason
		v["status"], v["disabled_reason"] = "disabled", s.reason
	case verb == "force-down" && k.mv.atLeast(11) && u.ForcedDown == nil:
		return badRequest("Missing forced_down field")
	case verb == "force-down" && k.mv.atLeast(11):
		s.forcedDown = *u.ForcedDown
		v["forced_down"] = s.forcedDown
	default:
		return missing("Unknown action")
	}
	return ok(object{"service": v})
}

// deleteService removes a compute service, with its host for all purposes of Nova, when nothing is on it.
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
		case len(h.live) > 0:
			return conflict("Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.")
		}
		h.compute = nil
	}
	k.c.services = slices.Delete(k.c.services, i, i+1)
	s.host.services = slices.DeleteFunc(s.host.services, func(o *service) bool { return o == s })
	return reply{status: http.StatusNoContent}
}
