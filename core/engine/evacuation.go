package engine

import (
	"context"
	"errors"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// ForecastEvacuation reads what a forecast needs beyond the latest Snapshot, and makes the forecast. It blocks until OpenStack has
// answered, or ctx is done. progress may be nil.
func (e *Engine) ForecastEvacuation(ctx context.Context, r evacuation.Request,
	progress core.InventoryProgress) (evacuation.Forecast, error) {
	if e.cfg.Evacuation == nil {
		return evacuation.Forecast{}, errors.New("there is no connection to OpenStack to ask for room, groups and devices")
	}
	if progress == nil {
		progress = func(string, int) {}
	}
	facts := e.cfg.Evacuation.EvacuationFacts(ctx, evacuation.Query(e.Snapshot(), r), progress)
	if err := ctx.Err(); err != nil {
		return evacuation.Forecast{}, err
	}
	r.Made = e.cfg.Wall()
	return evacuation.NewForecast(e.Snapshot(), facts, r) // the Snapshot may be newer by now
}

// EvacuationReader reads what a forecast needs beyond a Snapshot. What it cannot read is listed in the facts' Missing.
type EvacuationReader interface {
	// EvacuationFacts reads the facts about the instances on the query's hosts, and the room of every host. progress may be nil.
	EvacuationFacts(ctx context.Context, q core.EvacuationQuery, progress core.InventoryProgress) core.EvacuationFacts
}
