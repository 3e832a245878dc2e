package step

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// InnerText is "inner_state=active", or "inner_state=(not set)".
func InnerText(state string) string {
	return "inner_state=" + wording.TextOf(wording.OneLine(state, 40), "(not set)")
}

// LockByUID is the lock with this UID; nil when it does not exist.
func LockByUID(s *core.Snapshot, uid string) *core.WorkloadLock {
	is := func(l *core.WorkloadLock) bool { return l.UID == uid }
	if uid == "" {
		return nil
	}
	if i := slices.IndexFunc(s.ClusterLocks, is); i >= 0 {
		return s.ClusterLocks[i]
	}
	for _, locks := range s.NodeLocks.All() {
		if i := slices.IndexFunc(locks, is); i >= 0 {
			return locks[i]
		}
	}
	return nil
}

// lock begins a step on the intent's lock; nil when there is none.
func (p *planner) lock(sources ...core.SourceID) *core.WorkloadLock {
	s, ref := p.s, p.i.Object
	l := LockByUID(s, ref.UID)
	if l == nil {
		p.identify(ref)
		p.step.Label = wording.OneLine(ref.Name, 64)
		p.common(sources, busyOn(s))
		p.unknown("the lock exists", "the cluster has no such lock any more")
		return nil
	}
	if l.Kind == core.KindClusterWorkloadLock {
		sources = append(sources, core.SourceClusterLocks, core.SourceClusterRequests)
	} else {
		sources = append(sources, core.SourceNodeLocks, core.SourceNodeRequests)
	}
	p.identify(l.Ref())
	p.step.Node, p.step.Label = l.Node, LockLabel(s, l)
	p.common(sources, busyOn(s, l.Node))
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

// RequestFactName names the fact of the request on which a step rests.
const RequestFactName = "request"

// requestFact adds the request to the basis, and whether it is in deletion.
func (p *planner) requestFact(r *core.MaintenanceRequest) {
	switch {
	case r == nil:
		p.fact(RequestFactName, "")
	case r.Deleting.IsZero():
		p.fact(RequestFactName, r.UID)
	default:
		p.fact(RequestFactName, r.UID+", being removed")
	}
}

// LockLabel is a lock's label: "openstack on cmp-07", "ceph (cluster)".
func LockLabel(s *core.Snapshot, l *core.WorkloadLock) string {
	name := wording.OneLine(l.Controller, 40)
	if l.Node == "" {
		return name + " (cluster)"
	}
	return name + " on " + wording.OneLine(s.Label(l.Node), 64)
}

// LockCommand sets the status of a lock. A merge patch removes what is null.
func LockCommand(ref core.Ref, to core.LockStatus) string {
	fields := []string{`"state":` + wording.JSONText(string(to.State))}
	if to.Message == "" {
		fields = append(fields, `"errorMessage":null`)
	} else {
		fields = append(fields, `"errorMessage":`+wording.JSONText(to.Message))
	}
	if to.Release != "" {
		fields = append(fields, `"release":`+wording.JSONText(to.Release))
	}
	return wording.ShellCommand("kubectl", "patch", strings.ToLower(string(ref.Kind)), ref.Name, "--type=merge", "--subresource=status",
		"-p", `{"status":{`+strings.Join(fields, ",")+`}}`)
}

// MaxLockText is the longest text that Lockstep writes into a lock, in characters.
const MaxLockText = 1000

// overrideLock plans to set a lock that its controller owns. The risk is the highest, as LCM acts on what the lock says.
func (p *planner) overrideLock() {
	s, to := p.s, p.i.State
	p.step.Title, p.step.Risk = "set the lock to "+wording.TextOf(wording.OneLine(string(to), 40), "no state"), core.RiskHighest
	l := p.lock()
	if l == nil {
		return
	}
	p.step.ID += "/" + string(to)
	p.step.Title = "set the lock of " + LockLabel(s, l) + " to " + wording.TextOf(wording.OneLine(string(to), 40), "no state")
	p.step.Type = typable(l.Name, l.UID)
	known := to == core.LockActive || to == core.LockInactive || to == core.LockFailed
	p.guard(core.Guard{ID: core.GuardValueKnown, Text: "it is a state that the API knows", Holds: known,
		Answer: wording.TextOf(wording.OneLine(string(to), 40), "none"), Remedy: "active, inactive or failed"})
	plain := p.i.Reason == strings.TrimSpace(p.i.Reason) && len([]rune(p.i.Reason)) <= MaxLockText &&
		!strings.ContainsFunc(p.i.Reason, func(r rune) bool { return r < ' ' })
	p.guard(core.Guard{ID: core.GuardPlainText, Text: "the text is one line", Holds: plain,
		Answer: wording.TextOf(wording.OneLine(p.i.Reason, 80), "none"), Remedy: "at most 1000 characters, without line breaks"})
	change := core.SetLock{Lock: l.Ref(), Was: l.RawState, To: core.LockStatus{State: to, Message: p.i.Reason}}
	same := l.State() == to && (p.i.Reason == "" || l.Message == p.i.Reason)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "the lock does not say it yet", Holds: !same,
		Answer: "it says " + wording.OneLine(string(l.State()), 40)})
	if to == core.LockInactive {
		p.lcmFacts(l)
	}
	if l.Node != "" && to == core.LockInactive {
		if d := s.Deletions[l.Node]; d != nil {
			p.fact(RemovalFactName, d.UID)
		} else {
			p.fact(RemovalFactName, "")
		}
		host := s.HostOf(l.Node)
		p.hostFacts(l.Node)
		if s.Known(core.SourceMigrations) {
			p.guard(guardNoMigration(s, host))
		}
	}
	p.step.Why = "The lock belongs to " + OwnerOf(s, l) + ". You decide in its place, and LCM takes the lock at its word."
	p.step.Then = wording.Join(lcmThen(s, l, to), ownerThen(s, l, to), textGoes(l, p.i.Reason))
	if same {
		p.done = "the lock says " + string(to)
		return
	}
	p.step.Commands = []string{LockCommand(l.Ref(), change.To)}
	p.step.Undo = "set it back: " + LockCommand(l.Ref(), core.LockStatus{State: l.State(), Message: l.Message}) +
		"; what LCM did in between stays done"
	if known && plain {
		p.step.Change = change
	}
}

