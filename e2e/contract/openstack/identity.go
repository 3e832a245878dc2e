package openstack

import (
	"context"
	"net/http"
	"slices"
)

const needsAuthentication = "The request you have made requires authentication."

var identityCases = []testCase{
	{"a password gives a token for the project, with its roles and the catalog", func(d *desk) {
		for l, admin := range map[*login]bool{d.admin: true, d.member: false} {
			a := d.authenticate(l, l.byPassword(l.password), l.toProject()).is(201)
			if a.header.Get("X-Subject-Token") == "" || text(a.at("token", "user", "name")) != l.user ||
				text(a.at("token", "project", "name")) != l.project {
				d.Errorf("token %s", a.raw)
			}
			if roles := field(a.list("token", "roles"), "name"); slices.Contains(roles, "admin") != admin {
				d.Errorf("%s has the roles %q", l.name, roles)
			}
			types := field(a.list("token", "catalog"), "type")
			for _, want := range []string{"compute", "identity", "image", "network", "placement"} {
				if !slices.Contains(types, want) {
					d.Errorf("the catalog has %q, no %s", types, want)
				}
			}
			issued, expires := d.moment(a.at("token", "issued_at")), d.moment(a.at("token", "expires_at"))
			if !issued.Before(expires) {
				d.Errorf("issued %s, expires %s", issued, expires)
			}
		}
	}},
	{"a token without a scope has neither roles nor catalog, lists the user's projects, and can be given a scope", func(d *desk) {
		l := d.member
		a := d.authenticate(l, l.byPassword(l.password), "unscoped").is(201)
		for _, name := range []string{"project", "roles", "catalog"} {
			if a.at("token", name) != nil {
				d.Errorf("an unscoped token has %s: %s", name, a.raw)
			}
		}
		unscoped := a.header.Get("X-Subject-Token")
		projects := d.send(d.Context(), http.MethodGet, l.authURL+"/auth/projects", http.Header{"X-Auth-Token": {unscoped}}, nil).is(200)
		if names := field(projects.list("projects"), "name"); !slices.Equal(names, []string{l.project}) {
			d.Errorf("projects %q, want %s", names, l.project)
		}
		byToken := object{"methods": []string{"token"}, "token": object{"id": unscoped}}
		scoped := d.authenticate(l, byToken, l.toProject()).is(201)
		if text(scoped.at("token", "project", "id")) != l.projectID || scoped.at("token", "expires_at") != a.at("token", "expires_at") {
			d.Errorf("token %s, want one for the project that lives as long as %s", scoped.raw, a.raw)
		}
	}},
	{"a wrong password, an unknown user and a foreign project are refused alike", func(d *desk) {
		l := d.member
		stranger := *l
		stranger.user = "nobody-of-this-name"
		for what, a := range map[string]*answer{
			"wrong password":  d.authenticate(l, l.byPassword(l.password+"x"), l.toProject()),
			"unknown user":    d.authenticate(l, stranger.byPassword(l.password), l.toProject()),
			"foreign project": d.authenticate(l, l.byPassword(l.password), d.admin.toProject()),
			"unknown project": d.authenticate(l, l.byPassword(l.password),
				object{"project": object{"name": "no-such-project", "domain": object{"name": l.domain}}}),
		} {
			a.refusedByKeystone(401, "Unauthorized", needsAuthentication)
			if got := a.header.Get("WWW-Authenticate"); got != `Keystone uri="`+l.authURL+`"` {
				d.Errorf("%s: WWW-Authenticate %q", what, got)
			}
		}
	}},
	{"a request that is none is refused with what it lacks", func(d *desk) {
		const malformed = " The server could not comply with the request since it is either malformed or otherwise incorrect. The client is " +
			"assumed to be in error."
		url := d.admin.authURL + "/auth/tokens"
		d.send(d.Context(), http.MethodPost, url, nil, object{}).refusedByKeystone(400, "Bad Request",
			"Expecting to find auth in request body."+malformed)
		d.authenticate(d.admin, object{"methods": []string{"telepathy"}}, nil).refusedByKeystone(400, "Bad Request",
			"Expecting to find telepathy in identity."+malformed)
	}},
	{"no token and a bad one are refused with 401 by every service", func(d *desk) {
		paths := map[string]string{"compute": "/servers", "network": "/v2.0/agents", "identity": "/projects"}
		for service, path := range paths {
			for _, bad := range []login{{name: "nobody", token: "", endpoints: d.admin.endpoints},
				{name: "a forger", token: "gAAAAA-not-a-token", endpoints: d.admin.endpoints}} {
				d.call(d.Context(), &bad, service, "", http.MethodGet, path, nil).refusedByKeystone(401, "Unauthorized", needsAuthentication)
			}
		}
	}},
	{"a revoked token is good for nothing any more", func(d *desk) {
		l := *d.member
		l.token = d.authenticate(&l, l.byPassword(l.password), l.toProject()).is(201).header.Get("X-Subject-Token")
		own := http.Header{"X-Auth-Token": {l.token}, "X-Subject-Token": {l.token}}
		url := l.authURL + "/auth/tokens"
		shown := d.send(d.Context(), http.MethodGet, url, own, nil).is(200)
		if text(shown.at("token", "user", "id")) != l.userID {
			d.Errorf("the token is %s", shown.raw)
		}
		d.send(d.Context(), http.MethodDelete, url, own, nil).is(204)
		d.service(&l, "identity", http.MethodGet, "/auth/projects", nil).refusedByKeystone(401, "Unauthorized", needsAuthentication)
		d.call(d.Context(), &l, "compute", "", http.MethodGet, "/servers", nil).refusedByKeystone(401, "Unauthorized", needsAuthentication)
		byAdmin := http.Header{"X-Auth-Token": {d.admin.token}, "X-Subject-Token": {l.token}}
		d.send(d.Context(), http.MethodGet, url, byAdmin, nil).refusedByKeystone(404, "Not Found", "Failed to validate token")
	}},
	{"an administrator lists projects and users, by name too", func(d *desk) {
		all := d.service(d.admin, "identity", http.MethodGet, "/projects", nil).is(200)
		if ids := field(all.list("projects"), "id"); !slices.Contains(ids, d.admin.projectID) || !slices.Contains(ids, d.member.projectID) {
			d.Errorf("projects %s", all.raw)
		}
		one := d.service(d.admin, "identity", http.MethodGet, "/projects?name="+d.member.project, nil).is(200)
		if ids := field(one.list("projects"), "id"); !slices.Equal(ids, []string{d.member.projectID}) {
			d.Errorf("projects called %s: %s", d.member.project, one.raw)
		}
		users := d.service(d.admin, "identity", http.MethodGet, "/users", nil).is(200)
		if ids := field(users.list("users"), "id"); !slices.Contains(ids, d.admin.userID) || !slices.Contains(ids, d.member.userID) {
			d.Errorf("users %s", users.raw)
		}
		d.service(d.admin, "identity", http.MethodGet, "/projects/none", nil).refusedByKeystone(404, "Not Found", "Could not find project: none.")
		d.service(d.admin, "identity", http.MethodGet, "/users/none", nil).refusedByKeystone(404, "Not Found", "Could not find user: none.")
	}},
	{"a user has the e-mail that it was made with, and is listed with the roles that it was given in a project", func(d *desk) {
		name := d.newName("contract-owner")
		made := d.service(d.admin, "identity", http.MethodPost, "/users",
			object{"user": object{"name": name, "email": name + "@contract.example"}}).is(201)
		id := text(made.at("user", "id"))
		d.Cleanup(func() {
			d.call(context.Background(), d.admin, "identity", "", http.MethodDelete, "/users/"+id, nil).is(204)
		})
		if got := d.service(d.admin, "identity", http.MethodGet, "/users/"+id, nil).is(200); got.at("user", "email") != name+
			"@contract.example" || got.at("user", "name") != name {
			d.Errorf("the user is %s", got.raw)
		}
		// Nobody set one for the others, and Keystone then shows none.
		if got := d.service(d.admin, "identity", http.MethodGet, "/users/"+d.member.userID, nil).is(200); got.at("user", "email") != nil &&
			text(got.at("user", "email")) == "" {
			d.Errorf("an e-mail that is not set is shown empty: %s", got.raw)
		}
		d.service(d.admin, "identity", http.MethodPost, "/users", object{"user": object{"name": name}}).
			refusedByKeystone(409, "Conflict", "Conflict occurred attempting to store user - Duplicate entry found with name "+name+
				" at domain ID default.")
		listed := func() []string {
			var roles []string
			a := d.service(d.admin, "identity", http.MethodGet,
				"/role_assignments?effective=True&include_names=True&scope.project.id="+d.member.projectID, nil).is(200)
			for _, r := range a.list("role_assignments") {
				who, _ := r["user"].(object)
				role, _ := r["role"].(object)
				if text(who["id"]) == id {
					if text(who["name"]) != name {
						d.Errorf("the assignment names %v", who)
					}
					roles = append(roles, text(role["name"]))
				}
			}
			return roles
		}
		if got := listed(); len(got) != 0 {
			d.Errorf("before it has a role it is listed with %q", got)
		}
		role := text(d.service(d.admin, "identity", http.MethodGet, "/roles?name=reader", nil).is(200).list("roles")[0]["id"])
		grant := "/projects/" + d.member.projectID + "/users/" + id + "/roles/" + role
		d.service(d.admin, "identity", http.MethodPut, grant, nil).is(204)
		d.service(d.admin, "identity", http.MethodPut, grant, nil).is(204)
		if got := listed(); !slices.Equal(got, []string{"reader"}) {
			d.Errorf("it is listed with %q, want reader", got)
		}
	}},
	{"a member may not list what belongs to others", func(d *desk) {
		for path, rule := range map[string]string{
			"/projects": "identity:list_projects", "/users": "identity:list_users", "/services": "identity:list_services",
			"/endpoints": "identity:list_endpoints", "/roles": "identity:list_roles", "/domains": "identity:list_domains",
			"/projects/" + d.admin.projectID: "identity:get_project", "/users/" + d.admin.userID: "identity:get_user",
			"/role_assignments": "identity:list_role_assignments",
		} {
			d.service(d.member, "identity", http.MethodGet, path, nil).
				refusedByKeystone(403, "Forbidden", "You are not authorized to perform the requested action: "+rule+".")
		}
	}},
	{"the catalog is that of the token", func(d *desk) {
		a := d.service(d.member, "identity", http.MethodGet, "/auth/catalog", nil).is(200)
		for _, service := range a.list("catalog") {
			if text(service["type"]) == "compute" && len(list(service["endpoints"])) != 3 {
				d.Errorf("compute has the endpoints %v, want a public, an internal and an admin one", service["endpoints"])
			}
		}
		if !slices.Contains(field(a.list("catalog"), "name"), "nova") {
			d.Errorf("catalog %s", a.raw)
		}
	}},
}
