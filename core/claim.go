package core

// VolumeClaim is what Lockstep keeps of a PersistentVolumeClaim.
type VolumeClaim struct {
	Meta
	Volume string // spec.volumeName: the PersistentVolume it is bound to; empty while unbound
}

// Ref names the claim.
func (c *VolumeClaim) Ref() Ref {
	return Ref{Kind: KindVolumeClaim, Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// PersistentVolume is what Lockstep keeps of a PersistentVolume.
type PersistentVolume struct {
	Meta
	Nodes []string // the kubernetes.io/hostname values of its required node affinity; none: it is not on a node's own disks
}
