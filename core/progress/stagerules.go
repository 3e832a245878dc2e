package progress

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// verdict is what a stage rule found.
type verdict struct {
	reason string     // the evidence, in one line
	what   string     // what happens there now, short
	since  core.Since // when the stage began, as far as the evidence tells; without a time when it does not
	open   bool       // what has been asked for and has not come yet can make it another stage
}

// exactly is the beginning of a stage at the time of its evidence, which may be missing.
func exactly(at time.Time) core.Since { return core.Since{At: at, Exact: !at.IsZero()} }

// stageRule is one row of the table of stages.
type stageRule struct {
	stage core.Stage
	find  func(f *stageFacts) (verdict, bool)
}

// stageRules are tried in order; the first that finds something counts. They follow the life of a node in
// docs/mosk.md#life-of-a-node: (a) request there, lock active, inner state inactive: queued; (b) inner state active: preparing or
// evacuating; (c) locks inactive: handed to LCM; (d) request being removed: returning; (e) no request, lock active: done.
var stageRules = []stageRule{
	{core.StageFailed, lockFailed},
	{core.StageWaiting, oursToLetGo},
	{core.StageReleased, nodeDeleted},
	{core.StageReturning, requestGoes},
	{core.StageReleased, removalReleased},
	{core.StageWaiting, removalHeld},
	{core.StageWaiting, oursToCleanUp},
	{core.StageWaiting, cleanupHeld},
	{core.StageWaiting, oursToRemove},
	{core.StageWaiting, oursToPrepare},
	{core.StageWaiting, oursToTakeBack},
	{core.StageUpdating, held}, // from the LCMMachine, where the management cluster is connected
	{core.StageDraining, lcmDrains},
	{core.StageRebooting, lcmReboots},
	{core.StageUpdating, lcmWorks},
	{core.StageRebooting, releasedNotReady},
	{core.StageUpdating, releasedBackUp},
	{core.StageDraining, releasedWithPods},
	{core.StageUpdating, releasedCordoned},
	{core.StageReleased, releasedOnly},
	{core.StageWaiting, lockInDeletion},
	{core.StagePreparing, otherLocksOnly},
	{core.StageWaiting, noComputeService},
	{core.StageWaiting, unknownMode},
	{core.StageWaiting, noScope},
	{core.StageWaiting, controllerGaveUp},
	{core.StagePreparing, failsSilently},
	{core.StageWaiting, handledBefore},
	{core.StageEvacuating, instancesMove},
	{core.StageWaiting, instancesInTheWay},
	{core.StageQueued, notBegun},
	{core.StagePreparing, atWork},
	{core.StageWaiting, ownLockLeft},
	{core.StageReturning, lockStillOpen},
	{core.StageDone, wentThrough},
	{core.StageIdle, nothingAsked},
}

func lockFailed(f *stageFacts) (verdict, bool) {
	if len(f.failed) == 0 {
		return verdict{}, false
	}
	controllers := strings.Join(f.failed, ", ")
	return verdict{reason: "the lock of " + controllers + " says failed", what: "lock failed: " + controllers}, true
}

// nodeDeleted is a node whose Node was deleted: it does not return, whatever its locks say.
func nodeDeleted(f *stageFacts) (verdict, bool) {
	if f.node == nil || f.node.Deleting.IsZero() || f.request != nil && f.request.Deleting.IsZero() {
		return verdict{}, false
	}
	v := verdict{reason: "its Node was deleted", what: "its Node goes", since: exactly(f.node.Deleting)}
	if HeldNode(f.s, f.node) != "" {
		v.reason += ", and waits for the OpenStack controller"
	}
	return v, true
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
	v := verdict{reason: "its request is being removed since " + wording.ClockText(f.request.Deleting) +
		f.tries("; the OpenStack controller "), what: what, since: exactly(f.request.Deleting)}
	if f.account.State == AccountUnseen && f.own != nil && f.own.State() != core.LockActive &&
		!PlaysOn(f.s, core.ControllerOpenStack, f.name) {
		v.reason, v.what = "its request is being removed since "+wording.ClockText(f.request.Deleting)+"; the OpenStack controller "+
			AccountText(f.s, f.account, true)+", so it takes nothing back", "request never seen"
	}
	return v, true
}

// lockStillOpen finds a node whose request is gone while a controller has not taken its lock back.
func lockStillOpen(f *stageFacts) (verdict, bool) {
	if !f.requestsKnown || len(f.locks) == 0 || len(f.active) == len(f.locks) {
		return verdict{}, false
	}
	var open []string
	for _, l := range f.locks {
		if l.State() == core.LockInactive {
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
		v.since = exactly(f.round.Ended)
	case f.node.ReadySince.After(f.cluster.Created):
		v.since = core.NotBefore(f.node.ReadySince) // it was taken back later
	}
	if at := v.since.At; !at.IsZero() {
		v.what = wording.ClockText(at)
	}
	return v, true
}

func nothingAsked(f *stageFacts) (verdict, bool) {
	v := verdict{reason: "nothing is asked of it"}
	switch {
	case !f.requestsKnown:
		v.reason = "the requests for its maintenance are not known: " + f.s.WhyUnknown(core.SourceNodeRequests)
	case f.node == nil:
		v.reason = "the cluster has no such node"
	case f.s.Deletions[f.name] != nil:
		v.reason, v.what = "it is to be deleted", "to be deleted"
	case f.s.Disablings[f.name] != nil:
		v.reason, v.what = "its machine is disabled", "disabled"
	case !f.ready:
		v.what = "not Ready" + wording.InBrackets(f.node.ReadyReason)
	case f.cordoned:
		v.what = "cordoned"
	}
	return v, true
}
