package openstack

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// volume is a block storage volume: on a host, or attached to a server.
type volume struct {
	id, name  string
	service   *volumeService // nil: in Ceph
	project   *project
	server    *server // nil: not attached
	encrypted bool
	size      int // GiB
}

// volumeService is a cinder-volume: one back end of one host.
type volumeService struct {
	*service
	backend string
}

// name is its name in Cinder: host@backend.
func (s *volumeService) name() string { return s.host.Name + "@" + s.backend }

// is tells whether a host's name, with or without its back end, means the service in Cinder.
func (s *volumeService) is(name string) bool { return name == s.host.Name || name == s.name() }

// volumeSize is the default size of a volume, in GiB.
const volumeSize = 100

// volumeBackend is the back end of hosts with volumes on their own disks; cephHost serves all other volumes.
const (
	volumeBackend = "lvm"
	cephBackend   = "volumes-hdd"
	cephHost      = "openstack@" + cephBackend
)

// attach creates a volume that is attached to a server. The caller holds the cloud's lock.
func (c *Cloud) attach(s *server, spec VolumeSpec) error {
	v := &volume{id: c.uuid("volume", s.id+"/"+spec.Name), name: spec.Name, project: s.project, server: s, encrypted: spec.Encrypted,
		size: volumeSize}
	if spec.Host != "" {
		var err error
		if v.service, err = c.volumeServiceOf(spec.Host); err != nil {
			return err
		}
	}
	c.volumes = append(c.volumes, v)
	return nil
}

// AddVolumeService gives a host a cinder-volume of its own, for volumes on its disks. An unknown host is an error.
func (c *Cloud) AddVolumeService(name string) error {
	return c.AddVolumeBackend(name, VolumeBackendSpec{})
}

// VolumeBackendSpec describes a cinder-volume of a host and its state.
type VolumeBackendSpec struct {
	Name     string // of the back end; default lvm
	Zone     string // default nova
	Disabled bool
	Reason   string // why it was disabled
	Down     bool   // it does not report

	Elsewhere bool // the host is not a machine of the cloud, for example a pod's name for back ends on the network
}

// AddVolumeBackend gives a host a cinder-volume; it has one for each back end. An unknown host without Elsewhere, and a
// back end that the host already has, are errors.
func (c *Cloud) AddVolumeBackend(name string, spec VolumeBackendSpec) error {
	now := c.lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil && spec.Elsewhere {
		h = &host{HostSpec: HostSpec{Name: name}, on: true}
	}
	if h == nil {
		return fmt.Errorf("openstack: add volume service: no host %q", name)
	}
	spec.Name = cmp.Or(spec.Name, volumeBackend)
	if c.volumeService(name+"@"+spec.Name) != nil {
		return fmt.Errorf("openstack: add volume service: host %q has the back end %q already", name, spec.Name)
	}
	s := c.addVolumeService(h, spec.Name)
	s.zone, s.disabled, s.reason = cmp.Or(spec.Zone, s.zone), spec.Disabled, spec.Reason
	if spec.Down {
		s.running, s.stopped = false, now.Add(-2*c.opts.ServiceDownTime)
	}
	return nil
}

func (c *Cloud) addVolumeService(h *host, backend string) *volumeService {
	s := &volumeService{backend: backend, service: &service{number: len(c.volumeServices) + 1,
		uuid:   c.uuid("service", "cinder-volume@"+h.Name+"@"+backend),
		binary: "cinder-volume", host: h, zone: "nova", running: h.on}}
	c.volumeServices = append(c.volumeServices, s)
	h.services = append(h.services, s.service) // goes down and up with the host
	return s
}

// volumeService returns the first cinder-volume for a name, with or without its back end, or nil.
func (c *Cloud) volumeService(name string) *volumeService {
	if i := slices.IndexFunc(c.volumeServices, func(s *volumeService) bool { return s.is(name) }); i >= 0 {
		return c.volumeServices[i]
	}
	return nil
}

// volumeServiceOf finds or creates a cinder-volume of a host.
func (c *Cloud) volumeServiceOf(name string) (*volumeService, error) {
	h := c.hosts[name]
	if h == nil {
		return nil, fmt.Errorf("openstack: add volume service: no host %q", name)
	}
	if s := c.volumeService(name); s != nil {
		return s, nil
	}
	return c.addVolumeService(h, volumeBackend), nil
}

// AddVolume puts a volume of a project on a host's own disks and returns its ID. An unknown host or project is an error.
func (c *Cloud) AddVolume(host, projectName, name string) (string, error) {
	return c.AddSizedVolume(host, projectName, name, volumeSize)
}

