package core

import (
	"fmt"
	"slices"
	"strings"
)

// lockByUID is a lock; nil when it is not there.
func (s *Snapshot) lockByUID(uid string) *WorkloadLock {
	is := func(l *WorkloadLock) bool { return l.UID == uid }
	if uid == "" {
		return nil
	}
	if i := slices.IndexFunc(s.ClusterLocks, is); i >= 0 {
		return s.ClusterLocks[i]
	}
	for _, locks := range s.NodeLocks {
		if i := slices.IndexFunc(locks, is); i >= 0 {
			return locks[i]
		}
	}
	return nil
}

// lock begins a step on the lock that the intent names; nil when there is none.
func (p *planner) lock(sources ...SourceID) *WorkloadLock {
	s, ref := p.s, p.i.Object
	l := s.lockByUID(ref.UID)
	if l == nil {
		p.identify(ref)
		p.step.Label = oneLine(ref.Name, 64)
		p.common(sources, s.busyOn())
		p.unknown("the lock exists", "the cluster has no such lock any more")
		return nil
	}
	if l.Kind == KindClusterWorkloadLock {
		sources = append(sources, SourceClusterLocks, SourceClusterRequests)
	} else {
		sources = append(sources, SourceNodeLocks, SourceNodeRequests)
	}
	p.identify(l.Ref())
	p.step.Node, p.step.Label = l.Node, s.lockLabel(l)
	p.common(sources, s.busyOn(l.Node))
	p.guard(guardExists("the lock", l.Ref()))
	p.fact("uid", l.UID)
	p.fact("controller", l.Controller)
	p.fact("state", string(l.RawState))
	p.fact("inner_state", l.InnerState)
	if l.Node != "" {
		p.requestFact(s.NodeRequest(l.Node))
	} else {
		p.requestFact(s.ClusterRequest())
	}
	return l
}

// requestFactName is the name of the fact by which a step rests on a request.
const requestFactName = "request"

// requestFact is the request on which a step rests, and whether it is being removed.
func (p *planner) requestFact(r *MaintenanceRequest) {
	switch {
	case r == nil:
		p.fact(requestFactName, "")
	case r.Deleting.IsZero():
		p.fact(requestFactName, r.UID)
	default:
		p.fact(requestFactName, r.UID+", being removed")
	}
}

// lockLabel is what to call a lock: "openstack on cmp-07", "ceph (cluster)".
func (s *Snapshot) lockLabel(l *WorkloadLock) string {
	name := oneLine(l.Controller, 40)
	if l.Node == "" {
		return name + " (cluster)"
	}
	return name + " on " + oneLine(s.Label(l.Node), 64)
}

// lockCommand sets the status of a lock. A merge patch removes what is null.
func lockCommand(ref Ref, to LockStatus) string {
	fields := []string{`"state":` + jsonText(string(to.State))}
	if to.Message == "" {
		fields = append(fields, `"errorMessage":null`)
	} else {
		fields = append(fields, `"errorMessage":`+jsonText(to.Message))
	}
	if to.Release != "" {
		fields = append(fields, `"release":`+jsonText(to.Release))
	}
	return shellCommand("kubectl", "patch", strings.ToLower(string(ref.Kind)), ref.Name, "--type=merge", "--subresource=status",
		"-p", `{"status":{`+strings.Join(fields, ",")+`}}`)
}

// MaxLockText is the longest text that Lockstep writes into a lock, in characters.
const MaxLockText = 1000

