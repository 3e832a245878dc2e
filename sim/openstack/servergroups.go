package openstack

func (k *call) groupView(g *group) object {
	members := []string{}
	for _, s := range g.members {
		if !s.deleted {
			members = append(members, s.id)
		}
	}
	v := object{"id": g.id, "name": g.name, "members": members}
	if k.mv.atLeast(64) {
		v["policy"], v["rules"] = g.policy, object{}
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
	for _, g := range k.c.groups {
		if g.id == id && (k.token.admin() || g.project == k.token.project) {
			return ok(object{"server_group": k.groupView(g)})
		}
	}
	return missing("Instance group %s could not be found.", id)
}
