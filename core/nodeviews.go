package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// stageRank puts what moves on top.
var stageRank = map[Stage]int{
	StageWaiting: 0, StageFailed: 0,
	StageEvacuating: 1, StagePreparing: 1, StageReleased: 1, StageDraining: 1, StageUpdating: 1, StageRebooting: 1, StageReturning: 1,
	StageQueued: 2,
	StageIdle:   3,
	StageDone:   4,
}

var (
	nodeViews Derivation[[]NodeView]
	nodeIndex Derivation[map[string]int] // in nodeViews, by name
)

// NodeViews are the nodes with all that is derived for each, what moves first.
func (s *Snapshot) NodeViews() []NodeView {
	return nodeViews.Of(s, nodeViewsOf)
}

// NodeView is the view of the node called name.
func (s *Snapshot) NodeView(name string) (NodeView, bool) {
	index := nodeIndex.Of(s, func(s *Snapshot) map[string]int {
		m := make(map[string]int, len(s.NodeViews()))
		for i, v := range s.NodeViews() {
			m[v.Name] = i
		}
		return m
	})
	i, ok := index[name]
	if !ok {
		return NodeView{}, false
	}
	return s.NodeViews()[i], true
}

func nodeViewsOf(s *Snapshot) []NodeView {
	names := map[string]bool{}
	for name := range s.Nodes {
		names[name] = true
	}
	for name := range s.NodeLocks {
		names[name] = true
	}
	for name := range s.NodeRequests {
		names[name] = true
	}
	newest := newestKubelet(s.Nodes)
	views := make([]NodeView, 0, len(names))
	for name := range names {
		views = append(views, viewNode(factsOf(s, name, newest)))
	}
	slices.SortFunc(views, func(a, b NodeView) int {
		if d := stageRank[a.Stage] - stageRank[b.Stage]; d != 0 {
			return d
		}
		if c := strings.Compare(a.Label, b.Label); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return views
}

func viewNode(f *stageFacts) NodeView {
	v := NodeView{
		Name: f.name, Label: f.s.Label(f.name), Node: f.node, Mode: f.mode, ModeSet: f.modeSet, ModeCounts: f.s.modeCounts(f.name), Attempts: f.attempts, AttemptsRaw: f.attemptsRaw,
		Request: f.request, Locks: f.locks, Instances: -1, Blocking: -1, MovedFrom: f.movedFrom(), Service: f.s.Services[f.host],
	}
	if f.computeKnown {
		v.Instances, v.Blocking, v.Moving = f.on.all, f.on.blocking, f.on.migrating
	}
	for _, r := range stageRules {
		if found, ok := r.find(f); ok {
			v.Stage, v.Reason, v.What = r.stage, found.reason, found.what
			v.Since = f.since(r.stage, found)
			break
		}
	}
	v.BadAttempts = badAttempts(f)
	v.Problems = problemsOf(f)
	return v
}

// since is when the node came into the stage: as it was seen, or as the evidence says.
func (f *stageFacts) since(stage Stage, v verdict) Since {
	evidence := Since{At: v.at, Exact: v.exact && !v.at.IsZero()}
	switch {
	case f.hadStage && f.before.Stage == stage:
		return f.before.Since
	case f.hadStage && v.at.After(f.before.Since.At) && !v.at.After(f.s.Now):
		return evidence // it began after the stage that was seen before, and before now
	case f.hadStage:
		return Since{At: f.s.Now, Exact: true}
	}
	return evidence
}

// badAttempts is what is wrong with the number of the node's migration attempts; empty when nothing is.
func badAttempts(f *stageFacts) string {
	if f.attemptsRaw == "" {
		return ""
	}
	if n, err := strconv.Atoi(strings.TrimSpace(f.attemptsRaw)); err == nil && n >= 1 {
		return ""
	}
	return fmt.Sprintf("its migration attempts %q are no number from 1", oneLine(f.attemptsRaw, 40))
}

// problemsOf are the inconsistencies of a node that are worth a word.
func problemsOf(f *stageFacts) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if f.node == nil && f.s.known(SourceNodes) {
		say("locks or requests name it, and the cluster has no such node")
	}
	if f.node != nil && f.locksKnown && f.cluster != nil && f.own == nil && f.needsLock() {
		say("it has no NodeWorkloadLock of the OpenStack controller")
	}
	switch {
	case f.modeSet && !f.s.modeCounts(f.name):
		say("its migration mode %q decides nothing: %s", oneLine(string(f.mode), 40), modeIgnored)
	case !f.mode.Known():
		say("its migration mode %q is none that the OpenStack controller knows (live, manual, skip)", oneLine(string(f.mode), 40))
	}
	if lacksScope(f.request) && f.own != nil {
		say("%s", scopeless)
	}
	if bad := badAttempts(f); bad != "" {
		say("%s", bad)
	}
	for _, l := range f.locks {
		switch l.State() {
		case LockActive, LockInactive, LockFailed:
		default:
			say("the lock of %s has a state that is not documented: %q", l.Controller, oneLine(string(l.RawState), 40))
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
	return f.node.Is(RoleController) || f.node.Is(RoleCompute) || f.node.Is(RoleGateway)
}

// staleInner tells whether the node's lock counts against Rockoon's concurrency although nothing is asked of the node.
func (f *stageFacts) staleInner() bool {
	return f.requestsKnown && f.request == nil && f.working() && f.own.State() != LockInactive
}

// newestKubelet is the newest kubelet version of the nodes, when they differ; empty otherwise.
func newestKubelet(nodes map[string]*Node) string {
	newest, differ := "", false
	for _, n := range nodes {
		switch {
		case n.KubeletVersion == "" || n.KubeletVersion == newest:
		case newest == "":
			newest = n.KubeletVersion
		default:
			differ = true
			if compareVersions(n.KubeletVersion, newest) > 0 {
				newest = n.KubeletVersion
			}
		}
	}
	if !differ {
		return ""
	}
	return newest
}

// compareVersions compares versions like v1.30.14 number by number; what is no number compares as text.
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
