package openstack

// quotas are the limits of every project; nothing enforces them.
var quotas = map[string]int{"instances": 1000, "cores": 4000, "ram": 16 << 20, "key_pairs": 100, "metadata_items": 128,
	"server_groups":        100,
	"server_group_members": 100, "injected_files": 5, "injected_file_content_bytes": 10240, "injected_file_path_bytes": 255}

type usage struct{ instances, cores, ram, groups int }

func (c *Cloud) usageOf(projectID string) usage {
	var u usage
	for _, s := range c.order {
		if !s.deleted && s.project.id == projectID {
			u.instances++
			u.cores += s.flavor.VCPUs
			u.ram += s.flavor.RAM
		}
	}
	for _, g := range c.groups {
		if g.project.id == projectID {
			u.groups++
		}
	}
	return u
}

func showLimits(k *call) reply {
	id := k.token.projectID()
	if asked := k.query.Get("tenant_id"); asked != "" && k.token.admin() {
		id = asked
	}
	u := k.c.usageOf(id)
	return ok(object{"limits": object{"rate": []object{}, "absolute": object{
		"maxTotalInstances": quotas["instances"], "maxTotalCores": quotas["cores"], "maxTotalRAMSize": quotas["ram"],
		"maxTotalKeypairs": quotas["key_pairs"], "maxServerMeta": quotas["metadata_items"], "maxServerGroups": quotas["server_groups"],
		"maxServerGroupMembers": quotas["server_group_members"],
		"totalInstancesUsed":    u.instances, "totalCoresUsed": u.cores, "totalRAMUsed": u.ram, "totalServerGroupsUsed": u.groups,
	}}})
}

func showQuota(k *call) reply {
	id := k.r.PathValue("id")
	switch {
	case !k.token.admin() && id != k.token.projectID():
		return forbidden(nova, "os_compute_api:os-quota-sets:show")
	case k.c.projects[id] == nil:
		return badRequest("Project ID %s is not a valid project.", id)
	}
	v := object{"id": id}
	for name, n := range quotas {
		v[name] = n
	}
	if !k.mv.atLeast(36) { // for Nova's own networks
		for _, name := range []string{"fixed_ips", "floating_ips", "security_groups", "security_group_rules"} {
			v[name] = -1
		}
	}
	return ok(object{"quota_set": v})
}

func showQuotaDetail(k *call) reply {
	id := k.r.PathValue("id")
	switch {
	case !k.token.admin() && id != k.token.projectID():
		return forbidden(nova, "os_compute_api:os-quota-sets:detail")
	case k.c.projects[id] == nil:
		return badRequest("Project ID %s is not a valid project.", id)
	}
	u := k.c.usageOf(id)
	used := map[string]int{"instances": u.instances, "cores": u.cores, "ram": u.ram, "server_groups": u.groups}
	v := object{"id": id}
	for name, n := range quotas {
		v[name] = object{"limit": n, "in_use": used[name], "reserved": 0}
	}
	return ok(object{"quota_set": v})
}

// showNetworkQuota and showVolumeQuota show the quotas of Neutron and Cinder; nothing enforces them either.
func showNetworkQuota(*call) reply {
	return ok(object{"quota": object{"network": 100, "subnet": 100, "subnetpool": -1, "port": 500, "rbac_policy": 10, "security_group": 10,
		"security_group_rule": 100}})
}

func showVolumeQuota(k *call) reply {
	return ok(object{"quota_set": object{"id": k.r.PathValue("id"), "volumes": 100, "snapshots": 100, "gigabytes": 10000, "backups": 10,
		"backup_gigabytes": 1000, "per_volume_gigabytes": -1, "groups": 10}})
}
