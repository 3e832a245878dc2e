package procedure

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// holdsUp tells whether the node holds up the update: it is not through an hour after it was asked for, or LCM's work on it fails. The
// documents allow 20 to 40 minutes for a whole maintenance (docs/mosk.md#phases).
func (b *nodeSteps) holdsUp() bool {
	r := b.v.Request
	if r == nil || !r.Deleting.IsZero() || r.ByHand() || b.v.Node == nil {
		return false
	}
	switch b.v.Stage {
	case core.StageFailed:
		return true
	case core.StageDone, core.StageQueued:
		return false
	}
	m := progress.MachineOf(b.s, b.v.Name)
	failing := m != nil && (m.Failing != nil || m.Drain != nil && progress.DrainBlocked(m.Drain))
	return b.s.Longer(r.Created, progress.StageLong) || failing && b.s.Longer(r.Created, progress.RebootLong)
}

// lastResort adds the documents' only way out when a node blocks the update and cannot be mended (docs/mosk.md#when-it-hangs), and what
// it costs. Lockstep does not do it: it cannot be undone.
func (b *nodeSteps) lastResort() {
	if !b.holdsUp() {
		return
	}
	label := b.v.Label
	st := b.other("last-resort", "last resort: remove "+label+" from the cluster", "", core.StepLater,
		"if it cannot be mended: there is no way back from an update")
	st.Why = "The documents know no rollback of an update. When a node blocks it and cannot be mended, their only way out is to remove the " +
		"node and to complete the update without it. What it costs: all instances must leave it for good, stopped ones too, and all volumes on " +
		"its disks; data on its disks that is nowhere else is lost. The cluster has one host less, and Ceph copies what the host's OSDs held, " +
		"if it has some. The host comes back only as a new node, provisioned anew. Ask Mirantis support first."
	if b.v.Node.Is(core.RoleMaster) {
		st.Why = wording.Join("This is a Kubernetes master: the documents' procedure for masters is another one, and takes a replacement.",
			st.Why)
	}
	machine := "MACHINE"
	place := []string{"-n", "PROJECT"}
	if m := progress.MachineOf(b.s, b.v.Name); m != nil && b.s.Management.Namespace != "" {
		machine, place = m.Name, nil // the project comes with the command
	} else if b.v.Node.ShortName != "" {
		machine = b.v.Node.ShortName
	}
	st.Commands = []string{b.s.KubectlManagement(append(place, "edit", "machines.cluster.k8s.io", machine)...) +
		"  # management cluster; spec.providerSpec.value: delete: true, deletionPolicy: graceful"}
	if d := b.s.Span(b.v.Request.Created); d > 0 {
		st.Status = "in maintenance for " + wording.SpanText(d.Truncate(time.Minute)) + "; " + st.Status
	}
	b.add(st)
}