// textGoes says that the lock's present text is replaced or removed; empty when it stays.
func textGoes(l *core.WorkloadLock, text string) string {
	switch {
	case l.Message == "" || l.Message == text:
		return ""
	case text == "":
		return "The text that its owner wrote is removed: \"" + wording.OneLine(l.Message, 200) + "\"."
	}
	return "Your text takes the place of its owner's: \"" + wording.OneLine(l.Message, 200) + "\"."
}

// nextLook is the beginning of a sentence: when the OpenStack controller next looks at the node's lock, or at any lock when node is
// empty. What it does then follows.
func nextLook(s *core.Snapshot, node string) string {
	if progress.OpenStackDown(s) {
		return "No replica of the OpenStack controller is ready: nobody looks until it is up. At its first look then, the OpenStack controller "
	}
	return "At its next look, " + progress.NextLookOf(s, node) + ", the OpenStack controller "
}

// OwnerOf names the lock's controller, and says whether it runs.
func OwnerOf(s *core.Snapshot, l *core.WorkloadLock) string {
	name := "the controller " + wording.OneLine(l.Controller, 40)
	if l.Controller != core.ControllerOpenStack {
		return name + "; Lockstep does not know whether it runs"
	}
	switch c := s.Controller; {
	case c == nil || !s.Known(core.SourceOpenStackController):
		return "the OpenStack controller; it is not known whether it runs"
	case c.Ready > 0:
		return "the OpenStack controller, which runs"
	}
	return "the OpenStack controller, which does not run now"
}

// heldByOthers are the controllers whose locks hold the lock's node, or the cluster, beside it, and the request by which LCM asks for it.
func heldByOthers(s *core.Snapshot, l *core.WorkloadLock) ([]string, *core.MaintenanceRequest) {
	locks, request := s.ClusterLocks, s.ClusterRequest()
	if l.Node != "" {
		locks, request = s.NodeLocks.At(l.Node), s.NodeRequest(l.Node)
	}
	var others []string
	for _, o := range locks {
		if o.UID != l.UID && o.State() != core.LockInactive {
			others = append(others, wording.OneLine(o.Controller, 40))
		}
	}
	return others, request
}

// lcmFacts adds to the basis of a step that sets the lock inactive what decides what LCM does then, beside the request itself (lcmThen):
// whoever confirms it confirms this, too.
func (p *planner) lcmFacts(l *core.WorkloadLock) {
	others, request := heldByOthers(p.s, l)
	slices.Sort(others)
	p.fact("held by others", strings.Join(others, ", "))
	p.fact("scope", string(progress.ScopeOf(p.s, request)))
	p.fact("made by hand", strconv.FormatBool(request != nil && request.ByHand()))
}

