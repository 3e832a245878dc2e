package openstack

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// volume is a block storage volume: on a host, or attached to a server.
type volume struct {
	id, name  string
	service   *service // nil for one in Ceph
	project   *project
	server    *server // nil when it is attached to none
	encrypted bool
}

// volumeBackend is the back end of hosts that keep volumes on disks of their own; cephHost serves all others.
const (
	volumeBackend = "lvm"
	cephBackend   = "volumes-hdd"
	cephHost      = "openstack@" + cephBackend
)

// attach makes a volume that is attached to a server. The cloud's lock is held.
func (c *Cloud) attach(s *server, spec VolumeSpec) error {
	v := &volume{id: c.uuid("volume", s.id+"/"+spec.Name), name: spec.Name, project: s.project, server: s, encrypted: spec.Encrypted}
	if spec.Host != "" {
		var err error
		if v.service, err = c.volumeServiceOf(spec.Host); err != nil {
			return err
		}
	}
	c.volumes = append(c.volumes, v)
	return nil
}

// AddVolumeService gives a host a cinder-volume of its own, with volumes on its disks. An unknown host is an error.
func (c *Cloud) AddVolumeService(name string) error {
	c.lock()
	defer c.mu.Unlock()
	_, err := c.volumeServiceOf(name)
	return err
}

// volumeServiceOf finds or makes the cinder-volume of a host.
func (c *Cloud) volumeServiceOf(name string) (*service, error) {
	h := c.hosts[name]
	if h == nil {
		return nil, fmt.Errorf("openstack: add volume service: no host %q", name)
	}
	if i := slices.IndexFunc(c.volumeServices, func(s *service) bool { return s.host == h }); i >= 0 {
		return c.volumeServices[i], nil
	}
	s := &service{number: len(c.volumeServices) + 1, uuid: c.uuid("service", "cinder-volume@"+name), binary: "cinder-volume", host: h, zone: "nova", running: h.on}
	c.volumeServices = append(c.volumeServices, s)
	h.services = append(h.services, s) // goes down and up with the host
	return s, nil
}

// AddVolume puts a volume of a project on a host's own disks and returns its ID. An unknown host or project is an error.
func (c *Cloud) AddVolume(host, projectName, name string) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	p := c.projectByName(projectName)
	if p == nil {
		return "", fmt.Errorf("openstack: add volume %q: no project %q", name, projectName)
	}
	s, err := c.volumeServiceOf(host)
	if err != nil {
		return "", err
	}
	v := &volume{id: c.uuid("volume", host+"/"+name), name: name, service: s, project: p}
	c.volumes = append(c.volumes, v)
	return v.id, nil
}

// RemoveVolumeService forgets the cinder-volume of a host, as cinder-manage service remove does; the host may be named with
// its back end. One that is not there is an error.
func (c *Cloud) RemoveVolumeService(host string) error {
	name, _, _ := strings.Cut(host, "@")
	c.lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.volumeServices, func(s *service) bool { return s.host.Name == name })
	if i < 0 {
		return fmt.Errorf("openstack: remove volume service: none on host %q", host)
	}
	s := c.volumeServices[i]
	s.host.services = slices.DeleteFunc(s.host.services, func(o *service) bool { return o == s })
	c.volumeServices = slices.Delete(c.volumeServices, i, i+1)
	return nil
}

// volumeRoutes are Cinder's operations: its services, the volumes on hosts' own disks, and those that are attached beside the
// one that a server was booted from.
func (c *Cloud) volumeRoutes() []route {
	const get, put, remove = http.MethodGet, http.MethodPut, http.MethodDelete
	return []route{
		{method: get, path: "", public: true, do: volumeVersions},
		{method: get, path: "/{$}", public: true, do: volumeVersions},
		{method: get, path: "/v3", public: true, do: volumeVersions},
		{method: get, path: "/v3/{$}", public: true, do: volumeVersions},
		{method: get, path: "/v3/os-services", policy: "volume_extension:services:index", do: listVolumeServices},
		{method: put, path: "/v3/os-services/{verb}", policy: "volume_extension:services:update", do: updateVolumeService},
		{method: get, path: "/v3/os-quota-sets/{id}", do: showVolumeQuota},
		{method: get, path: "/v3/volumes", do: listVolumes},
		{method: get, path: "/v3/volumes/detail", do: listVolumes},
		{method: get, path: "/v3/volumes/{id}", do: showVolume},
		{method: remove, path: "/v3/volumes/{id}", do: deleteVolume},
	}
}

func volumeVersions(k *call) reply {
	return ok(object{"versions": []object{{"id": "v3.0", "status": "CURRENT", "version": "3.70", "min_version": "3.0",
		"updated": "2023-08-31T00:00:00Z", "links": []object{{"rel": "self", "href": k.base + "/v3/"}}}}})
}

