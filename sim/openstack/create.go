package openstack

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// newServerSchema is the schema of POST /servers: networks may be a word from 2.37 on, when they became required; tags
// came with 2.52, host with 2.74.
func newServerSchema(mv microversion) schema {
	s := schema{
		properties: map[string]property{
			"name": lengthOf(1, 255, nil), "imageRef": imageProperty, "flavorRef": anything, "networks": listOf(0, objectProperty),
			"availability_zone": textProperty, "metadata": objectProperty, "key_name": textProperty, "description": hostProperty,
			"min_count": anything, "max_count": anything, "user_data": textProperty, "config_drive": booleanProperty, "security_groups": anything,
			"block_device_mapping_v2": anything, "adminPass": textProperty, "return_reservation_id": booleanProperty,
			"OS-DCF:diskConfig": oneOf("AUTO", "MANUAL"),
			"personality":       anything,
		},
		order: []string{"name", "imageRef", "flavorRef", "networks", "availability_zone", "metadata", "key_name", "description", "min_count",
			"max_count",
			"user_data", "config_drive", "security_groups", "block_device_mapping_v2", "adminPass", "return_reservation_id", "OS-DCF:diskConfig",
			"personality"},
		required: []string{"name", "flavorRef"},
	}
	if mv.atLeast(37) {
		s.properties["networks"] = someOf(func(raw json.RawMessage) bool {
			return len(raw) > 0 && raw[0] == '[' || string(raw) == `"auto"` || string(raw) == `"none"`
		})
		s.required = append(s.required, "networks")
	}
	if mv.atLeast(52) {
		s.properties["tags"] = listOf(maxTags, tagProperty)
		s.order = append(s.order, "tags")
	}
	if mv.atLeast(74) {
		s.properties["host"], s.properties["hypervisor_hostname"] = textProperty, textProperty
		s.order = append(s.order, "host", "hypervisor_hostname")
	}
	return s
}

var imageProperty = someOf(func(raw json.RawMessage) bool {
	return isString(raw) && (text(raw) == "" || uuidForm.MatchString(lastPart(text(raw))))
})

