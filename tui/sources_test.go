package tui

import (
	"strings"
	"testing"

	"lockstep/core"
)

// forbidden is a world whose OpenStack refuses to tell of the sources, for one reason, and whose management cluster is there.
func forbidden(ids ...core.SourceID) *core.Snapshot {
	s := world()
	for _, id := range ids {
		s.Sources[id] = core.Source{ID: id, State: core.SourceForbidden, Since: fixtureWall, Err: &core.APIError{Kind: core.ErrForbidden, Server: core.ServerOpenStack, Status: 403,
			Call: "ask Nova for its API versions", Message: "Policy doesn't allow this operation to be performed.", Remedy: "it needs the role admin"}}
	}
	s.Sources[core.SourceMachines] = core.Source{ID: core.SourceMachines, State: core.SourceLive, AsOf: fixtureWall}
	return s
}

// In 80 columns a server that is well is not cut for the sake of another one's words, nor is who acts as what.
func TestTheHeaderCutsNoServer(t *testing.T) {
	s := forbidden(core.SourceComputeServices, core.SourceInstances, core.SourceMigrations)
	s.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack}}
	s.Write = core.WriteMode{Armed: true, Mine: true, Lease: "anna@jump01"}
	head := strings.Split(stripped(drive(s, 80, 24).shows()), "\n")[1]
	for _, want := range []string{"● kubernetes", "○ openstack forbidden", "as openstack", "holds the lease"} {
		if !strings.Contains(head, want) {
			t.Errorf("%q is not in %q", want, head)
		}
	}
	if head := strings.Split(stripped(drive(forbidden(core.SourceInstances, core.SourceMigrations), 80, 24).shows()), "\n")[1]; !strings.Contains(head, "● management ") || strings.Contains(head, "…") {
		t.Errorf("a server is cut: %q", head)
	}
}

// What is the matter with several sources alike is said once, with the names of all.
func TestOneTroubleIsToldOnce(t *testing.T) {
	s := forbidden(core.SourceInstances, core.SourceMigrations)
	s.Instances, s.ByHost, s.Migrations = map[string]*core.Instance{}, map[string][]*core.Instance{}, map[string][]*core.Migration{}
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
