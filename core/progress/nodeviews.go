package progress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// stageRank puts moving nodes on top.
var stageRank = map[core.Stage]int{
	core.StageWaiting: 0, core.StageFailed: 0,
	core.StageEvacuating: 1, core.StagePreparing: 1, core.StageReleased: 1, core.StageDraining: 1, core.StageUpdating: 1,
	core.StageRebooting: 1, core.StageReturning: 1,
	core.StageQueued: 2,
	core.StageIdle:   3,
	core.StageDone:   4,
}

var (
	nodeViews core.Derivation[viewsOfNodes]
	nodeNames core.Derivation[[]string]
)

// viewsOfNodes are the views of all nodes.
type viewsOfNodes struct {
	core.ByNode[*core.NodeView]
	sorted []*core.NodeView // moving ones first
}

// NodeViews are the nodes with all that is derived for each, moving ones first.
func NodeViews(s *core.Snapshot) []*core.NodeView {
	return nodeViews.After(s, deriveViews).sorted
}

// ByNode are the views by node, in the order of NodeNames, for what is derived from them by node.
func ByNode(s *core.Snapshot) core.ByNode[*core.NodeView] {
	return nodeViews.After(s, deriveViews).ByNode
}

// NodeView is the view of the node called name.
func NodeView(s *core.Snapshot, name string) (*core.NodeView, bool) {
	v, ok := nodeViews.After(s, deriveViews).Get(name)
	if !ok {
		return &core.NodeView{}, false
	}
	return v, true
}

func deriveViews(s *core.Snapshot, earlier viewsOfNodes) viewsOfNodes {
	// What a node's view rests on beside the node: the first is about all nodes, the others about all requests and locks.
	common := struct {
		newest    string
		books     bool
		finalizer string
		turn      nodesTurn
	}{newest: NewestKubelet(s), books: keepsBooks(s), turn: turnOfNodes(s)}
	common.finalizer, _ = Finalizer(s)
	plays := len(s.Settings.ActAs) > 0 // whose rules look at other nodes
	views := viewsOfNodes{ByNode: core.DeriveByNode(s, earlier.ByNode, common, NodeNames(s), nil,
		func(s *core.Snapshot, name string) (*core.NodeView, bool) {
			v := viewNode(factsOf(s, name, common.newest, common.turn))
			return v, plays && (v.Request != nil || v.Active())
		})}
	views.sorted = views.inOrder(s, earlier)
	return views
}

// ViewOf is the view of the node called name, the same one in all Snapshots in which nothing of it has changed; nil when there is none.
func ViewOf(s *core.Snapshot, name string) *core.NodeView {
	v, _ := nodeViews.After(s, deriveViews).Get(name)
	return v
}

