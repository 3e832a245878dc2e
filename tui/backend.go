package tui

import (
	"context"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// Backend is everything behind the screen; *engine.Engine implements it. Its methods are called from commands, never while
// the screen is drawn, and may block until their context ends.
type Backend interface {
	// Subscribe returns a channel of Snapshots; it holds one, the latest wins.
	Subscribe() (snapshots <-chan *core.Snapshot, stop func())
	// Preview asks the servers whether they would accept the step, by a dry-run where the API has one.
	Preview(ctx context.Context, i core.Intent) core.Preview
	// Grant records that the operator confirmed exactly this step, with what was typed.
	Grant(step core.Step, typed string) (core.Grant, error)
	// Execute begins a granted step and returns once it is journalled and begun. Snapshots show its progress.
	Execute(ctx context.Context, g core.Grant) (operation string, err error)
	// Control pauses, resumes, stops a running operation, or skips an item of it.
	Control(operation string, c core.Control) error
	// LeaveOut has a running batch leave out an item that has not begun, by its place.
	LeaveOut(operation string, item int) error
	// Acknowledge marks a failed operation as seen.
	Acknowledge(operation string)
	// Note writes a note into the journal, a new one or a newer version, and returns it once it is kept. Nothing is written to a cluster.
	Note(ctx context.Context, n core.Note) (core.Note, error)
	// Lines reads the newest lines of the journal, the newest first: those after the one with the number, and no more than most.
	Lines(ctx context.Context, after int64, most int) ([]core.JournalLine, error)
	// Arm makes writing possible; it takes the operator lease over from the holder who is named as a Snapshot names it, and from no other.
	Arm(ctx context.Context, from string) error
	// LookAtLease has the operator lease looked up at once, and does not wait for it.
	LookAtLease()
	// Disarm makes writing impossible again and gives the lease back.
	Disarm()
	// ForecastEvacuation makes the forecast of an evacuation. It asks OpenStack, and reports what it has read on the way.
	ForecastEvacuation(ctx context.Context, r evacuation.Request, progress core.InventoryProgress) (evacuation.Forecast,
		error)
	// Focus says which node the operator looks at, so that its instances are kept fresh.
	Focus(node string)
}
