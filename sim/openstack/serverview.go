package openstack

import (
	"fmt"
	"maps"
	"slices"
)

// serverView shows a server in detail, with the fields of the microversion that the token may see.
func (k *call) serverView(s *server) object {
	admin := k.token.admin()
	v := object{
		"id": s.id, "name": s.name, "status": s.status(), "tenant_id": s.project.id, "user_id": s.userID,
		"metadata": metadataView(s), "hostId": hostID(s.project.id, s.hostName()), "image": "", "flavor": k.flavorOf(s),
		"created": stampZ(s.created), "updated": stampZ(s.updated), "addresses": s.addresses(true),
		"accessIPv4": "", "accessIPv6": "", "links": k.links("servers", s.id), "OS-DCF:diskConfig": "AUTO",
		"OS-EXT-AZ:availability_zone": s.zoneName(), "config_drive": "", "key_name": orNull(s.keyName),
		"OS-SRV-USG:launched_at": stamp(s.launched), "OS-SRV-USG:terminated_at": stamp(s.terminated),
		"OS-EXT-STS:task_state": orNull(s.task), "OS-EXT-STS:vm_state": s.vm, "OS-EXT-STS:power_state": s.power,
		"os-extended-volumes:volumes_attached": k.volumes(s),
	}
	if s.network != "" {
		v["security_groups"] = []object{{"name": "default"}}
	}
	if s.imageID != "" {
		v["image"] = object{"id": s.imageID, "links": k.links("images", s.imageID)[1:]}
	}
	switch v["status"] {
	case "ACTIVE", "BUILD", "REBUILD", "RESIZE", "VERIFY_RESIZE", "MIGRATING":
		v["progress"] = k.progressOf(s)
	case "ERROR", "DELETED":
		if s.fault != nil {
			v["fault"] = s.fault.view(admin)
		}
	}
	if admin {
		v["OS-EXT-SRV-ATTR:host"] = orNull(s.hostName())
		v["OS-EXT-SRV-ATTR:hypervisor_hostname"] = orNull(s.hostName())
		v["OS-EXT-SRV-ATTR:instance_name"] = fmt.Sprintf("instance-%08x", s.number)
		if k.mv.atLeast(3) {
			v["OS-EXT-SRV-ATTR:reservation_id"] = "r-" + s.id[:min(8, len(s.id))]
			v["OS-EXT-SRV-ATTR:launch_index"] = 0
			v["OS-EXT-SRV-ATTR:hostname"] = s.name
			v["OS-EXT-SRV-ATTR:kernel_id"] = ""
			v["OS-EXT-SRV-ATTR:ramdisk_id"] = ""
			v["OS-EXT-SRV-ATTR:root_device_name"] = "/dev/vda"
			v["OS-EXT-SRV-ATTR:user_data"] = nil
		}
	} else if k.mv.atLeast(90) {
		v["OS-EXT-SRV-ATTR:hostname"] = s.name
	}
	if k.mv.atLeast(9) {
		v["locked"] = s.locked
	}
	if k.mv.atLeast(16) && admin {
		v["host_status"] = k.hostStatus(s)
	}
	if k.mv.atLeast(19) {
		v["description"] = orNull(s.description)
	}
	if k.mv.atLeast(26) {
		v["tags"] = tagsView(s)
	}
	if k.mv.atLeast(63) {
		v["trusted_image_certificates"] = nil
	}
	if k.mv.atLeast(71) && k.r.PathValue("id") != "" { // only for a single server
		groups := []string{}
		if s.group != nil {
			groups = append(groups, s.group.id)
		}
		v["server_groups"] = groups
	}
	if k.mv.atLeast(73) {
		v["locked_reason"] = orNull(s.lockedReason)
	}
	return v
}

// progressOf is a server's percentage; Nova's libvirt driver writes it during live migrations.
func (k *call) progressOf(s *server) int {
	m := s.migration
	if m == nil || m.live == nil || m.status != "running" || m.kind != "live-migration" {
		return 0
	}
	p := m.live.at(k.now)
	total := m.live.memory + m.live.disk
	return max(0, 100-int(100*(p.memLeft+p.diskLeft)/total))
}

// hostStatus is the state of the server's nova-compute: UP, DOWN (forced), UNKNOWN (silent), MAINTENANCE (disabled).
func (k *call) hostStatus(s *server) string {
	if s.host == nil || s.host.compute == nil {
		return ""
	}
	switch svc := s.host.compute; {
	case svc.forcedDown:
		return "DOWN"
	case svc.disabled:
		return "MAINTENANCE"
	case !k.c.up(svc, k.now):
		return "UNKNOWN"
	}
	return "UP"
}

func (f *fault) view(admin bool) object {
	v := object{"code": f.code, "message": f.message, "created": stampZ(f.created)}
	if admin {
		v["details"] = f.details
	}
	return v
}

// flavorOf is the flavor in a server's view: a link, or from 2.47 on its properties.
func (k *call) flavorOf(s *server) object {
	f := s.flavor
	if !k.mv.atLeast(47) {
		return object{"id": f.ID, "links": k.links("flavors", f.ID)[1:]}
	}
	return object{"original_name": f.Name, "vcpus": f.VCPUs, "ram": f.RAM, "disk": f.Disk, "ephemeral": 0, "swap": 0,
		"extra_specs": specsView(f)}
}

func specsView(f *flavor) map[string]string {
	if f.ExtraSpecs == nil {
		return map[string]string{}
	}
	return maps.Clone(f.ExtraSpecs)
}

func metadataView(s *server) map[string]string {
	if s.metadata == nil {
		return map[string]string{}
	}
	return maps.Clone(s.metadata)
}

func tagsView(s *server) []string {
	if s.tags == nil {
		return []string{}
	}
	return slices.Clone(s.tags)
}

func (s *server) addresses(detail bool) object {
	if s.vm == vmBuilding || s.deleted || s.network == "" {
		return object{}
	}
	a := object{"version": 4, "addr": s.address}
	if detail {
		a["OS-EXT-IPS:type"] = "fixed"
		a["OS-EXT-IPS-MAC:mac_addr"] = s.mac()
	}
	return object{s.network: []object{a}}
}

func (k *call) volumes(s *server) []object {
	id := k.c.bootVolume(s)
	if id == "" {
		return []object{}
	}
	v := object{"id": id}
	if k.mv.atLeast(3) {
		v["delete_on_termination"] = false
	}
	return []object{v}
}
