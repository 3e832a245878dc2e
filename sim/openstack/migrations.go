package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// migrationView shows a record of os-migrations with the fields of the microversion.
func (k *call) migrationView(m *migration) object {
	v := object{
		"id": m.number, "instance_uuid": m.server.id, "status": m.status,
		"source_compute": m.source.Name, "source_node": m.source.Name, "dest_compute": nil, "dest_node": nil, "dest_host": nil,
		"old_instance_type_id": m.oldFlavor.number, "new_instance_type_id": m.newFlavor.number,
		"created_at": stamp(m.created), "updated_at": stamp(m.changed(k.now)),
	}
	if m.dest != nil {
		v["dest_compute"], v["dest_node"] = m.dest.Name, m.dest.Name
		if m.kind != "live-migration" {
			v["dest_host"] = m.dest.address
		}
	}
	if k.mv.atLeast(23) {
		v["migration_type"] = m.kind
		if m.kind == "live-migration" && m.inProgress() {
			v["links"] = k.links("servers/"+m.server.id+"/migrations", strconv.Itoa(m.number))
		}
	}
	if k.mv.atLeast(59) {
		v["uuid"] = m.uuid
	}
	if k.mv.atLeast(80) {
		v["user_id"], v["project_id"] = m.userID, m.projectID
	}
	return v
}

// changed is when the record was last written: at its latest state, or with a running transfer's latest figures. Until its first change
// it is zero, as Nova has none in its database then: filters by the time of the change leave the record out.
func (m *migration) changed(now time.Time) time.Time {
	if m.status == "running" && m.live != nil {
		if at := m.live.started.Add(now.Sub(m.live.started).Truncate(saveInterval)); at.After(m.updated) {
			return at
		}
	}
	return m.updated
}

// migrationFilters are the filters of os-migrations from 2.59 on, when it began to refuse others.
var migrationFilters = []string{"hidden", "host", "instance_uuid", "source_compute", "status", "migration_type", "limit", "marker",
	"changes-since"}

func listMigrations(k *call) reply {
	q := k.query
	known := slices.Clone(migrationFilters)
	if k.mv.atLeast(66) {
		known = append(known, "changes-before")
	}
	if k.mv.atLeast(80) {
		known = append(known, "user_id", "project_id")
	}
	if no := k.onlyQuery(59, known...); no != nil {
		return *no
	}
	matches := []func(*migration) bool{func(m *migration) bool { return !m.server.deleted }}
	for name, field := range map[string]func(*migration) string{
		"status": func(m *migration) string { return m.status }, "instance_uuid": func(m *migration) string { return m.server.id },
		"migration_type": func(m *migration) string { return m.kind }, "source_compute": func(m *migration) string { return m.source.Name },
		"user_id": func(m *migration) string { return m.userID }, "project_id": func(m *migration) string { return m.projectID },
	} {
		if want := q[name]; len(want) > 0 {
			matches = append(matches, func(m *migration) bool { return slices.Contains(want, field(m)) })
		}
	}
	if h := q.Get("host"); h != "" {
		matches = append(matches, func(m *migration) bool { return m.source.Name == h || m.dest != nil && m.dest.Name == h })
	}
	if flag(q, "hidden") {
		matches = append(matches, func(*migration) bool { return false })
	}
	if k.mv.atLeast(59) {
		since, before, no := k.moments()
		if no != nil {
			return *no
		}
		matches = append(matches, func(m *migration) bool {
			at := m.changed(k.now)
			return since.IsZero() && before.IsZero() || !at.IsZero() && within(at, since, before)
		})
	}
	return k.migrations(func(m *migration) bool {
		return !slices.ContainsFunc(matches, func(match func(*migration) bool) bool { return !match(m) })
	})
}

// migrations lists the wanted migrations: before 2.59 all of them, oldest first; from then on in pages, newest first.
func (k *call) migrations(wanted func(*migration) bool) reply {
	items := []object{}
	if !k.mv.atLeast(59) {
		for _, m := range k.c.migs {
			if wanted(m) {
				items = append(items, k.migrationView(m))
			}
		}
		return ok(object{"migrations": items})
	}
	limit, marker, no := k.page()
	if no != nil {
		return *no
	}
	from := len(k.c.migs)
	if marker != "" {
		m := k.c.migByUUID[marker]
		if m == nil {
			return badRequest("Marker %s could not be found.", marker)
		}
		from = m.number - 1
	}
	last := ""
	for i := from - 1; i >= 0 && len(items) < limit; i-- {
		if m := k.c.migs[i]; wanted(m) {
			items = append(items, k.migrationView(m))
			last = m.uuid
		}
	}
	body := object{"migrations": items}
	k.next(body, "migrations_links", len(items), limit, last)
	return ok(body)
}

