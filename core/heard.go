package core

import "time"

// Reporter is a service or an agent that reports every few seconds. While it does, the time of its last report says nothing new: the
// Engine keeps it apart from the facts, so that the reports of thousands of hosts cost nothing. See Snapshot.LastHeard.
type Reporter interface {
	Object
	// Reported is when it had reported last, as its object tells; zero when that is not known.
	Reported() time.Time
	// Reporting tells whether it does report, as OpenStack says.
	Reporting() bool
}

// Reported implements Reporter.
func (s *ComputeService) Reported() time.Time { return s.Updated }

// Reporting implements Reporter.
func (s *ComputeService) Reporting() bool { return s.Up }

// Reported implements Reporter.
func (v *VolumeService) Reported() time.Time { return v.Updated }

// Reporting implements Reporter.
func (v *VolumeService) Reporting() bool { return v.Up }

// Reported implements Reporter.
func (a *NetworkAgent) Reported() time.Time { return a.Heartbeat }

// Reporting implements Reporter.
func (a *NetworkAgent) Reporting() bool { return a.Alive }

// LastHeard is when the service or agent reported last; zero when that is not known, as in a recording for one that reports. Nothing that
// is derived from a Snapshot may rest on it for one that reports: it moves on while the facts stay.
func (s *Snapshot) LastHeard(r Reporter) time.Time {
	if s.Unheard && r.Reporting() {
		return time.Time{}
	}
	return Later(r.Reported(), s.Heard[r.Key()])
}
