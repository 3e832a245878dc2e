package openstack

import (
	"net/http"
	"slices"
)

// peopleRoutes returns Keystone's operations that create users and give them roles.
func peopleRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/v3/users", policy: "identity:create_user", do: createUser},
		{method: http.MethodDelete, path: "/v3/users/{id}", policy: "identity:delete_user", do: deleteUser},
		{method: http.MethodPut, path: "/v3/projects/{project}/users/{user}/roles/{role}", policy: "identity:create_grant", do: createGrant},
	}
}

// createUser creates a user in the domain Default. E-mail is an extra attribute that Keystone stores.
func createUser(k *call) reply {
	var body struct {
		User *struct {
			Name     string `json:"name"`
			Email    string `json:"email"`
			Password string `json:"password"`
		} `json:"user"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	switch {
	case body.User == nil:
		return errorOf(keystone, http.StatusBadRequest, "'user' is a required property")
	case body.User.Name == "":
		return errorOf(keystone, http.StatusBadRequest, "'name' is a required property")
	case k.c.userByName(body.User.Name) != nil:
		return errorOf(keystone, http.StatusConflict,
			"Conflict occurred attempting to store user - Duplicate entry found with name "+body.User.Name+" at domain ID default.")
	}
	u := &user{id: k.c.hexID("user", body.User.Name), name: body.User.Name, email: body.User.Email, password: body.User.Password,
		roles: map[string][]string{}}
	k.c.users[u.id] = u
	return reply{status: http.StatusCreated, body: object{"user": k.userView(u)}}
}

func deleteUser(k *call) reply {
	id := k.r.PathValue("id")
	if k.c.users[id] == nil {
		return k.identityMissing("user", id)
	}
	delete(k.c.users, id)
	return reply{status: http.StatusNoContent}
}

// createGrant gives a user a role in a project.
func createGrant(k *call) reply {
	u, p := k.c.users[k.r.PathValue("user")], k.c.projects[k.r.PathValue("project")]
	role := ""
	for _, name := range roleNames {
		if k.c.roleID(name) == k.r.PathValue("role") {
			role = name
		}
	}
	switch {
	case role == "":
		return k.identityMissing("role", k.r.PathValue("role"))
	case u == nil:
		return k.identityMissing("user", k.r.PathValue("user"))
	case p == nil:
		return k.identityMissing("project", k.r.PathValue("project"))
	}
	if !slices.Contains(u.roles[p.id], role) {
		u.roles[p.id] = append(u.roles[p.id], role)
		k.c.owners = nil
	}
	return reply{status: http.StatusNoContent}
}
