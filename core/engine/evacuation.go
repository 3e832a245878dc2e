package engine

import (
	"context"
	"errors"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// ForecastEvacuation reads what a forecast needs and makes it, on the latest Snapshot. It blocks until OpenStack has answered, or
// ctx is done. progress may be nil.
func (e *Engine) ForecastEvacuation(ctx context.Context, r evacuation.Request,
	progress core.InventoryProgress) (evacuation.Forecast, error) {
	if e.cfg.Evacuation == nil {
		return evacuation.Forecast{}, errors.New("there is no connection to OpenStack to ask for room, groups and devices")
	}
	if progress == nil {
		progress = func(string, int) {}
	}
	hosts, traits := evacuation.HostsAndTraits(e.Snapshot(), r)
	facts := e.cfg.Evacuation.EvacuationFacts(ctx, hosts, traits, progress)
	if err := ctx.Err(); err != nil {
		return evacuation.Forecast{}, err
	}
	r.Made = e.cfg.Wall()
	return evacuation.NewForecast(e.Snapshot(), facts, r) // what was learned meanwhile counts
}

// EvacuationReader reads what a forecast needs beyond a Snapshot. What cannot be read is in the facts' Missing.
type EvacuationReader interface {
	// EvacuationFacts reads them for instances on the hosts, for those of all hosts when there are none; the room is read of
	// every host. traits are those that flavors require.
	EvacuationFacts(ctx context.Context, hosts, traits []string, progress core.InventoryProgress) core.EvacuationFacts
}
