package openstack

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// serverQuery holds the filters of a list of servers.
type serverQuery struct {
	project     string
	host        string
	match       []func(*server) bool
	deleted     bool // deleted ones only
	withDeleted bool
	limit       int
	marker      string
	sortBy      func(a, b *server) int
	nothing     bool
}

func (q *serverQuery) wants(s *server) bool {
	if q.deleted && !s.deleted || s.deleted && !q.deleted && !q.withDeleted || q.project != "" && s.project.id != q.project ||
		q.host != "" && (s.host == nil || s.host.Name != q.host) {
		return false
	}
	for _, match := range q.match {
		if !match(s) {
			return false
		}
	}
	return true
}

// memberFilters are the filters that a non-admin may use; the others are dropped silently.
var memberFilters = []string{"reservation_id", "name", "status", "image", "flavor", "ip", "ip6", "changes-since", "changes-before",
	"all_tenants",
	"tags", "tags-any", "not-tags", "not-tags-any", "locked", "limit", "marker", "sort_key", "sort_dir"}

var allFilters = append([]string{"host", "node", "hostname", "project_id", "tenant_id", "user_id", "uuid", "vm_state", "task_state",
	"power_state",
	"availability_zone", "deleted", "soft_deleted", "display_name", "description", "display_description", "created_at", "launched_at",
	"terminated_at",
	"image_ref", "key_name", "config_drive", "access_ip_v4", "access_ip_v6", "launch_index", "locked_by", "root_device_name", "progress",
	"auto_disk_config", "kernel_id", "ramdisk_id"}, memberFilters...)

// switches are the words for true and false in a query.
var switches = []string{"0", "1", "f", "false", "n", "no", "off", "on", "t", "true", "y", "yes"}

// serverQuery reads the query of a list of servers.
func (k *call) serverQuery(detail bool) (*serverQuery, *reply) {
	refuse := func(format string, args ...any) (*serverQuery, *reply) {
		r := badRequest(format, args...)
		return nil, &r
	}
	v := k.query
	admin := k.token.admin()
	if k.mv.atLeast(75) {
		for name := range v {
			if !slices.Contains(allFilters, name) {
				return refuse("'%s' does not match any of the regexes: '^_'", name)
			}
		}
	}
	get := func(name string) string {
		if !admin && !slices.Contains(memberFilters, name) {
			return ""
		}
		return v.Get(name)
	}
	limit, marker, refused := k.page()
	if refused != nil {
		return nil, refused
	}
	q := &serverQuery{limit: limit, marker: marker, host: get("host")}
	if q.host == "" {
		q.host = get("node")
	}
	if all := strings.ToLower(strings.TrimSpace(v.Get("all_tenants"))); all != "" && !slices.Contains(switches, all) {
		return refuse("Unrecognized value '%s', acceptable values are: '%s'", v.Get("all_tenants"), strings.Join(switches, "', '"))
	}
	for _, key := range v["sort_key"] {
		if !admin && slices.Contains([]string{"host", "node"}, key) {
			r := novaError(http.StatusForbidden, "Only administrators can sort servers by "+key)
			return nil, &r
		}
	}
	if flag(v, "all_tenants") {
		if !admin {
			which := "index"
			if detail {
				which = "detail"
			}
			r := forbidden(nova, "os_compute_api:servers:"+which+":get_all_tenants")
			return nil, &r
		}
		q.project = cmp.Or(get("project_id"), get("tenant_id"))
	} else if q.project = k.token.projectID(); q.project == "" {
		q.nothing = true
	}
	add := func(match func(*server) bool) { q.match = append(q.match, match) }
	if refused := k.stateFilters(q, get, add); refused != nil {
		return nil, refused
	}
	if refused := k.textFilters(get, add); refused != nil {
		return nil, refused
	}
	if k.mv.atLeast(26) {
		tagFilters(v.Get, add)
	}
	if k.mv.atLeast(73) && v.Has("locked") {
		want := flag(v, "locked")
		add(func(s *server) bool { return s.locked == want })
	}
	if refused := k.changesFilters(q, add); refused != nil {
		return nil, refused
	}
	q.sortBy = sortOrder(v["sort_key"], v["sort_dir"])
	return q, nil
}

