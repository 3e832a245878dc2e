package progress

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// AccountState is what the OpenStack controller does with an object, by its own bookkeeping.
type AccountState string

// The states. Without the controller's bookkeeping nothing is known.
const (
	AccountNone    AccountState = ""            // nothing is known
	AccountUnseen  AccountState = "never seen"  // the controller does not know of the object
	AccountFirst   AccountState = "first try"   // it is at its first try
	AccountWorks   AccountState = "at work"     // it is at another try, after some that failed
	AccountRetries AccountState = "tries again" // it has failed, and waits for its next try
	AccountStopped AccountState = "stopped"     // it has failed, and does not run
	AccountGaveUp  AccountState = "gave up"     // it has failed, and does not try again
	AccountHeld    AccountState = "held"        // its finalizer is on the object, no try has ended, and it does not run
	AccountHandled AccountState = "handled"     // it has finished with the object
)

// Account is what the OpenStack controller does with one object, by its own bookkeeping on it.
type Account struct {
	State      AccountState
	Kind       core.Kind // of the object
	core.Tries           // those that failed; zero when there are none
}

// Fails tells whether tries have failed, and none has succeeded since.
func (a Account) Fails() bool { return a.Failed > 0 || a.Words != "" }

// unseenSettles is the age from which a request counts as not seen by a running controller.
const unseenSettles = time.Minute

// The kinds whose creation and change the controller handles, and those whose deletion it handles. It holds the latter by its finalizer
// (docs/mosk.md#finalizers).
var (
	handledChanges   = kindSet(core.KindNodeMaintenanceRequest, core.KindClusterMaintenanceRequest, core.KindNodeDeletionRequest)
	handledDeletions = kindSet(core.KindNodeMaintenanceRequest, core.KindClusterMaintenanceRequest, core.KindNodeWorkloadLock,
		core.KindNodeDisableNotification)
	accountSources = map[core.Kind]core.SourceID{core.KindNodeMaintenanceRequest: core.SourceNodeRequests,
		core.KindClusterMaintenanceRequest: core.SourceClusterRequests}
)

func kindSet(of ...core.Kind) map[core.Kind]bool {
	set := map[core.Kind]bool{}
	for _, k := range of {
		set[k] = true
	}
	return set
}

// accountOf is what the controller does with an object.
func accountOf(s *core.Snapshot, kind core.Kind, m core.Meta, b core.Bookkeeping) Account {
	a := Account{Kind: kind}
	deleting, held := !m.Deleting.IsZero(), holdsObject(s, m)
	tries := b.Change
	if deleting {
		if tries = b.Delete; !held {
			tries = nil // it has finished the deletion, or has no part in it
		}
	}
	if tries != nil {
		a.Tries = *tries
		switch {
		case a.GaveUp:
			a.State = AccountGaveUp
		case OpenStackDown(s):
			a.State = AccountStopped
		case !s.Reached(a.Next):
			a.State = AccountRetries
		default:
			a.State = AccountWorks
		}
		return a
	}
	first := deleting && handledDeletions[kind] && held && (b.Marked || keepsBooks(s)) ||
		!deleting && handledChanges[kind] && handledDeletions[kind] && held && !b.Handled && keepsBooks(s)
	switch {
	case neverSeen(s, kind, m, b, held):
		a.State = AccountUnseen
	case first && OpenStackDown(s):
		a.State = AccountHeld
	case first && s.Controller != nil && s.Known(core.SourceOpenStackController):
		a.State = AccountFirst
	case !deleting && handledChanges[kind] && b.Handled:
		a.State = AccountHandled
	}
	return a
}

// holdsObject tells whether the controller's finalizer is on an object.
func holdsObject(s *core.Snapshot, m core.Meta) bool {
	for _, f := range m.Finalizers {
		if strings.HasPrefix(f, core.FinalizersOfRockoon) {
			return true
		}
	}
	return len(m.Finalizers) > 0 && FinalizerOn(s, m) != ""
}

// neverSeen tells whether the controller certainly does not know of a request: the request has neither its finalizer nor its notes, and
// is older than a running controller needs to set them.
func neverSeen(s *core.Snapshot, kind core.Kind, m core.Meta, b core.Bookkeeping, held bool) bool {
	source, known := accountSources[kind]
	if !known || held || b.Marked || s.Sources[source].State != core.SourceLive {
		return false
	}
	for _, f := range m.Finalizers { // an older release uses another name
		if strings.HasPrefix(f, "lcm.mirantis.com/") && strings.HasSuffix(f, "-finalizer") {
			return false
		}
	}
	return OpenStackDown(s) || !m.Created.IsZero() && s.Longer(m.Created, unseenSettles)
}

// keepsBooks tells whether the controller notes its work where Lockstep can read it: some object has such a note.
func keepsBooks(s *core.Snapshot) bool {
	return slices.ContainsFunc(s.ClusterRequests, func(r *core.MaintenanceRequest) bool { return r.Kept.Marked }) ||
		saidOf(s).marked
}

// RequestAccount is what the controller does with a request; none when there is no request.
func RequestAccount(s *core.Snapshot, r *core.MaintenanceRequest) Account {
	if r == nil {
		return Account{}
	}
	return accountOf(s, r.Kind, r.Meta, r.Kept)
}