// lcmThen says what LCM does once the lock is in the state (docs/mosk.md#locks: it waits until all locks are inactive, and only reads
// them). The instances with the IDs that are gone are out of its way then.
func lcmThen(s *core.Snapshot, l *core.WorkloadLock, to core.LockState, gone ...string) string {
	if to != core.LockInactive {
		if l.State() == core.LockInactive {
			return "LCM begins nothing more there; it does not take back what it has begun."
		}
		return "LCM goes on waiting for it."
	}
	others, request := heldByOthers(s, l)
	switch {
	case request == nil && l.Node != "" && s.Deletions[l.Node] != nil && len(others) == 0:
		return "Its removal is asked for, and no other lock holds it: LCM drains the node at once and takes it out of the cluster" +
			goesWith(s, l.Node) + "."
	case request == nil && l.Node != "" && s.Deletions[l.Node] != nil:
		return "Its removal is asked for. LCM still waits for the lock of " + wording.Some(others, 4) + "."
	case request == nil && l.Node != "" && !progress.RemovalsKnown(s):
		return "Nobody asks for its maintenance now. Whether its removal is asked for is not known: then LCM may take it out of the cluster at " +
			"once" + goesWith(s, l.Node) + "."
	case request == nil:
		return "Nobody asks for it now; it counts as released as soon as somebody does."
	case len(others) > 0:
		return "LCM still waits for the lock of " + wording.Some(others, 4) + "."
	case !request.Deleting.IsZero():
		return "Its request is being removed: LCM takes nothing by it any more."
	case request.ByHand() && l.Node == "":
		return "No other lock holds the cluster: its nodes can be asked for. LCM does nothing by itself, as the request was made by hand."
	case l.Node == "":
		return "No other lock holds the cluster: LCM goes on to the nodes at once."
	}
	text, reboots, after := "No other lock holds the node: LCM drains it at once", ", and may reboot it", "."
	if request.ByHand() {
		text, reboots = "No other lock holds the node: it is yours to drain", ", and to reboot"
		after = ". LCM does nothing by itself, as the request was made by hand."
	}
	if progress.ScopeOf(s, request) != core.ScopeDrain {
		text += reboots
		var down []string
		for _, v := range staying(s, l.Node, gone...) {
			down = append(down, progress.InstanceLabel(v.Instance))
		}
		switch {
		case !s.Known(core.SourceInstances):
			text += "; what runs on it is not known, and goes down with it"
		case len(down) > 0:
			text += fmt.Sprintf("; %s %s down with it: %s", wording.Count(len(down), "instance"), wording.Verb(len(down), "goes", "go"),
				wording.Some(down, 4)) + listedAt(s)
		case listedAt(s) != "":
			text += "; nothing was known to run on it" + listedAt(s)
		}
	}
	return text + after
}

// lockTakenBack says when the OpenStack controller takes a node's inactive lock back. It does not look at removals: when one is withdrawn,
// the lock stays as it is (docs/mosk.md#left-over-locks).
func lockTakenBack(s *core.Snapshot, node string) string {
	if s.Deletions[node] != nil && s.NodeRequest(node) == nil {
		return "It does not take the lock back when the removal is withdrawn."
	}
	return "It takes the lock back when the request is removed, or at once when a new release of it is rolled out."
}

// goesWith says what goes with a node that leaves the cluster: all instances on it, whatever their state, but for those with these IDs.
func goesWith(s *core.Snapshot, node string, gone ...string) string {
	if !s.Known(core.SourceInstances) {
		return "; what is on it is not known, and goes with it"
	}
	var on []string
	for _, in := range s.InstancesOn(node) {
		if !slices.Contains(gone, in.ID) {
			on = append(on, progress.InstanceLabel(in))
		}
	}
	switch at := listedAt(s); {
	case len(on) > 0:
		return fmt.Sprintf("; %s %s with it: %s", wording.Count(len(on), "instance"), wording.Verb(len(on), "goes", "go"),
			wording.Some(on, 4)) + at
	case at != "":
		return "; nothing was known to be on it" + at
	}
	return ""
}

// listedAt says when the instances were listed last, where that is not of late; else it is empty.
func listedAt(s *core.Snapshot) string {
	if fresh, _ := s.Fresh(core.SourceInstances); fresh {
		return ""
	}
	return ", as of " + wording.ClockText(s.Sources[core.SourceInstances].AsOf) + ": OpenStack has not told since"
}

// ownerThen says what the lock's controller does then, and when, as far as the documents tell (docs/mosk.md#by-hand, #tungsten-fabric).
func ownerThen(s *core.Snapshot, l *core.WorkloadLock, to core.LockState) string {
	switch l.Controller {
	case core.ControllerOpenStack:
		switch {
		case to == core.LockInactive && l.Node == "":
			return "The OpenStack controller takes an inactive cluster lock for done and asks for no health any more; it makes it active again " +
				"when the request is removed or a new release of it is rolled out."
		case to == core.LockInactive:
			return nextLook(s, l.Node) +
				"takes the lock for done: it moves nothing more, and leaves nova-compute as it is. " + lockTakenBack(s, l.Node)
		case to == core.LockActive && l.State() == core.LockInactive:
			return "The OpenStack controller does not look again at a request that it has handled: until it restarts, nobody releases the " +
				"lock again unless you do."
		case to == core.LockFailed:
			return "The OpenStack controller never writes failed, and handles such a lock as one that is not active: it does nothing more for it."
		}
		return nextLook(s, l.Node) + "goes on with it."
	case core.ControllerTungstenFabric:
		if l.Node != "" && to == core.LockInactive {
			return "The OpenSDN operator handles no other node until this lock is active again; it looks at the vRouter of this node only when " +
				"the request is removed."
		}
	}
	return "Lockstep does not know when " + wording.OneLine(l.Controller, 40) +
		" looks at its lock next; it may set it back at any moment, and is watched for that."
}

