package core

import (
	"strings"
	"time"
)

// verdict is what a stage rule found.
type verdict struct {
	reason string    // the evidence, in one line
	what   string    // what happens there now, short
	at     time.Time // the evidence's time; zero when it has none
	exact  bool      // at is when the stage began, not just evidence of it
}

// stageRule is one row of the table of stages.
type stageRule struct {
	stage Stage
	find  func(f *stageFacts) (verdict, bool)
}

// stageRules are tried in order; the first that finds something counts. They follow the life of a node in docs/mosk.md#life-of-a-node:
// (a) request there, lock active, inner state inactive: queued; (b) inner state active: preparing or evacuating; (c) locks
// inactive: handed to LCM; (d) request being removed: returning; (e) no request, lock active: done.
var stageRules = []stageRule{
	{StageFailed, lockFailed},
	{StageReturning, requestGoes},
	{StageReleased, removalReleased},
	{StageWaiting, removalHeld},
	{StageWaiting, oursToCleanUp},
	{StageWaiting, cleanupHeld},
	{StageWaiting, oursToRemove},
	{StageWaiting, oursToPrepare},
	{StageWaiting, oursToTakeBack},
	{StageUpdating, held}, // what LCM says of the machine, where the management cluster is connected
	{StageDraining, lcmDrains},
	{StageRebooting, lcmReboots},
	{StageUpdating, lcmWorks},
	{StageRebooting, releasedNotReady},
	{StageUpdating, releasedBackUp},
	{StageDraining, releasedWithPods},
	{StageUpdating, releasedCordoned},
	{StageReleased, releasedOnly},
	{StageWaiting, lockInDeletion},
	{StagePreparing, otherLocksOnly},
	{StageWaiting, noComputeService},
	{StageWaiting, unknownMode},
	{StageWaiting, noScope},
	{StageWaiting, controllerGaveUp},
	{StagePreparing, failsSilently},
	{StageEvacuating, instancesMove},
	{StageWaiting, instancesInTheWay},
	{StageQueued, notBegun},
	{StagePreparing, atWork},
	{StageWaiting, ownLockLeft},
	{StageReturning, lockStillOpen},
	{StageDone, wentThrough},
	{StageIdle, nothingAsked},
}

func lockFailed(f *stageFacts) (verdict, bool) {
	if len(f.failed) == 0 {
		return verdict{}, false
	}
	controllers := strings.Join(f.failed, ", ")
	return verdict{reason: "the lock of " + controllers + " says failed", what: "lock failed: " + controllers}, true
}

func requestGoes(f *stageFacts) (verdict, bool) {
	if f.request == nil || f.request.Deleting.IsZero() {
		return verdict{}, false
	}
	what := f.downText()
	switch f.message.ID {
	case SaysComputeStaysDown:
		what = "nova-compute down"
	case SaysAgentsStayDown:
		if what == "" {
			what = "network agents down"
		}
	}
	if f.message.Class == MessageOutage {
		what = "an OpenStack API is away"
	}
	v := verdict{reason: "its request is being removed since " + clockText(f.request.Deleting) + f.tries("; the OpenStack controller "), what: what, at: f.request.Deleting, exact: true}
	if f.account.State == AccountUnseen && f.own != nil && f.own.State() != LockActive && !f.s.playsOn(ControllerOpenStack, f.name) {
		v.reason, v.what = "its request is being removed since "+clockText(f.request.Deleting)+"; the OpenStack controller "+f.s.AccountText(f.account, true)+", so it takes nothing back", "request never seen"
	}
	return v, true
}

// lockStillOpen is a node whose request is gone while a controller has not taken its lock back.
func lockStillOpen(f *stageFacts) (verdict, bool) {
	if !f.requestsKnown || len(f.locks) == 0 || len(f.active) == len(f.locks) {
		return verdict{}, false
	}
	var open []string
	for _, l := range f.locks {
		if l.State() == LockInactive {
			open = append(open, l.Controller)
		}
	}
	names := strings.Join(open, ", ")
	return verdict{reason: "its request is gone; the lock of " + names + " is not active again", what: "waits for " + names}, true
}

func wentThrough(f *stageFacts) (verdict, bool) {
	by := f.through()
	if by == "" {
		return verdict{}, false
	}
	v := verdict{reason: by}
	switch {
	case f.hasRound && f.round.Update == f.cluster.UID && !f.round.Ended.IsZero():
		v.at, v.exact = f.round.Ended, true
	case f.node.ReadySince.After(f.cluster.Created):
		v.at = f.node.ReadySince
	}
	if !v.at.IsZero() {
		v.what = clockText(v.at)
	}
	return v, true
}

func nothingAsked(f *stageFacts) (verdict, bool) {
	v := verdict{reason: "nothing is asked of it"}
	switch {
	case !f.requestsKnown:
		v.reason = "the requests for its maintenance are not known: " + f.s.whyUnknown(SourceNodeRequests)
	case f.node == nil:
		v.reason = "the cluster has no such node"
	case f.s.Deletions[f.name] != nil:
		v.reason, v.what = "it is to be deleted", "to be deleted"
	case f.s.Disablings[f.name] != nil:
		v.reason, v.what = "its machine is disabled", "disabled"
	case !f.ready:
		v.what = "not Ready" + inBrackets(f.node.ReadyReason)
	case f.cordoned:
		v.what = "cordoned"
	}
	return v, true
}
