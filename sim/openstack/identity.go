package openstack

import (
	"cmp"
	"net/http"
	"slices"
)

// roleNames are the roles that exist.
var roleNames = []string{"admin", "member", "reader"}

// seedIdentity creates the projects, users and the application credential of every cloud.
func (c *Cloud) seedIdentity() {
	admin := c.addProject("admin")
	demo := c.addProject("demo")
	a := c.addUser(UserSpec{Name: "admin", Password: c.hexID("password", "admin"), Roles: []string{"admin", "member", "reader"}}, admin)
	a.systemAdmin = true
	c.addUser(UserSpec{Name: "demo", Password: c.hexID("password", "demo"), Roles: []string{"member", "reader"}, DefaultProject: true}, demo)
	cred := &appCredential{id: c.hexID("application-credential", "lockstep"), name: "lockstep", secret: c.hexID("secret", "lockstep"),
		user: a, project: admin, roles: []string{"admin"}}
	c.appCreds[cred.id] = cred
}

func (c *Cloud) addProject(name string) *project {
	p := &project{id: c.hexID("project", name), name: name}
	c.projects[p.id] = p
	return p
}

func (c *Cloud) addUser(spec UserSpec, p *project) *user {
	u := &user{id: c.hexID("user", spec.Name), name: spec.Name, email: spec.Email, password: spec.Password,
		roles: map[string][]string{p.id: slices.Clone(spec.Roles)}}
	if spec.DefaultProject {
		u.defaultProject = p
	}
	c.users[u.id] = u
	c.owners = nil
	return u
}

func (c *Cloud) identityRoutes() []route {
	const get = http.MethodGet
	return append(peopleRoutes(), []route{
		{method: get, path: "", public: true, do: identityVersions},
		{method: get, path: "/{$}", public: true, do: identityVersions},
		{method: get, path: "/v3", public: true, do: identityV3},
		{method: get, path: "/v3/{$}", public: true, do: identityV3},
		{method: http.MethodPost, path: "/v3/auth/tokens", public: true, do: issueToken},
		{method: get, path: "/v3/auth/tokens", do: showToken}, // HEAD too
		{method: http.MethodDelete, path: "/v3/auth/tokens", do: revokeToken},
		{method: get, path: "/v3/auth/catalog", do: func(k *call) reply { return ok(object{"catalog": k.catalog()}) }},
		{method: get, path: "/v3/auth/projects", do: ownProjects},
		{method: get, path: "/v3/auth/domains", do: func(*call) reply { return ok(object{"domains": []object{}}) }},
		{method: get, path: "/v3/auth/system", do: func(*call) reply { return ok(object{"system": []object{}}) }},
		{method: get, path: "/v3/projects", do: listProjects},
		{method: get, path: "/v3/projects/{id}", do: showProject},
		{method: get, path: "/v3/users", policy: "identity:list_users", do: listUsers},
		{method: get, path: "/v3/users/{id}", do: showUser},
		{method: get, path: "/v3/users/{id}/projects", do: userProjects},
		{method: get, path: "/v3/users/{id}/application_credentials", do: listAppCredentials},
		{method: get, path: "/v3/domains", policy: "identity:list_domains", do: listDomains},
		{method: get, path: "/v3/domains/{id}", do: showDomain},
		{method: get, path: "/v3/roles", policy: "identity:list_roles", do: listRoles},
		{method: get, path: "/v3/roles/{id}", policy: "identity:get_role", do: showRole},
		{method: get, path: "/v3/role_assignments", policy: "identity:list_role_assignments", do: listRoleAssignments},
		{method: get, path: "/v3/projects/{project}/users/{user}/roles", policy: "identity:list_grants", do: listGrants},
		{method: get, path: "/v3/regions", do: listRegions},
		{method: get, path: "/v3/services", policy: "identity:list_services", do: listCatalogServices},
		{method: get, path: "/v3/endpoints", policy: "identity:list_endpoints", do: listEndpoints},
	}...)
}

