package attention

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// unwell are the health checks of Ceph that do not pass, without those of flags that a maintenance sets; none while Ceph is well or not
// known (docs/mosk.md#ceph-objects).
func unwell(s *core.Snapshot) (health string, checks []core.CephHealth) {
	if !s.Known(core.SourceCeph) {
		return "", nil
	}
	for _, c := range s.Ceph {
		if c.Health == core.CephOK || c.Health == "" || c.Flagged() {
			continue
		}
		health = wording.OneLine(c.Health, 40)
		for _, h := range c.Checks {
			if !h.Flag() {
				checks = append(checks, h)
			}
		}
	}
	return health, checks
}

// cephHolds finds a node that waits for Ceph's lock while Ceph is not well. For a short while that is normal: data is copied after each
// storage node's reboot.
func (f *facts) cephHolds(n nodeFacts) {
	l := f.s.NodeLock(n.Name, core.ControllerCeph)
	if !n.leaving() || l == nil || l.State() != core.LockActive || !f.long(n.Request.Created, progress.DeferredLong) {
		return
	}
	health, checks := unwell(f.s)
	if health == "" || health != core.CephError && f.storageAway(n.Name) {
		return
	}
	a := n.entry(core.RuleCephHolds)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: n.Request.Created, Exact: true}.Plus(progress.DeferredLong)
	a.Reason = "Ceph holds it, and is not well: " + health + wording.Prefixed(": ", wording.Some(checkNames(checks), 3))
	f.add(a)
}

// storageAway tells whether Ceph has let another node go, or took one back a moment ago: it handles one at a time, and is not well
// meanwhile.
func (f *facts) storageAway(but string) bool {
	for _, name := range f.s.NodeNames() {
		l, n := f.s.NodeLock(name, core.ControllerCeph), f.s.Nodes[name]
		switch {
		case name == but || l == nil:
		case f.s.NodeRequest(name) != nil && l.State() == core.LockInactive:
			return true
		case n != nil && f.s.NodeRequest(name) == nil:
			if r := f.s.History.Rounds[n.UID]; !r.Ended.IsZero() && !f.s.Reached(r.Ended.Add(progress.DeferredLong)) {
				return true
			}
		}
	}
	return false
}

func checkNames(checks []core.CephHealth) []string {
	names := make([]string, len(checks))
	for i, h := range checks {
		names[i] = wording.OneLine(h.Name, 40)
	}
	return names
}

// seenCeph are Ceph's health checks that do not pass.
func seenCeph(f *facts, _ core.Attention) []core.Evidence {
	_, checks := unwell(f.s)
	var out []core.Evidence
	for _, h := range checks {
		says := wording.TextOf(wording.OneLine(h.Message, saysMost), "no message")
		out = append(out, core.Evidence{Of: wording.OneLine(h.Name, 40), Says: says})
	}
	return out
}

// seenCephLock is the lock of Ceph on the node.
func seenCephLock(f *facts, a core.Attention) []core.Evidence {
	return f.seenLockItself(f.s.NodeLock(a.Node, core.ControllerCeph))
}

// atCeph asks Ceph itself, and shows its controller's lock.
func atCeph(f *facts, a core.Attention) []core.Command {
	out := []core.Command{{For: "what Ceph says", Line: wording.ShellCommand("kubectl", "-n", core.NamespaceCeph, "exec",
		"deploy/rook-ceph-tools", "--", "ceph", "health", "detail")}}
	if l := f.s.NodeLock(a.Node, core.ControllerCeph); l != nil {
		out = append(out, f.lockCommands(l, a)...)
	}
	return out
}

// cephSays tells whether one of the health checks does not pass.
func cephSays(names ...string) func(*facts, core.Attention) bool {
	return func(f *facts, _ core.Attention) bool {
		_, checks := unwell(f.s)
		return slices.ContainsFunc(checks, func(h core.CephHealth) bool { return slices.Contains(names, h.Name) })
	}
}
