package core

// Stage is where one node stands in its maintenance.
type Stage string

// The stages, in the order in which a node goes through them.
const (
	StageIdle       Stage = "idle"            // nothing is asked of the node
	StageQueued     Stage = "queued"          // it has a request, and its controllers have not begun
	StagePreparing  Stage = "preparing"       // controllers prepare it; no instance is being moved
	StageEvacuating Stage = "evacuating"      // instances are being moved off it
	StageWaiting    Stage = "waiting for you" // it does not go on without the operator
	StageReleased   Stage = "released"        // all its locks are inactive; LCM has not begun
	StageDraining   Stage = "draining"        // LCM moves its pods
	StageUpdating   Stage = "updating"
	StageRebooting  Stage = "rebooting"
	StageReturning  Stage = "returning" // its request is being removed; controllers bring it back
	StageDone       Stage = "done"      // it went through its maintenance in this update
	StageFailed     Stage = "failed"    // a lock says failed
)

// Stages are all of them, in that order.
func Stages() []Stage {
	return []Stage{StageIdle, StageQueued, StagePreparing, StageEvacuating, StageWaiting, StageReleased, StageDraining, StageUpdating,
		StageRebooting, StageReturning, StageDone, StageFailed}
}
