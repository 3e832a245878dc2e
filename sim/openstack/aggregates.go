package openstack

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const defaultZone = "nova" // of hosts without a zone from an aggregate

// aggregate is a host aggregate. An aggregate with a zone in its metadata is an availability zone.
type aggregate struct {
	number           int
	uuid, name       string
	metadata         map[string]string
	hosts            []string
	created, updated time.Time
	ofZone           bool // created by AddHost for the host's zone
}

func (a *aggregate) zone() string { return a.metadata["availability_zone"] }

// addAggregate creates an aggregate; number 0 means the next one.
func (c *Cloud) addAggregate(now time.Time, number int, name, zone string) *aggregate {
	if number == 0 {
		for _, a := range c.aggregates {
			c.lastAggregate = max(c.lastAggregate, a.number)
		}
		c.lastAggregate++
		number = c.lastAggregate
	}
	a := &aggregate{number: number, uuid: c.uuid("aggregate", name), name: name, metadata: map[string]string{}, created: now}
	if zone != "" {
		a.metadata["availability_zone"] = zone
	}
	c.aggregates = append(c.aggregates, a)
	return a
}

// joinZone puts a new host into the aggregate of its zone.
func (c *Cloud) joinZone(now time.Time, h *host) {
	if h.Zone == defaultZone {
		return
	}
	i := slices.IndexFunc(c.aggregates, func(a *aggregate) bool { return a.zone() == h.Zone })
	if i < 0 {
		c.addAggregate(now, 0, h.Zone, h.Zone).ofZone = true
		i = len(c.aggregates) - 1
	}
	c.aggregates[i].hosts = append(c.aggregates[i].hosts, h.Name)
}

// rezone gives a host the zone of its aggregates.
func (c *Cloud) rezone(name string) {
	h := c.hosts[name]
	if h == nil || h.compute == nil {
		return
	}
	h.Zone = defaultZone
	for _, a := range c.aggregates {
		if a.zone() != "" && slices.Contains(a.hosts, name) {
			h.Zone = a.zone()
		}
	}
	h.compute.zone = h.Zone
}

func (k *call) aggregateView(a *aggregate, whole bool) object {
	v := object{"id": a.number, "name": a.name, "availability_zone": orNull(a.zone()), "created_at": stamp(a.created),
		"updated_at": stamp(a.updated),
		"deleted":    false, "deleted_at": nil}
	if whole {
		v["metadata"], v["hosts"] = maps.Clone(a.metadata), append([]string{}, a.hosts...)
	}
	if k.mv.atLeast(41) {
		v["uuid"] = a.uuid
	}
	return v
}

func listAggregates(k *call) reply {
	items := []object{}
	for _, a := range k.c.aggregates {
		items = append(items, k.aggregateView(a, true))
	}
	return ok(object{"aggregates": items})
}

// findAggregate returns the aggregate in the path.
func (k *call) findAggregate() (*aggregate, *reply) {
	id := k.r.PathValue("id")
	number, err := strconv.Atoi(id)
	if err != nil {
		r := badRequest("Invalid input received: id must be an integer")
		return nil, &r
	}
	i := slices.IndexFunc(k.c.aggregates, func(a *aggregate) bool { return a.number == number })
	if i < 0 {
		r := missing("Aggregate %s could not be found.", id)
		return nil, &r
	}
	return k.c.aggregates[i], nil
}

func showAggregate(k *call) reply {
	a, no := k.findAggregate()
	if no != nil {
		return *no
	}
	return ok(object{"aggregate": k.aggregateView(a, true)})
}

var (
	zoneProperty = someOf(func(raw json.RawMessage) bool {
		return string(raw) == "null" || isString(raw) && zoneForm.MatchString(text(raw))
	})
	zoneForm = regexp.MustCompile(`^[^:]{1,255}$`)

	newAggregate = schema{properties: map[string]property{"name": lengthOf(1, 255, nil), "availability_zone": zoneProperty},
		order: []string{"name", "availability_zone"}, required: []string{"name"}}
	changedAggregate = schema{properties: newAggregate.properties, order: newAggregate.order}
	aggregateHost    = schema{properties: map[string]property{"host": lengthOf(1, 255, nil)}, order: []string{"host"},
		required: []string{"host"}}
	aggregateData = schema{properties: map[string]property{"metadata": objectProperty}, order: []string{"metadata"},
		required: []string{"metadata"}}
)

// taken refuses the name of another aggregate.
func (k *call) taken(name string, but *aggregate) *reply {
	if slices.ContainsFunc(k.c.aggregates, func(a *aggregate) bool { return a != but && a.name == name }) {
		r := conflict("Aggregate %s already exists.", name)
		return &r
	}
	return nil
}

func createAggregate(k *call) reply {
	args, no := newAggregate.body(k, "aggregate")
	if no == nil {
		no = k.taken(text(args["name"]), nil)
	}
	if no != nil {
		return *no
	}
	a := k.c.addAggregate(k.now, 0, text(args["name"]), text(args["availability_zone"]))
	return ok(object{"aggregate": k.aggregateView(a, false)})
}

