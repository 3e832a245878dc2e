package openstack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"lockstep/sim/openstack"
)

func TestColdMigrationIsConfirmedOrReverted(t *testing.T) {
	for _, test := range []struct {
		name, status, action string
		code                 int
		record, end          string // the end on the target t or the source s
	}{
		{"confirm", "ACTIVE", "confirmResize", 204, "confirmed", "ACTIVE t"},
		{"revert", "ACTIVE", "revertResize", 202, "reverted", "ACTIVE s"},
		{"confirm a stopped one", "SHUTOFF", "confirmResize", 204, "confirmed", "SHUTOFF t"},
		{"revert a stopped one", "SHUTOFF", "revertResize", 202, "reverted", "SHUTOFF s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			id := w.server("vm", openstack.ServerSpec{Status: test.status})
			c := w.compute("sim", "2.56")
			w.act(c, id, "migrate", map[string]string{"host": "n3"}, 202, "")
			w.wantState(id, "RESIZE n1 resize_prep")
			w.act(c, id, "confirmResize", nil, 409, "while it is in vm_state")
			w.advance(time.Minute)
			w.wantState(id, "VERIFY_RESIZE n3")
			if got := w.record(id); got != "finished n1→n3" {
				t.Errorf("record is %q", got)
			}
			w.act(c, id, test.action, nil, test.code, "")
			w.advance(20 * time.Second)
			w.wantState(id, strings.NewReplacer(" t", " n3", " s", " n1").Replace(test.end))
			if got := w.record(id); got != test.record+" n1→n3" {
				t.Errorf("record is %q", got)
			}
			w.act(c, id, test.action, nil, 409, "while it is in vm_state")
		})
	}
}

func TestColdMigrationClaimsBothHostsUntilItIsConfirmed(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Flavor: "medium"})
	c := w.compute("sim", "2.56")
	used := func() string {
		_, body := do(t.Context(), w.compute("sim", "2.1"), http.MethodGet, "os-hypervisors/statistics", nil)
		return body
	}
	w.act(c, id, "migrate", nil, 202, "")
	w.advance(time.Minute)
	if body := used(); !strings.Contains(body, `"vcpus_used":4`) {
		t.Errorf("while unconfirmed: %s", body)
	}
	if err := servers.ConfirmResize(t.Context(), c, id).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	w.advance(10 * time.Second)
	if body := used(); !strings.Contains(body, `"vcpus_used":2`) {
		t.Errorf("once confirmed: %s", body)
	}
}

func TestColdMigrationFailures(t *testing.T) {
	for _, test := range []struct {
		name      string
		behaviour openstack.Behaviour
		state     string
		record    string
	}{
		{"no valid host", openstack.Behaviour{NoValidHost: true}, "ACTIVE n1", "error n1→"},
		{"on the source", openstack.Behaviour{FailCold: openstack.Failure{Times: 1, Text: "no space left"}}, "ACTIVE n1", "error n1→n3"},
		{"on the target", openstack.Behaviour{FailFinish: openstack.Failure{Times: 1, Text: "no such device"}}, "ERROR n3", "error n1→n3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, openstack.Options{})
			id := w.server("vm", openstack.ServerSpec{Behaviour: test.behaviour})
			c := w.compute("sim", "2.56")
			w.act(c, id, "migrate", map[string]string{"host": "n3"}, 202, "")
			w.advance(time.Minute)
			w.wantState(id, test.state)
			if got := w.record(id); got != test.record {
				t.Errorf("record is %q, want %q", got, test.record)
			}
			s, err := servers.Get(t.Context(), c, id).Extract()
			if err != nil {
				t.Fatal(err)
			}
			if s.Fault.Message != test.behaviour.FailFinish.Text {
				t.Errorf("fault is %q, want %q", s.Fault.Message, test.behaviour.FailFinish.Text)
			}
		})
	}
}

func TestColdMigrationRefusals(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	paused := w.server("paused", openstack.ServerSpec{Status: "PAUSED"})
	c := w.compute("sim", "2.56")
	w.act(c, id, "migrate", map[string]string{"host": "n1"}, 400, "Cannot migrate to the host where the server exists.")
	w.act(c, id, "migrate", map[string]string{"host": "nowhere"}, 400, "Compute host nowhere could not be found.")
	w.act(c, paused, "migrate", nil, 409, "while it is in vm_state paused")
	if err := w.StopCompute("n1"); err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Minute)
	w.act(c, id, "migrate", nil, 409, "Service is unavailable at this time.")
}

func TestASeededResizeCanBeReverted(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{Host: "n2", Status: "VERIFY_RESIZE", PreviousHost: "n4"})
	c := w.compute("sim", "2.1")
	w.act(c, id, "revertResize", nil, 202, "")
	w.wantState(id, "REVERT_RESIZE n2 resize_reverting")
	w.advance(20 * time.Second)
	w.wantState(id, "ACTIVE n4")
}

func TestResizeChangesTheFlavor(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	medium, err := w.AddFlavor(openstack.FlavorSpec{Name: "large", VCPUs: 4, RAM: 2048, Disk: 40})
	if err != nil {
		t.Fatal(err)
	}
	id := w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.47")
	if err := servers.Resize(t.Context(), c, id, servers.ResizeOpts{FlavorRef: medium}).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	s, err := servers.Get(t.Context(), c, id).Extract()
	if err != nil || s.Flavor["original_name"] != "large" || s.Status != "VERIFY_RESIZE" {
		t.Errorf("%v %v %v", s.Status, s.Flavor, err)
	}
}
