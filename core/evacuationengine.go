package core

import (
	"context"
	"errors"
)

// ForecastEvacuation reads what a forecast needs and makes it, on the latest Snapshot. It blocks until OpenStack has answered, or
// ctx is done. progress may be nil.
func (e *Engine) ForecastEvacuation(ctx context.Context, r EvacuationRequest, progress InventoryProgress) (EvacuationForecast, error) {
	if e.cfg.Evacuation == nil {
		return EvacuationForecast{}, errors.New("there is no connection to OpenStack to ask for room, groups and devices")
	}
	if progress == nil {
		progress = func(string, int) {}
	}
	hosts, traits := e.Snapshot().EvacuationHosts(r)
	facts := e.cfg.Evacuation.EvacuationFacts(ctx, hosts, traits, progress)
	if err := ctx.Err(); err != nil {
		return EvacuationForecast{}, err
	}
	r.Made = e.cfg.Wall()
	return ForecastEvacuation(e.Snapshot(), facts, r) // what was learned meanwhile counts
}