func (k *call) stateFilters(q *serverQuery, get func(string) string, add func(func(*server) bool)) *reply {
	if statuses := k.query["status"]; len(statuses) > 0 {
		var want []string
		for _, s := range statuses {
			if s = strings.ToUpper(s); knownStatus(s) {
				want = append(want, s)
			}
		}
		switch {
		case len(want) == 0 && k.mv.atLeast(38):
			r := badRequest("Invalid status value")
			return &r
		case len(want) == 0:
			q.nothing = true
		case slices.Contains(want, "DELETED"):
			if !k.token.admin() {
				r := novaError(http.StatusForbidden, "Only administrators may list deleted instances")
				return &r
			}
			q.deleted = true
		}
		add(func(s *server) bool { return slices.Contains(want, s.status()) })
	}
	if k.token.admin() && k.query.Has("deleted") {
		q.deleted = flag(k.query, "deleted")
	}
	for name, field := range map[string]func(*server) string{
		"vm_state": func(s *server) string { return s.vm }, "task_state": func(s *server) string { return s.task },
		"power_state": func(s *server) string { return strconv.Itoa(s.power) }, "user_id": func(s *server) string { return s.userID },
		"uuid": func(s *server) string { return s.id }, "flavor": func(s *server) string { return s.flavor.ID },
		"image": func(s *server) string { return s.imageID }, "availability_zone": (*server).zoneName,
	} {
		if want := get(name); want != "" {
			add(func(s *server) bool { return field(s) == want })
		}
	}
	return nil
}

func (k *call) textFilters(get func(string) string, add func(func(*server) bool)) *reply {
	for name, field := range map[string]func(*server) string{
		"name": func(s *server) string { return s.name }, "display_name": func(s *server) string { return s.name },
		"hostname": func(s *server) string { return s.name }, "ip": func(s *server) string { return s.address },
		"description": func(s *server) string { return s.description },
	} {
		text := get(name)
		if text == "" {
			continue
		}
		re, err := regexp.Compile("(?i)" + text)
		if err != nil {
			r := badRequest("Invalid input for query parameters %s. Value: %s. '%s' is not a 'regex'", name, text, text)
			return &r
		}
		add(func(s *server) bool { return re.MatchString(field(s)) })
	}
	return nil
}

func tagFilters(get func(string) string, add func(func(*server) bool)) {
	has := func(s *server, tags []string, all bool) bool {
		for _, t := range tags {
			if slices.Contains(s.tags, t) != all {
				return !all
			}
		}
		return all
	}
	for name, want := range map[string]struct{ all, not bool }{
		"tags": {all: true}, "tags-any": {}, "not-tags": {all: true, not: true}, "not-tags-any": {not: true},
	} {
		if text := get(name); text != "" {
			tags := strings.Split(text, ",")
			add(func(s *server) bool { return has(s, tags, want.all) != want.not })
		}
	}
}

func (k *call) changesFilters(q *serverQuery, add func(func(*server) bool)) *reply {
	since, before, no := k.moments()
	if no != nil {
		return no
	}
	if since.IsZero() && before.IsZero() {
		return nil
	}
	q.withDeleted = true
	add(func(s *server) bool { return within(s.updated, since, before) })
	return nil
}

// sortOrder returns the requested order; nil for Nova's default, newest first.
func sortOrder(keys, dirs []string) func(a, b *server) int {
	type less = func(a, b *server) int
	known := map[string]less{
		"created_at":   func(a, b *server) int { return a.created.Compare(b.created) },
		"updated_at":   func(a, b *server) int { return a.updated.Compare(b.updated) },
		"display_name": func(a, b *server) int { return cmp.Compare(a.name, b.name) },
		"uuid":         func(a, b *server) int { return cmp.Compare(a.id, b.id) },
		"host":         func(a, b *server) int { return cmp.Compare(a.hostName(), b.hostName()) },
		"vm_state":     func(a, b *server) int { return cmp.Compare(a.vm, b.vm) },
		"task_state":   func(a, b *server) int { return cmp.Compare(a.task, b.task) },
		"power_state":  func(a, b *server) int { return cmp.Compare(a.power, b.power) },
		"project_id":   func(a, b *server) int { return cmp.Compare(a.project.id, b.project.id) },
	}
	var order []less
	for i, key := range keys {
		by, ok := known[key]
		if !ok {
			continue
		}
		if i < len(dirs) && dirs[i] == "asc" || i >= len(dirs) && len(dirs) > 0 && dirs[0] == "asc" {
			order = append(order, by)
		} else {
			order = append(order, func(a, b *server) int { return by(b, a) })
		}
	}
	if len(order) == 0 || len(keys) == 1 && keys[0] == "created_at" && !slices.Contains(dirs, "asc") {
		return nil
	}
	return func(a, b *server) int {
		for _, by := range order {
			if n := by(a, b); n != 0 {
				return n
			}
		}
		return cmp.Compare(a.number, b.number)
	}
}
