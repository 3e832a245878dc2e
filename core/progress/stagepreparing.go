package progress

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// otherLocksOnly finds a node that the OpenStack controller has released, or never held, and that other controllers still hold.
func otherLocksOnly(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.own != nil && f.own.State() != core.LockInactive {
		return verdict{}, false
	}
	names := f.otherWaits()
	if len(names) == 0 && !f.locksKnown {
		return verdict{reason: "asked for; its locks are not known: " + f.s.WhyUnknown(core.SourceNodeLocks), what: "locks not known",
			since: core.NotBefore(f.requestAt())}, true
	}
	for i, name := range names {
		names[i] += wording.InBrackets(f.lcmWaits().LockState(name))
	}
	waits := strings.Join(names, ", ")
	return verdict{reason: "waits for the lock of " + waits, what: "waits for " + waits, since: core.NotBefore(f.requestAt())}, true
}

func (f *stageFacts) requestAt() time.Time {
	if f.request == nil {
		return time.Time{}
	}
	return f.request.Created
}

func unknownMode(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.Mode.Known() || !f.evacuates() || !f.working() {
		return verdict{}, false
	}
	mode := wording.OneLine(string(f.Mode), 40)
	return verdict{reason: fmt.Sprintf("the OpenStack controller does not know its migration mode %q, and its handler fails on it", mode),
		what: fmt.Sprintf("unknown mode %q", mode), since: core.NotBefore(f.requestAt())}, true
}

// noScope finds a node that the OpenStack controller has begun, and on whose request it fails.
func noScope(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !LacksScope(f.request) || !f.working() || f.own.State() != core.LockActive {
		return verdict{}, false
	}
	again := ""
	if f.tries("") != "" {
		again = "; it " + AccountText(f.s, f.account, true) // the reason of the failure is stated already
	}
	return verdict{reason: Scopeless + again, what: "request without a scope", since: core.NotBefore(f.requestAt())}, true
}

// controllerGaveUp finds a controller that says it needs a person, and is still right.
func controllerGaveUp(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.message.Class != MessageActionable {
		return verdict{}, false
	}
	if f.message.ID != SaysLeftToOperator {
		return verdict{reason: "the OpenStack controller says: " + wording.OneLine(f.message.Text, wording.MostRead), what: f.message.Meaning,
			since: core.Since{At: f.message.At}}, true
	}
	if f.computeKnown {
		// The text is as old as the controller's last look; the instances show the present state.
		if f.on.blocking == 0 {
			return verdict{}, false
		}
		if f.Mode != core.ModeManual && f.on.migrating > 0 && !f.on.inVain {
			return verdict{}, false
		}
	}
	v := verdict{reason: f.message.Meaning, since: core.Since{At: f.message.At}}
	if f.Mode == core.ModeManual {
		v.reason = "manual mode: the operator moves the instances"
		if r := f.requestAt(); !r.IsZero() {
			v.since = core.NotBefore(r)
		}
	}
	v.what = f.inTheWay()
	return v, true
}

// inTheWay is "2 live, 1 notify", with what the operator has to move.
func (f *stageFacts) inTheWay() string {
	if !f.computeKnown {
		if n := len(f.message.Instances); n > 0 {
			return wording.Count(n, "instance") + " left"
		}
		return "instances are not known"
	}
	what := f.blockingText()
	if f.on.manual == f.on.blocking {
		what = wording.Count(f.on.blocking, "instance")
	}
	if f.on.migrating > 0 {
		what += fmt.Sprintf(", %d moving", f.on.migrating)
	}
	return what
}

// failsSilently finds a controller that has begun the node and fails with an exception that no lock shows: it moves nothing then.
func failsSilently(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.working() || f.own.State() != core.LockActive || f.on.migrating > 0 || f.account.OnLock(f.message) ||
		PlaysOn(f.s, core.ControllerOpenStack, f.name) {
		return verdict{}, false
	}
	switch f.account.State {
	case AccountRetries, AccountWorks, AccountGaveUp: // each of these has failed
	default:
		return verdict{}, false
	}
	switch kind, _ := Failure(f.s, f.account, f.name); kind {
	case FailureService, FailureTries, FailureOther:
	default:
		return verdict{}, false
	}
	return verdict{reason: "the OpenStack controller fails on it without a word" + f.tries("; it "), what: "fails without a word",
		since: core.NotBefore(f.requestAt())}, true
}

// handledBefore finds a lock that somebody set active after the OpenStack controller was through with the request: the controller looks
// at it again only when the request changes, or when it starts (docs/mosk.md#node-request).
func handledBefore(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !HeldUnlooked(f.s, f.name) {
		return verdict{}, false
	}
	return verdict{reason: "the OpenStack controller is through with its request, and does not look at the lock again by itself",
		what: "nobody releases its lock", since: f.s.History.StateSince(f.own)}, true
}

// HeldUnlooked tells whether the OpenStack controller's lock holds the node though the controller is through with its request.
func HeldUnlooked(s *core.Snapshot, node string) bool {
	r, l := s.NodeRequest(node), s.NodeLock(node, core.ControllerOpenStack)
	if r == nil || !r.Deleting.IsZero() || l == nil || l.State() != core.LockActive || PlaysOn(s, core.ControllerOpenStack, node) ||
		RequestAccount(s, r).State != AccountHandled {
		return false
	}
	since := s.History.StateSince(l).At // the lock and the request are two streams
	return !since.IsZero() && s.Reached(since.Add(InnerSettles))
}

