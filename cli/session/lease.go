package session

import (
	"context"

	"lockstep/kube"
)

// checkedLease is the operator lease. It is taken only by a login that has the rights to write: a refusal that names the missing
// right is better now than in the middle of the night.
type checkedLease struct {
	*kube.Lease
	access *kube.Access
	needs  func() []kube.Permission
}

// Acquire implements engine.OperatorLease.
func (l *checkedLease) Acquire(ctx context.Context, from string) error {
	needs := l.needs()
	if err := l.access.Review(ctx, needs...); err != nil {
		return err
	}
	if missing := l.access.Forbidden("arm writing", needs...); missing != nil {
		return missing
	}
	return l.Lease.Acquire(ctx, from)
}

// writeNeeds are the rights without which writing is not armed. Playing the OpenStack controller includes the clean-up after
// nodes that are gone: in the middle of it, it is too late to learn that the claims may not be deleted.
func (s *Session) writeNeeds(leaseNamespace string) []kube.Permission {
	needs := kube.WritePermissions(leaseNamespace)
	if !s.cleansUp {
		return needs
	}
	var namespaces []string
	for _, set := range s.Engine.Snapshot().StatefulSets {
		namespaces = append(namespaces, set.Namespace)
	}
	return append(needs, kube.ClaimPermissions(namespaces...)...)
}
