//go:build !race

package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"lockstep/sim/openstack"

	"lockstep/sim/bubble"
)

// instance returns the state of an instance of the scenario.
func (s *told) instance(name string) openstack.ServerState {
	s.t.Helper()
	state, ok := s.OpenStack.ServerNamed(name)
	if !ok {
		s.t.Fatalf("there is no instance %s", name)
	}
	return state
}

// isOn tells whether an instance is on a machine.
func (s *told) isOn(name, machine string) bool {
	s.t.Helper()
	return s.instance(name).Host == s.name(machine)
}

// isHeld waits until OpenStack's lock of a machine names the instances that hold it: those whose owners must be
// notified, and those that were not migrated.
func (s *told) isHeld(machine string, notify, unset []string) {
	s.t.Helper()
	words := []string{"Some servers are still present on the host."}
	for _, part := range []struct {
		words string
		names []string
	}{{"Notify owners of the following server: [", notify}, {"Servers with unset maintenance action: [", unset}} {
		if len(part.names) > 0 {
			words = append(words, part.words)
		}
		for _, name := range part.names {
			words = append(words, s.instance(name).ID)
		}
	}
	s.until("the lock of "+machine+" says: "+strings.Join(words, " … "), func() bool {
		lock := s.nodeLock("openstack", machine)
		for _, word := range words {
			if !says(lock, word) {
				return false
			}
		}
		return field(lock, "status", "state") == "active"
	})
}

// migrations returns the statuses of an instance's migrations, newest first.
func (s *told) migrations(name string) []string {
	s.t.Helper()
	var body struct {
		Migrations []struct {
			Status string `json:"status"`
		} `json:"migrations"`
	}
	if _, err := s.compute.Get(s.t.Context(), s.compute.ServiceURL("os-migrations")+"?instance_uuid="+s.instance(name).ID, &body,
		nil); err != nil {
		s.t.Fatalf("list the migrations of %s: %v", name, err)
	}
	var statuses []string
	for _, m := range body.Migrations {
		statuses = append(statuses, m.Status)
	}
	return statuses
}

// stop stops an instance as its owner would, and waits until it is down.
func (s *told) stop(name string) {
	s.t.Helper()
	if err := servers.Stop(s.t.Context(), s.compute, s.instance(name).ID).ExtractErr(); err != nil {
		s.t.Fatalf("stop %s: %v", name, err)
	}
	s.until(name+" is stopped", func() bool { return s.instance(name).Status == "SHUTOFF" })
}

func TestNotifyOnSkip(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "notify-on-skip")
		s.isHeld("cmp-02", []string{"licence"}, nil)
		if lock := s.nodeLock("openstack", "cmp-02"); says(lock, s.instance("batch-1").ID) {
			t.Errorf("an instance that may go down with the host holds it: %s", field(lock, "status", "errorMessage"))
		}
		s.stop("licence")
		s.until("cmp-02 is updated with its instances on it", func() bool { return s.updated("cmp-02") })
		if !s.isOn("batch-1", "cmp-02") {
			t.Error("batch-1 has left the node that is skipped")
		}
	})
}

func TestTwoTags(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "two-tags")
		s.isHeld("cmp-01", []string{"report-9"}, nil)
		s.until("report-8 is migrated as its tag says", func() bool { return !s.isOn("report-8", "cmp-01") })
		if !s.isOn("print", "cmp-01") {
			t.Error("print has left, though its tag says that it goes down with its node")
		}
		s.stop("report-9")
		s.until("mail is migrated off cmp-02, though one of its tags says that its owner is to be asked",
			func() bool { return !s.isOn("mail", "cmp-02") })
	})
}

func TestMigrationsFail(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "migrations-fail")
		s.isHeld("cmp-01", nil, []string{"pinned"})
		s.until("flaky and unlucky have moved", func() bool { return !s.isOn("flaky", "cmp-01") && !s.isOn("unlucky", "cmp-01") })
		s.stop("pinned")
		s.until("busy is migrated and does not get through", func() bool {
			return s.instance("busy").Status == "MIGRATING" && says(s.nodeLock("openstack", "cmp-02"), s.instance("busy").ID)
		})
		s.until("quiet has moved", func() bool { return !s.isOn("quiet", "cmp-02") })
	})
}

func TestNoValidHost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "no-valid-host")
		s.isHeld("cmp-01", nil, []string{"erp-db"})
		s.until("what fits has moved", func() bool { return s.isOn("erp-app", "cmp-02") })
		s.until("Nova's record is all that tells of the migration that failed", func() bool {
			return slices.Contains(s.migrations("erp-db"), "error")
		})
		// The owner deletes the blocking instance.
		if err := s.OpenStack.DeleteServer(s.instance("dwh").ID); err != nil {
			t.Fatal(err)
		}
		s.until("there is room for erp-db", func() bool { return s.isOn("erp-db", "cmp-02") })
	})
}

func TestErrorWithPower(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "error-with-power")
		s.isHeld("cmp-01", nil, []string{"broken-boot", "half-built"})
		if lock := s.nodeLock("openstack", "cmp-01"); says(lock, s.instance("crashed").ID) {
			t.Errorf("an instance that is down holds the node: %s", field(lock, "status", "errorMessage"))
		}
		if err := servers.ResetState(t.Context(), s.compute, s.instance("broken-boot").ID, servers.StateActive).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		s.until("broken-boot is migrated as any other", func() bool { return !s.isOn("broken-boot", "cmp-01") })
	})
}

func TestVerifyResize(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "verify-resize")
		s.isHeld("cmp-01", nil, []string{"app-1"})
		if err := servers.ConfirmResize(t.Context(), s.compute, s.instance("app-1").ID).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		s.until("app-1 is migrated as any other", func() bool { return !s.isOn("app-1", "cmp-01") })
		if err := servers.RevertResize(t.Context(), s.compute, s.instance("app-2").ID).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		s.until("app-2 is back where it was, or moved on from there",
			func() bool { return s.instance("app-2").Status == "ACTIVE" && !s.isOn("app-2", "cmp-02") })
	})
}

func TestFleetOf50(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "fleet-50")
		if n, m := len(s.Scenario.Nodes), len(s.Scenario.Instances); n != 50 || m != 1000 {
			t.Fatalf("%d nodes and %d instances", n, m)
		}
		there := map[string]bool{} // not all at the same moment: who waits is looked at again, and says something else meanwhile
		s.until("the computes that were under way are through, or have waited for the operator", func() bool {
			left := 0
			for _, n := range s.Scenario.Nodes {
				if n.Began == 0 || there[n.Machine] {
					continue
				}
				there[n.Machine] = s.updated(n.Machine) || says(s.nodeLock("openstack", n.Machine), "Some servers are still present on the host.")
				if !there[n.Machine] {
					left++
				}
			}
			return left == 0
		})
	})
}
