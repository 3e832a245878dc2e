package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// suite is what the cases of one run share.
type suite struct {
	cloud         Cloud
	admin, member *login
	flavor, large string // IDs
	image         string // ID
	rooms         chan *room
	names         chan int // a number for each new name
}

// newSuite logs in, finds the flavors and the image, and makes the rooms.
func newSuite(t *testing.T, cloud Cloud) *suite {
	t.Helper()
	s := &suite{cloud: cloud, rooms: make(chan *room, len(cloud.Hosts)/2), names: make(chan int, 1)}
	s.names <- 1
	d := &desk{T: t, suite: s}
	s.admin, s.member = newLogin(d, cloud.Admin), newLogin(d, cloud.Member)
	d.admin, d.member = s.admin, s.member
	for _, f := range d.compute("2.1", http.MethodGet, "/flavors", nil).is(200).list("flavors") {
		switch f["name"] {
		case cloud.Flavor:
			s.flavor = text(f["id"])
		case cloud.Large:
			s.large = text(f["id"])
		}
	}
	images := d.service(d.admin, "image", http.MethodGet, "/v2/images?name="+url.QueryEscape(cloud.Image), nil).is(200).list("images")
	if s.flavor == "" || s.large == "" || len(images) != 1 {
		t.Fatalf("the cloud needs the flavors %s and %s and one image %s", cloud.Flavor, cloud.Large, cloud.Image)
	}
	s.image = text(images[0]["id"])
	for i := 0; i+1 < len(cloud.Hosts); i += 2 {
		s.rooms <- newRoom(d, fmt.Sprintf("contract-%d", i/2+1), cloud.Hosts[i], cloud.Hosts[i+1])
	}
	return s
}

// newName returns a name that nothing in the cloud has.
func (d *desk) newName(what string) string {
	n := <-d.suite.names
	d.suite.names <- n + 1
	return fmt.Sprintf("%s-%d", what, n)
}

// room is an availability zone of two hosts, where one case at a time has its servers.
type room struct {
	zone      string
	aggregate string // ID
	a, b      string // the hosts
}

// newRoom creates the aggregate that is the zone; it goes with the test.
func newRoom(d *desk, zone, a, b string) *room {
	d.Helper()
	made := d.compute("2.1", http.MethodPost, "/os-aggregates", object{"aggregate": object{"name": zone, "availability_zone": zone}}).is(200)
	r := &room{zone: zone, aggregate: fmt.Sprint(made.at("aggregate", "id")), a: a, b: b}
	action := "/os-aggregates/" + r.aggregate + "/action"
	for _, host := range []string{a, b} {
		d.compute("2.1", http.MethodPost, action, object{"add_host": object{"host": host}}).is(200)
	}
	d.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, host := range []string{a, b} {
			d.call(ctx, d.admin, "compute", "2.1", http.MethodPost, action, object{"remove_host": object{"host": host}}).is(200)
		}
		d.call(ctx, d.admin, "compute", "2.1", http.MethodDelete, "/os-aggregates/"+r.aggregate, nil).is(200)
	})
	return r
}

// room waits for a free room and keeps it until the case ends; then its hosts are enabled and up again.
func (d *desk) room() *room {
	d.Helper()
	r := <-d.suite.rooms
	d.Cleanup(func() {
		defer func() { d.suite.rooms <- r }()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, host := range []string{r.a, r.b} {
			found := d.call(ctx, d.admin, "compute", "2.53", http.MethodGet, "/os-services?binary=nova-compute&host="+host,
				nil).is(200).list("services")
			if len(found) != 1 {
				d.Errorf("host %s has %d compute services", host, len(found))
				continue
			}
			if s := found[0]; s["status"] != "enabled" || s["forced_down"] != false {
				d.call(ctx, d.admin, "compute", "2.53", http.MethodPut, "/os-services/"+text(s["id"]),
					object{"status": "enabled", "forced_down": false}).is(200)
			}
		}
	})
	return r
}

// other returns the room's other host.
func (r *room) other(host string) string {
	if host == r.a {
		return r.b
	}
	return r.a
}

// serviceOf returns the compute service of a host, as 2.53 shows it.
func (d *desk) serviceOf(host string) object {
	d.Helper()
	found := d.compute("2.53", http.MethodGet, "/os-services?binary=nova-compute&host="+host, nil).is(200).list("services")
	if len(found) != 1 {
		d.Fatalf("host %s has %d compute services", host, len(found))
	}
	return found[0]
}

// setService changes the compute service of a host and returns its new state.
func (d *desk) setService(host string, change object) object {
	d.Helper()
	changed := d.compute("2.53", http.MethodPut, "/os-services/"+text(d.serviceOf(host)["id"]), change).is(200)
	service, _ := changed.at("service").(object)
	return service
}

// moment parses a time as the APIs write it in lists of servers.
func (d *desk) moment(written any) time.Time {
	d.Helper()
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05.000000", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text(written)); err == nil {
			return at
		}
	}
	d.Fatalf("%v is no time", written)
	return time.Time{}
}