func instancesMove(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.evacuates() {
		return verdict{}, false
	}
	byHand := f.Mode == core.ModeManual && f.working() && f.on.blocking > 0 && f.on.movable == 0 && f.message.Class != MessageProgress
	switch {
	case byHand:
		return verdict{}, false // the operator moves them: the node waits
	case f.gaveUpBefore():
		return verdict{}, false
	case f.on.migrating > 0:
		since := core.Since{At: core.Later(f.on.since, f.requestAt())}
		if f.on.since.IsZero() { // no record of the migrations is known
			since = core.NotBefore(f.requestAt())
		}
		return verdict{reason: fmt.Sprintf("%s under way from it", wording.Count(f.on.migrating, "migration")), what: f.movedText(),
			since: since}, true
	case f.message.Class == MessageProgress && (!f.computeKnown || f.on.blocking > 0):
		return verdict{reason: "the OpenStack controller says: " + wording.OneLine(f.message.Text, wording.MostRead), what: f.movedText(),
			since: core.NotBefore(f.requestAt())}, true
	case f.working() && f.message.ID == SaysMigrationOutage:
		return verdict{reason: f.message.Meaning, what: "OpenStack API away; " + f.movedText(), since: core.NotBefore(f.requestAt())}, true
	case f.working() && f.message.ID == SaysComputeNotDisabled:
		return verdict{}, false // nova-compute has to be disabled first
	case f.working() && f.message.Class != MessageWaiting && f.on.movable > 0:
		return verdict{reason: fmt.Sprintf("the OpenStack controller works on it, and %s to move", wording.Count(f.on.movable, "instance")),
			what: f.movedText(), since: core.NotBefore(f.requestAt())}, true
	}
	return verdict{}, false
}

// gaveUpBefore tells whether the controller, after it gave up, begins anew with what it could not move before, as it does every 60
// s (docs/mosk.md#migration-loop). The node waits for the operator until something moves, and where each instance has used up all
// attempts, until one of these has left the host: a further try that fails like those before changes nothing.
func (f *stageFacts) gaveUpBefore() bool {
	return f.computeKnown && f.on.blocking > 0 && f.message.Class == MessageProgress &&
		(f.on.inVain && f.working() || f.on.migrating == 0 && f.hadStage && f.before.Stage == core.StageWaiting)
}

// instancesInTheWay finds what the controller will report at its next look: nothing is left that it would move, and something else
// holds the lock.
func instancesInTheWay(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.evacuates() || !f.working() || f.on.blocking == 0 || f.message.Class == MessageWaiting ||
		f.message.Class == MessageOutage {
		return verdict{}, false
	}
	reason := "instances are left that only the operator moves"
	switch {
	case f.Mode == core.ModeManual:
		reason = "manual mode: the operator moves the instances"
	case f.gaveUpBefore():
		reason = "the OpenStack controller begins anew, as every minute: " + wording.OneLine(f.message.Text, wording.MostRead)
	}
	return verdict{reason: reason, what: f.inTheWay(), since: core.NotBefore(f.requestAt())}, true
}

func notBegun(f *stageFacts) (verdict, bool) {
	if !f.leaving() || f.working() {
		return verdict{}, false
	}
	v := verdict{reason: "its request is there, and the OpenStack controller has not begun", since: exactly(f.requestAt())}
	if f.message.Class == MessageWaiting {
		v.reason = f.message.Meaning
		v.what = map[MessageID]string{SaysOthersFirst: "others come first", SaysOtherRelease: "controller not updated yet"}[f.message.ID]
	}
	switch {
	case f.account.State == AccountUnseen:
		v.reason, v.what = "the OpenStack controller "+AccountText(f.s, f.account, true), "request never seen"
	case f.message.Class == MessageNone:
		v.reason += f.tries(": it ")
	}
	return v, true
}

// tries says how often the OpenStack controller has failed on the node's request and when it tries again, after the given
// beginning; empty when its bookkeeping shows no failures, or when the controller is played.
func (f *stageFacts) tries(begin string) string {
	if !f.account.Fails() || PlaysOn(f.s, core.ControllerOpenStack, f.name) {
		return ""
	}
	return wording.Prefixed(begin, AccountLine(f.s, f.account, f.name, f.message))
}

func atWork(f *stageFacts) (verdict, bool) {
	if !f.leaving() {
		return verdict{}, false
	}
	v := verdict{reason: "the OpenStack controller prepares it" + f.tries("; it "), since: core.NotBefore(f.requestAt())}
	switch {
	case f.message.ID == SaysServicesNeedNode:
		v.reason, v.what = f.message.Meaning, "deferred: "+wording.Some(f.message.Blockers, 3)
	case f.message.Class == MessageWaiting:
		v.reason = f.message.Meaning
	case f.message.Class == MessageOutage:
		v.reason, v.what = f.message.Meaning, "OpenStack API away"
	case f.message.Class == MessageUnknown:
		v.reason = "the OpenStack controller says: " + wording.OneLine(f.message.Text, wording.MostRead)
	case f.evacuates() && f.computeKnown && f.on.blocking == 0:
		v.reason = "nothing holds the lock any more; the controller looks again " + NextLookOf(f.s, f.name)
		v.what = "nothing in the way"
	case f.evacuates() && !f.computeKnown:
		v.reason += "; its instances are not known: " + f.s.WhyUnknown(core.SourceInstances)
	}
	return v, true
}
