package core

import (
	"time"
)

// ColdMigration is a cold migration that Lockstep began, until its end is seen: confirmed, reverted, or failed.
type ColdMigration struct {
	Name  string    // of the instance, as it was called then
	From  string    // the host that it left
	Known int       // the newest migration record before it
	At    time.Time // when it was begun (cluster time)
	By    string
}

// NoteCold remembers a cold migration that Lockstep began, or may have begun, until Lockstep has seen it confirmed or reverted.
func NoteCold(cold map[string]ColdMigration, i Intent, ended OperationState, m ColdMigration) {
	switch i.Kind {
	case IntentColdMigrate:
		if ended == OperationDone || ended == OperationUnknown {
			cold[i.Instance] = m
		}
	case IntentConfirmResize, IntentRevertResize:
		if ended == OperationDone {
			delete(cold, i.Instance)
		}
	}
}
