package core

import "time"

// MachineStage is that a machine has come to a stage of its maintenance, as LCM notes it. In practice there are often none
// (docs/mosk.md#stages).
type MachineStage struct {
	Machine string // the name of the object, which is the machine's
	Name    string // one of the names of stages, or another
	At      time.Time
}

// Names of the stages of a machine's maintenance (docs/mosk.md#stages).
const (
	LCMStageRequested = "Node maintenance requested"
	LCMStageReleased  = "Node workload locks inactive"
	LCMStageDrained   = "Kubernetes drained"
	LCMStageRemoved   = "Node maintenance request removed"
)
