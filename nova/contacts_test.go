package nova

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// people is a cloud whose project demo has an owner and a reader beside its own user.
func people(t *testing.T) (simulated, string) {
	cloud := simCloud(t, openstack.Options{})
	for _, u := range []openstack.UserSpec{
		{Name: "jd", Email: "jd@sci.example", Project: "demo", Roles: []string{"member", "reader"}},
		{Name: "desk", Project: "demo", Roles: []string{"reader"}},
		{Name: "stranger", Email: "no@where.example", Project: "admin", Roles: []string{"reader"}},
	} {
		if _, err := cloud.AddUser(u); err != nil {
			t.Fatal(err)
		}
	}
	return cloud, projectID(t, cloud, "demo")
}

func projectID(t *testing.T, cloud simulated, name string) string {
	projects, err := simClient(t, cloud, "sim").listProjects(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(projects, func(p *core.Project) bool { return p.Name == name })
	return projects[i].ID
}

// Each member is listed once, whatever roles it has, with the e-mail that Keystone has of it.
func TestContactsOfAProject(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud, demo := people(t)
		got := simClient(t, cloud, "sim").Contacts(context.Background(), []string{demo}, []string{"gone"})
		if len(got.Missing) != 0 {
			t.Errorf("missing %+v", got.Missing)
		}
		var seen []string
		for _, id := range got.Members[demo] {
			seen = append(seen, got.People[id].Name+" "+got.People[id].Email)
		}
		slices.Sort(seen)
		if !slices.Equal(seen, []string{"demo ", "desk ", "jd jd@sci.example"}) {
			t.Errorf("members %q", seen)
		}
		if _, known := got.People["gone"]; known || len(got.People) != 3 {
			t.Errorf("people %v", slices.Collect(maps.Keys(got.People)))
		}
	})
}

// A login that may not list says so, with the policy, and still shows what it may see: its own name.
func TestContactsWithoutTheRight(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud, demo := people(t)
		c := simClient(t, cloud, "sim-demo")
		got := c.Contacts(context.Background(), []string{demo, "another"}, []string{"somebody", "else"})
		if len(got.Missing) != 2 || len(got.People) != 0 || len(got.Members) != 0 {
			t.Fatalf("%+v", got)
		}
		for i, want := range []struct{ what, policy string }{{"the members of 2 projects", "identity:list_role_assignments"},
			{"names and e-mail of 2 users", "identity:get_user"}} {
			m := got.Missing[i]
			if m.What != want.what || m.Err.Kind != core.ErrForbidden || !strings.Contains(m.Err.Remedy, want.policy) {
				t.Errorf("%s: %s, %s", m.What, m.Err, m.Err.Remedy)
			}
		}
	})
}

// When the users' details are refused, the members keep the names from the list of roles.
func TestContactsWithNamesOnly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.answer("GET /identity/v3/role_assignments", 200, `{"role_assignments": [
		{"role": {"id": "r1", "name": "member"}, "user": {"id": "u1", "name": "jd"}, "scope": {"project": {"id": "p1"}}},
		{"role": {"id": "r2", "name": "reader"}, "user": {"id": "u1", "name": "jd"}, "scope": {"project": {"id": "p1"}}},
		{"role": {"id": "r1", "name": "member"}, "group": {"id": "g1", "name": "all"}, "scope": {"project": {"id": "p1"}}}]}`)
		f.answer("GET /identity/v3/users/u1", 403,
			`{"error": {"code": 403, "title": "Forbidden",
			 "message": "You are not authorized to perform the requested action: identity:get_user."}}`)
		got := f.client().Contacts(context.Background(), []string{"p1"}, nil)
		if !slices.Equal(got.Members["p1"], []string{"u1"}) || got.People["u1"].Name != "jd" || len(got.Missing) != 1 ||
			got.Missing[0].Err.Kind != core.ErrForbidden {
			t.Errorf("%+v", got)
		}
		if q := f.seen("GET /identity/v3/role_assignments")[0].query; q != "effective=True&include_names=True&scope.project.id=p1" {
			t.Errorf("asked with %s", q)
		}
	})
}