// AddSizedVolume is AddVolume for a volume of a size, in GiB.
func (c *Cloud) AddSizedVolume(host, projectName, name string, size int) (string, error) {
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
	v := &volume{id: c.uuid("volume", host+"/"+name), name: name, service: s, project: p, size: size}
	c.volumes = append(c.volumes, v)
	return v.id, nil
}

// MoveVolumes moves all volumes on a host's own disks to another host's, as an administrator does one by one, and
// returns their number. A host without a cinder-volume is an error.
func (c *Cloud) MoveVolumes(from, to string) (int, error) {
	c.lock()
	defer c.mu.Unlock()
	target := c.volumeService(to)
	if target == nil {
		return 0, fmt.Errorf("openstack: move volumes: no volume service on host %q", to)
	}
	n := 0
	for _, v := range c.volumes {
		if v.service != nil && v.service.host.Name == from {
			v.service = target
			n++
		}
	}
	return n, nil
}

// RemoveVolumeService removes a cinder-volume of a host, as "cinder-manage service remove" does; the host's name may
// include its back end. A missing service is an error.
func (c *Cloud) RemoveVolumeService(host string) error {
	c.lock()
	defer c.mu.Unlock()
	s := c.volumeService(host)
	if s == nil {
		return fmt.Errorf("openstack: remove volume service: none on host %q", host)
	}
	s.host.services = slices.DeleteFunc(s.host.services, func(o *service) bool { return o == s.service })
	c.volumeServices = slices.DeleteFunc(c.volumeServices, func(o *volumeService) bool { return o == s })
	return nil
}

// volumeRoutes returns Cinder's operations: its services, the volumes on hosts' own disks, and volumes attached in
// addition to a server's boot volume.
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
		{method: http.MethodPost, path: "/v3/volumes/{id}/action", policy: "volume_extension:volume_admin_actions:migrate_volume",
			do: migrateVolume},
		{method: get, path: "/v3/scheduler-stats/get_pools", policy: "scheduler_extension:scheduler_stats:get_pools", do: listPools},
	}
}

func volumeVersions(k *call) reply {
	return ok(object{"versions": []object{{"id": "v3.0", "status": "CURRENT", "version": "3.70", "min_version": "3.0",
		"updated": "2023-08-31T00:00:00Z", "links": []object{{"rel": "self", "href": k.base + "/v3/"}}}}})
}

// Microversions of Cinder from which services have more fields.
const (
	volumeCluster      = 7  // the name of their cluster
	volumeBackendState = 49 // the state of their back ends
)

// volumeServiceView shows a service with the fields of the microversion.
func (k *call) volumeServiceView(s *volumeService) object {
	v := object{"binary": s.binary, "host": s.name(), "zone": s.zone, "status": s.status(), "state": k.stateOf(s.service),
		"updated_at": stamp(s.seen(k.now)), "disabled_reason": orNull(s.reason), "replication_status": "not-capable", "active_backend_id": nil,
		"frozen": false}
	if k.mv.atLeast(volumeCluster) {
		v["cluster"] = nil
	}
	if k.mv.atLeast(volumeBackendState) {
		v["backend_state"] = "up"
	}
	return v
}

func listVolumeServices(k *call) reply {
	host, binary := k.query.Get("host"), k.query.Get("binary")
	items := []object{}
	for _, s := range k.c.volumeServices {
		if (host == "" || s.is(host)) && (binary == "" || binary == s.binary) {
			items = append(items, k.volumeServiceView(s))
		}
	}
	return ok(object{"services": items})
}

var (
	volumeServiceSchema = schema{properties: map[string]property{"binary": lengthOf(1, 255, nil), "host": textProperty,
		"cluster": textProperty,
		"service": lengthOf(1, 255, nil)}, order: []string{"binary", "host", "cluster", "service"}}
	volumeReasonSchema = schema{properties: map[string]property{"binary": lengthOf(1, 255, nil), "host": textProperty, "cluster": textProperty,
		"service": lengthOf(1, 255, nil), "disabled_reason": lengthOf(1, 255, nil)},
		order: []string{"binary", "host", "cluster", "service", "disabled_reason"}}
)