func (k *call) identityVersion() object {
	return object{"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
		"links":       []object{{"rel": "self", "href": k.base + "/v3/"}},
		"media-types": []object{{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}}}
}

func identityVersions(k *call) reply {
	return reply{status: http.StatusMultipleChoices, body: object{"versions": object{"values": []object{k.identityVersion()}}}}
}

func identityV3(k *call) reply { return ok(object{"version": k.identityVersion()}) }

// listed wraps a Keystone collection with its links.
func (k *call) listed(name string, items []object) reply {
	if items == nil {
		items = []object{}
	}
	return ok(object{name: items, "links": object{"next": nil, "previous": nil, "self": k.base + k.r.URL.Path[len("/identity"):]}})
}

func (k *call) identityMissing(kind, id string) reply {
	return errorOf(keystone, http.StatusNotFound, "Could not find "+kind+": "+id+".")
}

func (k *call) projectView(p *project) object {
	return object{"id": p.id, "name": p.name, "description": p.description, "domain_id": "default", "parent_id": "default",
		"enabled": true, "is_domain": false, "tags": []string{}, "options": object{}, "links": object{"self": k.base + "/v3/projects/" + p.id}}
}

func (k *call) userView(u *user) object {
	v := object{"id": u.id, "name": u.name, "domain_id": "default", "enabled": true, "password_expires_at": nil,
		"options": object{}, "links": object{"self": k.base + "/v3/users/" + u.id}}
	if u.email != "" {
		v["email"] = u.email
	}
	if u.defaultProject != nil {
		v["default_project_id"] = u.defaultProject.id
	}
	return v
}

func (c *Cloud) sortedProjects() []*project {
	var list []*project
	for _, p := range c.projects {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *project) int { return cmp.Compare(a.name, b.name) })
	return list
}

func (c *Cloud) sortedUsers() []*user {
	var list []*user
	for _, u := range c.users {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b *user) int { return cmp.Compare(a.name, b.name) })
	return list
}

// inDefaultDomain tells whether a filter on the domain, if any, matches the only domain.
func (k *call) inDefaultDomain() bool {
	d := k.query.Get("domain_id")
	return d == "" || d == "default"
}

func ownProjects(k *call) reply { return k.projectsOf(k.token.user) }

func (k *call) projectsOf(u *user) reply {
	var items []object
	for _, p := range k.c.sortedProjects() {
		if len(u.roles[p.id]) > 0 {
			items = append(items, k.projectView(p))
		}
	}
	return k.listed("projects", items)
}

func listProjects(k *call) reply {
	if !k.token.admin() {
		return forbidden(keystone, "identity:list_projects")
	}
	var items []object
	for _, p := range k.c.sortedProjects() {
		if name := k.query.Get("name"); k.inDefaultDomain() && (name == "" || name == p.name) && !flag(k.query, "is_domain") {
			items = append(items, k.projectView(p))
		}
	}
	return k.listed("projects", items)
}

func showProject(k *call) reply {
	id := k.r.PathValue("id")
	if !k.token.admin() && k.token.projectID() != id {
		return forbidden(keystone, "identity:get_project")
	}
	p := k.c.projects[id]
	if p == nil {
		return k.identityMissing("project", id)
	}
	return ok(object{"project": k.projectView(p)})
}

func listUsers(k *call) reply {
	var items []object
	for _, u := range k.c.sortedUsers() {
		if name := k.query.Get("name"); k.inDefaultDomain() && (name == "" || name == u.name) {
			items = append(items, k.userView(u))
		}
	}
	return k.listed("users", items)
}

// visibleUser returns the user in the path, if the token may see it.
func (k *call) visibleUser(rule string) (*user, *reply) {
	id := k.r.PathValue("id")
	if !k.token.admin() && k.token.user.id != id {
		r := forbidden(keystone, rule)
		return nil, &r
	}
	u := k.c.users[id]
	if u == nil {
		r := k.identityMissing("user", id)
		return nil, &r
	}
	return u, nil
}

func showUser(k *call) reply {
	u, no := k.visibleUser("identity:get_user")
	if no != nil {
		return *no
	}
	return ok(object{"user": k.userView(u)})
}

