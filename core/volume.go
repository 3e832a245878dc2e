package core

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core/wording"
)

// HostVolumes are the volumes that lie on a host's own disks.
type HostVolumes struct {
	Host    string // without a back end
	Volumes []Volume
}

// Key implements Object.
func (h *HostVolumes) Key() string { return h.Host }

// Volume is a Cinder volume with the instances that it is attached to.
type Volume struct {
	ID        string
	Name      string
	Host      string // "cmp-04@lvm#lvm": the cinder-volume that serves it; empty when Cinder does not show it
	Encrypted bool
	Instances []string // IDs

	SizeGiB   int
	Status    string // available, in-use, error, …
	ProjectID string
}

// VolumeService is a cinder-volume service: one back end of one host. The services of back ends on a node's own
// disks (LVM) have the node's name; those of Ceph have a host name that is not a node's (docs/mosk.md#services).
type VolumeService struct {
	Host           string // "cmp-04@lvm": host and back end, Cinder's only ID for it; without "@" there is no back end
	Enabled        bool
	DisabledReason string // why it is disabled; empty when nobody said
	Up             bool   // it reports
	Zone           string
	Updated        time.Time // its last report, or the last change of it
	// Behind says that Cinder lists another service of the same machine before this one. The OpenStack controller names only the
	// machine, and so never reaches this one (docs/mosk.md#services).
	Behind bool
}

// Key implements Object.
func (v *VolumeService) Key() string { return v.Host }

// Ref names the service. Cinder has no other ID for it than its host.
func (v *VolumeService) Ref() Ref { return Ref{Kind: KindVolumeService, Name: v.Host, UID: v.Host} }

// Machine is the host without its back end.
func (v *VolumeService) Machine() string { return VolumeMachine(v.Host) }

// VolumeMachine is the host in what Cinder calls a host: "cmp-04" of "cmp-04@lvm#lvm".
func VolumeMachine(host string) string {
	name, _, _ := strings.Cut(host, "@")
	name, _, _ = strings.Cut(name, "#")
	return name
}

// VolumeBackend is the back end in it: "lvm" of "cmp-04@lvm#lvm"; empty when there is none.
func VolumeBackend(host string) string {
	_, backend, _ := strings.Cut(host, "@")
	backend, _, _ = strings.Cut(backend, "#")
	return backend
}

// Label is what people call the service on a node: "cinder-volume lvm".
func (v *VolumeService) Label() string { return VolumeLabel(v.Host) }

// VolumeLabel is "cinder-volume lvm" for Cinder's host "cmp-04@lvm".
func VolumeLabel(host string) string {
	return strings.TrimSpace("cinder-volume " + wording.OneLine(VolumeBackend(host), 40))
}

// StateText is "enabled" or "disabled: why".
func (v *VolumeService) StateText() string {
	return ServiceText(&ComputeService{Enabled: v.Enabled, DisabledReason: v.DisabledReason})
}

// Text is the state of the service, and whether it reports: "disabled: a dead disk, down".
func (v *VolumeService) Text() string { return v.StateText() + ", " + v.UpText() }

// UpText is "up" or "down".
func (v *VolumeService) UpText() string {
	if v.Up {
		return "up"
	}
	return "down"
}

// ForMaintenance tells whether it was disabled for a maintenance, by Rockoon or by Lockstep in its place.
func (v *VolumeService) ForMaintenance() bool {
	return !v.Enabled && v.DisabledReason == DisabledReasonMaintenance
}

// LeftDisabled tells whether it was disabled for a maintenance: by the OpenStack controller, or with Lockstep.
func (v *VolumeService) LeftDisabled() bool {
	return v.ForMaintenance() || !v.Enabled && strings.HasPrefix(v.DisabledReason, DisabledByLockstep)
}

var dottedVolumes Derivation[map[string]string]

// VolumeServicesOn are the cinder-volume services that run as the node, by back end.
func (s *Snapshot) VolumeServicesOn(node string) []*VolumeService {
	if all := s.VolumeServices[node]; len(all) > 0 {
		return all
	}
	if all := s.VolumeServices[s.HostOf(node)]; len(all) > 0 {
		return all
	}
	dotted := dottedVolumes.Of(s, func(s *Snapshot) map[string]string {
		m := map[string]string{}
		for _, host := range slices.Sorted(maps.Keys(s.VolumeServices)) {
			if short, _, has := strings.Cut(host, "."); has && m[short] == "" {
				m[short] = host
			}
		}
		return m
	})
	return s.VolumeServices[dotted[node]]
}

// VolumeService is the node's service of that host in Cinder; nil when there is none.
func (s *Snapshot) VolumeService(node, host string) *VolumeService {
	all := s.VolumeServicesOn(node)
	if i := slices.IndexFunc(all, func(v *VolumeService) bool { return v.Host == host }); i >= 0 {
		return all[i]
	}
	return nil
}

// VolumeHostOf is the name under which Cinder knows the node; the node's own unless a service has another.
func (s *Snapshot) VolumeHostOf(node string) string {
	if all := s.VolumeServicesOn(node); len(all) > 0 {
		return all[0].Machine()
	}
	return s.HostOf(node)
}

// NoCinder tells whether the cloud has no block storage at all: then nothing waits for it.
func (s *Snapshot) NoCinder() bool {
	return s.Sources[SourceVolumeServices].State == SourceAbsent && len(s.VolumeServices) == 0
}

// VolumesOn are the volumes on the node's own disks, by name, and whether that is known.
func (s *Snapshot) VolumesOn(node string) (volumes []Volume, known bool) {
	h := s.Volumes[s.VolumeHostOf(node)]
	if h == nil || !s.Known(SourceVolumes) {
		return nil, false
	}
	volumes = slices.Clone(h.Volumes)
	slices.SortFunc(volumes, func(a, b Volume) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID)) })
	return volumes, true
}