func updateAggregate(k *call) reply {
	a, no := k.findAggregate()
	if no != nil {
		return *no
	}
	args, no := changedAggregate.body(k, "aggregate")
	if no == nil {
		no = k.taken(text(args["name"]), a)
	}
	if zone, given := args["availability_zone"]; no == nil && given {
		no = k.moveZone(a, text(zone))
	}
	if no != nil {
		return *no
	}
	a.name, a.updated = cmp.Or(text(args["name"]), a.name), k.now
	return ok(object{"aggregate": k.aggregateView(a, true)})
}

// moveZone gives an aggregate another zone, unless that would change the zone of servers on its hosts.
func (k *call) moveZone(a *aggregate, zone string) *reply {
	if zone == a.zone() {
		return nil
	}
	for _, name := range a.hosts {
		if h := k.c.hosts[name]; h != nil && len(h.servers) > 0 {
			r := conflict("Cannot update aggregate %d. Reason: One or more hosts contain instances in this zone.", a.number)
			return &r
		}
	}
	if zone == "" {
		delete(a.metadata, "availability_zone")
	} else {
		a.metadata["availability_zone"] = zone
	}
	for _, name := range a.hosts {
		k.c.rezone(name)
	}
	return nil
}

func deleteAggregate(k *call) reply {
	a, no := k.findAggregate()
	switch {
	case no != nil:
		return *no
	case len(a.hosts) > 0:
		return badRequest("Cannot remove host from aggregate %d. Reason: Host aggregate is not empty.", a.number)
	}
	k.c.aggregates = slices.DeleteFunc(k.c.aggregates, func(o *aggregate) bool { return o == a })
	return ok(nil)
}

// aggregateAction is POST /os-aggregates/{id}/action: add_host, remove_host and set_metadata.
func aggregateAction(k *call) reply {
	var body map[string]json.RawMessage
	if no := k.decode(&body); no != nil {
		return *no
	}
	if len(body) != 1 {
		return badRequest("Malformed request body")
	}
	actions := map[string]func(*call, *aggregate, json.RawMessage) *reply{"add_host": addToAggregate, "remove_host": removeFromAggregate,
		"set_metadata": describeAggregate}
	for name, args := range body {
		do, known := actions[name]
		if !known {
			return badRequest("There is no such action: %s", name)
		}
		a, no := k.findAggregate()
		if no == nil {
			no = do(k, a, args)
		}
		if no != nil {
			return *no
		}
		return ok(object{"aggregate": k.aggregateView(a, true)})
	}
	return badRequest("Malformed request body")
}

func addToAggregate(k *call, a *aggregate, raw json.RawMessage) *reply {
	args, no := aggregateHost.check("add_host", raw)
	if no != nil {
		return no
	}
	name := text(args["host"])
	var r reply
	h := k.c.hosts[name]
	switch {
	case !k.c.isCompute(name):
		r = missing("Compute host %s could not be found.", name)
	case slices.Contains(a.hosts, name):
		r = conflict("Aggregate %d already has host %s.", a.number, name)
	case a.zone() != "" && h.Zone != a.zone() && (h.Zone != defaultZone || len(h.servers) > 0):
		r = conflict("Cannot add host to aggregate %d. Reason: One or more hosts already in availability zone(s) ['%s'].", a.number, h.Zone)
	default:
		a.hosts = append(a.hosts, name)
		k.c.rezone(name)
		return nil
	}
	return &r
}

func removeFromAggregate(k *call, a *aggregate, raw json.RawMessage) *reply {
	args, no := aggregateHost.check("remove_host", raw)
	if no != nil {
		return no
	}
	name := text(args["host"])
	var r reply
	switch h := k.c.hosts[name]; {
	case !slices.Contains(a.hosts, name):
		r = missing("Cannot remove host %s in aggregate %d", name, a.number)
	case a.zone() != "" && h != nil && len(h.servers) > 0:
		r = conflict("Cannot remove host %s in aggregate %d: One or more hosts contain instances in this zone.", name, a.number)
	default:
		a.hosts = slices.DeleteFunc(slices.Clone(a.hosts), func(o string) bool { return o == name })
		k.c.rezone(name)
		return nil
	}
	return &r
}

func describeAggregate(k *call, a *aggregate, raw json.RawMessage) *reply {
	args, no := aggregateData.check("set_metadata", raw)
	if no != nil {
		return no
	}
	var change map[string]*string
	if err := json.Unmarshal(args["metadata"], &change); err != nil {
		r := badRequest("Invalid input for field/attribute metadata. Value: %s. %s is not of type 'object'", unquoted(args["metadata"]),
			python(args["metadata"]))
		return &r
	}
	if zone, given := change["availability_zone"]; given {
		wanted := ""
		if zone != nil {
			wanted = *zone
		}
		if no := k.moveZone(a, wanted); no != nil {
			return no
		}
		delete(change, "availability_zone")
	}
	for name, value := range change {
		if value == nil {
			delete(a.metadata, name)
		} else {
			a.metadata[name] = *value
		}
	}
	a.updated = k.now
	return nil
}

// listHosts is GET /os-hosts, which exists before 2.43.
func listHosts(k *call) reply {
	items := []object{}
	for _, s := range k.c.services {
		if zone := k.query.Get("zone"); zone == "" || zone == s.zone {
			items = append(items, object{"host_name": s.host.Name, "service": s.binary[len("nova-"):], "zone": s.zone})
		}
	}
	return reply{status: http.StatusOK, body: object{"hosts": items}}
}
