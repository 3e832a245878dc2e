package core

import (
	"fmt"
	"slices"
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

// stageRules are tried in order; the first that finds something counts. They follow the life of a node in mosk-facts 4.1:
// (a) request there, lock active, inner state inactive: queued; (b) inner state active: preparing or evacuating; (c) locks
// inactive: handed to LCM; (d) request being removed: returning; (e) no request, lock active: done.
var stageRules = []stageRule{
	{StageFailed, lockFailed},
	{StageReturning, requestGoes},
	{StageReleased, removalReleased},
	{StageWaiting, removalHeld},
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
	{StagePreparing, otherLocksOnly},
	{StageWaiting, unknownMode},
	{StageWaiting, controllerGaveUp},
	{StageEvacuating, instancesMove},
	{StageWaiting, instancesInTheWay},
	{StageQueued, notBegun},
	{StagePreparing, atWork},
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
	case "M":
		what = "nova-compute down"
	case "P":
		if what == "" {
			what = "network agents down"
		}
	}
	if f.message.Class == MessageOutage {
		what = "an OpenStack API is away"
	}
	return verdict{reason: "its request is being removed since " + clockText(f.request.Deleting), what: what, at: f.request.Deleting, exact: true}, true
}

// removed tells whether the node is to be removed, and nothing else is asked of it.
func (f *stageFacts) removed() (*NodeNotice, bool) {
	d := f.s.Deletions[f.name]
	return d, d != nil && f.request == nil && f.requestsKnown && f.node != nil
}

func removalReleased(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || !f.released || len(f.locks) == 0 {
		return verdict{}, false
	}
	return verdict{reason: "its locks are released: LCM removes it", what: "being removed", at: d.Created}, true
}

// removalHeld is a node that does not go before somebody has taken off it what is left (texts S and T).
func removalHeld(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || f.own == nil || f.own.State() == LockInactive {
		return verdict{}, false
	}
	left := len(f.s.InstancesOn(f.name))
	switch {
	case f.computeKnown && left > 0:
		return verdict{reason: "to be removed, and " + count(left, "instance") + verb(left, " is", " are") + " left on it", what: "to be removed: " + count(left, "instance") + " left", at: d.Created, exact: true}, true
	case f.message.ID == "T":
		return verdict{reason: "to be removed, and volumes are left on it", what: "to be removed: volumes left", at: d.Created, exact: true}, true
	}
	return verdict{}, false
}

// ours is the turn of the OpenStack controller on a node where Lockstep plays it.
func (f *stageFacts) ours() actTurn {
	a, played := f.s.actAs(ControllerOpenStack)
	if !played || !a.holds(f.node) {
		return turnNone
	}
	return f.s.actTurn(a, f.name)
}

func oursToPrepare(f *stageFacts) (verdict, bool) {
	if f.ours() != turnPrepare {
		return verdict{}, false
	}
	v := verdict{reason: "its request is there, and you play the OpenStack controller: prepare it", what: "to be prepared", at: f.request.Created, exact: true}
	if f.working() && f.evacuates() && f.computeKnown && f.on.blocking > 0 {
		v.reason, v.what = "you play the OpenStack controller, and "+count(f.on.blocking, "instance")+" must leave or stop first", count(f.on.blocking, "instance")+" left"
	}
	return v, true
}

// oursToRemove is a node with nothing left on it whose removal waits for a played controller.
func oursToRemove(f *stageFacts) (verdict, bool) {
	if f.ours() != turnRemove {
		return verdict{}, false
	}
	return verdict{reason: "its removal is asked for, and you play the OpenStack controller: let it go", what: "to be let go", at: f.s.Deletions[f.name].Created, exact: true}, true
}

func oursToTakeBack(f *stageFacts) (verdict, bool) {
	if f.ours() != turnReturn {
		return verdict{}, false
	}
	v := verdict{reason: "its request is over, and you play the OpenStack controller: take it back", what: "to be taken back"}
	if f.request != nil {
		v.at, v.exact = f.request.Deleting, true
	}
	return v, true
}

// handed tells whether LCM has the node: every lock is inactive, or none holds it.
func handed(f *stageFacts) bool {
	if f.handled() {
		return true
	}
	return f.leaving() && f.released && (f.locksKnown || len(f.locks) > 0)
}

func releasedNotReady(f *stageFacts) (verdict, bool) {
	if !handed(f) || f.node == nil || f.ready || !f.reboot {
		return verdict{}, false
	}
	return verdict{reason: fmt.Sprintf("handed to LCM, and not Ready since %s%s", clockText(f.node.ReadySince), inBrackets(f.node.ReadyReason)),
		what: "not Ready" + inBrackets(f.node.ReadyReason), at: f.node.ReadySince, exact: true}, true
}