// lastPart returns an ID that may be given as the end of a URL.
func lastPart(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// createServer is POST /servers.
func createServer(k *call) reply {
	args, no := newServerSchema(k.mv).body(k, "server")
	if no != nil {
		return *no
	}
	s, target, no := k.newServer(args)
	if no == nil {
		no = k.hinted(s)
	}
	if no != nil {
		return *no
	}
	c := k.c
	c.lastSrv++
	s.number, s.id = c.lastSrv, c.uuid("server", s.name)
	s.fromVolume = s.imageID == ""
	c.servers[s.id] = s
	c.order = append(c.order, s)
	c.unsorted = true
	if s.group != nil {
		s.group.members = append(s.group.members, s)
	}
	s.set(k.now, vmBuilding, "scheduling", powerNoState)
	c.build(k.now, s, k.begin(s, "create"), target)
	return reply{status: http.StatusAccepted,
		body: object{"server": object{"id": s.id, "links": k.links("servers", s.id), "OS-DCF:diskConfig": "MANUAL",
			"security_groups": []object{{"name": "default"}}, "adminPass": k.password()}}}
}

// newServer returns the requested server and its requested host, or the refusal.
func (k *call) newServer(args map[string]json.RawMessage) (s *server, target string, refused *reply) {
	refuse := func(format string, words ...any) (*server, string, *reply) {
		r := badRequest(format, words...)
		return nil, "", &r
	}
	if k.token.project == nil {
		return refuse("Malformed request url")
	}
	ref := unquoted(args["flavorRef"])
	f := k.c.flavors[lastPart(ref)]
	target = text(args["host"])
	if target == "" {
		target = text(args["hypervisor_hostname"])
	}
	zone, node, _ := strings.Cut(text(args["availability_zone"]), ":")
	image := lastPart(text(args["imageRef"]))
	metadata := map[string]string{}
	if raw, given := args["metadata"]; given {
		if metadata, refused = textMap(raw); refused != nil {
			return nil, "", refused
		}
	}
	switch {
	case f == nil:
		return refuse("Flavor %s could not be found.", ref)
	case (target != "" || node != "") && !k.token.admin():
		r := forbidden(nova, "compute:servers:create:requested_destination")
		return nil, "", &r
	case target != "" && !k.c.isCompute(target):
		return refuse("Compute host %s could not be found.", target)
	case zone != "" && !k.c.zoneAvailable(zone):
		return refuse("The requested availability zone is not available")
	case image != "" && k.c.image(image) == nil:
		return refuse("Can not find requested image")
	case image == "" && len(args["block_device_mapping_v2"]) == 0:
		return refuse("Block Device Mapping is Invalid: You specified more local devices than the limit allows")
	}
	key := text(args["key_name"])
	if key != "" && k.keypair(key) == nil {
		return refuse("Invalid key_name provided.")
	}
	network, refused := k.wantedNetwork(args["networks"])
	if refused != nil {
		return nil, "", refused
	}
	var tags []string
	_ = json.Unmarshal(args["tags"], &tags) // the schema has checked it
	slices.Sort(tags)
	if target == "" {
		target = node
	}
	return &server{behaviour: &normal, name: text(args["name"]), project: k.token.project, userID: k.token.user.id, flavor: f, zone: zone,
		tags:     slices.Compact(tags),
		metadata: metadata, description: text(args["description"]), imageID: image, keyName: key, network: network,
		address: guestAddress(k.c.lastSrv + 1), created: k.now.Truncate(time.Second)}, target, nil
}

// wantedNetwork is the name of the network requested for a new server; "" for none. Clients cannot create networks, so
// every network existed from the start.
func (k *call) wantedNetwork(raw json.RawMessage) (string, *reply) {
	var wanted []struct {
		UUID string `json:"uuid"`
		Port string `json:"port"`
	}
	names := k.c.networkNames()
	if json.Unmarshal(raw, &wanted) == nil && len(wanted) > 0 {
		for _, name := range names {
			if k.c.fixedID("network", name) == wanted[0].UUID {
				return name, nil
			}
		}
		r := badRequest("Network %s could not be found.", wanted[0].UUID)
		return "", &r
	}
	if text(raw) == "none" || len(names) == 0 {
		return "", nil
	}
	return names[0], nil
}

// hinted gives a new server the group in the scheduler hints.
func (k *call) hinted(s *server) *reply {
	var body struct {
		Hints  map[string]any `json:"os:scheduler_hints"`
		Hints2 map[string]any `json:"OS-SCH-HNT:scheduler_hints"`
	}
	if no := k.decode(&body); no != nil {
		return no
	}
	if body.Hints == nil {
		body.Hints = body.Hints2
	}
	id, given := body.Hints["group"].(string)
	if !given {
		return nil
	}
	if s.group = k.group(id); s.group == nil {
		r := badRequest("Instance group %s could not be found.", id)
		return &r
	}
	return nil
}

// build schedules a new server and starts it.
func (c *Cloud) build(now time.Time, s *server, a *action, target string) {
	c.events.at(now.Add(300*time.Millisecond), func(t time.Time) {
		if s.deleted {
			return
		}
		h, failure := c.pick(t, s, s.flavor, target, nil)
		if h == nil {
			s.set(t, vmError, "", powerNoState)
			s.fault = &fault{code: http.StatusInternalServerError, message: failure, details: "in schedule_and_build_instances", created: t}
			a.finishEvent(a.event("conductor_schedule_and_build_instances", t, c.control()), t, &failure)
			return
		}
		claim(h, s, s.flavor, 1)
		c.place(s, h)
		s.setTask(t, "")
		e := a.event("compute__do_build_and_run_instance", t, h)
		for _, step := range []struct {
			after time.Duration
			task  string
		}{{200 * time.Millisecond, "networking"}, {500 * time.Millisecond, "block_device_mapping"}, {time.Second, "spawning"}} {
			c.later(t, s, step.after, func(t time.Time) {
				if s.vm == vmBuilding {
					s.setTask(t, step.task)
				}
			})
		}
		c.later(t, s, c.between(3*time.Second, 8*time.Second, "build", s.id), func(t time.Time) {
			s.set(t, vmActive, "", powerRunning)
			s.launched = t
			a.finishEvent(e, t, nil)
		})
	})
}

// password is an administrator's password as Nova generates it for a new server.
func (k *call) password() string { return k.c.fixedID("password", k.requestID)[:12] }

// control is the host of nova-conductor and the API; nil if there is none.
func (c *Cloud) control() *host {
	for _, s := range c.services {
		if s.binary == "nova-conductor" {
			return s.host
		}
	}
	return nil
}

var changedServerSchema = schema{properties: map[string]property{"name": lengthOf(1, 255, nil), "description": hostProperty,
	"accessIPv4": textProperty,
	"accessIPv6": textProperty, "OS-DCF:diskConfig": oneOf("AUTO", "MANUAL"),
	"hostname": lengthOf(1, 63, regexp.MustCompile(`^[A-Za-z0-9-]*$`))},
	order: []string{"name", "description", "accessIPv4", "accessIPv6", "OS-DCF:diskConfig", "hostname"}}

// updateServer is PUT /servers/{id}: its name and, from 2.19 on, its description.
func updateServer(k *call) reply {
	args, no := changedServerSchema.body(k, "server")
	if no != nil {
		return *no
	}
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if name, given := args["name"]; given {
		s.name, s.updated = text(name), k.now
	}
	if description, given := args["description"]; given && k.mv.atLeast(19) {
		s.description, s.updated = text(description), k.now
	}
	return ok(object{"server": k.serverView(s)})
}
