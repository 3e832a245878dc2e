package nova

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lockstep/core"
)

// runningStatuses are the statuses of core.Migration.Running, for the API's status filter, which takes one at a time.
var runningStatuses = []string{"queued", "preparing", "running", "post-migrating", "accepted", "pre-migrating", "migrating"}

// undecided is the status of a cold migration that waits to be confirmed or reverted, however long ago it was.
const undecided = "finished"

type migrationRecord struct {
	ID            int    `json:"id"`
	UUID          string `json:"uuid"`
	InstanceID    string `json:"instance_uuid"`
	ServerID      string `json:"server_uuid"` // in place of instance_uuid in servers/{id}/migrations
	Type          string `json:"migration_type"`
	Status        string `json:"status"`
	SourceCompute string `json:"source_compute"`
	DestCompute   string `json:"dest_compute"`
	Created       string `json:"created_at"`
	Updated       string `json:"updated_at"`

	// Only in servers/{id}/migrations, each null until the hypervisor has reported.
	MemoryTotal     *int64 `json:"memory_total_bytes"`
	MemoryProcessed *int64 `json:"memory_processed_bytes"`
	MemoryRemaining *int64 `json:"memory_remaining_bytes"`
	DiskTotal       *int64 `json:"disk_total_bytes"`
	DiskProcessed   *int64 `json:"disk_processed_bytes"`
	DiskRemaining   *int64 `json:"disk_remaining_bytes"`
}

func (r *migrationRecord) migration() *core.Migration {
	m := &core.Migration{
		ID: r.ID, UUID: r.UUID, InstanceID: cmp.Or(r.InstanceID, r.ServerID), Type: r.Type, Status: r.Status,
		SourceHost: r.SourceCompute, DestHost: r.DestCompute,
		Created: parseTime(r.Created), Updated: parseTime(r.Updated),
		Memory: progress(r.MemoryTotal, r.MemoryProcessed, r.MemoryRemaining),
		Disk:   progress(r.DiskTotal, r.DiskProcessed, r.DiskRemaining),
	}
	if m.Updated.IsZero() {
		m.Updated = m.Created // a record that was not changed since
	}
	return m
}

// progress is nil unless the cloud tells how much there is and how much of it remains.
func progress(total, processed, remaining *int64) *core.Progress {
	if total == nil || remaining == nil {
		return nil
	}
	p := &core.Progress{Total: *total, Remaining: *remaining}
	if processed != nil {
		p.Processed = *processed
	}
	return p
}

type migrationPage struct {
	Migrations []migrationRecord `json:"migrations"`
	Links      []link            `json:"migrations_links"`
}

func (p *migrationPage) check() error {
	if p.Migrations == nil {
		return errShape("a list of migrations")
	}
	return nil
}

// migrationQuery is what to list; the zero value lists all, newest first.
type migrationQuery struct {
	host     string // source or destination
	instance string
	status   string
	since    time.Time // changed since; the cloud needs 2.59
	limit    int       // at most so many records; 0 means all
}

var actionListMigrations = action{call: "list migrations", policy: "os_compute_api:os-migrations:index"}

// listMigrations reads migration records, page by page where the cloud has pages (2.59), newest first. gophercloud's
// List answers one page only.
func (c *Client) listMigrations(ctx context.Context, q migrationQuery) ([]*core.Migration, error) {
	var all []*core.Migration
	err := c.call(ctx, actionListMigrations, func(s *session) error {
		all = nil
		sc := at(s.compute, s.versions.best(vMigrationPaging, vProgress, vBase))
		values := url.Values{}
		set(values, "host", q.host)
		set(values, "instance_uuid", q.instance)
		set(values, "status", q.status)
		paged := s.versions.has(vMigrationPaging)
		if paged {
			values.Set("limit", strconv.Itoa(pageSize))
			if q.limit > 0 {
				values.Set("limit", strconv.Itoa(min(q.limit, pageSize)))
			}
			if !q.since.IsZero() {
				values.Set("changes-since", formatTime(q.since))
			}
		}
		for range maxPages {
			var page migrationPage
			if err := c.get(ctx, sc, sc.ServiceURL("os-migrations")+"?"+values.Encode(), &page); err != nil {
				return err
			}
			last := ""
			for i := range page.Migrations {
				r := &page.Migrations[i]
				last = r.UUID
				if cmp.Or(r.InstanceID, r.ServerID) != "" {
					all = append(all, r.migration())
				}
			}
			full := q.limit > 0 && len(all) >= q.limit
			if !paged || full || last == "" || !hasNext(page.Links) {
				newestFirst(all)
				if full {
					all = all[:q.limit]
				}
				return nil
			}
			if values.Get("marker") == last {
				break
			}
			values.Set("marker", last)
		}
		return errShape("a list of migrations: it has no end")
	})
	return all, err
}

func set(values url.Values, key, value string) {
	if value != "" {
		values.Set(key, value)
	}
}

func newestFirst(all []*core.Migration) {
	slices.SortStableFunc(all, func(a, b *core.Migration) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return b.ID - a.ID
	})
}

// liveProgress reads the running live migrations of an instance, with how much was copied. It is nil when the cloud has no such
// call or the instance has none.
func (c *Client) liveProgress(ctx context.Context, instanceID string) ([]*core.Migration, error) {
	var all []*core.Migration
	a := action{call: "read the progress of the live migration of " + instanceID, policy: "os_compute_api:servers:migrations:index"}
	err := c.call(ctx, a, func(s *session) error {
		if !s.versions.has(vProgress) {
			return nil
		}
		sc := at(s.compute, s.versions.best(vMigrationPaging, vProgress)) // 2.59 for the UUID, by which we know it
		var page migrationPage
		err := c.get(ctx, sc, sc.ServiceURL("servers", instanceID, "migrations"), &page)
		if notFound(err) {
			return nil // the instance was deleted meanwhile
		}
		if err != nil {
			return err
		}
		for i := range page.Migrations {
			m := page.Migrations[i].migration()
			m.InstanceID = instanceID
			if m.Type == "" {
				m.Type = core.MigrationLive
			}
			all = append(all, m)
		}
		return nil
	})
	return all, err
}