// releasedBackUp is a node that has rebooted and that LCM has not given back yet.
func releasedBackUp(f *stageFacts) (verdict, bool) {
	switch {
	case !handed(f) || f.node == nil:
		return verdict{}, false
	case !f.ready: // scope drain: the kubelet restarts
		return verdict{reason: "handed to LCM, and not Ready since " + clockText(f.node.ReadySince) + "; the request's scope is drain", what: "kubelet restarts",
			at: f.node.ReadySince, exact: true}, true
	case f.cordoned && f.rebooted():
		return verdict{reason: "Ready again since " + clockText(f.node.ReadySince) + ", still cordoned", what: "Ready again",
			at: f.node.ReadySince, exact: true}, true
	case !f.cordoned && (f.rebooted() || f.wasIn(StageDraining, StageUpdating, StageRebooting)) && f.request != nil:
		return verdict{reason: "not cordoned any more; LCM is about to remove the request", what: "uncordoned"}, true
	}
	return verdict{}, false
}

func (f *stageFacts) wasIn(stages ...Stage) bool {
	return f.hadStage && slices.Contains(stages, f.before.Stage)
}

func releasedWithPods(f *stageFacts) (verdict, bool) {
	if !handed(f) || !f.cordoned || f.pods == nil || f.pods.Evictable == 0 {
		return verdict{}, false
	}
	return verdict{reason: fmt.Sprintf("handed to LCM and cordoned; %s to move", count(f.pods.Evictable, "pod")), what: count(f.pods.Evictable, "pod") + " left",
		at: f.handedAt()}, true
}

func releasedCordoned(f *stageFacts) (verdict, bool) {
	if !handed(f) || !f.cordoned {
		return verdict{}, false
	}
	if f.pods == nil {
		return verdict{reason: "handed to LCM and cordoned; its pods are not known (" + f.s.whyUnknown(SourceNodePods) + "), so it may still be draining", at: f.handedAt()}, true
	}
	return verdict{reason: "handed to LCM, cordoned, and drained", what: "drained", at: f.handedAt()}, true
}

func releasedOnly(f *stageFacts) (verdict, bool) {
	if !handed(f) {
		return verdict{}, false
	}
	if len(f.locks) == 0 {
		return verdict{reason: "its request is there since " + clockText(f.request.Created) + ", and no lock holds it", at: f.request.Created}, true
	}
	return verdict{reason: "all its locks are inactive; LCM has not begun", what: "LCM is next", at: f.handedAt()}, true
}

// handedAt is when the last lock became inactive, as far as it was seen.
func (f *stageFacts) handedAt() time.Time {
	var at time.Time
	for _, l := range f.locks {
		if r := f.s.History.Locks[l.UID]; r.State == LockInactive && r.Since.Exact && r.Since.At.After(at) {
			at = r.Since.At
		}
	}
	if at.IsZero() && f.request != nil {
		at = f.request.Created
	}
	return at
}

// otherLocksOnly is a node that the OpenStack controller has released, or never held, and others have not.
func otherLocksOnly(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.own != nil && f.own.State() != LockInactive {
		return verdict{}, false
	}
	waits := strings.Join(f.otherWaits(), ", ")
	return verdict{reason: "waits for the lock of " + waits, what: "waits for " + waits, at: f.requestAt()}, true
}

func (f *stageFacts) requestAt() time.Time {
	if f.request == nil {
		return time.Time{}
	}
	return f.request.Created
}

func unknownMode(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.mode.Known() || !f.evacuates() || !f.working() {
		return verdict{}, false
	}
	mode := oneLine(string(f.mode), 40)
	return verdict{reason: fmt.Sprintf("its migration mode %q is none that the OpenStack controller knows: its handler fails on it", mode),
		what: fmt.Sprintf("unknown mode %q", mode), at: f.requestAt()}, true
}

// controllerGaveUp is a controller that says it needs a person, and is still right.
func controllerGaveUp(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.message.Class != MessageActionable {
		return verdict{}, false
	}
	if f.message.ID != "J" {
		return verdict{reason: "the OpenStack controller says: " + oneLine(f.message.Text, 300), what: f.message.Meaning, at: f.message.At}, true
	}
	if f.computeKnown {
		// The text is as old as the controller's last look; the instances say how it is now.
		if f.on.blocking == 0 {
			return verdict{}, false
		}
		if f.mode != ModeManual && f.on.migrating > 0 {
			return verdict{}, false
		}
	}
	v := verdict{reason: f.message.Meaning, at: f.message.At}
	if f.mode == ModeManual {
		v.reason = "manual mode: the operator moves the instances"
		if r := f.requestAt(); !r.IsZero() {
			v.at = r
		}
	}
	v.what = f.inTheWay()
	return v, true
}

