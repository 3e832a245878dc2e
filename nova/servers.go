package nova

import (
	"context"
	"encoding/json"
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
	Host       hostField    `json:"OS-EXT-SRV-ATTR:host"`
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

// hostField is the host that a server is on; its name is empty where it is on none.
type hostField struct {
	name string
	told bool // Nova leaves the field out for whom it does not tell
}

// UnmarshalJSON takes a name or null. A host of another kind is not told.
func (f *hostField) UnmarshalJSON(raw []byte) error {
	f.told = json.Unmarshal(raw, &f.name) == nil
	return nil
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
		Host: r.Host.name, Status: r.Status, VMState: r.VMState, TaskState: r.TaskState, Power: core.PowerState(r.PowerState),
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

	polled bool         // listed is wanted, and not Servers
	seen   *seenServers // on earlier pages, where polled; may be nil
	listed []*listedServer

	expect int // how long the answer may be, in bytes: as the page before it; 0 when nobody knows
	length int // how long it was
}

// listedServer is what a poll wants of a server. Whoever reads a page may be given one that the poll has: of that it looks at the ID alone.
type listedServer struct {
	*core.Instance
	id      string
	deleted bool
	told    bool // others have the Instance: it does not change any more
	hidden  bool // on which host it is
}

func (r *serverRecord) listed() *listedServer {
	return &listedServer{Instance: r.instance(), id: r.ID, deleted: r.deleted(), hidden: !r.Host.told}
}

// check refuses a page in which a server, or its host, could be missing: a caller may conclude that a host is empty.
func (p *serverPage) check() error {
	if p.polled && p.listed == nil && p.Servers != nil {
		p.listed = []*listedServer{}
		for i := range p.Servers {
			p.listed = append(p.listed, p.Servers[i].listed())
		}
		p.Servers = nil
	}
	if p.Servers == nil && p.listed == nil {
		return errShape("a list of servers")
	}
	for i := range p.len() {
		if p.id(i) == "" {
			return errShape("a list of servers: one has no ID")
		}
		if p.hidden(i) {
			return errHidden
		}
	}
	return nil
}

func (p *serverPage) len() int { return len(p.Servers) + len(p.listed) }

// id is the ID of the server at that place.
func (p *serverPage) id(i int) string {
	if p.polled {
		return p.listed[i].id
	}
	return p.Servers[i].ID
}

func (p *serverPage) hidden(i int) bool {
	if p.polled {
		return p.listed[i].hidden
	}
	return !p.Servers[i].Host.told
}

type serverDocument struct {
	Server *serverRecord `json:"server"`
}

func (d *serverDocument) check() error {
	if d.Server == nil || d.Server.ID == "" {
		return errShape("a server")
	}
	if !d.Server.Host.told {
		return errHidden
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

// readServers reads one page after marker, of at most the given size, into page. The next page's marker is the last ID. It follows no
// links, because behind a proxy they often lead nowhere.
func (c *Client) readServers(ctx context.Context, q serverQuery, marker string, limit int, page *serverPage) (next string, err error) {
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
	empty := *page
	err = c.call(ctx, q.action(), func(s *session) error {
		sc := at(s.compute, s.versions.best(vEmbeddedFlavor, vTags, vLocked, vBase))
		*page, next = empty, ""
		if err := c.get(ctx, sc, sc.ServiceURL("servers", "detail")+"?"+values.Encode(), page); err != nil {
			return err
		}
		if n := page.len(); n > 0 && hasNext(page.Links) {
			next = page.id(n - 1)
			if next == marker {
				return errShape("a list of servers: it has no end")
			}
		}
		return nil
	})
	return next, err
}

// listServers reads all pages.
func (c *Client) listServers(ctx context.Context, q serverQuery) ([]serverRecord, error) {
	var all []serverRecord
	marker := ""
	for range maxPages {
		var page serverPage
		next, err := c.readServers(ctx, q, marker, pageSize, &page)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Servers...)
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
