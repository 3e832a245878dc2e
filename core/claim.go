package core

// VolumeClaim is what Lockstep keeps of a PersistentVolumeClaim.
type VolumeClaim struct {
	Meta
	Volume string // spec.volumeName: the PersistentVolume that it is bound to; empty while there is none
}

// Ref names the claim.
func (c *VolumeClaim) Ref() Ref {
	return Ref{Kind: KindVolumeClaim, Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// PersistentVolume is what Lockstep keeps of a PersistentVolume.
type PersistentVolume struct {
	Meta
	Nodes []string // what its required node affinity names by kubernetes.io/hostname; none: it is on no node's own disks
}