// inTheWay is "2 live, 1 notify", with what moves by the operator's hand.
func (f *stageFacts) inTheWay() string {
	if !f.computeKnown {
		if n := len(f.message.Instances); n > 0 {
			return count(n, "instance") + " left"
		}
		return "instances are not known"
	}
	what := f.blockingText()
	if f.on.manual == f.on.blocking {
		what = count(f.on.blocking, "instance")
	}
	if f.on.migrating > 0 {
		what += fmt.Sprintf(", %d moving", f.on.migrating)
	}
	return what
}

func instancesMove(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.evacuates() {
		return verdict{}, false
	}
	byHand := f.mode == ModeManual && f.working() && f.on.blocking > 0 && f.on.movable == 0 && f.message.Class != MessageProgress
	switch {
	case byHand:
		return verdict{}, false // the operator moves them, and is waited for
	case f.gaveUpBefore():
		return verdict{}, false
	case f.on.migrating > 0:
		return verdict{reason: fmt.Sprintf("%s under way from it", count(f.on.migrating, "migration")), what: f.movedText(), at: f.on.since}, true
	case f.message.Class == MessageProgress && (!f.computeKnown || f.on.blocking > 0):
		return verdict{reason: "the OpenStack controller says: " + oneLine(f.message.Text, 200), what: f.movedText(), at: f.requestAt()}, true
	case f.working() && f.message.ID == "K":
		return verdict{reason: f.message.Meaning, what: "OpenStack API away; " + f.movedText(), at: f.requestAt()}, true
	case f.working() && f.message.Class != MessageWaiting && f.on.movable > 0:
		return verdict{reason: fmt.Sprintf("the OpenStack controller works on it, and %s to move", count(f.on.movable, "instance")), what: f.movedText(), at: f.requestAt()}, true
	}
	return verdict{}, false
}

// gaveUpBefore tells whether the controller, after it gave up, begins anew with what it could not move before, as it does
// every 60 s (mosk-facts 4.1), and nothing moves yet. The node waits for the operator until something does.
func (f *stageFacts) gaveUpBefore() bool {
	return f.computeKnown && f.on.migrating == 0 && f.on.blocking > 0 && f.message.Class == MessageProgress && f.hadStage && f.before.Stage == StageWaiting
}

// instancesInTheWay sees what the controller will say at its next look: nothing that it would move is left, and something
// else holds the lock.
func instancesInTheWay(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.evacuates() || !f.working() || f.on.blocking == 0 || f.message.Class == MessageWaiting || f.message.Class == MessageOutage {
		return verdict{}, false
	}
	reason := "instances are left that nothing but the operator moves"
	switch {
	case f.mode == ModeManual:
		reason = "manual mode: the operator moves the instances"
	case f.gaveUpBefore():
		reason = "the OpenStack controller gave up, and begins anew: " + oneLine(f.message.Text, 200)
	}
	return verdict{reason: reason, what: f.inTheWay(), at: f.requestAt()}, true
}

func notBegun(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.working() {
		return verdict{}, false
	}
	v := verdict{reason: "its request is there, and the OpenStack controller has not begun", at: f.requestAt(), exact: true}
	if f.message.Class == MessageWaiting {
		v.reason = f.message.Meaning
		v.what = map[string]string{"F": "others come first", "A": "controller not updated yet"}[f.message.ID]
	}
	return v, true
}

func atWork(f *stageFacts) (verdict, bool) {
	if !f.leaving() {
		return verdict{}, false
	}
	v := verdict{reason: "the OpenStack controller prepares it", at: f.requestAt()}
	switch {
	case f.message.ID == "G":
		v.reason, v.what = f.message.Meaning, "deferred: "+some(f.message.Blockers, 3)
	case f.message.Class == MessageWaiting:
		v.reason = f.message.Meaning
	case f.message.Class == MessageOutage:
		v.reason, v.what = f.message.Meaning, "OpenStack API away"
	case f.message.Class == MessageUnknown:
		v.reason = "the OpenStack controller says: " + oneLine(f.message.Text, 200)
	case f.evacuates() && f.computeKnown && f.on.blocking == 0:
		v.reason = "nothing holds the lock any more; the controller looks again within 60 s"
		v.what = "nothing in the way"
	case f.evacuates() && !f.computeKnown:
		v.reason += "; its instances are not known: " + f.s.whyUnknown(SourceInstances)
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