// overrideLock plans what a lock says over the head of its controller: the highest risk, for LCM takes it at its word.
func (p *planner) overrideLock() {
	s, to := p.s, p.i.State
	p.step.Title, p.step.Risk = "set the lock to "+textOf(oneLine(string(to), 40), "no state"), RiskHighest
	l := p.lock()
	if l == nil {
		return
	}
	p.step.ID += "/" + string(to)
	p.step.Title = "set the lock of " + s.lockLabel(l) + " to " + textOf(oneLine(string(to), 40), "no state")
	p.step.Type = typable(l.Name, l.UID)
	known := to == LockActive || to == LockInactive || to == LockFailed
	p.guard(Guard{ID: GuardValueKnown, Text: "it is a state that the API knows", Holds: known, Answer: textOf(oneLine(string(to), 40), "none"), Remedy: "active, inactive or failed"})
	plain := p.i.Reason == strings.TrimSpace(p.i.Reason) && len([]rune(p.i.Reason)) <= MaxLockText && !strings.ContainsFunc(p.i.Reason, func(r rune) bool { return r < ' ' })
	p.guard(Guard{ID: GuardPlainText, Text: "the text is one line", Holds: plain, Answer: textOf(oneLine(p.i.Reason, 80), "none"), Remedy: "at most 1000 characters, without line breaks"})
	change := SetLock{Lock: l.Ref(), Was: l.RawState, To: LockStatus{State: to, Message: p.i.Reason}}
	same := l.State() == to && (p.i.Reason == "" || l.Message == p.i.Reason)
	p.guard(Guard{ID: GuardDiffers, Text: "the lock does not say it yet", Holds: !same,
		Answer: "it says " + oneLine(string(l.State()), 40)})
	if l.Node != "" && to == LockInactive {
		host := s.HostOf(l.Node)
		p.hostFacts(l.Node)
		if s.known(SourceMigrations) {
			p.guard(s.guardNoMigration(host))
		}
	}
	p.step.Why = "The lock belongs to " + s.ownerOf(l) + ". You decide in its place, and LCM takes the lock at its word."
	p.step.Then = join(s.lcmThen(l, to), s.ownerThen(l, to), textGoes(l, p.i.Reason))
	if same {
		p.done = "the lock says " + string(to)
		return
	}
	p.step.Commands = []string{lockCommand(l.Ref(), change.To)}
	p.step.Undo = "set it back: " + lockCommand(l.Ref(), LockStatus{State: l.State(), Message: l.Message}) + "; what LCM did in between stays done"
	if known && plain {
		p.step.Change = change
	}
}

// textGoes says that the text that a lock bears is replaced or removed with what it says.
func textGoes(l *WorkloadLock, text string) string {
	switch {
	case l.Message == "" || l.Message == text:
		return ""
	case text == "":
		return "The text that its owner wrote is removed: \"" + oneLine(l.Message, 200) + "\"."
	}
	return "Your text takes the place of its owner's: \"" + oneLine(l.Message, 200) + "\"."
}

// openStackDown tells whether no replica of the OpenStack controller is ready, as far as that is known.
func (s *Snapshot) openStackDown() bool {
	return s.Controller != nil && s.Controller.Ready == 0 && s.known(SourceOpenStackController)
}

// nextLook is when the OpenStack controller looks at a node's lock next, as the beginning of a sentence that goes on with what
// it does; of any node where none is named.
func (s *Snapshot) nextLook(node string) string {
	if s.openStackDown() {
		return "No replica of the OpenStack controller is ready: nobody looks until it is up. At its first look then, the OpenStack controller "
	}
	return "At its next look, " + s.nextLookOf(node) + ", the OpenStack controller "
}

// ownerOf names who keeps the lock, and whether it is at work.
func (s *Snapshot) ownerOf(l *WorkloadLock) string {
	name := "the controller " + oneLine(l.Controller, 40)
	if l.Controller != ControllerOpenStack {
		return name + ", of which Lockstep does not know whether it runs"
	}
	switch c := s.Controller; {
	case c == nil || !s.known(SourceOpenStackController):
		return "the OpenStack controller, of which is not known whether it runs"
	case c.Ready > 0:
		return "the OpenStack controller, which runs"
	}
	return "the OpenStack controller, which does not run now"
}

// lcmThen is what LCM does once the lock says so (docs/mosk.md#locks: it waits until all locks are inactive, and only reads them).
func (s *Snapshot) lcmThen(l *WorkloadLock, to LockState) string {
	if to != LockInactive {
		if l.State() == LockInactive {
			return "LCM begins nothing more there; what it has begun it does not take back."
		}
		return "LCM goes on waiting for it."
	}
	var others []string
	locks := s.ClusterLocks
	request := s.ClusterRequest()
	if l.Node != "" {
		locks, request = s.NodeLocks[l.Node], s.NodeRequest(l.Node)
	}
	for _, o := range locks {
		if o.UID != l.UID && o.State() != LockInactive {
			others = append(others, oneLine(o.Controller, 40))
		}
	}
	switch {
	case request == nil:
		return "Nobody asks for it now; it counts as released as soon as somebody does."
	case len(others) > 0:
		return "LCM still waits for the lock of " + some(others, 4) + "."
	case l.Node == "":
		return "No other lock holds the cluster: LCM goes on to the nodes at once."
	}
	text := "No other lock holds the node: LCM drains it at once"
	if s.scopeOf(request) != ScopeDrain {
		text += ", and may reboot it"
		var down []string
		for _, v := range s.inTheWay(l.Node) {
			down = append(down, instanceLabel(v.Instance))
		}
		switch {
		case !s.known(SourceInstances):
			text += "; what runs on it is not known, and goes down with it"
		case len(down) > 0:
			text += fmt.Sprintf("; %s %s down with it: %s", count(len(down), "instance"), verb(len(down), "goes", "go"), some(down, 4))
		}
	}
	return text + "."
}