func volumeHost(s *service) string { return s.host.Name + "@" + volumeBackend }

func (k *call) volumeServiceView(s *service) object {
	return object{"binary": s.binary, "host": volumeHost(s), "zone": s.zone, "status": s.status(), "state": k.stateOf(s),
		"updated_at": stamp(s.seen(k.now)), "disabled_reason": orNull(s.reason), "backend_state": "up", "cluster": nil,
		"replication_status": "not-capable", "active_backend_id": nil, "frozen": false}
}

// ofVolumeHost tells whether a service is meant by a host's name, with or without its back end.
func ofVolumeHost(s *service, name string) bool { return name == s.host.Name || name == volumeHost(s) }

func listVolumeServices(k *call) reply {
	host, binary := k.query.Get("host"), k.query.Get("binary")
	items := []object{}
	for _, s := range k.c.volumeServices {
		if (host == "" || ofVolumeHost(s, host)) && (binary == "" || binary == s.binary) {
			items = append(items, k.volumeServiceView(s))
		}
	}
	return ok(object{"services": items})
}

func updateVolumeService(k *call) reply {
	var body struct {
		Host, Binary string
		Reason       string `json:"disabled_reason"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	verb := k.r.PathValue("verb")
	i := slices.IndexFunc(k.c.volumeServices, func(s *service) bool { return ofVolumeHost(s, body.Host) && s.binary == body.Binary })
	switch {
	case verb != "enable" && verb != "disable" && verb != "disable-log-reason":
		return missing("Unknown action")
	case i < 0:
		return missing("Service %s could not be found.", body.Binary)
	case verb == "disable-log-reason" && (body.Reason == "" || len(body.Reason) > 255):
		return badRequest("Disabled reason contains invalid characters or is too long")
	}
	s := k.c.volumeServices[i]
	s.disabled, s.reason = verb != "enable", body.Reason
	if verb != "disable-log-reason" {
		s.reason = ""
	}
	view := k.volumeServiceView(s)
	return ok(object{"host": body.Host, "service": body.Binary, "binary": body.Binary, "disabled": s.disabled, "status": s.status(), "disabled_reason": view["disabled_reason"]})
}

func (k *call) volumeView(v *volume) object {
	status, kind, attachments := "available", volumeBackend, []object{}
	if v.service == nil {
		kind = cephBackend
	}
	if v.server != nil && !v.server.deleted {
		status = "in-use"
		attachments = append(attachments, object{"id": v.id, "volume_id": v.id, "attachment_id": k.c.fixedID("attachment", v.id), "server_id": v.server.id,
			"host_name": orNull(v.server.hostName()), "device": "/dev/vdb", "attached_at": stamp(v.server.created)})
	}
	o := object{"id": v.id, "name": v.name, "status": status, "size": 100, "volume_type": kind, "availability_zone": "nova",
		"bootable": "false", "encrypted": v.encrypted, "attachments": attachments, "metadata": object{}, "description": nil, "multiattach": false,
		"created_at": stamp(k.now), "links": []object{}}
	if k.token.admin() {
		o["os-vol-host-attr:host"] = cephHost + "#" + cephBackend
		if v.service != nil {
			o["os-vol-host-attr:host"] = volumeHost(v.service) + "#" + volumeBackend
		}
		o["os-vol-tenant-attr:tenant_id"] = v.project.id
	}
	return o
}

// mayOf tells whether the caller may see a volume.
func (k *call) mayOf(v *volume) bool {
	return v.project == k.token.project || k.token.admin() && flag(k.query, "all_tenants")
}

func listVolumes(k *call) reply {
	limit, marker, no := k.page()
	if no != nil {
		return *no
	}
	items := []object{}
	found, last := marker == "", ""
	for _, v := range k.c.volumes {
		if found && k.mayOf(v) {
			if len(items) == limit {
				body := object{"volumes": items}
				k.next(body, "volumes_links", len(items), limit, last)
				return ok(body)
			}
			items = append(items, k.volumeView(v))
			last = v.id
		}
		found = found || v.id == marker
	}
	return ok(object{"volumes": items})
}

// findVolume is the volume of the path, for who may see it.
func (k *call) findVolume() int {
	return slices.IndexFunc(k.c.volumes, func(v *volume) bool {
		return v.id == k.r.PathValue("id") && (v.project == k.token.project || k.token.admin())
	})
}

func showVolume(k *call) reply {
	i := k.findVolume()
	if i < 0 {
		return missing("Volume %s could not be found.", k.r.PathValue("id"))
	}
	return ok(object{"volume": k.volumeView(k.c.volumes[i])})
}

func deleteVolume(k *call) reply {
	i := k.findVolume()
	if i < 0 {
		return missing("Volume %s could not be found.", k.r.PathValue("id"))
	}
	k.c.volumes = slices.Delete(k.c.volumes, i, i+1)
	return accepted()
}
