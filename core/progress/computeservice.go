package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// ComputeDown tells whether nova-compute of the host is known to be down.
func ComputeDown(s *core.Snapshot, host string) bool {
	svc := s.Services[host]
	return svc != nil && (!svc.Up || svc.ForcedDown)
}

// OutOfSchedulingReason is the reason that Lockstep proposes when a host is taken out of scheduling.
func OutOfSchedulingReason(s *core.Snapshot) string {
	reason := core.DisabledByLockstep
	if s.Operator != "" {
		reason += " by " + wording.OneLine(s.Operator, 100)
	}
	return reason
}