// progressView shows a running live migration as servers/{id}/migrations does. Before the first bytes are sent there
// are no byte counts.
func (k *call) progressView(m *migration) object {
	v := object{
		"id": m.number, "server_uuid": m.server.id, "status": m.status, "source_compute": m.source.Name, "source_node": m.source.Name,
		"dest_compute": nil, "dest_node": nil, "dest_host": nil, "created_at": stamp(m.created), "updated_at": stamp(m.changed(k.now)),
		"memory_total_bytes": nil, "memory_processed_bytes": nil, "memory_remaining_bytes": nil,
		"disk_total_bytes": nil, "disk_processed_bytes": nil, "disk_remaining_bytes": nil,
	}
	if m.dest != nil {
		v["dest_compute"], v["dest_node"] = m.dest.Name, m.dest.Name
	}
	if m.live != nil && k.now.Sub(m.live.started) >= saveInterval {
		p := m.live.at(k.now)
		v["memory_total_bytes"], v["memory_processed_bytes"], v["memory_remaining_bytes"] = m.live.memory, p.memDone, p.memLeft
		v["disk_total_bytes"], v["disk_processed_bytes"], v["disk_remaining_bytes"] = m.live.disk, p.diskDone, p.diskLeft
	}
	if k.mv.atLeast(59) {
		v["uuid"] = m.uuid
	}
	if k.mv.atLeast(80) {
		v["user_id"], v["project_id"] = m.userID, m.projectID
	}
	return v
}

func listServerMigrations(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	items := []object{}
	if m := s.migration; m != nil && m.kind == "live-migration" && m.inProgress() {
		items = append(items, k.progressView(m))
	}
	return ok(object{"migrations": items})
}

// serverMigration returns the migration in the path, if it belongs to the server.
func (k *call) serverMigration(s *server) *migration {
	n, err := strconv.Atoi(k.r.PathValue("mid"))
	if err != nil || n < 1 || n > len(k.c.migs) || k.c.migs[n-1].server != s {
		return nil
	}
	return k.c.migs[n-1]
}

func showServerMigration(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	mid := k.r.PathValue("mid")
	m := k.serverMigration(s)
	switch {
	case m == nil:
		return missing("In-progress live migration %s is not found for server %s.", mid, s.id)
	case m.kind != "live-migration":
		return missing("Migration %s for server %s is not live-migration.", mid, s.id)
	case !m.inProgress():
		return missing("Live migration %s for server %s is not in progress.", mid, s.id)
	}
	return ok(object{"migration": k.progressView(m)})
}

// abortMigration is DELETE on a live migration: running ones from 2.24 on, queued and preparing ones from 2.65 on.
func abortMigration(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if s.task != "migrating" {
		if s.task == "" {
			return conflict("Instance %s is in an invalid state for 'abort live migration'", s.id)
		}
		return conflict("Cannot 'abort live migration' instance %s while it is in task_state %s", s.id, s.task)
	}
	m := k.serverMigration(s)
	if m == nil {
		return missing("Migration %s not found for instance %s", k.r.PathValue("mid"), s.id)
	}
	if m.status != "running" && (!k.mv.atLeast(65) || m.status != "queued" && m.status != "preparing") {
		return badRequest("Migration %d state of instance %s is %s. Cannot abort live migration while the migration is in this state.", m.number,
			s.id, m.status)
	}
	k.c.abortLive(k.now, m, k.begin(s, "live_migration_cancel"))
	return accepted()
}

// forceComplete is the action force_complete on a running live migration.
func forceComplete(k *call) reply {
	nothing := that(func(raw json.RawMessage) bool { return string(raw) == "null" }, "is not of type 'null'")
	if _, no := (schema{properties: map[string]property{"force_complete": nothing}, order: []string{"force_complete"},
		required: []string{"force_complete"}}).
		check("", k.body); no != nil {
		return *no
	}
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	switch {
	case s.vm != vmActive:
		return conflict("Cannot 'force_complete' instance %s while it is in vm_state %s", s.id, s.vm)
	case s.task == "":
		return conflict("Instance %s is in an invalid state for 'force_complete'", s.id)
	case s.task != "migrating":
		return conflict("Cannot 'force_complete' instance %s while it is in task_state %s", s.id, s.task)
	}
	m := k.serverMigration(s)
	if m == nil {
		return badRequest("Migration %s not found for instance %s", k.r.PathValue("mid"), s.id)
	}
	if m.status != "running" {
		return badRequest("Migration %d state of instance %s is %s. Cannot force complete while the migration is in this state.", m.number, s.id,
			m.status)
	}
	k.c.completeLive(k.now, m, k.begin(s, "live_migration_force_complete"))
	return reply{status: http.StatusAccepted}
}