// NodeNames are the names of all nodes that exist, or that a lock or a request names, in the order of their names.
func NodeNames(s *core.Snapshot) []string {
	return nodeNames.AfterFew(s, func(s *core.Snapshot, earlier []string) []string {
		if areNamed(s, earlier) {
			return earlier
		}
		names := make([]string, 0, len(s.Nodes))
		for name := range s.Nodes {
			names = append(names, name)
		}
		for name := range s.NodeLocks.All() {
			if s.Nodes[name] == nil {
				names = append(names, name)
			}
		}
		for name := range s.NodeRequests {
			if s.Nodes[name] == nil && s.NodeLocks.At(name) == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	})
}

// areNamed tells whether these are the names of all nodes.
func areNamed(s *core.Snapshot, names []string) bool {
	nodes, locks, requests := 0, 0, 0
	for _, name := range names {
		_, node := s.Nodes[name]
		_, lock := s.NodeLocks.Get(name)
		_, request := s.NodeRequests[name]
		if !node && !lock && !request {
			return false
		}
		nodes, locks, requests = nodes+one(node), locks+one(lock), requests+one(request)
	}
	return nodes == len(s.Nodes) && locks == s.NodeLocks.Len() && requests == len(s.NodeRequests)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// inOrder are the views in the order in which they are shown. Few of them change, and most of these keep their place.
func (v viewsOfNodes) inOrder(s *core.Snapshot, earlier viewsOfNodes) []*core.NodeView {
	was, now, known := v.ChangedSince(earlier.ByNode)
	if !known {
		sorted := slices.AppendSeq(make([]*core.NodeView, 0, len(NodeNames(s))), v.All())
		slices.SortFunc(sorted, AsShown)
		return sorted
	}
	if len(now) == 0 {
		return earlier.sorted
	}
	sorted, kept := slices.Clone(earlier.sorted), true
	for i, view := range now {
		at, _ := slices.BinarySearchFunc(earlier.sorted, was[i], AsShown)
		sorted[at] = view
		kept = kept && was[i].Name == view.Name && was[i].Label == view.Label && stageRank[was[i].Stage] == stageRank[view.Stage]
	}
	if !kept {
		slices.SortFunc(sorted, AsShown)
	}
	return sorted
}

// AsShown compares nodes by the order of NodeViews.
func AsShown(a, b *core.NodeView) int {
	if d := stageRank[a.Stage] - stageRank[b.Stage]; d != 0 {
		return d
	}
	if c := strings.Compare(a.Label, b.Label); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func viewNode(f *stageFacts) *core.NodeView {
	v := &core.NodeView{
		Name: f.name, Label: f.s.Label(f.name), Node: f.node, Mode: f.Mode, ModeSet: f.modeSet, ModeCounts: ModeCounts(f.s, f.name),
		Attempts: f.Attempts, AttemptsRaw: f.attemptsRaw,
		Request: f.request, Locks: f.locks, Instances: -1, Blocking: -1, Group: core.GroupOthers, MovedFrom: f.movedFrom(),
		Service: f.s.Services[f.Host],
	}
	if f.node != nil {
		v.Group, v.Round = f.node.Group(), f.s.History.Rounds[f.node.UID]
	}
	if f.computeKnown {
		v.Instances, v.Blocking, v.Moving = f.on.all, f.on.blocking, f.on.migrating
	}
	for _, r := range stageRules {
		if found, ok := r.find(f); ok {
			v.Stage, v.Reason, v.What, v.Open = r.stage, found.reason, found.what, found.open
			v.Since = f.since(r.stage, found)
			break
		}
	}
	v.BadAttempts = badAttempts(f)
	v.Problems = problemsOf(f)
	return v
}

// since is when the node entered the stage: as it was seen, or as the evidence says.
func (f *stageFacts) since(stage core.Stage, v verdict) core.Since {
	switch {
	case f.hadStage && f.before.Stage == stage:
		return f.before.Since
	case f.hadStage && v.since.At.After(f.before.Since.At) && f.s.Reached(v.since.At):
		return v.since // it began after the last stage that was seen, and before now
	case f.hadStage:
		return core.Since{At: f.s.Second(), Exact: true}
	}
	return v.since
}

// badAttempts says what is wrong with the node's number of migration attempts; empty when nothing is.
func badAttempts(f *stageFacts) string {
	if f.attemptsRaw == "" {
		return ""
	}
	if n, err := strconv.Atoi(strings.TrimSpace(f.attemptsRaw)); err == nil && n >= 1 {
		return ""
	}
	return fmt.Sprintf("its migration attempts %q are not a number from 1 up", wording.OneLine(f.attemptsRaw, 40))
}

// problemsOf are the node's inconsistencies that are worth showing.
func problemsOf(f *stageFacts) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if f.node == nil && f.s.Known(core.SourceNodes) {
		say("locks or requests name it, and the cluster has no such node")
	}
	if f.node != nil && f.locksKnown && f.cluster != nil && f.own == nil && f.needsLock() {
		say("it has no NodeWorkloadLock of the OpenStack controller")
	}
	switch {
	case f.modeSet && !ModeCounts(f.s, f.name):
		say("its migration mode %q decides nothing: %s", wording.OneLine(string(f.Mode), 40), ModeIgnored)
	case !f.Mode.Known():
		say("the OpenStack controller does not know its migration mode %q (only live, manual, skip)", wording.OneLine(string(f.Mode), 40))
	}
	if LacksScope(f.request) && f.own != nil {
		say("%s", Scopeless)
	}
	if bad := badAttempts(f); bad != "" {
		say("%s", bad)
	}
	for _, l := range f.locks {
		switch l.State() {
		case core.LockActive, core.LockInactive, core.LockFailed:
		default:
			say("the lock of %s has a state that is not documented: %q", l.Controller, wording.OneLine(string(l.RawState), 40))
		}
	}
	if f.staleInner() {
		say("its lock says inner_state=active without a request: it counts against the controller's concurrency")
	}
	if n := len(f.s.NodeRequests[f.name]); n > 1 {
		say("it has %d NodeMaintenanceRequests", n)
	}
	return out
}

// needsLock tells whether the node has a role for which Rockoon makes a lock (docs/mosk.md#roles).
func (f *stageFacts) needsLock() bool {
	return f.node.Is(core.RoleController) || f.node.Is(core.RoleCompute) || f.node.Is(core.RoleGateway)
}

// staleInner tells whether the node's lock counts against Rockoon's concurrency although the node has no request.
func (f *stageFacts) staleInner() bool {
	return f.requestsKnown && f.request == nil && f.working() && f.own.State() != core.LockInactive
}

// NewestKubelet is the newest kubelet version when the nodes differ; empty otherwise.
func NewestKubelet(s *core.Snapshot) string { return saidOf(s).newestKubelet }

// compareVersions compares versions like v1.30.14 number by number; parts that are not numbers compare as text.
func compareVersions(a, b string) int {
	split := func(v string) []string {
		return strings.FieldsFunc(strings.TrimPrefix(v, "v"), func(r rune) bool { return r == '.' || r == '-' || r == '+' })
	}
	as, bs := split(a), split(b)
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX == nil && errY == nil {
			if x != y {
				return x - y
			}
			continue
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 {
			return c
		}
	}
	if len(as) != len(bs) {
		return len(as) - len(bs)
	}
	return strings.Compare(a, b)
}

// ExampleAttempts is the number of attempts in the documents' example (docs/mosk.md#migration-mode).
const ExampleAttempts = 5
