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
	needs  []kube.Permission
}

// Acquire implements core.OperatorLease.
func (l *checkedLease) Acquire(ctx context.Context, takeOver bool) error {
	if err := l.access.Review(ctx, l.needs...); err != nil {
		return err
	}
	if missing := l.access.Forbidden("arm writing", l.needs...); missing != nil {
		return missing
	}
	return l.Lease.Acquire(ctx, takeOver)
}
