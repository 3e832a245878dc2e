package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// stageFacts is what the stage rules of one node look at, gathered once.
type stageFacts struct {
	s *core.Snapshot
	HostMaintenance
	cluster *core.MaintenanceRequest // the cluster's request; nil when no update runs

	locks    []*core.WorkloadLock
	own      *core.WorkloadLock // the OpenStack controller's; nil when there is none
	message  LockMessage        // in the own lock's text
	account  Account            // the OpenStack controller's work on the node's request
	failed   []string           // controllers whose locks say failed
	active   []string           // controllers whose locks are not inactive
	released bool               // every lock is inactive

	requestsKnown, locksKnown, computeKnown bool

	on       hostCount
	pods     *core.NodePods
	lcm      *core.MachineView // the state of its machine in LCM; nil when that is not known, or not fresh
	ready    bool
	cordoned bool
	round    core.Round
	hasRound bool
	before   core.StageRecord // the stage in the History
	hadStage bool
	newest   string // the cluster's newest kubelet version when the nodes differ; else empty
	turn     nodesTurn
}

func factsOf(s *core.Snapshot, name, newest string, turn nodesTurn) *stageFacts {
	f := &stageFacts{
		s: s, HostMaintenance: MaintenanceOf(s, name), cluster: s.ClusterRequest(), locks: s.NodeLocks.At(name),
		own: s.NodeLock(name, core.ControllerOpenStack), pods: s.Pods[name], newest: newest, turn: turn,
		requestsKnown: s.Known(core.SourceNodeRequests), locksKnown: s.Known(core.SourceNodeLocks),
		computeKnown: s.Known(core.SourceInstances),
	}
	if v := MachineOf(s, name); v != nil && v.LCM != nil && s.Sources[core.SourceLCMMachines].State == core.SourceLive {
		f.lcm = v
	}
	f.released = true
	for _, l := range f.locks {
		switch l.State() {
		case core.LockInactive:
			continue
		case core.LockFailed:
			f.failed = append(f.failed, l.Controller)
		}
		f.active = append(f.active, l.Controller)
		f.released = false
	}
	if f.own != nil {
		f.message = ReadLock(s, f.own)
	}
	f.account = NodeAccount(s, name)
	if f.computeKnown {
		f.on = countOn(s, f.HostMaintenance)
	}
	if f.node != nil {
		f.ready, f.cordoned = f.node.Ready == "True", f.node.Cordoned
		f.round, f.hasRound = s.History.Rounds[f.node.UID]
		f.before, f.hadStage = s.History.Stages[f.node.UID]
	}
	return f
}

// working tells whether Rockoon has begun to work on the node.
func (f *stageFacts) working() bool {
	return f.own != nil && f.own.InnerState == core.InnerActive
}

// leaving tells whether the node has a request that is not being removed. When requests cannot be seen, the locks are the
// evidence.
func (f *stageFacts) leaving() bool {
	if f.request != nil {
		return f.request.Deleting.IsZero()
	}
	return !f.requestsKnown && (f.working() || len(f.locks) > len(f.active))
}

// handled tells whether LCM works on a node that has no request: it updates a master that no application holds without one
// (docs/mosk.md#lcm).
func (f *stageFacts) handled() bool {
	return f.request == nil && f.cluster != nil && f.locksKnown && len(f.locks) == 0 && f.node != nil && (f.cordoned || !f.ready)
}

// evacuates tells whether Rockoon looks at the node's instances in this maintenance.
func (f *stageFacts) evacuates() bool { return f.Compute && f.Reboot }

// rebooted tells whether the node came back Ready since its request was made.
func (f *stageFacts) rebooted() bool {
	begin := time.Time{}
	switch {
	case f.request != nil:
		begin = f.request.Created
	case f.cluster != nil:
		begin = f.cluster.Created
	}
	return f.node != nil && f.ready && !begin.IsZero() && f.node.ReadySince.After(begin)
}

// through says how it is known that the node is done in the running update; empty when nothing shows it.
func (f *stageFacts) through() string {
	switch {
	case f.cluster == nil || f.node == nil:
		return ""
	case f.hasRound && f.round.Update == f.cluster.UID && !f.round.Ended.IsZero():
		return wording.TextIf(f.round.Reconstructed, "LCM says", "seen") + ": its maintenance ended " + wording.ClockText(f.round.Ended)
	case !f.ready || f.cordoned:
		return ""
	case f.newest != "" && f.node.KubeletVersion == f.newest:
		return "inferred: Ready, not cordoned, and its kubelet is newer than that of other nodes (" + wording.OneLine(f.newest, 40) + ")"
	case f.newest != "":
		return "" // other nodes have a newer kubelet
	case f.turn.come && f.node.ReadySince.After(core.Later(f.cluster.Created, f.turn.since)):
		return "inferred: Ready and not cordoned since " + wording.ClockText(f.node.ReadySince) + ", after the update began " +
			wording.ClockText(f.cluster.Created)
	}
	return ""
}