// updateVolumeService enables or disables the service of a host. A host name without a back end means only the first of
// its services. A reason is accepted only with disable-log-reason, and stays if a later request has none.
func updateVolumeService(k *call) reply {
	verb, schema := k.r.PathValue("verb"), volumeServiceSchema
	switch verb {
	case "enable", "disable":
	case "disable-log-reason":
		schema = volumeReasonSchema
	default:
		return missing("Unknown action")
	}
	args, no := schema.check("", k.body)
	if no != nil {
		return *no
	}
	host, old, binary := text(args["host"]), text(args["service"]), text(args["binary"])
	if host == "" {
		return badRequest("Host field is missing.")
	}
	if binary == "" && old == "" {
		return badRequest("Invalid input for field/attribute body. Value: %s. 'binary' is a required property", k.body)
	}
	s := k.c.volumeService(host)
	if s == nil || s.binary != cmp.Or(binary, old) {
		return missing("Service %s could not be found on host %s.", cmp.Or(binary, old), host)
	}
	view := object{"host": host, "service": old, "binary": binary}
	switch verb {
	case "enable":
		s.disabled, s.reason = false, ""
	case "disable":
		s.disabled = true
	default:
		s.disabled, s.reason = true, text(args["disabled_reason"])
		view["disabled_reason"] = s.reason
	}
	view["disabled"], view["status"] = s.disabled, s.status()
	return ok(view)
}

func (k *call) volumeView(v *volume) object {
	status, kind, attachments := "available", volumeBackend, []object{}
	if v.service == nil {
		kind = cephBackend
	} else {
		kind = v.service.backend
	}
	if v.server != nil && !v.server.deleted {
		status = "in-use"
		attachments = append(attachments, object{"id": v.id, "volume_id": v.id, "attachment_id": k.c.fixedID("attachment", v.id),
			"server_id": v.server.id,
			"host_name": orNull(v.server.hostName()), "device": "/dev/vdb", "attached_at": stamp(v.server.created)})
	}
	o := object{"id": v.id, "name": v.name, "status": status, "size": v.size, "volume_type": kind, "availability_zone": "nova",
		"bootable": "false", "encrypted": v.encrypted, "attachments": attachments, "metadata": object{}, "description": nil, "multiattach": false,
		"created_at": stamp(k.now), "links": []object{}}
	if k.token.admin() {
		o["os-vol-host-attr:host"] = cephHost + "#" + cephBackend
		if v.service != nil {
			o["os-vol-host-attr:host"] = v.service.name() + "#" + v.service.backend
		}
		o["os-vol-tenant-attr:tenant_id"] = v.project.id
	}
	return o
}

// mayOf tells whether the caller may see a volume.
func (k *call) mayOf(v *volume) bool {
	return v.project == k.token.project || k.token.admin() && flag(k.query, "all_tenants")
}

// on tells whether Cinder finds a volume by a host's name, alone or with its back end or its pool.
func (v *volume) on(host string) bool {
	at := cephHost + "#" + cephBackend
	if v.service != nil {
		at = v.service.name() + "#" + v.service.backend
	}
	return at == host || strings.HasPrefix(at, host+"@") || strings.HasPrefix(at, host+"#")
}

func listVolumes(k *call) reply {
	limit, marker, no := k.page()
	if no != nil {
		return *no
	}
	items := []object{}
	found, last := marker == "", ""
	host := k.query.Get("host")
	if !k.token.admin() {
		host = "" // only an administrator can filter by this field, which others do not see
	}
	for _, v := range k.c.volumes {
		if found && k.mayOf(v) && (host == "" || v.on(host)) {
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

// findVolume returns the index of the volume in the path, if the caller may see it.
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

// migrateVolume moves a volume to the pool of another service, at once. There are no other actions on volumes.
func migrateVolume(k *call) reply {
	var body struct {
		Migrate *struct {
			Host string `json:"host"`
		} `json:"os-migrate_volume"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	i := k.findVolume()
	switch {
	case i < 0:
		return missing("Volume %s could not be found.", k.r.PathValue("id"))
	case body.Migrate == nil:
		return badRequest("There is no such action")
	}
	name, _, _ := strings.Cut(body.Migrate.Host, "#")
	to := k.c.volumeService(name)
	if to == nil || to.name() != name || to.disabled || !k.c.up(to.service, k.now) {
		return badRequest("Invalid host: No available service named '%s'", body.Migrate.Host)
	}
	v := k.c.volumes[i]
	if v.service == to {
		return badRequest("Invalid host: Destination host must be different than the current host.")
	}
	v.service = to
	return accepted()
}

// listPools lists where volumes can go: one pool for each service.
func listPools(k *call) reply {
	pools := []object{}
	for _, s := range k.c.volumeServices {
		pools = append(pools, object{"name": s.name() + "#" + s.backend, "capabilities": object{}})
	}
	return ok(object{"pools": pools})
}
