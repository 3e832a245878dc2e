package core

import (
	"context"
	"errors"
)

// PlanEvacuation reads what a plan needs and makes it, on the latest Snapshot. It blocks until OpenStack has answered, or
// ctx is done. progress may be nil.
func (e *Engine) PlanEvacuation(ctx context.Context, r EvacuationRequest, progress InventoryProgress) (EvacuationPlan, error) {
	if e.cfg.Evacuation == nil {
		return EvacuationPlan{}, errors.New("there is no connection to OpenStack to ask for room, groups and devices")
	}
	if progress == nil {
		progress = func(string, int) {}
	}
	hosts, traits := e.Snapshot().EvacuationHosts(r)
	facts := e.cfg.Evacuation.EvacuationFacts(ctx, hosts, traits, progress)
	if err := ctx.Err(); err != nil {
		return EvacuationPlan{}, err
	}
	r.Made = e.cfg.Wall()
	return PlanEvacuation(e.Snapshot(), facts, r) // what was learned meanwhile counts
}