func userProjects(k *call) reply {
	u, no := k.visibleUser("identity:list_user_projects")
	if no != nil {
		return *no
	}
	return k.projectsOf(u)
}

func listAppCredentials(k *call) reply {
	u, no := k.visibleUser("identity:list_application_credentials")
	if no != nil {
		return *no
	}
	var items []object
	for _, a := range k.c.appCreds {
		if a.user == u {
			items = append(items, object{"id": a.id, "name": a.name, "project_id": a.project.id, "description": nil, "expires_at": nil,
				"unrestricted": false, "roles": k.c.roleViews(a.roles), "system": nil})
		}
	}
	return k.listed("application_credentials", items)
}

func (k *call) domainView() object {
	return object{"id": "default", "name": "Default", "description": "The default domain", "enabled": true, "tags": []string{},
		"options": object{}, "links": object{"self": k.base + "/v3/domains/default"}}
}

func listDomains(k *call) reply {
	if name := k.query.Get("name"); name != "" && name != "Default" {
		return k.listed("domains", nil)
	}
	return k.listed("domains", []object{k.domainView()})
}

func showDomain(k *call) reply {
	if id := k.r.PathValue("id"); id != "default" {
		return k.identityMissing("domain", id)
	}
	return ok(object{"domain": k.domainView()})
}

// roleID is the fixed ID of a role.
func (c *Cloud) roleID(name string) string { return c.fixedID("role", name) }

func (c *Cloud) roleViews(names []string) []object {
	views := []object{}
	for _, n := range names {
		views = append(views, object{"id": c.roleID(n), "name": n})
	}
	return views
}

func (k *call) roleView(name string) object {
	id := k.c.roleID(name)
	return object{"id": id, "name": name, "domain_id": nil, "description": nil, "options": object{},
		"links": object{"self": k.base + "/v3/roles/" + id}}
}

func listRoles(k *call) reply {
	var items []object
	for _, n := range roleNames {
		if name := k.query.Get("name"); name == "" || name == n {
			items = append(items, k.roleView(n))
		}
	}
	return k.listed("roles", items)
}

func showRole(k *call) reply {
	id := k.r.PathValue("id")
	for _, n := range roleNames {
		if k.c.roleID(n) == id {
			return ok(object{"role": k.roleView(n)})
		}
	}
	return k.identityMissing("role", id)
}

func listRoleAssignments(k *call) reply {
	named := flag(k.query, "include_names")
	ref := func(id, name string, domain bool) object {
		o := object{"id": id}
		if named {
			o["name"] = name
			if domain {
				o["domain"] = object{"id": "default", "name": "Default"}
			}
		}
		return o
	}
	var items []object
	for _, u := range k.c.sortedUsers() {
		if id := k.query.Get("user.id"); id != "" && id != u.id {
			continue
		}
		for _, p := range k.c.sortedProjects() {
			if id := k.query.Get("scope.project.id"); id != "" && id != p.id || k.query.Has("scope.system") {
				continue
			}
			for _, name := range u.roles[p.id] {
				if id := k.query.Get("role.id"); id != "" && id != k.c.roleID(name) {
					continue
				}
				items = append(items, object{"role": ref(k.c.roleID(name), name, false), "user": ref(u.id, u.name, true),
					"scope": object{"project": ref(p.id, p.name, true)},
					"links": object{"assignment": k.base + "/v3/projects/" + p.id + "/users/" + u.id + "/roles/" + k.c.roleID(name)}})
			}
		}
	}
	return k.listed("role_assignments", items)
}

func listGrants(k *call) reply {
	u := k.c.users[k.r.PathValue("user")]
	if u == nil {
		return k.identityMissing("user", k.r.PathValue("user"))
	}
	var items []object
	for _, n := range u.roles[k.r.PathValue("project")] {
		items = append(items, k.roleView(n))
	}
	return k.listed("roles", items)
}

func listRegions(k *call) reply {
	return k.listed("regions", []object{{"id": k.c.opts.Region, "description": "", "parent_region_id": nil}})
}