// NodeAccount is what the controller does with what is asked of a node: with its maintenance, with its removal, or with the end of its
// lock. Work under way counts before finished work.
func NodeAccount(s *core.Snapshot, name string) Account {
	best := Account{}
	if r := s.NodeRequest(name); r != nil {
		best = RequestAccount(s, r)
	}
	if d := s.Deletions[name]; d != nil && !best.underWay() {
		best = best.or(accountOf(s, d.Kind, d.Meta, d.Kept))
	}
	if l := s.NodeLock(name, core.ControllerOpenStack); l != nil && !l.Deleting.IsZero() && !best.underWay() {
		best = best.or(accountOf(s, l.Kind, l.Meta, l.Kept))
	}
	return best
}

// underWay tells whether the object's account is known and not finished.
func (a Account) underWay() bool { return a.State != AccountNone && a.State != AccountHandled }

// or is the other account if that is known, else this one.
func (a Account) or(b Account) Account {
	if b.State != AccountNone {
		return b
	}
	return a
}

// AccountOf is what the OpenStack controller does with what is asked of a lock of its own; none for other controllers' locks.
func AccountOf(s *core.Snapshot, l *core.WorkloadLock) Account {
	switch {
	case l.Controller != core.ControllerOpenStack:
		return Account{}
	case l.Node == "":
		return RequestAccount(s, s.ClusterRequest())
	}
	return NodeAccount(s, l.Node)
}

// accountObjects are the words for the objects.
var accountObjects = map[core.Kind]string{
	core.KindNodeMaintenanceRequest: "its request", core.KindClusterMaintenanceRequest: "the cluster's request",
	core.KindNodeDeletionRequest: "the request for its removal", core.KindNodeWorkloadLock: "its lock",
}

// AccountText is what the OpenStack controller does, without its name: "tries again at 04:47:31, failed twice: 'scope'"; with or
// without the text of the last failure. Empty when nothing is known.
func AccountText(s *core.Snapshot, a Account, words bool) string {
	what := wording.TextOf(accountObjects[a.Kind], "it")
	failed := ""
	if a.Fails() {
		failed = "failed " + wording.Times(max(a.Failed, 1))
		if text := wording.OneLine(a.Words, core.MaxWords); words && text != "" {
			failed += ": " + text
		}
	}
	switch a.State {
	case AccountUnseen:
		return "has never seen " + what + wording.TextIf(OpenStackDown(s), ": it does not run", "")
	case AccountFirst:
		return "is at work on " + what + ", at its first try"
	case AccountWorks:
		since := ""
		if !a.Next.IsZero() {
			since = " since " + SecondText(s, a.Next)
		}
		return "is at work on " + what + since + wording.Prefixed(", ", failed)
	case AccountRetries:
		return "tries again at " + SecondText(s, a.Next) + wording.Prefixed(", ", failed)
	case AccountStopped:
		due := ""
		if !a.Next.IsZero() {
			due = "was to try again at " + SecondText(s, a.Next) + " and "
		}
		return wording.TextOf(failed, "has not succeeded on "+what) + "; it " + due + "does not run"
	case AccountGaveUp:
		return "gave up on " + what + wording.Prefixed(", ", failed)
	case AccountHeld:
		return "has not come to the end of a try on " + what + "; its finalizer is on it"
	case AccountHandled:
		return "was through with " + what
	}
	return ""
}

// SecondText is a moment to the second in the operator's zone, with its day when that is not today.
func SecondText(s *core.Snapshot, t time.Time) string {
	t = t.Local()
	if !s.Today(t) {
		return t.Format("Jan 2 15:04:05")
	}
	return t.Format("15:04:05")
}

// NextLookOf is when the OpenStack controller looks at the node's request next: "at 04:47:31", or "within 60 s" when its bookkeeping
// does not say. Without a node it is the first look at a node that waits for others (text F).
func NextLookOf(s *core.Snapshot, node string) string {
	if node == "" {
		node = firstDeferred(s)
	}
	switch a := NodeAccount(s, node); a.State {
	case AccountRetries:
		return "at " + SecondText(s, a.Next)
	case AccountWorks, AccountFirst:
		return "60 s after the try that runs now"
	case AccountHandled:
		return "when its request changes"
	}
	return "within 60 s"
}

// firstDeferred is the node that waits for others and is looked at first, by the controller's bookkeeping; empty when none is known.
func firstDeferred(s *core.Snapshot) string {
	first, at := "", time.Time{}
	for _, name := range slices.Sorted(maps.Keys(s.NodeRequests)) {
		l := s.NodeLock(name, core.ControllerOpenStack)
		if l == nil || ReadLockMessage(l.Message).ID != SaysOthersFirst {
			continue
		}
		if a := NodeAccount(s, name); a.State == AccountRetries && (at.IsZero() || a.Next.Before(at)) {
			first, at = name, a.Next
		}
	}
	return first
}

// OpenStackDown tells whether no replica of the OpenStack controller is ready, as far as that is known.
func OpenStackDown(s *core.Snapshot) bool {
	return s.Controller != nil && s.Controller.Ready == 0 && s.Known(core.SourceOpenStackController)
}
