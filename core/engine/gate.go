package engine

import (
	"context"
	"reflect"
	"slices"

	"lockstep/core"
	"lockstep/core/internal/permit"
)

// gate is the only way to a write. It asks, in this order: is writing armed, and is the lease ours; is the grant unchanged and in time;
// is the step still what was confirmed; do all its guards hold; is the grant unused.
func (e *Engine) gate(g core.Grant, step core.Step) (passage, error) {
	if err := e.mayWrite(); err != nil {
		return passage{}, err
	}
	if g.ID == "" {
		return passage{}, refuse("there is no grant")
	}
	if !e.cfg.Wall().Before(g.Expires) {
		return passage{}, refuse("the confirmation is older than %s; confirm again", g.Expires.Sub(g.At))
	}
	found, ours := e.grants.Load(g.ID)
	given, _ := found.(granted)
	if ours && !reflect.DeepEqual(given.grant, g) {
		return passage{}, refuse("the confirmation is not as it was given; confirm again")
	}
	if err := stillAs(e.Snapshot(), step, g.Target, g.Basis); err != nil {
		return passage{}, err
	}
	if ours && !reflect.DeepEqual(step.Change, given.change) {
		return passage{}, otherChange(given.change, step.Change)
	}
	if step.Type != "" && g.Typed != step.Type {
		return passage{}, refuse("the step now asks to type %s", step.Type)
	}
	if b := step.Blocker(); b != "" {
		return passage{}, refuse("%s", b)
	}
	if _, unused := e.grants.LoadAndDelete(g.ID); !unused {
		return passage{}, refuse("the confirmation was used already, or is not of this run")
	}
	return passageOf(g, given.change), nil
}

// passage is a grant that the gate has let through, and the changes that may be written under it.
type passage struct {
	grant   string
	changes []core.Change // the one that was confirmed, or those of a Batch's items
}

func passageOf(g core.Grant, c core.Change) passage {
	batch, isBatch := c.(core.Batch)
	if !isBatch {
		return passage{g.ID, []core.Change{c}}
	}
	p := passage{grant: g.ID}
	for _, item := range batch.Items {
		p.changes = append(p.changes, item.Change)
	}
	return p
}

// permit makes the Permit for one write of a step, if the change was confirmed and writing is allowed at this moment. The caller calls
// end as soon as the write has its answer.
func (e *Engine) permit(p passage, step core.Step, c core.Change) (of Permit, end func(), err error) {
	if err := e.mayWrite(); err != nil {
		return Permit{}, nil, err
	}
	if !slices.ContainsFunc(p.changes, func(confirmed core.Change) bool { return reflect.DeepEqual(confirmed, asConfirmed(c)) }) {
		return Permit{}, nil, refuse("this was not confirmed: %s", changeText(c))
	}
	of, end = permit.New(p.grant, step.ID, c)
	return of, end, nil
}

// asConfirmed is a change without what its check has added to it.
func asConfirmed(c core.Change) core.Change {
	if tags, ok := c.(core.SetMaintenanceTags); ok {
		tags.All = nil
		return tags
	}
	return c
}

// mayWrite tells whether writing is allowed at this moment; the error says why not.
func (e *Engine) mayWrite() error {
	if why := e.barred(); why != "" {
		return refuse("read-only: %s", why)
	}
	if e.ctx.Err() != nil {
		return refuse("Lockstep is leaving")
	}
	if !e.armed.Load() {
		return refuse("read-only: writing is not armed")
	}
	if e.cfg.Lease != nil && !e.cfg.Lease.Held() {
		return refuse("the operator lease is not ours any more")
	}
	return nil
}

// mayStillWrite tells the same, and also asks the server who holds the operator lease.
func (e *Engine) mayStillWrite(ctx context.Context) error {
	if err := e.mayWrite(); err != nil || e.cfg.Lease == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	if err := e.cfg.Lease.Confirm(ctx); err != nil {
		return refuse("not sure that the operator lease is still ours: %s", errorText(err))
	}
	return e.mayWrite()
}
