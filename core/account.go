package core

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// AccountState is what the OpenStack controller does with an object, by its own bookkeeping.
type AccountState string

// The states. Where the bookkeeping is missing, or is another's, nothing is known.
const (
	AccountNone    AccountState = ""            // nothing is known
	AccountUnseen  AccountState = "never seen"  // the controller does not know of the object
	AccountFirst   AccountState = "first try"   // it is at its first try
	AccountWorks   AccountState = "at work"     // it is at another try, after some that failed
	AccountRetries AccountState = "tries again" // it has failed, and waits for its next try
	AccountStopped AccountState = "stopped"     // it has failed, and does not run
	AccountGaveUp  AccountState = "gave up"     // it has failed, and does not try again
	AccountHeld    AccountState = "held"        // the object is held for it, no try has ended, and it does not run
	AccountHandled AccountState = "handled"     // it was through with the object
)

// Account is what the OpenStack controller does with one object, by its own bookkeeping on it.
type Account struct {
	State AccountState
	Kind  Kind // of the object
	Tries      // those that failed; zero when there are none
}

// fails tells whether tries have failed, and none has succeeded since.
func (a Account) fails() bool { return a.Failed > 0 || a.Words != "" }

// unseenSettles is how old a request has to be to count as one that a running controller does not see.
const unseenSettles = time.Minute

// The kinds of which the controller handles what is made and changed, and of which it handles the deletion: these it holds by its
// finalizer (docs/mosk.md#finalizers).
var (
	handledChanges   = kindSet(KindNodeMaintenanceRequest, KindClusterMaintenanceRequest, KindNodeDeletionRequest)
	handledDeletions = kindSet(KindNodeMaintenanceRequest, KindClusterMaintenanceRequest, KindNodeWorkloadLock, KindNodeDisableNotification)
	accountSources   = map[Kind]SourceID{KindNodeMaintenanceRequest: SourceNodeRequests, KindClusterMaintenanceRequest: SourceClusterRequests}
)

func kindSet(of ...Kind) map[Kind]bool {
	set := map[Kind]bool{}
	for _, k := range of {
		set[k] = true
	}
	return set
}

// accountOf is what the controller does with an object.
func (s *Snapshot) accountOf(kind Kind, m Meta, b Bookkeeping) Account {
	a := Account{Kind: kind}
	deleting, held := !m.Deleting.IsZero(), s.holdsObject(m)
	tries := b.Change
	if deleting {
		if tries = b.Delete; !held {
			tries = nil // it is through with the deletion, or has no part in it
		}
	}
	if tries != nil {
		a.Tries = *tries
		switch {
		case a.GaveUp:
			a.State = AccountGaveUp
		case s.openStackDown():
			a.State = AccountStopped
		case a.Next.After(s.Now):
			a.State = AccountRetries
		default:
			a.State = AccountWorks
		}
		return a
	}
	first := deleting && handledDeletions[kind] && held && (b.Marked || s.keepsBooks()) ||
		!deleting && handledChanges[kind] && handledDeletions[kind] && held && !b.Handled && s.keepsBooks()
	switch {
	case s.neverSeen(kind, m, b, held):
		a.State = AccountUnseen
	case first && s.openStackDown():
		a.State = AccountHeld
	case first && s.Controller != nil && s.known(SourceOpenStackController):
		a.State = AccountFirst
	case !deleting && handledChanges[kind] && b.Handled:
		a.State = AccountHandled
	}
	return a
}

// holdsObject tells whether the controller's finalizer is on an object.
func (s *Snapshot) holdsObject(m Meta) bool {
	for _, f := range m.Finalizers {
		if strings.HasPrefix(f, finalizersOfRockoon) {
			return true
		}
	}
	return len(m.Finalizers) > 0 && s.finalizerOn(m) != ""
}

// neverSeen tells whether it is certain that the controller does not know of a request: it puts its finalizer on what it sees alive, and
// notes what it does, and there is neither. A running controller has a moment for it.
func (s *Snapshot) neverSeen(kind Kind, m Meta, b Bookkeeping, held bool) bool {
	source, known := accountSources[kind]
	if !known || held || b.Marked || s.Sources[source].State != SourceLive {
		return false
	}
	for _, f := range m.Finalizers { // an older release's has another name, which nothing may have shown yet
		if strings.HasPrefix(f, "lcm.mirantis.com/") && strings.HasSuffix(f, "-finalizer") {
			return false
		}
	}
	return s.openStackDown() || !m.Created.IsZero() && s.Now.Sub(m.Created) > unseenSettles
}

// keepsBooks tells whether the controller notes its work where Lockstep finds it: some object bears such a note.
func (s *Snapshot) keepsBooks() bool {
	for _, r := range s.ClusterRequests {
		if r.Kept.Marked {
			return true
		}
	}
	for _, list := range s.NodeRequests {
		for _, r := range list {
			if r.Kept.Marked {
				return true
			}
		}
	}
	for _, list := range s.NodeLocks {
		for _, l := range list {
			if l.Controller == ControllerOpenStack && l.Kept.Marked {
				return true
			}
		}
	}
	return false
}