// nodesTurn is whether the running update has come to the nodes, and since when, where that was seen. A node that was not Ready before was
// away for another reason.
type nodesTurn struct {
	come  bool
	since time.Time
}

// turnOfNodes tells it by the ClusterWorkloadLocks: LCM begins with the nodes when all of them are inactive, and they are taken back at the
// end. While they are not known, it may have come.
func turnOfNodes(s *core.Snapshot) nodesTurn {
	turn := nodesTurn{come: true}
	r := s.ClusterRequest()
	if r == nil || !r.Deleting.IsZero() || !s.Known(core.SourceClusterLocks) {
		return turn
	}
	for _, l := range s.ClusterLocks {
		if l.State() != core.LockInactive {
			return nodesTurn{}
		}
		if seen := s.History.StateSince(l); seen.Exact {
			turn.since = core.Later(turn.since, seen.At)
		}
	}
	return turn
}

// otherWaits are the controllers other than the OpenStack controller whose locks are not inactive yet.
func (f *stageFacts) otherWaits() []string {
	return slices.DeleteFunc(slices.Clone(f.active), func(c string) bool { return c == core.ControllerOpenStack })
}

// lcmWaits is what LCM waits for before it drains the machine; empty when it reports no such wait.
func (f *stageFacts) lcmWaits() DrainMessage {
	return MachineWaits(f.lcm)
}

// blockingText says what holds the lock, by action, or by status where nothing moves an instance: "2 live, 3 manual, 1 notify, 1
// ERROR".
func (f *stageFacts) blockingText() string {
	var parts []string
	say := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	stranded := 0
	for _, n := range f.on.stranded {
		stranded += n
	}
	say(f.on.byAction[core.ActionLiveMigrate]-stranded, "live")
	say(f.on.manual, "manual")
	say(f.on.byAction[core.ActionNotify]-f.on.manual, "notify")
	for _, status := range slices.Sorted(maps.Keys(f.on.stranded)) {
		if status == "VERIFY_RESIZE" {
			say(f.on.stranded[status], "to confirm")
			continue
		}
		say(f.on.stranded[status], status)
	}
	say(f.on.byAction[core.ActionUnknown], "unknown mode")
	return strings.Join(parts, ", ")
}

// movedText is "6 of 15 moved" when the first number of instances is known, and "9 left" otherwise.
func (f *stageFacts) movedText() string {
	if !f.computeKnown {
		return ""
	}
	if n := f.movedFrom(); n > 0 && n >= f.on.all {
		return fmt.Sprintf("%d of %d moved", n-f.on.all, n)
	}
	return fmt.Sprintf("%d left", f.on.blocking)
}

// movedFrom is how many instances were on the node when its maintenance began; 0 when that is not known.
func (f *stageFacts) movedFrom() int {
	if f.hasRound && f.request != nil && f.round.Request == f.request.UID && f.round.Instances > 0 {
		return f.round.Instances
	}
	return 0
}

// downText lists the host's agents and services that are down, or its pods that are not ready: Rockoon waits for these when the
// node returns.
func (f *stageFacts) downText() string {
	switch {
	case f.node != nil && !f.ready:
		return "node not Ready" + wording.InBrackets(f.node.ReadyReason)
	case f.pods != nil && len(HeldByEndedPods(f.s, f.name)) > 0:
		return "pods ended: " + wording.Some(shortPods(EndedNames(HeldByEndedPods(f.s, f.name))), 1)
	case f.pods != nil && len(f.pods.NotReady) > 0:
		return "pods not ready: " + wording.Some(shortPods(f.pods.NotReady), 1)
	}
	if svc := f.s.Services[f.Host]; svc != nil && !svc.Up && f.Compute {
		return "nova-compute down"
	}
	if down := AgentsDown(f.s, f.Host); len(down) > 0 {
		return "agent down: " + wording.Some(down, 2)
	}
	return ""
}

// shortPods are the pods' names, without the namespace for OpenStack's own.
func shortPods(pods []core.PodName) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = wording.TextIf(p.Namespace == core.NamespaceOpenStack, p.Name, p.String())
	}
	return out
}
