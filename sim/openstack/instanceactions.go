package openstack

import "time"

// actionOwner returns the server in the path; from 2.21 on also a deleted one.
func (k *call) actionOwner() (*server, *reply) {
	id := k.r.PathValue("id")
	if s := k.c.servers[id]; s != nil && s.deleted && k.mv.atLeast(21) && (k.token.admin() || s.project == k.token.project) {
		return s, nil
	}
	return k.findServer()
}

func (k *call) actionView(s *server, a *action) object {
	v := object{"action": a.name, "instance_uuid": s.id, "request_id": a.requestID, "user_id": a.userID, "project_id": orNull(a.projectID),
		"start_time": stamp(a.start), "message": nil}
	if a.failed {
		v["message"] = "Error"
	}
	if k.mv.atLeast(58) {
		v["updated_at"] = stamp(a.updated)
	}
	return v
}

func listInstanceActions(k *call) reply {
	s, no := k.actionOwner()
	if no != nil {
		return *no
	}
	actions := k.c.actionsOf(s)
	limit, marker := len(actions), ""
	var since, before time.Time
	if k.mv.atLeast(58) {
		if limit, marker, no = k.page(); no != nil {
			return *no
		}
		if since, before, no = k.moments(); no != nil {
			return *no
		}
	}
	items := []object{}
	found := marker == ""
	last := ""
	for i := len(actions) - 1; i >= 0 && len(items) < limit; i-- {
		a := actions[i]
		if !found {
			found = a.requestID == marker
			continue
		}
		if !within(a.updated, since, before) {
			continue
		}
		items = append(items, k.actionView(s, a))
		last = a.requestID
	}
	if !found {
		return badRequest("Marker %s could not be found.", marker)
	}
	body := object{"instanceActions": items}
	if k.mv.atLeast(58) {
		k.next(body, "links", len(items), limit, last)
	}
	return ok(body)
}

func showInstanceAction(k *call) reply {
	s, no := k.actionOwner()
	if no != nil {
		return *no
	}
	for _, a := range k.c.actionsOf(s) {
		if a.requestID != k.r.PathValue("rid") {
			continue
		}
		v := k.actionView(s, a)
		if k.token.admin() || k.mv.atLeast(51) {
			events := []object{}
			for _, e := range a.events {
				events = append(events, k.eventView(s, e))
			}
			v["events"] = events
		}
		return ok(object{"instanceAction": v})
	}
	return missing("Action %s not found", k.r.PathValue("rid"))
}

func (k *call) eventView(s *server, e *actionEvent) object {
	admin := k.token.admin()
	v := object{"event": e.name, "start_time": stamp(e.start), "finish_time": stamp(e.finish), "result": orNull(e.result)}
	name := ""
	if e.host != nil {
		name = e.host.Name
	}
	if admin {
		v["traceback"] = nil
		if e.reason != "" {
			v["traceback"] = "  File \"/var/lib/openstack/lib/python3.10/site-packages/nova/compute/manager.py\", in decorated_function\n" +
				e.reason + "\n"
		}
	}
	if k.mv.atLeast(62) {
		v["hostId"] = hostID(s.project.id, name)
		if admin {
			v["host"] = orNull(name)
		}
	}
	if k.mv.atLeast(84) && admin {
		v["details"] = orNull(e.reason)
	}
	return v
}