// ownerThen is what the lock's controller makes of it, and when, as far as the documents tell (docs/mosk.md#by-hand, #tungsten-fabric).
func (s *Snapshot) ownerThen(l *WorkloadLock, to LockState) string {
	switch l.Controller {
	case ControllerOpenStack:
		switch {
		case to == LockInactive && l.Node == "":
			return "The OpenStack controller takes an inactive cluster lock for done and asks for no health any more; it makes it active again when the request is removed or a new release of it is rolled out."
		case to == LockInactive:
			return s.nextLook(l.Node) + "takes the lock for done: it moves nothing more, and leaves nova-compute as it is. It takes the lock back when the request is removed, or at once when a new release of it is rolled out."
		case to == LockActive && l.State() == LockInactive:
			return "The OpenStack controller does not look at a request that it is through with: nobody releases the lock again before it starts anew, unless you do."
		case to == LockFailed:
			return "The OpenStack controller never writes failed, and handles such a lock as one that is not active: it does nothing more for it."
		}
		return s.nextLook(l.Node) + "goes on with it."
	case ControllerTungstenFabric:
		if l.Node != "" && to == LockInactive {
			return "The OpenSDN operator handles no other node until this lock is active again; it looks at the vRouter of this node only when the request is removed."
		}
	}
	return "Lockstep does not know when " + oneLine(l.Controller, 40) + " looks at its lock next; it may set it back at any moment, and is watched for that."
}

// clearInner plans that a lock no longer counts as worked on: Rockoon counts the annotation, not the requests, and one that
// was left behind holds up every other node of a role (docs/mosk.md#left-over-locks).
func (p *planner) clearInner() {
	s := p.s
	p.step.Title, p.step.Risk = "clear the lock's inner_state", RiskHigh
	l := p.lock(SourceNodes)
	if l == nil {
		return
	}
	p.step.Title = "clear the inner_state of the lock of " + s.lockLabel(l)
	p.step.Type = typable(s.Label(l.Node), l.UID)
	p.guard(Guard{ID: GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller", Holds: l.Controller == ControllerOpenStack && l.Node != "", Answer: s.lockLabel(l),
		Remedy: "only that controller keeps an inner_state"})
	p.guard(Guard{ID: GuardSomethingLeft, Text: "the lock counts as worked on", Holds: l.InnerState == InnerActive,
		Answer: innerText(l.InnerState)})
	r := s.NodeRequest(l.Node)
	asked := Guard{ID: GuardNoRequest, Text: "nobody asks for the node", Holds: r == nil && s.known(SourceNodeRequests), Answer: "it has no NodeMaintenanceRequest",
		Remedy: "wait until the maintenance is over: the controller is at work there"}
	switch {
	case r != nil:
		asked.Answer = "its NodeMaintenanceRequest is there since " + clockText(r.Created)
	case !s.known(SourceNodeRequests):
		asked.Answer = "not known: " + s.whyUnknown(SourceNodeRequests)
	}
	p.guard(asked)
	if s.playsAlone(l.Node) {
		p.guard(Guard{ID: GuardNotPlayed, Text: "Lockstep does not play the OpenStack controller", Answer: "it does", Remedy: "end the work by the node's own step, which looks at its nova-compute first"})
	}
	p.guard(Guard{ID: GuardLockTakenBack, Text: "the lock is active: the maintenance is over", Holds: l.State() == LockActive, Answer: "it is " + oneLine(string(l.State()), 40),
		Remedy: "the controller still has to take the node back: see to what it waits for"})
	p.step.Why = "The OpenStack controller counts this annotation against its concurrency. Nothing goes on on " + oneLine(s.Label(l.Node), 64) + ", and all nodes that wait for it wait for nothing."
	p.step.Then = s.nextLook("") + "takes up the next node. If it was still at work here, one node more than allowed is in maintenance."
	p.step.Undo = "set it back: " + innerCommand(l.Ref(), l.InnerState)
	if l.InnerState != InnerActive {
		p.done = "the lock has " + innerText(l.InnerState)
		return
	}
	p.step.Commands = []string{innerCommand(l.Ref(), InnerInactive)}
	p.step.Change = SetInnerState{Lock: l.Ref(), Was: l.InnerState, To: InnerInactive}
}

// innerCommand sets the annotation inner_state of a lock.
func innerCommand(ref Ref, state string) string {
	if state == "" {
		return shellCommand("kubectl", "annotate", strings.ToLower(string(ref.Kind)), ref.Name, "inner_state-")
	}
	return shellCommand("kubectl", "annotate", strings.ToLower(string(ref.Kind)), ref.Name, "inner_state="+state, "--overwrite")
}
