package openstack

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
)

func (k *call) groupView(g *group) object {
	members := []string{}
	for _, s := range g.members {
		if !s.deleted {
			members = append(members, s.id)
		}
	}
	v := object{"id": g.id, "name": g.name, "members": members}
	if k.mv.atLeast(64) {
		rules := object{}
		if g.most > 0 {
			rules["max_server_per_host"] = g.most
		}
		v["policy"], v["rules"] = g.policy, rules
	} else {
		v["policies"], v["metadata"] = []string{g.policy}, object{}
	}
	if k.mv.atLeast(13) {
		v["project_id"], v["user_id"] = g.project.id, g.userID
	}
	return v
}

func listServerGroups(k *call) reply {
	items := []object{}
	for _, g := range k.c.groups {
		if g.project == k.token.project || k.token.admin() && flag(k.query, "all_projects") {
			items = append(items, k.groupView(g))
		}
	}
	return ok(object{"server_groups": items})
}

func showServerGroup(k *call) reply {
	id := k.r.PathValue("id")
	g := k.group(id)
	if g == nil {
		return missing("Instance group %s could not be found.", id)
	}
	return ok(object{"server_group": k.groupView(g)})
}

// group returns the group with the ID, if the token may see it.
func (k *call) group(id string) *group {
	i := slices.IndexFunc(k.c.groups, func(g *group) bool { return g.id == id && (k.token.admin() || g.project == k.token.project) })
	if i < 0 {
		return nil
	}
	return k.c.groups[i]
}

// newGroupSchema is the schema of POST /os-server-groups: a list of one policy before 2.64, when it became a word with
// rules.
func newGroupSchema(mv microversion) schema {
	policies := []string{"anti-affinity", "affinity"}
	if mv.atLeast(15) {
		policies = append(policies, "soft-anti-affinity", "soft-affinity")
	}
	s := schema{properties: map[string]property{"name": lengthOf(1, 255, nil), "policies": listOf(1, oneOf(policies...))},
		order: []string{"name", "policies"}, required: []string{"name", "policies"}}
	if mv.atLeast(64) {
		s.properties["policy"], s.properties["rules"] = oneOf(policies...), objectProperty
		s.order, s.required = []string{"name", "policy", "rules"}, []string{"name", "policy"}
	}
	return s
}

func createServerGroup(k *call) reply {
	args, no := newGroupSchema(k.mv).body(k, "server_group")
	if no != nil {
		return *no
	}
	if k.token.project == nil {
		return forbidden(nova, "os_compute_api:os-server-groups:create")
	}
	var policies []string
	_ = json.Unmarshal(args["policies"], &policies) // the schema has checked it
	policy := text(args["policy"])
	if len(policies) > 0 {
		policy = policies[0]
	}
	g := &group{name: text(args["name"]), policy: cmp.Or(policy, "affinity"), project: k.token.project, userID: k.token.user.id}
	var rules struct {
		Most json.Number `json:"max_server_per_host"`
	}
	if len(args["rules"]) > 0 && json.Unmarshal(args["rules"], &rules) == nil && rules.Most != "" {
		most, err := rules.Most.Int64()
		switch {
		case err != nil || most < 1:
			return badRequest("Invalid input for field/attribute max_server_per_host. Value: %s. %s is less than the minimum of 1", rules.Most,
				rules.Most)
		case g.policy != "anti-affinity":
			return badRequest("Only anti-affinity policy supports rules.")
		}
		g.most = int(most)
	}
	g.id = k.c.uuid("group", g.name)
	k.c.groups = append(k.c.groups, g)
	return ok(object{"server_group": k.groupView(g)})
}

func deleteServerGroup(k *call) reply {
	id := k.r.PathValue("id")
	g := k.group(id)
	if g == nil {
		return missing("Instance group %s could not be found.", id)
	}
	for _, s := range g.members {
		s.group = nil
	}
	k.c.groups = slices.DeleteFunc(k.c.groups, func(o *group) bool { return o == g })
	return reply{status: http.StatusNoContent}
}
