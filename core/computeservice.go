package core

import (
	"strings"
	"time"
)

// DisabledReasonMaintenance is the reason with which Rockoon disables a compute service. It enables a service again only
// when the reason is exactly this one.
const DisabledReasonMaintenance = "OSDPL: Node is under maintenance"

// ComputeService is a nova-compute service.
type ComputeService struct {
	ID             string // a UUID (microversion 2.53 and later)
	Host           string
	Enabled        bool
	DisabledReason string
	Up             bool
	ForcedDown     bool
	Zone           string
	Updated        time.Time // its last report when one of its other facts had changed; see Snapshot.LastHeard
}

// Key implements Object.
func (s *ComputeService) Key() string { return s.ID }

// Ref names the service by its host.
func (s *ComputeService) Ref() Ref { return Ref{Kind: KindComputeService, Name: s.Host, UID: s.ID} }

// DisabledByLockstep is how the reason begins that Lockstep proposes when it disables a service.
const DisabledByLockstep = "taken out of scheduling with Lockstep"

// ByLockstep tells whether the service was disabled with the reason that Lockstep proposes.
func (s *ComputeService) ByLockstep() bool {
	return !s.Enabled && strings.HasPrefix(s.DisabledReason, DisabledByLockstep)
}

// LeftDisabled tells whether the service was disabled for a maintenance: by the OpenStack controller, or with Lockstep.
func (s *ComputeService) LeftDisabled() bool {
	return !s.Enabled && s.DisabledReason == DisabledReasonMaintenance || s.ByLockstep()
}

// ServiceText is "enabled", "disabled, without a reason" or "disabled: why".
func ServiceText(s *ComputeService) string {
	if s.Enabled {
		return "enabled"
	}
	if s.DisabledReason == "" {
		return "disabled, without a reason"
	}
	return "disabled: " + s.DisabledReason
}