// requestAccount is what the controller does with a request; none when there is no request.
func (s *Snapshot) requestAccount(r *MaintenanceRequest) Account {
	if r == nil {
		return Account{}
	}
	return s.accountOf(r.Kind, r.Meta, r.Kept)
}

// NodeAccount is what the controller does with what is asked of a node: with its maintenance, with its removal, or with the end of its
// lock. What is under way counts before what is through.
func (s *Snapshot) NodeAccount(name string) Account {
	best := Account{}
	if r := s.NodeRequest(name); r != nil {
		best = s.requestAccount(r)
	}
	if d := s.Deletions[name]; d != nil && !best.underWay() {
		best = best.or(s.accountOf(d.Kind, d.Meta, d.Kept))
	}
	if l := s.NodeLock(name, ControllerOpenStack); l != nil && !l.Deleting.IsZero() && !best.underWay() {
		best = best.or(s.accountOf(l.Kind, l.Meta, l.Kept))
	}
	return best
}

// underWay tells whether something is known of the object, and it is not through.
func (a Account) underWay() bool { return a.State != AccountNone && a.State != AccountHandled }

// or is the other account where something is known of it, else this one.
func (a Account) or(b Account) Account {
	if b.State != AccountNone {
		return b
	}
	return a
}

// AccountOf is what the OpenStack controller does with what is asked of a lock of its own; none for other controllers' locks.
func (s *Snapshot) AccountOf(l *WorkloadLock) Account {
	switch {
	case l.Controller != ControllerOpenStack:
		return Account{}
	case l.Node == "":
		return s.requestAccount(s.ClusterRequest())
	}
	return s.NodeAccount(l.Node)
}

// accountObjects are the objects by what they are to who reads of them.
var accountObjects = map[Kind]string{
	KindNodeMaintenanceRequest: "its request", KindClusterMaintenanceRequest: "the cluster's request",
	KindNodeDeletionRequest: "the request for its removal", KindNodeWorkloadLock: "its lock",
}

// AccountText is what the OpenStack controller does, without its name: "tries again at 04:47:31, failed twice: 'scope'"; with the words
// of the last failure, or without. Empty when nothing is known.
func (s *Snapshot) AccountText(a Account, words bool) string {
	what := textOf(accountObjects[a.Kind], "it")
	failed := ""
	if a.fails() {
		failed = "failed " + times(max(a.Failed, 1))
		if text := oneLine(a.Words, MaxWords); words && text != "" {
			failed += ": " + text
		}
	}
	switch a.State {
	case AccountUnseen:
		return "has never seen " + what + textIf(s.openStackDown(), ": it does not run", "")
	case AccountFirst:
		return "is at work on " + what + ", at its first try"
	case AccountWorks:
		since := ""
		if !a.Next.IsZero() {
			since = " since " + s.secondText(a.Next)
		}
		return "is at work on " + what + since + prefixed(", ", failed)
	case AccountRetries:
		return "tries again at " + s.secondText(a.Next) + prefixed(", ", failed)
	case AccountStopped:
		due := ""
		if !a.Next.IsZero() {
			due = "was to try again at " + s.secondText(a.Next) + " and "
		}
		return textOf(failed, "has not succeeded on "+what) + "; it " + due + "does not run"
	case AccountGaveUp:
		return "gave up on " + what + prefixed(", ", failed)
	case AccountHeld:
		return "has not come to the end of a try on " + what + "; its finalizer is on it"
	case AccountHandled:
		return "was through with " + what
	}
	return ""
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// secondText is a moment to the second in the operator's zone, with its day when that is not today.
func (s *Snapshot) secondText(t time.Time) string {
	t = t.Local()
	if now := s.Now.Local(); t.Year() != now.Year() || t.YearDay() != now.YearDay() {
		return t.Format("Jan 2 15:04:05")
	}
	return t.Format("15:04:05")
}

// nextLookOf is when the OpenStack controller looks at what is asked of a node next: "at 04:47:31", and "within 60 s" where its
// bookkeeping does not say it. Without a node it is the first look at one that waits for others (text F).
func (s *Snapshot) nextLookOf(node string) string {
	if node == "" {
		node = s.firstDeferred()
	}
	switch a := s.NodeAccount(node); a.State {
	case AccountRetries:
		return "at " + s.secondText(a.Next)
	case AccountWorks, AccountFirst:
		return "60 s after the try that runs now"
	}
	return "within 60 s"
}

// firstDeferred is the node that waits for others and is looked at first, by the controller's bookkeeping; empty when none is known.
func (s *Snapshot) firstDeferred() string {
	first, at := "", time.Time{}
	for _, name := range slices.Sorted(maps.Keys(s.NodeRequests)) {
		l := s.NodeLock(name, ControllerOpenStack)
		if l == nil || ReadLockMessage(l.Message).ID != SaysOthersFirst {
			continue
		}
		if a := s.NodeAccount(name); a.State == AccountRetries && (at.IsZero() || a.Next.Before(at)) {
			first, at = name, a.Next
		}
	}
	return first
}
