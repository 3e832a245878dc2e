package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// forbidden is a world whose OpenStack refuses to serve the sources, for one reason, and whose management cluster is there.
func forbidden(ids ...core.SourceID) *core.Snapshot {
	s := world()
	for _, id := range ids {
		s.Sources[id] = core.Source{ID: id, State: core.SourceForbidden, Since: fixtureWall,
			Err: &core.APIError{Kind: core.ErrForbidden, Server: core.ServerOpenStack, Status: 403,
				Call: "ask Nova for its API versions", Message: "Policy doesn't allow this operation to be performed.",
				Remedy: "it needs the role admin"}}
	}
	s.Sources[core.SourceMachines] = core.Source{ID: core.SourceMachines, State: core.SourceLive, AsOf: fixtureWall}
	return s
}

// In 80 columns a healthy server is not cut to make room for another one's text, and neither is the played controller.
func TestTheHeaderCutsNoServer(t *testing.T) {
	s := forbidden(core.SourceComputeServices, core.SourceInstances, core.SourceMigrations)
	s.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack}}
	s.Write = core.WriteMode{Armed: true, Mine: true, Lease: "anna@jump01"}
	head := strings.Split(stripped(drive(s, 80, 24).shows()), "\n")[1]
	for _, want := range []string{"● kubernetes", "○ openstack forbidden", "● management", "as openstack", "lease: yours"} {
		if !strings.Contains(head, want) {
			t.Errorf("%q is not in %q", want, head)
		}
	}
	if head := strings.Split(stripped(drive(forbidden(core.SourceInstances, core.SourceMigrations), 80, 24).shows()),
		"\n")[1]; !strings.Contains(head, "● management ") || strings.Contains(head, "…") {
		t.Errorf("a server is cut: %q", head)
	}
}

// In 80 columns the name of who holds the lease hides no server, however long it is.
func TestAHolderOfTheLeaseHidesNoServer(t *testing.T) {
	long := "anna (root@jumphost-fra-01 from 10.20.30.40)"
	for want, write := range map[string]core.WriteMode{
		"lease: anna (root@": {Lease: long},
		"lease: yours":       {Armed: true, Mine: true, Lease: long},
		"anna (root@jumphos": {},
	} {
		s := forbidden()
		s.Operator, s.Write = long, write
		head := strings.Split(stripped(drive(s, 80, 24).shows()), "\n")[1]
		for _, want := range []string{"● kubernetes", "● openstack", "● management", want} {
			if !strings.Contains(head, want) {
				t.Errorf("%q is not in %q", want, head)
			}
		}
	}
}

// troubled is a world in which all sources of a server are in one state, for one reason.
func troubled(s *core.Snapshot, server core.Server, state core.SourceState, age time.Duration, err core.APIError) *core.Snapshot {
	for id := range s.Sources {
		if id.Server() == server {
			own := err
			own.Server = server
			src := core.Source{ID: id, State: state, Since: fixtureWall.Add(-age), Err: &own, Next: fixtureWall.Add(20 * time.Second)}
			if state == core.SourceStale {
				src.AsOf = fixtureWall.Add(-age)
			}
			s.Sources[id] = src
		}
	}
	return s
}

