package openstack

import "time"

// tenantUsage is the usage of a project's servers in a period.
func (k *call) tenantUsage(p *project, from, to time.Time, detailed bool) (object, bool) {
	list := []object{}
	var hours, vcpu, ram, disk float64
	for _, s := range k.c.sorted() {
		if s.project != p || s.launched.IsZero() || s.deleted && s.terminated.Before(from) || s.launched.After(to) {
			continue
		}
		begin, end := s.launched, to
		if begin.Before(from) {
			begin = from
		}
		if s.deleted && s.terminated.Before(to) {
			end = s.terminated
		}
		ran := end.Sub(begin).Hours()
		hours, vcpu, ram, disk = hours+ran, vcpu+ran*float64(s.flavor.VCPUs), ram+ran*float64(s.flavor.RAM), disk+ran*float64(s.flavor.Disk)
		state := s.vm
		if s.deleted {
			state = "terminated"
		}
		list = append(list, object{"instance_id": s.id, "name": s.name, "hours": ran, "tenant_id": p.id, "flavor": s.flavor.Name,
			"vcpus":     s.flavor.VCPUs,
			"memory_mb": s.flavor.RAM, "local_gb": s.flavor.Disk, "started_at": stamp(s.launched), "ended_at": stamp(s.terminated), "state": state,
			"uptime": int(k.now.Sub(s.launched).Seconds())})
	}
	v := object{"tenant_id": p.id, "total_hours": hours, "total_vcpus_usage": vcpu, "total_memory_mb_usage": ram, "total_local_gb_usage": disk,
		"start": stamp(from), "stop": stamp(to)}
	if detailed {
		v["server_usages"] = list
	}
	return v, len(list) > 0
}

// usageTime is the requested period of a usage: until now by default.
func (k *call) usageTime() (from, to time.Time, refused *reply) {
	from, to = k.now, k.now
	for name, t := range map[string]*time.Time{"start": &from, "end": &to} {
		written := k.query.Get(name)
		if written == "" {
			continue
		}
		at, err := parseTime(written)
		if err != nil || len(written) <= len("2006-01-02") {
			r := badRequest("Invalid datetime string: Datetime is in invalid format")
			return from, to, &r
		}
		*t = at
	}
	if to.Before(from) {
		r := badRequest("Invalid start time. The start time cannot occur after the end time.")
		return from, to, &r
	}
	return from, to, nil
}

func listUsages(k *call) reply {
	from, to, no := k.usageTime()
	if no != nil {
		return *no
	}
	detailed := k.query.Get("detailed") == "1"
	items := []object{}
	for _, p := range k.c.sortedProjects() {
		if v, any := k.tenantUsage(p, from, to, detailed); any {
			items = append(items, v)
		}
	}
	return ok(object{"tenant_usages": items})
}

func showUsage(k *call) reply {
	id := k.r.PathValue("id")
	if !k.token.admin() && id != k.token.projectID() {
		return forbidden(nova, "os_compute_api:os-simple-tenant-usage:show")
	}
	from, to, no := k.usageTime()
	if no != nil {
		return *no
	}
	p := k.c.projects[id]
	if p == nil {
		return ok(object{"tenant_usage": object{}})
	}
	v, any := k.tenantUsage(p, from, to, true)
	if !any {
		v = object{}
	}
	return ok(object{"tenant_usage": v})
}