// clearInner plans that a lock no longer counts as worked on. Rockoon counts the annotation, not the requests, so one that was left
// behind holds up every other node of a role (docs/mosk.md#left-over-locks).
func (p *planner) clearInner() {
	s := p.s
	p.step.Title, p.step.Risk = "clear the lock's inner_state", core.RiskHigh
	l := p.lock(core.SourceNodes)
	if l == nil {
		return
	}
	p.step.Title = "clear the inner_state of the lock of " + LockLabel(s, l)
	p.step.Type = typable(s.Label(l.Node), l.UID)
	p.guard(core.Guard{ID: core.GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller",
		Holds: l.Controller == core.ControllerOpenStack && l.Node != "", Answer: LockLabel(s, l),
		Remedy: "only that controller keeps an inner_state"})
	p.guard(core.Guard{ID: core.GuardSomethingLeft, Text: "the lock counts as worked on", Holds: l.InnerState == core.InnerActive,
		Answer: InnerText(l.InnerState)})
	r := s.NodeRequest(l.Node)
	asked := core.Guard{ID: core.GuardNoRequest, Text: "nobody asks for the node", Holds: r == nil && s.Known(core.SourceNodeRequests),
		Answer: "it has no NodeMaintenanceRequest",
		Remedy: "wait until the maintenance is over: the controller is at work there"}
	switch {
	case r != nil:
		asked.Answer = "its NodeMaintenanceRequest is there since " + wording.ClockText(r.Created)
	case !s.Known(core.SourceNodeRequests):
		asked.Answer = "not known: " + s.WhyUnknown(core.SourceNodeRequests)
	}
	p.guard(asked)
	if progress.PlaysAlone(s, l.Node) {
		p.guard(core.Guard{ID: core.GuardNotPlayed, Text: "Lockstep does not play the OpenStack controller", Answer: "it does",
			Remedy: "end the work by the node's own step, which looks at its nova-compute first"})
	}
	p.guard(core.Guard{ID: core.GuardLockTakenBack, Text: "the lock is active: the maintenance is over", Holds: l.State() == core.LockActive,
		Answer: "it is " + wording.OneLine(string(l.State()), 40),
		Remedy: "the controller still has to take the node back: see to what it waits for"})
	p.step.Why = "The OpenStack controller counts this annotation against its concurrency. Nothing happens on " +
		wording.OneLine(s.Label(l.Node), 64) + ", and the nodes that wait for it wait for nothing."
	p.step.Then = nextLook(s, "") + "takes up the next node. If it was still at work here, one node more than allowed is in maintenance."
	p.step.Undo = "set it back: " + InnerCommand(l.Ref(), l.InnerState)
	if l.InnerState != core.InnerActive {
		p.done = "the lock has " + InnerText(l.InnerState)
		return
	}
	p.step.Commands = []string{InnerCommand(l.Ref(), core.InnerInactive)}
	p.step.Change = core.SetInnerState{Lock: l.Ref(), Was: l.InnerState, To: core.InnerInactive}
}

// InnerCommand sets the annotation inner_state of a lock.
func InnerCommand(ref core.Ref, state string) string {
	if state == "" {
		return wording.ShellCommand("kubectl", "annotate", strings.ToLower(string(ref.Kind)), ref.Name, "inner_state-")
	}
	return wording.ShellCommand("kubectl", "annotate", strings.ToLower(string(ref.Kind)), ref.Name, "inner_state="+state, "--overwrite")
}

// CreateLockCommand makes a lock with kubectl.
func CreateLockCommand(l core.NewLock) string {
	spec := map[string]any{"controllerName": l.Controller}
	if l.Node != "" {
		spec["nodeName"], spec["nodeDeletionRequestSupported"] = l.Node, true
	}
	return "kubectl create -f - <<< " + wording.ShellQuote(wording.JSONText(map[string]any{
		"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": l.Kind,
		"metadata": map[string]any{"name": l.Name, "labels": map[string]string{"app.kubernetes.io/managed-by": core.MadeByLockstep}},
		"spec":     spec,
	}))
}