// A server that cannot be seen at all says why, first and with the worst glyph, at every width; nothing else in the line takes
// the cause's room.
func TestWhyAServerCannotBeSeenIsNeverCut(t *testing.T) {
	refused := core.APIError{Kind: core.ErrUnauthorized, Status: 401, Call: "log in to admin at https://keystone.example:443/v3",
		Message: "The request you have made requires authentication."}
	away := core.APIError{Kind: core.ErrUnreachable, Call: "list nodes", Message: "dial tcp 10.0.0.1:443: connect: connection refused"}
	both := troubled(troubled(world(), core.ServerOpenStack, core.SourceFailed, time.Minute, refused), core.ServerKubernetes,
		core.SourceStale, 2*time.Minute, away)
	both.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack}}
	both.Write = core.WriteMode{Armed: true, Mine: true, Lease: "anna@jump01"}
	both.Sources[core.SourceMachines] = core.Source{ID: core.SourceMachines, State: core.SourceLive, AsOf: fixtureWall}
	// A source that was forbidden before is no better, and does not represent the server.
	src := both.Sources[core.SourceTempestJob]
	src.ID, src.State, src.Err = core.SourceTempestJob, core.SourceForbidden, &core.APIError{Kind: core.ErrForbidden, Message: "no"}
	both.Sources[core.SourceTempestJob] = src
	for _, size := range sizes {
		head := strings.Split(stripped(drive(both, size.w, size.h).shows()), "\n")[1]
		for _, want := range []string{"x kubernetes unreachable", "x openstack login refused"} {
			if !strings.Contains(head, want) {
				t.Errorf("%d columns: %q is not in %q", size.w, want, head)
			}
		}
	}
	one := troubled(world(), core.ServerOpenStack, core.SourceFailed, time.Minute, refused)
	head := strings.Split(stripped(drive(one, 200, 60).shows()), "\n")[1]
	if !strings.Contains(head, "x openstack login refused: The request you have made requires authentication, again in 20 s") {
		t.Errorf("in 200 columns it says %q", head)
	}
	if frame := stripped(drive(one, 80, 24).keys("1").shows()); strings.Count(frame, "█  openstack  login refused: ") != 1 ||
		strings.Count(frame, "  openstack  ") != 1 {
		t.Errorf("it is not told once:\n%s", frame)
	}
}

// A server that is away is one trouble, in however many words its sources say so.
func TestAServerThatIsAwayIsOneTrouble(t *testing.T) {
	s := troubled(world(), core.ServerKubernetes, core.SourceStale, 2*time.Minute,
		core.APIError{Kind: core.ErrUnreachable, Call: "list nodes", Message: "connection refused"})
	n := 0
	for id, src := range s.Sources {
		if n++; id.Server() == core.ServerKubernetes && n%2 == 0 {
			src.Err = &core.APIError{Kind: core.ErrServer, Status: 502, Server: core.ServerKubernetes, Call: "list x", Message: "bad gateway"}
			s.Sources[id] = src
		}
	}
	if head := strings.Split(stripped(drive(s, 200, 60).shows()), "\n")[1]; !strings.HasPrefix(head, " x kubernetes ") ||
		strings.Contains(head, " more") || strings.Contains(head, "nodes") {
		t.Errorf("it says %q", head)
	}
	for _, h := range healths(s) {
		if h.label == "kubernetes" && !h.whole {
			t.Error("it is not all of it")
		}
	}
}

// Trouble that several sources share is reported once, with the names of all.
func TestOneTroubleIsToldOnce(t *testing.T) {
	s := forbidden(core.SourceInstances, core.SourceMigrations)
	s.Instances, s.ByHost, s.Migrations = core.Instances{}, map[string][]*core.Instance{}, map[string][]*core.Migration{}
	frame := stripped(drive(s, 80, 24).keys("4").shows())
	if !strings.Contains(frame, "Not allowed: instances, migrations.") || strings.Count(frame, "call: ask Nova for its API versions") != 1 {
		t.Errorf("it is not told once:\n%s", frame)
	}
	src := s.Sources[core.SourceMigrations]
	src.Err = &core.APIError{Kind: core.ErrForbidden, Server: core.ServerOpenStack, Status: 403, Call: "list migrations", Message: "no"}
	s.Sources[core.SourceMigrations] = src
	frame = stripped(drive(s, 80, 24).keys("4").shows())
	if !strings.Contains(frame, "Not allowed: instances.") || !strings.Contains(frame, "Not allowed: migrations.") {
		t.Errorf("two troubles are not told apart:\n%s", frame)
	}
}
