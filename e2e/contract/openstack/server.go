package openstack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// server is a server that a case has made.
type server struct {
	*desk
	Server
}

// order describes a server to make; the zero value is a small one of the administrator.
type order struct {
	as     *login // the administrator unless it is set
	host   string // as the administrator only
	flavor string // ID
	also   object // more fields of the request
}

// boot makes a server in the room and waits until it runs. The server goes with the case.
func (d *desk) boot(r *room, o order) *server {
	d.Helper()
	s := d.create(r, o)
	s.settles("ACTIVE")
	return s
}

// boots makes several servers at the same time.
func (d *desk) boots(r *room, orders ...order) []*server {
	d.Helper()
	var all []*server
	for _, o := range orders {
		all = append(all, d.create(r, o))
	}
	for _, s := range all {
		s.settles("ACTIVE")
	}
	return all
}

// create makes a server in the room.
func (d *desk) create(r *room, o order) *server {
	d.Helper()
	as := cmp.Or(o.as, d.admin)
	name := d.newName(strings.ReplaceAll(r.zone, "contract", "vm"))
	fields := object{"name": name, "imageRef": d.suite.image, "flavorRef": cmp.Or(o.flavor, d.suite.flavor), "networks": "none",
		"availability_zone": r.zone}
	if o.host != "" {
		fields["host"] = o.host
	}
	maps.Copy(fields, o.also)
	made := d.call(d.Context(), as, "compute", "2.79", http.MethodPost, "/servers", object{"server": fields}).is(202)
	s := &server{desk: d, Server: Server{ID: text(made.at("server", "id")), Name: name}}
	d.Cleanup(s.remove)
	return s
}

// remove deletes the server in any state, and waits until it is gone.
func (s *server) remove() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	get := func() *answer {
		return s.call(ctx, s.admin, "compute", "2.1", http.MethodGet, "/servers/"+s.ID, nil)
	}
	if get().status == http.StatusNotFound {
		return
	}
	if got := s.call(ctx, s.admin, "compute", "2.1", http.MethodDelete, "/servers/"+s.ID, nil); got.status != 204 && got.status != 404 {
		s.Errorf("%s: %d %s", got.call, got.status, got.raw)
	}
	s.until(s.Name+" is gone", func() bool { return get().status == http.StatusNotFound })
}

// steer sets how the server's migrations go from now on.
func (s *server) steer(b Behaviour) {
	s.Helper()
	if err := s.suite.cloud.Steer(s.Server, b); err != nil {
		s.Fatalf("steer %s: %v", s.Name, err)
	}
}

// ask requests the server, or something below it, at a microversion.
func (s *server) ask(microversion, below string) *answer {
	s.Helper()
	return s.compute(microversion, http.MethodGet, "/servers/"+s.ID+below, nil)
}

// act requests an action as the administrator.
func (s *server) act(microversion, action string, args any) *answer {
	s.Helper()
	return s.actAs(s.admin, microversion, action, args)
}

func (s *server) actAs(as *login, microversion, action string, args any) *answer {
	s.Helper()
	return s.call(s.Context(), as, "compute", microversion, http.MethodPost, "/servers/"+s.ID+"/action", object{action: args})
}

// live is the body of os-migrateLive from 2.25 on; "" leaves the host to the scheduler.
func live(host string) object {
	if host == "" {
		return object{"host": nil, "block_migration": "auto"}
	}
	return object{"host": host, "block_migration": "auto"}
}

// look returns the server in detail, as the administrator sees it at 2.93.
func (s *server) look() object {
	s.Helper()
	fields, _ := s.ask("2.93", "").is(200).at("server").(object)
	return fields
}

// host returns the host of the server.
func (s *server) host() string {
	s.Helper()
	return text(s.look()["OS-EXT-SRV-ATTR:host"])
}

// state returns the server's status, with its task if it has one: "RESIZE resize_prep".
func state(server object) string {
	return strings.TrimSpace(text(server["status"]) + " " + text(server["OS-EXT-STS:task_state"]))
}

// settles waits until the server has a status and no task.
func (s *server) settles(status string) object {
	s.Helper()
	var last object
	defer func() {
		if s.Failed() && state(last) != status {
			s.Logf("%s is %s on %v, at %v%%, fault %v", s.Name, state(last), last["OS-EXT-SRV-ATTR:host"], last["progress"], last["fault"])
		}
	}()
	s.until(s.Name+" settles as "+status, func() bool {
		last = s.look()
		if last["status"] == "ERROR" && status != "ERROR" {
			s.Fatalf("%s is in ERROR: %v", s.Name, last["fault"])
		}
		return state(last) == status
	})
	return last
}

// passes follows the server until it has settled in the last of the states, and checks their order: not every state has to be
// seen, but no other state, and no state after a later one.
func (s *server) passes(states ...string) {
	s.Helper()
	reached := 0
	var seen []string
	s.until(fmt.Sprintf("%s passes through %q", s.Name, states), func() bool {
		now := state(s.look())
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		i := slices.Index(states[reached:], now)
		if i < 0 {
			s.Fatalf("%s passed through %q, want the order %q", s.Name, seen, states)
		}
		reached += i
		return reached == len(states)-1
	})
}

// records returns the server's migrations, the newest first, as 2.80 shows them.
func (s *server) records() []object {
	s.Helper()
	return s.compute("2.80", http.MethodGet, "/os-migrations?instance_uuid="+s.ID, nil).is(200).list("migrations")
}

// record returns the newest of the server's migrations as "live-migration a b completed".
func (s *server) record() string {
	s.Helper()
	all := s.records()
	if len(all) == 0 {
		return "none"
	}
	return recordText(all[0])
}

func recordText(m object) string {
	return strings.Join([]string{text(m["migration_type"]), text(m["source_compute"]), cmp.Or(text(m["dest_compute"]), "nowhere"),
		text(m["status"])}, " ")
}

// recorded waits for this record of the newest of the server's migrations.
func (s *server) recorded(want ...string) {
	s.Helper()
	joined, last := strings.Join(want, " "), ""
	defer func() {
		if s.Failed() && last != joined {
			s.Logf("the last record was %q", last)
		}
	}()
	s.until("the record is "+joined, func() bool {
		last = s.record()
		return last == joined
	})
}

// migrationID waits for the newest migration to have the status, and returns its number.
func (s *server) migrationID(status string) int {
	s.Helper()
	id := 0
	s.until("the migration of "+s.Name+" is "+status, func() bool {
		all := s.records()
		if len(all) == 0 || all[0]["status"] != status {
			return false
		}
		id = number(all[0]["id"])
		return true
	})
	return id
}

// lastAction returns the server's newest action with its events, as 2.84 shows it.
func (s *server) lastAction(name string) object {
	s.Helper()
	for _, a := range s.ask("2.84", "/os-instance-actions").is(200).list("instanceActions") {
		if a["action"] == name {
			detail, _ := s.ask("2.84", "/os-instance-actions/"+text(a["request_id"])).is(200).at("instanceAction").(object)
			return detail
		}
	}
	s.Fatalf("%s has no action %s", s.Name, name)
	return nil
}

// events returns those of an action, in the order in which they began, as "compute_stop_instance Success".
func events(action object) []string {
	var all []string
	for _, e := range slices.Backward(list(action["events"])) {
		all = append(all, text(e["event"])+" "+text(e["result"]))
	}
	return all
}
