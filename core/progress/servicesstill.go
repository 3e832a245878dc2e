package progress

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// StillServices is that OpenStack's services make no progress in an update.
type StillServices struct {
	Since time.Time     // when the last of them came into another state
	Limit time.Duration // how long that is nothing to worry about
	Open  []string      // those that are not applied, each with its state; those that wait for others come last
}

// Why says it in one clause.
func (st StillServices) Why() string {
	return "no service of OpenStack has got further since " + wording.ClockText(st.Since) + ": " + wording.Some(st.Open, 3)
}

// ServicesStill tells whether OpenStack's services make no progress: none of them came into another state for half of the time that the
// documents allow for all of them, and for no less than ServicesStand. A service of a large cluster takes its time
// (docs/mosk.md#openstack-status).
func ServicesStill(s *core.Snapshot) (StillServices, bool) {
	request := s.ClusterRequest()
	if request == nil {
		return StillServices{}, false
	}
	limit := max(EstimatesOf(s).OpenStack()/2, ServicesStand)
	for _, o := range s.OpenStack {
		still := StillServices{Limit: limit}
		var wait []string
		for _, sv := range o.Services {
			still.Since = core.Later(still.Since, sv.Since)
			switch text := wording.OneLine(sv.Name+" "+sv.State, 60); sv.State {
			case "APPLIED":
			case "WAITING":
				wait = append(wait, text)
			default:
				still.Open = append(still.Open, text)
			}
		}
		still.Open = append(still.Open, wait...)
		if o.State == "APPLYING" && len(still.Open) > 0 && !still.Since.IsZero() && !still.Since.Before(request.Created) &&
			s.Longer(still.Since, limit) {
			return still, true
		}
	}
	return StillServices{}, false
}
