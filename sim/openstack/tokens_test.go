package openstack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"lockstep/sim/openstack"
)

func TestEveryCloudOfCloudsYAMLLogsIn(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	for name, want := range map[string]struct{ project, role string }{
		"sim": {"admin", "admin"}, "sim-appcred": {"admin", "admin"}, "sim-demo": {"demo", "member"},
	} {
		p, _, err := w.provider(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		result, ok := p.GetAuthResult().(tokens.CreateResult)
		if !ok {
			t.Fatalf("%s: auth result is a %T", name, p.GetAuthResult())
		}
		project, err := result.ExtractProject()
		if err != nil || project.Name != want.project {
			t.Errorf("%s: project %v, %v; want %s", name, project, err, want.project)
		}
		roles, err := result.ExtractRoles()
		if err != nil || len(roles) == 0 || roles[0].Name != want.role {
			t.Errorf("%s: roles %v, %v; want %s first", name, roles, err, want.role)
		}
	}
}

func TestWrongPasswordIsKeystonesOwn401(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	_, err := client.AuthenticatedClient(t.Context(),
		gophercloud.AuthOptions{IdentityEndpoint: w.AuthURL(), Username: "admin", Password: "wrong",
			DomainName: "Default", TenantName: "admin"})
	if statusOf(err) != http.StatusUnauthorized || !strings.Contains(err.Error(), "The request you have made requires authentication.") {
		t.Fatalf("got %v", err)
	}
}

func TestScopeOfAProjectWithoutARoleIsRefused(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if _, err := w.AddUser(openstack.UserSpec{Name: "eve", Password: "pw", Project: "demo", Roles: []string{"member"}}); err != nil {
		t.Fatal(err)
	}
	login := func(project string) error {
		_, err := client.AuthenticatedClient(t.Context(), gophercloud.AuthOptions{IdentityEndpoint: w.AuthURL(), Username: "eve", Password: "pw",
			DomainName: "Default", TenantName: project})
		return err
	}
	if err := login("demo"); err != nil {
		t.Errorf("her own project: %v", err)
	}
	if err := login("admin"); statusOf(err) != http.StatusUnauthorized {
		t.Errorf("another project: %v, want 401", err)
	}
}

func TestVersionDiscoveryFindsKeystone(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if _, err := w.AddUser(openstack.UserSpec{Name: "eve", Password: "pw", Project: "demo", Roles: []string{"member"}}); err != nil {
		t.Fatal(err)
	}
	_, err := client.AuthenticatedClient(t.Context(),
		gophercloud.AuthOptions{IdentityEndpoint: strings.TrimSuffix(w.AuthURL(), "v3"), Username: "eve",
			Password: "pw", DomainName: "Default", TenantName: "demo"})
	if err != nil {
		t.Fatal(err)
	}
}

func TestExpiredTokenIsRefusedAndReauthenticationGoesOn(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.compute("sim", "2.53")
	before := c.Token()
	w.ExpireTokens()
	if _, err := services.List(c, nil).AllPages(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Token() == before {
		t.Error("the client went on with the expired token")
	}
	w.ExpireTokens()
	c.ReauthFunc = nil
	if _, err := services.List(c, nil).AllPages(t.Context()); statusOf(err) != http.StatusUnauthorized {
		t.Errorf("without reauthentication: %v, want 401", err)
	}
}

func TestRevokedTokenIsRefused(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	p, endpoint, err := w.provider("sim-demo")
	if err != nil {
		t.Fatal(err)
	}
	id, err := client.NewIdentityV3(p, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p.ReauthFunc = nil
	if ok, err := tokens.Validate(t.Context(), id, p.Token()); !ok || err != nil {
		t.Fatalf("validate: %v, %v", ok, err)
	}
	if err := tokens.Revoke(t.Context(), id, p.Token()).Err; err != nil {
		t.Fatal(err)
	}
	if _, err := projects.ListAvailable(id).AllPages(t.Context()); statusOf(err) != http.StatusUnauthorized {
		t.Errorf("after revocation: %v, want 401", err)
	}
}

func TestProjectsAreListedForTheAdminOnly(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	if _, err := w.AddProject("shop"); err != nil {
		t.Fatal(err)
	}
	list := func(cloud string, opts projects.ListOpts) ([]projects.Project, error) {
		p, endpoint, err := w.provider(cloud)
		if err != nil {
			t.Fatal(err)
		}
		id, err := client.NewIdentityV3(p, endpoint)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := projects.List(id, opts).AllPages(t.Context())
		if err != nil {
			return nil, err
		}
		return projects.ExtractProjects(pages)
	}
	all, err := list("sim", projects.ListOpts{})
	if err != nil || len(all) != 3 {
		t.Errorf("admin: %v, %v; want 3 projects", all, err)
	}
	one, err := list("sim", projects.ListOpts{Name: "shop"})
	if err != nil || len(one) != 1 || one[0].Name != "shop" {
		t.Errorf("by name: %v, %v", one, err)
	}
	if _, err := list("sim-demo", projects.ListOpts{}); statusOf(err) != http.StatusForbidden ||
		!strings.Contains(err.Error(), "identity:list_projects") {
		t.Errorf("member: %v, want 403 naming the rule", err)
	}
}
