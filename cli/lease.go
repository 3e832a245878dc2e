package cli

import (
	"context"

	"lockstep/kube"
)

// checkedLease is the operator lease, taken only by a login that may also do what it is taken for: better refused now, with
// the missing right's name, than in the middle of a night.
type checkedLease struct {
	*kube.Lease
	access *kube.Access
	needs  func() []kube.Permission
}

// Acquire implements core.OperatorLease.
func (l *checkedLease) Acquire(ctx context.Context, takeOver bool) error {
	needs := l.needs()
	if err := l.access.Review(ctx, needs...); err != nil {
		return err
	}
	if missing := l.access.Forbidden("arm writing", needs...); missing != nil {
		return missing
	}
	return l.Lease.Acquire(ctx, takeOver)
}

// writeNeeds are the rights without which writing is not armed. Who plays the OpenStack controller cleans up behind nodes that are
// gone, in its place: to learn in the middle of it that the claims may not be deleted would be too late.
func (s *session) writeNeeds(leaseNamespace string) []kube.Permission {
	needs := kube.WritePermissions(leaseNamespace)
	if !s.cleansUp {
		return needs
	}
	var namespaces []string
	for _, set := range s.engine.Snapshot().StatefulSets {
		namespaces = append(namespaces, set.Namespace)
	}
	return append(needs, kube.ClaimPermissions(namespaces...)...)
}
