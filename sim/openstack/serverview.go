package openstack

import (
	"fmt"
	"maps"
	"slices"
)

// serverView shows a server in detail, with the fields of the microversion that the token may see.
func (k *call) serverView(s *server) verbatim {
	d := document(nil)
	k.appendServer(&d, s)
	return verbatim(d)
}

// appendServer writes what serverView shows: a fleet's list has 100,000 servers.
func (k *call) appendServer(d *document, s *server) {
	admin, status := k.token.admin(), s.status()
	d.open("")
	d.text("OS-DCF:diskConfig", "AUTO")
	d.text("OS-EXT-AZ:availability_zone", s.zoneName())
	if admin {
		d.textOrNull("OS-EXT-SRV-ATTR:host", s.hostName())
	}
	if admin && k.mv.atLeast(3) || k.mv.atLeast(90) {
		d.text("OS-EXT-SRV-ATTR:hostname", s.name)
	}
	if admin {
		d.textOrNull("OS-EXT-SRV-ATTR:hypervisor_hostname", s.hostName())
		d.text("OS-EXT-SRV-ATTR:instance_name", fmt.Sprintf("instance-%08x", s.number))
	}
	if admin && k.mv.atLeast(3) {
		d.text("OS-EXT-SRV-ATTR:kernel_id", "")
		d.number("OS-EXT-SRV-ATTR:launch_index", 0)
		d.text("OS-EXT-SRV-ATTR:ramdisk_id", "")
		d.text("OS-EXT-SRV-ATTR:reservation_id", "r-"+s.id[:min(8, len(s.id))])
		d.text("OS-EXT-SRV-ATTR:root_device_name", "/dev/vda")
		d.null("OS-EXT-SRV-ATTR:user_data")
	}
	d.number("OS-EXT-STS:power_state", s.power)
	d.textOrNull("OS-EXT-STS:task_state", s.task)
	d.text("OS-EXT-STS:vm_state", s.vm)
	d.stamp("OS-SRV-USG:launched_at", s.launched)
	d.stamp("OS-SRV-USG:terminated_at", s.terminated)
	d.text("accessIPv4", "")
	d.text("accessIPv6", "")
	s.appendAddresses(d)
	d.text("config_drive", "")
	d.text("created", stampZ(s.created))
	if k.mv.atLeast(19) {
		d.textOrNull("description", s.description)
	}
	if s.fault != nil && (status == "ERROR" || status == "DELETED") {
		d.any("fault", s.fault.view(admin))
	}
	k.appendFlavor(d, s.flavor)
	d.text("hostId", hostID(s.project.id, s.hostName()))
	if k.mv.atLeast(16) && admin {
		d.text("host_status", k.hostStatus(s))
	}
	d.text("id", s.id)
	if s.imageID != "" {
		d.any("image", object{"id": s.imageID, "links": k.links("images", s.imageID)[1:]})
	} else {
		d.text("image", "")
	}
	d.textOrNull("key_name", s.keyName)
	k.appendLinks(d, s)
	if k.mv.atLeast(9) {
		d.truth("locked", s.locked)
	}
	if k.mv.atLeast(73) {
		d.textOrNull("locked_reason", s.lockedReason)
	}
	if len(s.metadata) > 0 {
		d.any("metadata", s.metadata)
	} else {
		d.raw("metadata", "{}")
	}
	d.text("name", s.name)
	if s.fromVolume {
		d.any("os-extended-volumes:volumes_attached", k.volumes(s))
	} else {
		d.raw("os-extended-volumes:volumes_attached", "[]")
	}
	switch status {
	case "ACTIVE", "BUILD", "REBUILD", "RESIZE", "VERIFY_RESIZE", "MIGRATING":
		d.number("progress", k.progressOf(s))
	}
	if s.network != "" {
		d.raw("security_groups", `[{"name":"default"}]`)
	}
	if k.mv.atLeast(71) && k.r.PathValue("id") != "" { // only for a single server
		groups := []string{}
		if s.group != nil {
			groups = append(groups, s.group.id)
		}
		d.any("server_groups", groups)
	}
	d.text("status", status)
	if k.mv.atLeast(26) {
		if len(s.tags) > 0 {
			d.any("tags", s.tags)
		} else {
			d.raw("tags", "[]")
		}
	}
	d.text("tenant_id", s.project.id)
	if k.mv.atLeast(63) {
		d.null("trusted_image_certificates")
	}
	d.text("updated", stampZ(s.updated))
	d.text("user_id", s.userID)
	d.close()
}

// appendLinks writes the links to a server.
func (k *call) appendLinks(d *document, s *server) {
	d.raw("links", "[")
	d.open("")
	d.text("href", k.base+"/v2.1/servers/"+s.id)
	d.text("rel", "self")
	d.close()
	*d = append(*d, ',')
	d.open("")
	d.text("href", k.base+"/servers/"+s.id)
	d.text("rel", "bookmark")
	d.close()
	*d = append(*d, ']')
}

// appendAddresses writes the server's addresses with what only its view has of them.
func (s *server) appendAddresses(d *document) {
	d.open("addresses")
	if s.addressed() {
		d.raw(s.network, "[")
		d.open("")
		d.text("OS-EXT-IPS-MAC:mac_addr", s.mac())
		d.text("OS-EXT-IPS:type", "fixed")
		d.text("addr", s.address)
		d.number("version", 4)
		d.close()
		*d = append(*d, ']')
	}
	d.close()
}

// addressed tells whether the server has an address.
func (s *server) addressed() bool { return s.vm != vmBuilding && !s.deleted && s.network != "" }

// appendFlavor writes the flavor in a server's view: a link, or from 2.47 on its properties.
func (k *call) appendFlavor(d *document, f *flavor) {
	if !k.mv.atLeast(47) {
		d.any("flavor", object{"id": f.ID, "links": k.links("flavors", f.ID)[1:]})
		return
	}
	d.open("flavor")
	d.number("disk", f.Disk)
	d.number("ephemeral", 0)
	if len(f.ExtraSpecs) > 0 {
		d.any("extra_specs", f.ExtraSpecs)
	} else {
		d.raw("extra_specs", "{}")
	}
	d.text("original_name", f.Name)
	d.number("ram", f.RAM)
	d.number("swap", 0)
	d.number("vcpus", f.VCPUs)
	d.close()
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

func (s *server) addresses() object {
	if !s.addressed() {
		return object{}
	}
	return object{s.network: []object{{"version": 4, "addr": s.address}}}
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
