package evacuation

import (
	"fmt"

	"lockstep/core"
)

// Where Nova keeps the disks that it makes from images (spec.features.nova.images.backend of the OpenStackDeployment; Rockoon's
// schema osdpl.yaml). All but Ceph are on the host's own storage.
const (
	disksCeph = "ceph"
	disksLVM  = "lvm"
)

// hostDisks is where Nova keeps the disks that it makes from images; known, whether the OpenStackDeployment says so; perNode, whether
// some nodes have another back end (which ones is not looked at).
type hostDisks struct {
	backend string
	known   bool
	perNode bool
}

// disks reads hostDisks from the OpenStackDeployment.
func disks(s *core.Snapshot) hostDisks {
	if len(s.Deployments) != 1 || !s.Known(core.SourceOpenStackDeployment) {
		return hostDisks{}
	}
	d := s.Deployments[0]
	h := hostDisks{backend: d.Disks, known: d.Disks != ""}
	for _, own := range d.NodeDisks {
		h.perNode = h.perNode || own != d.Disks
	}
	return h
}

// note says for the whole forecast where such disks are.
func (h hostDisks) note() string {
	const field = "spec.features.nova.images.backend of the OpenStackDeployment"
	switch {
	case h.perNode:
		return "Where disks made from images lie is set per node in the OpenStackDeployment (spec.nodes): it is not known per node. MOSK " +
			"warns of live-migrating those on LVM."
	case !h.known:
		return "Whether disks made from images lie on shared storage is not known: see " + field + ". MOSK warns of live-migrating those on LVM."
	case h.backend == disksCeph:
		return "Disks made from images lie in Ceph, by " + field + "."
	}
	return fmt.Sprintf("Disks made from images lie on the hosts' own storage (%s), by %s.", core.Tidy(h.backend), field)
}

// hostDisksRule is about instances with a disk made from an image: those whose flavor has a disk. Flavors for instances that boot from
// a volume have none.
var hostDisksRule = rule{KindDisk, func(c *candidate) (Level, string) {
	h := c.e.disks
	switch {
	case c.in.Flavor().DiskGiB <= 0:
		return "", ""
	case h.perNode:
		return LevelUnknown, "where its disks made from an image lie is set per node: not known per node"
	case !h.known || h.backend == disksCeph:
		return "", ""
	case h.backend == disksLVM:
		return LevelRisk, "its disks made from an image lie on the host's LVM: MOSK warns of live-migrating those"
	}
	return LevelNote, "its disks made from an image lie on the host's own storage: they are copied with it, and that takes longer"
}, "cold-migrate it (it stops for that), or let it go down with the host"}
