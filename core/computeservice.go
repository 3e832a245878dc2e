package core

import (
	"strings"
)

// DisabledByLockstep begins the reason that Lockstep proposes for a service that is disabled with it.
const DisabledByLockstep = "taken out of scheduling with Lockstep"

// ByLockstep tells whether the service was disabled with the reason that Lockstep proposes.
func (s *ComputeService) ByLockstep() bool {
	return !s.Enabled && strings.HasPrefix(s.DisabledReason, DisabledByLockstep)
}

// LeftDisabled tells whether the service was disabled for a maintenance: by the OpenStack controller, or with Lockstep.
func (s *ComputeService) LeftDisabled() bool {
	return !s.Enabled && s.DisabledReason == DisabledReasonMaintenance || s.ByLockstep()
}

func ServiceText(s *ComputeService) string {
	if s.Enabled {
		return "enabled"
	}
	if s.DisabledReason == "" {
		return "disabled, without a reason"
	}
	return "disabled: " + s.DisabledReason
}
