package nova

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"lockstep/core"
)

// pageSize is how many entries a page may have; the cloud may allow fewer (max_limit).
const pageSize = 1000

// maxPages ends a list whose links never end.
const maxPages = 1000

// serverRecord has the fields of Nova's servers that Lockstep needs.
type serverRecord struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	ProjectID  string       `json:"tenant_id"`
	UserID     string       `json:"user_id"`
	Host       string       `json:"OS-EXT-SRV-ATTR:host"`
	Status     string       `json:"status"`
	VMState    string       `json:"OS-EXT-STS:vm_state"`
	TaskState  string       `json:"OS-EXT-STS:task_state"`
	PowerState int          `json:"OS-EXT-STS:power_state"`
	Zone       string       `json:"OS-EXT-AZ:availability_zone"`
	Locked     bool         `json:"locked"`
	Tags       *[]string    `json:"tags"`
	Flavor     flavorRecord `json:"flavor"`
	Image      imageRecord  `json:"image"`
	Fault      faultRecord  `json:"fault"`
	Created    string       `json:"created"`
	Updated    string       `json:"updated"`
}

// flavorRecord is the embedded flavor of 2.47; before that it was a link, and all of these stay empty.
type flavorRecord struct {
	Name       string            `json:"original_name"`
	VCPUs      int               `json:"vcpus"`
	RAM        int               `json:"ram"`
	Disk       int               `json:"disk"`
	Ephemeral  int               `json:"ephemeral"`
	Swap       int               `json:"swap"` // MiB
	ExtraSpecs map[string]string `json:"extra_specs"`
}

// more is the disk space that Nova counts beside the flavor's root disk, in GiB.
func (r *flavorRecord) more() int { return r.Ephemeral + (r.Swap+1023)/1024 }

// imageRecord tells whether the server boots from a volume: Nova writes "" for its image then.
type imageRecord struct{ none bool }

// UnmarshalJSON looks at nothing but that.
func (r *imageRecord) UnmarshalJSON(raw []byte) error {
	r.none = string(raw) == `""`
	return nil
}

type faultRecord struct {
	Message string `json:"message"`
	Created string `json:"created"`
}

func (r *serverRecord) deleted() bool { return r.Status == "DELETED" || r.VMState == "deleted" }

func (r *serverRecord) instance() *core.Instance {
	i := &core.Instance{
		ID: r.ID, Name: r.Name, ProjectID: r.ProjectID, UserID: r.UserID,
		Host: r.Host, Status: r.Status, VMState: r.VMState, TaskState: r.TaskState, Power: core.PowerState(r.PowerState),
		SharedFlavor: &core.Flavor{Name: r.Flavor.Name, VCPUs: r.Flavor.VCPUs, RAMMiB: r.Flavor.RAM, DiskGiB: r.Flavor.Disk,
			MoreGiB: r.Flavor.more(), ExtraSpecs: r.Flavor.ExtraSpecs},
		TagsKnown: r.Tags != nil, Locked: r.Locked, OnVolume: r.Image.none, Zone: r.Zone,
		Created: parseTime(r.Created), Updated: parseTime(r.Updated),
	}
	if r.Tags != nil && len(*r.Tags) > 0 {
		i.Tags = *r.Tags
	}
	if r.Status == "ERROR" {
		i.Fault = r.Fault.Message
	}
	return i
}

type link struct {
	Rel string `json:"rel"`
}

func hasNext(links []link) bool {
	for _, l := range links {
		if l.Rel == "next" {
			return true
		}
	}
	return false
}

type serverPage struct {
	Servers []serverRecord `json:"servers"`
	Links   []link         `json:"servers_links"`
}

// check refuses a page in which a server could be missing: a caller may conclude that a host is empty.
func (p *serverPage) check() error {
	if p.Servers == nil {
		return errShape("a list of servers")
	}
	for i := range p.Servers {
		if p.Servers[i].ID == "" {
			return errShape("a list of servers: one has no ID")
		}
	}
	return nil
}

type serverDocument struct {
	Server *serverRecord `json:"server"`
}

func (d *serverDocument) check() error {
	if d.Server == nil || d.Server.ID == "" {
		return errShape("a server")
	}
	return nil
}

var (
	actionListServers = action{call: "list instances", policy: "os_compute_api:servers:detail:get_all_tenants"}
	actionGetServer   = action{call: "read the instance", policy: "os_compute_api:servers:show"}
)

// serverQuery is what to list.
type serverQuery struct {
	host  string    // "" for all
	since time.Time // zero for all; otherwise those that changed or were deleted since
}

func (q serverQuery) action() action {
	a := actionListServers
	if q.host != "" {
		a.call += " of host " + q.host
	}
	return a
}

// serversPage reads one page after marker, of at most the given size. The next page's marker is the last ID. It follows no links,
// because behind a proxy they often lead nowhere.
func (c *Client) serversPage(ctx context.Context, q serverQuery, marker string, limit int) (records []serverRecord, next string,
	err error) {
	values := url.Values{"all_tenants": {"True"}, "limit": {strconv.Itoa(limit)}}
	if q.host != "" {
		values.Set("host", q.host)
	}
	if !q.since.IsZero() {
		values.Set("changes-since", formatTime(q.since))
	}
	if marker != "" {
		values.Set("marker", marker)
	}
	err = c.call(ctx, q.action(), func(s *session) error {
		sc := at(s.compute, s.versions.best(vEmbeddedFlavor, vTags, vLocked, vBase))
		var page serverPage
		if err := c.get(ctx, sc, sc.ServiceURL("servers", "detail")+"?"+values.Encode(), &page); err != nil {
			return err
		}
		records, next = page.Servers, ""
		if n := len(records); n > 0 && hasNext(page.Links) {
			next = records[n-1].ID
			if next == marker {
				return errShape("a list of servers: it has no end")
			}
		}
		return nil
	})
	return records, next, err
}

// listServers reads all pages.
func (c *Client) listServers(ctx context.Context, q serverQuery) ([]serverRecord, error) {
	var all []serverRecord
	marker := ""
	for range maxPages {
		records, next, err := c.serversPage(ctx, q, marker, pageSize)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
		if next == "" {
			return all, nil
		}
		marker = next
	}
	return nil, c.fail(q.action(), errShape("a list of servers: it has no end"))
}

func (c *Client) getServer(ctx context.Context, id string) (*serverRecord, error) {
	var doc serverDocument
	a := actionGetServer
	a.call += " " + id
	err := c.call(ctx, a, func(s *session) error {
		sc := at(s.compute, s.versions.best(vEmbeddedFlavor, vTags, vLocked, vBase))
		return c.get(ctx, sc, sc.ServiceURL("servers", id), &doc)
	})
	return doc.Server, err
}
